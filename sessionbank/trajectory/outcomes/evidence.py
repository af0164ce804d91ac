"""Strategy ``evidence``: what the other strategies say, put together. All weights and limits stand here.

The score is the mean of their scores, each weighed by `WEIGHTS` times its own confidence; unknown ones do not
count, and `heuristic` counts only alone.
Then `LIMITS` hold: some signs are not outvoted, since everything else looks alike in a good and a bad session (a
reverted commit passed its tests, too; a person who gives up had an agent that was content).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sessionbank.trajectory.model import Outcome
from sessionbank.trajectory.outcomes.verdict import outcome, unknown

NAME = "evidence"
WEIGHTS: Mapping[str, float] = {
    "judge": 3.0,
    "summary": 3.0,
    "end_state": 2.0,
    "checks": 1.5,
    "commit": 1.0,
    "heuristic": 0.5,  # only where no other strategy can tell: counts do not outvote what was read
}


def _says(strategy: str, label: str, confidence: float) -> Callable[[Mapping[str, Outcome]], bool]:
    return lambda said: (
        strategy in said and said[strategy].label == label and said[strategy].confidence >= confidence
    )


def _ends_open(said: Mapping[str, Outcome]) -> bool:
    """The end shows partial work, and no summary or judge says otherwise."""
    told = any(n in said and said[n].label == "success" for n in ("summary", "judge"))
    return _says("end_state", "partial", 0.4)(said) and not told


# (what, when, the score is at least, at most), held one after the other: a later one wins
LIMITS: tuple[tuple[str, Callable[[Mapping[str, Outcome]], bool], float, float], ...] = (
    ("the summary says that it was done", _says("summary", "success", 0.65), 0.4, 1.0),
    ("the work was reverted", _says("commit", "failure", 0.8), 0.0, 0.2),
    ("the person gave it up", _says("end_state", "failure", 0.82), 0.0, 0.25),
    ("the summary says that it failed", _says("summary", "failure", 0.8), 0.0, 0.3),
    ("the summary says that part is open", _says("summary", "partial", 0.5), 0.0, 0.6),
    ("it ends with something open", _ends_open, 0.0, 0.64),
    ("the last tests failed", _says("checks", "failure", 0.75), 0.0, 0.6),
)


def combined(session_id: str, said: Mapping[str, Outcome]) -> Outcome:
    """One outcome from those of the other strategies (name -> outcome); baselines are not looked at."""
    known = {name: o for name, o in said.items() if name in WEIGHTS and o.score is not None}
    if len(known) > 1:
        known.pop("heuristic", None)
    if not known:
        return unknown(NAME, "no strategy could tell")
    weights = {name: WEIGHTS[name] * o.confidence for name, o in known.items()}
    total = sum(weights.values())
    if not total:
        return unknown(NAME, "no strategy is sure of anything")
    score = sum(weights[name] * (o.score or 0.0) for name, o in known.items()) / total
    notes = []
    for what, holds, low, high in LIMITS:
        if holds(known) and not low <= score <= high:
            score = min(max(score, low), high)
            notes.append(what)
    spread = sum(weights[n] * abs((o.score or 0.0) - score) for n, o in known.items()) / total
    sure = 1 - 0.5 ** (total / 1.2)  # more evidence, more sure; 1.2 is a summary alone at medium confidence
    parts = ", ".join(
        f"{name} {o.label} ({o.score:.2f}, weight {weights[name]:.2f})" for name, o in known.items()
    )
    reason = parts + ("; decisive: " + ", ".join(notes) if notes else "")
    rows = [{"strategy": name, **r} for name, o in known.items() for r in o.evidence]
    return outcome(NAME, score, confidence=sure * max(1 - 2 * spread, 0.1), reason=reason, evidence=rows)
