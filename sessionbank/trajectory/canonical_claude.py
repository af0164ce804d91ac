"""Claude Code lines as the events that canonical records are made of. Which become records is `canonical`'s business."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sessionbank.errors import FormatError
from sessionbank.trajectory import javascript as js

_TRANSPORT = frozenset({
    "progress", "queue-operation", "file-history-snapshot", "summary", "system", "pr-link", "last-prompt",
    "custom-title", "ai-title", "agent-name", "permission-mode", "attachment", "mode",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that a line says."""

    kind: str  # message | reasoning | tool_call | tool_result
    text: str
    line: int
    offset: int
    component: int  # place among the events of its line
    uuid: str | None = None
    ms: int | None = None
    role: str = "assistant"
    model: str | None = None
    call_id: str | None = None
    name: str | None = None
    ok: bool | None = None


def claude_events(transcript: str, told: list[dict[str, Any]]) -> tuple[dict[str, Any], list[Event]]:
    """Context (group, cwd, branch) and events of a transcript; unreadable and dropped lines are told."""
    rows = list(_lines(transcript, told))
    spoken = [v.get("isSidechain") is True for v, _, _ in rows if _is_spoken(v)]
    is_subagents = bool(spoken) and all(spoken)
    events: list[Event] = []
    sessions: dict[str, None] = {}
    agents: dict[str, None] = {}
    earliest: dict[str, tuple[float, str, str]] = {}
    for value, line, offset in rows:
        if value.get("isSidechain") is True and not is_subagents:
            text = f"Dropped a Claude Code sidechain record on line {line}."
            told.append({"code": "sidechain_record_dropped", "message": text, "inputLine": line})
            continue
        if value.get("type") in _TRANSPORT and isinstance(value.get("type"), str):
            continue
        ms = js.milliseconds(value.get("timestamp"))
        tie = _text(value.get("uuid")) or f"@{offset}"
        for key in ("cwd", "gitBranch"):
            named = _text(value.get(key))
            if named:
                mine = (float("inf") if ms is None else ms, tie, named)
                earliest[key] = min(earliest.get(key, mine), mine, key=lambda m: m[:2])
        if _text(value.get("sessionId")):
            sessions[value["sessionId"]] = None
        if is_subagents and _text(value.get("agentId")):
            agents[value["agentId"]] = None
        if value.get("type") in ("user", "assistant") and isinstance(value.get("message"), dict):
            events += _spoken(value, (line, offset, ms))
    if len(agents) > 1:
        names = ", ".join(sorted(js.quote(a) for a in agents))
        raise FormatError(
            f"source_group_conflict: Claude Code subagent transcript contains multiple agent ids: {names}."
        )
    group = next(iter(agents), None) or (next(iter(sessions)) if len(sessions) == 1 else None)
    context = {"group": group, "is_ambiguous": len(sessions) > 1 and not agents}
    context["cwd"] = earliest["cwd"][2] if "cwd" in earliest else None
    context["branch"] = earliest["gitBranch"][2] if "gitBranch" in earliest else None
    return context, events


def _lines(transcript: str, told: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], int, int]]:
    offset = 0
    for number, raw in enumerate(transcript.split("\n"), 1):
        here, offset = offset, offset + len(raw.encode("utf-8", "surrogatepass")) + 1
        if not js.strip(raw):
            continue
        try:
            value = js.parse(raw)
        except ValueError:
            told.append(
                {
                    "code": "invalid_json_line",
                    "message": f"Skipped invalid JSON on line {number}.",
                    "inputLine": number,
                }
            )
            continue
        if not isinstance(value, dict):
            text = f"Skipped non-object JSON on line {number}."
            told.append({"code": "non_object_json_line", "message": text, "inputLine": number})
            continue
        yield value, number, here


def _is_spoken(value: dict[str, Any]) -> bool:
    return value.get("type") in ("user", "assistant") and isinstance(value.get("message"), dict)


def _spoken(value: dict[str, Any], place: tuple[int, int, int | None]) -> list[Event]:
    line, offset, ms = place
    message = value["message"]
    content = message.get("content")
    common: dict[str, Any] = {"line": line, "offset": offset, "ms": ms, "uuid": _text(value.get("uuid"))}
    found: list[Event] = []

    def emit(kind: str, text: str, **more: Any) -> None:
        found.append(Event(kind, text, component=len(found), **common, **more))

    if value["type"] == "user":
        if isinstance(content, str):
            emit("message", content, role="user")
            return found
        texts = []
        for block in _blocks(content):
            kind = block.get("type")
            if kind == "tool_result":
                flag = block.get("is_error")
                ok = not flag if isinstance(flag, bool) else None
                emit(
                    "tool_result",
                    _joined(block.get("content")),
                    call_id=_text(block.get("tool_use_id")),
                    ok=ok,
                )
            elif kind == "text" and isinstance(block.get("text"), str):
                texts.append(block["text"])
            elif kind == "image":
                texts.append("[image]")
        if texts:
            emit("message", "\n".join(texts), role="user")
        return found
    model = message.get("model") if isinstance(message.get("model"), str) else None
    if isinstance(content, str):
        if js.strip(content):
            emit("message", content, model=model)
        return found
    for block in _blocks(content):
        kind = block.get("type")
        if kind == "thinking":
            emit("reasoning", _string(block.get("thinking")), model=model)
        elif kind == "text":
            emit("message", _string(block.get("text")), model=model)
        elif kind == "tool_use":
            given = block.get("input")
            text = js.stringify({} if given is None else given)
            emit(
                "tool_call", text, model=model, call_id=_text(block.get("id")), name=_text(block.get("name"))
            )
    return found


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def _joined(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = []
    for item in _blocks(content):
        kind = item.get("type")
        if kind in ("text", "input_text", "output_text") or ("type" not in item and "text" in item):
            if _text(item.get("text")):
                parts.append(item["text"])
        elif kind == "image":
            parts.append("[image]")
    return "\n".join(parts)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
