"""Kiro transcripts: one JSON document with a ``history`` of turns, each what the user side said and the answer.

Ids are empty strings, times are not recorded, results stand (where they do) on the user side of the next turn. A turn
gives up to two messages, which share its place. Each answer is a call; its tokens are not recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessionbank.transcripts import jsonl
from sessionbank.transcripts.filling import REDACTED, Filler
from sessionbank.transcripts.rows import Entry, Format, SessionRows, as_json, joined, string


def _matches(whole: Any, first: list[dict[str, Any]]) -> bool:
    history = whole.get("history") if isinstance(whole, dict) else None
    return isinstance(history, list) and (
        "conversation_id" in whole or any(isinstance(t, dict) and "assistant" in t for t in history)
    )


def _split(data: bytes, problem: Callable[..., None]) -> list[jsonl.Stored]:
    found: list[jsonl.Stored] = []
    for whole in jsonl.documents(data, problem):
        history = whole.get("history") if isinstance(whole, dict) else None
        for turn in history if isinstance(history, list) else []:
            if isinstance(turn, dict):
                found.append((None, turn, len(found), -1))
            else:
                problem("warning", "non_object_line", "a turn that is not an object", len(found))
    return found


class _Reader:
    """Reads the turns of one session."""

    def __init__(self, rows: SessionRows) -> None:
        self.rows = rows
        self.fill = Filler(rows)
        self.open: list[tuple[int, int]] = []  # uses without an id, and their blocks, that wait for a result
        self.replies = 0

    def turn(self, entry: Entry) -> None:
        value, before = entry[0], len(self.rows.messages)
        user, answer = value.get("user"), value.get("assistant")
        if type(user) is dict and user.get("content") is not None:
            self.user(user, entry)
        if type(answer) is dict and answer:
            self.reply(answer, entry)
        if len(self.rows.messages) == before:
            self.fill.message(entry, "unknown", "other", extra=value)

    def user(self, user: dict[str, Any], entry: Entry) -> None:
        content = user["content"]
        if type(content) is not dict:
            content = {"Prompt": {"prompt": content}} if type(content) is str else {}
        said = [c for c in content.values() if type(c) is dict]
        prompt = next((c["prompt"] for c in said if string(c.get("prompt"))), None)
        results = [r for c in said for r in _list(c.get("tool_use_results")) if type(r) is dict]
        kind = "prompt" if prompt else "tool_result" if results else "other"
        text = prompt or "\n".join(t for t in map(_result_text, results) if t) or None
        unread = content if kind == "other" else None
        what = next(iter(content), None)
        seq = self.fill.message(entry, "user", kind, text=text, line_type=what, extra=unread)
        if prompt:
            self.fill.block(seq, "text", prompt)
        for result in results:
            is_cancelled = "CancelledToolUses" in content
            state = str(result.get("status")).lower()
            is_error = {"success": False, "error": True}.get(state)
            call_id = string(result.get("tool_use_id")) or self.named()
            status = "rejected" if is_cancelled else None
            self.fill.result(seq, call_id, _result_text(result), is_error=is_error, status=status)

    def named(self) -> str | None:
        """An id, made from its place, for the earliest use without one; its result has none either."""
        if not self.open:
            return None
        rows = self.rows
        at, block = self.open.pop(0)
        call_id = f"{rows.session_id}:tool-{at}"
        rows.uses[at] = rows.uses[at]._replace(tool_call_id=call_id)
        rows.blocks[block] = rows.blocks[block]._replace(tool_call_id=call_id)
        return call_id

    def reply(self, answer: dict[str, Any], entry: Entry) -> None:
        what, said = next(iter(answer.items()))
        said = said if type(said) is dict else {}
        self.replies += 1
        uuid = string(said.get("message_id"))
        uuid = None if uuid == REDACTED else uuid
        call = uuid or f"{self.rows.session_id}:reply-{self.replies}"
        text = string(said.get("content"))
        seq = self.fill.message(
            entry, "assistant", "reply", text=text, uuid=uuid, message_id=call, line_type=what
        )
        if text:
            self.fill.block(seq, "text", text)
        self.open = []
        for use in _list(said.get("tool_uses")):
            if type(use) is dict:
                call_id = string(use.get("id"))
                if call_id is None:
                    self.open.append((len(self.rows.uses), len(self.rows.blocks)))
                self.fill.use(seq, call_id, string(use.get("name")), given=use.get("args"), message_id=call)
        self.fill.unmeasured(seq, call, is_final=True)


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []


def _result_text(result: dict[str, Any]) -> str | None:
    content = result.get("content")
    parts = [p.get("Text", as_json(p.get("Json"))) if type(p) is dict else p for p in _list(content)]
    return "\n".join(p for p in parts if type(p) is str) or joined(content)


def read(entries: list[Entry], rows: SessionRows) -> None:
    """Messages, blocks, calls with their results where recorded, and a call without tokens an answer."""
    reader = _Reader(rows)
    for entry in entries:
        reader.turn(entry)


FORMAT = Format("kiro-json", "kiro", True, _matches, _split, read)
