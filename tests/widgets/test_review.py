"""The review widget: lines with their evidence, four decisions by press, versions, effects; text stays text."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime

import ipywidgets as w
import pytest

import sessionbank as sb
from sessionbank.errors import QueryError
from sessionbank.learning import Atlas, Memory
from sessionbank.learning.playbooks import Decision, Line, Support
from sessionbank.widgets.review_html import line_html, list_label
from sessionbank.widgets.shown_texts import Shown
from tests.makers.banks import opened
from tests.widgets.looking import words

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def learned(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("learned")
    with opened(root / "data" / "shop.bundle", folder) as bank:
        atlas = Atlas(
            bank,
            Memory(folder / "memory", clock=lambda: NOW),
            config={"session_bank": {"outcome_strategy": "evidence"}},
        )
        atlas.ingest_sessions(limit=29)
        atlas.run_batch()
        yield bank, folder / "memory"


@pytest.fixture
def made(learned, tmp_path):
    bank, folder = learned
    shutil.copytree(folder, tmp_path / "m")
    memory = Memory(tmp_path / "m", clock=lambda: NOW)
    return sb.review(memory, bank=bank, reviewer="Ada"), memory


def every(widget):
    found = [widget]
    for child in getattr(widget, "children", ()):
        found += every(child)
    return found


def named(box, kind, description):
    return next(c for c in every(box) if isinstance(c, kind) and c.description == description)


def texts(box) -> str:
    return " ".join(words(c.value) for c in every(box) if isinstance(c, w.HTML))


def press(box, name, **given):
    for description, value in given.items():
        kind = w.Textarea if description == "Text" else w.Text
        named(box, kind, description).value = value
    named(box, w.Button, name).click()


def test_a_line_is_read_with_its_support_and_down_to_the_stored_line(made):
    box, memory = made
    listed = named(box, w.Select, "Lines")
    assert len(listed.options) == len(
        list(memory.get("playbooks", named(box, w.Dropdown, "Playbook").value).lines())
    )
    said = texts(box)
    assert re.search(r"\d+ runs? for, \d+ against", said) and "the stored line" in said
    places = named(box, w.Dropdown, "Evidence")
    before = texts(box)
    places.value = len(places.options) - 1
    assert texts(box) != before and f"Place {len(places.options)}" in texts(box)
    html = " ".join(c.value for c in every(box) if isinstance(c, w.HTML))
    assert "<script" not in html and not re.search(r"<[^>]*\son\w+=", html)


def test_the_four_decisions_are_kept_and_shown(made):
    box, memory = made
    playbook = named(box, w.Dropdown, "Playbook")
    playbook.value = next(
        i for _, i in playbook.options if len(list(memory.get("playbooks", i).lines())) >= 3
    )
    name, ids = playbook.value, [i for _, i in named(box, w.Select, "Lines").options]
    listed = named(box, w.Select, "Lines")
    press(box, "Accept", Reason="seen it help")
    assert "accept, by Ada; now version 1.1.0" in texts(box)
    press(box, "Save the text", Reason="plainer", Text="In plain words.")
    listed.value = ids[1]
    named(box, w.Dropdown, "Merge into").value = ids[0]
    press(box, "Merge", Reason="the same")
    listed.value = ids[2]
    press(box, "Reject", Reason="not ours")
    lines = [memory.get("playbooks", name).line(i) for i in ids]
    assert [[d.action for d in li.decisions] for li in lines[:3]] == [
        ["accept", "edit"],
        ["merge"],
        ["reject"],
    ]
    assert lines[0].text == "In plain words." and lines[1].decisions[0].into == ids[0]
    assert {d.reviewer for li in lines for d in li.decisions} == {"Ada"}
    assert "reject by Ada" in texts(box)  # what changed since the first version
    named(box, w.Checkbox, "Undecided only").value = True
    assert [i for _, i in listed.options] == ids[3:]


def test_what_is_not_done_is_said_and_changes_nothing(made):
    box, memory = made
    before = {p.name: p.read_bytes() for p in memory.path.rglob("*.json")}
    press(box, "Accept")
    assert "not done" in texts(box) and "names its reviewer and its reason" in texts(box)
    press(box, "Save the text", Reason="x")
    assert "the text is as it was" in texts(box)
    press(box, "Save the text", Reason="x", Text="  ")
    assert "must not be empty" in texts(box)
    press(box, "What would it change?")
    assert "recommendation" in texts(box).casefold()
    assert {p.name: p.read_bytes() for p in memory.path.rglob("*.json")} == before


def test_a_memory_that_is_gone_is_told(made):
    box, memory = made
    shutil.rmtree(memory.path)
    press(box, "Accept", Reason="x")
    assert "not done" in texts(box) and "no more" in texts(box)


def test_markup_in_a_line_is_text():
    bad = "<img src=x onerror=alert(1)>"
    line = Line(
        id="line-1", text=bad, variants=[bad], contradictions=[bad], support=Support(runs=3, runs_with=2, runs_for=1, runs_against=1),
        decisions=[Decision(action="accept", reviewer=bad, at=NOW, reason=bad)],
    )  # fmt: skip
    html = line_html(line, bad, show=Shown(is_redacted=False))
    assert "<img" not in html and html.count("&lt;img") == 6
    assert "1 run for, 1 against" in words(html)
    assert list_label(line, "x", show=Shown(is_redacted=False)).startswith("✓ 0.00      1:1")


def test_what_holds_no_playbook_is_told(tmp_path):
    with pytest.raises(QueryError, match="no playbook yet"):
        sb.review(Memory(tmp_path))
    with pytest.raises(QueryError, match="not int"):
        sb.review(7)
