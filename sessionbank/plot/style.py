"""Colours, axes, numbers on axes and words for pictures: what all pictures share. Nothing is drawn or written here.

A thing has one colour in every picture: `colour("status", "error")`. Closed sets (agents, statuses, token classes,
interaction types, outcomes, scopes) are written out; in open sets (tools, models, roles) names that are not written out
get their colour from the name itself. The colours are those of Okabe and Ito and of Paul Tol, which people with the
usual kinds of colour blindness tell apart; a test measures that. Pictures name the colours of the light theme, `themes`
makes them stand out on a light and on a dark page. Global settings of matplotlib are left alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

from sessionbank.errors import QueryError
from sessionbank.html import shortened
from sessionbank.plot import themes
from sessionbank.redaction import shown

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

BLUE, SKY, GREEN, ORANGE, VERMILION = "#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00"
PINK, YELLOW, INDIGO, WINE = "#CC79A7", "#F0E442", "#332288", "#882255"
INK, GREY, PALE, FAINT, RULE = themes.INK, themes.GREY, themes.PALE, themes.FAINT, themes.RULE

COLOURS: dict[str, dict[str, str]] = {
    "agent": {
        "claude-code": VERMILION, "codex": BLUE, "gemini-cli": SKY, "opencode": GREEN, "copilot-cli": PINK,
        "cursor": ORANGE, "factory-droid": YELLOW, "kiro": WINE, "pi": INDIGO, "plugin": PALE, "unknown": GREY,
    },
    "status": {"ok": GREEN, "error": VERMILION, "rejected": PINK, "interrupted": ORANGE, "no_result": GREY},
    "tokens": {
        "input_tokens": BLUE, "cache_creation_tokens": ORANGE, "cache_read_tokens": SKY, "output_tokens": VERMILION,
    },
    "interaction": {
        "delegation": BLUE, "result_return": GREEN, "message": SKY, "signal": ORANGE, "spawn": PINK,
        "escalation": VERMILION,
    },
    "outcome": {"success": GREEN, "partial": ORANGE, "failure": VERMILION, "unknown": GREY},
    "scope": {
        "window": BLUE, "whole": SKY, "both": GREEN, "stale": ORANGE, "zero": PINK, "absent": PALE,
        "unknown": VERMILION,
    },
    "lines": {"agent_lines": BLUE, "human_added": ORANGE, "human_modified": PINK, "human_removed": GREY},
    "kind": {"prompt": INDIGO, "reply": SKY, "tool_call": GREEN, "subagent": ORANGE, "other": PALE},
    "severity": {"error": VERMILION, "warning": ORANGE, "info": SKY},
    "bridge": {"naive": GREY, "less": SKY, "more": ORANGE, "true": BLUE},
    "tool": {
        "Bash": BLUE, "Read": SKY, "Edit": GREEN, "Write": ORANGE, "Grep": PINK, "Glob": YELLOW, "Task": VERMILION,
        "Agent": VERMILION, "TodoWrite": GREY, "WebFetch": WINE, "WebSearch": INDIGO, "run_shell_command": BLUE,
        "read_file": SKY, "replace": GREEN, "write_file": ORANGE, "search_file_content": PINK, "glob": YELLOW,
    },
    "model": {},
    "role": {},
}  # fmt: skip
_OPEN = ("tool", "model", "role")
_CYCLE = (BLUE, VERMILION, GREEN, ORANGE, PINK, SKY, WINE, INDIGO, YELLOW)
_WORDS: WeakKeyDictionary[Axes, str] = WeakKeyDictionary()
_THEMES: WeakKeyDictionary[Axes, themes.Theme] = WeakKeyDictionary()


def colour(kind: str, name: str | None) -> str:
    """The colour of a thing as ``#RRGGBB``; grey where the name is missing or not of a closed set.

    Raises `QueryError` for a kind that does not exist.

    Example:
        >>> sb.plot.colour("status", "error")
        '#D55E00'
    """
    if kind not in COLOURS:
        raise QueryError(f"no colours for {kind!r}; there are some for: {', '.join(COLOURS)}")
    if not isinstance(name, str):
        return GREY
    if name in COLOURS[kind] or kind not in _OPEN:
        return COLOURS[kind].get(name, GREY)
    return _CYCLE[_slot(name)]


def colours(kind: str, names: Iterable[str]) -> dict[str, str]:
    """A colour for each name; names of an open set that stand in one picture differ while there are colours left.

    Example:
        >>> sb.plot.colours("status", ["ok", "error"])
        {'ok': '#009E73', 'error': '#D55E00'}
    """
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        found[name] = colour(kind, name)
        free = [c for c in _CYCLE if c not in list(found.values())[:-1]]
        if kind in _OPEN and name not in COLOURS[kind] and free and found[name] not in free:
            found[name] = free[_slot(name) % len(free)]
    return found


def _slot(name: str) -> int:
    return zlib.crc32(name.encode("utf-8", "replace")) % len(_CYCLE)


def axes(ax: Axes | None = None, *, size: tuple[float, float] = (7.5, 3.4)) -> Axes:
    """The axes to draw on: those given, else new ones on a figure of `size` inches whose parts do not overlap."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=size, layout="constrained")
    return ax


def dress(
    ax: Axes,
    *,
    title: str,
    x: str = "",
    y: str = "",
    grid: Literal["x", "y", "both", ""] = "y",
    words: str | None = None,
) -> Axes:
    """Title, axis names with units, quiet frame and grid ("x", "y", "" for none); `words` become the alt text."""
    ax.set_title(plain(title), loc="left", fontsize=11, fontweight="bold", color=INK)
    ax.set_xlabel(plain(x), fontsize=9, color=INK)
    ax.set_ylabel(plain(y), fontsize=9, color=INK)
    ax.tick_params(labelsize=8.5, colors=INK, length=3)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(RULE)
    ax.set_axisbelow(True)
    if grid:
        ax.grid(visible=True, axis=grid, color=FAINT, linewidth=0.8)
    if words is not None:
        _WORDS[ax] = shown(words)
    _THEMES[ax] = themes.current()
    settle(ax)
    return ax


def settle(ax: Axes) -> None:
    """Puts what was drawn into the colours of the theme that the picture was drawn in."""
    if ax in _THEMES:
        themes.settle(ax, _THEMES[ax])


def legend(ax: Axes, *, columns: int = 1, outside: bool = True, below: bool = False) -> None:
    """A legend without frame; by default to the right of the axes, or `below` them, where it hides nothing."""
    handles, labels = ax.get_legend_handles_labels()
    if not handles:
        return
    place: dict[str, Any] = (
        {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if outside else {"loc": "best"}
    )
    if below:
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0)}
    ax.legend(
        handles, [plain(label) for label in labels], frameon=False, fontsize=8.5, ncols=columns, **place
    )
    settle(ax)


def short_numbers(axis: Axis) -> None:
    """Ticks as 950, 12 k, 3.4 M, 1.2 G."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))


def short(value: float) -> str:
    """A number in three digits and a letter: 950, 12.3 k, 3.4 M, 1.2 G; a minus sign, not a hyphen."""
    size, sign = abs(value), "\N{MINUS SIGN}" if value < 0 else ""
    scales = ((1e9, " G"), (1e6, " M"), (1e3, " k"))
    limit, letter = next((s for s in scales if size >= s[0] * 0.9995), (1.0, ""))
    part = size / limit
    return f"{sign}{part:.3g}{letter}" if part < 999.5 else f"{sign}{part:,.0f}{letter}"


def need(frame: pd.DataFrame, columns: Iterable[str], source: str) -> None:
    """Raises `QueryError` where a frame lacks columns that a picture draws; `source` says what gives such a frame."""
    lacking = [c for c in columns if c not in getattr(frame, "columns", ())]
    if lacking:
        raise QueryError(f"the frame has no column {', '.join(map(repr, lacking))}; give what {source} gives")


def room(ax: Axes, ends: Iterable[float], *, share: float = 0.18) -> None:
    """Lets the x axis run from 0 to beyond the longest bar, so that what is written behind the bars has room."""
    ax.set_xlim(0, max(ends, default=0.0) * (1 + share) or 1.0)


def nothing(ax: Axes, why: str, *, title: str) -> Axes:
    """Axes that say why there is nothing to draw."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.text(0.5, 0.5, plain(why), transform=ax.transAxes, ha="center", va="center", fontsize=9, color=GREY)
    return dress(ax, title=title, grid="", words=f"{title}: {why}")


def plain(text: str, *, width: int = 90) -> str:
    r"""Text that matplotlib draws as it is: on one line, cut to `width`, dollar signs kept from meaning mathematics.

    Characters that the font in use does not have become □.
    """
    cut = shortened(str(text), width)
    if not cut.isascii() or not cut.isprintable():
        known = _glyphs()
        cut = "".join(c if c.isprintable() and ord(c) in known else "\N{WHITE SQUARE}" for c in cut)
    return cut.replace("$", r"\$")


def _glyphs() -> Mapping[int, int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return get_font(findfont(FontProperties())).get_charmap()


def alt_text(ax: Axes) -> str:
    """What a picture shows, in words with its main figures; empty for axes that no function of ours drew on.

    Example:
        >>> sb.plot.alt_text(sb.plot.cost_by_model(bank.totals("model")))[:42]
        'Cost in USD by model, subagents included: '
    """
    return _WORDS.get(ax, "")


def figure_of(ax: Axes) -> Figure:
    """The figure that the axes stand on. Raises `QueryError` where it is gone."""
    figure = ax.get_figure(root=True)
    if figure is None:
        raise QueryError("the axes belong to no figure any more; draw again")
    return figure


def words_of(figure: Figure) -> str:
    """What all pictures of a figure show."""
    return " ".join(words for ax in figure.axes if (words := alt_text(ax)))
