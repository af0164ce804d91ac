"""What a format module fills: the rows of one session, and the reading of shapes that several formats share.

A `SessionRows` collects messages, blocks, tool uses, tool results and usage in the order in which they stand in the
transcript. Pairing uses with results and choosing a reply's usage line is `finish`'s job; nothing here knows a format.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from sessionbank.records import Diagnostic
from sessionbank.transcripts.jsonl import Problem, Stored


class Place(NamedTuple):
    """Where a stored line stands; lines of one file that belong to one checkpoint share one."""

    checkpoint_id: str | None
    session_index: int | None
    blob_oid: str | None
    copies: int  # stored transcripts of the session that hold the line
    chain: int = 0  # which run of snapshots it was read from


# One stored record of the session's union, in order: object, line, byte offset, place. A plain tuple: there is one for
# each line of every transcript.
Entry = tuple[Any, int, int, Place]


class MessageRow(NamedTuple):
    """A message as read; `seq` is its index in `SessionRows.messages`."""

    uuid: str | None
    parent_uuid: str | None
    role: str
    kind: str
    text: str | None
    model: str | None
    message_id: str | None
    request_id: str | None
    timestamp: str | None
    agent_id: str | None
    parent_tool_call_id: str | None
    is_subagent: bool
    is_queued: bool
    line_type: str | None
    extra: str | None
    line: int
    offset: int
    place: Place


class BlockRow(NamedTuple):
    """A part of a message."""

    seq: int
    block: int
    type: str
    text: str | None
    tool_call_id: str | None = None
    media_type: str | None = None
    bytes: int | None = None
    is_redacted: bool = False


class UseRow(NamedTuple):
    """A tool use; its time, agent and checkpoint are its message's."""

    seq: int
    tool_call_id: str | None
    name: str
    input: Any
    message_id: str | None


class ResultRow(NamedTuple):
    """A tool result."""

    seq: int
    tool_call_id: str | None
    text: str | None
    is_error: bool | None  # None: the format did not say
    status: str | None  # where the format itself tells more than error or not
    data: Any  # the tool's structured result, as decoded
    returned_at: str | None = None  # where the result has a time of its own


class UsageRow(NamedTuple):
    """Usage as one stored line states it; a reply has as many as it has lines."""

    seq: int
    call: str  # message id, made distinct where a gateway gives every reply the same
    input_tokens: int | None
    cache_creation_tokens: int | None
    cache_creation_1h_tokens: int | None
    cache_read_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    is_final: bool


@dataclass(slots=True)
class SessionRows:
    """The rows of one session while it is read."""

    session_id: str
    agent: str = "unknown"  # whose rules tell what the model saw
    problems: list[Diagnostic] = field(default_factory=list)
    messages: list[MessageRow] = field(default_factory=list)
    blocks: list[BlockRow] = field(default_factory=list)
    uses: list[UseRow] = field(default_factory=list)
    results: list[ResultRow] = field(default_factory=list)
    usage: list[UsageRow] = field(default_factory=list)
    boundaries: list[tuple[int, str]] = field(
        default_factory=list
    )  # seq from which a new context starts, and why
    repeats: list[tuple[int, int, int, int]] = field(default_factory=list)  # see `tables.union`
    agent_calls: dict[str, str] = field(
        default_factory=dict
    )  # agent id -> call that started it, where a path tells
    cwd: str | None = None
    agent_version: str | None = None
    foreign_ids: dict[str, int] = field(
        default_factory=dict
    )  # session ids, not this one's, that its lines name

    continues: list[tuple[Any, str, str]] = field(
        default_factory=list
    )  # lines that say which session this one goes on from: uuid, session id, what says it

    follows: list[tuple[Any, Any]] = field(
        default_factory=list
    )  # compactions: own uuid, and that of the line before them

    def runs_in(self, cwd: Any, version: Any) -> None:
        """Takes the working directory and the agent's version, each where it is named first."""
        self.cwd = self.cwd or string(cwd)
        self.agent_version = self.agent_version or string(version)

    def problem(
        self, severity: str, code: str, message: str, line: int | None = None, place: Place | None = None
    ) -> None:
        """Adds a diagnostics row."""
        checkpoint, index = (place.checkpoint_id, place.session_index) if place else (None, None)
        self.problems.append(
            Diagnostic(severity, code, message, checkpoint, index, self.session_id, None, line)
        )


@dataclass(frozen=True, slots=True)
class Format:
    """One transcript format: how it is told by its content, split into stored records, and read.

    `matches` sees the whole document (a dict or list) where the bytes are one, else None, and the first objects of
    the lines. `split` gives the stored records of one file as (identity, object, line, byte offset): identity is the
    record's own id, None where it has none. `read` fills the rows of a session from the union of its files.
    """

    name: str
    agent: str
    is_document: bool
    matches: Callable[[Any, list[dict[str, Any]]], bool]
    split: Callable[[bytes, Problem], list[Stored]]
    read: Callable[[list[Entry], SessionRows], None]


MOST = 2**48  # larger counts are not counts, and sums of thousands of them must fit a 64-bit column


def string(value: Any) -> str | None:
    """The value if it is a string that says something, else None."""
    return value if type(value) is str and value else None


def number(value: Any) -> int | None:
    """A count from 0 to below `MOST`, else None."""
    if type(value) is int:
        return value if 0 <= value < MOST else None
    if type(value) is float and value == value and 0 <= value < MOST and value == int(value):
        return int(value)
    return None


def as_json(value: Any) -> str | None:
    """The value as JSON text; None for None; what cannot be written as JSON as a string of it."""
    if value is None:
        return None
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except (TypeError, RecursionError):  # orjson writes 254 levels, and reads four times as many
        with suppress(TypeError, ValueError, RecursionError):
            return json.dumps(value, ensure_ascii=False)
        return orjson.dumps(repr(type(value))).decode()


def joined(content: Any) -> str | None:
    """The text of a result or message: a string, a list of blocks, or nothing; images are not text."""
    if type(content) is str:
        return content
    if type(content) is dict:
        return string(content.get("text"))
    if type(content) is not list:
        return None
    parts = [b if type(b) is str else b.get("text") for b in content if type(b) in (str, dict)]
    kept = [p for p in parts if type(p) is str]
    return "\n".join(kept) if kept else None
