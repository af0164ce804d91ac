"""The labelling widget: no markup from transcripts, buttons that write the file, what comes after each."""

from __future__ import annotations

import pytest

from sessionbank.errors import QueryError
from sessionbank.trajectory.outcome import outcomes_of
from sessionbank.trajectory.outcomes.labels import read_labels, write_label
from sessionbank.widgets.labelling import labeller, page_html, progress_html
from tests.trajectory.outcome_sessions import session, told

EVIL = '<img src=x onerror="alert(1)">'


def talks():
    return [
        session(
            ("prompt", f"Do {i}"), ("reply", "done"), sid=f"s{i}", summary=told("x", EVIL) if i == 0 else None
        )
        for i in range(3)
    ]


def parts(widget):
    picker, progress, page, reason, bar = widget.children
    return picker, progress, page, reason, {b.description: b for b in bar.children}


def test_page_shows_request_end_and_summary_escaped():
    talk = session(
        ("prompt", EVIL), ("reply", f"ok {EVIL}"), summary=told(EVIL, EVIL, open_items=[EVIL]), sid=EVIL
    )
    html = page_html(talk, outcomes_of(talk))
    assert "<img" not in html
    assert "&lt;img" in html
    assert "Summary: outcome" in html
    assert "end_state" in html
    assert "end_state" not in page_html(talk)
    assert "nothing" in page_html(session())


def test_progress(tmp_path):
    path = tmp_path / "labels.jsonl"
    write_label(path, "s1", "success")
    write_label(path, "elsewhere", "failure")
    assert "1 of 3 sessions labelled (success 1, partial 0, failure 0, unknown 0)" in progress_html(
        read_labels(path), ["s0", "s1", "s2"]
    )


def test_a_press_writes_and_goes_on(tmp_path):
    path = tmp_path / "labels.jsonl"
    widget = labeller(talks(), path, by="ada")
    picker, progress, page, reason, buttons = parts(widget)
    assert picker.value == "s0"
    assert "<img" not in page.value
    reason.value = "tests pass"
    buttons["success"].click()
    assert picker.value == "s1"
    assert "Do 1" in page.value
    assert "1 of 3" in progress.value
    assert reason.value == ""
    buttons["failure"].click()
    buttons["unknown"].click()
    labels = read_labels(path)
    assert [(x.session_id, x.label, x.reason, x.by) for x in labels] == [
        ("s0", "success", "tests pass", "ada"),
        ("s1", "failure", "", "ada"),
        ("s2", "unknown", "", "ada"),
    ]
    picker.value = "s0"
    assert reason.value == "tests pass"


def test_it_starts_where_labels_are_missing(tmp_path):
    path = tmp_path / "labels.jsonl"
    write_label(path, "s0", "success", by="ada")
    picker = labeller(talks(), path, by="ada").children[0]
    assert picker.value == "s1"
    assert [label for label, _ in picker.options] == ["s0  (success)", "s1", "s2"]
    assert labeller(talks(), path, by="bruno").children[0].value == "s0"  # another person labels afresh


def test_strategies_only_when_asked(tmp_path):
    shown = labeller(talks(), tmp_path / "a.jsonl", show_strategies=True)
    hidden = labeller(talks(), tmp_path / "b.jsonl")
    assert "heuristic" in shown.children[2].value
    assert "heuristic" not in hidden.children[2].value


def test_nothing_to_label(tmp_path):
    with pytest.raises(QueryError):
        labeller([], tmp_path / "a.jsonl")
