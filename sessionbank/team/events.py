"""What happened between agents in one session, before names are resolved: `Event`, and the session as a `Scene`.

A scene holds what every finder of events asks: tool calls with their decoded input and result, whose line is whose,
which team was active at a line, and what the session's own agent is called. It finds no events itself.
"""

from __future__ import annotations

import bisect
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from sessionbank.records import SPAWN_TOOLS, Diagnostic, Message, Session, ToolCall

LEAD, MAIN = "team-lead", "main"

_READ = SPAWN_TOOLS | {
    "task", "TeamCreate", "TeamDelete", "SendMessage", "TaskCreate", "TaskUpdate", "TaskOutput", "AgentOutputTool",
}  # fmt: skip


@dataclass(slots=True)
class Event:
    """Something that one agent did to another, as the transcript shows it; names are as written."""

    type: str
    subtype: str
    order: tuple[int, int]  # seq of the message that shows it, block in it
    at: datetime | None
    from_raw: str | None = None  # None: the agent whose line it is
    to_raw: str | None = None
    from_agent: str | None = None  # where the transcript gives the id itself
    to_agent: str | None = None
    from_step: int | None = None
    to_step: int | None = None
    content: str | None = None
    channel: str | None = None
    signal: str | None = None
    ok: bool | None = None
    is_inferred: bool = False
    evidence: str = "tool_result"
    team: str | None = None
    tokens: int | None = None
    latency_ms: int | None = None
    message_uuid: str | None = None
    tool_call_id: str | None = None
    sent_at: datetime | None = None  # where the sender's own clock is shown
    answered_at: datetime | None = None
    about: str | None = None  # the agent, task or request that it is about


@dataclass(slots=True)
class Teammate:
    """A teammate as its spawn, or the first message from it, shows it."""

    teammate_id: str  # name@team, or the bare name where no team is known
    name: str
    team: str | None
    seq: int
    agent_type: str | None = None
    model: str | None = None
    prompt: str | None = None
    call: ToolCall | None = None


@dataclass
class Scene:
    """One session, read for what its agents did to each other. Rows inherited from another session are left out."""

    session: Session
    problems: list[Diagnostic] = field(default_factory=list)

    @cached_property
    def messages(self) -> list[Message]:
        """Own messages in file order."""
        return [m for m in self.session.messages if m.inherited_from is None]

    @cached_property
    def calls(self) -> list[ToolCall]:
        """Own tool calls in file order, subagents' too."""
        return [c for c in self.session.tool_calls if c.inherited_from is None]

    @cached_property
    def _inputs(self) -> dict[str, dict[str, Any]]:
        return {c.tool_call_id: _dict(c.input) for c in self.calls if c.tool_name in _READ}

    @cached_property
    def _results(self) -> dict[str, dict[str, Any]]:
        return {c.tool_call_id: _dict(c.result_data) for c in self.calls if c.tool_name in _READ}

    def input(self, call: ToolCall) -> dict[str, Any]:
        """The arguments of a call; empty where they are no object."""
        return self._inputs.get(call.tool_call_id) or {}

    def result(self, call: ToolCall) -> dict[str, Any]:
        """The structured result of a call; empty where there is none."""
        return self._results.get(call.tool_call_id) or {}

    @cached_property
    def lines_of(self) -> dict[str, list[Message]]:
        """Call id -> the messages of the agent that it started, in file order."""
        found: dict[str, list[Message]] = {}
        for message in self.messages:
            if message.is_subagent and message.parent_tool_call_id:
                found.setdefault(message.parent_tool_call_id, []).append(message)
        return found

    @cached_property
    def own_lines(self) -> dict[str | None, list[Message]]:
        """Agent id -> its messages in file order; None is the session's own agent."""
        found: dict[str | None, list[Message]] = {}
        for message in self.messages:
            found.setdefault(message.agent_id if message.is_subagent else None, []).append(message)
        return found

    @cached_property
    def tokens_of(self) -> dict[tuple[str | None, str], int]:
        """Agent id and message id -> all classes of tokens of that API call, where they were recorded."""
        return {
            (u.agent_id if u.is_subagent else None, u.message_id): u.total_tokens
            for u in self.session.usage
            if u.inherited_from is None and u.total_tokens is not None
        }

    @cached_property
    def spawns(self) -> list[ToolCall]:
        """Calls that start an agent: by the tool's name, or because an agent's lines name them."""
        return [c for c in self.calls if is_spawn(c) or c.tool_call_id in self.lines_of]

    # -- teams ---------------------------------------------------------------------------------------------------

    @cached_property
    def _line_names(self) -> dict[int, tuple[str | None, str | None]]:
        """Seq -> teamName and agentName of the line itself."""
        found = {}
        for message in self.messages:
            if message.extra and '"teamName"' in message.extra and not message.is_subagent:
                extra = _dict(message.extra)
                found[message.seq] = (text(extra.get("teamName")), text(extra.get("agentName")))
        return found

    @cached_property
    def _changes(self) -> tuple[list[int], list[str | None]]:
        """Where the active team changes: by a line's own word, a team made or deleted, a teammate spawned."""
        found: dict[int, str | None] = {}
        for call in self.calls:
            if call.is_subagent or call.result_seq is None:
                continue
            result = self.result(call)
            if call.tool_name == "TeamDelete" and call.status == "ok" and text(result.get("team_name")):
                found[call.result_seq] = None
            elif call.tool_name == "TeamCreate" and call.status == "ok":
                found[call.result_seq] = text(result.get("team_name")) or text(
                    self.input(call).get("team_name")
                )
            elif call.tool_name in SPAWN_TOOLS and text(result.get("team_name")):
                found[call.result_seq] = result["team_name"]
        for seq, (team, _) in self._line_names.items():
            if team is not None:
                found[seq] = team
        order = sorted(found)
        return order, [found[s] for s in order]

    def team_at(self, seq: int) -> str | None:
        """The team that was active at a line, or None."""
        places, teams = self._changes
        at = bisect.bisect_right(places, seq) - 1
        return teams[at] if at >= 0 else None

    @cached_property
    def team_names(self) -> tuple[str, ...]:
        """Names of all teams of the session, in order of appearance."""
        return tuple(dict.fromkeys(t for t in self._changes[1] if t))

    @cached_property
    def own_name(self) -> str | None:
        """The session's agent's name, where its lines say that it is a teammate."""
        return next((agent for _, agent in self._line_names.values() if agent), None)

    @cached_property
    def has_team(self) -> bool:
        """Whether anything shows a team of teammates, rather than an agent with subagents at most."""
        return bool(
            self.team_names
            or any(starts_with(m, "teammate-message") for m in self.messages)
            or any(self.result(c).get("status") == "teammate_spawned" for c in self.spawns)
        )

    @cached_property
    def has_others(self) -> bool:
        """Whether the session shows any agent beside its own, or an attempt to start one."""
        return bool(self.spawns or self.has_team or any(m.is_subagent for m in self.messages)) or any(
            starts_with(m, "task-notification") for m in self.messages
        )

    @cached_property
    def self_id(self) -> str:
        """What the session's own agent is called here: its own name, ``team-lead`` with a team, else ``main``."""
        return self.own_name or (LEAD if self.has_team else MAIN)

    def actor(self, call: ToolCall) -> str:
        """Who made a call: the session's own agent, or the subagent on whose line it stands."""
        if not call.is_subagent:
            return self.self_id
        return call.agent_id or f"agent-of-{call.parent_tool_call_id}"

    def problem(self, code: str, message: str, seq: int | None = None) -> None:
        """Adds a diagnostics row with the place of a message."""
        at = next((m for m in self.messages if m.seq == seq), None) if seq is not None else None
        self.problems.append(
            Diagnostic(
                "warning", code, message, at.checkpoint_id if at else None, at.session_index if at else None,
                self.session.session_id, None, at.line_index if at else None,
            )
        )  # fmt: skip


def starts_with(message: Message, tag: str) -> bool:
    """Whether a line of the session's own agent was delivered to it and begins with a tag.

    An attachment's kind is told by its mode, which is the same for teammates and for background agents.
    """
    return (
        message.kind in ("teammate", "notification")
        and not message.is_subagent
        and (message.text or "").lstrip().startswith(f"<{tag}")
    )


def is_spawn(call: ToolCall) -> bool:
    """Whether the call's tool starts an agent: Task and Agent of Claude Code, task of OpenCode."""
    return call.mcp_server is None and (call.tool_name in SPAWN_TOOLS or call.tool_name == "task")


def succeeded(call: ToolCall) -> bool | None:
    """Whether a call went through; None where no result says so."""
    return None if call.status == "no_result" else call.status == "ok"


def milliseconds(start: datetime | None, end: datetime | None) -> int | None:
    """From start to end; negative where the clocks say so; None where one is missing."""
    return None if start is None or end is None else round((end - start).total_seconds() * 1000)


def moment(value: Any) -> datetime | None:
    """An ISO time with a zone, as the structured messages write it; None for anything else."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None


def text(value: Any) -> str | None:
    """The value if it is a string that says something, else None."""
    return value if isinstance(value, str) and value else None


def json_text(value: Any) -> str | None:
    """A string as it is, anything else as JSON text."""
    return text(value) if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _dict(value: str | None) -> dict[str, Any]:
    try:
        found = json.loads(value) if value else None
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def ordered(events: list[Event]) -> Iterator[Event]:
    """Events by time, then by place; one without a time keeps the time of what stands before it."""
    last: datetime | None = None
    keyed = []
    for event in sorted(events, key=lambda e: e.order):
        last = event.at or last
        keyed.append((last is not None, last, event.order, event))
    keyed.sort(key=lambda k: (k[0], k[1].timestamp() if k[1] else 0.0, k[2]))
    return (k[3] for k in keyed)
