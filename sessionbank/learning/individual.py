"""Learning from single trajectories: experience, knowledge notes from summaries, observations about routing tasks.

What a run weighs: the agent's share of the committed lines (1 where it is not known), and three quarters of that when
it was partial or unknown, half when it failed. Weights add up in knowledge notes; distillation counts whole runs.
Ids come from the trajectory, so the same one again replaces and counts nothing twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sessionbank.learning import experience as x
from sessionbank.learning import playbooks as pb
from sessionbank.learning.behaviours import behaviours
from sessionbank.learning.cleaning import kept
from sessionbank.learning.confidence import rate
from sessionbank.learning.filenames import digest
from sessionbank.learning.playbooks import Evidence
from sessionbank.learning.similarity import opposed, similarity, words

if TYPE_CHECKING:
    from sessionbank.learning.memory import Memory
    from sessionbank.records import Attribution, Summary
    from sessionbank.trajectory.model import Trajectory


@dataclass(frozen=True)
class ProcessResult:
    """What came of one trajectory."""

    trajectory_id: str
    experience: x.TaskExperience
    knowledge: list[str]  # ids of notes that it supports
    accumulated: int  # experiences that no batch has counted yet


def process_trajectory(
    memory: Memory,
    trajectory: Trajectory,
    *,
    summary: Summary | None = None,
    attribution: Attribution | None = None,
    alike: float = 0.85,
) -> ProcessResult:
    """Analyses a trajectory and stores what it says: experience, knowledge notes, observation about routing."""
    from sessionbank.learning.batches import pending

    trajectory, summary = kept(
        (trajectory, summary)
    )  # memory is committed and shown round: it holds no secret
    made = task_experience(trajectory, summary=summary, attribution=attribution)
    made.stored_at = memory.now()
    with memory.locked():
        made.knowledge = sorted(
            {
                _note(memory, kind, text, place=place, made=made, alike=alike)
                for kind, text, place in _told(summary)
            }
        )
        memory.store("experiences", made)
        memory.store("meta-observations", x.MetaObservation(
            id=made.id, trajectory_id=made.id, domain=made.domain, agent=made.agent,
            models=sorted({r.model for r in trajectory.replies if r.model}), outcome=made.outcome,
            agent_percentage=attribution.agent_percentage if attribution else None, tokens=made.tokens,
            timestamp=made.timestamp,
        ))  # fmt: skip
        waiting = len(pending(memory, "task"))
    return ProcessResult(made.id, made, made.knowledge, waiting)


def task_experience(
    trajectory: Trajectory, *, summary: Summary | None = None, attribution: Attribution | None = None
) -> x.TaskExperience:
    """The experience of a trajectory, with its row."""
    outcome = trajectory.outcome
    label: Any = outcome.label if outcome else "unknown"
    score = x.SCORES.get(label)
    weight, reason = _weight(score, attribution)
    place = Evidence(
        run_id=trajectory.id,
        session_id=trajectory.session_id,
        supports=None if score in (None, 0.5) else score == 1,
    )
    mentions = [
        x.Mention(direction="avoid", text=text.strip(), source="friction", evidence=[place])
        for text in (summary.friction if summary else ())
    ]
    mentions += [
        x.Mention(direction="do", text=text.strip(), source="workflow", evidence=[place])
        for text in (summary.workflow if summary else ())
    ]
    task = trajectory.task.description or ""
    row = x.RunRow(
        run_id=trajectory.id, revision="", objective=task[:500], domain=trajectory.task.domain,
        tokens=trajectory.total_tokens, outcome=label, score=score, weight=weight, practices=behaviours(trajectory),
        mentions=[m for m in mentions if m.text], timestamp=trajectory.timestamp, roles={trajectory.agent: 1},
    )  # fmt: skip
    row.revision = x.revision_of(row)
    return x.TaskExperience(
        id=trajectory.id, revision=row.revision, task=task, domain=trajectory.task.domain, agent=trajectory.agent,
        session_id=trajectory.session_id, outcome=label, outcome_confidence=outcome.confidence if outcome else None,
        score=score, weight=weight, weight_reason=reason, steps=len(trajectory.own_steps),
        tokens=trajectory.total_tokens, cost_usd=trajectory.cost_usd, row=row, timestamp=trajectory.timestamp,
    )  # fmt: skip


def _weight(score: float | None, attribution: Attribution | None) -> tuple[float, str]:
    share = attribution.agent_contribution if attribution else None
    by_outcome = {1.0: 1.0, 0.0: 0.5}.get(score if score is not None else -1, 0.75)
    weight = max(0.0, min(1.0, 1.0 if share is None else share)) * by_outcome
    told = (
        "the agent's share of the lines is not known"
        if share is None
        else f"the agent wrote {share:.0%} of the lines"
    )
    return round(weight, 4), f"{told}; the outcome gives {by_outcome:g}"


def _told(summary: Summary | None) -> Iterator[tuple[str, str, tuple[str | None, int | None, int | None]]]:
    if summary is None:
        return
    nowhere = (None, None, None)
    for kind, texts in (
        ("repo", summary.repo),
        ("workflow", summary.workflow),
        ("friction", summary.friction),
        ("open_item", summary.open_items),
    ):
        yield from ((kind, text.strip(), nowhere) for text in texts if text.strip())
    yield from (
        ("code", c.finding.strip(), (c.path, c.line, c.end_line)) for c in summary.code if c.finding.strip()
    )


def _note(
    memory: Memory,
    kind: Any,
    text: str,
    *,
    place: tuple[str | None, int | None, int | None],
    made: x.TaskExperience,
    alike: float,
) -> str:
    """Adds a session's word to the note that says the same, or makes one; returns the note's id."""
    path, line, end = place
    own = f"{kind}-{digest(' '.join(words(text)) + (path or ''), 16)}"
    identifier = own
    if memory.find("knowledge", own) is None:
        for value, _ in memory.nearest("knowledge", text, limit=10):
            same = value["kind"] == kind and value.get("path") == path
            if same and similarity(value["text"], text) >= alike and not opposed(value["text"], text):
                identifier = value["id"]
                break
    note = memory.find("knowledge", identifier) or x.KnowledgeNote(
        id=identifier,
        kind=kind,
        text=text,
        path=path,
        line=line,
        end_line=end,
        created_at=memory.now(),
    )
    evidence = {e.run_id: e for e in note.evidence}
    said = Evidence(run_id=made.id, session_id=made.session_id, note=text[:300])
    said.__pydantic_extra__ = {"weight": made.weight}
    evidence[made.id] = said
    note.evidence = [evidence[i] for i in sorted(evidence)]
    note.variants = sorted({*note.variants, text} - {note.text})
    note.support = len(evidence)
    note.weight = round(sum(float((e.model_extra or {}).get("weight", 1)) for e in note.evidence), 4)
    note.updated_at = memory.now()
    memory.store("knowledge", note)
    return identifier


def routing_strategies(rows: Sequence[x.RunRow], *, at: datetime) -> list[x.MetaStrategy]:
    """A strategy for each domain and agent with three runs of known outcome or more: its share of successes."""
    by: dict[tuple[str, str], list[x.RunRow]] = defaultdict(list)
    for row in rows:
        for agent in row.roles:
            if row.score is not None:
                by[row.domain or "", agent].append(row)
    made = []
    for (domain, agent), mine in sorted(by.items()):
        if len(mine) < 3:
            continue
        sure = rate(sum(r.score or 0 for r in mine), sum(1 - (r.score or 0) for r in mine))
        made.append(
            x.MetaStrategy(
                id=f"routing-{domain or 'any'}-{agent}",
                name=f"{agent}-for-{domain or 'any-domain'}",
                condition=pb.StrategyCondition(domains=[domain] if domain else []),
                adjustment=pb.StrategyAdjustment(
                    coordination_hints=[
                        f"{agent} succeeded in {sure.mean:.0%} of such tasks, by {len(mine)} runs."
                    ]
                ),
                application_count=len(mine),
                success_rate=round(sure.mean, 4),
                confidence=round(sure.low, 4),
                created_at=at,
                updated_at=at,
            )
        )
    return made
