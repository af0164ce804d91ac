"""What is wrong with a team's graph, as diagnostics: edges that hang, time that runs backwards, clocks that differ.

Two agents on machines with different clocks give edges that seem to arrive before they were sent. One constant offset
explains them or none does: of edges from a to b, ``received - sent`` is at least the offset; of edges back, at least
its negative. Where such an offset exists and most edges of a direction are early, the clocks differ and no edge is at
fault; else each early edge is. A single early edge cannot tell, and counts as a fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median

from sessionbank.records import Diagnostic
from sessionbank.team.events import milliseconds
from sessionbank.team.model import NOT_AGENTS, Interaction, Team, TeamStep

TOLERANCE_MS = 1  # transcripts write whole milliseconds, and durations are rounded to them
STEADY_MS, STEADY_SHARE = (
    2_000,
    0.2,
)  # how far early edges of one direction alone may lie apart and still be one offset


def validate(team: Team) -> tuple[Diagnostic, ...]:
    """The team's own problems, then those of its graph, in a fixed order; an empty tuple when nothing is wrong.

    Errors: dangling_edge, duplicate_interaction, unknown_interaction, step_of_stranger, undeclared_interaction (under
    strict enforcement), step_ends_before_start, time_backwards. Warnings: unlinked_source, unlinked_target,
    step_time_backwards, undeclared_interaction (audit). Infos: clock_offset, self_interaction, never_started.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> [(d.severity, d.code) for d in sb.team.validate(run)]
        [('warning', 'self_interaction')]
    """
    found = [*team.problems]
    told = {(p.code, p.message) for p in found}
    graph = (*_ends(team), *_links(team), *_step_times(team), *_edge_times(team), *_enforced(team))
    found += [one for one in graph if (one.code, one.message) not in told]
    return tuple(found)


def _row(team: Team, severity: str, code: str, message: str, session_id: str | None = None) -> Diagnostic:
    session = session_id or (team.session_ids[0] if len(team.session_ids) == 1 else None)
    return Diagnostic(severity, code, message, session_id=session)


def _named(edge: Interaction) -> str:
    kind, ends = edge.subtype or edge.type, f"from {edge.from_agent[:60]!r} to {edge.to_agent[:60]!r}"
    return f"{kind} {edge.interaction_id[:60]} {ends}"


# -- ends and links ------------------------------------------------------------------------------------------------


def _ends(team: Team) -> Iterator[Diagnostic]:
    members = {m.agent_id for m in team.member_list}
    seen: set[str] = set()
    is_told = any(p.code == "self_interaction" for p in team.problems)
    for edge in team.interaction_list:
        if edge.interaction_id in seen:
            yield _row(
                team,
                "error",
                "duplicate_interaction",
                f"{_named(edge)}: its id is another edge's",
                edge.session_id,
            )
        seen.add(edge.interaction_id)
        for side, agent in (("sender", edge.from_agent), ("receiver", edge.to_agent)):
            if agent in members or (agent in NOT_AGENTS and agent != "?"):
                continue
            if edge.type == "spawn" and edge.ok is False and side == "receiver":
                yield _row(
                    team,
                    "info",
                    "never_started",
                    f"{_named(edge)}: the agent was asked for and did not start",
                    edge.session_id,
                )
            else:
                yield _row(
                    team,
                    "error",
                    "dangling_edge",
                    f"{_named(edge)}: its {side} is no member",
                    edge.session_id,
                )
        if edge.is_self and not is_told:
            yield _row(
                team,
                "info",
                "self_interaction",
                f"{_named(edge)}: sender and receiver are one",
                edge.session_id,
            )


def _links(team: Team) -> Iterator[Diagnostic]:
    edges = {e.interaction_id: e for e in team.interaction_list}
    members = {m.agent_id for m in team.member_list}
    held: dict[tuple[str, str], int] = {}
    for agent, steps in team.step_lists.items():
        if agent not in members:
            yield _row(team, "error", "step_of_stranger", f"{agent[:60]!r} has steps and is no member")
        for step in steps:
            for key in step.interaction_ids:
                held[agent, key] = held.get((agent, key), 0) + 1
                if key not in edges:
                    text = f"step {step.step} of {agent[:60]!r} names interaction {key[:60]!r}, which does not exist"
                    yield _row(team, "error", "unknown_interaction", text, step.session_id)
    for edge in team.interaction_list:
        if edge.session_id is not None:
            continue  # a transcript shows one side of most edges; that is no fault of theirs
        for side, agent in (("source", edge.from_agent), ("target", edge.to_agent)):
            if agent in members and (agent, edge.interaction_id) not in held:
                text = f'interaction "{edge.interaction_id[:80]}" has no {side} step'
                yield _row(team, "warning", f"unlinked_{side}", text)


# -- time ------------------------------------------------------------------------------------------------------------


def _step_times(team: Team) -> Iterator[Diagnostic]:
    for agent, steps in team.step_lists.items():
        last: TeamStep | None = None
        for step in steps:
            if step.started_at is None:
                continue
            if step.ended_at is not None and step.ended_at < step.started_at:
                text = f"step {step.step} of {agent[:60]!r} ends before it starts"
                yield _row(team, "error", "step_ends_before_start", text, step.session_id)
            if last is not None and last.started_at is not None and step.started_at < last.started_at:
                early = milliseconds(step.started_at, last.started_at)
                text = f"step {step.step} of {agent[:60]!r} starts {early} ms before step {last.step}"
                yield _row(team, "warning", "step_time_backwards", text, step.session_id)
            last = step


def transit(team: Team) -> dict[str, int]:
    """Interaction id -> received minus sent in milliseconds, where both are shown; negative: it seems to arrive early.

    Sent is by the sender's clock, received by the receiver's. An edge that reaches a step which was under way arrives
    within it.
    """
    at = _received_at(team)
    found: dict[str, int] = {}
    for edge in team.interaction_list:
        if edge.evidence == "teammate_message":
            if edge.latency_ms is not None:  # the sender wrote its own time into the message
                found[edge.interaction_id] = edge.latency_ms
            continue
        step = at.get(edge.interaction_id)
        if step is None or step.started_at is None or edge.timestamp is None or edge.is_self:
            continue
        if step.ended_at is not None and step.started_at < edge.timestamp <= step.ended_at:
            found[edge.interaction_id] = 0
        else:
            delta = milliseconds(edge.timestamp, step.started_at)
            assert delta is not None  # both times are there
            found[edge.interaction_id] = delta
    return found


def _received_at(team: Team) -> Mapping[str, TeamStep]:
    found: dict[str, TeamStep] = {}
    receivers = {e.interaction_id: e.to_agent for e in team.interaction_list}
    for agent, steps in team.step_lists.items():
        for step in steps:
            for key in step.interaction_ids:
                if receivers.get(key) == agent:
                    found[key] = step  # the last one: an edge to a step after others that it touches
    return found


def _edge_times(team: Team) -> Iterator[Diagnostic]:
    edges = {e.interaction_id: e for e in team.interaction_list}
    pairs: dict[tuple[str, str], dict[str, int]] = {}
    for key, delta in transit(team).items():
        edge = edges[key]
        pairs.setdefault((edge.from_agent, edge.to_agent), {})[key] = delta
    done: set[tuple[str, str]] = set()
    for (source, target), deltas in pairs.items():
        early = [d for d in deltas.values() if d < -TOLERANCE_MS]
        if not early or (source, target) in done:
            continue
        back = pairs.get((target, source), {})
        offset = _offset(deltas, back) if source != target else None
        if offset is not None:
            done.add((target, source))
            low, high = offset
            text = (
                f"the clock of {target[:60]!r} is behind that of {source[:60]!r} by "
                + (f"{low} to {high} ms" if high is not None else f"at least {low} ms")
                + f"; that explains all {len(early)} edges of {len(deltas)} that seem to arrive before they were sent"
            )
            yield _row(team, "info", "clock_offset", text)
            continue
        for key, delta in deltas.items():
            if delta < -TOLERANCE_MS:
                edge = edges[key]
                yield _row(
                    team,
                    "error",
                    "time_backwards",
                    f"{_named(edge)}: received {-delta} ms before it was sent",
                    edge.session_id,
                )


def _offset(deltas: Mapping[str, int], back: Mapping[str, int]) -> tuple[int, int | None] | None:
    """How far the receiver's clock is behind, least and most, in milliseconds; None where no offset explains it."""
    early = sorted(d for d in deltas.values() if d < -TOLERANCE_MS)
    if len(early) < 2 or 2 * len(early) < len(deltas):
        return None
    least = -early[0]
    if back:
        most = min(back.values())
        return (least, most) if least <= most + TOLERANCE_MS else None
    middle = abs(median(early))
    spread = early[-1] - early[0]
    return (least, None) if spread <= max(STEADY_MS, STEADY_SHARE * middle) else None


# -- what enforcement asks for -------------------------------------------------------------------------------


def _enforced(team: Team) -> Iterator[Diagnostic]:
    severity = {"strict": "error", "audit": "warning"}.get(team.enforcement or "")
    if severity is None:
        return
    for edge in team.interaction_list:
        if edge.was_expected is False:
            text = f"{_named(edge)}: nothing declares it, and enforcement is {team.enforcement}"
            yield _row(team, severity, "undeclared_interaction", text, edge.session_id)
