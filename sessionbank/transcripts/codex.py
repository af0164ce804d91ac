"""Codex rollouts: JSONL lines of {timestamp, type, payload}, of which many tell the same thing twice; the oldest are bare.

What was said and done is read from ``response_item`` lines; an ``event_msg`` with the same text is its echo and says
nothing, one without such a twin speaks for itself. ``token_count`` is cumulative: `codex_usage` parts it into calls.
How a call ended is told by `codex_outcome`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import orjson

from sessionbank.transcripts import jsonl
from sessionbank.transcripts.codex_outcome import from_event, outcome, output_text
from sessionbank.transcripts.codex_usage import Calls
from sessionbank.transcripts.filling import Filler
from sessionbank.transcripts.rows import Entry, Format, SessionRows, joined, string

_TYPES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"})
_ITEMS = frozenset({"message", "reasoning"})
# Text that Codex itself puts before the model under the role of the user, where no event tells what was typed.
_INJECTED = (
    "<environment_context>", "# AGENTS.md instructions", "<user_instructions>", "<INSTRUCTIONS>", "<turn_aborted>",
    "<permissions instructions>", "<collaboration_mode>", "<skill>", "<app-context>", "<subagent_notification>",
)  # fmt: skip
_CONTINUED = "Another language model started to solve this problem"
_ECHOES = {
    "user_message": ("user", "message"),
    "agent_message": ("assistant", "message"),
    "agent_reasoning": ("thinking", "text"),
}
_TURN_ENDS = frozenset({"task_started", "task_complete", "turn_started", "turn_complete", "turn_aborted"})


def _matches(whole: Any, first: list[dict[str, Any]]) -> bool:
    return any(
        (string(v.get("type")) in _TYPES and isinstance(v.get("payload"), dict)) or _is_bare_mark(v)
        for v in first
    )


def _is_bare_mark(value: dict[str, Any]) -> bool:
    """Whether it is a header or state line as Codex wrote them until the summer of 2025, when items stood bare."""
    if value.get("record_type") == "state":
        return True
    return "type" not in value and value.keys() >= {"id", "timestamp", "instructions"}


def _split(data: bytes, problem: Callable[..., None]) -> list[jsonl.Stored]:
    return [
        (own, _wrapped(value), line, at) for own, value, line, at in jsonl.lines(data, problem, id_key="")
    ]


def _wrapped(value: dict[str, Any]) -> dict[str, Any]:
    """A bare line in the envelope that later writers put around it; it has no time of its own."""
    if "payload" in value:
        return value
    kind = string(value.get("type"))
    if kind in _ITEMS or (kind or "").endswith(("_call", "_output")):
        return {"type": "response_item", "payload": value}
    if kind is None and _is_bare_mark(value):
        what = "state" if "record_type" in value else "session_meta"
        return {"type": what, "timestamp": value.get("timestamp"), "payload": value}
    return value


class _Reader:
    """Reads the lines of one session."""

    def __init__(self, rows: SessionRows) -> None:
        self.rows = rows
        self.fill = Filler(rows)
        self.items: Counter[tuple[str, str]] = (
            Counter()
        )  # (who, text) of response items that no event has echoed yet
        self.events: Counter[tuple[str, str]] = Counter()  # the same of events whose item has not come yet
        self.tells_typed = False  # whether events tell what a person typed
        self.is_subagent = False  # the prompts of a session that an agent started were written by that agent
        self.ended: dict[
            str, tuple[bool | None, str | None]
        ] = {}  # call id -> how its own event says that it ended
        self.model: str | None = None

    def read(self, entries: list[Entry]) -> None:
        counts = self.survey(entries)
        self.calls = Calls(self.fill, counts)
        for entry in entries:
            value = entry[0]
            kind, payload = value.get("type"), value.get("payload")
            if type(payload) is not dict:
                payload = {}
            if kind == "response_item":
                self.item(payload, entry)
            elif kind == "event_msg":
                self.event(payload, entry)
            else:
                self.frame(kind, payload, entry)
        self.calls.end_turn()

    def survey(self, entries: list[Entry]) -> bool:
        """Takes what must be known before reading: twins, ends of calls, whether tokens are counted (the answer)."""
        counts = False
        for value, *_ in entries:
            payload = value.get("payload")
            if type(payload) is not dict:
                continue
            what = string(payload.get("type"))
            if value.get("type") == "response_item":
                if what == "message" or what == "reasoning":
                    who = payload.get("role") if what == "message" else "thinking"
                    self.items.update((who, t) for t in _said(payload) if type(who) is str)
            elif what in _ECHOES:
                who, key = _ECHOES[what]
                if string(payload.get(key)):
                    self.events[who, payload[key].strip()] += 1
                self.tells_typed = self.tells_typed or what == "user_message"
            elif what == "token_count":
                counts = counts or type(payload.get("info")) is dict
            elif what is not None and what.endswith("_end") and string(payload.get("call_id")):
                self.ended[payload["call_id"]] = from_event(payload)
        return counts

    # -- response items ----------------------------------------------------------------------------------------

    def item(self, payload: dict[str, Any], entry: Entry) -> None:
        what = string(payload.get("type")) or "unknown"
        if what == "message":
            self.spoken(payload, entry)
        elif what == "reasoning":
            seq = self.reply(payload, entry)
            texts = _said(payload)
            for text in texts:
                self.fill.block(seq, "thinking", text)
            if not texts:
                self.fill.block(seq, "thinking", None, is_redacted=True)
        elif what.endswith("_call"):
            self.call(what, payload, entry)
        elif what.endswith("_output"):
            self.output(payload, entry)
        else:
            self.plain(entry, payload, f"response_item/{what}")

    def spoken(self, payload: dict[str, Any], entry: Entry) -> None:
        role = string(payload.get("role")) or "unknown"
        text = joined(payload.get("content"))
        if role == "assistant":
            seq = self.reply(payload, entry, text=text)
        else:
            kind = self.kind_of(role, text)
            if kind == "prompt":
                self.calls.end_turn()
            seq = self.fill.message(
                entry, role, kind, text=text, uuid=string(payload.get("id")), time=entry[0].get("timestamp"),
                line_type="response_item/message",
            )  # fmt: skip
        for part in _list(payload.get("content")):
            if type(part) is dict and part.get("type") == "input_image":
                self.fill.image(seq, None, part.get("image_url"))
            elif type(part) is dict and string(part.get("text")):
                self.fill.block(seq, "text", part["text"])

    def kind_of(self, role: str, text: str | None) -> str:
        """Who is behind a message that is not the model's."""
        if role != "user":
            return "meta"
        key = ("user", (text or "").strip())
        if self.tells_typed:
            if self.events[key] <= 0:
                return "meta"
            self.events[key] -= 1
        elif not key[1] or key[1].startswith(_INJECTED):
            return "meta"
        elif key[1].startswith(_CONTINUED):
            return "compact_summary"
        return "meta" if self.is_subagent else "prompt"

    def reply(self, payload: dict[str, Any], entry: Entry, *, text: str | None = None) -> int:
        uuid = string(payload.get("id"))
        seq = self.fill.message(
            entry, "assistant", "reply", text=text, uuid=uuid, model=self.model, time=entry[0].get("timestamp"),
            line_type=f"response_item/{payload.get('type')}", message_id=self.calls.of(uuid),
        )  # fmt: skip
        self.calls.took(seq)
        return seq

    def call(self, what: str, payload: dict[str, Any], entry: Entry) -> None:
        seq = self.reply(payload, entry)
        name = string(payload.get("name")) or what.removesuffix("_call")
        given = payload.get("arguments", payload.get("input", payload.get("action")))
        if type(given) is str and "arguments" in payload:
            with suppress(orjson.JSONDecodeError):  # else it is kept as the text that the model wrote
                given = orjson.loads(given)
        call_id = string(payload.get("call_id")) or string(payload.get("id"))
        self.fill.use(seq, call_id, name, given=given, message_id=self.rows.messages[seq].message_id)
        if "call_id" not in payload and payload.get("status") in (
            "completed",
            "failed",
        ):  # a search: no output of its own
            self.fill.result(seq, call_id, None, is_error=payload["status"] == "failed")

    def output(self, payload: dict[str, Any], entry: Entry) -> None:
        self.calls.answered()
        text = output_text(payload.get("output"))
        call_id = string(payload.get("call_id"))
        seq = self.fill.message(
            entry, "tool", "tool_result", text=text, uuid=string(payload.get("id")), time=entry[0].get("timestamp"),
            line_type=f"response_item/{payload.get('type')}",
        )  # fmt: skip
        is_error, status = outcome(payload.get("output"), text, self.ended.get(call_id or ""))
        self.fill.result(seq, call_id, text, is_error=is_error, status=status)

    # -- events and frames -------------------------------------------------------------------------------------

    def event(self, payload: dict[str, Any], entry: Entry) -> None:
        what = string(payload.get("type")) or "unknown"
        if what in _ECHOES:
            self.echo(what, payload, entry)
            return
        if what in _TURN_ENDS:
            self.calls.end_turn()
        message_id = self.calls.counted(payload.get("info"), entry[3]) if what == "token_count" else None
        kind = {"turn_aborted": "interruption", "error": "system"}.get(what, "other")
        text = string(payload.get("message")) if kind == "system" else None
        seq = self.fill.message(
            entry, what, kind, text=text, time=entry[0].get("timestamp"), line_type=f"event_msg/{what}",
            message_id=message_id, model=self.model if message_id else None, extra=payload,
        )  # fmt: skip
        self.calls.placed(seq)

    def echo(self, what: str, payload: dict[str, Any], entry: Entry) -> None:
        who, key = _ECHOES[what]
        text = (string(payload.get(key)) or "").strip()
        rest = {k: v for k, v in payload.items() if k != key}
        if self.items[who, text] > 0 or not text:
            self.items[who, text] -= 1
            self.fill.message(
                entry,
                what,
                "other",
                time=entry[0].get("timestamp"),
                line_type=f"event_msg/{what}",
                extra=rest,
            )
            return
        if who == "user":
            self.calls.end_turn()
            kind = "meta" if self.is_subagent else "prompt"
            seq = self.fill.message(
                entry, "user", kind, text=payload[key], time=entry[0].get("timestamp"), line_type=f"event_msg/{what}",
                extra=rest,
            )  # fmt: skip
        else:
            said = payload[key] if who == "assistant" else None
            seq = self.fill.message(
                entry, "assistant", "reply", text=said, model=self.model, message_id=self.calls.of(None),
                time=entry[0].get("timestamp"), line_type=f"event_msg/{what}", extra=rest,
            )  # fmt: skip
            self.calls.took(seq)
        self.fill.block(seq, "thinking" if who == "thinking" else "text", payload[key])

    def frame(self, kind: Any, payload: dict[str, Any], entry: Entry) -> None:
        """Lines that say how the session runs."""
        rows = self.rows
        if kind == "session_meta":
            rows.runs_in(payload.get("cwd"), payload.get("cli_version"))
            for named in (payload.get("id"), payload.get("forked_from_id"), _parent(payload.get("source"))):
                self.fill.names_session(named)
            if payload.get("id") in (None, rows.session_id):
                self.is_subagent = type(payload.get("source")) is dict and "subagent" in payload["source"]
        elif kind == "turn_context":
            self.calls.end_turn()
            self.model = string(payload.get("model")) or self.model
            rows.cwd = rows.cwd or string(payload.get("cwd"))
        elif kind == "compacted":
            self.calls.end_turn()
            rows.boundaries.append((len(rows.messages), "compaction"))
            text = string(payload.get("message"))
            seq = self.fill.message(
                entry, "user", "compact_summary", text=text, time=entry[0].get("timestamp"), line_type="compacted",
                extra={k: v for k, v in payload.items() if k != "message"},
            )  # fmt: skip
            if text:
                self.fill.block(seq, "text", text)
            return
        self.plain(entry, payload or entry[0], string(kind) or "unknown")

    def plain(self, entry: Entry, payload: dict[str, Any], line_type: str) -> None:
        self.fill.message(
            entry, line_type.rpartition("/")[2], "other", time=entry[0].get("timestamp"), line_type=line_type,
            extra=payload,
        )  # fmt: skip


def _said(payload: dict[str, Any]) -> list[str]:
    """The texts of a message (one) or of a reasoning item (one a paragraph of its summary, then of its content)."""
    if payload.get("type") == "message":
        text = joined(payload.get("content"))
        return [text.strip()] if text and text.strip() else []
    parts = [p for key in ("summary", "content") for p in _list(payload.get(key))]
    return [p["text"].strip() for p in parts if type(p) is dict and string(p.get("text"))]


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []


def _parent(source: Any) -> Any:
    """The session that started this one as its subagent."""
    spawn = source.get("subagent") if type(source) is dict else None
    spawn = spawn.get("thread_spawn") if type(spawn) is dict else None
    return spawn.get("parent_thread_id") if type(spawn) is dict else None


def read(entries: list[Entry], rows: SessionRows) -> None:
    """Messages, blocks, calls with their results, and one usage a call."""
    _Reader(rows).read(entries)


FORMAT = Format("codex-rollout", "codex", False, _matches, _split, read)
