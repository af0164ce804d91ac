"""Single trajectories: behaviours, knowledge notes from summaries, friction with support counts, weights."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from sessionbank.learning import Atlas, Memory
from sessionbank.learning.behaviours import behaviours
from sessionbank.learning.individual import process_trajectory
from sessionbank.records import Attribution, CodeLearning, Summary
from sessionbank.trajectory.model import Outcome, Step, Task, Trajectory

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def _steps(*told):
    """Steps (tool, target, status) in order."""
    return tuple(
        Step(
            step=i, tool_call_id=f"c{i}", thought=None, action_name=name,
            action_input=json.dumps({"command" if name == "Bash" else "file_path": what}), observation="",
            status=status,
            started_at=None, duration_ms=None, tokens=None, message_uuid=f"u{i}",
        )
        for i, (name, what, status) in enumerate(told)
    )  # fmt: skip


def _trajectory(number, label="success", steps=(), domain="web"):
    outcome = Outcome(
        label, {"success": 1.0, "partial": 0.5, "failure": 0.0}.get(label), 0.8, "evidence", "as told"
    )
    return Trajectory(
        id=f"t{number}", session_id=f"s{number}", task=Task("Add a form", domain=domain),
        own_steps=_steps(*steps), outcome=outcome,
        agent="claude-code", timestamp=NOW,
    )  # fmt: skip


def _names(*told):
    return {p.name for p in behaviours(_trajectory(1, steps=told))}


def test_behaviours_are_read_off_the_order_of_steps():
    read, edit, test = ("Read", "a.py", "ok"), ("Edit", "a.py", "ok"), ("Bash", "pytest -q", "ok")
    assert _names(read, edit, test) == {"reads-before-edits", "checks-after-last-edit"}
    assert _names(edit, read) == {"edits-without-check"}
    assert _names(edit, test, edit) == {
        "checks-between-edits",
        "reads-before-edits",
    }  # what it wrote it knows
    failing = ("Bash", "make all", "error")
    assert "repeats-failed-try" in _names(failing, failing, failing)
    assert "repeats-failed-try" not in _names(failing, failing, ("Bash", "ls -l", "error"))
    assert _names() == set()


def test_places_lead_to_the_transcript():
    (found,) = behaviours(_trajectory(4, steps=[("Edit", "a.py", "ok")]))
    assert [(e.session_id, e.message_uuid, e.step_index, e.run_id) for e in found.evidence] == [
        ("s4", "u0", 0, "t4")
    ]


def test_summaries_become_notes_and_sessions_that_say_the_same_add_up(tmp_path):
    memory = Memory(tmp_path, clock=lambda: NOW)
    said = Summary(
        repo=("The tests need a running database",),
        code=(CodeLearning("db.py", "Connections are pooled", 3, 9),),
    )
    other = Summary(repo=("Tests need a running database.", "The tests do not need a running database"))
    process_trajectory(memory, _trajectory(1), summary=said)
    process_trajectory(memory, _trajectory(2), summary=other)
    process_trajectory(memory, _trajectory(2), summary=other)  # once more: nothing counts twice
    notes = {n.text: n for n in memory.all("knowledge")}
    assert set(notes) == {
        "The tests need a running database",
        "The tests do not need a running database",
        "Connections are pooled",
    }
    both = notes["The tests need a running database"]
    assert (both.support, both.variants) == (2, ["Tests need a running database."])
    assert [e.session_id for e in both.evidence] == ["s1", "s2"]
    code = notes["Connections are pooled"]
    assert (code.kind, code.path, code.line, code.end_line) == ("code", "db.py", 3, 9)


@pytest.mark.parametrize(
    ("label", "percentage", "weight"),
    [
        ("success", None, 1.0),
        ("success", 40.0, 0.4),
        ("failure", 40.0, 0.2),
        ("partial", 100.0, 0.75),
        ("unknown", 0.0, 0.0),
    ],
)
def test_attribution_and_outcome_weigh(tmp_path, label, percentage, weight):
    given = None if percentage is None else Attribution(agent_percentage=percentage)
    result = process_trajectory(
        Memory(tmp_path), _trajectory(1, label), summary=Summary(repo=("x y z",)), attribution=given
    )
    assert result.experience.weight == weight
    assert Memory(tmp_path).all("knowledge")[0].weight == weight
    assert result.experience.score == {"success": 1, "failure": 0, "partial": 0.5}.get(label)


def test_friction_becomes_an_anti_pattern_with_its_count(tmp_path):
    atlas = Atlas(None, Memory(tmp_path, clock=lambda: NOW))
    texts = (
        ["The linter was run without its configuration"] * 3
        + ["Something else entirely went wrong"] * 1
        + [None]
    )
    for number, text in enumerate(texts):
        summary = Summary(friction=(text,)) if text else None
        process_trajectory(
            atlas.memory, _trajectory(number, "failure" if number % 2 else "success"), summary=summary
        )
    assert atlas.run_batch().ready
    (playbook,) = atlas.memory.all("playbooks")
    told = {line.text: line for line in playbook.anti_patterns}
    assert set(told) == {texts[0]}  # what one session says is no pattern yet
    assert told[texts[0]].support.runs_for == 3
    assert {e.session_id for e in told[texts[0]].evidence} == {"s0", "s1", "s2"}
    assert told[texts[0]].confidence < 0.75  # three who say so are few
    assert not atlas.run_batch().ready


def test_contradicting_lessons_stay_visible(tmp_path):
    atlas = Atlas(None, Memory(tmp_path, clock=lambda: NOW))
    for number in range(6):
        text = (
            "Always run the whole test suite before the commit"
            if number % 2
            else "Never run the whole test suite before the commit"
        )
        process_trajectory(atlas.memory, _trajectory(number), summary=Summary(workflow=(text,)))
    atlas.run_batch()
    (playbook,) = atlas.memory.all("playbooks")
    lines = [line for _, line in playbook.lines() if "whole test suite" in line.text]
    assert len(lines) == 2
    for line in lines:
        assert (line.standing, line.support.runs_for, line.support.runs_against) == ("contested", 3, 3)
        assert line.contradictions
