"""Configuration of `Atlas`, checked: the defaults of the sources, all errors at once. Nothing is done here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sessionbank.errors import QueryError

if TYPE_CHECKING:
    from sessionbank.team.compress import CompressionConfig
    from sessionbank.team.score import ScoreConfig

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SessionBankSettings(_Settings):
    """How sessions are taken in. A bank that is handed to `Atlas` is enabled."""

    enabled: bool = False
    branch: str = "entire/checkpoints/v1"
    state_dir: str | None = None
    outcome_strategy: str = "summary"
    auto_ingest: bool = False
    max_ingest_batch: Count = 20
    min_trajectories: Count = 5  # new trajectories that a batch of task playbooks needs


class CompressionSettings(_Settings):
    """How a team's run is compressed, and what counts as critical."""

    max_tokens_per_agent: Count = 5000
    preserve_interaction_boundaries: bool = True
    fold_threshold: Annotated[int, Field(ge=0)] = 5
    strip_patterns: tuple[str, ...] | None = None  # None: those that the compression has
    max_critical_ratio: Share = 0.25
    critical_step_threshold: Share = 0.3
    critical_interaction_threshold: Share = 0.3

    def compression(self) -> CompressionConfig:
        """As the team room takes it."""
        from sessionbank.team.compress import CompressionConfig

        given: dict[str, Any] = {} if self.strip_patterns is None else {"strip_patterns": self.strip_patterns}
        return CompressionConfig(
            max_tokens_per_agent=self.max_tokens_per_agent, fold_threshold=self.fold_threshold,
            preserve_interaction_boundaries=self.preserve_interaction_boundaries, **given,
        )  # fmt: skip

    def scoring(self) -> ScoreConfig:
        """As the team room takes it."""
        from sessionbank.team.score import ScoreConfig

        return ScoreConfig(
            max_critical_ratio=self.max_critical_ratio, critical_step_threshold=self.critical_step_threshold,
            critical_interaction_threshold=self.critical_interaction_threshold,
        )  # fmt: skip


class TeamLearningSettings(_Settings):
    """How teams are learned from. `enabled`: `ingest_sessions` learns from the teams in the sessions too."""

    enabled: bool = False
    compression: CompressionSettings = CompressionSettings()
    min_team_trajectories: Count = 5
    deduplication_threshold: Share = 0.85
    max_team_experiences: Count = 200
    max_team_playbooks: Count = 50
    max_role_playbooks: Count = 100
    analysis_timeout: Seconds = 300
    extraction_timeout: Seconds = 600
    keep_workspaces: bool = False
    fill_gaps: bool = True  # the rule analyst fills what another left out or wrote wrongly, marked


class AtlasConfig(_Settings):
    """All of it.

    Example:
        >>> settings = sb.learning.AtlasConfig(team_learning={"enabled": True, "min_team_trajectories": 2})
        >>> settings.team_learning.deduplication_threshold, settings.limits()["team-playbooks"]
        (0.85, 50)
    """

    session_bank: SessionBankSettings = SessionBankSettings()
    team_learning: TeamLearningSettings = TeamLearningSettings()

    def limits(self) -> dict[str, int | None]:
        """How many things memory keeps of each kind."""
        team = self.team_learning
        return {
            "team-experiences": team.max_team_experiences, "team-playbooks": team.max_team_playbooks,
            "role-playbooks": team.max_role_playbooks,
        }  # fmt: skip


def read_config(value: AtlasConfig | Mapping[str, Any] | None) -> AtlasConfig:
    """A configuration from a mapping. Raises `QueryError` with every error and its place."""
    if isinstance(value, AtlasConfig):
        return value
    try:
        return AtlasConfig.model_validate(dict(value or {}))
    except ValidationError as error:
        told = "; ".join(
            f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_url=False)
        )
        raise QueryError(f"the configuration has {error.error_count()} errors: {told}") from None
