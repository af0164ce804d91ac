"""When each member of a team worked, waited and idled, from the times of its steps and of the edges that reach it.

Metrics, the critical path and the swimlane picture build on this. Nothing is summed over the team here.

A member's time from its first step to its last is cut into pieces, so that work + waiting + idle = span:

- a step's own time is work; it is waiting when the step started another agent and the answer came back to that same
  step (a call that blocks);
- a gap before a step that an interaction reached is waiting until the interaction arrived, and that sender was
  waited for;
- what is left of a gap is work when it is at most `IDLE_GAP_S` (a model thinks), else idle.

Steps that run side by side count once. A step without a time has no pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from sessionbank.team.model import Interaction, Team, TeamStep

if TYPE_CHECKING:
    import pandas as pd

IDLE_GAP_S = 300  # the same silence that ends activity in the sessions table
WORK, WAITING, IDLE = "work", "waiting", "idle"


class Piece(NamedTuple):
    """A stretch of one member's time, in milliseconds since 1970; `at` is the place of its step or the next."""

    agent_id: str
    kind: str  # WORK | WAITING | IDLE
    begin: int
    end: int
    at: int
    waited_for: str | None = None


@dataclass(slots=True)
class Links:
    """Which steps each interaction touches, at its sender and at its receiver: positions in the members' lists."""

    sent_from: dict[str, int] = field(
        default_factory=dict
    )  # interaction_id -> position of the step that sends it
    received_at: dict[str, int] = field(default_factory=dict)
    incoming: dict[tuple[str, int], list[Interaction]] = field(default_factory=dict)
    outgoing: dict[tuple[str, int], list[Interaction]] = field(default_factory=dict)
    times: dict[str, list[tuple[int, int] | None]] = field(
        default_factory=dict
    )  # agent -> begin and end of its steps


def millis(time: datetime | None) -> int | None:
    """A time as whole milliseconds since 1970; a time without a zone is read as UTC."""
    if time is None:
        return None
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)


def step_times(step: TeamStep) -> tuple[int, int] | None:
    """Start and end of a step in milliseconds; the end is the start where nothing tells it. None without a start."""
    begin = millis(step.started_at)
    if begin is None:
        return None
    end = millis(step.ended_at)
    if end is None:
        end = begin + (step.duration_ms or 0)
    return begin, max(begin, end)


def links(team: Team) -> Links:
    """Where each interaction leaves and arrives. Of several steps of an agent that it touches the first counts."""
    found = Links()
    edges = {i.interaction_id: i for i in team.interaction_list}
    for agent, steps in team.step_lists.items():
        found.times[agent] = [step_times(s) for s in steps]
        for at, step in enumerate(steps):
            for key in step.interaction_ids:
                edge = edges.get(key)
                if edge is None:
                    continue
                # a self edge leaves at its first step and arrives at its last
                if edge.from_agent == agent and key not in found.sent_from:
                    found.sent_from[key] = at
                    found.outgoing.setdefault((agent, at), []).append(edge)
                elif edge.to_agent == agent and key not in found.received_at:
                    found.received_at[key] = at
                    found.incoming.setdefault((agent, at), []).append(edge)
    return found


def blocks_on(where: Links, agent: str, at: int) -> str | None:
    """The agent that this step started and whose answer came back to this very step, or None."""
    sent = where.outgoing.get((agent, at))
    if sent is None:
        return None
    asked = {e.to_agent for e in sent if e.type in ("spawn", "delegation")}
    heard = where.incoming.get((agent, at), ())
    return next((e.from_agent for e in heard if e.type == "result_return" and e.from_agent in asked), None)


def pieces(
    team: Team, where: Links | None = None, *, idle_gap_s: float = IDLE_GAP_S
) -> Mapping[str, list[Piece]]:
    """The pieces of each member's time, in order; members without a timed step have none."""
    where = where or links(team)
    return {agent: _of_member(agent, where, int(idle_gap_s * 1000)) for agent in team.step_lists}


def _of_member(agent: str, where: Links, idle_gap: int) -> list[Piece]:
    timed = [(t, at) for at, t in enumerate(where.times[agent]) if t is not None]
    timed.sort(key=lambda x: (x[0][0], x[1]))
    out: list[Piece] = []
    cursor: int | None = None
    for (begin, end), at in timed:
        if cursor is None:
            cursor = begin
        if begin > cursor:
            arrived, sender = _arrival(where.incoming.get((agent, at), ()), agent, (cursor, begin))
            if sender is not None:
                out.append(Piece(agent, WAITING, cursor, arrived, at, sender))
                cursor = arrived
            if begin > cursor:
                kind = WORK if begin - cursor <= idle_gap else IDLE
                out.append(Piece(agent, kind, cursor, begin, at))
            cursor = begin
        if end > cursor:
            other = blocks_on(where, agent, at)
            out.append(Piece(agent, WAITING if other else WORK, cursor, end, at, other))
            cursor = end
    return out


def _arrival(incoming: Sequence[Interaction], agent: str, gap: tuple[int, int]) -> tuple[int, str | None]:
    """When the last edge from another agent arrived inside the gap, and whose it was."""
    begin, end = gap
    best: tuple[int, str | None] = (begin, None)
    for edge in incoming:
        if edge.from_agent == agent:
            continue
        sent = millis(edge.timestamp)
        arrived = end if sent is None else min(end, sent + (edge.latency_ms or 0))
        if arrived > best[0]:
            best = (arrived, edge.from_agent)
    return best


def member_time(team: Team, *, idle_gap_s: float = IDLE_GAP_S) -> pd.DataFrame:
    """The pieces of all members' time as a frame, what the swimlane picture draws.

    Columns: agent_id, kind (work, waiting, idle), begin and end (UTC), ms, step, waited_for (agent, missing where
    nobody was).

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> sb.team.member_time(run).groupby("kind")["ms"].sum().to_dict()
        {'idle': 488369, 'waiting': 601967, 'work': 254418}
    """
    from sessionbank.team.metrics import typed_frame

    rows = [
        (
            p.agent_id,
            p.kind,
            p.begin,
            p.end,
            p.end - p.begin,
            team.step_lists[p.agent_id][p.at].step,
            p.waited_for,
        )
        for mine in pieces(team, idle_gap_s=idle_gap_s).values()
        for p in mine
    ]
    return typed_frame(rows, {
        "agent_id": "str", "kind": "str", "begin": "datetime64[us, UTC]", "end": "datetime64[us, UTC]", "ms": "Int64",
        "step": "Int64", "waited_for": "str",
    })  # fmt: skip
