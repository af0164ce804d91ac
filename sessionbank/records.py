"""The objects that all rooms speak of: records, sessions, messages, blocks, tool calls, usage, attribution.

Frozen dataclasses and nothing else: no parsing, no git, no pandas. What a field counts and when it is missing is
written once, in `sessionbank.schema`; fields here carry the same names as the table columns. ``None`` is unknown,
never zero. A `Session` reads its transcript through the loader that was handed to it, when first asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol

AGENTS = (
    "claude-code", "codex", "gemini-cli", "opencode", "copilot-cli", "cursor", "factory-droid", "kiro", "pi",
    "plugin", "unknown",
)  # fmt: skip
KINDS = (
    "prompt", "reply", "tool_result", "meta", "command", "command_output", "interruption", "compact_summary",
    "notification", "teammate", "system", "progress", "summary", "other",
)  # fmt: skip
STATUSES = ("ok", "error", "rejected", "interrupted", "no_result")
ACTIVE_GAP_S = 300  # a longer silence between two messages counts as this much activity
# Tools that start an agent: ``Task`` became ``Agent`` in Claude Code 2.1.63; OpenCode has ``task``, Codex ``spawn_agent``.
SPAWN_TOOLS = frozenset({"Task", "Agent", "task", "spawn_agent"})


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that was not as it should be, with its place; a row of ``diagnostics()``."""

    severity: str  # info | warning | error
    code: str
    message: str
    checkpoint_id: str | None = None
    session_index: int | None = None
    session_id: str | None = None
    path: str | None = None
    line_index: int | None = None


@dataclass(frozen=True, slots=True)
class CheckpointRef:
    """A checkpoint as listed: no transcript and no session metadata read."""

    checkpoint_id: str
    layout: str  # branch-v1 | v2 | refs-v1 | sessions-v0
    ref: str
    path: str
    session_count: int  # stored session directories, not what the root metadata claims


@dataclass(frozen=True, slots=True)
class StoredUsage:
    """Token counts as the metadata states them: another witness, of changing scope (see ``reconcile()``)."""

    input_tokens: int | None = None
    cache_creation_tokens: int | None = None
    cache_read_tokens: int | None = None
    output_tokens: int | None = None
    api_call_count: int | None = None


@dataclass(frozen=True, slots=True)
class CodeLearning:
    """A finding about a place in the code, as the summary states it."""

    path: str
    finding: str
    line: int | None = None
    end_line: int | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary that Entire had a model write of a session; absent for most sessions."""

    intent: str | None = None
    outcome: str | None = None
    repo: tuple[str, ...] = ()
    code: tuple[CodeLearning, ...] = ()
    workflow: tuple[str, ...] = ()
    friction: tuple[str, ...] = ()
    open_items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attribution:
    """Who wrote the committed lines, as Entire worked it out. ``agent_percentage`` runs from 0 to 100."""

    calculated_at: datetime | None = None
    agent_lines: int | None = None
    human_added: int | None = None
    human_modified: int | None = None
    human_removed: int | None = None
    total_committed: int | None = None
    agent_percentage: float | None = None
    metric_version: int | None = None
    agent_removed: int | None = None
    total_lines_changed: int | None = None

    @property
    def agent_contribution(self) -> float | None:
        """``agent_percentage`` as a share from 0 to 1."""
        return None if self.agent_percentage is None else self.agent_percentage / 100


@dataclass(frozen=True, slots=True)
class AgentFile:
    """A subagent's transcript that is stored beside its session's: by Entire under ``tasks/``, by agents in folders."""

    agent_id: str | None
    tool_use_id: str | None  # the call that started it, where the path tells
    blob: str
    path: str


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One stored session directory of one checkpoint: metadata, and where its transcript lies."""

    checkpoint_id: str
    session_index: int
    session_id: str  # canonical: without the date that older writers put in front
    raw_session_id: str | None
    layout: str
    ref: str
    path: str  # of the directory, inside the ref's tree
    created_at: datetime | None
    branch: str | None
    strategy: str | None
    cli_version: str | None
    agent_label: str | None
    transcript_state: str  # present | empty | absent | missing_blob
    transcript_blobs: tuple[str, ...] = ()  # object ids, in chunk order
    transcript_bytes: int | None = None  # chunks joined; None where this clone lacks one
    transcript_name: str | None = None
    start_offset: int | None = None  # first line (or message) of this checkpoint's window, as stored
    start_identifier: str | None = None
    files_touched: tuple[str, ...] | None = None
    summary: Summary | None = None
    attribution: Attribution | None = None
    stored_usage: StoredUsage | None = None
    is_task: bool = False
    tool_use_id: str | None = None
    prompt_blob: str | None = None
    hash_blob: str | None = None
    metadata_blob: str | None = None
    storage_commit_sha: str | None = None
    linked_commit_sha: str | None = None
    model_label: str | None = None
    extra: str | None = field(default=None, repr=False)  # JSON text of metadata keys that no field holds
    agent_files: tuple[AgentFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a message."""

    type: str  # text | thinking | tool_use | tool_result | image
    text: str | None = None  # missing for images, and for thinking that was withheld
    tool_call_id: str | None = None
    media_type: str | None = None
    bytes: int | None = None
    is_redacted: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One transcript line that says something."""

    session_id: str
    seq: int  # place in the session, from 0, in file order
    uuid: str | None
    parent_uuid: str | None
    role: str  # user | assistant | system | tool; for other lines the line's own type
    kind: str  # one of KINDS
    text: str | None = field(repr=False)
    model: str | None
    message_id: str | None  # one API call has one; its lines share it
    request_id: str | None
    timestamp: datetime | None
    agent_id: str | None  # of the subagent or teammate that acts; None for the main agent
    parent_tool_call_id: str | None  # the call that started the subagent
    is_subagent: bool
    in_context: bool | None
    context_reason: str | None
    checkpoint_id: str | None
    session_index: int | None
    blob_oid: str | None
    line_index: int | None
    byte_offset: int | None
    is_queued: bool = False
    inherited_from: str | None = None
    line_type: str | None = None
    stored_copies: int | None = None
    extra: str | None = field(default=None, repr=False)  # JSON text of what no column holds
    blocks: tuple[Block, ...] = field(default=(), repr=False)  # a notebook keeps the repr beside the HTML

    def _repr_html_(self) -> str:
        from sessionbank.html import message_html

        return message_html(self)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool use paired with its result."""

    session_id: str
    tool_call_id: str
    seq: int  # of the message that holds the use
    tool_name: str
    mcp_server: str | None
    input: str | None  # JSON text
    status: str  # one of STATUSES
    is_error_explicit: bool
    result_text: str | None
    called_at: datetime | None
    returned_at: datetime | None
    duration_ms: int | None
    file_path: str | None
    command: str | None
    agent_id: str | None
    parent_tool_call_id: str | None
    is_subagent: bool
    message_uuid: str | None
    result_uuid: str | None
    checkpoint_id: str | None
    message_id: str | None = None
    result_seq: int | None = None
    result_data: str | None = (
        None  # JSON text of the tool's own structured result, where it says more than the text
    )
    inherited_from: str | None = None


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Usage of one API call. Classes are disjoint: input excludes cache; output includes reasoning."""

    session_id: str
    message_id: str
    model: str | None
    timestamp: datetime | None
    input_tokens: int | None
    cache_creation_tokens: int | None
    cache_creation_1h_tokens: int | None  # part of cache_creation_tokens
    cache_read_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None  # part of output_tokens
    total_tokens: int | None
    cost_usd: float | None
    is_partial: bool
    is_subagent: bool
    agent_id: str | None
    checkpoint_id: str | None
    seq: int | None = None  # of the message whose usage was kept
    message_uuid: str | None = None
    inherited_from: str | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a session's stored files say, once: the union of its records."""

    session_id: str
    agent: str
    messages: tuple[Message, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    usage: tuple[TokenUsage, ...] = ()
    cwd: str | None = None
    agent_version: str | None = None


@dataclass(frozen=True, slots=True)
class Subagent:
    """An agent that another agent's tool call started."""

    agent_id: str | None
    parent_tool_call_id: str | None
    agent_type: str | None
    messages: tuple[Message, ...]
    tool_calls: tuple[ToolCall, ...]
    usage: tuple[TokenUsage, ...]


class Reach(Protocol):
    """What a session asks its bank for: what needs git, stored bytes, or rooms above this one."""

    def commit_facts(self) -> Any:
        """What git says of the bank's checkpoints."""

    def context(self, session: Session, message: Message | None) -> tuple[Message, ...]:
        """See `Session.context_at`."""

    def canonical(self, session: Session, record: SessionRecord | None) -> Any:
        """See `Session.canonical`."""

    def raw(self, session: Session, message: Message) -> list[bytes]:
        """See `Session.raw`."""


@dataclass(frozen=True)
class Session:
    """One conversation: the union of its records, whatever checkpoints they stand in."""

    session_id: str
    records: tuple[SessionRecord, ...]
    load: Callable[[str], Transcript] = field(repr=False, compare=False)
    reach: Reach | None = field(default=None, repr=False, compare=False)  # what only its bank can tell

    def __repr__(self) -> str:
        return f"<Session {self.session_id}: {len(self.records)} records>"

    @cached_property
    def transcript(self) -> Transcript:
        """Everything that was said; read from the repository (or the cache) when first asked."""
        return self.load(self.session_id)

    def context_at(self, message: Message | None = None) -> tuple[Message, ...]:
        """What the main agent's model was sent when that message came (None: at the end), in the order it was sent.

        Known for Claude Code (compactions) and Pi (compactions, interrupted drafts); raises `QueryError` with the
        reason for other agents, and for a Pi session that is no plain chain of entries.
        """
        return self.reach.context(self, message) if self.reach else ()

    def canonical(self, record: SessionRecord | None = None) -> Any:
        """Canonical records (`trajectory.canonical.Canonical`) of the session's stored lines, or of one record's.

        Raises `FormatError` for other agents than Claude Code, and where the original normaliser refuses.
        """
        return self.reach.canonical(self, record) if self.reach else None

    def raw(self, message: Message) -> list[bytes]:
        """The exact stored lines behind a message, as `SessionBank.raw` gives them; empty where no bank stands behind it.

        Raises `NotFoundError` where the bytes are not in this clone.

        Example:
            >>> import sessionbank as sb
            >>> with sb.open_bank("data/shop.bundle", cache=False, progress=False) as bank:
            ...     [len(session.raw(session.messages[0])) for session in bank.query(limit=1)]
            [1]
        """
        return self.reach.raw(self, message) if self.reach else []

    @cached_property
    def commit_facts(self) -> Any:
        """What git says of its checkpoints (`trajectory.CommitFacts`); None where no repository stands behind it."""
        return self.reach.commit_facts() if self.reach else None

    @property
    def agent(self) -> str:
        """The agent that the bytes show (one of `AGENTS`)."""
        return self.transcript.agent

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages in file order, subagents' too."""
        return self.transcript.messages

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """All tool calls in file order, subagents' too."""
        return self.transcript.tool_calls

    @property
    def usage(self) -> tuple[TokenUsage, ...]:
        """One entry an API call, subagents' too."""
        return self.transcript.usage

    @property
    def cwd(self) -> str | None:
        """The working directory that the transcript names first."""
        return self.transcript.cwd

    @property
    def created_at(self) -> datetime | None:
        """When the earliest record was stored; not when the session started."""
        times = [r.created_at for r in self.records if r.created_at is not None]
        return min(times) if times else None

    @property
    def summary(self) -> Summary | None:
        """The latest record's summary, if any record has one."""
        return next((r.summary for r in reversed(self.records) if r.summary is not None), None)

    @property
    def attribution(self) -> Attribution | None:
        """The latest record's attribution, if any record has one."""
        return next((r.attribution for r in reversed(self.records) if r.attribution is not None), None)

    @property
    def branches(self) -> tuple[str, ...]:
        """Code branches that the records name, in order of first appearance."""
        return tuple(dict.fromkeys(r.branch for r in self.records if r.branch))

    @property
    def files_touched(self) -> tuple[str, ...]:
        """Files that the records name, sorted."""
        return tuple(sorted({f for r in self.records for f in r.files_touched or ()}))

    @property
    def subagents(self) -> tuple[Subagent, ...]:
        """The agents that this session started, in order of their first message."""
        return tuple(_subagents(self.transcript))

    def message(self, uuid: str) -> Message | None:
        """The message with that uuid, or None."""
        return next((m for m in self.messages if m.uuid == uuid), None)

    def _repr_html_(self) -> str:
        from sessionbank.html import session_html

        return session_html(self)


def _subagents(transcript: Transcript) -> Iterator[Subagent]:
    keys = dict.fromkeys((m.agent_id, m.parent_tool_call_id) for m in transcript.messages if m.is_subagent)
    spawns = {c.tool_call_id: c for c in transcript.tool_calls if c.tool_name in SPAWN_TOOLS}
    for agent_id, call_id in keys:
        spawn = spawns.get(call_id or "")
        yield Subagent(
            agent_id=agent_id,
            parent_tool_call_id=call_id,
            agent_type=_subagent_type(spawn),
            messages=tuple(m for m in transcript.messages if _acts(m, agent_id, call_id)),
            tool_calls=tuple(c for c in transcript.tool_calls if _acts(c, agent_id, call_id)),
            usage=tuple(u for u in transcript.usage if u.is_subagent and u.agent_id == agent_id),
        )


def _acts(item: Message | ToolCall, agent_id: str | None, call_id: str | None) -> bool:
    return item.is_subagent and item.agent_id == agent_id and item.parent_tool_call_id == call_id


def _subagent_type(spawn: ToolCall | None) -> str | None:
    import json

    if spawn is None or not spawn.input:
        return None
    try:
        value = json.loads(spawn.input).get("subagent_type")
    except (ValueError, AttributeError):
        return None
    return value if isinstance(value, str) else None
