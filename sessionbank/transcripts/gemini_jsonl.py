"""Gemini CLI transcripts in their later form: a JSONL log whose replay is the conversation.

A header, then messages; a message is written again under its id whenever its calls or tokens change, and its last
state counts. ``$set`` changes the header, or puts a list of messages before the model (which deletes none of them);
``$rewindTo`` takes back messages, which were said and paid for all the same. What a message says is read by `gemini`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from sessionbank.transcripts import gemini, jsonl
from sessionbank.transcripts.filling import Filler
from sessionbank.transcripts.rows import Entry, Format, SessionRows, string

_TYPES = frozenset({"user", "gemini", "model", "info", "warning", "error"})


def _matches(whole: Any, first: list[dict[str, Any]]) -> bool:
    return any(
        "$set" in v or "$rewindTo" in v or ("sessionId" in v and "projectHash" in v) or _is_reply(v)
        for v in first
    )


def _is_reply(value: dict[str, Any]) -> bool:
    return value.get("type") == "gemini" and "id" in value and "content" in value


def _is_message(value: dict[str, Any]) -> bool:
    if "$set" in value or "$rewindTo" in value:
        return False
    return string(value.get("id")) is not None or string(value.get("type")) in _TYPES


def _split(data: bytes, problem: Callable[..., None]) -> list[jsonl.Stored]:
    # An id names a message, not a line: every state of a message is a line of its own.
    return jsonl.lines(data, problem, id_key="")


def _held(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The messages with an id in a line's list of them."""
    holder = value.get("$set") if isinstance(value.get("$set"), dict) else value
    messages = holder.get("messages") if isinstance(holder, dict) else None
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict) and string(message.get("id")) and string(message.get("type")):
            yield message


def read(entries: list[Entry], rows: SessionRows) -> None:
    """Messages in their last state, calls with their results, and one usage a reply."""
    fill = Filler(rows)
    last, listed, rewound = _survey(entries)
    is_subagent = False
    for at, entry in enumerate(entries):
        value = entry[0]
        message_id = string(value.get("id"))
        if _is_message(value):
            if message_id is not None and last[message_id] != at:
                what = string(value.get("type"))
                is_reply = what in ("gemini", "model")
                fill.message(
                    entry, "assistant" if is_reply else "user", "other", time=value.get("timestamp"),
                    line_type=what, message_id=message_id if is_reply else None, extra={"superseded": True},
                )  # fmt: skip
                continue
            _say(value, entry, rows, is_rewound=message_id in rewound)
        else:
            changed = value.get("$set")
            head = changed if isinstance(changed, dict) else value
            directories = head.get("directories")
            if isinstance(directories, list) and directories and rows.cwd is None:
                rows.cwd = string(directories[0])
            is_subagent = is_subagent or head.get("kind") == "subagent"
            fill.names_session(head.get("sessionId"))
            what = "$rewindTo" if "$rewindTo" in value else "$set" if "$set" in value else "header"
            extra = {k: v for k, v in head.items() if k != "messages"}
            fill.message(entry, what, "other", line_type=what, extra=extra)
            for message in _held(value):
                if listed.get(message["id"], (-1, {}))[0] == at:
                    _say(listed[message["id"]][1], entry, rows, is_rewound=message["id"] in rewound)
    if is_subagent:  # its prompts were written by the agent that started it
        rows.messages[:] = [m._replace(kind="meta") if m.kind == "prompt" else m for m in rows.messages]


def _say(message: dict[str, Any], entry: Entry, rows: SessionRows, *, is_rewound: bool) -> None:
    if not isinstance(message.get("type"), str):
        message = {**message, "type": "unknown"}
    if is_rewound:
        message = {**message, "rewound": True}
    gemini.read([(message, *entry[1:])], rows)


def _survey(entries: list[Entry]) -> tuple[dict[str, int], dict[str, tuple[int, dict[str, Any]]], set[str]]:
    """Line of each message's last state; first line and last state of those that only lists hold; those taken back."""
    last: dict[str, int] = {}
    listed: dict[str, tuple[int, dict[str, Any]]] = {}
    rewound: set[str] = set()
    order: list[str] = []
    for at, (value, *_) in enumerate(entries):
        if _is_message(value):
            own = string(value.get("id"))
            if own is not None:
                if own not in last or own in rewound:
                    order.append(own)
                rewound.discard(own)
                last[own] = at
        elif "$rewindTo" in value:  # that message and what follows it, or all where it is not known
            target = value["$rewindTo"]
            begin = order.index(target) if target in order else 0
            rewound.update(order[begin:])
            del order[begin:]
        else:
            for message in _held(value):
                listed[message["id"]] = (listed[message["id"]][0] if message["id"] in listed else at, message)
    return last, {k: v for k, v in listed.items() if k not in last}, rewound


# A session may be stored as a document first and as a log later: both are read as one log, and nothing counts twice.
DOCUMENT = replace(gemini.FORMAT, read=read)
FORMAT = Format("gemini-jsonl", "gemini-cli", False, _matches, _split, read)
