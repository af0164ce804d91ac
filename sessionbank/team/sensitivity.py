"""How the critical set of a team changes with the weights: each weight is turned up, down and off, one at a time.

Parts are taken as `score` worked them out; only weights differ, also where a step's bonus rests on its interactions'
totals. Nothing is judged here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessionbank.team.score import (
    INTERACTION_PARTS,
    STEP_PARTS,
    ScoreConfig,
    attention,
    combined,
    critical,
    score,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from sessionbank.team.model import Team

FACTORS = (0.0, 0.5, 1.5)
CHANGE_COLUMNS = {
    "of": "str", "weight": "str", "factor": "float64", "value": "float64", "critical": "Int64", "entered": "Int64",
    "left": "Int64", "overlap": "float64",
}  # fmt: skip


@dataclass(frozen=True)
class Sensitivity:
    """What `sensitivity` gives.

    `changes`: one row a changed weight and kind of thing (steps, interactions): how many are critical then, how many
    entered and left, and overlap (those in both sets over those in either; 1 where both are empty). `steps` and
    `interactions`: the frames of `score` with a column stability, the share of all settings, the given one among
    them, in which the row is critical.
    """

    changes: pd.DataFrame
    steps: pd.DataFrame
    interactions: pd.DataFrame


def sensitivity(
    team: Team, config: ScoreConfig | None = None, *, factors: Iterable[float] = FACTORS
) -> Sensitivity:
    """Score a team once, then again with each weight multiplied by each factor (cut to 1), and compare.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> found = sb.team.sensitivity(run, factors=(0.5, 2))
        >>> found.changes["overlap"].min().round(2).item()
        0.52
    """
    import numpy as np

    from sessionbank.team.metrics import typed_frame

    config = config or ScoreConfig()
    base = score(team, config)
    edges, steps = (
        attention(base.interactions),
        [base.steps[p].to_numpy(dtype=np.float64) for p in STEP_PARTS],
    )
    places = {key: k for k, key in enumerate(base.interactions["interaction_id"])}
    touch = [
        (k, [places[i] for i in s.interaction_ids if i in places])
        for k, s in enumerate(s for mine in team.step_lists.values() for s in mine)
        if s.interaction_ids
    ]
    ranks = (base.steps["rank"].to_numpy(dtype=np.int64), base.interactions["rank"].to_numpy(dtype=np.int64))
    before = (
        base.steps["is_critical"].to_numpy(dtype=bool),
        base.interactions["is_critical"].to_numpy(dtype=bool),
    )
    counts = [before[0].astype(np.int64), before[1].astype(np.int64)]
    rows: list[tuple[Any, ...]] = []
    settings = list(_settings(config, factors))
    for weight, factor, changed in settings:
        now = _critical(changed, edges, steps, touch=touch, ranks=ranks)
        of = ("steps", "interactions")
        for k in range(2):
            counts[k] += now[k]
            both, either = int((now[k] & before[k]).sum()), int((now[k] | before[k]).sum())
            value = {**changed.step_weights, **changed.interaction_weights}[weight]
            rows.append((
                of[k], weight, factor, value, int(now[k].sum()), int((now[k] & ~before[k]).sum()),
                int((before[k] & ~now[k]).sum()), both / either if either else 1.0,
            ))  # fmt: skip
    share = [c / (len(settings) + 1) for c in counts]
    return Sensitivity(
        typed_frame(rows, CHANGE_COLUMNS),
        base.steps.assign(stability=share[0]),
        base.interactions.assign(stability=share[1]),
    )


def _settings(config: ScoreConfig, factors: Iterable[float]) -> Iterable[tuple[str, float, ScoreConfig]]:
    factors = tuple(factors)
    for name, parts in (("step_weights", STEP_PARTS), ("interaction_weights", INTERACTION_PARTS)):
        weights: Mapping[str, float] = getattr(config, name)
        for part in parts:
            for factor in factors:
                changed: Any = {name: {**weights, part: min(1.0, weights[part] * factor)}}
                yield part, factor, dataclasses.replace(config, **changed)


def _critical(
    config: ScoreConfig,
    edges: list[np.ndarray[Any, Any]],
    steps: list[np.ndarray[Any, Any]],
    *,
    touch: list[tuple[int, list[int]]],
    ranks: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]],
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Which steps and interactions are critical under other weights; ties go by the ranks under the given ones."""
    totals = combined(edges, [config.interaction_weights[p] for p in INTERACTION_PARTS])
    bonus = steps[2].copy()
    for k, mine in touch:
        bonus[k] = 0.3 + 0.7 * max((totals[i] for i in mine), default=0.0)
    step_totals = combined([steps[0], steps[1], bonus], [config.step_weights[p] for p in STEP_PARTS])
    ratio = config.max_critical_ratio
    return (
        critical(step_totals, ranks[0], threshold=config.critical_step_threshold, ratio=ratio)[1],
        critical(totals, ranks[1], threshold=config.critical_interaction_threshold, ratio=ratio)[1],
    )
