"""How a session ended: the strategies by name, and rows of table ``outcomes``. How each works is in `outcomes`.

Strategies read a `Session`; facts about commits and judges are handed in, since this room knows no repository and no
model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sessionbank.errors import QueryError
from sessionbank.records import Session
from sessionbank.trajectory.model import LABELS, Outcome
from sessionbank.trajectory.outcomes import baselines, checks, commit, end_state, evidence, heuristic, summary
from sessionbank.trajectory.outcomes.checks import CheckRun, check_runs, check_table
from sessionbank.trajectory.outcomes.commit import CommitFacts, reverts

if TYPE_CHECKING:
    import pandas as pd

Strategy = Callable[[Session, CommitFacts | None], Outcome]
Judge = Callable[[Session], Outcome]

STRATEGIES: Mapping[str, Strategy] = {
    "summary": lambda session, facts: summary.of_session(session),
    "heuristic": lambda session, facts: heuristic.of_session(session),
    "end_state": lambda session, facts: end_state.of_session(session),
    "checks": lambda session, facts: checks.of_session(session),
    "commit": commit.of_session,
}
BASELINES: Mapping[str, Strategy] = {
    "baseline_words": lambda session, facts: baselines.words(session),
    "baseline_files": lambda session, facts: baselines.files(session),
    "baseline_success": lambda session, facts: baselines.success(session),
}
DEFAULT = (*STRATEGIES, "evidence")
NAMES = (*STRATEGIES, "judge", "evidence", *BASELINES)

__all__ = [
    "BASELINES", "DEFAULT", "LABELS", "NAMES", "STRATEGIES", "CheckRun", "CommitFacts", "Judge", "check_runs",
    "check_table",    "outcome_frame", "outcome_rows", "outcomes_of", "reverts", "session_outcome",
]  # fmt: skip


def outcomes_of(
    session: Session,
    strategies: Sequence[str] = DEFAULT,
    *,
    commits: CommitFacts | None = None,
    judge: Judge | None = None,
) -> dict[str, Outcome]:
    """The outcome by each of the strategies, by name, in the order asked.

    `commits` are facts for strategy ``commit`` (without them it is unknown). `judge` is asked for ``judge``, and its
    answer goes into ``evidence`` when it is given. Raises `QueryError` for a name that does not exist.

    Example:
        >>> from sessionbank.trajectory.outcome import outcomes_of
        >>> session = bank.get_by_session_id("6d52dd5f-87d8-438c-b5ff-ca1b4cb7438f")
        >>> said = outcomes_of(session, ["end_state", "checks"])
        >>> [(name, o.label, o.reason) for name, o in said.items()]
        [('end_state', 'success', 'how it ends: reply done, finished'), ('checks', 'success', 'last checks: test passed (3 passed)')]
    """
    unheard = [s for s in strategies if s not in NAMES]
    if unheard:
        raise QueryError(f"no outcome strategy {unheard[0]!r}; there are {', '.join(NAMES)}")
    if "judge" in strategies and judge is None:
        raise QueryError(
            "strategy 'judge' needs judge=: a callable, a command or a model (see outcomes.judge)"
        )
    wanted = list(STRATEGIES) if "evidence" in strategies else [s for s in strategies if s in STRATEGIES]
    said = {name: STRATEGIES[name](session, commits) for name in wanted}
    said.update({name: BASELINES[name](session, commits) for name in strategies if name in BASELINES})
    if judge is not None and ("judge" in strategies or "evidence" in strategies):
        said["judge"] = judge(session)
    if "evidence" in strategies:
        said["evidence"] = evidence.combined(session.session_id, said)
    return {name: said[name] for name in strategies}


def session_outcome(
    session: Session,
    strategy: str | Judge = "evidence",
    *,
    commits: CommitFacts | None = None,
) -> Outcome:
    """The outcome by one strategy, or by a judge. Raises `QueryError` for a name that does not exist.

    Example:
        >>> from sessionbank.trajectory.outcome import session_outcome
        >>> session_outcome(bank.get_by_session_id("6d52dd5f-87d8-438c-b5ff-ca1b4cb7438f"), "summary").score
        0.92
    """
    if callable(strategy):
        return strategy(session)
    return outcomes_of(session, (strategy,), commits=commits)[strategy]


def outcome_rows(
    session: Session,
    commits: CommitFacts | None = None,
    *,
    strategies: Sequence[str] = DEFAULT,
    judge: Judge | None = None,
) -> list[dict[str, Any]]:
    """Rows of table ``outcomes``, one a strategy: scores and confidences from 0 to 1, evidence as a JSON list.

    Example:
        >>> from sessionbank.trajectory.outcome import outcome_rows
        >>> session = bank.get_by_session_id("6d52dd5f-87d8-438c-b5ff-ca1b4cb7438f")
        >>> [(row["strategy"], row["label"]) for row in outcome_rows(session, session.commit_facts, strategies=["commit"])]
        [('commit', 'success')]
    """
    return [
        {
            "session_id": session.session_id,
            "strategy": name,
            "label": o.label,
            "score": o.score,
            "confidence": o.confidence,
            "reason": o.reason,
            "evidence": json.dumps(list(o.evidence), ensure_ascii=False),
        }
        for name, o in outcomes_of(session, strategies, commits=commits, judge=judge).items()
    ]


def outcome_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A typed frame of table ``outcomes`` from its rows.

    Example:
        >>> from sessionbank.trajectory.outcome import outcome_frame
        >>> list(outcome_frame([]).columns)
        ['session_id', 'strategy', 'label', 'score', 'confidence', 'reason', 'evidence']
    """
    from sessionbank import schema

    columns = schema.table("outcomes").columns
    return schema.frame(schema.arrow_table("outcomes", [tuple(r[c] for c in columns) for r in rows]))
