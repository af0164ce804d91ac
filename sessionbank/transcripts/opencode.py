"""OpenCode transcripts: one JSON document, ``info`` of the session and its messages, each of them made of parts.

A call and its result are one part, so redacted call ids do no harm: they are paired by the part. Each step of a reply
is an API call. Whether reasoning is inside the output is read off the total, where one is stated. A child session
names its parent, whose agent wrote its first message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from sessionbank.transcripts import jsonl
from sessionbank.transcripts.filling import REDACTED, Filler, identified, iso
from sessionbank.transcripts.rows import Entry, Format, SessionRows, UsageRow, as_json, joined, number, string

_INFO = frozenset({"id", "role", "time", "parentID", "modelID", "tokens", "sessionID", "path"})
_HEAD = ("id", "parentID", "title", "version", "slug", "projectID")
_REJECTED = (
    "The user rejected permission",
    "The user has specified a rule which prevents",
    "The user dismissed this question",
)
_FRAMES = frozenset({"step-start", "step-finish", "snapshot", "patch"})
# Their metadata repeats the output, or what the file now holds.
_PLAIN_TOOLS = frozenset({
    "bash", "read", "edit", "multiedit", "write", "grep", "glob", "list", "ls", "webfetch", "websearch", "todowrite",
    "todoread", "apply_patch", "patch",
})  # fmt: skip


def _matches(whole: Any, first: list[dict[str, Any]]) -> bool:
    if not isinstance(whole, dict) or not isinstance(whole.get("info"), dict):
        return False
    messages = whole.get("messages")
    return isinstance(messages, list) and all(isinstance(m, dict) and "info" in m for m in messages)


def _split(data: bytes, problem: Callable[..., None]) -> list[jsonl.Stored]:
    found: list[jsonl.Stored] = []
    for whole in jsonl.documents(data, problem):
        messages = whole.get("messages") if isinstance(whole, dict) else None
        for message in messages if isinstance(messages, list) else []:
            if isinstance(message, dict):
                found.append((_identity(message), {**message, "session": whole.get("info")}, len(found), -1))
            else:
                problem("warning", "non_object_line", "a message that is not an object", len(found))
    return identified(found)


def _identity(message: dict[str, Any]) -> str | None:
    """The message's id; where it was redacted, that of the first part that still has one."""
    info = message.get("info")
    own = string(info.get("id")) if isinstance(info, dict) else None
    if own is not None and own != REDACTED:
        return own
    ids = [string(p.get("id")) for p in _parts(message)]
    return next((f"part:{i}" for i in ids if i and i != REDACTED), None)


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    parts = message.get("parts")
    return [p for p in parts if isinstance(p, dict)] if isinstance(parts, list) else []


class _Reader:
    """Reads the messages of one session."""

    def __init__(self, rows: SessionRows, entries: list[Entry]) -> None:
        self.rows = rows
        self.fill = Filler(rows)
        self.is_child = False
        calls = (p.get("callID") for e in entries for p in _parts(e[0]))
        self.times = Counter(c for c in calls if isinstance(c, str))

    def message(self, entry: Entry) -> None:
        value = entry[0]
        info = _dict(value.get("info"))
        head = self.about(value.get("session"), info)
        parts = _parts(value)
        role = string(info.get("role")) or "unknown"
        uuid = string(info.get("id"))
        uuid = None if uuid == REDACTED else uuid
        times = _dict(info.get("time"))
        said = [p for p in parts if p.get("type") == "text"]
        model = string(info.get("modelID")) if role == "assistant" else None
        call = (
            (_identity(value) or f"{self.rows.session_id}:message-{entry[1]}")
            if role == "assistant"
            else None
        )
        if role == "assistant":
            kind = "compact_summary" if info.get("summary") is True else "reply"
        else:
            kind = self.kind_of(role, said)
        if info.get("summary") is True or any(p.get("type") == "compaction" for p in parts):
            self.boundary(is_summary=info.get("summary") is True)
        text = (
            "\n".join(
                t for t in (string(p.get("text")) for p in said if kind != "prompt" or not _is_added(p)) if t
            )
            or None
        )
        seq = self.fill.message(
            entry, role, kind, text=text, uuid=uuid, parent=string(info.get("parentID")), model=model, message_id=call,
            time=iso(times.get("created")), line_type=role,
            extra=head | {k: v for k, v in info.items() if k not in _INFO},
        )  # fmt: skip
        step = 0
        for at, part in enumerate(parts):
            what = string(part.get("type"))
            now = f"{call}#{step + 1}" if step else call
            if what == "tool":
                self.tool(part, seq, now, at=at)
            elif what == "step-finish" and now is not None:
                step += 1
                self.usage(part.get("tokens"), (seq, now), is_final=True)
            elif what not in _FRAMES:
                self.part(part, seq)
        if call is not None and not step:
            has_ended = string(info.get("finish")) is not None
            if (
                has_ended
                or _some(info.get("tokens"))
                or any(p.get("type") in ("text", "reasoning", "tool") for p in parts)
            ):
                self.usage(info.get("tokens"), (seq, call), is_final=has_ended)

    def about(self, session: Any, info: dict[str, Any]) -> dict[str, Any]:
        """Takes the head of the document, which stands beside every message; gives what the first one keeps of it."""
        rows = self.rows
        session = _dict(session)
        path = info.get("path")
        rows.runs_in(session.get("directory"), session.get("version"))
        rows.cwd = rows.cwd or (string(path.get("cwd")) if type(path) is dict else None)
        self.is_child = string(session.get("parentID")) is not None
        if rows.messages or not session:
            return {}
        self.fill.names_session(session.get("id"))
        self.fill.names_session(session.get("parentID"))
        return {"session": {k: session[k] for k in _HEAD if k in session}}

    def kind_of(self, role: str, said: list[dict[str, Any]]) -> str:
        if role != "user":
            return "other"
        if not said:
            return "other"
        return "meta" if self.is_child or all(_is_added(p) for p in said) else "prompt"

    def boundary(self, *, is_summary: bool) -> None:
        """A compaction is asked for by a message and answered by the next: both are one boundary."""
        bounds, at = self.rows.boundaries, len(self.rows.messages)
        if not (is_summary and bounds and bounds[-1][0] == at - 1):
            bounds.append((at, "compaction"))

    def part(self, part: dict[str, Any], seq: int) -> None:
        what = part.get("type")
        if what == "text":
            self.fill.block(seq, "text", string(part.get("text")))
        elif what == "reasoning":
            said = string(part.get("text"))
            self.fill.block(seq, "thinking", said, is_redacted=said is None)
        elif what == "file" and str(part.get("mime")).startswith("image/"):
            self.fill.image(seq, part.get("mime"), part.get("url"))
        else:
            self.fill.block(seq, string(what) or "unknown", as_json(part))

    def tool(self, part: dict[str, Any], seq: int, call: str | None, *, at: int) -> None:
        call_id = string(part.get("callID"))
        if call_id is None or call_id == REDACTED or self.times[call_id] > 1:
            own = string(part.get("id"))
            call_id = (
                own if own is not None and own != REDACTED else f"{call or self.rows.session_id}:part-{at}"
            )
        state = part.get("state")
        state = state if type(state) is dict else {}
        name = string(part.get("tool")) or "unknown"
        self.fill.use(seq, call_id, name, given=state.get("input"), message_id=call)
        status = state.get("status")
        if status not in ("completed", "error"):
            return
        about, times = state.get("metadata"), state.get("time")
        is_error = status == "error"
        text = (
            joined(state.get("output"))
            if not is_error
            else string(state.get("error")) or joined(state.get("output"))
        )
        ended = (
            "error" if not is_error and type(about) is dict and about.get("exit") not in (None, 0) else None
        )
        if is_error and text:
            ended = (
                "rejected"
                if text.startswith(_REJECTED)
                else "interrupted"
                if text.startswith("Tool execution aborted")
                else None
            )
        back = iso(times.get("end")) if type(times) is dict else None
        data = about if name not in _PLAIN_TOOLS else None
        self.fill.result(seq, call_id, text, is_error=is_error, status=ended, data=data, returned_at=back)

    def usage(self, tokens: Any, at: tuple[int, str], *, is_final: bool) -> None:
        tokens = tokens if type(tokens) is dict else {}
        if not is_final and not _some(tokens):  # zeros from the start of a reply that broke off
            self.fill.unmeasured(*at, is_final=False)
            return
        cache = tokens.get("cache")
        cache = cache if type(cache) is dict else {}
        fresh, out, reasoning = (number(tokens.get(k)) for k in ("input", "output", "reasoning"))
        read_, written = number(cache.get("read")), number(cache.get("write"))
        total = number(tokens.get("total"))
        is_inside = total is not None and total == sum(v or 0 for v in (fresh, out, read_, written))
        whole = out if out is None or is_inside else out + (reasoning or 0)
        self.rows.usage.append(UsageRow(*at, fresh, written, None, read_, whole, reasoning, is_final))


def _dict(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def _is_added(part: dict[str, Any]) -> bool:
    """Text that OpenCode put beside what was typed: the contents of a file, a reminder."""
    return part.get("synthetic") is True or part.get("ignored") is True


def _some(tokens: Any) -> bool:
    """Whether any count is not zero."""
    if type(tokens) is not dict:
        return False
    return any(_some(v) if type(v) is dict else bool(v) for v in tokens.values())


def read(entries: list[Entry], rows: SessionRows) -> None:
    """Messages, blocks, calls with their results, and one usage a step."""
    reader = _Reader(rows, entries)
    for entry in entries:
        reader.message(entry)


FORMAT = Format("opencode-json", "opencode", True, _matches, _split, read)
