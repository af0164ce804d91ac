"""GitHub Copilot CLI transcripts: JSONL events with dotted types, what they say in ``data``.

A reply states its output tokens; input and cache are recorded only as sums of a run, in ``session.shutdown``, and
`copilot_usage` places them. A reply does not name its model: the session's model at that time is taken, else the one
that the results of its tools name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessionbank.transcripts import jsonl
from sessionbank.transcripts.copilot_usage import Runs
from sessionbank.transcripts.filling import Filler, identified, rest
from sessionbank.transcripts.rows import Entry, Format, SessionRows, joined, string

_STARTS = ("session.", "user.message", "assistant.", "tool.execution_", "hook.", "system.message")
_REPLY = frozenset(
    {"messageId", "content", "toolRequests", "reasoningText", "outputTokens", "model", "parentToolCallId"}
)
_RESULT = frozenset({"toolCallId", "result", "success", "error", "parentToolCallId"})
_PROMPT = frozenset({"content"})
_REFUSED = frozenset({"rejected", "denied"})


def _matches(whole: Any, first: list[dict[str, Any]]) -> bool:
    return any(isinstance(v.get("data"), dict) and str(v.get("type")).startswith(_STARTS) for v in first)


def _split(data: bytes, problem: Callable[..., None]) -> list[jsonl.Stored]:
    return identified(jsonl.lines(data, problem, id_key="id"))


class _Reader:
    """Reads the events of one session."""

    def __init__(self, rows: SessionRows) -> None:
        self.rows = rows
        self.fill = Filler(rows)
        self.runs = Runs(rows)
        self.model: str | None = None
        self.by_interaction: dict[str, str] = {}  # interaction -> model that results of its tools name
        self.nameless: list[
            tuple[int, str | None]
        ] = []  # replies whose model is not known yet, and their interaction
        self.calls = 0

    def read(self, entries: list[Entry]) -> None:
        for entry in entries:
            value = entry[0]
            what = string(value.get("type")) or "unknown"
            data = value.get("data")
            data = data if type(data) is dict else {}
            if what == "assistant.message":
                self.reply(data, entry)
            elif what == "tool.execution_complete":
                self.result(data, entry)
            elif what == "user.message":
                self.prompt(data, entry)
            else:
                self.other(what, data, entry)
        only = self.runs.only_model()
        for seq, interaction in self.nameless:
            model = self.by_interaction.get(interaction or "") or only
            self.rows.messages[seq] = self.rows.messages[seq]._replace(model=model)
        self.runs.finish()

    def add(self, entry: Entry, role: str, kind: str, **more: Any) -> int:
        value = entry[0]
        data = value.get("data")
        parent_call = string(data.get("parentToolCallId")) if type(data) is dict else None
        return self.fill.message(
            entry, role, kind, uuid=string(value.get("id")), parent=string(value.get("parentId")), agent=parent_call,
            call=parent_call, time=value.get("timestamp"), line_type=string(value.get("type")), **more,
        )  # fmt: skip

    def reply(self, data: dict[str, Any], entry: Entry) -> None:
        self.calls += 1
        call = (
            string(data.get("messageId"))
            or string(entry[0].get("id"))
            or f"{self.rows.session_id}:reply-{self.calls}"
        )
        text = string(data.get("content"))
        model = string(data.get("model")) or self.model
        seq = self.add(
            entry, "assistant", "reply", text=text, model=model, message_id=call, extra=rest(data, _REPLY)
        )
        if model is None:
            self.nameless.append((seq, string(data.get("interactionId"))))
        if string(data.get("reasoningText")):
            self.fill.block(seq, "thinking", data["reasoningText"])
        elif data.get("reasoningOpaque"):
            self.fill.block(seq, "thinking", None, is_redacted=True)
        if text:
            self.fill.block(seq, "text", text)
        asked = data.get("toolRequests")
        for request in asked if type(asked) is list else []:
            if type(request) is dict:
                given = request.get("arguments", request.get("input"))
                name = string(request.get("name"))
                self.fill.use(seq, string(request.get("toolCallId")), name, given=given, message_id=call)
        self.runs.replied(seq, call, data.get("outputTokens"))

    def result(self, data: dict[str, Any], entry: Entry) -> None:
        answer, error = data.get("result"), data.get("error")
        text = joined(answer.get("content")) if type(answer) is dict else joined(answer)
        success = data.get("success") if type(data.get("success")) is bool else None
        status = None
        if text is None and type(error) is dict:
            text = string(error.get("message"))
        if success is False and type(error) is dict and string(error.get("code")) in _REFUSED:
            status = "rejected"
        model, interaction = string(data.get("model")), string(data.get("interactionId"))
        if model and interaction:
            self.by_interaction.setdefault(interaction, model)
        seq = self.add(entry, "tool", "tool_result", text=text, extra=rest(data, _RESULT))
        is_error = None if success is None else not success
        self.fill.result(seq, string(data.get("toolCallId")), text, is_error=is_error, status=status)

    def prompt(self, data: dict[str, Any], entry: Entry) -> None:
        text = string(data.get("content"))
        is_typed = data.get("source") in (None, "user") and data.get("parentToolCallId") is None
        kind = ("prompt" if is_typed else "meta") if text else "other"
        seq = self.add(entry, "user", kind, text=text, extra=rest(data, _PROMPT))
        if text:
            self.fill.block(seq, "text", text)

    def other(self, what: str, data: dict[str, Any], entry: Entry) -> None:
        rows = self.rows
        kind, role, text = "other", what, None
        if what in ("session.start", "session.resume"):
            about = data.get("context")
            rows.runs_in(about.get("cwd") if type(about) is dict else None, data.get("copilotVersion"))
            self.model = string(data.get("selectedModel")) or self.model
            self.fill.names_session(data.get("sessionId"))
        elif what == "session.model_change":
            self.model = string(data.get("newModel")) or self.model
        elif what == "system.message":
            kind, role, text = "meta", "system", string(data.get("content"))
        elif what in ("session.error", "session.warning"):
            kind, role, text = "system", "system", string(data.get("message"))
        elif what == "abort":
            kind = "interruption"
        elif what == "session.compaction_complete" and data.get("success") is not False:
            rows.boundaries.append((len(rows.messages), "compaction"))
            kind, role, text = "compact_summary", "user", string(data.get("summaryContent"))
        seq = self.add(entry, role, kind, text=text, extra=data)
        if text:
            self.fill.block(seq, "text", text)
        if what == "session.shutdown":
            self.runs.ended(data, entry[3])


def read(entries: list[Entry], rows: SessionRows) -> None:
    """Messages, blocks, calls with their results, and one usage a reply."""
    _Reader(rows).read(entries)


FORMAT = Format("copilot-events", "copilot-cli", False, _matches, _split, read)
