"""The team explorer: an edge is picked in four ways and read, weights change what is critical, text is shown as text."""

from __future__ import annotations

import re

import ipywidgets as w
import pytest

import sessionbank as sb
from tests.makers.banks import opened
from tests.widgets.looking import words


@pytest.fixture(scope="module")
def bank(root, tmp_path_factory):
    with opened(root / "data" / "shop.bundle", tmp_path_factory.mktemp("bank")) as found:
        yield found


@pytest.fixture
def box(bank):
    return sb.browse(sb.team.from_session(bank.query(search="agent team")[0]), bank=bank)


def every(widget):
    found = [widget]
    for child in getattr(widget, "children", ()):
        found += every(child)
    return found


def named(box, kind, description):
    return next(c for c in every(box) if isinstance(c, kind) and c.description == description)


def texts(box) -> str:
    return " ".join(words(c.value) for c in every(box) if isinstance(c, w.HTML))


def test_each_view_draws_and_holds_no_script(box):
    views = named(box, w.ToggleButtons, "View")
    for view in views.options:
        views.value = view
        html = " ".join(c.value for c in every(box) if isinstance(c, w.HTML))
        assert "<script" not in html and not re.search(r"<[^>]*\son\w+=", html)
    assert "Team checkout-steps" in texts(box)


def test_the_list_narrows_to_an_edge_and_its_text_is_read(box):
    listed = named(box, w.Select, "Interactions")
    everything = len(listed.options)
    edges = named(box, w.Select, "Edges")
    pair = edges.options[1][1]
    edges.value = pair
    assert 0 < len(listed.options) < everything
    assert (named(box, w.Dropdown, "From").value, named(box, w.Dropdown, "To").value) == pair
    before = texts(box)
    listed.index = len(listed.options) - 1
    assert len(listed.options) == 1 or texts(box) != before
    named(box, w.Button, "Show all").click()
    assert len(listed.options) == everything


def test_a_press_in_the_matrix_picks_the_pair(box):
    named(box, w.ToggleButtons, "View").value = "Hand-overs"
    cell = next(b for b in every(box) if isinstance(b, w.Button) and b.description.strip().isdigit())
    cell.click()
    assert len(named(box, w.Select, "Interactions").options) == int(cell.description)


def test_a_threshold_of_one_leaves_nothing_critical_and_reset_brings_it_back(box):
    named(box, w.ToggleButtons, "View").value = "Weights"
    steps = named(box, w.Select, "Critical steps")
    before = steps.options
    assert len(before) > 1
    named(box, w.FloatSlider, "step threshold").value = 1.0
    assert len(steps.options) == 1
    named(box, w.Button, "Weights as at the start").click()
    assert steps.options == before


def test_the_stored_line_stands_behind_an_interaction(box):
    before = texts(box)
    named(box, w.Checkbox, "Stored line").value = True
    assert texts(box) != before
    assert '"sessionId"' in texts(box)
