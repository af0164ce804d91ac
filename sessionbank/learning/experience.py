"""What memory keeps of runs: experiences, observations about forming teams, knowledge notes, the journal of batches.

A `RunRow` is what distillation counts of a run: its context, its outcome, and the practices that were seen in it, each
with places. Batches keep their rows for good, so an experience may be let go of without a count changing. Models only.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from sessionbank.learning import outputs
from sessionbank.learning.filenames import digest
from sessionbank.learning.outputs import Complexity, Enforcement, Quality, Share, Topology
from sessionbank.learning.playbooks import Evidence, Stored, StrategyAdjustment, StrategyCondition

SCORES = {"success": 1.0, "partial": 0.5, "failure": 0.0}  # unknown has none
Label = Literal["success", "partial", "failure", "unknown"]


class TeamOutcome(Stored):
    """How a team's run ended. (The sources name it and leave its fields to us.)"""

    label: Label = "unknown"
    success: bool | None = None  # None: unknown; a partial success is no success
    score: float | None = None  # 0 failure, 0.5 partial, 1 success
    quality: Quality | None = None
    reason: str | None = None

    @classmethod
    def of(
        cls, label: str | None, *, reason: str | None = None, quality: Quality | None = None
    ) -> TeamOutcome:
        """The outcome of that label; None, or a word that is no label, is unknown."""
        known: Any = label if label in SCORES else "unknown"
        success = None if known == "unknown" else known == "success"
        return cls(label=known, success=success, score=SCORES.get(known), quality=quality, reason=reason)


class AnalysisMetrics(Stored):
    """What the analysis itself cost; missing where nobody counted."""

    analysis_tokens: int | None = None
    analysis_time_ms: int | None = None
    analysis_tool_calls: int | None = None


class TeamAnalysisResult(Stored):
    """What an analyst said of a team's run; a part is missing where no analyst gave it."""

    team_trajectory_id: str
    agent_credits: list[outputs.AgentCredit] = Field(default_factory=list)
    interaction_credits: list[outputs.InteractionCredit] = Field(default_factory=list)
    coordination_assessment: outputs.CoordinationAssessment | None = None
    role_lessons: list[outputs.RoleLesson] = Field(default_factory=list)
    team_lessons: outputs.TeamLessons | None = None
    meta_observation: outputs.MetaObservations | None = None
    analysis_metrics: AnalysisMetrics = AnalysisMetrics()


class MemberRecord(Stored):
    """A member as the experience keeps it."""

    agent_id: str
    role: str
    agent_type: str | None = None
    model: str | None = None
    session_id: str | None = None
    steps: int | None = None
    tokens: int | None = None
    outcome: str | None = None


class TeamRecord(Stored):
    """A team trajectory without its steps: these stay where they are stored, and `places` lead back to them."""

    id: str
    objective: str | None = None
    domain: str | None = None
    complexity: Complexity | None = None
    team_name: str | None = None
    template_name: str | None = None
    topology_type: Topology | None = None
    enforcement: Enforcement | None = None
    members: list[MemberRecord] = Field(default_factory=list)
    session_ids: list[str] = Field(default_factory=list)
    structural_metrics: dict[str, Any] = Field(default_factory=dict)


class TeamExperience(Stored):
    """One run of a team, as analysed. `id` is the team trajectory's."""

    id: str
    revision: str  # of what distillation counts: another analysis of the run has another
    team_trajectory: TeamRecord
    outcome: TeamOutcome
    analysis: TeamAnalysisResult
    score: float | None = None
    places: dict[str, Evidence] = Field(
        default_factory=dict
    )  # "interaction {id}" or "step {agent} {index}" -> place in the transcript
    assessed: dict[str, list[str]] = Field(
        default_factory=dict
    )  # "{agent} with {role}: {type}" of an interaction assessment -> interactions that it is about
    detected_practices: list[dict[str, Any]] = Field(
        default_factory=list
    )  # as in the workspace's detected-practices.json
    compression_stats: dict[str, Any] = Field(default_factory=dict)
    written_by: dict[str, str] = Field(default_factory=dict)  # output file -> analyst
    problems: list[str] = Field(default_factory=list)  # what was wrong with the analyst's files
    timestamp: datetime | None = None  # of the run
    stored_at: datetime | None = None


class ObservedFormation(outputs.FormationAssessment):
    """How the team was formed, and whether that was good."""

    playbook_used: str | None = None
    formation_method: Literal["template", "playbook", "manual", "adaptive"] | None = None


class ObservedOutcome(Stored):
    """How it ended. The estimates are missing where nothing measures them."""

    success: bool | None = None
    quality: Quality | None = None
    speedup_estimate: float | None = None  # work time of all members over wall time
    cost_efficiency: float | None = None  # outcome score per 100,000 tokens


class FormationLessons(Stored):
    """Suggestions for the next team."""

    formation_suggestions: list[str] = Field(default_factory=list)
    coordination_suggestions: list[str] = Field(default_factory=list)
    role_suggestions: list[str] = Field(default_factory=list)


class TeamMetaObservation(Stored):
    """What a run says about forming teams; `id` is the team trajectory's."""

    id: str
    team_trajectory_id: str
    formation: ObservedFormation
    composition: outputs.Composition
    coordination: outputs.Coordination
    outcome: ObservedOutcome
    lessons: FormationLessons
    timestamp: datetime | None = None


class Practice(Stored):
    """Something that was done in a run, or was so: a pattern, an anti-pattern, an expected pattern, a composition."""

    name: str
    source: Literal["pattern", "anti_pattern", "expected", "composition", "behaviour"]
    roles: list[str] = Field(default_factory=list)
    says: str = ""  # the description as the analyst wrote it
    fix: str = ""
    evidence: list[Evidence] = Field(default_factory=list)


class Mention(Stored):
    """A lesson in an analyst's own words."""

    direction: Literal["do", "avoid"]
    text: str
    role: str | None = None
    source: str = "role lesson"
    evidence: list[Evidence] = Field(default_factory=list)


class Teamwork(Stored):
    """How one role worked with another in a run."""

    role: str
    with_role: str
    interaction_type: outputs.InteractionType
    quality: Literal["effective", "adequate", "poor"]
    recommendation: str
    example: str = ""
    evidence: list[Evidence] = Field(default_factory=list)


class RunRow(Stored):
    """What distillation counts of one run."""

    run_id: str
    revision: str
    objective: str = ""
    domain: str | None = None
    complexity: Complexity | None = None
    topology: Topology | None = None
    enforcement: Enforcement | None = None
    roles: dict[str, int] = Field(default_factory=dict)  # role -> how many members have it
    team_size: int | None = None
    tokens: int | None = None
    outcome: Label = "unknown"
    score: float | None = None
    weight: Share = 1.0  # of the run's evidence: an agent's share of the committed lines, where that is known
    practices: list[Practice] = Field(default_factory=list)
    mentions: list[Mention] = Field(default_factory=list)
    teamwork: list[Teamwork] = Field(default_factory=list)
    timestamp: datetime | None = None


class Batch(Stored):
    """A distillation: open until everything that it makes is stored. Its rows count once it is done."""

    id: str
    kind: Literal["team", "task"]
    number: int
    status: Literal["open", "done"]
    rows: list[RunRow]
    started_at: datetime
    finished_at: datetime | None = None
    analyst: str = "rule"
    stored: dict[str, list[str]] = Field(
        default_factory=dict
    )  # kind of memory -> ids that this batch made or changed
    undecided: list[dict[str, Any]] = Field(
        default_factory=list
    )  # practices that the data do not decide, with their figures


class TaskExperience(Stored):
    """One trajectory of one agent, as analysed. `id` is the trajectory's."""

    id: str
    revision: str
    task: str
    domain: str | None = None
    agent: str | None = None
    session_id: str | None = None
    outcome: Label = "unknown"
    outcome_confidence: Share | None = None
    score: float | None = None
    weight: Share = 1.0
    weight_reason: str = ""
    steps: int = 0
    tokens: int | None = None
    cost_usd: float | None = None
    row: RunRow
    knowledge: list[str] = Field(default_factory=list)  # ids of knowledge notes that it supports
    timestamp: datetime | None = None
    stored_at: datetime | None = None


class KnowledgeNote(Stored):
    """Something that summaries say of a repository, its code, or work in it, with the sessions that say it."""

    id: str
    kind: Literal["repo", "code", "workflow", "friction", "open_item"]
    text: str
    path: str | None = None
    line: int | None = None
    end_line: int | None = None
    variants: list[str] = Field(default_factory=list)
    evidence: list[Evidence] = Field(default_factory=list)  # one a session
    support: int = 0  # sessions that say it
    weight: float = 0.0  # sum of their weights
    created_at: datetime | None = None
    updated_at: datetime | None = None


class MetaObservation(Stored):
    """What one trajectory says about how tasks are routed: which agent, which model, how it ended, what it cost."""

    id: str
    trajectory_id: str
    domain: str | None = None
    agent: str | None = None
    models: list[str] = Field(default_factory=list)
    outcome: Label = "unknown"
    agent_percentage: float | None = None
    tokens: int | None = None
    timestamp: datetime | None = None


class MetaStrategy(Stored):
    """What was learned about routing tasks: the share of successes of an agent in a domain."""

    id: str
    name: str
    condition: StrategyCondition = StrategyCondition()
    adjustment: StrategyAdjustment = StrategyAdjustment()
    application_count: int = 0
    success_rate: Share = 0.0
    confidence: Share = 0.0
    created_at: datetime | None = None
    updated_at: datetime | None = None


def text_of(kind: str, value: dict[str, Any]) -> str:
    """What a stored thing is found by: its task, objective, name, task types or text."""
    if kind == "team-experiences":
        return str(value["team_trajectory"].get("objective") or "")
    if kind in ("experiences", "knowledge"):
        return str(value.get("task") or value.get("text") or "")
    if kind == "team-playbooks":
        return " ".join([value["name"], *value["applicability"]["task_types"]])
    if kind == "role-playbooks":
        return " ".join([value["name"], value["role"], *value["team_context"]["task_types"]])
    if kind == "playbooks":
        return " ".join([value["name"], *value["task_types"]])
    return ""


def revision_of(row: RunRow) -> str:
    """What a row says, as a short hash: two analyses that count alike have the same."""
    data: BaseModel = row.model_copy(update={"revision": ""})
    return digest(data.model_dump_json(), 16)
