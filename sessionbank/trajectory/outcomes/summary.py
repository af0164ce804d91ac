"""Strategy ``summary``: what the stored summary says, read with negation, resolution and open items.

A summary belongs to the checkpoint that it was written for; where the session went on after it, it counts for less.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from sessionbank.records import Session, Summary
from sessionbank.trajectory.model import Outcome
from sessionbank.trajectory.outcomes import wording
from sessionbank.trajectory.outcomes.verdict import outcome, row, unknown

NAME = "summary"
_ENGLISH = re.compile(r"\b(?:the|is|are|a|an|and|with|to|for|of|in|was|were)\b", re.IGNORECASE)
_CANNOT = re.compile(r"\b(?:cannot|can not|can['’]t)\b", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z][A-Za-z_]{3,}")
_TASK = re.compile(
    r"^\W*(?:[A-Z]+-\d+\W+)?(?:need(?:s)? to |still (?:need to )?|must )?"
    r"(?:implement|fix|finish|complete|add|write|build|address|resolve|validate|support)\b",
    re.IGNORECASE,
)


def of_session(session: Session) -> Outcome:
    """The outcome by the session's latest summary; unknown where it has none."""
    at = next((i for i, r in reversed(list(enumerate(session.records))) if r.summary is not None), None)
    if at is None:
        return unknown(NAME, "no record has a summary")
    record = session.records[at]
    assert record.summary is not None
    later = sum(r.transcript_state == "present" for r in session.records[at + 1 :])
    return of_summary(
        record.summary, session_id=session.session_id, checkpoint_id=record.checkpoint_id, later_records=later
    )


def of_summary(
    summary: Summary,
    *,
    session_id: str,
    checkpoint_id: str | None = None,
    later_records: int = 0,
) -> Outcome:
    """The outcome by one summary. `later_records` is how many records of the session came after it."""
    text = (summary.outcome or "").strip()
    if not text:
        return unknown(NAME, "the summary says nothing of the outcome")
    cues = wording.read(text, undo=wording.asks_to_undo(summary.intent))
    if not wording.wants_work(
        summary.intent
    ):  # "it cannot be dropped" answers a question, and fails at nothing
        cues = [replace(c, kind="analysed") if _CANNOT.search(c.words) else c for c in cues]
    kinds = Counter(c.kind for c in cues)
    asked = [item for item in summary.open_items if _restates(item, summary.intent)]
    score, confidence, why = _weigh(kinds, cues, intent=summary.intent, asked=bool(asked))
    if score is None and _ENGLISH.search(text):
        score, confidence, why = 0.7, 0.35, "it states a result and names no trouble"
    if later_records:
        confidence *= 0.6
        why += f"; the session went on for {later_records} more records"
    rows = [
        row(session_id, f"summary, {c.kind.replace('_', ' ')}: {c.clause}", checkpoint_id=checkpoint_id)
        for c in cues
    ]
    rows += [row(session_id, f"open item of the request: {i}", checkpoint_id=checkpoint_id) for i in asked]
    if score is None:
        return unknown(NAME, "the summary has no words that the rules can read", rows)
    return outcome(NAME, score, confidence=confidence, reason=f"the summary: {why}", evidence=rows)


def _weigh(
    kinds: Counter[str], cues: list[wording.Cue], *, intent: str | None, asked: bool
) -> tuple[float | None, float, str]:
    if not cues and not asked:
        return None, 0.0, ""
    done, acted, analysed, failed = kinds["done"], kinds["acted"], kinds["analysed"], kinds["failed"]
    hanging = kinds["open"] + kinds["unmade"] + asked
    if kinds["given_up"]:
        last = cues[-1].kind
        if done + acted > 1 and last == "done":
            return 0.4, 0.55, "something was given up, other work was done"
        return 0.1, 0.85, "the work was given up or taken back"
    if failed:
        if not done:
            return (
                (0.3, 0.6, "something was tried, and it failed")
                if acted or (hanging and analysed)
                else (0.12, 0.8, "it failed")
            )
        return 0.4, 0.65, "some was done, some failed"
    if kinds["unmade"] and not (done or acted or analysed or kinds["open"]):
        return 0.15, 0.8, "what was asked was not made"
    if hanging:
        if done or acted:
            return 0.52, 0.75, "some was done, some was left open"
        return 0.42, 0.7, "it was looked into and left open"
    if analysed and not (done or acted):
        if wording.wants_work(intent):
            return 0.42, 0.6, "work was asked for, analysis was delivered"
        return 0.85, 0.65, "the question was answered"
    return (0.92 if done else 0.85), min(0.6 + 0.08 * done, 0.85), "it was done"


def _restates(item: str, intent: str | None) -> bool:
    """Whether an open item is (a part of) what was asked for."""
    if not intent or not _TASK.search(item):
        return False
    words = {_stem(w) for w in _WORD.findall(item)}
    shared = words & {_stem(w) for w in _WORD.findall(intent)}
    return len(shared) >= 2 and len(shared) >= 0.5 * len(words)


def _stem(word: str) -> str:
    return re.sub(r"(?:ing|ed|es|s|e)$", "", word.lower())
