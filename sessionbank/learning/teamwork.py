"""How a role works with another one: what the runs say of it, as guidance for a role playbook.

Runs are counted, not interactions: a run is for a line when it ended as the line supposes. Playbooks are put together
in `revise`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from sessionbank.learning import playbooks as pb
from sessionbank.learning.confidence import rate
from sessionbank.learning.distill import role_key, with_outcome
from sessionbank.learning.experience import RunRow, Teamwork
from sessionbank.learning.filenames import digest

Told = list[tuple[RunRow, Teamwork]]
LEAST_RUNS = 2
MOST_EVIDENCE, MOST_EXAMPLES = 6, 3


def together(rows: Sequence[RunRow], role: str) -> list[pb.RoleInteractionGuidance]:
    """Guidance where two runs or more agree on how it went, and their outcomes do not speak against it."""
    made = []
    for (other, kind), by_quality in _told(rows, role).items():
        counts = {q: len({row.run_id for row, _ in found}) for q, found in by_quality.items()}
        quality = max(sorted(counts), key=lambda q: counts[q])
        line = _line((role, other, kind), by_quality, quality, rows=rows)
        if counts[quality] < LEAST_RUNS or line.support.runs_against > line.support.runs_for:
            continue
        examples = [item.example for row, item in by_quality[quality] if item.example and row.score == 1]
        made.append(pb.RoleInteractionGuidance.model_validate({
            "with_role": other, "interaction_type": kind, "guidance": line,
            "examples": list(dict.fromkeys(examples))[:MOST_EXAMPLES] if quality == "effective" else [],
        }))  # fmt: skip
    return made


def every_line(rows: Sequence[RunRow], role: str) -> Iterator[pb.Line]:
    """The lines of all that was said of working together, also of what few runs say or outcomes speak against."""
    for (other, kind), by_quality in _told(rows, role).items():
        for quality in sorted(by_quality):
            yield _line((role, other, kind), by_quality, quality, rows=rows)


def _told(rows: Sequence[RunRow], role: str) -> dict[tuple[str, str], dict[str, Told]]:
    """What was recommended, by the other role and the type of interaction, then by how it went."""
    seen: dict[tuple[str, str], dict[str, Told]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for item in row.teamwork:
            if role_key(item.role) == role and item.recommendation:
                seen[role_key(item.with_role), item.interaction_type][item.quality].append((row, item))
    return dict(sorted(seen.items()))


def _line(
    about: tuple[str, str, str], by_quality: dict[str, Told], quality: str, *, rows: Sequence[RunRow]
) -> pb.Line:
    runs = {q: {row.run_id: (row, item) for row, item in found} for q, found in sorted(by_quality.items())}
    # what went well is borne out by success, what is to be mended by failure
    wish = 1.0 if quality == "effective" else 0.0
    scored = [row.score for row, _ in runs[quality].values() if row.score is not None]
    runs_for, runs_against = scored.count(wish), scored.count(1 - wish)
    others = [f"in {pb.counted(len(n))} it was {q}" for q, n in runs.items() if q != quality]
    return pb.Line(
        id="line-" + digest("\n".join((*about, quality))),
        text=Counter(item.recommendation for _, item in by_quality[quality]).most_common(1)[0][0],
        standing="tentative",
        confidence=round(rate(runs_for, runs_against).low, 4),
        basis=f"share of {'success' if wish else 'failure'} among runs in which it was {quality}, that we are 90 % sure "
        "to exceed; no claim that it is the cause",
        support=pb.Support(
            runs=sum(row.score is not None for row in rows), runs_with=len(scored), runs_for=runs_for,
            runs_against=runs_against,
        ),
        evidence=[
            with_outcome(item.evidence[0], row, wish) for row, item in runs[quality].values() if item.evidence
        ][:MOST_EVIDENCE],
        contradictions=others,
    )  # fmt: skip
