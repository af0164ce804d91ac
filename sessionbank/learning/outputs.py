"""What an analyst writes into ``output/``: the six kinds of file as pydantic models, and their JSON Schemas.

Fields and enumerations are those of the team pipeline's design, in snake_case. Keys that a model does not name are kept
with it. Reading files and checking what they refer to is done in `readback`; nothing here touches a disk.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

InteractionType = Literal["delegation", "result_return", "message", "signal", "spawn", "escalation"]
Topology = Literal["hierarchical", "flat", "wave", "custom"]
Enforcement = Literal["strict", "permissive", "audit"]
Complexity = Literal["simple", "moderate", "complex", "epic"]
Quality = Literal["excellent", "good", "acceptable", "poor"]
RoleAssessment = Literal["essential", "helpful", "neutral", "redundant"]
TeamSizeAssessment = Literal["too-small", "right-sized", "too-large"]
TopologyAssessment = Literal["effective", "neutral", "hindering"]
EnforcementAssessment = Literal["too-strict", "appropriate", "too-loose"]

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Signed = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Place = Annotated[int, Field(ge=0, strict=True)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=10_000)]


class Output(BaseModel):
    """Base of all outputs: unknown keys stay, numbers are finite."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=False)


class StepAttribution(Output):
    """What one step did for the outcome, -1 to 1."""

    step_index: Place
    attribution: Signed
    reasoning: str


class AgentCredit(Output):
    """One agent's part in the outcome, 0 to 1."""

    agent_id: Name
    role: Name
    contribution_score: Share
    assessment: str
    step_attributions: list[StepAttribution] = []
    role_assessment: RoleAssessment


class AgentCredits(Output):
    """output/agent-credits.json."""

    credits: list[AgentCredit]


class InteractionCredit(Output):
    """What one interaction was worth, -1 to 1."""

    interaction_id: Name
    type: InteractionType
    from_role: Name
    to_role: Name
    value: Literal["helpful", "neutral", "harmful"]
    credit_score: Signed
    reasoning: str
    necessity: Literal["critical", "useful", "unnecessary", "harmful"]
    content_quality: Share


class InteractionCredits(Output):
    """output/interaction-credits.json."""

    credits: list[InteractionCredit]


class ObservedPattern(Output):
    """A way of working together that was seen, with the interactions that show it."""

    name: Name
    description: str
    roles: list[Name] = []
    interaction_ids: list[Name] = []
    correlated_with_success: bool


class ObservedAntiPattern(Output):
    """A way of working together that costs more than it gives, with the interactions that show it."""

    name: Name
    description: str
    roles: list[Name] = []
    interaction_ids: list[Name] = []
    impact: str
    suggested_fix: str


class PatternComparison(Output):
    """An expected pattern against what happened."""

    expected: str
    observed: Literal["followed", "deviated", "absent"]
    impact: str


class EmergentCoordination(Output):
    """Working together that no template declared."""

    description: str
    was_helpful: bool
    should_be_formalized: bool


class CoordinationAssessment(Output):
    """output/coordination-assessment.json."""

    quality: Quality
    observed_patterns: list[ObservedPattern] = []
    observed_anti_patterns: list[ObservedAntiPattern] = []
    pattern_comparison: list[PatternComparison] = []
    emergent_coordination: list[EmergentCoordination] = []
    narrative: str


class InteractionAssessment(Output):
    """How a role worked with another."""

    with_role: Name
    interaction_type: InteractionType
    quality: Literal["effective", "adequate", "poor"]
    observation: str
    recommendation: str


class StepEvidence(Output):
    """A step of the agent that a lesson rests on."""

    step_index: Place
    description: str


class RoleLesson(Output):
    """output/role-lessons/{role}.json: one agent's lessons for its role."""

    role: Name
    agent_id: Name
    strengths: list[str] = []
    improvements: list[str] = []
    role_assessment: RoleAssessment
    interaction_assessment: list[InteractionAssessment] = []
    evidence: list[StepEvidence] = []


class CompositionLesson(Output):
    """A lesson about who is in the team."""

    category: Literal["role-necessity", "team-size", "topology", "model-selection"]
    lesson: str
    evidence: str
    confidence: Share


class CoordinationLesson(Output):
    """A lesson about how the team works together."""

    category: Literal["delegation", "communication", "synchronization", "escalation"]
    lesson: str
    evidence: str
    confidence: Share


class TeamLessons(Output):
    """output/team-lessons.json."""

    composition_lessons: list[CompositionLesson] = []
    coordination_lessons: list[CoordinationLesson] = []
    recommendations: list[str] = []


class FormationAssessment(Output):
    """Whether the team was formed well."""

    was_effective: bool
    reasoning: str


class Composition(Output):
    """Whether the right agents were in it. `role_utilization`: a role's share of the team's steps, 0 to 1."""

    role_utilization: dict[str, Share] = {}
    missing_roles: list[str] = []
    redundant_roles: list[str] = []
    team_size_assessment: TeamSizeAssessment


class Coordination(Output):
    """Whether the team was led in the right way."""

    topology_assessment: TopologyAssessment
    enforcement_assessment: EnforcementAssessment
    emergent_patterns: list[str] = []


class MetaObservations(Output):
    """output/meta-observations.json."""

    formation: FormationAssessment
    composition: Composition
    coordination: Coordination
    formation_suggestions: list[str] = []
    coordination_suggestions: list[str] = []


# file name in output/ -> model; role lessons are a folder of one file a role or agent
FILES: dict[str, type[Output]] = {
    "agent-credits.json": AgentCredits,
    "interaction-credits.json": InteractionCredits,
    "coordination-assessment.json": CoordinationAssessment,
    "team-lessons.json": TeamLessons,
    "meta-observations.json": MetaObservations,
}
ROLE_LESSONS = "role-lessons"


def json_schemas() -> dict[str, dict[str, Any]]:
    """JSON Schema of each output file, by the name under which a workspace keeps it (``schemas/{name}``)."""
    schemas = {
        name.removesuffix(".json") + ".schema.json": m.model_json_schema() for name, m in FILES.items()
    }
    return {**schemas, "role-lesson.schema.json": RoleLesson.model_json_schema()}
