"""What the team explorer looks at: a team's agents, pairs, scores and times, and which of them a choice leaves.

Plain Python without a widget; HTML is made in `team_html` and `team_svg`. Scores are those of `sessionbank.team`; what
costs time (times of steps) is worked out when first asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sessionbank.redaction import shown
from sessionbank.team.activity import links, millis, pieces
from sessionbank.team.metrics import metrics
from sessionbank.team.model import Team, TeamStep
from sessionbank.team.reweigh import reweigh
from sessionbank.team.score import ScoreConfig, score
from sessionbank.widgets.team_html import CriticalRow, Show
from sessionbank.widgets.team_svg import Handover, label, pairs

if TYPE_CHECKING:
    import pandas as pd

KINDS_SHOWN = ("all", "critical", "failed", "emergent", "inferred")


@dataclass(frozen=True, slots=True)
class Choice:
    """Which interactions a list holds; None and "" leave all. `kind` is one of `KINDS_SHOWN`."""

    sender: str | None = None
    receiver: str | None = None
    type: str | None = None
    kind: str = "all"
    words: str = ""  # that the text, the names or the type hold, whatever their case
    by_score: bool = False  # highest total first, else in time


@dataclass(frozen=True)
class Lanes:
    """What the lanes draw: minutes since `start` (milliseconds since 1970)."""

    agents: tuple[str, ...]
    pieces: dict[tuple[str, str], list[tuple[float, float]]]
    handovers: tuple[Handover, ...]
    start: int
    minutes: float
    untimed: int


class TeamView:
    """A team as an explorer sees it; `config` is what it is weighed with at the start."""

    def __init__(self, team: Team, *, config: ScoreConfig | None = None, show: Show = shown) -> None:
        self.team = team
        self.show = show
        self.edges = team.interaction_list
        known = dict.fromkeys([*(m.agent_id for m in team.member_list), *team.step_lists])
        for edge in self.edges:
            known[edge.from_agent] = known[edge.to_agent] = None
        self.agents = tuple(known)
        self.names = {a: show(a, limit=60) for a in self.agents}
        self.by_pair = pairs(self.edges)
        # in the order of the frame of steps, which is not that of `step_list`
        self.steps = tuple(s for mine in team.step_lists.values() for s in mine)
        self.at_start = self.now = score(team, config)
        self._take_up()

    def weigh(self, config: ScoreConfig) -> None:
        """Takes other weights and thresholds from now on."""
        self.now = reweigh(self.team, self.at_start, config)
        self._take_up()

    def _take_up(self) -> None:
        edges, steps = self.now.interactions, self.now.steps
        self.critical_edges = frozenset(edges["is_critical"].to_numpy(dtype=bool).nonzero()[0].tolist())
        held = steps["is_critical"].to_numpy(dtype=bool).nonzero()[0]
        by_rank = steps["rank"].to_numpy(dtype="int64")[held].argsort()
        self.critical_steps: list[int] = held[by_rank].tolist()
        self.totals: list[float] = edges["total"].tolist()

    # -- interactions --------------------------------------------------------------------------------------------

    def matching(self, choice: Choice) -> list[int]:
        """Places of the interactions that a choice leaves, in its order."""
        if choice.sender is not None and choice.receiver is not None:
            pair = self.by_pair.get((choice.sender, choice.receiver))
            places: Sequence[int] = pair.places if pair else ()
        else:
            places = range(len(self.edges))
        words = choice.words.strip().casefold()
        found = [p for p in places if self._is_left(p, choice, words)]
        return sorted(found, key=lambda p: (-self.totals[p], p)) if choice.by_score else found

    def _is_left(self, place: int, choice: Choice, words: str) -> bool:
        edge = self.edges[place]
        return (
            choice.sender in (None, edge.from_agent)
            and choice.receiver in (None, edge.to_agent)
            and choice.type in (None, edge.type)
            and (choice.kind == "all" or self._is_kind(place, choice.kind))
            and (not words or any(
                words in (t or "").casefold() for t in (edge.content, edge.from_agent, edge.to_agent, edge.type)
            ))
        )  # fmt: skip

    def _is_kind(self, place: int, kind: str) -> bool:
        edge = self.edges[place]
        return {
            "critical": place in self.critical_edges,
            "failed": edge.ok is False,
            "emergent": edge.was_expected is False,
            "inferred": edge.is_inferred,
        }[kind]

    def edge_row(self, place: int) -> dict[str, Any]:
        """The scores of an interaction."""
        return {str(k): v for k, v in self.now.interactions.iloc[place].items()}

    def ends(self, place: int) -> tuple[TeamStep | None, TeamStep | None]:
        """The steps that send and receive an interaction, where a transcript has them."""
        edge, where = self.edges[place], self._links
        found = []
        for agent, at in (
            (edge.from_agent, where.sent_from.get(edge.interaction_id)),
            (edge.to_agent, where.received_at.get(edge.interaction_id)),
        ):
            found.append(None if at is None else self.team.step_lists[agent][at])
        return found[0], found[1]

    @cached_property
    def _links(self) -> Any:
        return links(self.team)

    # -- steps ---------------------------------------------------------------------------------------------------

    def step_row(self, place: int) -> dict[str, Any]:
        """The scores of a step; `place` counts the steps of `scores.steps`."""
        return {str(k): v for k, v in self.now.steps.iloc[place].items()}

    def step_name(self, place: int) -> str:
        """A step in words."""
        step = self.steps[place]
        return f"{label(step.agent_id, self.names)} step {step.step}: {self.show(step.action_name, limit=40)}"

    def edge_name(self, place: int) -> str:
        """An interaction in words."""
        edge = self.edges[place]
        return f"#{place + 1} {label(edge.from_agent, self.names)} → {label(edge.to_agent, self.names)}, {edge.type}"

    # -- the critical set ----------------------------------------------------------------------------------------

    def critical(self, what: str) -> tuple[list[CriticalRow], list[int], list[str]]:
        """The critical ``steps`` or ``interactions`` by rank: rows, their places, and the names of those that left."""
        before, now = (getattr(scores, what) for scores in (self.at_start, self.now))
        name = self.step_name if what == "steps" else self.edge_name
        was, are = (frame["is_critical"].to_numpy(dtype=bool) for frame in (before, now))
        places = are.nonzero()[0][now["rank"].to_numpy(dtype="int64")[are].argsort()].tolist()
        totals, reasons = now["total"].tolist(), now["reason"].tolist()
        rows = [CriticalRow(name(p), totals[p], reasons[p], not was[p]) for p in places]
        return rows, places, [name(p) for p in (was & ~are).nonzero()[0].tolist()]

    # -- times ---------------------------------------------------------------------------------------------------

    @cached_property
    def lanes(self) -> Lanes:
        """Lanes of agents that have a time: of a step, or of an interaction that they sent or received."""
        cut = [p for mine in pieces(self.team, self._links).values() for p in mine]
        times = metrics(self.team).interactions
        sent, received = _millis(times["sent_at"]), _millis(times["received_at"])
        known = [t for t in sent if t is not None] + [p.begin for p in cut]
        if not known:
            return Lanes((), {}, (), 0, 0.0, len(self.edges))
        start = min(known)
        spans: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for piece in cut:
            spans.setdefault((piece.agent_id, piece.kind), []).append(
                ((piece.begin - start) / 60_000, (piece.end - start) / 60_000)
            )
        handovers = [
            Handover(
                k,
                e.from_agent,
                e.to_agent,
                e.type,
                (a - start) / 60_000,
                None if b is None else (b - start) / 60_000,
            )
            for k, (e, a, b) in enumerate(zip(self.edges, sent, received, strict=True))
            if a is not None
        ]
        timed = {a for a, _ in spans} | {a for h in handovers for a in (h.sender, h.receiver)}
        last = max([p.end for p in cut] + [t for t in (*sent, *received) if t is not None])
        return Lanes(
            tuple(a for a in self.agents if a in timed),
            spans, tuple(handovers), start, (last - start) / 60_000, len(self.edges) - len(handovers),
        )  # fmt: skip

    def critical_minutes(self) -> list[tuple[str, float]]:
        """Agent and minute of each critical step that has a time, by rank."""
        start = self.lanes.start
        found = []
        for place in self.critical_steps:
            step = self.steps[place]
            at = millis(step.started_at)
            if at is not None:
                found.append((step.agent_id, (at - start) / 60_000))
        return found


def _millis(column: pd.Series[Any]) -> list[int | None]:
    return [None if t != t else millis(t) for t in column]
