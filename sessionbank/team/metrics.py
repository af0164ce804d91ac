"""Structural metrics of a team's run: a frame a member, a frame an interaction, and figures of the whole graph.

Sums and counts over the frames of a `Team`, no model is asked. How time is cut into work, waiting and idling stands
in `activity`; the critical path in `critical_path`. What a figure cannot be told from is missing, never zero.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessionbank.sources.no_gc import no_gc
from sessionbank.team.activity import (
    IDLE,
    IDLE_GAP_S,
    WAITING,
    WORK,
    Links,
    Piece,
    blocks_on,
    links,
    millis,
    pieces,
    step_times,
)  # fmt: skip
from sessionbank.team.critical_path import critical_path
from sessionbank.team.identifiers import estimated_tokens
from sessionbank.team.model import NOT_AGENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from sessionbank.team.model import Interaction, Team

INBOUND_SHARE = (
    0.4  # a member that more than this share of all edges reach is a bottleneck (of four members or more)
)
WAITING_SHARE = 0.4  # so is one that more than this share of all waiting goes to

MEMBER_COLUMNS = {
    "agent_id": "str", "role": "str", "steps": "Int64", "boundary_steps": "Int64", "tool_calls": "Int64",
    "tokens": "Int64", "token_share": "float64", "errors": "Int64", "sent": "Int64", "received": "Int64",
    "partners": "Int64", "span_ms": "Int64", "work_ms": "Int64", "waiting_ms": "Int64", "idle_ms": "Int64",
    "betweenness": "float64", "inbound_share": "float64", "waited_for_ms": "Int64", "queue_ms": "Int64",
    "is_bottleneck": "boolean", "bottleneck_reason": "str",
}  # fmt: skip
INTERACTION_COLUMNS = {
    "interaction_id": "str", "type": "str", "subtype": "str", "from_agent": "str", "to_agent": "str",
    "sent_at": "datetime64[us, UTC]", "received_at": "datetime64[us, UTC]", "answered_at": "datetime64[us, UTC]",
    "latency_ms": "Int64", "queue_ms": "Int64", "work_ms": "Int64", "content_chars": "Int64",
    "content_tokens": "Int64", "ok": "boolean", "was_expected": "boolean", "is_inferred": "boolean",
    "is_self": "boolean", "is_received": "boolean",
}  # fmt: skip


@dataclass(frozen=True)
class TeamMetrics:
    """What `metrics` gives.

    `members` and `interactions` are frames (columns: `MEMBER_COLUMNS`, `INTERACTION_COLUMNS`), `graph` a dict of
    figures of the whole run, `handover` the square matrix of `handover_matrix`, `critical_path` the frame of
    `critical_path`.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> measured = sb.team.metrics(run)
        >>> measured.graph["team_size"], len(measured.members), len(measured.interactions)
        (6, 6, 67)
        >>> int(measured.handover.to_numpy().sum()) == len(measured.interactions)
        True
    """

    members: pd.DataFrame
    interactions: pd.DataFrame
    graph: dict[str, Any]
    handover: pd.DataFrame
    critical_path: pd.DataFrame

    @property
    def bottlenecks(self) -> pd.DataFrame:
        """The rows of `members` that are bottlenecks, the one that was waited for longest first."""
        hit = self.members[self.members["is_bottleneck"].fillna(False)]
        return hit.sort_values(["waited_for_ms", "betweenness"], ascending=False, kind="stable")

    def types(self) -> pd.DataFrame:
        """One row a type of interaction: count, failed, emergent, median latency and queue (ms), content tokens."""
        groups = self.interactions.groupby("type", sort=True)
        import pandas as pd

        return pd.DataFrame({
            "interactions": groups.size(),
            "failed": groups["ok"].apply(lambda c: int((~c.fillna(True)).sum())),
            "emergent": groups["was_expected"].apply(lambda c: int((~c.fillna(True)).sum())),
            "median_latency_ms": groups["latency_ms"].median(),
            "median_queue_ms": groups["queue_ms"].median(),
            "content_tokens": groups["content_tokens"].sum(),
        })  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values that JSON can hold: graph, members, interactions, bottlenecks, critical_path."""
        import json

        def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
            return json.loads(frame.to_json(orient="records", date_format="iso", date_unit="ms"))

        return {
            **self.graph,
            "bottlenecks": list(self.bottlenecks["agent_id"]),
            "members": rows(self.members),
            "interactions": rows(self.interactions),
            "critical_path": rows(self.critical_path),
        }


@no_gc()
def metrics(team: Team, *, idle_gap_s: float = IDLE_GAP_S) -> TeamMetrics:
    """Structural metrics of a team; times in milliseconds, tokens as the transcripts count them.

    `idle_gap_s` is the silence (seconds) that counts as idling. The figures of `graph`: team_size, total_steps,
    total_interactions, interaction_density (interactions / steps), max_in_degree and max_out_degree (agent_id and
    count of edges, self edges left out), parallelism_ratio (share of the time in which anyone worked in which two or
    more did), mean_active_members (work of all over that time), critical_path_ms and critical_path_share (of the wall
    time), reciprocity (share of connected ordered pairs with an edge the other way too), total_wall_time_seconds,
    total_tokens, total_cost_usd, coordination_overhead (share of steps that are boundary steps),
    coordination_token_share (of estimated tokens), waiting_share (of all members' time), bottlenecks.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> graph = sb.team.metrics(run).graph
        >>> graph["total_steps"], graph["total_interactions"], graph["max_in_degree"]
        (56, 67, {'agent_id': 'team-lead', 'count': 28})
    """
    where = links(team)
    cut = pieces(team, where, idle_gap_s=idle_gap_s)
    interactions = _interactions(team, where)
    path = critical_path(team, where=where, cut=cut)
    members = _members(team, cut, interactions)
    graph = _graph(team, where, cut, members=members, path=path)
    return TeamMetrics(members, interactions, graph, handover_matrix(team), path)


def handover_matrix(team: Team, *, types: Iterable[str] | None = None) -> pd.DataFrame:
    """How often each agent handed over to each other one: rows senders, columns receivers, whole numbers.

    Agents stand in the order of the members, then others by first edge. `types` keeps only edges of these types. Every
    edge counts once, self edges and failed ones too, so the cells add up to the number of edges.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> int(sb.team.handover_matrix(run, types=["spawn"]).loc["team-lead"].sum())
        5
    """
    import pandas as pd

    wanted = None if types is None else set(types)
    names = _agents(team)
    place = {name: k for k, name in enumerate(names)}
    cells = [[0] * len(names) for _ in names]
    for edge in team.interaction_list:
        if wanted is None or edge.type in wanted:
            cells[place[edge.from_agent]][place[edge.to_agent]] += 1
    down, across = pd.Index(names, name="from_agent"), pd.Index(names, name="to_agent")
    return pd.DataFrame(cells, index=down, columns=across, dtype="int64")


def _agents(team: Team) -> list[str]:
    known = dict.fromkeys([*(m.agent_id for m in team.member_list), *team.step_lists])
    for edge in team.interaction_list:
        known[edge.from_agent] = known[edge.to_agent] = None
    return list(known)


def _interactions(team: Team, where: Links) -> pd.DataFrame:
    """One row an edge. Queue: from sending until the receiver's step begins; work: from there until it answers."""
    rows = []
    back: dict[tuple[str, str], list[int]] = defaultdict(list)  # times at which b wrote to a
    sent_times = {}
    for edge in team.interaction_list:
        sent = _time_at(team, edge.from_agent, where.sent_from.get(edge.interaction_id), edge)
        sent_times[edge.interaction_id] = sent
        if sent is not None:
            back[edge.from_agent, edge.to_agent].append(sent)
    for times in back.values():
        times.sort()
    for edge in team.interaction_list:
        sent = sent_times[edge.interaction_id]
        at = where.received_at.get(edge.interaction_id)
        received = None if at is None else _time_at(team, edge.to_agent, at, None)
        if received is not None and sent is not None and received < sent and at is not None:
            # an answer that came back to the step that had asked: it arrives when that step ends
            received = _end_at(team, edge.to_agent, at) if blocks_on(where, edge.to_agent, at) else received
        since = received if received is not None else sent
        answers = back.get((edge.to_agent, edge.from_agent), []) if not edge.is_self else []
        k = bisect_left(answers, since + 1) if since is not None else len(answers)
        answered = answers[k] if k < len(answers) else None
        queue = None if sent is None or received is None else received - sent
        latency = edge.latency_ms if edge.latency_ms is not None else queue
        work = answered - received if answered is not None and received is not None else None
        rows.append((
            edge.interaction_id, edge.type, edge.subtype, edge.from_agent, edge.to_agent, sent, received, answered,
            latency, queue, work, None if edge.content is None else len(edge.content),
            None if edge.content is None else estimated_tokens(edge.content), edge.ok, edge.was_expected,
            edge.is_inferred, edge.is_self, at is not None or edge.to_step is not None,
        ))  # fmt: skip
    return typed_frame(rows, INTERACTION_COLUMNS)


def _end_at(team: Team, agent: str, at: int) -> int | None:
    """When the step ended, else when it began."""
    times = step_times(team.step_lists[agent][at])
    return times[1] if times else None


def _time_at(team: Team, agent: str, at: int | None, edge: Interaction | None) -> int | None:
    """When an edge was sent (its own time, else its step's) or, without `edge`, when the step began."""
    if edge is not None and edge.timestamp is not None:
        return millis(edge.timestamp)
    return millis(team.step_lists[agent][at].started_at) if at is not None else None


def _members(team: Team, cut: Mapping[str, list[Piece]], interactions: pd.DataFrame) -> pd.DataFrame:
    names = [
        n for n in _agents(team) if n not in NOT_AGENTS
    ]  # "*" and the harness are ends of edges, no members
    sent: Counter[str] = Counter()
    received: Counter[str] = Counter()
    partners: dict[str, set[str]] = defaultdict(set)
    for edge in team.interaction_list:
        if not edge.is_self:
            sent[edge.from_agent] += 1
            received[edge.to_agent] += 1
            partners[edge.from_agent].add(edge.to_agent)
            partners[edge.to_agent].add(edge.from_agent)
    spent: dict[tuple[str, str], int] = defaultdict(int)
    waited_for: dict[str, int] = defaultdict(int)
    for mine in cut.values():
        for p in mine:
            spent[p.agent_id, p.kind] += p.end - p.begin
            if p.kind == WAITING and p.waited_for:
                waited_for[p.waited_for] += p.end - p.begin
    queued = interactions[~interactions["is_self"]].groupby("to_agent")["queue_ms"].sum(min_count=1)
    between = _betweenness(team, names)
    tokens = {n: _member_tokens(team, n) for n in names}
    all_tokens = sum(t for t in tokens.values() if t is not None)
    all_in, all_waiting = sum(received.values()), sum(waited_for.values())
    known = {m.agent_id: m for m in team.member_list}
    rows = []
    for name in names:
        steps = team.step_lists.get(name, ())
        member = known.get(name)
        used = tokens[name]
        seen = len(steps) or (member.steps if member else None)
        calls = sum(s.status is not None for s in steps) if steps else (member.tool_calls if member else None)
        timed = any(s.started_at for s in steps)
        own = [spent[name, k] for k in (WORK, WAITING, IDLE)] if timed else None
        share = received[name] / all_in if all_in else None
        why = []
        if len(names) >= 4 and share is not None and share > INBOUND_SHARE:
            why.append(f"{share:.0%} of all edges reach it")
        if len(names) >= 4 and all_waiting and waited_for[name] / all_waiting > WAITING_SHARE:
            why.append(f"{waited_for[name] / all_waiting:.0%} of all waiting is for it")
        if len(names) >= 4 and between[name] > 0.5:
            why.append(f"it is on {between[name]:.0%} of the shortest ways between others")
        rows.append((
            name, member.role if member else None, seen, sum(s.is_boundary for s in steps) if steps else None,
            calls, used, used / all_tokens if used is not None and all_tokens else None,
            sum(s.status == "error" for s in steps) if steps else None, sent[name], received[name],
            len(partners[name]), *([sum(own), *own] if own else [None] * 4), between[name], share, waited_for[name],
            queued.get(name), bool(why), "; ".join(why) or None,
        ))  # fmt: skip
    return typed_frame(rows, MEMBER_COLUMNS)


def _member_tokens(team: Team, name: str) -> int | None:
    known = [s.tokens for s in team.step_lists.get(name, ()) if s.tokens is not None]
    member = team.member(name)
    if member is not None and member.tokens is not None:
        return member.tokens
    return sum(known) if known else None


def _pairs(team: Team) -> set[tuple[str, str]]:
    """Ordered pairs of agents with an edge between them."""
    edges = (e for e in team.interaction_list if not e.is_self)
    return {(e.from_agent, e.to_agent) for e in edges if NOT_AGENTS.isdisjoint((e.from_agent, e.to_agent))}


def _betweenness(team: Team, names: list[str]) -> dict[str, float]:
    """Share of the shortest ways between two others that lead over each agent (directed, every edge one long)."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(_pairs(team))
    return nx.betweenness_centrality(graph)


def _graph(
    team: Team, where: Links, cut: Mapping[str, list[Piece]], *, members: pd.DataFrame, path: pd.DataFrame
) -> dict[str, Any]:
    steps = sum(len(s) for s in team.step_lists.values())
    boundary = sum(s.is_boundary for mine in team.step_lists.values() for s in mine)
    edges = len(team.interaction_list)
    pairs = _pairs(team)
    anyone, two, total = _overlap(p for mine in cut.values() for p in mine if p.kind == WORK)
    wall = _wall_ms(team, where)
    on_path = int(path["work_ms"].sum()) if len(path) else None
    spent = members[["work_ms", "waiting_ms", "idle_ms"]].sum()
    all_time = int(spent.sum())
    texts = [(s.is_boundary, _chars(s)) for mine in team.step_lists.values() for s in mine]
    chars = sum(n for _, n in texts)
    tokens = members["tokens"].dropna()
    return {
        "team_size": len(members),
        "total_steps": steps,
        "total_interactions": edges,
        "interaction_density": edges / steps if steps else None,
        "max_in_degree": _largest(members, "received"),
        "max_out_degree": _largest(members, "sent"),
        "parallelism_ratio": two / anyone if anyone else None,
        "mean_active_members": total / anyone if anyone else None,
        "critical_path_ms": on_path,
        "critical_path_share": on_path / wall if on_path is not None and wall else None,
        "reciprocity": sum((b, a) in pairs for a, b in pairs) / len(pairs) if pairs else None,
        "total_wall_time_seconds": None if wall is None else wall / 1000,
        "total_tokens": int(tokens.sum()) if len(tokens) else None,
        "total_cost_usd": team.cost_usd,
        "coordination_overhead": boundary / steps if steps else None,
        "coordination_token_share": sum(n for b, n in texts if b) / chars if chars else None,
        "waiting_share": int(spent["waiting_ms"]) / all_time if all_time else None,
        "self_interactions": sum(e.is_self for e in team.interaction_list),
        "failed_interactions": sum(e.ok is False for e in team.interaction_list),
    }


def _chars(step: Any) -> int:
    return sum(len(t) for t in (step.thought, step.action_input, step.observation) if t)


def _largest(members: pd.DataFrame, column: str) -> dict[str, Any] | None:
    if not len(members) or not members[column].max():
        return None
    most = int(members[column].astype("int64").argmax())  # of equal ones the first member
    return {"agent_id": members["agent_id"].iloc[most], "count": int(members[column].iloc[most])}


def _wall_ms(team: Team, where: Links) -> int | None:
    first: int | None = None
    last: int | None = None
    for mine in where.times.values():
        for time in mine:
            if time is not None:
                first = time[0] if first is None or time[0] < first else first
                last = time[1] if last is None or time[1] > last else last
    for edge in team.interaction_list:
        if (at := millis(edge.timestamp)) is not None:
            first = at if first is None or at < first else first
            last = at if last is None or at > last else last
    return None if first is None or last is None else last - first


def _overlap(work: Iterable[Piece]) -> tuple[int, int, int]:
    """Milliseconds in which anyone worked, in which two or more did, and the work of all added up."""
    changes: dict[int, int] = defaultdict(int)
    for p in work:
        changes[p.begin] += 1
        changes[p.end] -= 1
    anyone = two = total = active = 0
    previous = 0
    for time in sorted(changes):
        passed = time - previous
        anyone += passed if active else 0
        two += passed if active > 1 else 0
        total += passed * active
        active += changes[time]
        previous = time
    return anyone, two, total


def typed_frame(rows: list[tuple[Any, ...]], columns: dict[str, str]) -> pd.DataFrame:
    """Rows as a frame of these columns and dtypes; times are given in milliseconds since 1970."""
    import pandas as pd

    by_column: list[list[Any]] = [list(c) for c in zip(*rows, strict=True)] if rows else [[] for _ in columns]
    out: dict[str, Any] = {}
    for (name, kind), values in zip(columns.items(), by_column, strict=True):
        if kind.startswith("datetime"):
            out[name] = pd.to_datetime(pd.array(values, dtype="Int64"), unit="ms", utc=True).astype(kind)
        else:
            out[name] = pd.Series(values, dtype="float64" if kind == "float64" else kind)
    return pd.DataFrame(out)
