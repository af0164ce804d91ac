"""Entire's own compact transcript, the same for every agent: ``"v":1`` lines, results inside the calls.

It is read where the full transcript is not stored. It lacks thinking, ids of lines, the working directory, cache
tokens and, for several agents, what belongs to a count: those stay missing. The agent is the one that its lines name.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import orjson

from sessionbank.records import AGENTS
from sessionbank.transcripts import jsonl
from sessionbank.transcripts.claude_kinds import user_kind
from sessionbank.transcripts.filling import Filler, rest
from sessionbank.transcripts.rows import Entry, Format, SessionRows, UsageRow, as_json, joined, number, string

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_KNOWN = frozenset({"v", "agent", "type", "ts", "id", "content", "input_tokens", "output_tokens"})
_NAMES = {
    "claude": "claude-code", "gemini": "gemini-cli", "copilot": "copilot-cli", "copilotcli": "copilot-cli",
    "factoryaidroid": "factory-droid", "droid": "factory-droid", "factoryai": "factory-droid",
    **{a.replace("-", ""): a for a in AGENTS},
}  # fmt: skip
# Of these, input includes what was read from the cache, and output lacks the reasoning: neither can be mended here.
_MIXED = frozenset({"gemini-cli", "codex", "copilot-cli"})


def agent_of(label: Any) -> str:
    """The agent that a label names; a label of no agent that we know is a plugin's."""
    if not isinstance(label, str) or not label:
        return "unknown"
    return _NAMES.get("".join(c for c in label.lower() if c.isalnum()), "plugin")


def _matches(agent: str, whole: Any, first: list[dict[str, Any]]) -> bool:
    lines = [
        v
        for v in first
        if v.get("v") == 1 and v.get("type") in ("user", "assistant") and isinstance(v.get("content"), list)
    ]
    return bool(lines) and agent_of(lines[0].get("agent")) == agent


def _split(data: bytes, problem: Callable[..., None]) -> list[jsonl.Stored]:
    """The lines; one is told by its message's id, else by what it says: the version of its writer is no part of it."""
    stored = jsonl.lines(data, problem, id_key="id")
    ids = Counter(s[0] for s in stored)
    times: Counter[str] = Counter()
    found: list[jsonl.Stored] = []
    for own, value, line, offset in stored:
        if own is not None and ids[own] == 1:
            identity = own
        else:
            said = orjson.dumps([value.get("type"), value.get("ts"), value.get("content")])
            key = hashlib.sha256(said).hexdigest()
            times[key] += 1
            identity = f"{key}:{times[key]}"
        found.append((identity, value, line, offset))
    return found


def _read(agent: str, entries: list[Entry], rows: SessionRows) -> None:
    """Messages, blocks, calls with their results, and what the lines tell of usage."""
    fill = Filler(rows)
    if entries:
        told = "the full transcript is not stored; thinking, cache tokens and ids of lines are missing"
        rows.problem("info", "compact_transcript", told, place=entries[0][3])
    known = _Known(rows)
    for entry in entries:
        value = entry[0]
        if known.holds(value):
            continue
        what = string(value.get("type")) or "unknown"
        content = value.get("content")
        parts = [p for p in content if type(p) is dict] if type(content) is list else []
        text = joined(content)
        is_reply = what == "assistant"
        kind = "reply" if is_reply else user_kind({}, text, is_subagent=False) if what == "user" else "other"
        own = string(value.get("id"))
        call = (own or f"{rows.session_id}:line-{entry[1]}") if is_reply else None
        extra = rest(value, _KNOWN) or {}
        whole_input = number(value.get("input_tokens"))
        if agent in _MIXED and whole_input is not None:
            extra = {**extra, "input_tokens": whole_input}
        prompt = next((string(p.get("id")) for p in parts if "type" not in p), None)
        if prompt is not None:  # several lines of one turn share it, so it is no line's id
            extra = {**extra, "prompt_id": prompt}
        is_said_by_client = agent == "claude-code" and is_reply and _is_synthetic(value, own)
        if is_said_by_client:
            kind, call = "system", None
        seq = fill.message(
            entry, what, kind, text=text, message_id=call, time=value.get("ts"), line_type=what, extra=extra
        )  # fmt: skip
        for at, part in enumerate(parts):
            _part(part, fill, (seq, at, call))
        if call is not None and agent != "cursor":  # a line of Cursor's is no call: it joins several
            fresh = None if agent in _MIXED else whole_input
            out = number(value.get("output_tokens"))
            rows.usage.append(UsageRow(seq, call, fresh, None, None, None, out, None, agent not in _MIXED))
    if known.repeats:
        told = f"{known.repeats} compact lines are told by a full transcript of the session"
        rows.problem("info", "compact_repeats", told, place=entries[0][3])


class _Known:
    """What the full transcripts of other checkpoints tell already, where a session has both kinds."""

    def __init__(self, rows: SessionRows) -> None:
        self.calls = {m.message_id for m in rows.messages if m.message_id is not None}
        spoken = [m for m in rows.messages if m.kind not in ("other", "progress", "tool_result")]
        self.times = {(m.role, m.timestamp) for m in spoken if m.timestamp is not None}
        self.texts: Counter[tuple[str | None, str | None]] = Counter(
            (m.role, m.text) for m in spoken if m.timestamp is None and m.text
        )
        self.repeats = 0

    def holds(self, value: dict[str, Any]) -> bool:
        """Whether the line is one of theirs: the same reply, or said by the same side at the same time."""
        role = string(value.get("type"))
        is_known = string(value.get("id")) in self.calls or (role, string(value.get("ts"))) in self.times
        said = (role, joined(value.get("content")))
        if not is_known and self.texts[said] > 0:  # without times, each text stands for one line
            self.texts[said] -= 1
            is_known = True
        self.repeats += is_known
        return is_known


def _is_synthetic(value: dict[str, Any], own: str | None) -> bool:
    """Whether Claude Code wrote a reply itself: its id is a UUID, where a model's is not, and nothing was used."""
    return own is not None and _UUID.match(own) is not None and "output_tokens" not in value


def _part(part: dict[str, Any], fill: Filler, at: tuple[int, int, str | None]) -> None:
    seq, place, call = at
    what = part.get("type")
    if what == "tool_use":
        result = part.get("result")
        call_id = string(part.get("id"))
        if call_id is None and type(result) is dict:
            call_id = f"{call}:part-{place}"
        fill.use(seq, call_id, string(part.get("name")), given=part.get("input"), message_id=call)
        if type(result) is dict:
            is_error = {"success": False, "error": True}.get(str(result.get("status")))
            data = {k: v for k, v in result.items() if k not in ("output", "status")} or None
            fill.result(seq, call_id, joined(result.get("output")), is_error=is_error, data=data)
    elif what == "image":
        source = part.get("source")
        source = source if type(source) is dict else part
        fill.image(seq, source.get("media_type"), source.get("data"))
    elif string(part.get("text")) is not None:
        fill.block(seq, "text", part["text"])
    else:
        fill.block(seq, string(what) or "unknown", as_json(part))


FORMATS = tuple(
    Format("entire-compact", a, False, partial(_matches, a), _split, partial(_read, a)) for a in AGENTS
)
