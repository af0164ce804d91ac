"""Distillation of what has come together, as a journal: a batch is opened with its rows, its results are stored, then
it is done. Killed in between, the next call finds it open and does the same again; nothing is lost or counted twice.

Playbooks are always made from the rows of all done batches and this one, never by adding to what stands there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from sessionbank.learning import playbooks as pb
from sessionbank.learning import revise
from sessionbank.learning.collect import complete, team_row
from sessionbank.learning.distill import Findings, Thresholds, distill
from sessionbank.learning.experience import Batch, RunRow
from sessionbank.learning.filenames import digest
from sessionbank.learning.measured import measured
from sessionbank.sources.locking import lock

if TYPE_CHECKING:
    from sessionbank.learning.memory import Memory

Kind = Literal["team", "task"]
EXPERIENCES = {"team": "team-experiences", "task": "experiences"}
# makes things by kind of memory from all rows; called with the rows, what they say, and the batch
Maker = Callable[[Sequence[RunRow], Findings, Batch], Mapping[str, Sequence[BaseModel]]]


@dataclass(frozen=True)
class BatchResult:
    """What a batch did, or, when too few runs have come together, that it did nothing.

    Example:
        >>> atlas = sb.Atlas(None, "memory")
        >>> batch = atlas.run_team_batch()
        >>> batch.ready, batch.message
        (False, '0 runs have come together, 5 are needed: 5 more.')
    """

    ready: bool
    accumulated: int
    needed: int
    batch_id: str | None = None
    created: Mapping[str, list[str]] = field(default_factory=dict)  # kind of memory -> ids
    updated: Mapping[str, list[str]] = field(default_factory=dict)
    undecided: Sequence[Mapping[str, Any]] = ()
    problems: Sequence[str] = ()
    analyst: str = "rule"

    @property
    def message(self) -> str:
        """In a sentence."""
        if not self.ready:
            more = self.needed - self.accumulated
            have = "has" if self.accumulated == 1 else "have"
            return (
                f"{pb.counted(self.accumulated)} {have} come together, {self.needed} are needed: {more} more."
            )
        made = sum(map(len, self.created.values())), sum(map(len, self.updated.values()))
        left = pb.counted(len(self.undecided), "practice")
        return f"{pb.counted(self.accumulated)}: {pb.counted(made[0], 'thing')} made, {made[1]} changed, {left} undecided."


def pending(memory: Memory, kind: Kind) -> list[str]:
    """Ids of experiences that no finished batch has counted as they are now."""
    counted = memory.counted()
    return sorted(i for i, v in memory.raw(EXPERIENCES[kind]).items() if counted.get(i) != v.get("revision"))


def run_batch(
    memory: Memory, kind: Kind, *, minimum: int, maker: Maker | None = None, alike: float = 0.85
) -> BatchResult:
    """Distils what is pending, if it is `minimum` runs or more or a batch was left open. Without a maker, by rule."""
    with lock(memory.path / ".batch.lock"):
        if kind == "team":
            complete(memory)
        batch = _open(memory, kind)
        if batch is None:
            waiting = pending(memory, kind)
            if len(waiting) < minimum:
                return BatchResult(False, len(waiting), minimum)
            batch = _begin(memory, kind, waiting)
        rows = all_rows(memory, batch)
        found = distill(rows, Thresholds(alike=alike))
        made = (maker or _by_rule(kind, alike))(rows, found, batch)
        created, updated = _store(memory, made, batch, figures=measured(rows, found), alike=alike)
        batch.status, batch.finished_at, batch.undecided = "done", memory.now(), found.undecided
        batch.stored = {
            k: sorted({*created.get(k, []), *updated.get(k, [])}) for k in sorted({*created, *updated})
        }
        memory.store("batches", batch)
    return BatchResult(
        True, len(batch.rows), minimum, batch.id, created, updated, found.undecided, analyst=batch.analyst
    )  # fmt: skip


def all_rows(memory: Memory, batch: Batch | None = None, *, kind: Kind = "team") -> list[RunRow]:
    """The rows of all done batches of a kind, and of `batch`; of a run that was counted again, the last."""
    kind = batch.kind if batch else kind
    by_run: dict[str, RunRow] = {}
    for value in sorted(memory.raw("batches").values(), key=lambda b: (b["number"], b["id"])):
        if value["kind"] == kind and value["status"] == "done" and (batch is None or value["id"] != batch.id):
            by_run.update({row["run_id"]: RunRow.model_validate(row) for row in value["rows"]})
    for row in batch.rows if batch else ():
        by_run[row.run_id] = row
    return [by_run[i] for i in sorted(by_run)]


def _open(memory: Memory, kind: Kind) -> Batch | None:
    left = [b for b in memory.raw("batches").values() if b["kind"] == kind and b["status"] == "open"]
    return Batch.model_validate(min(left, key=lambda b: (b["number"], b["id"]))) if left else None


def _begin(memory: Memory, kind: Kind, ids: Sequence[str]) -> Batch:
    with memory.locked():
        things = [memory.get(EXPERIENCES[kind], i) for i in ids]
        rows = [team_row(t) if kind == "team" else t.row for t in things]
        number = 1 + max((b["number"] for b in memory.raw("batches").values()), default=0)
        name = digest("\n".join(f"{r.run_id} {r.revision}" for r in rows), 16)
        batch = Batch(
            id=f"{kind}-{number:04d}-{name}",
            kind=kind,
            number=number,
            status="open",
            rows=rows,
            started_at=memory.now(),
        )
        memory.store("batches", batch)
    return batch


def _by_rule(kind: Kind, alike: float) -> Maker:
    def make(rows: Sequence[RunRow], found: Findings, batch: Batch) -> Mapping[str, Sequence[BaseModel]]:
        return rule_made(kind, rows, found=found, at=batch.started_at, alike=alike)

    return make


def rule_made(
    kind: Kind, rows: Sequence[RunRow], *, found: Findings, at: datetime, alike: float
) -> dict[str, Sequence[BaseModel]]:
    """What the rules make of rows: playbooks and meta-strategies by kind of memory."""
    if kind == "task":
        from sessionbank.learning.individual import routing_strategies

        return {
            "playbooks": revise.task_playbooks(rows, found, alike=alike),
            "meta-strategies": routing_strategies(rows, at=at),
        }
    return {
        "role-playbooks": revise.role_playbooks(rows, found, alike=alike),
        "team-playbooks": revise.team_playbooks(rows, found, alike=alike),
        "team-meta-strategies": revise.meta_strategies(rows, found, at=at),
    }


def _store(
    memory: Memory,
    made: Mapping[str, Sequence[BaseModel]],
    batch: Batch,
    *,
    figures: Mapping[str, pb.Line],
    alike: float,
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    created: dict[str, list[str]] = {}
    updated: dict[str, list[str]] = {}
    earlier = {
        (kind, i)
        for b in memory.raw("batches").values() if b["status"] == "done" and b["id"] != batch.id
        for kind, ids in b["stored"].items() for i in ids
    }  # fmt: skip
    for kind, things in made.items():
        for new in things:
            identifier: str = new.id  # type: ignore[attr-defined]
            with memory.locked():
                old = memory.find(kind, identifier)
                if (
                    old is None
                    and isinstance(new, pb.RolePlaybook | pb.TaskPlaybook)
                    and next(new.lines(), None) is None
                ):
                    continue  # a playbook that says nothing is not begun; one that stands may lose its last line
                if isinstance(new, pb.Playbook):
                    new = revise.revised(
                        new,
                        old,
                        at=batch.started_at,
                        reason=_reason(batch),
                        measured=figures,
                        alike=alike,
                    )
                elif old is not None and isinstance(new, pb.TeamMetaStrategy):
                    new.created_at = old.created_at
                # what this batch stored before it was cut off is its work too; a clock may stand still between two
                is_own = (
                    getattr(old, "created_at", None) == batch.started_at and (kind, identifier) not in earlier
                )
                if old is None or old != new:
                    memory.store(kind, new)
                if old is None or is_own:
                    created.setdefault(kind, []).append(identifier)
                elif old != new or _is_work_of(batch, old):
                    updated.setdefault(kind, []).append(identifier)
    return created, updated


def _is_work_of(batch: Batch, thing: BaseModel) -> bool:
    """Whether a batch that was cut off had changed the thing before."""
    if isinstance(thing, pb.Playbook):
        return any(r.reason == _reason(batch) for r in thing.evolution.refinements)
    return getattr(thing, "updated_at", None) == batch.started_at


def _reason(batch: Batch) -> str:
    return f"batch {batch.id}"
