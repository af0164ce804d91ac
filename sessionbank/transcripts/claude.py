"""Claude Code transcripts: JSONL, a line an event, a reply spread over as many lines as it has blocks.

Subagents stand in ``progress`` lines (``agent_progress``), or in lines with ``isSidechain``. Who typed a user line is
told by `claude_kinds`. Lines of types not known here are kept, with kind ``other``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessionbank.records import SPAWN_TOOLS
from sessionbank.transcripts import jsonl
from sessionbank.transcripts.claude_kinds import goes_on_from, queued_once, result_status, user_kind
from sessionbank.transcripts.rows import (
    BlockRow,
    Entry,
    Format,
    MessageRow,
    ResultRow,
    SessionRows,
    UsageRow,
    UseRow,
    as_json,
    joined,
    number,
    string,
)  # fmt: skip

_new = tuple.__new__  # a NamedTuple's own constructor costs three times as much, and this is the hot path
SYNTHETIC = "<synthetic>"
# By these types a transcript is told; lines of any type are read.
_TYPES = frozenset({
    "user", "assistant", "system", "progress", "summary", "attachment", "file-history-snapshot", "queue-operation",
    "last-prompt", "permission-mode", "mode", "ai-title", "custom-title", "agent-name", "bridge-session", "pr-link",
    "worktree-state", "file-history-delta", "inter_agent_communication_metadata",
})  # fmt: skip
# Keys that a column holds, or that every line repeats; all others are kept in `extra`.
_COMMON = frozenset({
    "type", "uuid", "parentUuid", "sessionId", "timestamp", "message", "requestId", "toolUseResult", "cwd", "version",
    "gitBranch", "userType", "isSidechain", "slug", "entrypoint", "sourceToolAssistantUUID", "agentId",
})  # fmt: skip
# Their structured result repeats file contents or shell output; the text says it already.
_PLAIN_TOOLS = frozenset({
    "Bash", "Read", "Edit", "MultiEdit", "Write", "NotebookEdit", "Grep", "Glob", "LS", "WebFetch", "WebSearch", "TodoWrite",
})  # fmt: skip


def _matches(whole: Any, first: list[dict[str, Any]]) -> bool:
    for value in first:
        kind = value.get("type")
        if kind in ("user", "assistant", "system", "progress") and "uuid" in value:
            if isinstance(value.get("message"), dict) or "parentUuid" in value:
                return True
            continue
        if (
            type(kind) is str
            and kind in _TYPES
            and ("sessionId" in value or "messageId" in value or "leafUuid" in value)
        ):
            return True
    return False


def _split(data: bytes, problem: Callable[..., None]) -> list[jsonl.Stored]:
    return jsonl.lines(data, problem, id_key="uuid")


class _Reader:
    """Reads the lines of one session; holds what later lines need to know of earlier ones."""

    def __init__(self, rows: SessionRows) -> None:
        self.rows = rows
        self.plain: set[tuple[Any, ...]] = (
            set()
        )  # keys, in order, of lines of which a column holds everything
        self.nested: set[str] = set()  # ids of subagents' messages already taken from a progress line
        self.progress_extra: dict[str, str] = {}  # kind of progress -> what is kept of it
        self.tools: dict[str, str] = {}  # call id -> tool name
        self.calls: dict[str, str] = {}  # message id -> the call it stands for now (gateways reuse ids)
        self.inputs: dict[str, tuple[Any, ...]] = {}  # call -> its input-side usage
        self.since_prompt: set[str] = set()  # calls with a line since the last human prompt
        self.spawned = dict(rows.agent_calls)  # agent id -> call that started it
        self.asked: dict[str, str] = {}  # prompt text -> spawn call, for sidechains without an agent id
        self.nameless: set[str | None] = set()  # agents with a reply that has neither id nor usage
        self.chains: dict[
            str, tuple[str | None, str | None]
        ] = {}  # uuid of a sidechain line -> agent id, spawn call
        self.pending: list[tuple[int, str]] = []  # sidechain messages whose spawn call was not known yet

    def read(self, entries: list[Entry]) -> None:
        for entry in entries:
            value = entry[0]
            kind = value.get("type")
            if kind == "progress":
                self.progress(entry)
            elif kind == "assistant" or kind == "user":
                agent = call = None
                if value.get("isSidechain") is True:
                    if self.is_nested(value):
                        continue  # a progress line told it already
                    agent, call = self.actor(value)
                if kind == "user":
                    self.user(value, value, entry, agent, call)
                else:
                    self.assistant(value, value, entry, agent, call)
            else:
                self.other(entry)
        for (
            seq,
            agent_id,
        ) in self.pending:  # the spawn's result, which names the agent, came after its first lines
            if agent_id in self.spawned:
                self.rows.messages[seq] = self.rows.messages[seq]._replace(
                    parent_tool_call_id=self.spawned[agent_id]
                )

    def add(  # noqa: PLR0917 - the hot path: naming the arguments costs a tenth of a cold load
        self, value: dict[str, Any], outer: dict[str, Any], entry: Entry, role: str, kind: str, text: str | None,
        agent: str | None = None, call: str | None = None, model: str | None = None, message_id: str | None = None,
        queued: bool = False, extra: str | None = None,
    ) -> int:  # fmt: skip
        messages = self.rows.messages
        get = value.get
        uuid, parent, time, request, line_type = (
            get("uuid"),
            get("parentUuid"),
            get("timestamp"),
            get("requestId"),
            outer.get("type"),
        )
        _, line, offset, place = entry
        messages.append(
            _new(
                MessageRow,
                (
                    uuid if type(uuid) is str and uuid else None,
                    parent if type(parent) is str else None,
                    role, kind, text, model, message_id,
                    request if type(request) is str else None,
                    time if type(time) is str else None,
                    agent, call, agent is not None or call is not None, queued,
                    line_type if type(line_type) is str else None,
                    extra, line, offset, place,
                ),
            )
        )  # fmt: skip
        if value is outer:
            rows = self.rows
            if rows.cwd is None or rows.agent_version is None:
                rows.runs_in(get("cwd"), get("version"))
            own = get("sessionId")
            if type(own) is str and own != rows.session_id:
                rows.foreign_ids[own] = rows.foreign_ids.get(own, 0) + 1
        return len(messages) - 1

    def actor(self, value: dict[str, Any]) -> tuple[str | None, str | None]:
        """Agent id and spawn call of a sidechain line; (None, None) for the main agent."""
        if value.get("isSidechain") is not True:
            return None, None
        agent = string(value.get("agentId"))
        if agent is not None:
            return agent, self.spawned.get(agent)
        parent = self.chains.get(string(value.get("parentUuid")) or "")
        if parent is None:
            message = value.get("message")
            asked = joined(message.get("content")) if isinstance(message, dict) else None
            call = self.asked.get(asked or "")
            parent = (f"sidechain-{call or value.get('uuid')}", call)
        if string(value.get("uuid")):
            self.chains[value["uuid"]] = parent
        return parent

    def is_nested(self, value: dict[str, Any]) -> bool:
        """Whether a progress line brought this very message of a subagent."""
        uuid = value.get("uuid")
        return type(uuid) is str and uuid in self.nested

    # -- one kind of line each ---------------------------------------------------------------------------------

    def progress(self, entry: Entry) -> None:
        value = entry[0]
        data = value.get("data")
        what = data.get("type") if type(data) is dict else None
        extra = self.progress_extra.get(what) if type(what) is str else None
        if extra is None and type(what) is str:
            extra = self.progress_extra[what] = as_json({"data": {"type": what}}) or ""
        self.add(value, value, entry, "progress", "progress", None, extra=extra)
        if what != "agent_progress":
            return
        nested = data.get("message")
        if type(nested) is not dict or type(nested.get("message")) is not dict:
            return
        uuid = nested.get("uuid")
        key = uuid if type(uuid) is str and uuid else as_json(nested) or ""
        if key in self.nested:
            return
        self.nested.add(key)
        agent = string(data.get("agentId")) or "subagent"
        call = string(value.get("parentToolUseID"))
        if nested.get("type") == "assistant":
            self.assistant(nested, value, entry, agent, call)
        else:
            self.user(nested, value, entry, agent, call)

    def assistant(
        self, value: dict[str, Any], outer: dict[str, Any], entry: Entry, agent: str | None, call: str | None
    ) -> None:
        message = value.get("message")
        if type(message) is not dict:
            message = {"content": message}
        content = message.get("content")
        blocks = content if type(content) is list else [content] if content is not None else []
        model = message.get("model") if type(message.get("model")) is str else None
        is_real = model != SYNTHETIC
        usage = message.get("usage")
        message_id = self.call_of(message, value, usage, agent) if is_real else None
        seq = len(self.rows.messages)
        text = self.blocks(blocks, seq, message_id)
        self.add(
            value, outer, entry, "assistant", "reply" if is_real else "system", text, agent, call,
            model if is_real else None, message_id, False, self.extra(value, outer),
        )  # fmt: skip
        if agent is not None and call is None:
            self.pending.append((seq, agent))
        if type(usage) is dict and message_id is not None:
            self.usage(usage, message, seq, message_id)
        elif message_id is None and is_real:
            self.unidentified(seq, agent)

    def blocks(self, blocks: list[Any], seq: int, message_id: str | None) -> str | None:
        """Takes the blocks of a reply; gives back their text."""
        add = self.rows.blocks.append
        texts: list[str] = []
        for at, block in enumerate(blocks):
            if type(block) is str:
                texts.append(block)
                add(BlockRow(seq, at, "text", block))
                continue
            if type(block) is not dict:
                continue
            kind = block.get("type")
            if kind == "tool_use":
                call_id, name, given = (
                    string(block.get("id")),
                    string(block.get("name")) or "unknown",
                    block.get("input"),
                )
                self.rows.uses.append(UseRow(seq, call_id, name, given, message_id))
                add(_new(BlockRow, (seq, at, "tool_use", as_json(given), call_id, None, None, False)))
                if call_id is not None:
                    self.tools[call_id] = name
                    if name in SPAWN_TOOLS and type(given) is dict and type(given.get("prompt")) is str:
                        self.asked[given["prompt"]] = call_id
            elif kind == "text":
                text = block.get("text")
                if type(text) is str:
                    texts.append(text)
                add(
                    _new(
                        BlockRow,
                        (seq, at, "text", text if type(text) is str else None, None, None, None, False),
                    )
                )
            elif kind == "thinking":
                text = string(block.get("thinking"))
                add(_new(BlockRow, (seq, at, "thinking", text, None, None, None, text is None)))
            elif kind == "redacted_thinking":
                add(BlockRow(seq, at, "thinking", None, is_redacted=True))
            elif kind == "image":
                add(_image(block, seq, at))
            else:
                add(BlockRow(seq, at, string(kind) or "unknown", as_json(block)))
        return ("\n".join(texts) if len(texts) > 1 else texts[0]) if texts else None

    def call_of(
        self, message: dict[str, Any], value: dict[str, Any], usage: Any, agent: str | None
    ) -> str | None:
        """The API call that a reply's line belongs to: its message id, unless a gateway gives all replies the same.

        Without a request id, a line whose input side differs after a human prompt is another call. A reply of a
        subagent is another call than the main agent's, whatever its id.
        """
        message_id = string(message.get("id"))
        if message_id is None and type(usage) is dict:
            message_id = string(value.get("uuid"))
        if message_id is None:
            return None
        if string(value.get("requestId")) is not None:
            return message_id
        sides = (
            (
                usage.get("input_tokens"),
                usage.get("cache_creation_input_tokens"),
                usage.get("cache_read_input_tokens"),
            )
            if type(usage) is dict
            else ()
        )
        now = self.calls.get(message_id)
        if now is None:
            now = message_id
        elif now not in self.since_prompt and self.inputs.get(now) != sides:
            _, _, last = now.removeprefix(message_id).rpartition("#")
            now = f"{message_id}#{int(last or 1) + 1}"
        self.calls[message_id], self.inputs[now] = now, sides
        self.since_prompt.add(now)
        return now

    def unidentified(self, seq: int, agent: str | None) -> None:
        """Replies with neither id nor usage: nothing tells them apart, so an agent's count as one call, a lower bound."""
        if agent not in self.nameless:
            self.nameless.add(agent)
            call = self.rows.messages[seq].uuid or f"{self.rows.session_id}:unidentified"
            self.rows.usage.append(UsageRow(seq, call, None, None, None, None, None, None, False))

    def usage(self, usage: dict[str, Any], message: dict[str, Any], seq: int, call: str) -> None:
        split = usage.get("cache_creation")
        hour = number(split.get("ephemeral_1h_input_tokens")) if type(split) is dict else None
        get = usage.get
        self.rows.usage.append(
            _new(
                UsageRow,
                (
                    seq, call, number(get("input_tokens")), number(get("cache_creation_input_tokens")), hour,
                    number(get("cache_read_input_tokens")), number(get("output_tokens")), None,
                    message.get("stop_reason") is not None,
                ),
            )
        )  # fmt: skip

    def user(
        self, value: dict[str, Any], outer: dict[str, Any], entry: Entry, agent: str | None, call: str | None
    ) -> None:
        message = value.get("message")
        content = message.get("content") if type(message) is dict else message
        blocks = content if type(content) is list else []
        results = [b for b in blocks if type(b) is dict and b.get("type") == "tool_result"]
        text = joined(content)
        kind = "tool_result" if results else user_kind(value, text, is_subagent=agent is not None)
        extra = self.extra(value, outer)
        if results and text is None:
            found = [t for t in map(joined, [b.get("content") for b in results]) if t is not None]
            text = "\n".join(found) if found else None
        seq = self.add(value, outer, entry, "user", kind, text, agent, call, extra=extra)
        if agent is None and (kind == "prompt" or kind == "compact_summary"):
            self.rows.continues.extend(goes_on_from(value, kind, text))
            if kind == "prompt":
                self.since_prompt.clear()
        if agent is not None and call is None:
            self.pending.append((seq, agent))
        add = self.rows.blocks.append
        if type(content) is str:
            add(BlockRow(seq, 0, "text", content))
        for at, block in enumerate(blocks):
            if type(block) is not dict:
                continue
            what = block.get("type")
            if what == "tool_result":
                self.result(block, value, entry, (seq, at))
            elif what == "image":
                add(_image(block, seq, at))
            elif what == "text":
                add(BlockRow(seq, at, "text", string(block.get("text"))))
            else:
                add(BlockRow(seq, at, string(what) or "unknown", as_json(block)))

    def result(self, block: dict[str, Any], value: dict[str, Any], entry: Entry, at: tuple[int, int]) -> None:
        call_id = string(block.get("tool_use_id"))
        content = block.get("content")
        text = joined(content)
        flag = block.get("is_error")
        flag = flag if type(flag) is bool else None
        data = value.get("toolUseResult")
        tool = self.tools.get(call_id or "", "")
        if type(data) is dict and string(data.get("agentId")) and call_id is not None:
            self.spawned.setdefault(data["agentId"], call_id)
        status = result_status(flag, text, data)
        kept = data if data is not None and tool not in _PLAIN_TOOLS and type(data) is not str else None
        self.rows.results.append(_new(ResultRow, (at[0], call_id, text, flag, status, kept, None)))
        self.rows.blocks.append(
            _new(BlockRow, (at[0], at[1], "tool_result", text, call_id, None, None, False))
        )
        if type(content) is list:
            for number_, part in enumerate(
                p for p in content if type(p) is dict and p.get("type") == "image"
            ):
                self.rows.blocks.append(_image(part, at[0], at[1] + 1000 * (number_ + 1), call_id))

    def other(self, entry: Entry) -> None:
        value = entry[0]
        line_type = string(value.get("type")) or "unknown"
        kind, text, queued, role = "other", None, False, line_type
        agent, call = self.actor(value)
        if line_type == "system":
            kind, text = "system", string(value.get("content"))
            if value.get("subtype") == "compact_boundary":
                self.rows.boundaries.append((len(self.rows.messages), "compaction"))
                self.rows.follows.append((value.get("uuid"), value.get("logicalParentUuid")))
        elif line_type == "summary":
            kind, text = "summary", string(value.get("summary"))
        elif line_type == "attachment":
            data = value.get("attachment")
            data = data if type(data) is dict else {}
            kind, text = ("meta", None)
            if data.get("type") == "queued_command":
                text = joined(data.get("prompt"))
                mode = data.get("commandMode")
                kind = (
                    "notification"
                    if mode == "task-notification"
                    else user_kind(data, text, is_subagent=agent is not None)
                )
                queued = True
        seq = self.add(
            value, value, entry, role, kind, text, agent, call, queued=queued, extra=self.extra(value, value)
        )
        if text is not None:
            self.rows.blocks.append(BlockRow(seq, 0, "text", text))
        if queued and kind == "prompt":
            self.since_prompt.clear()

    def extra(self, value: dict[str, Any], outer: dict[str, Any]) -> str | None:
        """What no column holds. A nested message's line was kept already."""
        if value is not outer:
            return None
        keys = tuple(value)
        if keys in self.plain:  # most lines have one of a few sets of keys
            return None
        if value.keys() <= _COMMON:
            self.plain.add(keys)
            return None
        return as_json({k: v for k, v in value.items() if k not in _COMMON})


def _image(block: dict[str, Any], seq: int, at: int, call_id: str | None = None) -> BlockRow:
    source = block.get("source")
    source = source if type(source) is dict else {}
    data = source.get("data")
    size = len(data) * 3 // 4 - data[-2:].count("=") if type(data) is str else None
    return BlockRow(seq, at, "image", None, call_id, string(source.get("media_type")), size)


def read(entries: list[Entry], rows: SessionRows) -> None:
    """Messages, blocks, calls, results, usage and context boundaries of a session."""
    _Reader(rows).read(entries)
    queued_once(rows)


FORMAT = Format("claude-jsonl", "claude-code", False, _matches, _split, read)
