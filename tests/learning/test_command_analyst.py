"""A real program as analyst, well-behaved and in many bad ways: told, nothing outside touched, nothing left running."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from sessionbank.errors import QueryError
from sessionbank.learning import Atlas, CommandAnalyst, Memory
from sessionbank.team.model import Member
from tests.learning import planted

PROGRAM = Path(__file__).with_name("agent_program.py")
FILES = {
    "agent-credits.json",
    "interaction-credits.json",
    "coordination-assessment.json",
    "team-lessons.json",
    "meta-observations.json",
}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are listed by /proc")


def _sleepers() -> list[int]:
    found = []
    for pid in [p.name for p in Path("/proc").iterdir() if p.name.isdigit()]:
        try:
            line = Path("/proc", pid, "cmdline").read_bytes()
            state = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if b"sessionbank-test-sleeper" in line and state != "Z":
            found.append(int(pid))
    return found


@pytest.fixture
def made(tmp_path):
    """Runs the program in a mode; the memory. Afterwards nothing is left and nothing outside was touched."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.json").write_text('{"coordination_lessons": [], "recommendations": ["from outside"]}')
    before = {p.relative_to(outside): p.read_bytes() for p in outside.rglob("*")}
    memory = Memory(tmp_path / "memory")

    def run(mode, *, team=None, timeout=20.0, **settings):
        atlas = Atlas(None, memory, config={"team_learning": {"keep_workspaces": True, **settings}})
        env = {"PATH": os.environ["PATH"], "OUTSIDE": str(outside)}
        analyst = CommandAnalyst(
            [sys.executable, str(PROGRAM), mode], name="agent", env=env, timeout=timeout, output_cap=100_000
        )
        flags = {**dict.fromkeys(planted.PRACTICES, False), "fan-out": True}
        return atlas.process_team(team or planted.team(1, flags, "success"), analyst=analyst)

    yield run, memory
    assert _sleepers() == []
    assert {p.relative_to(outside): p.read_bytes() for p in outside.rglob("*")} == before
    assert {p.name for p in tmp_path.iterdir()} <= {"outside", "memory"}


def test_a_good_program_is_believed_and_its_own_work_learned_from(made):
    run, memory = made
    result = run("well")
    assert (result.run.status, result.run.exit_status, list(result.problems), list(result.filled)) == (
        "done",
        0,
        [],
        [],
    )
    assert result.stored
    assert set(result.experience.written_by.values()) == {"agent"}
    assert result.analysis.coordination_assessment.observed_patterns[0].name == "Quiet hand-over"
    assert (result.run.tool_calls, result.run.tokens) == (2, 120)
    own = memory.get("experiences", result.run.trajectory.id)
    assert (own.domain, own.outcome, own.session_id) == (
        "team-analysis",
        "success",
        "11111111-2222-3333-4444-555555555555",
    )
    assert "metrics-before-trajectories" in {p.name for p in own.row.practices}


def test_one_that_hangs_is_ended_and_what_it_wrote_is_taken(made):
    run, _ = made
    start = time.monotonic()
    result = run("hangs", timeout=1.5)
    assert time.monotonic() - start < 8
    assert result.run.status == "timeout"
    assert "1.5 s" in result.run.message
    assert result.stored
    assert not result.filled
    assert any("did not end" in str(p) for p in result.problems)


def test_processes_that_it_leaves_are_ended_wherever_they_hide(made):
    result = made[0]("forks")
    assert result.run.status == "done"
    assert result.run.left_processes >= 3


def test_a_flood_is_cut_at_the_cap(made):
    result = made[0]("floods")
    assert result.run.status == "done"
    assert result.run.is_truncated
    assert (result.workspace / "workspace" / "stdout.txt").stat().st_size == 100_000


def test_broken_files_are_told_with_their_place_and_filled(made):
    result = made[0]("broken")
    assert {p.file for p in result.problems} == {"agent-credits.json", "team-lessons.json"}
    assert set(result.filled) == {"agent-credits.json", "team-lessons.json"}
    assert result.experience.written_by["agent-credits.json"] == "rule"
    assert result.experience.written_by["meta-observations.json"] == "agent"


def test_half_of_the_files(made):
    result = made[0]("partial")
    assert {"coordination-assessment.json", "team-lessons.json", "meta-observations.json"} <= set(
        result.filled
    )
    assert any(f.startswith("role-lessons/") for f in result.filled)
    assert result.run.trajectory.outcome is None  # judged when it is stored
    assert made[1].get("experiences", result.run.trajectory.id).outcome == "partial"


def test_without_filling_gaps_nothing_half_is_stored(made):
    run, memory = made
    result = run("partial", fill_gaps=False)
    assert not result.stored
    assert memory.count("team-experiences") == 0
    assert result.workspace.is_dir()


def test_references_to_what_is_not_there_are_all_told(made):
    result = made[0]("wrong-references")
    told = [str(p) for p in result.problems]
    assert any("no member is called 'nobody'" in t for t in told)
    assert any("no credit for agent 'lead'" in t for t in told)
    assert any("no interaction is called 'e999'" in t for t in told)
    assert {"agent-credits.json", "interaction-credits.json", "coordination-assessment.json"} <= set(
        result.filled
    )


def test_wrong_values_are_told_all_at_once(made):
    result = made[0]("wrong-values")
    places = {(p.file, p.place) for p in result.problems}
    assert places >= {
        ("agent-credits.json", "credits.0.contribution_score"), ("agent-credits.json", "credits.1.role_assessment"),
        ("coordination-assessment.json", "quality"), ("coordination-assessment.json", "narrative"),
    }  # fmt: skip


def test_links_are_not_followed_when_reading_or_writing(made):
    result = made[0]("links")
    assert any(p.file == "team-lessons.json" and "plain file" in p.message for p in result.problems)
    assert "from outside" not in result.experience.model_dump_json()
    assert "team-lessons.json" in result.filled


def test_path_tricks_in_roles_are_wrong_references_and_escape_nowhere(made):
    result = made[0]("path-tricks")
    assert sum("no member is called" in str(p) for p in result.problems) == 3
    assert result.stored


@pytest.mark.parametrize(
    "name", ["../../../escaped", "/escaped/x", "x" * 300, "con", "a\x00b", "..", "\ud800", "a/../../b"]
)
def test_path_tricks_in_names_of_the_team_itself(made, name):
    flags = dict.fromkeys(planted.PRACTICES, False)
    team = planted.team(1, flags, "success")
    team = replace(
        team, id=name, member_list=(*team.member_list, Member(team="made", agent_id=name, role=name, steps=1)),
        step_lists={**team.step_lists, name: team.step_lists["checker"][:1]},
    )  # fmt: skip
    result = made[0]("well", team=team)
    assert result.stored
    stored = list((result.workspace / "input" / "trajectories").iterdir())
    assert len(stored) == 5
    assert all(len(p.name) < 140 and p.name.isascii() for p in stored)


def test_a_failing_exit_after_good_results(made):
    result = made[0]("exits-1")
    assert (result.run.status, result.run.exit_status) == ("failed", 1)
    assert "something went wrong at the end" in result.run.message
    assert result.stored
    assert not result.filled


def test_changed_input_is_told_and_not_believed(made):
    result = made[0](
        "changes-input", team=planted.team(2, dict.fromkeys(planted.PRACTICES, False), "failure")
    )
    told = {(p.file, p.message) for p in result.problems}
    assert told == {
        ("input/outcome.json", "input was changed by the analyst"),
        ("input/added.json", "input was added by the analyst"),
    }
    assert result.experience.outcome.label == "failure"


def test_one_that_writes_on_is_ended_before_results_are_read(made):
    result = made[0]("writes-on")
    assert result.run.left_processes >= 1
    text = (result.workspace / "output" / "agent-credits.json").read_text()
    time.sleep(0.1)
    assert (result.workspace / "output" / "agent-credits.json").read_text() == text


def test_one_that_kills_its_group_kills_only_itself(made):
    result = made[0]("kills-its-group")
    assert result.run.status == "failed"
    assert result.run.exit_status == -9
    assert result.stored


def test_a_program_that_does_not_exist(tmp_path):
    analyst = CommandAnalyst([str(tmp_path / "nothing-here")])
    result = Atlas(None, tmp_path / "m").process_team(
        planted.team(1, dict.fromkeys(planted.PRACTICES, True), None), analyst=analyst
    )
    assert result.run.status == "not_started"
    assert result.stored
    assert len(set(result.filled) & FILES) == 5


def test_the_caller_chooses_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("API_SECRET", "hidden")
    code = "import os, pathlib; pathlib.Path('workspace/env').write_text(' '.join(sorted(os.environ)))"
    for env, wanted in ((None, False), ({"API_SECRET": "given"}, True)):
        atlas = Atlas(None, tmp_path / str(wanted), config={"team_learning": {"keep_workspaces": True}})
        analyst = CommandAnalyst([sys.executable, "-c", code], env=env)
        result = atlas.process_team(
            planted.team(1, dict.fromkeys(planted.PRACTICES, True), None), analyst=analyst
        )
        assert ("API_SECRET" in (result.workspace / "workspace" / "env").read_text().split()) is wanted


@pytest.mark.parametrize(
    "wrong", [{"command": "claude -p"}, {"command": []}, {"command": ["x"], "timeout": 0}]
)
def test_wrong_calls(wrong):
    with pytest.raises(QueryError):
        CommandAnalyst(**wrong)
