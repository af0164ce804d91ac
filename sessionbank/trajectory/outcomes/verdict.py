"""From points to an `Outcome`: the thresholds of the labels, and how a row of evidence looks. No strategy here.

A score runs from 0 (failure) to 1 (success); the label follows from it, so that every strategy means the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sessionbank.html import one_line
from sessionbank.trajectory.model import Outcome

SUCCESS_FROM = 0.67
FAILURE_TO = 0.34


def label_of(score: float) -> str:
    """success from 0.67 on, failure up to 0.34, partial between."""
    return "success" if score >= SUCCESS_FROM else "failure" if score <= FAILURE_TO else "partial"


def outcome(
    strategy: str,
    score: float | None,
    *,
    confidence: float,
    reason: str,
    evidence: Iterable[Mapping[str, Any]] = (),
) -> Outcome:
    """An `Outcome` whose label follows from the score; a score of None is unknown."""
    if score is None:
        return unknown(strategy, reason, evidence)
    score = round(min(max(score, 0.0), 1.0), 3)
    return Outcome(
        label_of(score), score, round(min(max(confidence, 0.0), 1.0), 3), strategy, reason, tuple(evidence)
    )


def unknown(strategy: str, reason: str, evidence: Iterable[Mapping[str, Any]] = ()) -> Outcome:
    """An outcome that the strategy cannot tell, with the reason why."""
    return Outcome("unknown", None, 0.0, strategy, reason, tuple(evidence))


def row(session_id: str, what: str, **place: Any) -> dict[str, Any]:
    """A row of evidence: the session, a place (seq, checkpoint_id, commit_sha ...) and what stands there."""
    return {
        "session_id": session_id,
        **{k: v for k, v in place.items() if v is not None},
        "what": shortened(what),
    }


def shortened(text: str, length: int = 200) -> str:
    """The text on one line, cut to `length` characters."""
    return one_line(text, length)
