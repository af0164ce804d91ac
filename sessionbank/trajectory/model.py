"""What a trajectory is: a task, the replies of one agent as ReAct steps, and how it ended. Frozen dataclasses, no more.

How a session becomes one is told in `synthesis`, how its steps become a table in `steps`, how it ended in `outcome`,
and how it is written and read in `export`. ``None`` is unknown, never zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

LABELS = ("success", "partial", "failure", "unknown")
RESPOND = "respond"  # the action of a reply that calls no tool
VERSION = 1  # of the fields below; raise it when one changes its meaning


@dataclass(frozen=True, slots=True)
class Task:
    """What was asked for. `context` holds branches, files, cwd and repository, each where it is known."""

    description: str | None  # the summary's intent, else the first prompt
    domain: str | None = None
    context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """What the agent was told between two of its replies: a prompt, a command, an interruption, a compaction."""

    kind: str  # of the message, one of `records.KINDS`
    role: str
    text: str
    timestamp: datetime | None = None
    message_uuid: str | None = None
    checkpoint_id: str | None = None
    seq: int | None = None
    in_context: bool | None = None
    images: tuple[str, ...] = ()  # media types


@dataclass(frozen=True, slots=True)
class Reply:
    """One API call: what was said before it, what the model thought and said, and what it used.

    Its tool calls are steps whose `Step.reply` is this `number`. Tokens are missing where they were not recorded.
    """

    number: int  # place in the trajectory, from 0
    message_id: str | None
    model: str | None
    timestamp: datetime | None
    text: str | None
    thinking: str | None
    is_thinking_withheld: bool = False  # there was thinking, without its text
    before: tuple[Turn, ...] = ()
    input_tokens: int | None = None  # without cache
    cache_creation_tokens: int | None = None
    cache_creation_1h_tokens: int | None = None  # part of cache_creation_tokens
    cache_read_tokens: int | None = None
    output_tokens: int | None = None  # reasoning included
    reasoning_tokens: int | None = None  # part of output_tokens
    total_tokens: int | None = None
    cost_usd: float | None = None
    is_partial: bool = False
    message_uuid: str | None = None
    checkpoint_id: str | None = None
    seq: int | None = None
    in_context: bool | None = None

    @property
    def thought(self) -> str | None:
        """Thinking and text, in this order; what every step of the reply carries."""
        parts = [p for p in (self.thinking, self.text) if p]
        return "\n\n".join(parts) if parts else None


@dataclass(frozen=True, slots=True)
class Step:
    """One thought, action and observation. Several tool calls of a reply are several steps that share its thought."""

    step: int  # place in the trajectory, from 0
    tool_call_id: str | None
    thought: str | None
    action_name: str  # the tool, or `RESPOND`
    action_input: str | None  # JSON text
    observation: str | None
    status: str | None  # one of `records.STATUSES`; None without a call
    started_at: datetime | None
    duration_ms: int | None
    tokens: int | None  # all classes of the reply, on its first step; 0 on its others
    agent_id: str | None = None
    parent_tool_call_id: str | None = None
    message_uuid: str | None = None
    checkpoint_id: str | None = None
    seq: int | None = None  # of the message that holds the action
    result_seq: int | None = None  # of the message that holds the observation
    reply: int = 0  # number of its `Reply`
    mcp_server: str | None = None
    images: tuple[str, ...] = ()  # media types of pictures in the observation

    @property
    def tool_name(self) -> str | None:
        """The tool's full name, an MCP tool's with its server; None without a call."""
        if self.tool_call_id is None:
            return None
        return f"mcp__{self.mcp_server}__{self.action_name}" if self.mcp_server else self.action_name


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended, by one strategy; `evidence` holds the rows that this rests on."""

    label: str  # one of LABELS
    score: float | None  # 0 failure, 1 success; None when unknown
    confidence: float  # 0 to 1
    strategy: str
    reason: str
    evidence: tuple[Mapping[str, Any], ...] = ()

    @property
    def success(self) -> bool | None:
        """True for success, False for partial and failure, None when unknown."""
        return None if self.label == "unknown" else self.label == "success"


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One agent's work on one task. Tokens, calls and steps are its own; those of `subagents` are in these.

    `own_steps` and `replies` are in file order. `after` holds what was said after the last reply.
    """

    id: str  # entire-{checkpoint}-{session}
    session_id: str
    task: Task
    own_steps: tuple[Step, ...]
    replies: tuple[Reply, ...] = ()
    after: tuple[Turn, ...] = ()
    outcome: Outcome | None = None
    agent: str = "unknown"  # one of `records.AGENTS`; of a subagent its parent's
    timestamp: datetime | None = None  # of the first message
    llm_calls: int | None = None
    total_tokens: int | None = None
    cost_usd: float | None = None
    wall_seconds: float | None = None
    active_seconds: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    subagents: tuple[Trajectory, ...] = ()
    agent_id: str | None = None  # None: the main agent
    agent_type: str | None = None
    parent_tool_call_id: str | None = None
    version: int = VERSION

    def walk(self) -> Iterator[Trajectory]:
        """This trajectory, then all below it."""
        yield self
        for child in self.subagents:
            yield from child.walk()

    def steps(self, *, subagents: bool = True) -> pd.DataFrame:
        """A frame of table ``steps``: this agent's steps, then (by default) those of its subagents."""
        from sessionbank.trajectory.steps import steps_frame

        return steps_frame(self.walk() if subagents else [self])

    def with_outcome(self, outcome: Outcome | None) -> Trajectory:
        """The same trajectory with another outcome."""
        return replace(self, outcome=outcome)

    def __len__(self) -> int:
        return len(self.own_steps)

    def __repr__(self) -> str:
        ended = self.outcome.label if self.outcome else "not judged"
        return (
            f"<Trajectory {self.id}: {len(self.own_steps)} steps, {len(self.subagents)} subagents, {ended}>"
        )
