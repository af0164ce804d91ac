"""Scores: which steps and interactions of a team's run deserve a reader's attention, with the reasons in words.

Each part is a column in [0, 1]. A total is the chance that at least one part is reason enough,
``1 - product(1 - weight * part)``: one glaring fault suffices, many small signs add up, and the total stays in
[0, 1]. A weight is how far its part alone can lift the total.

Steps: ``promise`` (half: nearness to the start or the end of the run, which set and settle its course; half: n /
(n + 3) for the n identifiers that first stand here and are used later), ``progress`` (what the action moved: `PROGRESS`
by kind; a failure of work that stayed counts full, one that was mended and the step that mended it nearly so) and
``interaction_bonus`` (0.3 and up to 0.7 more with the largest total of the interactions that it touches; 0 inside).

Interactions: the parts of `interaction_parts`. Into the total go failure to succeed downstream, the latency penalty,
being emergent, and information density; ``quality`` is the weighted mean of success, quickness, being expected and
density: how well it went, where the total says how much it matters. A missing part takes no part; where nothing but
density is known, how well it went is not: quality is missing, and the reason says so.

Critical are the highest totals that reach the threshold, at most `max_critical_ratio` of all, rounded down. Equal
totals go by time, then by the order of members and steps. No model is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sessionbank.errors import QueryError
from sessionbank.sources.no_gc import no_gc
from sessionbank.team.activity import links, millis
from sessionbank.team.interaction_parts import PARTS, Parts, interaction_parts
from sessionbank.team.step_facts import MENDED, WORK_KINDS, AgentFacts, facts

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from sessionbank.team.model import Team

INTERACTION_PARTS = PARTS
STEP_PARTS = ("promise", "progress", "interaction_bonus")
PROGRESS = {
    "commit": 0.7, "write": 0.6, "check": 0.5, "coordinate": 0.4, "run": 0.4, "respond": 0.4, "other": 0.3,
    "read": 0.2,
}  # fmt: skip
FAILED_OPEN, FAILED_MENDED, MENDING, FAILED_LOOK = 1.0, 0.7, 0.8, 0.3
NEVER = 1 << 62  # time of what has none: last

STEP_COLUMNS = {
    "agent_id": "str", "step": "Int64", "kind": "str", "is_boundary": "boolean", "promise": "float64",
    "progress": "float64", "interaction_bonus": "float64", "total": "float64", "rank": "Int64",
    "is_critical": "boolean", "order": "Int64", "reason": "str",
}  # fmt: skip
INTERACTION_COLUMNS = {
    "interaction_id": "str", "type": "str", "from_agent": "str", "to_agent": "str", "downstream_success": "float64",
    "latency_penalty": "float64", "expected": "float64", "information_density": "float64", "quality": "float64",
    "total": "float64", "rank": "Int64", "is_critical": "boolean", "reason": "str",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScoreConfig:
    """Weights of the parts, each in [0, 1], and what makes a step or an interaction critical.

    Raises `QueryError` for values out of range and parts that do not exist.

    Example:
        >>> sb.team.ScoreConfig(max_critical_ratio=0.1).step_weights
        {'promise': 0.3, 'progress': 0.8, 'interaction_bonus': 0.5}
        >>> sb.team.ScoreConfig(max_critical_ratio=3)
        Traceback (most recent call last):
            ...
        sessionbank.errors.QueryError: max_critical_ratio is 3; it must lie between 0 and 1
    """

    step_weights: Mapping[str, float] = field(
        default_factory=lambda: {"promise": 0.3, "progress": 0.8, "interaction_bonus": 0.5}
    )
    interaction_weights: Mapping[str, float] = field(
        default_factory=lambda: {
            "downstream_success": 0.8,
            "latency_penalty": 0.6,
            "expected": 0.35,
            "information_density": 0.25,
        }
    )
    max_critical_ratio: float = 0.25
    critical_step_threshold: float = 0.3
    critical_interaction_threshold: float = 0.3

    def __post_init__(self) -> None:
        for name, parts in (("step_weights", STEP_PARTS), ("interaction_weights", INTERACTION_PARTS)):
            given = getattr(self, name)
            if set(given) != set(parts):
                raise QueryError(
                    f"{name} must name exactly {', '.join(parts)}; it names {', '.join(given) or 'none'}"
                )
            for part, weight in given.items():
                _in_range(f"{name}[{part!r}]", weight)
        for name in ("max_critical_ratio", "critical_step_threshold", "critical_interaction_threshold"):
            _in_range(name, getattr(self, name))


def _in_range(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise QueryError(f"{name} is {value}; it must lie between 0 and 1")


@dataclass(frozen=True)
class TeamScores:
    """What `score` gives: a frame of all steps and one of all interactions, in the order of the team's own frames.

    Columns: `STEP_COLUMNS` and `INTERACTION_COLUMNS`; rank 1 is the highest total, order counts steps in time.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> scores = sb.team.score(run)
        >>> scores.critical_ratio
        0.25
        >>> scores.critical_steps["reason"].iloc[0]
        'it ended as error, and nothing mended it; an interaction touches it'
    """

    steps: pd.DataFrame
    interactions: pd.DataFrame
    config: ScoreConfig

    @property
    def critical_steps(self) -> pd.DataFrame:
        """The critical rows of `steps`, highest total first."""
        return self.steps[self.steps["is_critical"]].sort_values("rank")

    @property
    def critical_interactions(self) -> pd.DataFrame:
        """The critical rows of `interactions`, highest total first."""
        return self.interactions[self.interactions["is_critical"]].sort_values("rank")

    @property
    def critical_ratio(self) -> float | None:
        """Share of all steps that are critical; None without steps."""
        return float(self.steps["is_critical"].mean()) if len(self.steps) else None


@no_gc()
def score(team: Team, config: ScoreConfig | None = None) -> TeamScores:
    """Score the steps and interactions of a team. Same input, same output.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> scores = sb.team.score(run)
        >>> scores.critical_interactions[["type", "from_agent", "to_agent"]].iloc[0].tolist()
        ['signal', 'team-lead', '*']
    """
    config = config or ScoreConfig()
    where = links(team)
    known = facts(team)
    parts = interaction_parts(team, where, known)
    interactions = _interactions(team, parts, config)
    totals = dict(zip(interactions["interaction_id"], interactions["total"].tolist(), strict=True))
    return TeamScores(_steps(known, totals, config), interactions, config)


def combined(parts: Sequence[np.ndarray[Any, Any]], weights: Sequence[float]) -> np.ndarray[Any, Any]:
    """Totals of columns of parts: 1 - product(1 - weight * part); a missing part (NaN) takes no part."""
    import numpy as np

    left = np.ones(len(parts[0]))
    for column, weight in zip(parts, weights, strict=True):
        left *= 1 - weight * np.nan_to_num(column, nan=0.0)
    return np.clip(np.round(1 - left, 12), 0.0, 1.0)  # rounded: equal sums in another order are equal


def attention(frame: pd.DataFrame) -> list[np.ndarray[Any, Any]]:
    """The parts of interactions as they go into the total: failure, penalty, emergence, density."""
    import numpy as np

    down, late, expected, dense = (
        frame[c].to_numpy(dtype=np.float64, na_value=np.nan) for c in INTERACTION_PARTS
    )
    return [1 - down, late, 1 - expected, dense]


def critical(
    total: np.ndarray[Any, Any], order: np.ndarray[Any, Any], *, threshold: float, ratio: float
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Ranks (from 1) and which are critical. `order` breaks ties: the smaller first."""
    import numpy as np

    by_rank = np.lexsort((order, -total))
    rank = np.empty(len(total), dtype=np.int64)
    rank[by_rank] = np.arange(1, len(total) + 1)
    return rank, (rank <= int(len(total) * ratio + 1e-9)) & (total >= threshold)


def time_order(times: Sequence[int | None]) -> np.ndarray[Any, Any]:
    """Places in time of things listed in their own order; what has no time comes last."""
    import numpy as np

    by_time = np.argsort(np.array([NEVER if t is None else t for t in times], dtype=np.int64), kind="stable")
    order = np.empty(len(times), dtype=np.int64)
    order[by_time] = np.arange(len(times))
    return order


Columns = Sequence["np.ndarray[Any, Any]"]


def weighed_interactions(team: Team, parts: Columns, config: ScoreConfig) -> Columns:
    """Quality, total, rank and being critical of a team's interactions, by columns of `INTERACTION_PARTS`."""
    import numpy as np

    weights = [config.interaction_weights[p] for p in INTERACTION_PARTS]
    down, late, expected, dense = parts
    total = combined([1 - down, late, 1 - expected, dense], weights)
    good = np.array([down, 1 - late, expected, dense])
    share = np.where(np.isnan(good), 0.0, np.array(weights)[:, None])
    mass = share.sum(axis=0)
    is_told = ~np.isnan(good[:3]).all(axis=0) & (mass > 0)
    quality = np.where(is_told, np.nansum(good * share, axis=0) / np.where(mass > 0, mass, 1), np.nan)
    rank, is_critical = critical(
        total, time_order([millis(e.timestamp) for e in team.interaction_list]),
        threshold=config.critical_interaction_threshold, ratio=config.max_critical_ratio,
    )  # fmt: skip
    return quality, total, rank, is_critical


def weighed_steps(order: np.ndarray[Any, Any], parts: Columns, config: ScoreConfig) -> Columns:
    """Total, rank and being critical of steps, by columns of `STEP_PARTS`."""
    import numpy as np

    total = combined(parts, [config.step_weights[p] for p in STEP_PARTS]) if len(parts[0]) else np.empty(0)
    rank, is_critical = critical(
        total, order, threshold=config.critical_step_threshold, ratio=config.max_critical_ratio
    )
    return total, rank, is_critical


def _interactions(team: Team, parts: Sequence[Parts], config: ScoreConfig) -> pd.DataFrame:
    import numpy as np

    from sessionbank.team.metrics import typed_frame

    edges = team.interaction_list
    columns = [
        np.array([np.nan if (v := getattr(p, name)) is None else v for p in parts], dtype=np.float64)
        for name in INTERACTION_PARTS
    ]
    quality, total, rank, is_critical = weighed_interactions(team, columns, config)
    rows = [
        (
            e.interaction_id, e.type, e.from_agent, e.to_agent, *(c[k] for c in columns), quality[k], total[k],
            int(rank[k]), bool(is_critical[k]), _why(parts[k]),
        )
        for k, e in enumerate(edges)
    ]  # fmt: skip
    return typed_frame(rows, INTERACTION_COLUMNS)


def _why(parts: Parts) -> str:
    """The reasons in words; that nothing tells how it went is one, since its quality is then missing."""
    is_untold = parts.downstream_success is parts.latency_penalty is parts.expected is None
    told = [*parts.reasons, "nothing tells how it went"] if is_untold else parts.reasons
    return "; ".join(told) or "nothing stands out"


def _steps(known: Mapping[str, AgentFacts], totals: Mapping[str, float], config: ScoreConfig) -> pd.DataFrame:
    import numpy as np

    from sessionbank.team.metrics import typed_frame

    made = [row for mine in known.values() for row in _step_parts(mine, totals)]
    columns = [np.array([m[k] for m in made], dtype=np.float64) for k in range(3)]
    steps = [s for mine in known.values() for s in mine.steps]
    agents = [a for a, mine in known.items() for _ in mine.steps]
    order = time_order([millis(s.started_at) for s in steps])
    total, rank, is_critical = weighed_steps(order, columns, config)
    rows = [
        (agent, s.step, m[3], s.is_boundary, m[0], m[1], m[2], t, r, c, o, m[4])
        for agent, s, m, t, r, c, o in zip(
            agents,
            steps,
            made,
            total.tolist(),
            rank.tolist(),
            is_critical.tolist(),
            order.tolist(),
            strict=True,
        )
    ]
    return typed_frame(rows, STEP_COLUMNS)


def bonus_of(totals: Iterable[float]) -> float:
    """The interaction bonus of a step that interactions with these totals touch."""
    return 0.3 + 0.7 * max(totals, default=0.0)


def _step_parts(mine: AgentFacts, totals: Mapping[str, float]) -> list[tuple[float, float, float, str, str]]:
    """Promise, progress, bonus, kind and reason of each step of one agent."""
    n = len(mine.steps)
    rows = []
    for at, step in enumerate(mine.steps):
        kind, failed, new = mine.kinds[at], mine.failures[at], mine.introduced[at]
        edge = abs(2 * (at + 0.5) / n - 1)
        why = [f"{new} identifiers first seen here are used later"] if new > 2 else []
        if failed is not None and kind in WORK_KINDS:
            is_mended = mine.ends[at] == MENDED
            progress = FAILED_MENDED if is_mended else FAILED_OPEN
            how = (
                "its status is ok, its output says it failed"
                if failed == "silent"
                else f"it ended as {failed}"
            )
            why.append(f"{how}, {'mended later' if is_mended else 'and nothing mended it'}")
        elif failed is not None:
            progress = FAILED_LOOK
        elif mine.mends[at]:
            progress = MENDING
            why.append("it went well where earlier tries had failed")
        else:
            progress = PROGRESS[kind]
        bonus = 0.0
        if step.interaction_ids:
            bonus = bonus_of(totals.get(i, 0.0) for i in step.interaction_ids)
            n_edges = len(step.interaction_ids)
            why.append(f"{n_edges} interactions touch it" if n_edges > 1 else "an interaction touches it")
        rows.append(
            (0.5 * edge + 0.5 * new / (new + 3), progress, bonus, kind, "; ".join(why) or f"{kind} step")
        )
    return rows
