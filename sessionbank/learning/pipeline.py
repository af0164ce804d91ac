"""`Atlas`: one front for learning, with a checked configuration. Each method is a few calls of this room."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from sessionbank.errors import QueryError, SessionBankError
from sessionbank.learning import guidance, recommend
from sessionbank.learning.batches import BatchResult, pending, run_batch
from sessionbank.learning.config import AtlasConfig, read_config
from sessionbank.learning.individual import ProcessResult, process_trajectory
from sessionbank.learning.memory import Memory
from sessionbank.learning.team_learning import TeamProcessResult, process_team, team_workspace

if TYPE_CHECKING:
    from sessionbank.bank import SessionBank
    from sessionbank.learning.analyst import Analyst
    from sessionbank.learning.extraction import Extractor
    from sessionbank.learning.workspace import Workspace
    from sessionbank.records import Session
    from sessionbank.team.model import Team
    from sessionbank.trajectory.model import Trajectory

P = ParamSpec("P")
T = TypeVar("T")
CONSUMER = "atlas"  # the name under which ingested sessions stand in the bank's processing log


@dataclass(frozen=True)
class IngestResult:
    """What `ingest_sessions` did. `discovered` counts unprocessed sessions before the limit.

    Example:
        >>> taken = sb.Atlas(bank, "memory").ingest_sessions(limit=2)
        >>> len(taken.ingested), len(taken.failed), len(taken.teams)
        (2, 0, 0)
    """

    discovered: int
    ingested: tuple[str, ...]  # session ids
    failed: Mapping[str, str]  # session id -> what went wrong
    trajectories: tuple[str, ...]
    teams: tuple[str, ...]  # team trajectory ids that were learned from


def _of_memory(work: Callable[Concatenate[Memory, P], T]) -> Callable[Concatenate[Atlas, P], T]:
    """A method that does `work` on the memory of an `Atlas`: one signature and one docstring for both."""

    @wraps(work)
    def method(self: Atlas, /, *args: P.args, **named: P.kwargs) -> T:
        return work(self.memory, *args, **named)

    return method


class Atlas:
    """Learning from sessions and teams.

    `bank` may be None (nothing to ingest then); one that is given is enabled. `memory` is a `Memory` or the path of its
    folder. `analyst` analyses teams and `extractor` distils batches; without them the built-in rules do. Raises
    `QueryError` with every error of `config`.

    Example:
        >>> session = bank.get_by_session_id("4332729f-137e-43ea-a08c-759d9252c91d")
        >>> atlas = sb.Atlas(bank, "memory", config={"session_bank": {"outcome_strategy": "evidence"}})
        >>> atlas.process_team(atlas.team_of(session)).stored
        True
        >>> atlas.accumulated_count, atlas.is_batch_ready
        (1, False)
    """

    def __init__(
        self,
        bank: SessionBank | None,
        memory: Memory | str | os.PathLike[str],
        *,
        analyst: Analyst | None = None,
        extractor: Extractor | None = None,
        config: AtlasConfig | Mapping[str, Any] | None = None,
    ) -> None:
        settings = read_config(config)
        if bank is not None and not settings.session_bank.enabled:
            settings = settings.model_copy(
                update={"session_bank": settings.session_bank.model_copy(update={"enabled": True})}
            )
        self.config = settings
        self.bank = bank
        self.memory = memory if isinstance(memory, Memory) else Memory(memory)
        named = settings.team_learning.model_fields_set
        is_ours = not isinstance(
            memory, Memory
        )  # limits of a memory that was handed in stay, unless config names one
        self.memory.limits.update(
            {k: v for k, v in settings.limits().items() if is_ours or _field(k) in named}
        )
        self.analyst = analyst
        self.extractor = extractor
        for worker, limit in (
            (analyst, settings.team_learning.analysis_timeout),
            (extractor, settings.team_learning.extraction_timeout),
        ):
            if worker is not None and getattr(worker, "timeout", 0) is None:
                worker.timeout = limit  # type: ignore[attr-defined]
        if settings.session_bank.auto_ingest:
            self.ingest_sessions()

    @classmethod
    def open(
        cls,
        repository: str | os.PathLike[str],
        memory: Memory | str | os.PathLike[str],
        *,
        analyst: Analyst | None = None,
        extractor: Extractor | None = None,
        config: AtlasConfig | Mapping[str, Any] | None = None,
    ) -> Atlas:
        """An `Atlas` of a repository whose bank is opened as the configuration says: its branch and state folder.

        Example:
            >>> import subprocess
            >>> subprocess.run(["git", "init", "-q", "repository"], check=True).returncode
            0
            >>> sb.Atlas.open("repository", "memory").bank.is_available
            False
        """
        from sessionbank.bank import open_bank

        settings = read_config(config).session_bank
        named = settings.model_fields_set
        bank = open_bank(
            repository, branch=settings.branch if "branch" in named else None, state_dir=settings.state_dir
        )
        return cls(bank, memory, analyst=analyst, extractor=extractor, config=config)

    # ---- taking in ------------------------------------------------------------------------------------------------

    def ingest_sessions(
        self, limit: int | None = None, *, domain: str | None = None, outcome_strategy: str | None = None
    ) -> IngestResult:
        """Takes in sessions that were not taken in as they are now, oldest first, and marks them in the bank's log.

        Each becomes a trajectory and is learned from; with team learning enabled, a session with other agents is
        learned from as a team too. A session that cannot be taken in is told in the result and stays unmarked.
        Raises `QueryError` without a bank.

        Example:
            >>> atlas = sb.Atlas(bank, "memory")
            >>> len(atlas.ingest_sessions(limit=2).ingested)
            2
            >>> atlas.memory.count("experiences")
            2
        """
        from sessionbank.trajectory import synthesize

        settings = self.config.session_bank
        bank = self.bank
        if bank is None or not settings.enabled:
            raise QueryError("no session bank: hand one to Atlas, sb.open_bank(path) gives one")
        strategy = outcome_strategy or settings.outcome_strategy
        selected = bank.query(
            unprocessed_only=True, consumer=CONSUMER, sort="oldest",
            limit=settings.max_ingest_batch if limit is None else limit,
        )  # fmt: skip
        done, failed, trajectories, teams = [], {}, [], []
        for session in selected:
            try:
                trajectory = synthesize(session, domain=domain, outcome=strategy)
                result = self.process_trajectory(trajectory, session=session)
                if self.config.team_learning.enabled:
                    team = self.team_of(session, trajectory)
                    if len(team.member_list) > 1:
                        teams.append(self.process_team(team).team_trajectory_id)
            except SessionBankError as error:
                failed[session.session_id] = str(error)
                continue
            bank.mark_processed(session, consumer=CONSUMER, metadata={"trajectory_id": trajectory.id})
            done.append(session.session_id)
            trajectories.append(result.trajectory_id)
        return IngestResult(selected.total, tuple(done), failed, tuple(trajectories), tuple(teams))

    def team_of(self, session: Session, trajectory: Trajectory | None = None) -> Team:
        """The team of a session, with the outcome and domain of its trajectory.

        Example:
            >>> session = bank.get_by_session_id("4332729f-137e-43ea-a08c-759d9252c91d")
            >>> atlas = sb.Atlas(bank, "memory", config={"session_bank": {"outcome_strategy": "evidence"}})
            >>> team = atlas.team_of(session)
            >>> sorted(m.role for m in team.member_list), team.outcome
            (['Explore', 'lead'], 'success')
        """
        from sessionbank.team import from_session
        from sessionbank.trajectory import synthesize

        made = trajectory or synthesize(session, outcome=self.config.session_bank.outcome_strategy)
        label = made.outcome.label if made.outcome else None
        team = from_session(session, outcome=label)
        reason = made.outcome.reason if made.outcome else None
        return replace(
            team, domain=team.domain or made.task.domain, outcome_reason=reason or team.outcome_reason
        )

    def process_trajectory(self, trajectory: Trajectory, *, session: Session | None = None) -> ProcessResult:
        """Learns from one trajectory; its session, where given, adds what summary and attribution say.

        Example:
            >>> session = bank.get_by_session_id("4332729f-137e-43ea-a08c-759d9252c91d")
            >>> atlas = sb.Atlas(bank, "memory", config={"session_bank": {"outcome_strategy": "evidence"}})
            >>> atlas.process_trajectory(sb.synthesize(session, outcome="evidence"), session=session).experience.outcome
            'success'
        """
        return process_trajectory(
            self.memory, trajectory, alike=self.config.team_learning.deduplication_threshold,
            summary=session.summary if session else None, attribution=session.attribution if session else None,
        )  # fmt: skip

    def process_team(self, team: Team, *, analyst: Analyst | None = None) -> TeamProcessResult:
        """Learns from one team's run.

        Example:
            >>> session = bank.get_by_session_id("4332729f-137e-43ea-a08c-759d9252c91d")
            >>> atlas = sb.Atlas(bank, "memory", config={"session_bank": {"outcome_strategy": "evidence"}})
            >>> result = atlas.process_team(atlas.team_of(session))
            >>> result.stored, result.run.analyst, result.problems
            (True, 'rule', ())
        """
        return process_team(
            self.memory, team, analyst=analyst or self.analyst, settings=self.config.team_learning
        )

    def team_workspace(self, team: Team) -> Workspace:
        """The workspace of a team's analysis, for a person to fill; then `process_team(team, analyst=Person())`.

        Example:
            >>> session = bank.get_by_session_id("4332729f-137e-43ea-a08c-759d9252c91d")
            >>> atlas = sb.Atlas(bank, "memory", config={"session_bank": {"outcome_strategy": "evidence"}})
            >>> workspace = atlas.team_workspace(atlas.team_of(session))
            >>> workspace.task, workspace.changed()
            ('team-analysis', [])
        """
        return team_workspace(team, self.memory.path / "workspaces", settings=self.config.team_learning)[0]

    # ---- distilling -----------------------------------------------------------------------------------------------

    def run_batch(self) -> BatchResult:
        """Distils task playbooks from the trajectories that came together; says when they are too few.

        Example:
            >>> atlas = sb.Atlas(bank, "memory", config={"session_bank": {"min_trajectories": 2}})
            >>> len(atlas.ingest_sessions(limit=2).ingested)
            2
            >>> atlas.run_batch().ready
            True
        """
        return run_batch(
            self.memory, "task", minimum=self.config.session_bank.min_trajectories,
            alike=self.config.team_learning.deduplication_threshold,
        )  # fmt: skip

    def run_team_batch(self) -> BatchResult:
        """Distils role and team playbooks from the runs that came together; says when they are too few.

        Example:
            >>> session = bank.get_by_session_id("4332729f-137e-43ea-a08c-759d9252c91d")
            >>> atlas = sb.Atlas(bank, "memory", config={"session_bank": {"outcome_strategy": "evidence"}})
            >>> atlas.process_team(atlas.team_of(session)).stored
            True
            >>> atlas.run_team_batch().message
            '1 run has come together, 5 are needed: 4 more.'
        """
        settings = self.config.team_learning
        maker = None
        if self.extractor is not None:
            from sessionbank.learning.extraction import maker_of

            maker = maker_of(self.memory, self.extractor, settings=settings)
        return run_batch(
            self.memory, "team", minimum=settings.min_team_trajectories, maker=maker,
            alike=settings.deduplication_threshold,
        )  # fmt: skip

    @property
    def accumulated_count(self) -> int:
        """Team runs that no finished batch has counted as they are now.

        Example:
            >>> session = bank.get_by_session_id("4332729f-137e-43ea-a08c-759d9252c91d")
            >>> atlas = sb.Atlas(bank, "memory", config={"session_bank": {"outcome_strategy": "evidence"}})
            >>> atlas.process_team(atlas.team_of(session)).stored
            True
            >>> atlas.accumulated_count
            1
        """
        return len(pending(self.memory, "team"))

    @property
    def is_batch_ready(self) -> bool:
        """Whether enough team runs have come together for `run_team_batch`.

        Example:
            >>> sb.Atlas(None, "memory").is_batch_ready
            False
        """
        return self.accumulated_count >= self.config.team_learning.min_team_trajectories

    # ---- using ----------------------------------------------------------------------------------------------------

    recommend_team = _of_memory(recommend.recommend_team)
    find_matching = _of_memory(guidance.find_matching)
    role_guidance = _of_memory(guidance.role_guidance)
    member_config = _of_memory(guidance.member_config)
    feedback = _of_memory(guidance.feedback)

    def __repr__(self) -> str:
        return f"<Atlas: {self.memory!r}, {self.accumulated_count} team runs to distil>"


def _field(kind: str) -> str:
    """The name that a kind's limit has in the configuration."""
    return f"max_{kind.replace('-', '_')}"


def default_memory(repository: str | os.PathLike[str] = ".") -> Path:
    """Where memory lives by custom: ``.atlas`` in the repository."""
    return Path(repository) / ".atlas"
