"""Transcripts of plugins whose message is a plain string: JSONL lines of {type or role, message}.

Who wrote them is not told. Nothing but text stands in them: no calls of tools, no models, no usage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessionbank.transcripts import jsonl
from sessionbank.transcripts.claude_kinds import user_kind
from sessionbank.transcripts.filling import Filler, identified, iso, rest
from sessionbank.transcripts.rows import Entry, Format, SessionRows, string

_KNOWN = frozenset({"type", "role", "message", "uuid", "id", "timestamp", "ts", "model"})
_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "agent": "assistant"}


def _role(value: dict[str, Any]) -> Any:
    return _ROLES.get(str(value.get("type")), _ROLES.get(str(value.get("role"))))


def _matches(whole: Any, first: list[dict[str, Any]]) -> bool:
    return any(isinstance(v.get("message"), str) and _role(v) is not None for v in first)


def _split(data: bytes, problem: Callable[..., None]) -> list[jsonl.Stored]:
    stored = jsonl.lines(data, problem, id_key="uuid")
    return identified([(own or string(value.get("id")), value, line, at) for own, value, line, at in stored])


def read(entries: list[Entry], rows: SessionRows) -> None:
    """Messages and their text."""
    fill = Filler(rows)
    for entry in entries:
        value = entry[0]
        text, role = string(value.get("message")), _role(value)
        what = string(value.get("type")) or string(value.get("role")) or "unknown"
        kind = (
            "other"
            if role is None
            else "reply"
            if role == "assistant"
            else user_kind(value, text, is_subagent=False)
        )
        time = value.get("timestamp", value.get("ts"))
        rows.cwd = rows.cwd or string(value.get("cwd"))
        seq = fill.message(
            entry, role or what, kind, text=text, uuid=string(value.get("uuid")) or string(value.get("id")),
            model=string(value.get("model")) if role == "assistant" else None, line_type=what,
            time=time if type(time) is str else iso(time), extra=rest(value, _KNOWN),
        )  # fmt: skip
        if text is not None:
            fill.block(seq, "text", text)


FORMAT = Format("plugin-jsonl", "plugin", False, _matches, _split, read)
