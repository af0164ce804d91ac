"""Gemini CLI transcripts that are one JSON document: a list of messages, each with its tool calls and tokens.

``cached`` is inside ``input``; ``thoughts`` is outside ``output``. The later JSONL form is another module's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessionbank.transcripts import jsonl
from sessionbank.transcripts.rows import (
    BlockRow,
    Entry,
    Format,
    MessageRow,
    Place,
    ResultRow,
    SessionRows,
    UsageRow,
    UseRow,
    as_json,
    joined,
    number,
    string,
)  # fmt: skip

_ROLES = {"user": ("user", "prompt"), "gemini": ("assistant", "reply"), "model": ("assistant", "reply")}
_STATUS = {"success": "ok", "error": "error", "cancelled": "rejected"}
_KNOWN = {"id", "timestamp", "type", "content", "model", "thoughts", "toolCalls", "tokens"}


def _matches(whole: Any, first: list[dict[str, Any]]) -> bool:
    if not isinstance(whole, dict) or not isinstance(whole.get("messages"), list):
        return False
    if "projectHash" in whole:
        return True
    kinds = {
        m.get("type") for m in whole["messages"] if isinstance(m, dict) and isinstance(m.get("type"), str)
    }
    return bool(kinds) and kinds <= {"user", "gemini", "info", "warning", "error"} and "info" not in whole


def _split(data: bytes, problem: Callable[..., None]) -> list[jsonl.Stored]:
    found: list[jsonl.Stored] = []
    for whole in jsonl.documents(data, problem):
        messages = whole.get("messages") if isinstance(whole, dict) else None
        for message in messages if isinstance(messages, list) else []:
            if isinstance(message, dict):
                found.append((string(message.get("id")), message, len(found), -1))
            else:
                problem("warning", "non_object_line", "a message that is not an object", len(found))
    return found


def read(entries: list[Entry], rows: SessionRows) -> None:
    """Messages, calls with their results, and one usage a reply."""
    for value, line, offset, place in entries:
        role, kind = _ROLES.get(string(value.get("type")) or "", ("system", "system"))
        text = joined(value.get("content"))
        if (
            kind == "prompt"
            and text
            and text.lstrip().startswith(("/", "?"))
            and "\n" not in text.strip()
            and " " not in text.strip()
        ):
            kind = "command"
        seq = len(rows.messages)
        is_reply = kind == "reply"
        message_id = (string(value.get("id")) or f"message-{line}") if is_reply else None
        extra = {k: v for k, v in value.items() if k not in _KNOWN}
        rows.messages.append(
            MessageRow(
                string(value.get("id")), None, role, kind, text, string(value.get("model")) if is_reply else None,
                message_id, None, string(value.get("timestamp")), None, None, False, False, string(value.get("type")),
                as_json(extra) if extra else None, line, offset, place,
            )
        )  # fmt: skip
        block = _thoughts(value.get("thoughts"), seq, rows)
        if text:
            rows.blocks.append(BlockRow(seq, block, "text", text))
            block += 1
        calls = value.get("toolCalls")
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, dict):
                block = _call(call, (seq, block, message_id), rows, place)
        if is_reply:
            _usage(value, seq, message_id or "", rows)


def _thoughts(thoughts: Any, seq: int, rows: SessionRows) -> int:
    block = 0
    for thought in thoughts if isinstance(thoughts, list) else []:
        if isinstance(thought, dict):
            parts = [p for p in (string(thought.get("subject")), string(thought.get("description"))) if p]
            rows.blocks.append(
                BlockRow(seq, block, "thinking", "\n".join(parts) or None, is_redacted=not parts)
            )
            block += 1
    return block


def _call(call: dict[str, Any], at: tuple[int, int, str | None], rows: SessionRows, place: Place) -> int:
    seq, block, message_id = at
    call_id = string(call.get("id"))
    name = string(call.get("name")) or "unknown"
    rows.uses.append(UseRow(seq, call_id, name, call.get("args"), message_id))
    rows.blocks.append(BlockRow(seq, block, "tool_use", as_json(call.get("args")), call_id))
    status = string(call.get("status"))
    if status is None and "result" not in call:
        return block + 1
    text = string(call.get("resultDisplay")) or _response(call.get("result"))
    if status is not None and status not in _STATUS:
        rows.problem("info", "unknown_status", f"a tool call ended as {status[:40]!r}", place=place)
    explicit = None if status is None else status == "error"
    rows.results.append(
        ResultRow(
            seq, call_id, text, explicit, _STATUS.get(status or ""), None, string(call.get("timestamp"))
        )
    )
    rows.blocks.append(BlockRow(seq, block + 1, "tool_result", text, call_id))
    return block + 2


def _response(result: Any) -> str | None:
    """The text of Gemini's functionResponse parts."""
    parts = []
    for item in result if isinstance(result, list) else [result]:
        answer = item.get("functionResponse") if isinstance(item, dict) else None
        answer = answer.get("response") if isinstance(answer, dict) else None
        if isinstance(answer, dict):
            said = next(
                (string(answer.get(k)) for k in ("output", "error", "content") if string(answer.get(k))), None
            )
            parts.append(said if said is not None else as_json(answer) or "")
        elif isinstance(item, dict) and string(item.get("text")):
            parts.append(item["text"])
        elif isinstance(item, str):
            parts.append(item)
    return "\n".join(parts) or None


def _usage(value: dict[str, Any], seq: int, call: str, rows: SessionRows) -> None:
    tokens = value.get("tokens")
    if not isinstance(tokens, dict):
        return
    total_in, cached = number(tokens.get("input")), number(tokens.get("cached")) or 0
    out, thoughts = number(tokens.get("output")), number(tokens.get("thoughts"))
    # Prompt tokens that a tool added stand apart in `tool`; they are input like any other.
    fresh = None if total_in is None else max(total_in - cached, 0) + (number(tokens.get("tool")) or 0)
    whole = None if out is None else out + (thoughts or 0)
    rows.usage.append(UsageRow(seq, call, fresh, None, None, cached, whole, thoughts, True))


FORMAT = Format("gemini-json", "gemini-cli", True, _matches, _split, read)
