"""Playbooks (task, role, team) and meta-strategies as pydantic models: what a person reads, reviews and edits.

Each thing that a playbook says is a `Line`: its text with the evidence it rests on, its support (runs for, runs
against), how sure we are, and what reviewers decided. Where the design of the team pipeline has a plain string, a line
stands; a plain string in a file (an agent's, a person's) is read as a line without evidence. No playbook is made here
(see `distill`) and none is reviewed (see `review`).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from sessionbank.learning.filenames import digest
from sessionbank.learning.outputs import Complexity, Enforcement, InteractionType, Share, Topology

Standing = Literal["established", "tentative", "contested", "claimed"]
Action = Literal["accept", "edit", "reject", "merge"]


class Stored(BaseModel):
    """Base of what memory keeps: unknown keys stay, numbers are finite."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=False)


class Evidence(Stored):
    """A place that a line rests on: a run, and in it an agent's step or an interaction, down to the transcript line."""

    run_id: str
    supports: bool | None = None  # None: the run's outcome is unknown, or partial
    agent_id: str | None = None
    step_index: int | None = None
    interaction_id: str | None = None
    session_id: str | None = None
    message_uuid: str | None = None  # with session_id: the stored lines, by `bank.raw`
    tool_call_id: str | None = None
    note: str = ""


class Support(Stored):
    """How the runs stand to a line. A run that was partial, or of unknown outcome, is neither for nor against."""

    runs: int = 0  # runs that were looked at and whose outcome is known
    runs_for: int = 0  # for advice to do: present and success; for advice to avoid: present and failure
    runs_against: int = 0
    runs_with: int = 0  # present, outcome known
    mean_with: float | None = (
        None  # mean outcome score (0 failure, 0.5 partial, 1 success) of runs where present
    )
    mean_without: float | None = None


class Decision(Stored):
    """What a reviewer decided about a line, when and why; kept for good."""

    action: Action
    reviewer: str
    at: datetime
    reason: str
    before: str | None = None
    after: str | None = None
    into: str | None = None  # id of the line that this one was merged into


class Line(Stored):
    """One piece of advice. `standing`: established (data say so), tentative (few data), contested, claimed (told).

    Example:
        >>> line = sb.learning.Line(text="Run the tests.", direction="do")
        >>> line.standing, line.support.runs_for, line.is_active
        ('claimed', 0, True)
    """

    id: str = ""
    text: str
    direction: Literal["do", "avoid"] = "do"
    practice: str | None = None  # name of the pattern whose effect this states
    standing: Standing = "claimed"
    confidence: Share = 0.0
    basis: str = ""  # what the confidence is the probability of
    support: Support = Support()
    evidence: list[Evidence] = []
    variants: list[str] = []  # texts that said the same, as they were written
    contradictions: list[str] = []
    decisions: list[Decision] = []

    @property
    def is_active(self) -> bool:
        """Whether the line is to be told to agents: not rejected, and not merged into another."""
        return not self.decisions or self.decisions[-1].action not in ("reject", "merge")

    @property
    def reviewed(self) -> bool:
        """Whether a person has decided about it."""
        return bool(self.decisions)


def _as_line(value: Any) -> Any:
    return {"text": value, "id": line_id(value)} if isinstance(value, str) else value


PlaybookLine = Annotated[Line, BeforeValidator(_as_line)]


def line_id(text: str, *, practice: str | None = None, direction: str = "do") -> str:
    """Id of a line: of its practice and direction where it has one, else of its first text."""
    return "line-" + digest(f"{direction}\n{practice}" if practice else f"text\n{text}")


def counted(number: int, thing: str = "run") -> str:
    """A number of things in words: "1 run", "3 runs"."""
    return f"{number} {thing if number == 1 else thing + 's'}"


class Refinement(Stored):
    """One change of a playbook: the version that it made, when, by what, and what changed."""

    version: str
    at: datetime
    reason: str
    changes: list[str] = []


class Use(Stored):
    """One use of a playbook in a run, told afterwards."""

    run_id: str
    success: bool | None
    at: datetime
    note: str = ""


class Evolution(Stored):
    """How a playbook came to be and fared. Counts are of `uses`: runs that had the playbook, not runs it came from."""

    version: str = "1.0.0"
    created_from: list[str] = []  # team trajectory ids
    refinements: list[Refinement] = []
    uses: list[Use] = []
    success_count: int = 0
    failure_count: int = 0
    last_used: datetime | None = None


class SizeRange(Stored):
    """Smallest and largest team size."""

    min: Annotated[int, Field(ge=0)]
    max: Annotated[int, Field(ge=0)]


class TeamContext(Stored):
    """Where a role playbook applies. Empty lists: anywhere."""

    topologies: list[Topology] = []
    team_size_range: SizeRange | None = None
    task_types: list[str] = []
    domains: list[str] = []


class RoleInteractionGuidance(Stored):
    """How to work with another role."""

    with_role: str
    interaction_type: InteractionType
    guidance: PlaybookLine
    examples: list[str] = []
    anti_patterns: list[PlaybookLine] = []


class DecisionFramework(Stored):
    """What to do when something comes up."""

    name: str
    when: str
    guidance: PlaybookLine


class Guidance(Stored):
    """What a role playbook tells an agent of that role."""

    responsibilities: list[PlaybookLine] = []
    interaction_guidance: list[RoleInteractionGuidance] = []
    decision_frameworks: list[DecisionFramework] = []
    anti_patterns: list[PlaybookLine] = []


class Playbook(Stored):
    """What all playbooks share. `confidence` is the mean confidence of the active lines, 0 without any."""

    id: str
    name: str
    evolution: Evolution = Evolution()
    confidence: Share = 0.0
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def lines(self) -> Iterator[tuple[str, Line]]:
        """Each line with the section it stands in."""
        raise NotImplementedError

    def line(self, identifier: str) -> Line | None:
        """The line of that id, or None."""
        return next((line for _, line in self.lines() if line.id == identifier), None)


class RolePlaybook(Playbook):
    """How to be effective in a role of a team.

    Example:
        >>> playbook = sb.learning.RolePlaybook(
        ...     id="role-tester", name="tester", role="tester", guidance={"responsibilities": ["Run the tests."]}
        ... )
        >>> [(section, line.text) for section, line in playbook.lines()]
        [('responsibilities', 'Run the tests.')]
    """

    role: str
    team_context: TeamContext = TeamContext()
    guidance: Guidance = Guidance()

    def lines(self) -> Iterator[tuple[str, Line]]:
        """Each line with the section it stands in."""
        yield from (("responsibilities", line) for line in self.guidance.responsibilities)
        for item in self.guidance.interaction_guidance:
            section = f"with {item.with_role}: {item.interaction_type}"
            yield section, item.guidance
            yield from ((f"{section}: avoid", line) for line in item.anti_patterns)
        yield from ((f"when {item.when}", item.guidance) for item in self.guidance.decision_frameworks)
        yield from (("anti_patterns", line) for line in self.guidance.anti_patterns)


class RoleSlot(Stored):
    """How many agents of a role a team has: fewest, most and typical among the successful runs."""

    role: str
    min: int = 1
    max: int = 1
    typical: int = 1


class TeamComposition(Stored):
    """Who is in the team."""

    topology: Topology | None = None
    roles: list[RoleSlot] = []
    team_size: SizeRange | None = None
    lines: list[PlaybookLine] = []


class TeamCoordination(Stored):
    """How the team works together."""

    patterns: list[PlaybookLine] = []
    anti_patterns: list[PlaybookLine] = []
    enforcement: Enforcement | None = None


class TeamFit(Stored):
    """Where a team playbook applies, and how runs of that shape ended."""

    task_types: list[str] = []
    domains: list[str] = []
    complexities: list[Complexity] = []
    runs: int = 0
    successes: float = 0  # a partial success is half of one
    median_tokens: int | None = None  # of runs that say


class TeamPlaybook(Playbook):
    """How to compose and coordinate a team. (The sources name it and leave its fields to us.)

    Example:
        >>> playbook = sb.learning.TeamPlaybook(id="team-flat", name="flat", coordination={"patterns": ["Share results."]})
        >>> [(section, line.text) for section, line in playbook.lines()]
        [('patterns', 'Share results.')]
    """

    applicability: TeamFit = TeamFit()
    composition: TeamComposition = TeamComposition()
    coordination: TeamCoordination = TeamCoordination()
    success_indicators: list[PlaybookLine] = []

    def lines(self) -> Iterator[tuple[str, Line]]:
        """Each line with the section it stands in."""
        yield from (("composition", line) for line in self.composition.lines)
        yield from (("patterns", line) for line in self.coordination.patterns)
        yield from (("anti_patterns", line) for line in self.coordination.anti_patterns)
        yield from (("success_indicators", line) for line in self.success_indicators)


class TaskPlaybook(Playbook):
    """How to solve a kind of task alone; `domain` "team-analysis" holds what was learned about analysing.

    Example:
        >>> playbook = sb.learning.TaskPlaybook(id="task-web", name="web", domain="web", strategy=["Read before you edit."])
        >>> [(section, line.text) for section, line in playbook.lines()]
        [('strategy', 'Read before you edit.')]
    """

    domain: str | None = None
    task_types: list[str] = []
    strategy: list[PlaybookLine] = []
    anti_patterns: list[PlaybookLine] = []

    def lines(self) -> Iterator[tuple[str, Line]]:
        """Each line with the section it stands in."""
        yield from (("strategy", line) for line in self.strategy)
        yield from (("anti_patterns", line) for line in self.anti_patterns)


class StrategyCondition(Stored):
    """When a meta-strategy applies. Empty lists: always."""

    task_characteristics: list[str] = []
    resource_constraints: list[str] = []
    domains: list[str] = []


class StrategyAdjustment(Stored):
    """What it changes in a recommendation. `topology_bias` is added to a topology's estimated success, -1 to 1."""

    topology_bias: dict[str, float] = {}
    team_size_adjustment: Literal["increase", "decrease", "maintain"] = "maintain"
    role_adjustments: list[str] = []
    coordination_hints: list[str] = []
    enforcement_bias: Enforcement | None = None


class TeamMetaStrategy(Stored):
    """What was learned about forming teams.

    Example:
        >>> strategy = sb.learning.TeamMetaStrategy(id="s", name="s", adjustment={"topology_bias": {"flat": -0.1}})
        >>> strategy.adjustment.topology_bias, strategy.adjustment.team_size_adjustment
        ({'flat': -0.1}, 'maintain')
    """

    id: str
    name: str
    condition: StrategyCondition = StrategyCondition()
    adjustment: StrategyAdjustment = StrategyAdjustment()
    application_count: int = 0  # runs that it was drawn from, or was applied in since
    success_rate: Share = 0.0  # posterior mean over these
    confidence: Share = 0.0
    evidence: list[Evidence] = []
    created_at: datetime | None = None
    updated_at: datetime | None = None


class PlaybookUpdate(Stored):
    """output/updates/*.json of an extraction: lines to add to a playbook that exists."""

    playbook_id: str
    reason: str
    add_responsibilities: list[PlaybookLine] = []
    add_anti_patterns: list[PlaybookLine] = []
    add_patterns: list[PlaybookLine] = []
