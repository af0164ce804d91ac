"""Cursor transcripts: JSONL lines of {role, message}, and nothing else.

There are no ids, no times, no results of tools and no usage, so there are no usage rows and every call is
``no_result``. What a person typed stands in ``<user_query>``; around it stands what Cursor adds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sessionbank.transcripts import jsonl
from sessionbank.transcripts.filling import Filler, rest
from sessionbank.transcripts.rows import Entry, Format, SessionRows, as_json, joined, string

_QUERY = re.compile(r"<user_query>\n?(.*?)\n?</user_query>", re.DOTALL)
_KNOWN = frozenset({"role", "message"})


def _matches(whole: Any, first: list[dict[str, Any]]) -> bool:
    return any(
        v.get("role") in ("user", "assistant")
        and isinstance(v.get("message"), dict)
        and "content" in v["message"]
        and "type" not in v
        for v in first
    )


def _split(data: bytes, problem: Callable[..., None]) -> list[jsonl.Stored]:
    return jsonl.lines(data, problem, id_key="")


def read(entries: list[Entry], rows: SessionRows) -> None:
    """Messages, blocks and calls; no usage."""
    fill = Filler(rows)
    for entry in entries:
        value = entry[0]
        message = value.get("message")
        message = message if type(message) is dict else {}
        role, text = string(value.get("role")) or "unknown", joined(message.get("content"))
        kind = "reply" if role == "assistant" else "other"
        if role == "user" and text and text.strip():
            typed = _QUERY.findall(text)
            kind, text = (
                ("prompt", "\n".join(typed))
                if typed
                else ("prompt" if not text.lstrip().startswith("<") else "meta", text)
            )
        seq = fill.message(entry, role, kind, text=text, extra=rest(value, _KNOWN))
        content = message.get("content")
        for block in content if type(content) is list else [content]:
            if type(block) is str:
                fill.block(seq, "text", block)
            elif type(block) is dict and block.get("type") == "tool_use":
                fill.use(
                    seq,
                    string(block.get("id")),
                    string(block.get("name")),
                    given=block.get("input"),
                    message_id=None,
                )
            elif type(block) is dict and block.get("type") == "text":
                fill.block(seq, "text", string(block.get("text")))
            elif type(block) is dict:
                fill.block(seq, string(block.get("type")) or "unknown", as_json(block))


FORMAT = Format("cursor-jsonl", "cursor", False, _matches, _split, read)
