"""Teams over several sessions: teammates in sessions of their own, child sessions, and sessions that ran side by side.

Sessions belong together when one names the other as its parent or started it, when one is a teammate of the team that
the other leads, or, loosely, when they worked at the same time and a checkpoint holds both. What two sessions tell of
one message becomes one edge. Nothing is read here that `build` does not read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sessionbank.errors import QueryError
from sessionbank.records import Session
from sessionbank.team.build import Part, from_session, objective_of, read_part
from sessionbank.team.events import LEAD, Event, Scene
from sessionbank.team.model import Interaction, Member, Team
from sessionbank.team.seen_twice import Edge, once
from sessionbank.team.steps import Steps, linked

if TYPE_CHECKING:
    from sessionbank.team.template import Template


def from_sessions(
    sessions: Iterable[Session], *, parents: Mapping[str, str] | None = None, is_loose: bool = True,
    template: Template | None = None,
) -> list[Team]:  # fmt: skip
    """The teams of some sessions (a selection, a bank, or a list), in order of their first message.

    `parents` maps the id of a child session to its parent's, where the agent stores that outside the transcript
    (OpenCode's parentID). With `is_loose` (the default) sessions of one checkpoint whose times overlap are one team,
    marked `is_loose`, with no edges between them. A session that worked alone is no team. Raises `QueryError` where
    something in it is no session.

    Example:
        >>> [run.is_loose for run in sb.team.from_sessions(bank.query(search="agent team"))]
        [False]
    """
    listed = list(sessions.iter_sessions() if hasattr(sessions, "iter_sessions") else sessions)
    for session in listed:
        if not isinstance(session, Session):
            raise QueryError(f"from_sessions takes sessions, not {type(session).__name__}")
    scenes = {s.session_id: Scene(s) for s in listed}
    ties = _Ties(scenes)
    for child, parent in sorted({**_children(scenes), **(parents or {})}.items()):
        if child in scenes and parent in scenes:
            ties.tie(parent, child)
    for child, lead in _mates(scenes):
        ties.tie(lead, child)
    firm = {sid: ties.root(sid) for sid in scenes}
    if is_loose:
        for one, other in _side_by_side(scenes):
            ties.tie(one, other)
    teams = []
    for group in ties.groups():
        alone = len(group) == 1
        if alone and not scenes[group[0]].has_others:
            continue
        if alone:
            team = from_session(scenes[group[0]].session, template=template)
        else:
            loose = len({firm[sid] for sid in group}) > 1
            team = _joined([scenes[sid] for sid in group], {**_children(scenes), **(parents or {})}, loose)
            if template is not None:
                from sessionbank.team.template import apply_template

                team = apply_template(team, template)
        if len(team.member_list) > 1 or team.interaction_list:
            teams.append((_span(scenes[group[0]])[0], group[0], team))
    teams.sort(key=lambda t: (t[0] is None, t[0].timestamp() if t[0] else 0.0, t[1]))
    return [t[2] for t in teams]


# -- which sessions belong together ----------------------------------------------------------------------------------


class _Ties:
    """Sessions in groups; a group is named by its first session in time."""

    def __init__(self, scenes: Mapping[str, Scene]) -> None:
        spans = {sid: _span(scene)[0] for sid, scene in scenes.items()}
        order = sorted(scenes, key=lambda s: (spans[s] is None, t.timestamp() if (t := spans[s]) else 0.0, s))
        self.place = {sid: at for at, sid in enumerate(order)}
        self.above = {sid: sid for sid in order}

    def root(self, sid: str) -> str:
        while self.above[sid] != sid:
            self.above[sid] = self.above[self.above[sid]]
            sid = self.above[sid]
        return sid

    def tie(self, one: str, other: str) -> None:
        a, b = sorted((self.root(one), self.root(other)), key=self.place.__getitem__)
        self.above[b] = a

    def groups(self) -> list[list[str]]:
        found: dict[str, list[str]] = {}
        for sid in self.place:
            found.setdefault(self.root(sid), []).append(sid)
        return list(found.values())


def _span(scene: Scene) -> tuple[datetime | None, datetime | None]:
    times = [m.timestamp for m in scene.messages if m.timestamp is not None]
    return min(times, default=None), max(times, default=None)


def _children(scenes: Mapping[str, Scene]) -> dict[str, str]:
    """Child session -> the session with a spawn call whose result names it."""
    found: dict[str, str] = {}
    for sid, scene in scenes.items():
        for call in scene.spawns:
            for name in named_sessions(scene.result(call)):
                if name in scenes and name != sid:
                    found.setdefault(name, sid)
    return found


def named_sessions(result: Mapping[str, Any]) -> list[str]:
    """Session ids that the result of a spawn names, at its top or in its metadata."""
    inner = result.get("metadata")
    places = [result, inner] if isinstance(inner, Mapping) else [result]
    return [
        p[k] for p in places for k in ("sessionId", "session_id", "sessionID") if isinstance(p.get(k), str)
    ]


def _mates(scenes: Mapping[str, Scene]) -> list[tuple[str, str]]:
    """(session of a teammate, session that leads its team)."""
    leads: dict[str, str] = {}
    for sid, scene in scenes.items():
        if scene.own_name is None:
            for name in scene.team_names:
                leads.setdefault(name, sid)
    return [
        (sid, leads[name])
        for sid, scene in scenes.items()
        if scene.own_name is not None
        for name in scene.team_names
        if name in leads
    ]


def _side_by_side(scenes: Mapping[str, Scene]) -> list[tuple[str, str]]:
    """Pairs of sessions that one checkpoint holds and whose times overlap."""
    held: dict[str, list[str]] = {}
    for sid, scene in scenes.items():
        for record in scene.session.records:
            here = held.setdefault(record.checkpoint_id, [])
            if sid not in here:
                here.append(sid)
    spans = {sid: _span(scene) for sid, scene in scenes.items()}
    found = []
    for ids in held.values():
        for at, one in enumerate(ids):
            for other in ids[at + 1 :]:
                (a, b), (c, d) = spans[one], spans[other]
                if a and b and c and d and a <= d and c <= b:
                    found.append((one, other))
    return found


# -- one team of several sessions ----------------------------------------------------------------------------


def _joined(scenes: list[Scene], children: Mapping[str, str], is_loose: bool) -> Team:
    parts = [read_part(s.session) for s in scenes]
    names = _names(parts, children)
    edges: list[Edge] = []
    steps: Steps = {}
    members: dict[str, Member] = {}
    aliases: dict[str, str] = {}
    for part in parts:
        new = names[part.scene.session.session_id]
        for edge, event in part.edges:
            source, target = new.get(edge.from_agent, edge.from_agent), new.get(edge.to_agent, edge.to_agent)
            edges.append((replace(edge, from_agent=source, to_agent=target), event))
        for agent, own in part.steps.items():
            steps.setdefault(new[agent], []).extend(replace(s, agent_id=new[agent]) for s in own)
        for member in part.members:
            by = new.get(member.spawned_by, member.spawned_by) if member.spawned_by else None
            known = replace(member, agent_id=new[member.agent_id], spawned_by=by)
            old = members.get(known.agent_id)
            members[known.agent_id] = known if old is None else _both(old, known)
        aliases.update({raw: new.get(agent, agent) for raw, agent in part.roster.aliases.items()})
    edges += _unspoken(parts, names, children, edges)
    kept = tuple(edge for edge, _ in once(edges))
    for agent, own in steps.items():
        steps[agent] = [replace(s, step=at) for at, s in enumerate(own)]
    ids = [p.scene.session.session_id for p in parts]
    costs = [
        u.cost_usd
        for p in parts
        for u in p.scene.session.usage
        if u.cost_usd is not None and u.inherited_from is None
    ]
    teams = list(dict.fromkeys(n for p in parts for n in p.scene.team_names))
    return Team(
        id="sessions-" + hashlib.sha256("\0".join(sorted(ids)).encode()).hexdigest()[:12],
        name=" + ".join(teams) or None,
        objective=objective_of(parts[0].scene),
        member_list=tuple(members.values()),
        interaction_list=kept,
        step_lists=linked(steps, kept),
        cost_usd=sum(costs) if costs else None,
        aliases=aliases,
        problems=tuple(p for part in parts for p in part.scene.problems),
        session_ids=tuple(ids),
        is_loose=is_loose,
    )


def _names(parts: list[Part], children: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Session id -> agent id in that session -> agent id in the team.

    A teammate in its own session is the one that its lead knows, a child session's agent the one that the parent's
    call started. Where two different agents then have one id, the session's first characters stand before it.
    """
    by_id = {p.scene.session.session_id: p for p in parts}
    leads = {t: p for p in reversed(parts) if p.scene.own_name is None for t in p.scene.team_names}
    same: dict[tuple[str, str], tuple[str, str]] = {}
    for sid, part in by_id.items():
        scene = part.scene
        lead = next((leads[t] for t in scene.team_names if t in leads), None) if scene.own_name else None
        if lead is not None:
            there = lead.scene.session.session_id
            known = {
                m.name: lead.roster.id_of(m)
                for m in reversed(lead.roster.teammates)
                if m.team in scene.team_names
            }
            for member in part.members:
                if member.agent_id == LEAD:
                    same[sid, LEAD] = (there, lead.scene.self_id)
                elif member.role in known:
                    same[sid, member.agent_id] = (there, known[member.role])
        parent = by_id.get(children.get(sid, ""))
        if parent is not None and parent is not part:
            started = _started(parent, sid)
            if started is not None:
                same[sid, scene.self_id] = (parent.scene.session.session_id, started)
    who: dict[str, dict[str, tuple[str, str]]] = {}
    for sid, part in by_id.items():
        for agent in dict.fromkeys([*(m.agent_id for m in part.members), *part.steps]):
            key, seen = (sid, agent), {(sid, agent)}
            while key in same and same[key] not in seen:
                key = same[key]
                seen.add(key)
            who.setdefault(sid, {})[agent] = key
    holders: dict[str, set[tuple[str, str]]] = {}
    for agents in who.values():
        for key in agents.values():
            holders.setdefault(key[1], set()).add(key)
    short = {sid: sid[:8] if sum(o.startswith(sid[:8]) for o in by_id) == 1 else sid for sid in by_id}
    return {
        sid: {a: k[1] if len(holders[k[1]]) == 1 else f"{short[k[0]]}/{k[1]}" for a, k in agents.items()}
        for sid, agents in who.items()
    }


def _started(parent: Part, child: str) -> str | None:
    """The agent that the parent's call for a child session started."""
    calls = {c.tool_call_id for c in parent.scene.spawns if child in named_sessions(parent.scene.result(c))}
    return next((e.to_agent for e, _ in parent.edges if e.type == "spawn" and e.tool_call_id in calls), None)


def _both(old: Member, new: Member) -> Member:
    """One agent that two sessions show: what either knows, steps and tokens from the one that has them."""
    values = {
        f: getattr(old, f) if getattr(old, f) is not None else getattr(new, f)
        for f in (
            "team", "role", "agent_type", "steps", "tool_calls", "tokens", "outcome", "objective", "spawned_by",
            "spawn_call_id", "started_at", "ended_at",
        )
    }  # fmt: skip
    model = new.model if old.steps is None and new.model else old.model or new.model
    return replace(old, **values, model=model, is_lead=old.is_lead or new.is_lead)


def _unspoken(
    parts: list[Part], names: Mapping[str, Mapping[str, str]], children: Mapping[str, str], edges: list[Edge]
) -> list[Edge]:
    """A spawn for each child session that no call of the parent's shows; only that it is a child is stored."""
    found: list[Edge] = []
    spawned = {e.to_agent for e, _ in edges if e.type == "spawn"}
    for part in parts:
        child = part.scene.session.session_id
        parent = children.get(child, "")
        if parent not in names:
            continue
        agent = names[child][part.scene.self_id]
        if agent in spawned:
            continue
        lead = next(p for p in parts if p.scene.session.session_id == parent)
        first = next((m for m in part.scene.messages if not m.is_subagent), None)
        event = Event(
            "spawn", "child_session", (0, 0), _span(part.scene)[0], evidence="child_session", is_inferred=True
        )
        found.append((
            Interaction(
                f"child-{child}", parent, None, "spawn", "child_session", names[parent][lead.scene.self_id], "lead",
                None, agent, None, first.seq if first else None, objective_of(part.scene), timestamp=event.at,
                is_inferred=True, evidence="child_session", to_raw=child,
            ), event,
        ))  # fmt: skip
    return found
