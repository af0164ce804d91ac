"""The plain rules that others use, under names of their own, to compare with: no baseline goes into ``evidence``."""

from __future__ import annotations

from sessionbank.records import Session
from sessionbank.trajectory.model import Outcome
from sessionbank.trajectory.outcomes.verdict import outcome, row, unknown

WORDS = ("fail", "error", "unable", "could not")


def words(session: Session) -> Outcome:
    """``baseline_words``: failure when the summary's outcome holds fail, error, unable or could not, else success."""
    name = "baseline_words"
    summary = session.summary
    if summary is None or not summary.outcome:
        return unknown(name, "no record has a summary")
    found = [w for w in WORDS if w in summary.outcome.lower()]
    reason = (
        f"the summary holds {', '.join(found)}" if found else f"the summary holds none of {', '.join(WORDS)}"
    )
    return outcome(
        name,
        0.0 if found else 1.0,
        confidence=1.0,
        reason=reason,
        evidence=[row(session.session_id, summary.outcome)],
    )


def files(session: Session) -> Outcome:
    """``baseline_files``: success (0.7) when any file was touched, else failure (0.3)."""
    touched = session.files_touched
    rows = [row(session.session_id, f"touched {path}") for path in touched[:5]]
    reason = f"{len(touched)} files touched"
    return outcome("baseline_files", 0.7 if touched else 0.3, confidence=1.0, reason=reason, evidence=rows)


def success(session: Session) -> Outcome:
    """``baseline_success``: everything is a success."""
    return outcome(
        "baseline_success", 1.0, confidence=1.0, reason="always", evidence=[row(session.session_id, "always")]
    )
