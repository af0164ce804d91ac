"""A team from one session: events found, names resolved, edges linked to steps, members counted.

Finding events is `subagents` and `claude_teams`, what a name means is `aliases`, and several sessions are `loose`.
No model is asked, and nothing depends on the order of a set or on the clock.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sessionbank.errors import QueryError
from sessionbank.records import Diagnostic, Session
from sessionbank.team import claude_teams, subagents
from sessionbank.team.aliases import Roster, roster
from sessionbank.team.events import Event, Scene, milliseconds, ordered
from sessionbank.team.members import members_of
from sessionbank.team.model import NOT_AGENTS, UNKNOWN, Interaction, Member, Team
from sessionbank.team.steps import Steps, linked, session_steps

if TYPE_CHECKING:
    from sessionbank.team.template import Template


def from_session(session: Session, *, template: Template | None = None, outcome: str | None = None) -> Team:
    """The team of one session: its own agent, subagents, background agents and teammates, and every edge between them.

    A session without other agents is a team of one. `template` sets `was_expected` on the edges; `outcome` (success,
    partial, failure, unknown) is taken as given, and missing otherwise. Teammates' own steps are in their own
    sessions: `from_sessions` joins them. Raises `QueryError` for what is no session. Shapes: ``facts/teams.md``.

    Example:
        >>> sb.team.from_session(bank.query(search="agent team")[0])
        <Team checkout-steps: 6 members, 67 interactions, 56 steps>
    """
    if not isinstance(session, Session):
        raise QueryError(
            f"from_session takes a Session, not {type(session).__name__}; bank.get_by_session_id(id) gives one"
        )
    part = read_part(session)
    scene = part.scene
    costs = [u.cost_usd for u in session.usage if u.cost_usd is not None and u.inherited_from is None]
    edges = tuple(i for i, _ in part.edges)
    team = Team(
        id=f"session-{session.session_id}",
        name=" + ".join(scene.team_names) or None,
        objective=objective_of(scene),
        member_list=tuple(part.members),
        interaction_list=edges,
        step_lists=linked(part.steps, edges),
        outcome=outcome,
        outcome_reason=session.summary.outcome if session.summary else None,
        cost_usd=sum(costs) if costs else None,
        aliases=dict(part.roster.aliases),
        problems=tuple(scene.problems),
        session_ids=(session.session_id,),
    )
    if template is None:
        return team
    from sessionbank.team.template import apply_template

    return apply_template(team, template)


@dataclass(slots=True)
class Part:
    """What one session gives to a team: edges beside the events that they come from, steps not yet linked."""

    scene: Scene
    roster: Roster
    edges: list[tuple[Interaction, Event]]
    steps: Steps
    members: list[Member]


def read_part(session: Session) -> Part:
    """Events, names, steps and members of one session."""
    scene, found, edges = _edges(session)
    steps = session_steps(session, scene.self_id)
    if scene.self_id not in steps:
        steps = {scene.self_id: [], **steps}
    members = members_of(scene, found, edges, {a: len(s) for a, s in steps.items()})
    teams = {m.agent_id: m.team for m in members}
    steps = {agent: [replace(s, team=teams.get(agent)) for s in own] for agent, own in steps.items()}
    return Part(scene, found, edges, steps, members)


def interaction_rows(session: Session) -> list[Interaction]:
    """The edges of one session, for table ``interactions``; none for a session that worked alone.

    Example:
        >>> rows = sb.team.interaction_rows(bank.query(search="agent team")[0])
        >>> len(rows), rows[0].type, rows[0].to_agent
        (67, 'spawn', 'a6c783719d64f2360')
    """
    return [i for i, _ in _edges(session)[2]]


def member_rows(session: Session) -> list[Member]:
    """The agents of one session, for table ``members``; none for a session that worked alone.

    Example:
        >>> [m.agent_id for m in sb.team.member_rows(bank.query(search="agent team")[0])]
        ['team-lead', 'a6c783719d64f2360', 'planner', 'backend-dev', 'frontend-dev', 'reviewer']
    """
    if not Scene(session).has_others:
        return []
    return read_part(session).members


def _edges(session: Session) -> tuple[Scene, Roster, list[tuple[Interaction, Event]]]:
    scene = Scene(session)
    events = list(ordered([*subagents.events(scene), *claude_teams.events(scene)]))
    _answers(events)
    found = roster(scene, events)
    roles = _roles(scene, found)
    resolved = [(_interaction(session, e, found, roles), e) for e in events]
    _once(scene, resolved)
    _heard_of(resolved, found)
    for name in found.unknown:
        scene.problem(
            "unknown_agent", f"{name[:80]!r} is written to, and no agent of the session has that name"
        )
    for edge, event in resolved:
        if edge.is_self:
            text = f"{edge.subtype} of {edge.from_agent[:80]!r} is to itself, as the transcript has it"
            scene.problem("self_interaction", text, event.order[0])
    return scene, found, resolved


def _interaction(session: Session, event: Event, found: Roster, roles: dict[str, str]) -> Interaction:
    seq = event.order[0]
    source, is_guess = event.from_agent, False
    if source is None:
        source, is_guess = (
            found.resolve(event.from_raw, event.team, seq) if event.from_raw else (found.self_id, False)
        )
    target, is_second = event.to_agent, False
    if target is None and event.to_raw:
        nobody = event.type == "spawn"  # one that failed names an agent that never was
        target, is_second = found.resolve(event.to_raw, event.team, seq, may_be_nobody=nobody)
    target = target or UNKNOWN
    return Interaction(
        interaction_id=_identity(session, event), session_id=session.session_id, team=event.team, type=event.type,
        subtype=event.subtype, from_agent=source, from_role=roles.get(source), from_step=event.from_step,
        to_agent=target, to_role=roles.get(target), to_step=event.to_step, content=event.content,
        channel=event.channel, signal=event.signal, timestamp=event.at, latency_ms=event.latency_ms, ok=event.ok,
        is_inferred=event.is_inferred or is_guess or is_second, evidence=event.evidence, tokens=event.tokens,
        message_uuid=event.message_uuid, tool_call_id=event.tool_call_id, from_raw=event.from_raw, to_raw=event.to_raw,
    )  # fmt: skip


def _identity(session: Session, event: Event) -> str:
    """Of what shows the edge, so that it stays when the session grows; a forked session's is another."""
    parts = (
        session.session_id,
        event.subtype,
        event.message_uuid or str(event.order[0]),
        str(event.order[1]),
        event.tool_call_id or "",
    )
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _once(scene: Scene, resolved: list[tuple[Interaction, Event]]) -> None:
    """Two edges by one id would be one counted twice; it does not happen, and if it does it is told, not hidden."""
    seen: set[str] = set()
    for at, (edge, event) in enumerate(resolved):
        if edge.interaction_id in seen:
            scene.problem("interaction_twice", f"two edges {edge.subtype} from one line", event.order[0])
            resolved[at] = (replace(edge, interaction_id=f"{edge.interaction_id}-{at}"), event)
        seen.add(resolved[at][0].interaction_id)


# -- answers: how long until it was heard of ------------------------------------------------------------------------


def _answers(events: list[Event]) -> None:
    """Latency of requests that name what answers them: a shutdown its approval, a spawn its result, a task its end."""
    approvals = {
        e.about: e.at for e in events if e.subtype in ("shutdown_approved", "shutdown_response") and e.about
    }
    ends: dict[str, list[Event]] = {}
    for event in events:
        if event.channel == claude_teams.BOARD and event.signal == "completed" and event.about:
            ends.setdefault(event.about, []).append(event)
    for event in events:
        if event.subtype == "shutdown_request" and event.about:
            event.answered_at = approvals.get(event.about)
        elif event.subtype == "task_owner" and event.about:
            event.answered_at = next(
                (e.at for e in ends.get(event.about, ()) if e.at and event.at and e.at >= event.at), None
            )
        if event.answered_at is not None and event.latency_ms is None:
            event.latency_ms = milliseconds(event.at, event.answered_at)


def _heard_of(resolved: list[tuple[Interaction, Event]], found: Roster) -> None:
    """Latency of a message to a teammate, or of its spawn: until the next word from it reaches the sender."""
    later: dict[tuple[str, str], Interaction] = {}
    for at in range(len(resolved) - 1, -1, -1):
        edge, event = resolved[at]
        if edge.subtype in ("message", "teammate") and edge.ok and edge.latency_ms is None:
            answer = later.get((edge.to_agent, edge.from_agent))
            if answer is not None:
                resolved[at] = (
                    replace(edge, latency_ms=milliseconds(edge.timestamp, answer.timestamp)),
                    event,
                )
        if edge.evidence == "teammate_message":
            later[edge.from_agent, edge.to_agent] = edge


# -- around the edges ----------------------------------------------------------------------------------------------


def _roles(scene: Scene, found: Roster) -> dict[str, str]:
    """Agent id -> role: a teammate's name, a subagent's type, ``lead`` for who leads."""
    roles = {}
    for mate in found.teammates:
        roles[found.id_of(mate)] = mate.name
    for call in scene.spawns:
        agent = subagents.agent_of(scene, call)
        kind = subagents.result_fields(scene, call)["agent_type"]
        if agent in found.ids and kind:
            roles.setdefault(agent, kind)
    roles.setdefault(scene.self_id, scene.own_name or "lead")
    return {agent: role for agent, role in roles.items() if agent not in NOT_AGENTS}


def objective_of(scene: Scene) -> str | None:
    """What the team was made for, else the summary's intent, else the first prompt."""
    for call in scene.calls:
        if call.tool_name == "TeamCreate" and call.status == "ok" and scene.input(call).get("description"):
            return str(scene.input(call)["description"])
    summary = scene.session.summary
    if summary and summary.intent:
        return summary.intent
    return next((m.text for m in scene.messages if m.kind == "prompt" and not m.is_subagent and m.text), None)


def problem_rows(session: Session) -> list[Diagnostic]:
    """Diagnostics that building the team of a session gives: names that lead to nobody, edges to oneself.

    Example:
        >>> [p.code for p in sb.team.problem_rows(bank.query(search="agent team")[0])]
        ['self_interaction']
    """
    return list(_edges(session)[0].problems)
