"""Learning from the run of one team: workspace, analyst, checked outputs, gaps filled, experience stored.

Killed at any point, the same call again resumes the workspace and stores the same; ids are those of the run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessionbank.learning import experience as x
from sessionbank.learning.analyst import TEAM_ANALYSIS, Analyst, AnalystRun
from sessionbank.learning.cleaning import kept
from sessionbank.learning.collect import gap_filled, keep, team_experience
from sessionbank.learning.config import TeamLearningSettings
from sessionbank.learning.guidance import analysis_knowledge
from sessionbank.learning.inputs import facts, read_input, team_files
from sessionbank.learning.playbooks import counted
from sessionbank.learning.readback import Outputs, Problem, read_outputs
from sessionbank.learning.rule_analyst import RuleAnalyst, analyse
from sessionbank.learning.workspace import Workspace
from sessionbank.sources.locking import write_whole

if TYPE_CHECKING:
    from sessionbank.learning.memory import Memory
    from sessionbank.team.model import Team
    from sessionbank.trajectory.model import Outcome

RUN = "run.json"  # in the workspace: how the analyst's work went, once it has ended


@dataclass(frozen=True)
class TeamProcessResult:
    """What came of one team's run. `stored` is False when the analyst's files were wrong and gaps stayed."""

    team_trajectory_id: str
    stored: bool
    run: AnalystRun
    experience: x.TeamExperience | None
    problems: Sequence[Problem]
    filled: Sequence[str]  # output files that the rule analyst wrote in the analyst's place
    compression_stats: Mapping[str, Any]
    workspace: Path | None  # None: it was removed

    @property
    def analysis(self) -> x.TeamAnalysisResult | None:
        """What the analysis says."""
        return self.experience.analysis if self.experience else None


def team_workspace(
    team: Team, parent: Path, *, settings: TeamLearningSettings | None = None
) -> tuple[Workspace, dict[str, bytes]]:
    """The workspace of a team's analysis below `parent`, made or resumed, and the files of its input."""
    settings = settings or TeamLearningSettings()
    files = team_files(
        kept(team), compression=settings.compression.compression(), scoring=settings.compression.scoring()
    )
    return Workspace.create(parent, TEAM_ANALYSIS, subject=team.id, files=files), files


def process_team(
    memory: Memory,
    team: Team,
    *,
    analyst: Analyst | None = None,
    settings: TeamLearningSettings | None = None,
    parent: Path | None = None,
) -> TeamProcessResult:
    """Analyses a team's run and stores the experience; the analyst's failures are told in the result, not raised."""
    settings = settings or TeamLearningSettings()
    worker = analyst or RuleAnalyst()
    team = kept(team)
    workspace, files = team_workspace(team, parent or memory.path / "workspaces", settings=settings)
    read = read_input(files)
    known = facts(read)
    run = _earlier(workspace, worker.name)
    if run is None:
        knowledge = analysis_knowledge(
            memory, objective=team.objective, domain=team.domain, topology=team.topology
        )
        run = worker.work(workspace, knowledge=knowledge)
        note = {"analyst": run.analyst, "status": run.status, "message": run.message}
        write_whole(workspace.path / RUN, json.dumps(note).encode())
    found = read_outputs(workspace.output, known, analyst=run.analyst)
    found.problems += [
        Problem(p.file, p.place, f"input {p.message} by the analyst") for p in workspace.changed()
    ]
    if run.status != "done":
        found.problems.insert(0, Problem("", "", f"the analyst {run.analyst}: {run.message or run.status}"))
    filled: list[str] = []
    if found.missing and settings.fill_gaps:
        filled = gap_filled(found, analyse(read), folder=workspace.output)
    made = None
    if not found.missing:
        made = team_experience(team, found, read=read, metrics=_metrics(run))
        keep(memory, made)
        if run.trajectory is not None:
            from sessionbank.learning.individual import process_trajectory

            process_trajectory(memory, run.trajectory.with_outcome(_judged(found, filled, run)))
    stays = settings.keep_workspaces or made is None
    if not stays:
        workspace.remove()
    return TeamProcessResult(
        team.id, made is not None, run, made, tuple(found.problems), tuple(filled), read["compression"],
        workspace.path if stays else None,
    )  # fmt: skip


def check_outputs(workspace: Workspace) -> Outputs:
    """What stands in a workspace's output right now, with all problems: for a person who fills it."""
    return read_outputs(workspace.output, facts(read_input(workspace.input)), analyst="person")


def _earlier(workspace: Workspace, name: str) -> AnalystRun | None:
    """The analyst's run that ended well before we were cut off; its outputs are taken instead of asking again."""
    try:
        note = json.loads((workspace.path / RUN).read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(note, dict) or note.get("analyst") != name or note.get("status") != "done":
        return None
    return AnalystRun(name, "done", "resumed: it had ended before")


def _judged(found: Outputs, filled: Sequence[str], run: AnalystRun) -> Outcome:
    """How an analyst's work ended, by its files: all right, some right, none right."""
    from sessionbank.trajectory.model import Outcome

    right = [n for n, by in found.by.items() if by == run.analyst and n not in filled]
    label = "failure" if not right else "success" if not filled and not found.problems else "partial"
    score = {"success": 1.0, "partial": 0.5, "failure": 0.0}[label]
    reason = f"{counted(len(right), 'output file')} right, {len(filled)} filled, {counted(len(found.problems), 'problem')}"
    return Outcome(label, score, 1.0, "outputs", reason)


def _metrics(run: AnalystRun) -> x.AnalysisMetrics:
    return x.AnalysisMetrics(
        analysis_tokens=run.tokens, analysis_tool_calls=run.tool_calls,
        analysis_time_ms=None if run.seconds is None else round(run.seconds * 1000),
    )  # fmt: skip
