"""How sure we are, as numbers with a stated meaning: Beta posteriors of rates, and which of many practices matter.

`rate` is the posterior of a share of successes (uniform prior). `effects` weighs every small set of practices as an
explanation of the runs' outcomes and averages over them (Bayesian model averaging of linear models with Zellner's
g-prior, g = number of runs), so that a practice is not credited with what another did, and twenty practices that do
nothing do not yield one that seems to. Both shrink to "we do not know" with little data. No run is read here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PRIOR = 0.2  # chance, before any run is seen, that a practice matters
TOGETHER = 3  # practices that one explanation may hold
MANY = 40  # practices beyond which the weakest are left out before sets are formed


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of successes: posterior mean and the interval that holds it with 80 %."""

    successes: float
    failures: float
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Effect:
    """What a practice does to the outcome score (0 to 1) of a run, other practices accounted for."""

    probability: float  # that it matters at all, 0 to 1
    change: float  # expected change of the score where it is present, given that it matters
    alike: tuple[
        str, ...
    ] = ()  # practices present in the very same runs (or the very others): they share the credit


def rate(successes: float, failures: float) -> Rate:
    """Posterior of a rate after `successes` and `failures` (halves allowed), from a uniform prior."""
    a, b = successes + 1, failures + 1
    return Rate(successes, failures, a / (a + b), beta_quantile(0.1, a, b=b), beta_quantile(0.9, a, b=b))


def beta_quantile(p: float, a: float, *, b: float) -> float:
    """The value below which a Beta(a, b) lies with probability `p`, by bisection; exact to 1e-9."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if beta_below(middle, a, b=b) < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def beta_below(x: float, a: float, *, b: float) -> float:
    """Probability that a Beta(a, b) is below `x`: the regularised incomplete beta function, by continued fraction."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_below(1 - x, b, b=a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    tiny = 1e-300
    c, d = 1.0, 1 / max(tiny, 1 - (a + b) * x / (a + 1))
    total = d
    for m in range(1, 300):
        for top in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + top * d) or tiny)
            c = (1 + top / c) or tiny
            total *= d * c
        if abs(d * c - 1) < 1e-12:
            break
    return front * total / a


def effects(presence: Mapping[str, Sequence[bool]], scores: Sequence[float]) -> dict[str, Effect]:
    """For each practice, how probable it is that it matters and what it changes.

    `presence` maps a practice to one flag a run; `scores` holds the runs' outcomes, 0 (failure) to 1 (success), in the
    same order. A practice that is present in all runs or in none cannot be judged: probability 0, change 0.
    """
    count = len(scores)
    found = {name: Effect(0.0, 0.0) for name in presence}
    columns = _columns(presence)
    if not columns or count < 4:
        return found
    mean = math.fsum(scores) / count
    centred = [s - mean for s in scores]
    spread = math.fsum(v * v for v in centred)
    if spread < 1e-12:  # all ended alike: nothing to explain
        return found
    vectors = {key: _centre(key) for key in columns}
    pulls = {key: math.fsum(a * b for a, b in zip(v, centred, strict=True)) for key, v in vectors.items()}
    lengths = {key: math.fsum(a * a for a in v) for key, v in vectors.items()}
    keys = sorted(columns, key=lambda k: (-(pulls[k] ** 2) / lengths[k], columns[k]))[:MANY]
    size = 2 if len(keys) > 24 else TOGETHER
    models = list(_models(keys, vectors, pulls=pulls, spread=spread, count=count, size=size))
    highest = max(m[2] for m in models)
    total = math.fsum(math.exp(m[2] - highest) for m in models)
    for place, key in enumerate(keys):
        holding = [(m, math.exp(m[2] - highest) / total) for m in models if place in m[0]]
        probability = min(1.0, math.fsum(w for _, w in holding))
        change = (
            math.fsum(w * m[1][m[0].index(place)] for m, w in holding) / probability if probability else 0.0
        )
        names = columns[key]
        for name in names:
            sign = 1 if tuple(map(bool, presence[name])) == key else -1
            found[name] = Effect(probability, sign * change, tuple(n for n in names if n != name))
    return found


def _columns(presence: Mapping[str, Sequence[bool]]) -> dict[tuple[bool, ...], list[str]]:
    """Names by their flags. Flags and their exact opposite say the same, so they stand under one key."""
    columns: dict[tuple[bool, ...], list[str]] = {}
    for name in sorted(presence):
        flags = tuple(map(bool, presence[name]))
        if any(flags) and not all(flags):
            turned = tuple(not f for f in flags)
            columns.setdefault(turned if turned in columns else flags, []).append(name)
    return columns


def _centre(flags: Sequence[bool]) -> list[float]:
    mean = sum(flags) / len(flags)
    return [f - mean for f in flags]


def _models(
    keys: list[tuple[bool, ...]],
    vectors: Mapping[tuple[bool, ...], list[float]],
    *,
    pulls: Mapping[tuple[bool, ...], float],
    spread: float,
    count: int,
    size: int,
) -> list[tuple[tuple[int, ...], list[float], float]]:
    """Every set of up to `size` practices: places, fitted changes, log of its weight."""
    n = len(keys)
    cross = [
        [math.fsum(a * b for a, b in zip(vectors[k], vectors[j], strict=True)) for j in keys] for k in keys
    ]
    pull = [pulls[k] for k in keys]
    shrink = count / (count + 1)  # g / (1 + g)
    models = []
    for held in range(min(size, n) + 1):
        prior = held * math.log(PRIOR) + (n - held) * math.log(1 - PRIOR)
        for places in itertools.combinations(range(n), held):
            fitted = _solve([[cross[i][j] for j in places] for i in places], [pull[i] for i in places])
            if fitted is None:
                continue
            explained = sum(f * pull[i] for f, i in zip(fitted, places, strict=True)) / spread
            left = max(1e-9, 1 - explained)
            weight = (count - 1 - held) / 2 * math.log1p(count) - (count - 1) / 2 * math.log1p(count * left)
            models.append((places, [f * shrink for f in fitted], weight + prior))
    return models


def _solve(matrix: list[list[float]], right: list[float]) -> list[float] | None:
    """Gauss with pivots; None where columns depend on one another."""
    n = len(right)
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for i in range(n):
        best = max(range(i, n), key=lambda r: abs(rows[r][i]))
        if abs(rows[best][i]) < 1e-9:
            return None
        rows[i], rows[best] = rows[best], rows[i]
        for r in range(i + 1, n):
            factor = rows[r][i] / rows[i][i]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i], strict=True)]
    answer = [0.0] * n
    for i in range(n - 1, -1, -1):
        answer[i] = (rows[i][n] - sum(rows[i][j] * answer[j] for j in range(i + 1, n))) / rows[i][i]
    return answer
