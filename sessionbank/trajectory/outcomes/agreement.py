"""Strategies against each other and against a person's labels: agreement, Cohen's kappa, accuracy with intervals.

Few sessions prove little, so every share comes with its interval. No library of statistics is needed for these
formulas:
Wilson's interval of a share (Wilson 1927), the square-and-add interval of a mean of shares (Newcombe 2001, MOVER),
kappa (Cohen 1960).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from sessionbank.errors import QueryError
from sessionbank.trajectory.outcomes.labels import Label, label_map

if TYPE_CHECKING:
    import pandas as pd

Z = 1.959963984540054  # 95 %
KNOWN = ("success", "partial", "failure")


def wilson(right: int, of: int, *, z: float = Z) -> tuple[float, float]:
    """The interval of a share, `right` of `of`; (0, 1) where there is nothing to count.

    Example:
        >>> from sessionbank.trajectory.outcomes.agreement import wilson
        >>> tuple(round(x, 3) for x in wilson(19, 20))
        (0.764, 0.991)
    """
    if of == 0:
        return 0.0, 1.0
    share, extra = right / of, z * z / of
    middle = (share + extra / 2) / (1 + extra)
    half = z * math.sqrt(share * (1 - share) / of + extra / (4 * of)) / (1 + extra)
    return max(0.0, min(middle - half, share)), min(1.0, max(middle + half, share))


def balanced(counts: Iterable[tuple[int, int]], *, z: float = Z) -> tuple[float, float, float]:
    """Balanced accuracy with its interval, from (right, of) of each class that occurs.

    Example:
        >>> from sessionbank.trajectory.outcomes.agreement import balanced
        >>> round(balanced([(9, 10), (1, 2), (0, 0)])[0], 2)
        0.7
    """
    known = [(right, of) for right, of in counts if of]
    if not known:
        return math.nan, math.nan, math.nan
    shares = [right / of for right, of in known]
    bounds = [wilson(right, of, z=z) for right, of in known]
    mean = sum(shares) / len(shares)
    down = math.sqrt(sum((p - low) ** 2 for p, (low, _) in zip(shares, bounds, strict=True))) / len(shares)
    up = math.sqrt(sum((high - p) ** 2 for p, (_, high) in zip(shares, bounds, strict=True))) / len(shares)
    return mean, max(0.0, mean - down), min(1.0, mean + up)


def kappa(pairs: Iterable[tuple[str, str]]) -> float:
    """Cohen's kappa of pairs of labels; NaN without pairs, or where both always give the same one label.

    Example:
        >>> from sessionbank.trajectory.outcomes.agreement import kappa
        >>> kappa([("success", "success"), ("failure", "failure"), ("success", "failure"), ("failure", "success")])
        0.0
    """
    both = list(pairs)
    if not both:
        return math.nan
    labels = {x for pair in both for x in pair}
    seen = sum(a == b for a, b in both) / len(both)
    chance = sum(
        (sum(a == x for a, _ in both) / len(both)) * (sum(b == x for _, b in both) / len(both))
        for x in labels
    )
    return math.nan if math.isclose(chance, 1.0) else (seen - chance) / (1 - chance)


def agreement(frame: pd.DataFrame) -> pd.DataFrame:
    """How often two strategies agree: one row a pair, from a frame of table ``outcomes``.

    Columns: a, b, sessions (both know a label), agree, share, low, high (95 %, Wilson), kappa. Sessions of which
    one says unknown do not count. Raises `QueryError` for a frame without the columns.

    Example:
        >>> from sessionbank.trajectory.outcomes.agreement import agreement
        >>> frame = bank.query(limit=8, sort="oldest").outcomes(["evidence", "baseline_success"])
        >>> agreement(frame)[["a", "b", "sessions", "agree"]].values.tolist()
        [['evidence', 'baseline_success', 8, 6]]
    """
    import pandas as pd

    wide = _wide(frame)
    rows = []
    names = list(wide.columns)
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            pairs = [(x, y) for x, y in zip(wide[a], wide[b], strict=True) if x in KNOWN and y in KNOWN]
            same = sum(x == y for x, y in pairs)
            low, high = wilson(same, len(pairs))
            rows.append(
                (a, b, len(pairs), same, same / len(pairs) if pairs else math.nan, low, high, kappa(pairs))
            )
    columns = ["a", "b", "sessions", "agree", "share", "low", "high", "kappa"]
    return pd.DataFrame(rows, columns=columns).astype(
        {"a": "str", "b": "str", "sessions": "Int64", "agree": "Int64"}
    )


def accuracy(frame: pd.DataFrame, labels: Mapping[str, str] | Iterable[Label] | pd.DataFrame) -> pd.DataFrame:
    """How right each strategy is: one row a strategy, from a frame of table ``outcomes`` and a person's labels.

    Labels are a mapping session id -> label, `Label` objects, or a frame with session_id and label; sessions labelled
    unknown do not count. An answer unknown is wrong, and `answered` says how many were not. Columns: strategy,
    sessions,
    answered, right, accuracy, low, high (95 %, Wilson), balanced, balanced_low, balanced_high (mean of the shares of
    each label, Newcombe), success_right, partial_right, failure_right (shares; missing where no session has the label).
    Raises `QueryError` when no labelled session is in the frame.

    Example:
        >>> from sessionbank.trajectory.outcomes.agreement import accuracy
        >>> labels = {"6d52dd5f-87d8-438c-b5ff-ca1b4cb7438f": "success"}
        >>> frame = bank.query(limit=8, sort="oldest").outcomes(["evidence", "summary"])
        >>> accuracy(frame, labels)[["strategy", "right", "sessions"]].values.tolist()
        [['evidence', 1, 1], ['summary', 1, 1]]
    """
    import pandas as pd

    truth = {k: v for k, v in _truth(labels).items() if v in KNOWN}
    wide = _wide(frame)
    wide = wide[wide.index.isin(list(truth))]
    if wide.empty:
        raise QueryError("none of the labelled sessions is among these outcomes")
    real = [truth[s] for s in wide.index]
    rows = []
    for name in wide.columns:
        said = [x if x in KNOWN else "unknown" for x in wide[name]]
        by_class = [(sum(s == t == c for s, t in zip(said, real, strict=True)), real.count(c)) for c in KNOWN]
        right = sum(r for r, _ in by_class)
        rows.append((
            name, len(real), sum(s != "unknown" for s in said), right, right / len(real), *wilson(right, len(real)),
            *balanced(by_class), *(r / of if of else math.nan for r, of in by_class),
        ))  # fmt: skip
    columns = [
        "strategy", "sessions", "answered", "right", "accuracy", "low", "high", "balanced", "balanced_low",
        "balanced_high",        *(f"{c}_right" for c in KNOWN),
    ]  # fmt: skip
    kinds = {"strategy": "str", "sessions": "Int64", "answered": "Int64", "right": "Int64"}
    return pd.DataFrame(rows, columns=columns).astype(kinds)


def _wide(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a session, one column a strategy, labels as values."""
    missing = {"session_id", "strategy", "label"} - set(frame.columns)
    if missing:
        raise QueryError(f"not a frame of outcomes: no column {', '.join(sorted(missing))}")
    order = list(dict.fromkeys(frame["strategy"]))
    wide = frame.pivot(index="session_id", columns="strategy", values="label")
    return wide.reindex(columns=order)


def _truth(labels: Mapping[str, str] | Iterable[Label] | pd.DataFrame) -> dict[str, str]:
    import pandas as pd

    if isinstance(labels, pd.DataFrame):
        return dict(zip(labels["session_id"], labels["label"], strict=True))
    if isinstance(labels, Mapping):
        return dict(labels)
    return label_map(labels)
