"""Puts lines together to playbooks, and new ones with old ones: versions, refinements, reviewers' decisions kept.

A pure function: playbooks in, playbooks out. A line that a reviewer decided about stays, with its text; other lines are
as the data say now. What changed is told in the playbook's refinements. Nothing is stored here.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sessionbank.learning import playbooks as pb
from sessionbank.learning.confidence import rate
from sessionbank.learning.distill import Findings, role_key
from sessionbank.learning.experience import RunRow
from sessionbank.learning.similarity import groups, opposed, similarity
from sessionbank.learning.teamwork import together

P = TypeVar("P", bound=pb.Playbook)
ALIKE = 0.85
MOST_TYPES = 12  # task types that a playbook names


def role_playbooks(rows: Sequence[RunRow], found: Findings, *, alike: float = ALIKE) -> list[pb.RolePlaybook]:
    """One playbook a role; without a line where the runs decide nothing about it."""
    made = []
    for role in sorted({role_key(r) for row in rows for r in row.roles}):
        mine = [row for row in rows if role in {role_key(r) for r in row.roles}]
        sizes = [row.team_size for row in mine if row.team_size]
        practice = [
            found.lines[n]
            for n in found.lines
            if role in found.roles[n] and found.sources[n] != "composition"
        ]
        told = [line for line in found.lessons.get(role, ()) if line.standing != "claimed"]
        lines = _merged([*practice, *told], alike)
        guidance = pb.Guidance(
            responsibilities=[line for line in lines if line.direction == "do"],
            anti_patterns=[line for line in lines if line.direction == "avoid"],
            interaction_guidance=together(mine, role),
        )
        playbook = pb.RolePlaybook(
            id=f"role-{role}", name=f"effective-{role}", role=role, guidance=guidance,
            team_context=pb.TeamContext(
                topologies=sorted({row.topology for row in mine if row.topology}),
                team_size_range=pb.SizeRange(min=min(sizes), max=max(sizes)) if sizes else None,
                task_types=_task_types(mine, alike), domains=sorted({row.domain for row in mine if row.domain}),
            ),
            evolution=pb.Evolution(created_from=sorted(row.run_id for row in mine)),
        )  # fmt: skip
        made.append(_sure(playbook))
    return made


def team_playbooks(rows: Sequence[RunRow], found: Findings, *, alike: float = ALIKE) -> list[pb.TeamPlaybook]:
    """One playbook a domain and topology."""
    made = []
    shapes: dict[tuple[str, str], list[RunRow]] = defaultdict(list)
    for row in rows:
        shapes[row.domain or "", row.topology or ""].append(row)
    told = [line for line in found.lessons.get(None, ()) if line.standing != "claimed"]
    for (domain, topology), mine in sorted(shapes.items()):
        good = [row for row in mine if row.score == 1] or mine
        scores = [row.score for row in mine if row.score is not None]
        sizes = [row.team_size for row in good if row.team_size]
        tokens = [row.tokens for row in mine if row.tokens]
        shown = {p.name for row in mine for p in row.practices} | {
            f"topology: {topology}",
            "size: five or more",
        }
        lines = {
            n: line.model_copy(deep=True)
            for n, line in found.lines.items()
            if n in shown or line.standing == "established"
        }
        of_team = {n: line for n, line in lines.items() if found.sources[n] == "composition"}
        ways = _merged([*(line for n, line in lines.items() if n not in of_team), *told], alike)
        playbook = pb.TeamPlaybook(
            id=f"team-{topology or 'any'}-{domain or 'any'}",
            name=f"{topology or 'any'}-team-for-{domain or 'any-domain'}",
            applicability=pb.TeamFit(
                task_types=_task_types(mine, alike), domains=[domain] if domain else [],
                complexities=sorted({row.complexity for row in mine if row.complexity}), runs=len(mine),
                successes=sum(scores), median_tokens=int(statistics.median(tokens)) if tokens else None,
            ),
            composition=pb.TeamComposition(
                topology=mine[0].topology, roles=_slots(good),
                team_size=pb.SizeRange(min=min(sizes), max=max(sizes)) if sizes else None, lines=list(of_team.values()),
            ),
            coordination=pb.TeamCoordination(
                patterns=[line for line in ways if line.direction == "do"],
                anti_patterns=[line for line in ways if line.direction == "avoid"],
                enforcement=Counter(sorted(row.enforcement for row in good if row.enforcement)).most_common(1)[0][0]
                if any(row.enforcement for row in good) else None,
            ),
            evolution=pb.Evolution(created_from=sorted(row.run_id for row in mine)),
        )  # fmt: skip
        made.append(_sure(playbook))
    return made


def task_playbooks(rows: Sequence[RunRow], found: Findings, *, alike: float = ALIKE) -> list[pb.TaskPlaybook]:
    """One playbook a domain; without a line where the runs decide nothing about it."""
    made = []
    for domain in sorted({row.domain or "" for row in rows}):
        mine = [row for row in rows if (row.domain or "") == domain]
        shown = {p.name for row in mine for p in row.practices}
        lines = _merged(
            [
                *(line for n, line in found.lines.items() if n in shown),
                *(m for m in found.lessons.get(None, ()) if m.standing != "claimed"),
            ],
            alike,
        )
        playbook = pb.TaskPlaybook(
            id=f"task-{domain or 'any'}", name=f"work-in-{domain or 'any-domain'}", domain=domain or None,
            task_types=_task_types(mine, alike), strategy=[line for line in lines if line.direction == "do"],
            anti_patterns=[line for line in lines if line.direction == "avoid"],
            evolution=pb.Evolution(created_from=sorted(row.run_id for row in mine)),
        )  # fmt: skip
        made.append(_sure(playbook))
    return made


def meta_strategies(rows: Sequence[RunRow], found: Findings, *, at: datetime) -> list[pb.TeamMetaStrategy]:
    """One strategy a domain with three runs of known outcome or more: what topology and size went with."""
    made = []
    for domain in sorted({row.domain or "" for row in rows}):
        mine = [row for row in rows if (row.domain or "") == domain and row.score is not None]
        if len(mine) < 3:
            continue
        whole = rate(sum(r.score or 0 for r in mine), sum(1 - (r.score or 0) for r in mine))
        bias: dict[str, float] = {}
        for topology in sorted({row.topology for row in mine if row.topology}):
            scores = [row.score or 0.0 for row in mine if row.topology == topology]
            if len(scores) < len(mine):  # with one topology there is nothing to prefer it to
                bias[topology] = round(rate(sum(scores), len(scores) - sum(scores)).mean - whole.mean, 4)
        size = found.lines.get("size: five or more")
        hints = [
            line.text
            for n, line in sorted(found.lines.items())
            if line.standing == "established" and found.sources[n] != "composition"
        ]
        adjustment = pb.StrategyAdjustment(
            topology_bias=bias, coordination_hints=hints,
            team_size_adjustment="maintain" if size is None else "increase" if size.direction == "do" else "decrease",
            role_adjustments=[line.text for n, line in sorted(found.lines.items()) if n.startswith("role: ")],
        )  # fmt: skip
        if not bias and not hints and size is None and not adjustment.role_adjustments:
            continue
        evidence = [
            pb.Evidence(run_id=r.run_id, supports=r.score == 1 if r.score != 0.5 else None) for r in mine
        ]
        made.append(pb.TeamMetaStrategy(
            id=f"formation-{domain or 'any'}", name=f"forming-teams-for-{domain or 'any-domain'}",
            condition=pb.StrategyCondition(domains=[domain] if domain else []), adjustment=adjustment,
            application_count=len(mine), success_rate=round(whole.mean, 4), confidence=round(whole.low, 4),
            evidence=evidence[:50], created_at=at, updated_at=at,
        ))  # fmt: skip
    return made


def revised(
    new: P, old: P | None, *, at: datetime, reason: str, measured: Mapping[str, pb.Line], alike: float = ALIKE
) -> P:
    """`new` with what must stay of `old`: decisions and reviewed texts, lines that were told and not measured, uses,
    versions. A line that stays though the runs no longer give it has the support that they give it now (`measured`).
    Returns `old` itself when nothing changed.
    """
    if old is None:
        return new.model_copy(update={"created_at": at, "updated_at": at})
    new = new.model_copy(deep=True)
    before = dict(_by_id(old))
    present = dict(_by_id(new))
    for identifier, (_, line) in present.items():
        if identifier in before:
            kept = before[identifier][1]
            line.decisions, line.variants = (
                kept.decisions,
                sorted({*kept.variants, *line.variants} - {kept.text}),
            )
            if kept.decisions:
                line.text = kept.text
    for identifier, (section, line) in before.items():
        if identifier in present:
            continue
        twin = next(
            (
                n
                for s, n in present.values()
                if s == section and similarity(n.text, line.text) >= alike and not opposed(n.text, line.text)
            ),
            None,
        )
        if twin is not None and not line.decisions:
            twin.variants = sorted({*twin.variants, line.text, *line.variants} - {twin.text})
        elif line.decisions or line.standing == "claimed":
            put(new, section, _as_measured(line, measured.get(line.id)))
    new.created_at, new.evolution = old.created_at, old.evolution.model_copy(deep=True)
    new.evolution.created_from = sorted({*old.evolution.created_from, *_runs(new)})
    new = _sure(new)
    changes = difference(old, new)
    content = [
        p.model_dump(mode="json", exclude={"evolution", "updated_at", "confidence"}) for p in (old, new)
    ]
    if not changes and content[0] == content[1] and new.evolution.created_from == old.evolution.created_from:
        return old
    return bumped(new, at=at, reason=reason, changes=changes)


def _as_measured(line: pb.Line, now: pb.Line | None) -> pb.Line:
    """A line of an old version with the figures of now; one that no run shows any more has no support."""
    if now is None and (line.standing == "claimed" or not line.support.runs):
        return line  # it never rested on runs
    now = now or pb.Line(text=line.text, basis="no run shows it any more")
    figures = {
        name: getattr(now, name) for name in ("support", "evidence", "confidence", "basis", "contradictions")
    }
    against = now.support.runs_against > now.support.runs_for
    standing = "claimed" if line.standing == "claimed" else "contested" if against else "tentative"
    return line.model_copy(update={**figures, "standing": standing})


def bumped(playbook: P, *, at: datetime, reason: str, changes: Sequence[str]) -> P:
    """The playbook with the next version: the middle number when lines changed, the last when only figures did."""
    major, minor, patch = (int(n) for n in [*playbook.evolution.version.split("."), "0", "0"][:3])
    version = f"{major}.{minor + 1}.0" if changes else f"{major}.{minor}.{patch + 1}"
    playbook.evolution.version = version
    playbook.evolution.refinements.append(
        pb.Refinement(version=version, at=at, reason=reason, changes=list(changes))
    )
    playbook.updated_at = at
    return playbook


def difference(old: pb.Playbook, new: pb.Playbook) -> list[str]:
    """What changed between versions: a sentence a line that came, went, or has another text, standing or decision."""
    before, after = dict(_by_id(old)), dict(_by_id(new))
    told = [f"{s}: new: {line.text}" for i, (s, line) in after.items() if i not in before]
    told += [f"{s}: gone: {line.text}" for i, (s, line) in before.items() if i not in after]
    for identifier, (section, line) in after.items():
        if identifier in before:
            was = before[identifier][1]
            if was.text != line.text:
                told.append(f"{section}: {was.text!r} is now {line.text!r}")
            if was.standing != line.standing:
                told.append(f"{section}: {was.standing} is now {line.standing}: {line.text}")
            told += [
                f"{section}: {d.action} by {d.reviewer}: {line.text}"
                for d in line.decisions[len(was.decisions) :]
            ]
    return told


def _runs(playbook: pb.Playbook) -> list[str]:
    return playbook.evolution.created_from


def _by_id(playbook: pb.Playbook) -> list[tuple[str, tuple[str, pb.Line]]]:
    return [(line.id, (section, line)) for section, line in playbook.lines()]


def _sure(playbook: P) -> P:
    sure = [line.confidence for _, line in playbook.lines() if line.is_active]
    playbook.confidence = round(statistics.fmean(sure), 4) if sure else 0.0
    return playbook


def put(playbook: pb.Playbook, section: str, line: pb.Line) -> None:
    """Puts a line of an old version into the same section of a new one."""
    if isinstance(playbook, pb.RolePlaybook):
        for name in ("responsibilities", "anti_patterns"):
            if section == name:
                getattr(playbook.guidance, name).append(line)
                return
        if section.startswith("when "):
            playbook.guidance.decision_frameworks.append(
                pb.DecisionFramework(name="kept", when=section[5:], guidance=line)
            )
        elif section.startswith("with "):
            role, _, kind = section[5:].removesuffix(": avoid").rpartition(": ")
            item: Any = {"with_role": role, "interaction_type": kind, "guidance": line}
            playbook.guidance.interaction_guidance.append(pb.RoleInteractionGuidance.model_validate(item))
    elif isinstance(playbook, pb.TeamPlaybook):
        target = {
            "composition": playbook.composition.lines, "patterns": playbook.coordination.patterns,
            "anti_patterns": playbook.coordination.anti_patterns, "success_indicators": playbook.success_indicators,
        }[section]  # fmt: skip
        target.append(line)
    elif isinstance(playbook, pb.TaskPlaybook):
        (playbook.strategy if section == "strategy" else playbook.anti_patterns).append(line)


def _merged(lines: Sequence[pb.Line], alike: float) -> list[pb.Line]:
    """Lines without duplicates: of texts that say the same the surest stays, the others become its variants."""
    ordered = sorted(lines, key=lambda line: (line.practice is None, -line.confidence, line.id))
    kept = []
    for group in groups([f"{line.text}" for line in ordered], threshold=alike):
        parts: dict[str, list[pb.Line]] = defaultdict(list)
        for place in group:
            parts[ordered[place].direction].append(ordered[place])
        for same in parts.values():
            head = same[0].model_copy(deep=True)
            for other in same[1:]:
                head.variants = sorted({*head.variants, other.text, *other.variants} - {head.text})
                known = {e.model_dump_json() for e in head.evidence}
                head.evidence += [e for e in other.evidence if e.model_dump_json() not in known]
            kept.append(head)
    return kept


def _task_types(rows: Sequence[RunRow], alike: float) -> list[str]:
    """Objectives of the runs, first line of each, without repetitions."""
    texts = [
        row.objective.strip().splitlines()[0][:200]
        for row in sorted(rows, key=lambda r: r.run_id)
        if row.objective.strip()
    ]
    # only as many as are named are compared: alike texts among thousands need not all be found
    few = list(dict.fromkeys(texts))[: MOST_TYPES * 4]
    return [few[group[0]] for group in groups(few, threshold=alike)][:MOST_TYPES]


def _slots(rows: Sequence[RunRow]) -> list[pb.RoleSlot]:
    counts: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        mine: Counter[str] = Counter()
        for role, number in row.roles.items():
            mine[role_key(role)] += number
        for role, number in mine.items():
            counts[role].append(number)
    slots = []
    for role, numbers in sorted(counts.items()):
        if len(numbers) * 2 >= len(rows):  # a role that most runs had
            fewest = min(numbers) if len(numbers) == len(rows) else 0
            slots.append(
                pb.RoleSlot(
                    role=role, min=fewest, max=max(numbers), typical=round(statistics.median(numbers))
                )
            )
    return slots
