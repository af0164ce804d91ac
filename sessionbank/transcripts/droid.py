"""Factory Droid transcripts: JSONL, a ``session_start`` line and ``message`` lines, blocks as Anthropic writes them.

No usage stands in them: a reply is a call whose tokens are missing. What Droid tells the user itself (visibility
``user_only``) was typed by nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessionbank.transcripts import jsonl
from sessionbank.transcripts.claude_kinds import result_status, user_kind
from sessionbank.transcripts.filling import Filler, identified, rest
from sessionbank.transcripts.rows import Entry, Format, SessionRows, as_json, joined, string

_KNOWN = frozenset({"type", "id", "parentId", "timestamp", "message"})
_REMINDER = "<system-reminder>"


def _matches(whole: Any, first: list[dict[str, Any]]) -> bool:
    return any((v.get("type") == "session_start" and "id" in v) or _is_message(v) for v in first)


def _is_message(value: dict[str, Any]) -> bool:
    message = value.get("message")
    if value.get("type") != "message" or not isinstance(message, dict) or "timestamp" in message:
        return False  # Pi's messages have a time inside
    return message.get("role") in ("user", "assistant")


def _split(data: bytes, problem: Callable[..., None]) -> list[jsonl.Stored]:
    return identified(jsonl.lines(data, problem, id_key="id"))


def read(entries: list[Entry], rows: SessionRows) -> None:
    """Messages, blocks, calls with their results, and a call without tokens a reply."""
    fill = Filler(rows)
    for entry in entries:
        value = entry[0]
        what, uuid = string(value.get("type")) or "unknown", string(value.get("id"))
        message = value.get("message")
        if what != "message" or type(message) is not dict:
            if what == "session_start":
                rows.cwd = rows.cwd or string(value.get("cwd"))
                fill.names_session(uuid)
                fill.names_session(value.get("parent"))
            fill.message(
                entry,
                what,
                "other",
                uuid=uuid,
                time=value.get("timestamp"),
                line_type=what,
                extra=rest(value, _KNOWN),
            )
            continue
        role, content = string(message.get("role")) or "unknown", message.get("content")
        blocks = [b for b in content if type(b) is dict] if type(content) is list else []
        is_reply = role == "assistant"
        kind, text = ("reply", joined(content)) if is_reply else _said(content, blocks, message)
        call = (uuid or f"{rows.session_id}:reply-{entry[1]}") if is_reply else None
        seq = fill.message(
            entry, role, kind, text=text, uuid=uuid, parent=string(value.get("parentId")), time=value.get("timestamp"),
            message_id=call, line_type=what,
            extra=rest(value, _KNOWN),
        )  # fmt: skip
        if type(content) is str:
            fill.block(seq, "text", content)
        for block in blocks:
            _block(block, fill, (seq, call))
        if call is not None:
            fill.unmeasured(seq, call, is_final=True)


def _said(content: Any, blocks: list[dict[str, Any]], message: dict[str, Any]) -> tuple[str, str | None]:
    """Kind and text of a line of the user's; reminders that Droid adds beside the text are left to the blocks."""
    if any(b.get("type") == "tool_result" for b in blocks):
        found = [t for t in (joined(b.get("content")) for b in blocks if b.get("type") == "tool_result") if t]
        return "tool_result", "\n".join(found) or None
    texts = [content] if type(content) is str else [t for t in (string(b.get("text")) for b in blocks) if t]
    typed = [t for t in texts if not t.lstrip().startswith(_REMINDER)]
    text = "\n".join(typed or texts) or None
    if message.get("visibility") == "user_only":
        return "system", text
    return user_kind({}, text, is_subagent=False) if typed else ("meta" if texts else "other"), text


def _block(block: dict[str, Any], fill: Filler, at: tuple[int, str | None]) -> None:
    seq, call = at
    what = block.get("type")
    if what == "text":
        fill.block(seq, "text", string(block.get("text")))
    elif what == "tool_use":
        fill.use(
            seq, string(block.get("id")), string(block.get("name")), given=block.get("input"), message_id=call
        )
    elif what == "tool_result":
        text, flag = joined(block.get("content")), block.get("is_error")
        flag = flag if type(flag) is bool else None
        status = result_status(flag, text, None)
        fill.result(seq, string(block.get("tool_use_id")), text, is_error=flag, status=status)
    elif what in ("thinking", "redacted_thinking"):
        said = string(block.get("thinking"))
        fill.block(seq, "thinking", said, is_redacted=said is None)
    elif what == "image":
        source = block.get("source")
        source = source if type(source) is dict else {}
        fill.image(seq, source.get("media_type"), source.get("data"))
    else:
        fill.block(seq, string(what) or "unknown", as_json(block))


FORMAT = Format("droid-jsonl", "factory-droid", False, _matches, _split, read)
