"""The same scores under other weights and thresholds, at once: what a slider asks for.

The parts stay as `score` worked them out; only what hangs on weights is done anew, a step's bonus among it. Nothing is
read of the steps' texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionbank.errors import QueryError
from sessionbank.team.score import (
    INTERACTION_PARTS,
    STEP_PARTS,
    ScoreConfig,
    TeamScores,
    bonus_of,
    weighed_interactions,
    weighed_steps,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from sessionbank.team.model import Team


def reweigh(team: Team, scores: TeamScores, config: ScoreConfig) -> TeamScores:
    """The scores of a team under another configuration: equal to ``score(team, config)``, in a fraction of its time.

    `scores` are those of this very team; raises `QueryError` where they are of another one.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> scores = sb.team.score(run)
        >>> calm = sb.team.reweigh(run, scores, sb.team.ScoreConfig(critical_step_threshold=0.9))
        >>> len(scores.critical_steps), len(calm.critical_steps)
        (14, 1)
    """
    import numpy as np
    import pandas as pd

    edges, steps = scores.interactions, scores.steps
    own = [s for mine in team.step_lists.values() for s in mine]
    if (
        len(own) != len(steps)
        or [e.interaction_id for e in team.interaction_list] != edges["interaction_id"].to_list()
    ):
        raise QueryError("these scores are of another team; score this one first")
    parts = [_numbers(edges, p) for p in INTERACTION_PARTS]
    quality, total, rank, is_critical = weighed_interactions(team, parts, config)
    edges = edges.assign(
        quality=quality,
        total=total,
        rank=pd.array(rank, "Int64"),
        is_critical=pd.array(is_critical, "boolean"),
    )
    totals = dict(zip(edges["interaction_id"], total.tolist(), strict=True))
    bonus = _numbers(steps, "interaction_bonus").copy()
    for place, step in enumerate(own):
        if step.interaction_ids:
            bonus[place] = bonus_of(totals.get(i, 0.0) for i in step.interaction_ids)
    order = steps["order"].to_numpy(dtype=np.int64)
    columns = [*(_numbers(steps, p) for p in STEP_PARTS[:2]), bonus]
    total, rank, is_critical = weighed_steps(order, columns, config)
    steps = steps.assign(
        interaction_bonus=bonus,
        total=total,
        rank=pd.array(rank, "Int64"),
        is_critical=pd.array(is_critical, "boolean"),
    )
    return TeamScores(steps, edges, config)


def _numbers(frame: pd.DataFrame, column: str) -> np.ndarray[Any, Any]:
    import numpy as np

    found: np.ndarray[Any, Any] = frame[column].to_numpy(dtype=np.float64, na_value=np.nan)
    return found
