"""From rows of runs to lines of advice: which practices go with success or failure, how sure that is, and what speaks
against it. A pure function of the rows: nothing is read or stored, and playbooks are put together in `revise`.

A practice is *established* when the runs say with probability 0.75 or more that it changes the outcome, other practices
accounted for (`confidence.effects`). Before 30 runs of known outcome a practice may be *tentative*: seen with the
outcome that its advice supposes more often than not; its confidence is then the share that we are 90 % sure to exceed
(Beta posterior, uniform prior). From 30 runs on a practice that is not established is left undecided, and no playbook
names it. Lessons in an analyst's own words are counted by how many runs say so and how many the opposite.
"""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sessionbank.learning.confidence import Effect, effects, rate
from sessionbank.learning.detectors import PRACTICES
from sessionbank.learning.experience import Mention, Practice, RunRow
from sessionbank.learning.playbooks import Evidence, Line, Support, counted, line_id
from sessionbank.learning.similarity import groups, opposed, similarity

Direction = Literal["do", "avoid"]
ESTABLISHED = 0.75  # probability from which an effect is established
DECIDED_FROM = 30  # runs of known outcome from which what is not established is not named
LEAST = 10  # runs of known outcome below which nothing is established
MOST_EVIDENCE = 12  # places that a line names


@dataclass(frozen=True)
class Thresholds:
    """When a practice is established; see the module."""

    established: float = ESTABLISHED
    decided_from: int = DECIDED_FROM
    least: int = LEAST
    alike: float = 0.85


@dataclass
class Findings:
    """What the rows say: lines of practices by name, lessons by role (None: the team), and what stays undecided."""

    lines: dict[str, Line] = field(default_factory=dict)
    roles: dict[str, list[str]] = field(default_factory=dict)  # practice -> roles that show it
    sources: dict[str, str] = field(default_factory=dict)
    lessons: dict[str | None, list[Line]] = field(default_factory=dict)
    every: list[Line] = field(
        default_factory=list
    )  # each practice in both directions, whatever the data decide
    undecided: list[dict[str, Any]] = field(default_factory=list)
    runs: int = 0
    known: int = 0


def distill(rows: Sequence[RunRow], thresholds: Thresholds | None = None) -> Findings:
    """Lines from rows; the order of the rows does not matter."""
    limits = thresholds or Thresholds()
    rows = sorted(rows, key=lambda r: r.run_id)
    table = _Table(rows, limits.alike)
    found = Findings(runs=len(rows), known=len(table.known))
    effect = effects(table.presence(), [float(r.score or 0) for r in table.known])
    for name in table.names:
        seen = table.seen[name]
        practice = next(iter(seen.values()))
        found.roles[name] = sorted({role_key(role) for p in seen.values() for role in p.roles})
        found.sources[name] = practice.source
        found.every += [_tentative(name, table, direction) for direction in ("do", "avoid")]
        line = _line(name, table, effect.get(name, Effect(0, 0)), limits=limits)
        if line is None:
            found.undecided.append(_undecided(name, table, effect.get(name, Effect(0, 0))))
        else:
            found.lines[name] = line
    found.lessons = _lessons(rows, limits.alike)
    return found


def role_key(role: str) -> str:
    """A role without the number of the agent that plays it: "executor-2" is an executor."""
    return re.sub(r"[-_ ]+\d+$", "", role) or role


class _Table:
    """Rows by practice."""

    def __init__(self, rows: Sequence[RunRow], alike: float) -> None:
        self.rows = rows
        self.known = [r for r in rows if r.score is not None]
        self.seen: dict[str, dict[str, Practice]] = defaultdict(dict)  # practice -> run id -> as seen there
        self.variants: dict[str, set[str]] = defaultdict(set)
        named: dict[str, None] = {}
        for row in rows:
            for practice in row.practices:
                named[practice.name] = None
        self.names_by = _one_name(sorted(named), alike)
        for row in rows:
            for practice in [*row.practices, *_context(row)]:
                name = self.names_by.get(practice.name, practice.name)
                self.variants[name].add(practice.name)
                self.seen[name].setdefault(row.run_id, practice)
        self.names = sorted(self.seen)

    def presence(self) -> dict[str, list[bool]]:
        """Flags over the known rows, of practices that enough runs have and enough have not."""
        least = 2 if len(self.known) < 20 else 3
        flags = {name: [r.run_id in self.seen[name] for r in self.known] for name in self.names}
        return {n: f for n, f in flags.items() if least <= sum(f) <= len(f) - least}

    def scores(self, name: str, *, present: bool) -> list[float]:
        return [float(r.score or 0) for r in self.known if (r.run_id in self.seen[name]) == present]


def _one_name(names: Sequence[str], alike: float) -> dict[str, str]:
    """Names that an analyst spelt differently, under the first of them; names that our detectors give stay apart."""
    own = [n for n in names if n in PRACTICES or ": " in n]
    told = [n for n in names if n not in PRACTICES and ": " not in n]
    merged = {n: n for n in own}
    for group in groups(told, threshold=alike):
        merged.update({told[place]: told[group[0]] for place in group})
    return merged


def _context(row: RunRow) -> list[Practice]:
    """The run's context, as practices that may explain its outcome too."""
    evidence = [Evidence(run_id=row.run_id, supports=_supports(row), note="the run as a whole")]
    made = []
    if row.topology:
        text = f"The team is {row.topology}."
        made.append(
            Practice(name=f"topology: {row.topology}", source="composition", says=text, evidence=evidence)
        )
    if row.team_size is not None and row.team_size > 4:
        made.append(
            Practice(
                name="size: five or more",
                source="composition",
                says="The team has five members or more.",
                evidence=evidence,
            )
        )
    return made


def _supports(row: RunRow) -> bool | None:
    return None if row.score is None or row.score == 0.5 else row.score > 0.5


def _line(name: str, table: _Table, effect: Effect, *, limits: Thresholds) -> Line | None:
    with_it, without = table.scores(name, present=True), table.scores(name, present=False)
    known = len(table.known)
    practice = next(iter(table.seen[name].values()))
    gain = effect.change
    if known >= limits.least and effect.probability >= limits.established and abs(gain) > 0.02:
        direction: Direction = "do" if gain > 0 else "avoid"
        basis = (
            f"probability that it changes the outcome, other practices accounted for, over {known} runs; "
            f"expected change of the outcome score {gain:+.2f}"
        )
        line = _made(name, table, direction)
        line.standing, line.confidence, line.basis = "established", round(effect.probability, 4), basis
        if effect.alike:
            line.contradictions.append(
                f"cannot be told apart from {', '.join(effect.alike)}: present in the same runs, or in exactly "
                "the others"
            )
        line.contradictions += _contexts(name, table, direction)
        return line
    if known >= limits.decided_from or len(with_it) < 2 or practice.source == "composition":
        return None
    direction = "avoid" if practice.source == "anti_pattern" else "do"
    good = sum(with_it) if direction == "do" else len(with_it) - sum(with_it)
    if good * 2 <= len(with_it) or (
        without
        and (statistics.fmean(with_it) - statistics.fmean(without)) * (1 if direction == "do" else -1) < 0
    ):
        return None
    return _tentative(name, table, direction)


def _tentative(name: str, table: _Table, direction: Direction) -> Line:
    """The line with the share of runs that bear it out, whether or not that is enough to name it."""
    with_it = table.scores(name, present=True)
    good = sum(with_it) if direction == "do" else len(with_it) - sum(with_it)
    line = _made(name, table, direction)
    line.confidence = round(rate(good, len(with_it) - good).low, 4)
    wish = "success" if direction == "do" else "failure"
    line.basis = (
        f"share of {wish} among runs with it that we are 90 % sure to exceed, {counted(len(with_it))}; "
        "no claim that it is the cause"
    )
    line.standing = "tentative"
    line.contradictions = _contexts(name, table, direction)
    if line.contradictions:
        line.standing = "contested"
    return line


def _made(name: str, table: _Table, direction: Direction) -> Line:
    seen = table.seen[name]
    rows = {r.run_id: r for r in table.rows}
    wish = 1.0 if direction == "do" else 0.0
    scored = [rows[i] for i in seen if rows[i].score is not None]
    with_it, without = table.scores(name, present=True), table.scores(name, present=False)
    support = Support(
        runs=len(table.known), runs_with=len(scored), runs_for=sum(r.score == wish for r in scored),
        runs_against=sum(r.score == 1 - wish for r in scored),
        mean_with=round(statistics.fmean(with_it), 4) if with_it else None,
        mean_without=round(statistics.fmean(without), 4) if without else None,
    )  # fmt: skip
    # what speaks for it first, then what speaks against it, so that neither crowds out the other
    order = sorted(seen, key=lambda i: (rows[i].score != wish, i))
    own = [i for i in order if rows[i].score == wish][: MOST_EVIDENCE // 2]
    rest = [i for i in order if i not in own][: MOST_EVIDENCE - len(own)]
    evidence = [with_outcome(seen[i].evidence[0], rows[i], wish) for i in [*own, *rest] if seen[i].evidence]
    text = advice(name, next(iter(seen.values())), direction)
    variants = sorted(table.variants[name] - {name})
    return Line(
        id=line_id(text, practice=name, direction=direction), text=text, direction=direction, practice=name,
        support=support, evidence=evidence, variants=variants,
    )  # fmt: skip


def with_outcome(place: Evidence, row: RunRow, wish: float) -> Evidence:
    """The place, and whether its run ended as the advice supposes; None where that is not known."""
    supports = None if row.score in (None, 0.5) else row.score == wish
    return place.model_copy(update={"supports": supports})


def advice(name: str, practice: Practice, direction: Direction) -> str:
    """A practice as advice: in the general words that our detectors have, else in the analyst's."""
    if name in PRACTICES:
        return PRACTICES[name].do if direction == "do" else PRACTICES[name].avoid
    kind, _, what = name.partition(": ")
    if what and kind in ("role", "topology", "size"):
        phrase = {
            "role": f"the role {what} in the team",
            "topology": f"a team that is {what}",
            "size": f"a team of {what}",
        }[kind]
        return f"{'Have' if direction == 'do' else 'Do without'} {phrase}."
    if direction == "do":
        return practice.says or f"Do this: {name}."
    return practice.fix or f"Avoid {name}: {practice.says}"


def _contexts(name: str, table: _Table, direction: Direction) -> list[str]:
    """Contexts in which it goes the other way: three runs or more with it and without, and a clear difference."""
    told = []
    for kind in ("domain", "topology", "complexity"):
        values = sorted({str(v) for r in table.known if (v := getattr(r, kind)) is not None})
        for value in values if len(values) > 1 else ():
            rows = [r for r in table.known if getattr(r, kind) == value]
            with_it = [float(r.score or 0) for r in rows if r.run_id in table.seen[name]]
            without = [float(r.score or 0) for r in rows if r.run_id not in table.seen[name]]
            if len(with_it) < 3 or len(without) < 3:
                continue
            gap = (statistics.fmean(with_it) - statistics.fmean(without)) * (1 if direction == "do" else -1)
            if gap <= -0.25:
                told.append(
                    f"the other way round where {kind} is {value}: "
                    f"mean outcome {statistics.fmean(with_it):.2f} with it "
                    f"({counted(len(with_it))}), {statistics.fmean(without):.2f} without ({counted(len(without))})"
                )
    return told


def _undecided(name: str, table: _Table, effect: Effect) -> dict[str, Any]:
    with_it, without = table.scores(name, present=True), table.scores(name, present=False)
    return {
        "practice": name, "runs_with": len(with_it), "runs_without": len(without),
        "mean_with": round(statistics.fmean(with_it), 4) if with_it else None,
        "mean_without": round(statistics.fmean(without), 4) if without else None,
        "probability": round(effect.probability, 4), "change": round(effect.change, 4),
    }  # fmt: skip


# ---- lessons in own words -----------------------------------------------------------------------------------------


def _lessons(rows: Sequence[RunRow], alike: float) -> dict[str | None, list[Line]]:
    by_role: dict[str | None, list[tuple[RunRow, Mention]]] = defaultdict(list)
    for row in rows:
        for mention in row.mentions:
            by_role[role_key(mention.role) if mention.role else None].append((row, mention))
    return {role: _said(told, alike) for role, told in sorted(by_role.items(), key=lambda i: i[0] or "")}


def _said(told: Sequence[tuple[RunRow, Mention]], alike: float) -> list[Line]:
    lines = []
    for direction in ("do", "avoid"):
        mine = [(r, m) for r, m in told if m.direction == direction]
        for group in groups([m.text for _, m in mine], threshold=alike):
            members = [mine[place] for place in group]
            runs = {r.run_id for r, _ in members}
            text = members[0][1].text
            evidence = [
                with_outcome(m.evidence[0], r, 1.0) if m.evidence else Evidence(run_id=r.run_id)
                for r, m in members
            ]
            lines.append(Line(
                id=line_id(f"{direction}\n{text}"), text=text, direction=direction,
                standing="tentative" if len(runs) > 1 else "claimed",
                variants=sorted({m.text for _, m in members} - {text}), evidence=evidence[:MOST_EVIDENCE],
                support=Support(runs=len({r.run_id for r, _ in told}), runs_with=len(runs), runs_for=len(runs)),
            ))  # fmt: skip
    for line in lines:
        against = [o for o in lines if o is not line and contradict(line, o, alike=alike)]
        line.support.runs_against = len({e.run_id for o in against for e in o.evidence})
        line.contradictions = [f"{counted(o.support.runs_for)} said: {o.text}" for o in against]
        if against:
            line.standing = "contested"
        sure = rate(line.support.runs_for, line.support.runs_against)
        line.confidence = round(sure.low, 4)
        line.basis = (
            "share of analyses that say this and not the opposite, that we are 90 % sure to exceed; "
            "told, not measured"
        )
    return lines


def contradict(one: Line, other: Line, *, alike: float = 0.85) -> bool:
    """Whether two lines say the opposite: the same to do and to avoid, or the same words turned round by a "not"."""
    # a word of negation is a word less in common, so opposite texts are a little less alike than equal ones
    if similarity(one.text, other.text) < alike - 0.1:
        return False
    return (one.direction != other.direction) != opposed(one.text, other.text)
