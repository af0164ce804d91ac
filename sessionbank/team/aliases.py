"""Who is meant by a name: the agents of one session, and the names under which their mates speak of them.

The raw name is always kept beside the resolved one; what was resolved by more than the name itself says so. Agents are
named by what the tool gave them: a teammate by its name (``name@team`` where two teams of the session use it), a
subagent by its id.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sessionbank.team.events import LEAD, Event, Scene, Teammate, text
from sessionbank.team.model import EVERYONE, NOT_AGENTS, SYSTEM, UNKNOWN
from sessionbank.team.subagents import agent_of, result_fields, spawn_kind

# How mates and prompts call the agent that leads, beside "team-lead". A teammate's own name goes first.
LEAD_NAMES = frozenset({
    "team-lead", "teamlead", "team-leader", "lead", "lead-agent", "leader", "orchestrator", "orchestrator-agent",
    "coordinator", "main", "main-agent", "parent", "supervisor",
})  # fmt: skip


@dataclass
class Roster:
    """The agents of one session, and how names lead to them."""

    self_id: str
    teammates: list[Teammate] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)  # subagents, by id
    named: dict[str, str] = field(default_factory=dict)  # name that a subagent was given -> its id
    aliases: dict[str, str] = field(default_factory=dict)  # raw -> resolved, where they differ
    unknown: dict[str, None] = field(default_factory=dict)  # names that lead to nobody, in order

    def id_of(self, mate: Teammate) -> str:
        """The agent id of a teammate: its name, with the team where the name alone is not enough."""
        same = {m.teammate_id for m in self.teammates if m.name == mate.name}
        return mate.name if len(same) == 1 and mate.name not in self.ids else mate.teammate_id

    def resolve(
        self, raw: str, team: str | None, seq: int, *, may_be_nobody: bool = False
    ) -> tuple[str, bool]:
        """The agent that a name means at a line of the session, and whether that took a guess."""
        name = raw.removeprefix("@")
        found, guessed = self._find(name, team, seq)
        if found is None:
            if raw not in NOT_AGENTS and not may_be_nobody:
                self.unknown.setdefault(raw)
            return raw, False
        # a bare name that two teams use is each mate's own, and no alias of either
        if found != raw and all(m.name != name for m in self.teammates):
            self.aliases.setdefault(raw, found)
        return found, guessed

    def _find(self, name: str, team: str | None, seq: int) -> tuple[str | None, bool]:
        if name in NOT_AGENTS:
            return name, False
        if name in self.ids or name == self.self_id:
            return name, False
        mates = [m for m in self.teammates if name in (m.name, m.teammate_id)]
        if mates:
            return self.id_of(_nearest(mates, team, seq)), False
        if name in self.named:
            return self.named[name], False
        base = name.split("@", 1)[0].lower().replace("_", "-").replace(" ", "-")
        if base in LEAD_NAMES:
            lead = LEAD if any(m.name == LEAD for m in self.teammates) else self.self_id
            return lead, base != LEAD  # "team-lead" is the lead's own name in the format
        for close in (
            [m for m in self.teammates if m.name.lower().replace("_", "-") == base],
            [m for m in self.teammates if m.agent_type is not None and m.agent_type.lower() == base],
            [
                m
                for m in self.teammates
                if f"{base}-agent" == m.name.lower() or base == f"{m.name.lower()}-agent"
            ],
        ):
            if len({m.name for m in close}) == 1:
                return self.id_of(_nearest(close, team, seq)), True
        return None, False


def _nearest(mates: list[Teammate], team: str | None, seq: int) -> Teammate:
    """Of several by one name: that of the active team, then the latest that had been started."""
    same = [m for m in mates if m.team == team] or mates
    before = [m for m in same if m.seq <= seq]
    return before[-1] if before else same[0]


def roster(scene: Scene, events: Iterable[Event]) -> Roster:
    """Everyone whom a session shows: by a spawn that did not fail, by lines of its own, or by a message from it."""
    found = Roster(scene.self_id)
    for call in scene.spawns:
        result = scene.result(call)
        name = text(result.get("name")) or text(scene.input(call).get("name"))
        if spawn_kind(scene, call) != "teammate" or not name:
            agent = agent_of(scene, call)
            if agent and (call.status in ("ok", "no_result") or call.tool_call_id in scene.lines_of):
                found.ids.add(agent)
                if name:
                    found.named.setdefault(name, agent)
            continue
        if call.status not in ("ok", "no_result"):
            continue
        team = (
            text(result.get("team_name"))
            or text(scene.input(call).get("team_name"))
            or scene.team_at(call.seq)
        )
        full = text(result.get("teammate_id")) or (f"{name}@{team}" if team else name)
        if all(m.teammate_id != full for m in found.teammates):
            about = result_fields(scene, call)
            prompt = text(scene.input(call).get("prompt"))
            found.teammates.append(
                Teammate(full, name, team, call.seq, about["agent_type"], about["model"], prompt, call)
            )
    found.ids |= {m.agent_id for m in scene.messages if m.is_subagent and m.agent_id}
    for event in events:
        if event.evidence == "teammate_message" and event.from_raw and event.from_agent != SYSTEM:
            _heard(scene, found, event.from_raw, event)
        elif event.type == "result_return" and event.from_agent:
            found.ids.add(event.from_agent)
    return found


def _heard(scene: Scene, found: Roster, name: str, event: Event) -> None:
    """A mate whose spawn is not in the session: it was started before, or by somebody else."""
    if (
        name in (SYSTEM, UNKNOWN, EVERYONE)
        or name in found.ids
        or name == found.self_id
        or name in found.named
    ):
        return
    base = name.split("@", 1)[0]
    if any(name in (m.name, m.teammate_id) for m in found.teammates):
        return
    if base.lower() in LEAD_NAMES and scene.own_name is None:
        return
    team = event.team
    full = name if "@" in name else f"{name}@{team}" if team else name
    found.teammates.append(Teammate(full, base, team, event.order[0]))
