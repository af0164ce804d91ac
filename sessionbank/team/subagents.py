"""Agents that a tool call starts: a spawn for each call, and a result for each answer that came back, once.

The answer of a synchronous agent is its call's result; that of a background agent is a ``<task-notification>``, or the
first successful TaskOutput where no notification came. What teammates do afterwards is `claude_teams`' business.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from sessionbank.records import Message, ToolCall
from sessionbank.team.events import Event, Scene, milliseconds, starts_with, succeeded, text
from sessionbank.team.model import UNKNOWN

_FIELD = re.compile(r"<(task-id|tool-use-id|status|summary|result)>")
_AGENT_LINE = re.compile(r"^agentId: ([0-9A-Za-z_-]+)", re.MULTILINE)
_NAMED = re.compile(r'^Agent "(.*?)"')


def spawn_kind(scene: Scene, call: ToolCall) -> str:
    """teammate, background, subagent, or child_session."""
    given, result = scene.input(call), scene.result(call)
    if result.get("status") == "teammate_spawned":
        return "teammate"
    if result.get("isAsync") is True or result.get("status") == "async_launched":
        return "background"
    if not result and text(given.get("name")) and text(given.get("team_name")):
        return "teammate"  # it failed, or its result is not there: what was asked
    if call.tool_name == "task":
        return "child_session"
    return "subagent"


def agent_of(scene: Scene, call: ToolCall) -> str | None:
    """Id of the agent that a call started, as its result, its lines or the tail of its text give it."""
    result = scene.result(call)
    found = text(result.get("agentId")) or text(result.get("teammate_id")) or text(result.get("agent_id"))
    if found is None and call.tool_name == "task":
        found = text(result.get("sessionId")) or text(result.get("sessionID"))
    if found:
        return found
    lines = scene.lines_of.get(call.tool_call_id, [])
    if lines:
        return next((m.agent_id for m in lines if m.agent_id), None) or f"agent-of-{call.tool_call_id}"
    tail = _AGENT_LINE.search(call.result_text or "") if call.status == "ok" else None
    if tail:
        return tail.group(1)
    return f"agent-of-{call.tool_call_id}" if call.status in ("no_result", "ok") else None


def events(scene: Scene) -> list[Event]:
    """Spawns and results of a session, unordered."""
    found = []
    notified = _notifications(scene)
    for call in scene.spawns:
        spawn = _spawn(scene, call)
        result = _result(scene, call, spawn, notified)
        if result is not None:
            spawn.answered_at = result.at
            found.append(result)
        found.append(spawn)
    found += _strangers(scene, notified)
    return found


def _spawn(scene: Scene, call: ToolCall) -> Event:
    given, result = scene.input(call), scene.result(call)
    lines = scene.lines_of.get(call.tool_call_id, [])
    kind = spawn_kind(scene, call)
    agent = agent_of(scene, call)
    ok = succeeded(call)
    if lines and not ok:
        ok = True  # whatever its call came to, the agent did start
    name = text(result.get("name")) or text(given.get("name"))
    shown = not agent.startswith("agent-of-") if agent else False
    raw = name or (agent if shown else None) or text(given.get("subagent_type"))
    return Event(
        "spawn", kind, (call.seq, 0), call.called_at, from_agent=scene.actor(call), to_raw=raw,
        to_agent=agent if kind != "teammate" or not name else None, from_step=call.seq,
        to_step=lines[0].seq if lines else None, content=text(given.get("prompt")) or text(given.get("description")),
        ok=ok, evidence="tool_result" if call.status != "no_result" else "agent_progress" if lines else "tool_use",
        team=(text(result.get("team_name")) if kind == "teammate" else None) or scene.team_at(call.seq),
        message_uuid=call.message_uuid, tool_call_id=call.tool_call_id, about=agent or raw or UNKNOWN,
    )  # fmt: skip


def _result(scene: Scene, call: ToolCall, spawn: Event, notified: _Notified) -> Event | None:
    lines = scene.lines_of.get(call.tool_call_id, [])
    agent = agent_of(scene, call)
    if spawn.subtype == "teammate" or agent is None:
        return None
    back = Event(
        "result_return", "result", (call.seq, 0), None, from_agent=agent, to_agent=spawn.from_agent,
        from_step=lines[-1].seq if lines else None, team=spawn.team, tool_call_id=call.tool_call_id,
        tokens=_tokens(scene, agent, lines),
    )  # fmt: skip
    if spawn.subtype == "background":
        return _late(scene, call, back, notified)
    if call.status == "no_result" or (call.status != "ok" and not lines):
        return None
    answer = call.result_seq if call.result_seq is not None else call.seq
    back.order, back.at, back.to_step = (answer, 0), call.returned_at, call.result_seq
    back.ok, back.content, back.message_uuid = call.status == "ok", call.result_text, call.result_uuid
    back.latency_ms = milliseconds(lines[-1].timestamp if lines else None, call.returned_at)
    return back


def _late(scene: Scene, call: ToolCall, back: Event, notified: _Notified) -> Event | None:
    note = notified.take(call.tool_call_id, back.from_agent, text(scene.input(call).get("description")))
    if note is not None:
        return _noted(back, *note)
    for read in scene.calls:
        if read.tool_name not in ("TaskOutput", "AgentOutputTool") or read.status != "ok":
            continue
        task = scene.result(read).get("task")
        if isinstance(task, dict) and task.get("task_id") == back.from_agent and task.get("status") in _ENDED:
            back.order, back.at, back.to_step = (
                (read.result_seq or read.seq, 0),
                read.returned_at,
                read.result_seq,
            )
            back.ok, back.message_uuid = task.get("status") == "completed", read.result_uuid
            back.content, back.evidence = text(task.get("output")) or read.result_text, "task_output"
            return back
    return None


_ENDED = ("completed", "failed", "killed", "stopped", "error")


def _noted(back: Event, message: Message, block: int, said: dict[str, str]) -> Event:
    back.order, back.at, back.to_step, back.message_uuid = (
        (message.seq, block),
        message.timestamp,
        message.seq,
        message.uuid,
    )
    back.ok = {"completed": True}.get(said.get("status", ""), False if said.get("status") in _ENDED else None)
    back.content = said.get("result") or said.get("summary")
    back.evidence = "task_notification"
    return back


def _tokens(scene: Scene, agent: str, lines: list[Message]) -> int | None:
    """All classes of the API calls behind the answer; the totalTokens of a result is its last call's context only."""
    replies = dict.fromkeys(m.message_id for m in lines if m.message_id)
    known = [t for t in (scene.tokens_of.get((agent, r)) for r in replies) if t is not None]
    return sum(known) if known else None


# -- notifications -----------------------------------------------------------------------------------------------


class _Notified:
    """The ``<task-notification>`` blocks of a session; each is taken by one spawn at most."""

    def __init__(self, found: list[tuple[Message, int, dict[str, str]]]) -> None:
        self.left = found

    def take(
        self, call_id: str, agent: str | None, description: str | None
    ) -> tuple[Message, int, dict[str, str]] | None:
        """The first of a call: by agent id, then by call id (it may be redacted), then by the agent's description."""
        for test in (
            lambda s: s.get("task-id") == agent,
            lambda s: s.get("tool-use-id") == call_id,
            lambda s: description is not None and "task-id" not in s and _described(s) == description,
        ):
            for at, (_, _, said) in enumerate(self.left):
                if test(said):
                    return self.left.pop(at)
        return None


def _described(said: dict[str, str]) -> str | None:
    named = _NAMED.match(said.get("summary", ""))
    return named.group(1) if named else None


def _inside(value: str, tag: str) -> Iterator[str]:
    """What stands between each opening of a tag and the next end of it."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    at = value.find(opening)
    while at >= 0 and (end := value.find(closing, at + len(opening))) >= 0:
        yield value[at + len(opening) : end]
        at = value.find(opening, end + len(closing))


def _fields(part: str) -> dict[str, str]:
    """The fields of a notification, of equal names the last. What stands inside a field is its text."""
    found: dict[str, str] = {}
    unended: set[str] = set()
    at = 0
    while opening := _FIELD.search(part, at):
        name, at = opening.group(1), opening.end()
        end = -1 if name in unended else part.find(f"</{name}>", at)
        if end < 0:
            unended.add(name)
        else:
            found[name], at = part[opening.end() : end].strip(), end + len(name) + 3
    return found


def _notifications(scene: Scene) -> _Notified:
    """In file order. A copy by attachment of what a user line holds is left out."""
    delivered: Counter[str] = Counter()
    found: list[tuple[Message, int, dict[str, str]]] = []
    for message in sorted(scene.messages, key=lambda m: (m.is_queued, m.seq)):
        if not starts_with(message, "task-notification"):
            continue
        if not message.is_queued:
            delivered[(message.text or "").strip()] += 1
        elif delivered[(message.text or "").strip()] > 0:
            delivered[(message.text or "").strip()] -= 1
            continue
        for block, part in enumerate(_inside(message.text or "", "task-notification")):
            found.append((message, block, _fields(part)))
    return _Notified(sorted(found, key=lambda f: (f[0].seq, f[1])))


def _strangers(scene: Scene, notified: _Notified) -> list[Event]:
    """Answers that no spawn took: a resumed agent's second, or that of an agent which another session started."""
    known: dict[str, str] = {}
    for call in scene.spawns:
        agent = agent_of(scene, call)
        if agent:
            known[agent] = call.tool_call_id
    found = []
    for message, block, said in notified.left:
        agent = said.get("task-id")
        if agent is None or (agent not in known and _described(said) is None):
            continue  # a command that ran in the background is no agent
        back = Event(
            "result_return", "result", (message.seq, block), message.timestamp, from_agent=agent,
            to_agent=scene.self_id, team=scene.team_at(message.seq), tool_call_id=known.get(agent),
        )  # fmt: skip
        found.append(_noted(back, message, block, said))
    return found


def result_fields(scene: Scene, call: ToolCall) -> dict[str, Any]:
    """What the result of a spawn says of the agent: agent_type and model, where it says so."""
    given, result = scene.input(call), scene.result(call)
    return {
        "agent_type": text(result.get("agent_type"))
        or text(result.get("agentType"))
        or text(given.get("subagent_type")),
        "model": text(result.get("model")) or text(given.get("model")),
    }
