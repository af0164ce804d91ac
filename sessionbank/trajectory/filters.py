"""Choosing trajectories: by outcome, domain, length and the agent's share; sampling by that share. All of it lazy.

A session gives one trajectory, whatever number of snapshots of it are stored, so no history comes twice.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sessionbank.errors import QueryError
from sessionbank.records import Session
from sessionbank.trajectory.model import LABELS, Outcome, Trajectory
from sessionbank.trajectory.synthesis import synthesize


def trajectories(
    selection: Iterable[Session], *, domain: str | None = None, success_only: bool = False,
    labels: Iterable[str] | None = None, min_steps: int = 1, max_steps: int | None = None,
    min_agent_share: float | None = None, outcome: str | Callable[[Session], Outcome] | None = "evidence",
    limit: int | None = None, repository: str | None = None, commits: Any = None,
) -> Iterator[Trajectory]:  # fmt: skip
    """The trajectories of a selection (or bank), one a session, each made when it is reached.

    `labels` are outcomes to keep (success, partial, failure, unknown), `success_only` keeps ``success`` alone. Steps
    are the main agent's own; by default a session in which no agent spoke is left out. `min_agent_share` runs from 0 to
    1, and leaves out those whose share is not known. Others as in `synthesize`. Raises `QueryError` for unknown labels,
    and for a filter by outcome with ``outcome=None``.
    """
    keep = _filter(
        domain=domain, labels=("success",) if success_only else labels, min_steps=min_steps, max_steps=max_steps,
        min_agent_share=min_agent_share,
    )  # fmt: skip
    if outcome is None and (success_only or labels is not None):
        raise QueryError(
            "to keep trajectories by their outcome, say how to judge it: outcome='evidence' or another strategy"
        )
    sessions = selection.iter_sessions() if hasattr(selection, "iter_sessions") else selection
    made = (synthesize(s, outcome=outcome, repository=repository, commits=commits) for s in sessions)
    return _first((t for t in made if keep(t)), limit)


def _first(found: Iterable[Trajectory], limit: int | None) -> Iterator[Trajectory]:
    left = math.inf if limit is None else limit
    if left <= 0:
        return
    for trajectory in found:
        yield trajectory
        left -= 1
        if left <= 0:
            return


def select(
    given: Iterable[Trajectory], *, domain: str | None = None, labels: Iterable[str] | None = None,
    min_steps: int = 0, max_steps: int | None = None, min_agent_share: float | None = None,
) -> Iterator[Trajectory]:  # fmt: skip
    """Those that pass every filter (see `trajectories`), of trajectories that were read or made already."""
    keep = _filter(
        domain=domain,
        labels=labels,
        min_steps=min_steps,
        max_steps=max_steps,
        min_agent_share=min_agent_share,
    )
    return (t for t in given if keep(t))


def _filter(
    *,
    domain: str | None,
    labels: Iterable[str] | None,
    min_steps: int,
    max_steps: int | None,
    min_agent_share: float | None,
) -> Callable[[Trajectory], bool]:
    wanted = None if labels is None else frozenset([labels] if isinstance(labels, str) else labels)
    unknown = sorted(wanted - set(LABELS)) if wanted else []
    if unknown:
        raise QueryError(f"no outcome {unknown[0]!r}; there are {', '.join(LABELS)}")

    def keep(trajectory: Trajectory) -> bool:
        if domain is not None and trajectory.task.domain != domain:
            return False
        if wanted is not None and (trajectory.outcome is None or trajectory.outcome.label not in wanted):
            return False
        if len(trajectory) < min_steps or (max_steps is not None and len(trajectory) > max_steps):
            return False
        share = agent_share(trajectory)
        return min_agent_share is None or (share is not None and share >= min_agent_share)

    return keep


def agent_share(trajectory: Trajectory) -> float | None:
    """The agent's share of the committed lines, 0 to 1, as Entire worked it out; None where it is not stated."""
    stated = trajectory.metadata.get("attribution")
    percentage = stated.get("agent_percentage") if isinstance(stated, dict) else None
    return percentage / 100 if isinstance(percentage, (int, float)) else None


def sample(
    given: Iterable[Trajectory],
    count: int,
    *,
    seed: int,
    by: str = "agent_share",
    unknown_weight: float = 0.0,
) -> list[Trajectory]:
    """`count` trajectories drawn without replacement, in their given order; the same seed and input draw the same.

    `by` is ``agent_share`` (a trajectory is drawn in proportion to the agent's share of its lines) or ``even``.
    `unknown_weight` is the weight of those without a known share; 0 leaves them out, since a share that is not stated
    is no share. Reads the trajectories once and holds no more than `count`. Raises `QueryError` for another `by`.
    Method: Efraimidis and Spirakis, Weighted random sampling with a reservoir (2006).
    """
    if by not in ("agent_share", "even"):
        raise QueryError(f"cannot sample by {by!r}; there are agent_share, even")
    if count < 0 or unknown_weight < 0:
        raise QueryError("count and unknown_weight are not negative")
    draw = random.Random(seed)
    held: list[tuple[float, int, Trajectory]] = []
    for number, trajectory in enumerate(given):
        chance = draw.random()  # drawn for each, so that weights of some do not move the others
        share = 1.0 if by == "even" else agent_share(trajectory)
        weight = unknown_weight if share is None else share
        if weight <= 0 or count == 0:
            continue
        item = (math.log(chance or 5e-324) / weight, number, trajectory)
        if len(held) < count:
            heapq.heappush(held, item)
        elif item[0] > held[0][0]:
            heapq.heapreplace(held, item)
    return [t for _, _, t in sorted(held, key=lambda i: i[1])]
