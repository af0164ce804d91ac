"""The `team.yaml` of OpenTeams: roles, topology, spawn rules, channels, subscriptions, emissions, peer routes.

It is read (all errors at once), turned into patterns, held against a team, and written from what a team did. What a
pattern allows is told in `patterns`. Keys that are not known here are kept as they are and not interpreted.

Emissions left out altogether let every role emit, as the format says; then a subscription alone declares a pattern.
Spawn rules left out declare nothing, so that a spawn is emergent: the format allows it, nobody expected it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sessionbank.team.documents import place, read_document, refuse, shape_errors
from sessionbank.team.model import ENFORCEMENTS, EVERYONE, NOT_AGENTS, Interaction, Team
from sessionbank.team.patterns import ANY, Pattern, declared_roles, judged, role_name, signal_name


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", populate_by_name=True, frozen=True)


class Node(_Part):
    """A place in the topology that a role holds."""

    role: str
    prompt: str | None = None
    config: dict[str, Any] | None = None


class Topology(_Part):
    """Who leads, who stands beside, and who may start whom."""

    root: Node
    companions: list[Node] = []
    spawn_rules: dict[str, list[str]] = {}


class Channel(_Part):
    """A named channel and the signals that it carries."""

    signals: list[str] = Field(min_length=1)
    description: str | None = None


class Subscription(_Part):
    """What a role hears of a channel: all of it, or some signals."""

    channel: str
    signals: list[str] | None = None


class PeerRoute(_Part):
    """A direct way from one role to another, for all it says or for some signals."""

    source: str = Field(alias="from")
    to: str
    via: Literal["direct", "topic", "scope"] = "direct"
    signals: list[str] | None = None


class Routing(_Part):
    """How status travels, and the peer routes."""

    status: Literal["upstream", "none"] = "upstream"
    peers: list[PeerRoute] = []


class Communication(_Part):
    """Channels, who hears and who speaks on them, and how strictly it is meant."""

    enforcement: Literal["strict", "permissive", "audit"] = "permissive"
    channels: dict[str, Channel] = {}
    subscriptions: dict[str, list[Subscription]] = {}
    emissions: dict[str, list[str]] | None = None
    routing: Routing = Routing()


class Template(_Part):
    """A team as it is meant to be: the content of a `team.yaml`."""

    name: str
    version: Literal[1] = 1
    roles: list[str] = Field(min_length=1)
    topology: Topology
    description: str | None = None
    communication: Communication = Communication()

    def patterns(self) -> tuple[Pattern, ...]:
        """What it declares, in the order of the file: companions, spawn rules, subscriptions, peer routes."""
        return tuple(dict.fromkeys(_patterns(self)))

    def to_yaml(self) -> str:
        """The text of the `team.yaml`."""
        import yaml

        value = self.model_dump(by_alias=True, exclude_none=True, exclude_unset=True)
        return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120))


def load_template(source: str | Path | Mapping[str, Any]) -> Template:
    """The template in a file (YAML or JSON), or in a mapping.

    Raises `FormatError` with every error and its place: wrong shapes, and names of roles, channels and signals that
    the file does not declare. Raises `NotFoundError` where there is no such file. Format: OpenTeams team schema 1.
    """
    value, name = read_document(source, "team template")
    try:
        template = Template.model_validate(value)
    except ValidationError as error:
        refuse(name, shape_errors(error))
        raise
    refuse(name, list(_undeclared(template)))
    return template


def _undeclared(template: Template) -> Iterator[tuple[str, str]]:
    roles, said = set(template.roles), template.communication
    signals = {s for c in said.channels.values() for s in c.signals}
    if len(roles) < len(template.roles):
        yield "roles", "a role is declared twice"

    def role(name: str, *at: Any) -> Iterator[tuple[str, str]]:
        if name not in roles:
            yield place(at), f"role {name!r} is not among the roles"

    yield from role(template.topology.root.role, "topology", "root", "role")
    for n, node in enumerate(template.topology.companions):
        yield from role(node.role, "topology", "companions", n, "role")
    for parent, children in template.topology.spawn_rules.items():
        yield from role(parent, "topology", "spawn_rules", parent)
        for n, child in enumerate(children):
            yield from role(child, "topology", "spawn_rules", parent, n)
    for who, entries in said.subscriptions.items():
        yield from role(who, "communication", "subscriptions", who)
        for n, entry in enumerate(entries):
            at = ("communication", "subscriptions", who, n)
            channel = said.channels.get(entry.channel)
            if channel is None:
                yield place((*at, "channel")), f"channel {entry.channel!r} is not among the channels"
            for signal in entry.signals or ():
                if channel is not None and signal not in channel.signals:
                    yield place((*at, "signals")), f"channel {entry.channel!r} has no signal {signal!r}"
    for who, emitted in (said.emissions or {}).items():
        yield from role(who, "communication", "emissions", who)
        for n, signal in enumerate(emitted):
            if signal not in signals:
                yield place(("communication", "emissions", who, n)), f"no channel has a signal {signal!r}"
    for n, route in enumerate(said.routing.peers):
        yield from role(route.source, "communication", "routing", "peers", n, "from")
        yield from role(route.to, "communication", "routing", "peers", n, "to")


def _patterns(template: Template) -> Iterator[Pattern]:
    root, said = template.topology.root.role, template.communication
    for node in template.topology.companions:
        yield Pattern("companion", root, node.role)
    for parent, children in template.topology.spawn_rules.items():
        for child in children:
            yield Pattern("spawn_rule", parent, child)
    for who, entries in said.subscriptions.items():
        for entry in entries:
            held = said.channels[entry.channel].signals
            for signal in held if entry.signals is None else [s for s in held if s in entry.signals]:
                speakers = (
                    [ANY]
                    if said.emissions is None
                    else [r for r, emitted in said.emissions.items() if signal in emitted]
                )
                for speaker in speakers:
                    yield Pattern("subscription", speaker, who, None, entry.channel, signal)
    for route in said.routing.peers:
        for one in [None] if route.signals is None else route.signals:
            yield Pattern("peer_route", route.source, route.to, None, None, one)


def apply_template(team: Team, template: Template | str | Path | Mapping[str, Any]) -> Team:
    """The team held against a template: `was_expected` on each edge, `is_declared` on each member.

    Template name and enforcement are the template's. Agents match roles by role, id or type, also without a number at
    the end ("executor-1"); the lead of a session has the root role where nothing else says so.
    """
    declared = template if isinstance(template, Template) else load_template(template)
    roles = declared_roles(team, declared.roles, declared.topology.root.role)
    named = replace(team, template=declared.name, enforcement=declared.communication.enforcement)
    return judged(named, declared.patterns(), roles)


# -- from what a team did ------------------------------------------------------------------------------------------


def to_template(team: Team) -> Template:
    """A template that allows what the team did: held against it, the team has no emergent edge.

    Spawns give spawn rules, signals give channels, emissions and subscriptions, other edges between roles that no
    spawn rule links give peer routes. Edges to the task board are left out; a broadcast is a route to every role.
    """
    roles = {m.agent_id: role_name(m.role or m.agent_id) for m in team.member_list}
    for edge in team.interaction_list:
        for agent, role in ((edge.from_agent, edge.from_role), (edge.to_agent, edge.to_role)):
            if agent not in NOT_AGENTS:
                roles.setdefault(agent, role_name(role or agent))
    lead = next((m.agent_id for m in team.member_list if m.is_lead), next(iter(roles), None))
    spawns: dict[str, list[str]] = {}
    for edge in team.interaction_list:
        if edge.type == "spawn" and edge.to_agent in roles and edge.from_agent in roles:
            _add(spawns, roles[edge.from_agent], roles[edge.to_agent])
    channels: dict[str, list[str]] = {}
    subscriptions: dict[str, dict[str, list[str]]] = {}
    emissions: dict[str, list[str]] = {}
    peers: dict[tuple[str, str], None] = {}
    for edge in team.interaction_list:
        if edge.from_agent not in roles:
            continue
        source = roles[edge.from_agent]
        for target in _reached(edge, roles):
            if target in spawns.get(source, ()) or (
                source in spawns.get(target, ()) and edge.type != "spawn"
            ):
                continue
            if edge.channel and edge.signal:
                channel, signal = edge.channel, signal_name(edge.signal)
                _add(channels, channel, signal)
                _add(emissions, source, signal)
                _add(subscriptions.setdefault(target, {}), channel, signal)
            else:
                peers[source, target] = None
    value: dict[str, Any] = {
        "name": role_name(team.name or team.id),
        "version": 1,
        "roles": list(dict.fromkeys(roles.values())) or ["lead"],
        "topology": {"root": {"role": roles[lead] if lead else "lead"}, "spawn_rules": spawns},
    }
    if team.objective:
        value["description"] = " ".join(team.objective.split())[:200]
    value["communication"] = {
        "enforcement": team.enforcement if team.enforcement in ENFORCEMENTS else "permissive",
        "channels": {c: {"signals": s} for c, s in channels.items()},
        "subscriptions": {
            r: [{"channel": c, "signals": s} for c, s in heard.items()] for r, heard in subscriptions.items()
        },
        "emissions": emissions,
        "routing": {"peers": [{"from": a, "to": b, "via": "direct"} for a, b in peers]},
    }
    return load_template(value)


def _reached(edge: Interaction, roles: Mapping[str, str]) -> list[str]:
    if edge.to_agent == EVERYONE and edge.subtype not in (
        "team_create",
        "team_delete",
        "task_create",
        "task_update",
    ):
        return list(dict.fromkeys(r for a, r in roles.items() if a != edge.from_agent))
    return [roles[edge.to_agent]] if edge.to_agent in roles else []


def _add(into: dict[str, list[str]], key: str, value: str) -> None:
    held = into.setdefault(key, [])
    if value not in held:
        held.append(value)


def to_team_yaml(team: Team) -> str:
    """The text of a `team.yaml` that allows what the team did (see `to_template`)."""
    return to_template(team).to_yaml()
