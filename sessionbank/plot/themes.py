"""Light and dark: the neutral colours of pictures, and what makes each colour stand out from the page behind it.

`theme` says which one is drawn in from now on; global settings of matplotlib are left alone. Pictures name colours of
the light theme; `settle` goes over what was drawn and puts those of the theme in their place. What carries meaning has a
contrast of at least 3:1 with the page (WCAG 2.1, 1.4.11): a line too pale for it (too dark, on a dark page) is drawn in a
deeper (brighter) tone of its hue, an area keeps its colour and gets such a tone as its outline. Only grid lines, the shade
of what is absent or idle, and what is drawn half-transparent on purpose are below that.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sessionbank.errors import QueryError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

INK, GREY, PALE, FAINT = (
    "#262626",
    "#707070",
    "#D0D0D0",
    "#E4E4E4",
)  # words; quiet words; a quiet area; the grid
RULE, WHITE = "#8A8A8A", "#FFFFFF"  # lines of the axes; the page
MIN_CONTRAST = 3.0
ON_PALE, ON_DEEP = "#1A1A1A", "#FEFEFE"  # words that stand on an area, whatever the page is
_OUTLINE = 0.7  # points
_MANY = 200_000  # pairs of words and areas that are not worth a look


@dataclass(frozen=True, slots=True)
class Theme:
    """Neutral colours as ``#RRGGBB``."""

    name: str
    page: str
    ink: str
    quiet: str
    rule: str
    pale: str
    faint: str

    def neutral(self, colour: str) -> str | None:
        """What stands for a neutral colour of words and lines of the light theme; None for one with a meaning."""
        return {
            "#000000": self.ink, INK: self.ink, GREY: self.quiet, PALE: self.pale, FAINT: self.faint,
            RULE: self.rule, "#9A9A9A": self.rule,
        }.get(colour)  # fmt: skip

    def area(self, colour: str) -> str:
        """What stands for the colour of an area: the page, ink and pale areas change, grey and colours stay."""
        return {
            WHITE: self.page, "#000000": self.ink, INK: self.ink, PALE: self.pale, FAINT: self.faint
        }.get(colour, colour)  # fmt: skip


THEMES = {
    "light": Theme("light", WHITE, INK, GREY, RULE, PALE, FAINT),
    "dark": Theme("dark", "#15181D", "#E6E6E6", "#A6ABB2", "#767D86", "#4E545D", "#2D323A"),
}
_current = THEMES["light"]


def theme(name: str) -> ExitStack:
    """Draws in the theme ``light`` or ``dark`` from now on; with ``with``, until the block ends.

    A picture keeps the theme that it was drawn in. Raises `QueryError` for another name.

    Example:
        >>> import sessionbank as sb
        >>> with sb.plot.theme("dark"):
        ...     ax = sb.plot.messages_by_kind(sb.schema.empty_frame("messages"))
        >>> sb.plot.alt_text(ax)
        'What lines of the role user are: no such lines'
    """
    if name not in THEMES:
        raise QueryError(f"no theme {name!r}; there are {' and '.join(THEMES)}")
    undo = ExitStack()
    undo.callback(_switch, _current)
    _switch(THEMES[name])
    return undo


def current() -> Theme:
    """The theme that is drawn in now."""
    return _current


def _switch(to: Theme) -> None:
    global _current
    _current = to


# -- contrast ------------------------------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    """Relative luminance of ``#RRGGBB``, 0 to 1 (WCAG 2.1)."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.1)."""
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@lru_cache(maxsize=512)
def stroke(colour: str, page: str) -> str:
    """The colour itself, or the nearest tone of it that stands out from the page."""
    toward = 0 if luminance(page) > 0.18 else 255
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    for step in range(101):
        tone = "#" + "".join(f"{round(c + (toward - c) * step / 100):02X}" for c in parts)
        if contrast(tone, page) >= MIN_CONTRAST:
            return tone
    return tone


def words_on(area: str) -> str:
    """The colour of words on an area: dark or white, whichever stands out more."""
    return max((ON_PALE, ON_DEEP), key=lambda ink: contrast(ink, area))


# -- what was drawn ------------------------------------------------------------------------------------------------


def settle(ax: Axes, theme: Theme) -> None:
    """Puts all that stands on `ax` into the colours of the theme; doing it again changes nothing more."""
    from matplotlib.collections import Collection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    figure = ax.get_figure(root=True)
    if theme.name != "light":
        ax.set_facecolor(theme.page)
        if figure is not None:
            figure.set_facecolor(theme.page)
    _images(ax, theme)
    legend = ax.get_legend()
    for artist in [*ax.patches, *ax.lines, *ax.collections, *(legend.legend_handles if legend else [])]:
        if isinstance(artist, Patch):
            _patch(artist, theme)
        elif isinstance(artist, Line2D):
            _line(artist, theme)
        elif isinstance(artist, Collection):
            _collection(artist, theme)
    _axis_lines(ax, theme)
    words = [ax.title, ax.xaxis.label, ax.yaxis.label, *(legend.get_texts() if legend else [])]
    words += [t for side in ("left", "right") if (t := getattr(ax, f"_{side}_title", None)) is not None]
    for text in words:
        _word(text, theme)
    _words_inside(list(ax.texts), ax, theme)


def _hex(colour: Any) -> str | None:
    """``#RRGGBB``; None for what is not seen."""
    from matplotlib.colors import to_hex, to_rgba

    return None if to_rgba(colour)[3] == 0 else to_hex(colour).upper()


def _rgb(colour: str) -> tuple[float, float, float]:
    return (int(colour[1:3], 16) / 255, int(colour[3:5], 16) / 255, int(colour[5:7], 16) / 255)


def _toned(colour: str, theme: Theme) -> str:
    """A line's colour in the theme."""
    return theme.neutral(colour) or stroke(colour, theme.page)


def _patch(patch: Any, theme: Theme) -> None:
    from matplotlib.patches import FancyArrowPatch

    face, edge, alpha = _hex(patch.get_facecolor()), _hex(patch.get_edgecolor()), patch.get_alpha()
    if isinstance(patch, FancyArrowPatch) and edge is not None:
        patch.set_color(_toned(edge, theme))
        return
    has_outline = patch.get_linewidth() > 0 and edge is not None
    if face is not None:
        patch.set_facecolor((*_rgb(theme.area(face)), patch.get_facecolor()[3]))
    if has_outline and edge == WHITE:
        patch.set_edgecolor(theme.page)
    elif has_outline and edge is not None and edge != face:
        patch.set_edgecolor(_toned(edge, theme))
    is_seen = not hasattr(patch, "get_height") or (patch.get_height() and patch.get_width())
    if (
        not is_seen
        or face is None
        or face in (FAINT, WHITE, theme.faint, theme.page)
        or (has_outline and edge != face)
    ):
        return
    now = _hex(patch.get_facecolor()) or face
    line = stroke(now, theme.page)
    if line != now and alpha is None:
        patch.set_edgecolor(line)
        patch.set_linewidth(_OUTLINE)
    elif has_outline:
        patch.set_edgecolor(line)


def _line(line: Any, theme: Theme) -> None:
    own, face, edge = (
        _hex(c) if isinstance(c, str | tuple) and c not in ("none", "auto") else None
        for c in (line.get_color(), line.get_markerfacecolor(), line.get_markeredgecolor())
    )
    if own is not None:
        line.set_color(_toned(own, theme))
    if face is not None:
        line.set_markerfacecolor(theme.page if face == WHITE else _toned(face, theme))
    if edge is not None:
        line.set_markeredgecolor(theme.page if edge == WHITE else _toned(edge, theme))


def _collection(drawn: Any, theme: Theme) -> None:
    from matplotlib.collections import LineCollection

    if drawn.get_array() is not None:
        return  # shaded by numbers
    if isinstance(drawn, LineCollection):
        hexes = [h for c in drawn.get_color() if (h := _hex(c)) is not None]
        drawn.set_color([_toned(h, theme) for h in hexes])
        return
    faces = [_hex(c) for c in drawn.get_facecolor()]
    if not faces or None in faces:
        return
    new = [theme.area(str(f)) for f in faces]
    alpha = drawn.get_alpha()
    drawn.set_facecolor(new)
    lines = [stroke(f, theme.page) for f in new]
    if alpha is None and lines != new and not set(new) & {FAINT, theme.faint}:
        drawn.set_edgecolor(lines)
        drawn.set_linewidth(_OUTLINE)


def _axis_lines(ax: Axes, theme: Theme) -> None:
    for spine in ax.spines.values():
        if (edge := _hex(spine.get_edgecolor())) is not None:
            spine.set_edgecolor(theme.neutral(edge) or edge)
    for axis, name in ((ax.xaxis, "x"), (ax.yaxis, "y")):
        ax.tick_params(axis=name, which="major", color=theme.rule, labelcolor=theme.ink)  # type: ignore[arg-type]
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        if any(tick.gridline.get_visible() for tick in ticks):
            ax.tick_params(axis=name, which="both", grid_color=theme.faint)  # type: ignore[arg-type]


def _word(text: Text, theme: Theme) -> None:
    colour = _hex(text.get_color())
    if colour is not None:
        text.set_color(theme.neutral(colour) or stroke(colour, theme.page))


def _images(ax: Axes, theme: Theme) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    for image in ax.images:
        if image.get_cmap().name == "Blues" and theme.name == "dark":
            dark = LinearSegmentedColormap.from_list("sessionbank-blues", [theme.page, "#14507E", "#6FB7EA"])
            image.set_cmap(dark)


def _words_inside(texts: Iterable[Text], ax: Axes, theme: Theme) -> None:
    """Words that stand in the middle of an area are dark or white, as the area asks; others as the page asks."""
    from matplotlib.patches import Rectangle

    given = list(texts)
    areas = [p for p in ax.patches if isinstance(p, Rectangle) and p.get_width() and p.get_height()]
    look = len(given) * len(areas) <= _MANY
    for text in given:
        below = None
        is_placed = text.get_transform() == ax.transData and text.get_horizontalalignment() == "center"
        if is_placed and look:
            below = _area_at(text.get_position(), areas, ax)
        if below is None:
            if _hex(text.get_color()) not in (ON_PALE, ON_DEEP, WHITE):
                _word(text, theme)
        elif _hex(text.get_color()) in (
            WHITE,
            INK,
            GREY,
            "#000000",
            theme.ink,
            theme.quiet,
            ON_PALE,
            ON_DEEP,
        ):
            page = below in (WHITE, FAINT, theme.page, theme.faint)
            text.set_color(theme.quiet if page else words_on(below))


def _area_at(place: tuple[float, float], areas: list[Any], ax: Axes) -> str | None:
    import numpy as np

    x, y = place
    for patch in reversed(areas):
        (left, low), wide, high = patch.get_xy(), patch.get_width(), patch.get_height()
        if min(left, left + wide) <= x <= max(left, left + wide) and min(low, low + high) <= y <= max(
            low, low + high
        ):
            return _hex(patch.get_facecolor())
    for image in ax.images:
        left, right, low, high = image.get_extent()
        if min(left, right) <= x <= max(left, right) and min(low, high) <= y <= max(low, high):
            rows, columns = image.get_array().shape[:2]  # type: ignore[union-attr]
            column = min(columns - 1, int((x - left) / (right - left) * columns))
            row = min(rows - 1, int((y - high) / (low - high) * rows))
            value = image.get_array()[row, column]  # type: ignore[index]
            is_empty = np.ma.is_masked(value) or value != value
            return None if is_empty else _hex(image.get_cmap()(image.norm(value)))
    return None
