"""Teammates of Claude Code as the lead's transcript shows them: team, messages both ways, peers, task board, end.

``<teammate-message>`` blocks count only in a user line that starts with the tag, or in a delivered attachment of which
no user line has a copy. Spawns are `subagents`' business; names are resolved in `aliases`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from sessionbank.records import Message, ToolCall
from sessionbank.team.events import (
    Event,
    Scene,
    json_text,
    milliseconds,
    moment,
    starts_with,
    succeeded,
    text,
)
from sessionbank.team.model import EVERYONE, SYSTEM

_OPEN = re.compile(r'\s*<teammate-message((?:\s+[\w-]+="[^"]*")*)\s*>')
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
# A body may quote the tag: it ends where the next block, or the text's end, follows.
_CLOSE = re.compile(r"</teammate-message>(?=\s*(?:<teammate-message[\s>]|\Z))")
_TO = re.compile(r"^\[to ([^\]]+)\]\s*(.*)\Z", re.DOTALL)
_GONE = re.compile(r"^(\S+) has (?:shut down|terminated|exited)")
_ASKS = frozenset({"plan_approval_request", "permission_request", "sandbox_permission_request"})
BOARD, LIFE = "task_board", "team"


class Said(NamedTuple):
    """One block of an incoming message."""

    message: Message
    block: int
    sender: str
    summary: str | None
    body: str
    data: dict[str, Any] | None  # where the body is a JSON object with a type


def blocks(value: str) -> Iterator[tuple[dict[str, str], str]]:
    """Attributes and body of each teammate-message block of a text that starts with one."""
    at = 0
    while True:
        start = _OPEN.match(value, at)
        if start is None:
            return
        end = _CLOSE.search(value, start.end())
        if end is None:  # something follows the last block, or the tag was never closed
            close = value.rfind("</teammate-message>", start.end())
            yield (
                dict(_ATTRIBUTE.findall(start.group(1))),
                value[start.end() : close if close >= 0 else None].strip("\n"),
            )
            return
        yield dict(_ATTRIBUTE.findall(start.group(1))), value[start.end() : end.start()].strip("\n")
        at = end.end()


def incoming(scene: Scene) -> list[Said]:
    """Every block that reached the session's own agent, in file order, each once.

    The same body twice in user lines is two events; in an attachment it is one with a user line's that is still free.
    """
    found: list[Said] = []
    delivered: Counter[tuple[str, str]] = Counter()
    for message in sorted(scene.messages, key=lambda m: (m.is_queued, m.seq)):
        if not starts_with(message, "teammate-message"):
            continue
        for number, (attributes, body) in enumerate(blocks(message.text or "")):
            sender = attributes.get("teammate_id", "")
            key = (sender, body)
            if not message.is_queued:
                delivered[key] += 1
            elif delivered[key] > 0:
                delivered[key] -= 1
                continue
            found.append(
                Said(message, number, sender, attributes.get("summary") or None, body, _structured(body))
            )
    return sorted(found, key=lambda s: (s.message.seq, s.block))


def _structured(body: str) -> dict[str, Any] | None:
    try:
        value = json.loads(body) if body.lstrip().startswith("{") else None
    except ValueError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("type"), str) else None


def events(scene: Scene) -> list[Event]:
    """What a session shows of its teams, unordered, spawns apart."""
    found: list[Event] = []
    for said in incoming(scene):
        found += _incoming(scene, said)
    for call in scene.calls:
        if call.tool_name == "SendMessage":
            found.append(_sent(scene, call))
        elif call.tool_name in ("TeamCreate", "TeamDelete"):
            found.append(_life(scene, call))
        elif call.tool_name in ("TaskCreate", "TaskUpdate") and _is_shared(scene, call):
            found.append(_board(scene, call))
    return found


def _is_shared(scene: Scene, call: ToolCall) -> bool:
    """Without a team the board is the agent's own list of things to do; a subagent's word on it is heard by another."""
    return scene.has_team or call.is_subagent or text(scene.input(call).get("owner")) is not None


# -- what reaches the lead ---------------------------------------------------------------------------------------


def _incoming(scene: Scene, said: Said) -> list[Event]:
    message, data = said.message, said.data or {}
    event = Event(
        "message", "incoming_text", (message.seq, 2 * said.block), message.timestamp, from_raw=said.sender or None,
        to_agent=scene.self_id, to_step=message.seq, content=said.body or said.summary, evidence="teammate_message",
        team=scene.team_at(message.seq), message_uuid=message.uuid,
    )  # fmt: skip
    if said.data is None:
        return [event]
    kind = data["type"]
    event.subtype, event.signal = kind, kind
    event.type = "escalation" if kind in _ASKS else "signal"
    event.channel = LIFE
    event.sent_at = moment(data.get("timestamp"))
    event.latency_ms = milliseconds(event.sent_at, message.timestamp)
    event.about = text(data.get("requestId")) or text(data.get("request_id"))
    if kind == "idle_notification":
        event.subtype = "idle"
        event.content = text(data.get("summary")) or text(data.get("idleReason"))
        return [event, *_peer(scene, said, event)]
    if kind == "teammate_terminated":
        gone = _GONE.match(str(data.get("message", "")))
        event.from_agent, event.about = SYSTEM, gone.group(1) if gone else None
        event.content = text(data.get("message"))
    elif kind == "task_assignment":
        event.type, event.channel, event.about = "delegation", BOARD, json_text(data.get("taskId"))
        event.from_raw = text(data.get("assignedBy")) or event.from_raw
        event.content = text(data.get("description")) or text(data.get("subject"))
    return [event]


def _peer(scene: Scene, said: Said, idle: Event) -> list[Event]:
    """The message between two teammates that an idle notification tells of; nothing else in the transcript shows it."""
    data = said.data or {}
    match = _TO.match(data["summary"]) if isinstance(data.get("summary"), str) else None
    if match is None:
        return []
    return [
        Event(
            "message", "peer", (idle.order[0], idle.order[1] + 1), idle.at,
            from_raw=text(data.get("from")) or said.sender,
            to_raw=match.group(1), content=match.group(2) or None, is_inferred=True, evidence="idle_summary",
            team=idle.team, message_uuid=said.message.uuid, sent_at=idle.sent_at,
        )
    ]  # fmt: skip


# -- what the agents do ------------------------------------------------------------------------------------------


def _call(scene: Scene, call: ToolCall, kind: tuple[str, str], **more: Any) -> Event:
    more.setdefault("evidence", "tool_use" if call.status == "no_result" else "tool_result")
    return Event(
        *kind, (call.seq, 0), call.called_at, from_agent=scene.actor(call), from_step=call.seq, ok=succeeded(call),
        team=scene.team_at(call.seq), message_uuid=call.message_uuid, tool_call_id=call.tool_call_id, **more,
    )  # fmt: skip


def _sent(scene: Scene, call: ToolCall) -> Event:
    given, result = scene.input(call), scene.result(call)
    payload = given.get("message")
    inner = payload if isinstance(payload, dict) else {}
    target = text(given.get("to")) or text(given.get("recipient"))
    declared = text(inner.get("type")) or text(given.get("type")) or "message"
    if target is None and declared == "broadcast":
        target = EVERYONE
    kind = "broadcast" if target == EVERYONE else declared
    said = (
        text(payload) or text(given.get("content")) or text(inner.get("reason")) or text(inner.get("content"))
    )
    asks = text(result.get("request_id")) or text(given.get("request_id")) or text(inner.get("request_id"))
    is_word = kind in ("message", "broadcast")
    return _call(
        scene, call, ("message" if is_word else "escalation" if kind in _ASKS else "signal", kind), to_raw=target,
        content=said or (json_text(payload) if payload else None) or text(given.get("summary")),
        channel=None if is_word else LIFE, signal=None if is_word else kind, about=asks,
    )  # fmt: skip


def _life(scene: Scene, call: ToolCall) -> Event:
    given, result = scene.input(call), scene.result(call)
    kind = "team_create" if call.tool_name == "TeamCreate" else "team_delete"
    name = text(result.get("team_name")) or text(given.get("team_name"))
    event = _call(
        scene, call, ("signal", kind), to_raw=name, to_agent=EVERYONE, channel=LIFE, signal=kind,
        content=text(given.get("description")) or text(result.get("message")) or call.result_text,
    )  # fmt: skip
    if kind == "team_create" and event.ok:
        event.team = name
    return event


def _board(scene: Scene, call: ToolCall) -> Event:
    given, result = scene.input(call), scene.result(call)
    if call.tool_name == "TaskCreate":
        made = result.get("task")
        number = json_text(made.get("id")) if isinstance(made, dict) else None
        parts = [p for p in (text(given.get("subject")), text(given.get("description"))) if p]
        return _call(
            scene, call, ("signal", "task_create"), to_raw=f"task:{number}" if number else None, to_agent=EVERYONE,
            content="\n".join(parts) or None, channel=BOARD, signal="created", evidence="task_board", about=number,
        )  # fmt: skip
    number = json_text(given.get("taskId")) or json_text(result.get("taskId"))
    owner, status = text(given.get("owner")), text(given.get("status"))
    common: dict[str, Any] = {
        "channel": BOARD, "signal": status or "updated", "evidence": "task_board", "about": number,
        "content": text(given.get("description")) or text(given.get("subject")) or text(result.get("error"))
        or (f"task {number}" + (f": {status}" if status else "") if number else status),
    }  # fmt: skip
    if owner:
        return _call(scene, call, ("delegation", "task_owner"), to_raw=owner, **common)
    return _call(
        scene,
        call,
        ("signal", "task_update"),
        to_raw=f"task:{number}" if number else None,
        to_agent=EVERYONE,
        **common,
    )
