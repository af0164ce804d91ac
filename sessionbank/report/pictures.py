"""The pictures of a report, as SVG that stands in the page: text stays text, colours follow the page's light or dark.

What is drawn is `sessionbank.plot`'s part. Colours of the drawing become custom properties of the page, so that one
picture serves both; `Gallery.colours` gives each with its value on a light and on a dark page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any

from sessionbank.plot import themes
from sessionbank.report.markup import Markup

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from sessionbank.report.facts import Facts

LIGHT, DARK = themes.THEMES["light"], themes.THEMES["dark"]
# Where the page gives another value than the theme of a single picture: grey serves words and areas alike here.
NEUTRAL = {
    themes.INK: ("ink", LIGHT.ink, DARK.ink), themes.GREY: ("grey", "#6B6B6B", "#8F959D"),
    themes.PALE: ("pale", LIGHT.pale, DARK.pale), themes.FAINT: ("faint", LIGHT.faint, DARK.faint),
    themes.RULE: ("rule", LIGHT.rule, DARK.rule), themes.WHITE: ("page", LIGHT.page, DARK.page),
}  # fmt: skip
_STAY = (themes.ON_PALE, themes.ON_DEEP)  # words on an area, whatever the page is
_COLOUR = re.compile(r"(fill|stroke): (#[0-9a-fA-F]{6})\b")
_DAYS_BY_DAY, _DAYS_BY_WEEK = 45, 500
_WIDTH = 9.2  # inches
MOST_ROLES = 14  # more do not fit on a circle


class Gallery:
    """Draws each picture when its numbers are there; a context manager that puts the caller's theme back."""

    def __init__(self) -> None:
        self._drawn: dict[str, Markup] = {}
        self._names: list[str] = []
        self.colours: dict[str, tuple[str, str]] = {n: (a, b) for n, a, b in NEUTRAL.values()}
        self._theme = ExitStack()

    def __enter__(self) -> Gallery:
        self._theme.enter_context(themes.theme("light"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._theme.close()

    def __getitem__(self, name: str) -> Markup:
        """A picture by name, as a figure element; empty where there was nothing to draw."""
        return self._drawn.get(name, Markup(""))

    def counted(self, facts: Facts) -> list[Callable[[], str]]:
        """The pictures that need no outcomes and no teams, each as a call that draws it; for `keep`."""
        from sessionbank import plot

        wanted: list[tuple[str, Callable[[], str]]] = []

        def add(
            name: str, height: float, function: Callable[..., Axes], *frames: pd.DataFrame, **named: Any
        ) -> None:
            wanted.append((name, lambda: drawn(function, *frames, height=height, **named)))

        days, sums, calls = facts.totals["day"], facts.totals["checkpoint"], facts["tool_calls"]
        if days["day"].notna().any():
            add("tokens", 3.2, plot.tokens_over_time, days, every=period(days))
        if sums[["cost_usd", "subagent_cost_usd"]].notna().any(axis=None):
            models = facts.totals["model"]
            add("commits", 4.4, plot.cost_by_commit, sums, facts["commits"], top=12)
            add("models", 1.1 + 0.34 * max(len(models), 2), plot.cost_by_model, models)
        if len(calls):
            add(
                "tools",
                1.1 + 0.29 * max(min(15, calls["tool_name"].nunique()), 3),
                plot.tools_by_status,
                calls,
            )
        if len(facts["attribution"]):
            add("lines", 3.2, plot.attribution_by_commit, facts["attribution"], facts["commits"])
        if len(facts["reconcile"]):
            add("scopes", 3.0, plot.reconcile_scopes, facts["reconcile"])
        if facts.naive["value"].any():
            steps = int((facts.naive["effect"] != 0).sum())
            add("bridge", 1.2 + 0.45 * max(steps, 2), plot.bridge, facts.naive, column="output_tokens")
        self._names = [name for name, _ in wanted]
        return [job for _, job in wanted]

    def keep(self, texts: Iterable[str]) -> None:
        """Puts in place what the calls of `counted` gave, in their order."""
        for name, text in zip(self._names, texts, strict=True):
            self._drawn[name] = self.placed(text, name)

    def judged(self, facts: Facts) -> None:
        """Draws outcomes and teams."""
        from sessionbank import plot
        from sessionbank.plot.trajectory import outcome_labels

        if len(facts["outcomes"]):
            self._drawn["outcomes"] = self.placed(
                drawn(outcome_labels, facts["outcomes"], height=3.0), "outcomes"
            )
        roles = by_role(facts["interactions"])
        names = set(roles["from_agent"]) | set(roles["to_agent"])
        if 1 < len(names) <= MOST_ROLES:
            self._drawn["team"] = self.placed(drawn(plot.team_graph, roles, height=5.6), "team")

    def placed(self, text: str, name: str) -> Markup:
        """The text of an SVG file as an element of the page: ids of its own, colours of the page, no outside address."""
        start = text.index("<svg ")
        text = re.sub(r"\s*<metadata>.*?</metadata>", "", text[start:], flags=re.DOTALL)
        text = re.sub(r"\s*<title>.*?</title>", "", text, count=1, flags=re.DOTALL)
        text = re.sub(r"\s*<style [^>]*>.*?</style>", "", text, flags=re.DOTALL)
        text = re.sub(r' (?:xmlns(?::xlink)?|version)="[^"]*"', "", text)
        text = text.replace("xlink:href=", "href=")
        text = re.sub(r'(<[^>]*? )id="([^"]+)"', rf'\1id="{name}-\2"', text)
        text = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', text)
        text = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", text)
        text = re.sub(r"font-family: [^;\"]+; ?", "", text)
        text = re.sub(r'transform="rotate\(-?0 [^)]*\)"', "", text)
        text = _COLOUR.sub(lambda match: f"{match[1]}: {self._named(match[2].upper())}", text)
        return Markup(f'<figure class="picture">{text.strip()}</figure>')

    def _named(self, colour: str) -> str:
        if colour in _STAY:
            return colour
        if colour in NEUTRAL:
            return f"var(--{NEUTRAL[colour][0]})"
        name = f"c{colour[1:].lower()}"
        self.colours[name] = (colour, themes.stroke(colour, DARK.page))
        return f"var(--{name})"


def drawn(function: Callable[..., Axes], *frames: pd.DataFrame, height: float, **named: Any) -> str:
    """The text of the SVG of a picture of `sessionbank.plot`, `height` inches high, on no background."""
    import matplotlib.style as mpl_style
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    from sessionbank.plot.saving import svg

    # A figure of our own, not one of pyplot's: the caller's figures and settings are none of our business.
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    FigureCanvasSVG(figure)
    with mpl_style.context("default"):
        ax = function(*frames, ax=figure.add_subplot(), **named)
        figure.patch.set_alpha(0)
        ax.patch.set_alpha(0)
        return svg(ax, as_text=True)


def period(days: pd.DataFrame) -> str:
    """Day, week or month, as the time from the first to the last day of a frame of ``totals("day")`` asks."""
    import pandas as pd

    known = pd.to_datetime(days["day"].dropna())
    span = (known.max() - known.min()).days
    return "day" if span <= _DAYS_BY_DAY else "week" if span <= _DAYS_BY_WEEK else "month"


def by_role(interactions: pd.DataFrame) -> pd.DataFrame:
    """Interactions with the roles of agents in the place of their ids; the board and the system keep their names."""
    ends = {}
    for end in ("from", "to"):
        agent = interactions[f"{end}_agent"]
        ends[f"{end}_agent"] = interactions[f"{end}_role"].fillna(
            agent.where(agent.isin(["*", "system"]), "no role")
        )
    return interactions.assign(**ends)
