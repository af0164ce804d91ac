"""The agents of one session as members of a team: what each was asked, what it ran on, what it used, how it ended.

Counts are of what the transcript shows: a teammate's steps stand in its own session, and are missing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sessionbank.records import ToolCall
from sessionbank.team.aliases import Roster
from sessionbank.team.events import Event, Scene
from sessionbank.team.events import text as text_of
from sessionbank.team.model import NOT_AGENTS, Interaction, Member
from sessionbank.team.subagents import agent_of, result_fields, spawn_kind

Edges = Iterable[tuple[Interaction, Event]]


def members_of(scene: Scene, found: Roster, edges: Edges, steps: Mapping[str, int]) -> list[Member]:
    """The session's own agent, then all others in the order in which they were started or first heard."""
    kept = list(edges)
    ends = _ends(scene, found, kept)
    seen = {scene.self_id} | (found.ids & steps.keys())
    count = _Counts(scene, seen, steps)
    session_id = scene.session.session_id
    lead = count.into(Member(
        team=scene.team_names[0] if len(scene.team_names) == 1 else None, agent_id=scene.self_id,
        role=scene.own_name or "lead", model=_model(scene, None), session_id=session_id, is_lead=scene.own_name is None,
    ))  # fmt: skip
    others: list[tuple[int, Member]] = []
    for mate in found.teammates:
        agent, call = found.id_of(mate), mate.call
        others.append((mate.seq, count.into(Member(
            team=mate.team, agent_id=agent, role=mate.name, agent_type=mate.agent_type, model=mate.model,
            session_id=session_id, outcome=ends.get(agent), objective=mate.prompt,
            spawned_by=None if call is None else scene.actor(call),
            spawn_call_id=None if call is None else call.tool_call_id,
            started_at=None if call is None else call.called_at,
        ))))  # fmt: skip
    started = _started(scene)
    others += [_subagent(scene, agent, started.get(agent), ends.get(agent)) for agent in sorted(found.ids)]
    others = [
        (at, count.into(m))
        for at, m in others
        if m.agent_id not in NOT_AGENTS and m.agent_id != scene.self_id
    ]
    others.sort(key=lambda o: (o[0], o[1].agent_id))
    return [lead, *(m for _, m in others)]


class _Counts:
    """Steps, calls and tokens by agent; missing for those whose lines the transcript does not show."""

    def __init__(self, scene: Scene, seen: set[str], steps: Mapping[str, int]) -> None:
        self.seen, self.steps = seen, steps
        self.calls: dict[str, int] = {}
        self.tokens: dict[str, int] = {}
        for call in scene.calls:
            self.calls[scene.actor(call)] = self.calls.get(scene.actor(call), 0) + 1
        for (agent_id, _), tokens in scene.tokens_of.items():
            agent = scene.self_id if agent_id is None else agent_id
            self.tokens[agent] = self.tokens.get(agent, 0) + tokens

    def into(self, member: Member) -> Member:
        agent = member.agent_id
        if agent not in self.seen:
            return member
        return replace(
            member,
            steps=self.steps.get(agent, 0),
            tool_calls=self.calls.get(agent, 0),
            tokens=self.tokens.get(agent),
        )


def _subagent(scene: Scene, agent: str, call: ToolCall | None, outcome: str | None) -> tuple[int, Member]:
    """A subagent with its place: where it was started, else its first line."""
    own = scene.own_lines.get(agent, [])
    member = Member(
        team=None, agent_id=agent, model=_model(scene, agent), session_id=scene.session.session_id, outcome=outcome,
        ended_at=own[-1].timestamp if own else None,
    )  # fmt: skip
    if call is None:
        if own:
            text = f"agent {agent[:80]!r} has lines, and no call of the session started it"
            scene.problem("agent_without_spawn", text, own[0].seq)
        return own[0].seq if own else 1 << 60, replace(member, started_at=own[0].timestamp if own else None)
    about = result_fields(scene, call)
    return call.seq, replace(
        member, team=scene.team_at(call.seq), role=about["agent_type"], agent_type=about["agent_type"],
        model=member.model or about["model"], objective=text_of(scene.input(call).get("prompt")),
        spawned_by=scene.actor(call), spawn_call_id=call.tool_call_id, started_at=call.called_at,
    )  # fmt: skip


def _started(scene: Scene) -> dict[str, ToolCall]:
    """Agent id -> the call that first started it."""
    found: dict[str, ToolCall] = {}
    for call in scene.spawns:
        agent = agent_of(scene, call)
        if agent and spawn_kind(scene, call) != "teammate":
            found.setdefault(agent, call)
    return found


def _model(scene: Scene, agent: str | None) -> str | None:
    """The model of most of its replies; the first of them where several tie."""
    counts: dict[str, int] = {}
    for message in scene.own_lines.get(agent, ()):
        if message.model:
            counts[message.model] = counts.get(message.model, 0) + 1
    return max(counts, key=lambda m: counts[m]) if counts else None


def _ends(scene: Scene, found: Roster, edges: Edges) -> dict[str, str]:
    """Agent id -> how its work ended: completed, failed, rejected, interrupted, shut_down."""
    ends: dict[str, str] = {}
    statuses = {c.tool_call_id: c.status for c in scene.spawns}
    for edge, event in edges:
        if edge.type == "result_return":
            status = statuses.get(edge.tool_call_id or "", "")
            if edge.ok is not None:
                ends[edge.from_agent] = (
                    "completed" if edge.ok else status if status in ("rejected", "interrupted") else "failed"
                )
        elif edge.subtype == "shutdown_approved":
            ends[edge.from_agent] = "shut_down"
        elif edge.subtype == "teammate_terminated" and event.about:
            agent, _ = found.resolve(event.about, event.team, event.order[0])
            ends[agent] = "shut_down"
    return ends
