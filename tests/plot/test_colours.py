"""A thing has one colour, and people with colour blindness tell the colours of one picture apart.

Colour blindness is simulated with the matrices of Machado, Oliveira and Fernandes (2009, severity 1.0) in linear RGB;
the distance is that of CIE Lab (1976), where 2.3 is just noticeable.
"""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from sessionbank import plot, schema
from sessionbank.errors import QueryError
from sessionbank.plot import style
from sessionbank.plot.themes import THEMES
from sessionbank.records import AGENTS, STATUSES

SIGHT = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
CLOSED = (
    "agent",
    "status",
    "tokens",
    "interaction",
    "outcome",
    "scope",
    "lines",
    "kind",
    "severity",
    "bridge",
)


def lab(colour: str, sight: str) -> tuple[float, float, float]:
    rgb = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    r, g, b = (
        min(1.0, max(0.0, sum(m * c for m, c in zip(row, linear, strict=True)))) for row in SIGHT[sight]
    )
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def distance(a: str, b: str, sight: str) -> float:
    return sum((p - q) ** 2 for p, q in zip(lab(a, sight), lab(b, sight), strict=True)) ** 0.5


def test_distance_is_known() -> None:
    assert distance("#000000", "#FFFFFF", "usual") == pytest.approx(100, abs=0.1)
    assert distance("#00FF00", "#FF7F00", "protan") < distance("#00FF00", "#FF7F00", "usual") / 2


@pytest.mark.parametrize("kind", CLOSED)
@pytest.mark.parametrize("sight", SIGHT)
def test_colours_of_one_picture_differ_for_every_sight(kind: str, sight: str) -> None:
    colours = style.COLOURS[kind]
    assert len(set(colours.values())) == len(colours)
    close = {
        (a, b): d for a, b in combinations(colours, 2) if (d := distance(colours[a], colours[b], sight)) < 10
    }
    assert close == {}


def test_closed_sets_are_whole() -> None:
    def said(table: str, column: str) -> str:
        return next(f.meaning for f in schema.table(table).fields if f.name == column)

    assert set(style.COLOURS["agent"]) == set(AGENTS)
    assert set(style.COLOURS["status"]) == set(STATUSES)
    for kind, table, column in (("interaction", "interactions", "type"), ("outcome", "outcomes", "label")):
        assert set(style.COLOURS[kind]) == set(said(table, column).replace(" or ", ", ").split(", "))
    assert all(scope in said("reconcile", "scope") for scope in style.COLOURS["scope"])


def test_a_name_has_the_same_colour_everywhere() -> None:
    assert style.colour("model", "a-model") == style.colours("model", ["a-model"])["a-model"]
    assert style.colour("tool", "Task") == style.colour("tool", "Agent")
    assert style.colour("status", None) == style.colour("agent", "who?") == style.GREY
    with pytest.raises(QueryError, match="no colours for 'shape'"):
        style.colour("shape", "x")


def test_open_names_of_one_picture_differ() -> None:
    names = [f"role {n}" for n in range(9)]
    assert len(set(style.colours("role", names).values())) == 9
    assert len(style.colours("role", [f"role {n}" for n in range(30)])) == 30


@pytest.mark.parametrize("name", ["light", "dark"])
def test_words_are_read_on_their_page(name: str) -> None:
    """WCAG 2.1, 1.4.3: a contrast of 4.5:1 for text; worked out here from the luminance of the standard."""
    theme = THEMES[name]

    def luminance(colour: str) -> float:
        rgb = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    page = luminance(theme.page)
    for words in (theme.ink, theme.quiet):
        high, low = max(page, luminance(words)), min(page, luminance(words))
        assert (high + 0.05) / (low + 0.05) >= 4.5, words


def test_the_gallery_shows_every_picture(root) -> None:
    """Each public function that draws, and the frame behind it, stand in notebook 16."""
    gallery = (root / "notebooks" / "src" / "16_gallery.py").read_text(encoding="utf-8")
    missing = [name for name in plot.__all__ if not re.search(rf"\bplot\.{name}\(", gallery)]
    assert missing == []
