"""The run file: a team's run as one JSON (or YAML) document, members with their steps and the tags that link them.

Every key may be written in snake_case or in the camelCase of the source document (``agentId``, ``memberTrajectories``,
a tag in ``step.metadata``). The models here are the format; `run-file.schema.json` is made from them by
``python -m sessionbank.team.run_file``. How tags become edges is told in `run_edges`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AliasChoices,
    AliasGenerator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)  # fmt: skip
from pydantic.alias_generators import to_camel

from sessionbank.team.documents import place, read_document, refuse, shape_errors

Count = Annotated[int, Field(ge=0, strict=True)]
Name = Annotated[str, Field(min_length=1)]
SCHEMA_FILE = Path(__file__).with_name("run-file.schema.json")


def _names(*names: str) -> Any:
    return AliasChoices(*names)


def _either(name: str) -> str | AliasChoices:
    return name if to_camel(name) == name else AliasChoices(name, to_camel(name))


class _Part(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=AliasGenerator(validation_alias=_either)
    )


class Tag(_Part):
    """That a step has to do with another agent. Source and target carry the same interaction_id."""

    interaction_id: Name
    interaction_type: Literal["delegation", "result_return", "message", "signal", "spawn", "escalation"]
    counterpart: Name = Field(
        validation_alias=_names("counterpart", "counterpart_agent_id", "counterpartAgentId"),
        description="agent_id of the other agent",
    )
    step_role: Literal["source", "target"] = Field(
        description="source: the step sends it; target: the step receives it"
    )
    channel: str | None = Field(None, description="of a signal")
    signal: str | None = Field(None, description="name of the signal")
    content: str | None = Field(None, description="what was said; else what the source step did")
    ok: bool | None = Field(None, description="whether it got through")


class Step(_Part):
    """One thought, action and observation of a member."""

    step: Count | None = Field(None, description="number, growing; else the place in the list, from 0")
    thought: str | None = None
    action_name: str = Field(
        "respond",
        validation_alias=_names("action_name", "actionName", "action"),
        description="tool, or respond",
    )
    action_input: Any = Field(None, description="arguments: a text or any JSON value")
    observation: str | None = None
    status: Literal["ok", "error", "rejected", "interrupted", "no_result"] | None = Field(
        None, description="of the action; null: not a call"
    )
    started_at: AwareDatetime | None = Field(
        None, validation_alias=_names("started_at", "startedAt", "timestamp"), description="with a zone"
    )
    ended_at: AwareDatetime | None = Field(None, description="with a zone")
    duration_ms: Count | None = Field(None, description="milliseconds")
    tokens: Count | None = Field(
        None, description="all classes of the reply, on its first step; 0 on its other steps"
    )
    tool_call_id: str | None = None
    message_uuid: str | None = None
    interactions: list[Tag] = Field(default_factory=list)
    metadata: dict[str, Any] = Field(
        default_factory=dict, description="anything; a tag may stand here as well"
    )

    @model_validator(mode="before")
    @classmethod
    def _tag_in_metadata(cls, value: Any) -> Any:
        """A step's metadata that is a tag becomes one, as the source document has it."""
        held = value.get("metadata") if isinstance(value, dict) else None
        if not isinstance(held, dict) or not ({"interaction_id", "interactionId"} & held.keys()):
            return value
        tag = {k: v for k, v in held.items() if k in _TAG_KEYS}
        listed = value.get("interactions") or []
        rest = {k: v for k, v in held.items() if k not in _TAG_KEYS}
        return {
            **value,
            "interactions": [*listed, tag] if isinstance(listed, list) else listed,
            "metadata": rest,
        }


_TAG_KEYS = frozenset(
    {*Tag.model_fields, *map(to_camel, Tag.model_fields), "counterpart_agent_id", "counterpartAgentId"}
)


class RunMember(_Part):
    """One agent of the team with its steps."""

    agent_id: Name
    role: Name
    agent_type: str | None = None
    model: str | None = None
    objective: str | None = Field(None, description="what it was asked")
    outcome: str | None = Field(None, description="how its work ended")
    is_lead: bool = False
    steps: list[Step] = Field([], validation_alias=_names("steps", "trajectory"), description="in order")

    @field_validator("steps", mode="before")
    @classmethod
    def _of_trajectory(cls, value: Any) -> Any:
        """A trajectory object is read for its steps."""
        return value["steps"] if isinstance(value, dict) and "steps" in value else value


class ExpectedPattern(_Part):
    """An edge that is meant to be; what is left out may be anything."""

    from_role: Name = Field(validation_alias=_names("from_role", "fromRole", "from"))
    to_role: Name = Field(validation_alias=_names("to_role", "toRole", "to"))
    type: Literal["delegation", "result_return", "message", "signal", "spawn", "escalation"] | None = None
    channel: str | None = None
    signal: str | None = None
    description: str | None = None


class RunOutcome(_Part):
    """How the run ended."""

    label: Literal["success", "partial", "failure", "unknown"]
    reason: str | None = None
    score: float | None = Field(None, ge=0, le=1)
    members: dict[str, str] = Field({}, description="agent_id -> how that agent's work ended")

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        """A bare label, or ``success: true``, says the same."""
        if isinstance(value, str):
            return {"label": value}
        if isinstance(value, dict) and isinstance(value.get("success"), bool) and "label" not in value:
            return {
                "label": "success" if value["success"] else "failure",
                **{k: v for k, v in value.items() if k != "success"},
            }
        return value


class RunFile(_Part):
    """A team's run: what it was for, who took part, what each did, how it ended."""

    objective: Name
    id: str | None = None
    domain: str | None = None
    complexity: Literal["simple", "moderate", "complex", "epic"] | None = None
    team: str | None = Field(None, validation_alias=_names("team", "teamName", "team_name"))
    template: str | None = Field(
        None,
        validation_alias=_names("template", "templateName", "template_name"),
        description="name of the template",
    )
    topology: Literal["hierarchical", "flat", "wave", "custom"] | None = Field(
        None, validation_alias=_names("topology", "topologyType", "topology_type")
    )
    enforcement: Literal["strict", "permissive", "audit"] | None = None
    members: list[RunMember] = Field(
        min_length=1, validation_alias=_names("members", "memberTrajectories", "member_trajectories")
    )
    expected_patterns: list[ExpectedPattern] | None = Field(
        None, description="null: nothing is declared; []: nothing is expected"
    )
    outcome: RunOutcome | None = None
    cost_usd: float | None = Field(None, ge=0)
    metadata: dict[str, Any] = {}


def read_run_file(source: str | Path | Mapping[str, Any]) -> RunFile:
    """The run file as models.

    Raises `FormatError` with every error and its place: shapes, unknown keys, times without a zone, agents and step
    numbers that occur twice. Raises `NotFoundError` where there is no such file.
    """
    value, name = read_document(source, "team run file")
    errors = list(_twice(value))
    try:
        run = RunFile.model_validate(value)
    except ValidationError as error:
        refuse(name, [*shape_errors(error), *errors])
        raise
    refuse(name, errors)
    return run


def _twice(value: Any) -> Iterator[tuple[str, str]]:
    """What no single field shows: an agent that occurs twice, step numbers that do not grow. Works on any shape."""
    if not isinstance(value, Mapping):
        return
    key = next(
        (
            k
            for k in ("members", "memberTrajectories", "member_trajectories")
            if isinstance(value.get(k), list)
        ),
        None,
    )
    seen: dict[str, int] = {}
    for at, member in enumerate(value[key] if key else ()):
        if not isinstance(member, Mapping):
            continue
        agent = member.get("agent_id", member.get("agentId"))
        if isinstance(agent, str):
            if agent in seen:
                yield place((key, at, "agent_id")), f"{agent[:80]!r} is {key}[{seen[agent]}] already"
            seen.setdefault(agent, at)
        steps = member.get("steps", member.get("trajectory"))
        steps = steps.get("steps") if isinstance(steps, Mapping) else steps
        last = -1
        for number, step in enumerate(steps if isinstance(steps, list) else ()):
            given = step.get("step") if isinstance(step, Mapping) else None
            if isinstance(given, int) and not isinstance(given, bool):
                if given <= last:
                    yield place((key, at, "steps", number, "step")), f"{given} does not follow {last}"
                last = given


def schema_text() -> str:
    """The JSON Schema (draft 2020-12) of the format, snake_case names, as text."""
    schema = RunFile.model_json_schema()
    named = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "sessionbank:team-run-file:1",
        **schema,
    }
    named["title"] = "sessionbank team run file"
    return json.dumps(named, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
