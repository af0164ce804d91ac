"""A team as frozen objects: its members, the directed edges between them, their steps, and the frames of each.

What a column means and when it is missing stands in `sessionbank.schema` (tables `members` and `interactions`); the
fields here have the same names. ``None`` is unknown, never zero. Nothing is built, measured or read from a file here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sessionbank import schema
from sessionbank.records import Diagnostic

if TYPE_CHECKING:
    import pandas as pd

    from sessionbank.team.patterns import Pattern

TYPES = ("delegation", "result_return", "message", "signal", "spawn", "escalation")
TOPOLOGIES = ("hierarchical", "flat", "wave", "custom")
ENFORCEMENTS = ("strict", "permissive", "audit")
COMPLEXITIES = ("simple", "moderate", "complex", "epic")

# Ends of an edge that are no agents: they are no members, and have no steps, degree or work of their own.
EVERYONE = "*"  # receiver of a broadcast, of the task board and of the team's own life
SYSTEM = "system"  # the harness, which tells the lead that a teammate has ended
UNKNOWN = "?"  # an agent that was asked for without a name, and did not start
NOT_AGENTS = frozenset({EVERYONE, SYSTEM, UNKNOWN})


@dataclass(frozen=True, slots=True)
class Interaction:
    """One directed edge between two agents; fields are the columns of ``interactions``, in their order.

    `from_step` and `to_step` are the `seq` of the messages that send and receive it. The steps that it touches are
    those with its id in `TeamStep.interaction_ids`.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> edge = run.interaction_list[0]
        >>> edge.type, edge.from_agent, edge.to_agent, edge.evidence, edge.is_inferred
        ('spawn', 'team-lead', 'a6c783719d64f2360', 'tool_result', False)
    """

    interaction_id: str
    session_id: str | None  # None: from a run file
    team: str | None
    type: str  # one of TYPES
    subtype: str | None
    from_agent: str
    from_role: str | None
    from_step: int | None
    to_agent: str
    to_role: str | None
    to_step: int | None
    content: str | None
    channel: str | None = None
    signal: str | None = None
    timestamp: datetime | None = None
    latency_ms: int | None = None
    ok: bool | None = None
    was_expected: bool | None = None  # None: no template to hold it against
    is_inferred: bool = False
    evidence: str = "run_file"
    tokens: int | None = None
    message_uuid: str | None = None
    tool_call_id: str | None = None
    from_raw: str | None = None
    to_raw: str | None = None

    @property
    def is_self(self) -> bool:
        """Whether sender and receiver are the same agent: kept, since the transcript says so, and worth a look."""
        return self.from_agent == self.to_agent


@dataclass(frozen=True, slots=True)
class Member:
    """One agent of a team; the first fields are the columns of ``members``, in their order.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> [(m.agent_id, m.role) for m in run.member_list[:2]]
        [('team-lead', 'lead'), ('a6c783719d64f2360', 'Explore')]
    """

    team: str | None
    agent_id: str
    role: str | None = None
    agent_type: str | None = None
    model: str | None = None
    session_id: str | None = None
    steps: int | None = None  # None: no step of it is in the transcripts, which is not none
    tool_calls: int | None = None
    tokens: int | None = None
    outcome: str | None = None
    objective: str | None = None  # what it was asked
    is_lead: bool = False
    is_declared: bool | None = None  # whether the template names its role; None: no template
    spawned_by: str | None = None  # agent_id
    spawn_call_id: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TeamStep:
    """One step of one member: thought, action, observation.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> step = run.step_list[0]
        >>> step.agent_id, step.step, step.action_name, step.is_boundary
        ('team-lead', 0, 'Agent', True)
    """

    team: str | None
    agent_id: str
    step: int  # number among the member's steps, from 0
    tool_call_id: str | None = None
    thought: str | None = None
    action_name: str = "respond"
    action_input: str | None = None  # JSON text
    observation: str | None = None
    status: str | None = None  # ok | error | rejected | interrupted | no_result; None: no tool was called
    started_at: datetime | None = None
    ended_at: datetime | None = None
    duration_ms: int | None = None
    tokens: int | None = None  # of the reply, on its first step; 0 on the others
    message_uuid: str | None = None
    interaction_ids: tuple[str, ...] = ()  # edges that start or end at this step: it is a boundary step
    seq: int | None = None  # place in the session; in a run file the step's number
    session_id: str | None = None

    @property
    def is_boundary(self) -> bool:
        """Whether an interaction starts or ends here."""
        return bool(self.interaction_ids)


@dataclass(frozen=True)
class Team:
    """Agents that worked together. Tuples are in a fixed order: members by first appearance, edges by time.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> len(run.member_list), len(run.interaction_list), len(run.step_list)
        (6, 67, 56)
        >>> run.interactions().shape[0] == len(run.interaction_list)
        True
    """

    id: str
    name: str | None = None
    objective: str | None = None
    domain: str | None = None
    complexity: str | None = None
    topology: str | None = None
    template: str | None = None
    enforcement: str | None = None
    member_list: tuple[Member, ...] = ()
    interaction_list: tuple[Interaction, ...] = ()
    step_lists: Mapping[str, tuple[TeamStep, ...]] = field(
        default_factory=dict
    )  # agent_id -> its steps in order
    outcome: str | None = None  # success | partial | failure | unknown; None: nothing says how it ended
    outcome_reason: str | None = None
    cost_usd: float | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)  # name as written -> agent_id
    problems: tuple[Diagnostic, ...] = ()
    session_ids: tuple[str, ...] = ()
    expected_patterns: tuple[
        Pattern, ...
    ] = ()  # what a template or a run file declares; empty: nothing is declared
    declared_roles: Mapping[str, str] = field(default_factory=dict)  # agent_id -> role of that declaration
    is_loose: bool = (
        False  # sessions of one checkpoint at one time, with nothing else that ties them together
    )

    @property
    def step_list(self) -> tuple[TeamStep, ...]:
        """All steps, member after member in the order of `member_list`, then members that the list does not name."""
        order = dict.fromkeys([*(m.agent_id for m in self.member_list), *self.step_lists])
        return tuple(s for agent in order for s in self.step_lists.get(agent, ()))

    def member(self, agent_id: str) -> Member | None:
        """The member of that id, or None."""
        return next((m for m in self.member_list if m.agent_id == agent_id), None)

    def members(self) -> pd.DataFrame:
        """One row a member: the columns of table ``members``; counts are whole numbers, missing where not seen."""
        return schema.frame(schema.arrow_table("members", member_tuples(self.member_list)))

    def interactions(self) -> pd.DataFrame:
        """One row an edge: the columns of table ``interactions``; latency in milliseconds."""
        return schema.frame(schema.arrow_table("interactions", interaction_tuples(self.interaction_list)))

    def steps(self) -> pd.DataFrame:
        """One row a step: the fields of `TeamStep`; interaction ids as JSON text, durations in milliseconds."""
        import json

        import pyarrow as pa

        kinds = {
            "int": pa.int64(), "str": pa.large_string(), "time": pa.timestamp("us", tz="UTC"),
        }  # fmt: skip
        columns: dict[str, Any] = {}
        for f in fields(TeamStep):
            values = [getattr(s, f.name) for s in self.step_list]
            if f.name == "interaction_ids":
                values = [json.dumps(list(v)) for v in values]
            columns[f.name] = pa.array(values, kinds[_STEP_KINDS.get(f.name, "str")])
        return schema.frame(pa.table(columns))

    def __repr__(self) -> str:
        from sessionbank.redaction import shown

        return (
            f"<Team {shown(self.name or self.id)}: {len(self.member_list)} members, "
            f"{len(self.interaction_list)} interactions, {sum(map(len, self.step_lists.values()))} steps>"
        )


_STEP_KINDS = {
    "step": "int", "duration_ms": "int", "tokens": "int", "seq": "int", "started_at": "time", "ended_at": "time",
}  # fmt: skip


def member_tuples(members: Iterable[Member]) -> list[tuple[Any, ...]]:
    """Members as rows of table ``members``, in column order."""
    columns = schema.table("members").columns
    return [tuple(getattr(m, c) for c in columns) for m in members]


def interaction_tuples(interactions: Iterable[Interaction]) -> list[tuple[Any, ...]]:
    """Edges as rows of table ``interactions``, in column order."""
    columns = schema.table("interactions").columns
    return [tuple(getattr(i, c) for c in columns) for i in interactions]
