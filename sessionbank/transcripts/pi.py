"""Pi sessions: JSONL, a ``session`` header, then entries that form a tree by ``id`` and ``parentId``.

All branches are kept, in file order. Usage stands on each reply, input without cache, output with reasoning. Which
entries the model still sees is not worked out here; what that takes (stop reasons, the first kept entry of a
compaction) is kept in ``extra``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sessionbank.transcripts import jsonl
from sessionbank.transcripts.filling import REDACTED, Filler, identified, iso, rest
from sessionbank.transcripts.rows import (
    Entry,
    Format,
    MessageRow,
    SessionRows,
    UsageRow,
    as_json,
    joined,
    number,
    string,
)  # fmt: skip

_new = tuple.__new__  # a NamedTuple's own constructor costs three times as much
_ENTRY = frozenset({"type", "id", "parentId", "timestamp", "message"})
_REPLY = frozenset({"role", "content", "model", "usage", "responseId", "timestamp"})
_TYPES = frozenset({
    "model_change", "thinking_level_change", "compaction", "branch_summary", "custom", "custom_message", "label",
    "session_info",
})  # fmt: skip
_PLAIN_TOOLS = frozenset(
    {"bash", "read", "edit", "write", "grep", "find", "ls"}
)  # their details repeat the text
_RESULT = _REPLY | {"toolCallId", "isError", "toolName", "details"}
_BROKEN = frozenset({None, "aborted", "error"})  # stop reasons of replies that did not end
_ABORTED = frozenset({"operation aborted", "aborted", "command aborted"})
_SUMMARIES = {"branchSummary": "compact_summary", "compactionSummary": "compact_summary"}
_SESSION_ID = re.compile(r"([0-9a-f]{8}-[0-9a-f-]{27})(?:\.jsonl)?$")


def _matches(whole: Any, first: list[dict[str, Any]]) -> bool:
    return any(map(_is_entry, first))


def _is_entry(value: dict[str, Any]) -> bool:
    what, message = value.get("type"), value.get("message")
    if what == "message":  # Droid's messages look alike, but have no time inside
        return (
            "parentId" in value
            and isinstance(message, dict)
            and isinstance(message.get("timestamp"), int | float)
        )
    if what == "session":
        return "id" in value and ("cwd" in value or "version" in value)
    return string(what) in _TYPES and "parentId" in value


def _split(data: bytes, problem: Callable[..., None]) -> list[jsonl.Stored]:
    return identified(jsonl.lines(data, problem, id_key="id"))


class _Reader:
    """Reads the entries of one session."""

    def __init__(self, rows: SessionRows) -> None:
        self.rows = rows
        self.fill = Filler(rows)
        self.replies = 0

    def entry(self, entry: Entry) -> None:
        value = entry[0]
        what = value.get("type")
        message = value.get("message") if what == "message" else None
        if type(message) is dict:
            role = message.get("role")
            if role == "assistant":
                self.reply(message, entry)
            elif role == "toolResult":
                self.result(message, entry)
            else:
                self.said(string(role) or "unknown", message, entry)
            return
        what = string(what) or "unknown"
        kind, role, text = "other", what, None
        if what == "session":
            self.rows.cwd = self.rows.cwd or string(value.get("cwd"))
            self.fill.names_session(value.get("id"))
            parent = _SESSION_ID.search(string(value.get("parentSession")) or "")
            self.fill.names_session(parent[1] if parent else None)
        elif what in ("compaction", "branch_summary"):
            if what == "compaction":
                self.rows.boundaries.append((len(self.rows.messages), "compaction"))
            kind, role, text = "compact_summary", "user", string(value.get("summary"))
        elif what == "custom_message":
            kind, role, text = "meta", "user", joined(value.get("content"))
        seq = self.add(entry, role, kind, text=text, extra=rest(value, _ENTRY))
        if text:
            self.fill.block(seq, "text", text)

    def add(
        self, entry: Entry, role: str, kind: str, *, text: str | None = None, model: str | None = None,
        message_id: str | None = None, extra: dict[str, Any] | None = None,
    ) -> int:  # fmt: skip
        value, line, offset, place = entry
        get, messages = value.get, self.rows.messages
        uuid, parent, time, what = get("id"), get("parentId"), get("timestamp"), get("type")
        if type(time) is not str:  # the first version wrote none on the entry
            message = get("message")
            time = iso(message.get("timestamp")) if type(message) is dict else None
        messages.append(
            _new(
                MessageRow,
                (
                    uuid if type(uuid) is str and uuid else None, parent if type(parent) is str else None, role, kind,
                    text, model, message_id, None, time, None, None, False, False, what if type(what) is str else None,
                    as_json(extra) if extra else None, line, offset, place,
                ),
            )
        )  # fmt: skip
        return len(messages) - 1

    def said(self, role: str, message: dict[str, Any], entry: Entry) -> None:
        """What is not the model's: typed, run by the person (``bashExecution``), or put in by an extension."""
        if role == "bashExecution":
            text = string(message.get("command"))
            seq = self.add(
                entry,
                "user",
                "command",
                text=text,
                extra=rest(message, frozenset({"role", "command", "output"})),
            )
            self.fill.block(seq, "text", text)
            self.fill.block(seq, "text", string(message.get("output")))
            return
        content = message.get("content", message.get("summary"))
        text = joined(content)
        kind = ("prompt" if text else "other") if role == "user" else _SUMMARIES.get(role, "meta")
        seq = self.add(
            entry, "user" if role in _SUMMARIES else role, kind, text=text, extra=rest(message, _REPLY)
        )
        self.parts(seq, content)

    def parts(self, seq: int, content: Any, call_id: str | None = None) -> None:
        """The text and image blocks of a content."""
        if type(content) is str:
            self.fill.block(seq, "text", content)
        for part in content if type(content) is list else []:
            if type(part) is dict and part.get("type") == "image":
                self.fill.image(seq, part.get("mimeType"), part.get("data"), call_id=call_id)
            elif type(part) is dict and part.get("type") == "text" and call_id is None:
                self.fill.block(seq, "text", string(part.get("text")))

    def reply(self, message: dict[str, Any], entry: Entry) -> None:
        self.replies += 1
        call = message.get("responseId")
        if type(call) is not str or not call or call == REDACTED:
            call = string(entry[0].get("id")) or f"{self.rows.session_id}:reply-{self.replies}"
        content, model = message.get("content"), message.get("model")
        parts = content if type(content) is list else [{"type": "text", "text": content}]
        texts = [p["text"] for p in parts if type(p) is dict and type(p.get("text")) is str]
        seq = self.add(
            entry, "assistant", "reply", text="\n".join(texts) if texts else None,
            model=model if type(model) is str else None, message_id=call, extra=rest(message, _REPLY),
        )  # fmt: skip
        fill = self.fill
        for part in parts:
            if type(part) is not dict:
                continue
            what = part.get("type")
            if what == "toolCall":
                given = part.get("arguments")
                fill.use(seq, string(part.get("id")), string(part.get("name")), given=given, message_id=call)
            elif what == "thinking":
                said = string(part.get("thinking"))
                is_redacted = said is None or part.get("redacted") is True
                fill.block(seq, "thinking", said, is_redacted=is_redacted)
            elif what == "image":
                fill.image(seq, part.get("mimeType"), part.get("data"))
            else:
                fill.block(seq, "text", string(part.get("text")))
        is_whole = string(message.get("stopReason")) not in _BROKEN
        self.usage(message.get("usage"), (seq, call), is_whole=is_whole)

    def usage(self, usage: Any, at: tuple[int, str], *, is_whole: bool) -> None:
        """A reply that broke off states zeros where nothing was reported: those are unknown."""
        get = usage.get if type(usage) is dict else {}.get
        fresh, written, read_, out = (
            number(get("input")),
            number(get("cacheWrite")),
            number(get("cacheRead")),
            number(get("output")),
        )
        if not is_whole and not (fresh or written or read_ or out):
            self.fill.unmeasured(*at, is_final=False)
            return
        hour, reasoning = get("cacheWrite1h"), get("reasoning")
        row = (*at, fresh, written, number(hour), read_, out, number(reasoning), is_whole)
        self.rows.usage.append(_new(UsageRow, row))

    def result(self, message: dict[str, Any], entry: Entry) -> None:
        content, flag = message.get("content"), message.get("isError")
        text, call_id = joined(content), string(message.get("toolCallId"))
        seq = self.add(entry, "tool", "tool_result", text=text, extra=rest(message, _RESULT))
        status = "interrupted" if flag is True and (text or "").strip().lower() in _ABORTED else None
        flag = flag if type(flag) is bool else None
        details = None if string(message.get("toolName")) in _PLAIN_TOOLS else message.get("details")
        self.fill.result(seq, call_id, text, is_error=flag, status=status, data=details)
        if type(content) is list and any(type(p) is dict and p.get("type") == "image" for p in content):
            self.parts(seq, content, call_id)


def read(entries: list[Entry], rows: SessionRows) -> None:
    """Messages, blocks, calls with their results, and one usage a reply."""
    reader = _Reader(rows)
    for entry in entries:
        reader.entry(entry)


FORMAT = Format("pi-jsonl", "pi", False, _matches, _split, read)
