"""The critical path of a team's run: the longest chain of work in which each step had to wait for the one before.

A step depends on the member's step before it, and on the step that sent what it received. The length of the path is
the sum of work on it, in milliseconds; waiting and idling are no work. The run could not have been shorter than this
with these steps, however many members had worked side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionbank.team.activity import WORK, Links, Piece, blocks_on, links, pieces

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from sessionbank.team.model import Team

COLUMNS = ("agent_id", "step", "begin", "end", "work_ms", "via", "interaction_id")


def critical_path(
    team: Team, *, where: Links | None = None, cut: Mapping[str, list[Piece]] | None = None
) -> pd.DataFrame:
    """The critical path, one row a step in order.

    Columns: agent_id, step, begin and end (UTC), work_ms (work of the step and of the thinking before it), via
    (start, own, interaction) and interaction_id (the edge that led here). Empty where no step has a time. Of two
    paths of equal length the one that ends earlier is given. `where` and `cut` are `activity.links` and
    `activity.pieces` of the team, if at hand.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> sb.team.critical_path(run)["via"].value_counts().to_dict()
        {'own': 15, 'start': 1, 'interaction': 1}
    """
    import pandas as pd

    where = where or links(team)
    cut = pieces(team, where) if cut is None else cut
    rows = _longest(team, where, cut)
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    for column in ("begin", "end"):
        frame[column] = pd.to_datetime(frame[column], unit="ms", utc=True).astype("datetime64[us, UTC]")
    return frame.astype(
        {"agent_id": "str", "step": "Int64", "work_ms": "Int64", "via": "str", "interaction_id": "str"}
    )


def _longest(team: Team, where: Links, cut: Mapping[str, list[Piece]]) -> list[tuple[Any, ...]]:
    # Two events a step: it begins, it is done. A call that blocks is done only when its answer is there.
    times: list[int] = []
    of_node: list[tuple[str, int]] = []
    first_node: dict[tuple[str, int], int] = {}
    for agent, mine in where.times.items():
        for at, time in enumerate(mine):
            if time is not None:
                first_node[agent, at] = len(times)
                times.extend(time)
                of_node.extend([(agent, at)] * 2)
    weight = [0] * len(times)
    for agent, stretches in cut.items():
        for p in stretches:
            if p.kind == WORK:
                node = first_node[agent, p.at]
                weight[node if p.end <= times[node] else node + 1] += p.end - p.begin
    before: list[list[tuple[int, str | None]]] = [[] for _ in times]
    for agent, steps in team.step_lists.items():
        last: int | None = None
        for at in range(len(steps)):
            if (begins := first_node.get((agent, at))) is None:
                continue
            if last is not None:
                before[begins].append((last, None))
            before[begins + 1].append((begins, None))
            last = begins + 1
    for edge in team.interaction_list:
        sent, received = where.sent_from.get(edge.interaction_id), where.received_at.get(edge.interaction_id)
        if sent is None or received is None:
            continue
        f, t = first_node.get((edge.from_agent, sent)), first_node.get((edge.to_agent, received))
        if f is None or t is None:
            continue
        # what a blocking call asks leaves when it begins, what answers it arrives when it is done
        arrives = t + 1 if blocks_on(where, edge.to_agent, received) else t
        leaves = f if blocks_on(where, edge.from_agent, sent) or times[f + 1] > times[arrives] else f + 1
        before[arrives].append((leaves, edge.interaction_id))
    return _rows(_walk(times, weight, before), times, weight, of_node, team)


def _walk(
    times: list[int], weight: list[int], before: list[list[tuple[int, str | None]]]
) -> list[tuple[int, str | None]]:
    """The heaviest chain of events as (node, edge that led to it). An edge that runs back in time is left out."""
    best = [0] * len(times)
    came: list[tuple[int, str | None] | None] = [None] * len(times)
    done = [False] * len(times)
    for node in _in_order(times, before):
        heaviest = -1
        for previous, edge in before[node]:
            if done[previous] and times[previous] <= times[node] and best[previous] > heaviest:
                heaviest = best[previous]
                came[node] = (previous, edge)
        best[node] = weight[node] + max(heaviest, 0)
        done[node] = True
    chain: list[tuple[int, str | None]] = []
    at = max(range(len(times)), key=lambda k: (best[k], -times[k], -k), default=None)
    while at is not None:
        step = came[at]
        chain.append((at, step[1] if step else None))
        at = step[0] if step else None
    return chain[::-1]


def _in_order(times: list[int], before: list[list[tuple[int, str | None]]]) -> Iterator[int]:
    """Events so that each comes after those it depends on; a ring of events of one moment is cut at its first."""
    after: list[list[int]] = [[] for _ in times]
    open_before = [0] * len(times)
    for node, mine in enumerate(before):
        for previous, _ in mine:
            if times[previous] <= times[node]:
                after[previous].append(node)
                open_before[node] += 1
    given = [False] * len(times)
    ready = [k for k, n in enumerate(open_before) if not n]
    for start in sorted(range(len(times)), key=times.__getitem__):
        if not ready and not given[start]:
            ready.append(start)
        while ready:
            node = ready.pop()
            if given[node]:
                continue
            given[node] = True
            yield node
            for later in after[node]:
                open_before[later] -= 1
                if not open_before[later]:
                    ready.append(later)


def _rows(
    chain: list[tuple[int, str | None]], times: list[int], weight: list[int], of_node: list[tuple[str, int]], team: Team
) -> list[tuple[Any, ...]]:  # fmt: skip
    rows: list[list[Any]] = []
    for node, edge in chain:
        agent, at = of_node[node]
        number = team.step_lists[agent][at].step
        if rows and rows[-1][:2] == [agent, number]:
            rows[-1][3] = times[node]
            rows[-1][4] += weight[node]
        else:
            via = "interaction" if edge else ("own" if rows else "start")
            rows.append([agent, number, times[node], times[node], weight[node], via, edge])
    return [tuple(r) for r in rows]
