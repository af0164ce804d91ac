"""Workspaces: whole or absent, read-only facts that are checked, resumed, removed, pruned; outputs checked by place."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta

import pytest

from sessionbank.errors import FormatError, QueryError
from sessionbank.learning import TEAM_ANALYSIS, Atlas, Person, RuleAnalyst, TaskTemplate, Workspace, prune
from sessionbank.learning.inputs import facts, read_input, team_files
from sessionbank.learning.readback import read_outputs
from sessionbank.learning.rule_analyst import analyse
from sessionbank.learning.team_learning import check_outputs
from sessionbank.team import apply_template
from tests.learning import planted

FLAGS = {**dict.fromkeys(planted.PRACTICES, False), "fan-out": True, "ping-pong": True}
OTHER = TaskTemplate(
    "evaluate-trajectory", "# Judge it\n", {"verdict.schema.json": {"type": "object"}}, ("verdicts",)
)


@pytest.fixture
def team():
    return planted.team(1, FLAGS, "success")


def test_the_layout_is_that_of_the_design(tmp_path, team):
    made = Workspace.create(tmp_path, TEAM_ANALYSIS, subject=team.id, files=team_files(team))
    names = {p.relative_to(made.path).as_posix() for p in made.path.rglob("*") if p.is_file()}
    assert names >= {
        "input/objective.md",
        "input/team-config.json",
        "input/outcome.json",
        "input/structural-metrics.json",
        "input/critical-moments.json",
        "input/trajectories/lead.json",
        "input/trajectories/worker-1.json",
        "input/interactions/graph.json",
        "input/interactions/timeline.json",
        "schemas/agent-credits.schema.json",
        "TASK.md",
        "manifest.json",
    }
    assert (made.path / "workspace").is_dir()
    assert (made.path / "output" / "role-lessons").is_dir()
    manifest = json.loads((made.path / "manifest.json").read_text())
    for name, wanted in manifest["files"].items():
        assert hashlib.sha256((made.path / name).read_bytes()).hexdigest() == wanted
    graph = json.loads((made.input / "interactions" / "graph.json").read_text())["interactions"]
    assert [e["id"] for e in graph] == [e.interaction_id for e in team.interaction_list]
    first = graph[0]
    assert (first["from"]["agent_id"], first["from"]["step_index"]) == ("lead", 0)
    assert (first["to"]["agent_id"], first["to"]["step_index"]) == ("worker-1", 0)


def test_the_same_team_gives_the_same_bytes_and_resumes(tmp_path, team):
    again = planted.team(1, FLAGS, "success")
    assert team_files(team) == team_files(again)
    made = Workspace.create(tmp_path, TEAM_ANALYSIS, subject=team.id, files=team_files(team))
    (made.notes / "half.md").write_text("so far")
    resumed = Workspace.create(tmp_path, TEAM_ANALYSIS, subject=again.id, files=team_files(again))
    assert resumed == made
    assert (resumed.notes / "half.md").read_text() == "so far"
    other = Workspace.create(
        tmp_path, TEAM_ANALYSIS, subject=team.id, files=team_files(planted.team(1, FLAGS, "failure"))
    )
    assert other.id != made.id


def test_changes_to_the_input_are_seen_and_mended(tmp_path):
    files = {"a.json": b"1", "deep/b.json": b"2"}
    made = Workspace.create(tmp_path, OTHER, subject="s", files=files)
    assert made.changed() == []
    for folder in (made.input, made.input / "deep"):
        folder.chmod(0o755)
    (made.input / "a.json").unlink()
    (made.input / "a.json").write_bytes(b"other")
    (made.input / "deep" / "b.json").unlink()
    (made.input / "more.json").write_bytes(b"x")
    assert {(p.file, p.message) for p in made.changed()} == {
        ("input/a.json", "was changed"),
        ("input/deep/b.json", "is gone"),
        ("input/more.json", "was added"),
    }
    assert Workspace.create(tmp_path, OTHER, subject="s", files=files).changed() == []
    assert (made.input / "a.json").read_bytes() == b"1"


def test_other_work_has_other_folders_and_paths_stay_inside(tmp_path):
    made = Workspace.create(tmp_path, OTHER, subject="s", files={"x.json": b"{}"})
    assert (made.task, (made.output / "verdicts").is_dir()) == ("evaluate-trajectory", True)
    for name in ("../x", "/x", "a/../../x", "a//b", "..\\x"):
        with pytest.raises(QueryError):
            Workspace.create(tmp_path / "w", OTHER, subject="s", files={name: b""})
    assert not (tmp_path / "x").exists()


def test_removing_and_pruning_spare_what_is_not_ours_and_what_links_point_to(tmp_path):
    parent, kept = tmp_path / "w", tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("here")
    old = Workspace.create(
        parent, OTHER, subject="old", files={"a": b"1"}, clock=datetime(2026, 1, 1, tzinfo=UTC)
    )
    new = Workspace.create(
        parent, OTHER, subject="new", files={"a": b"1"}, clock=datetime(2026, 1, 9, tzinfo=UTC)
    )
    (old.notes / "link").symlink_to(kept)
    (parent / "mine").mkdir()
    (parent / "mine" / "notes.txt").write_text("not a workspace")
    gone = prune(parent, older_than=timedelta(days=3), now=datetime(2026, 1, 10, tzinfo=UTC))
    assert gone == [old.id]
    assert not old.path.exists()
    assert new.path.is_dir()
    assert (parent / "mine" / "notes.txt").exists()
    assert (kept / "file").read_text() == "here"
    with pytest.raises(FormatError, match="mine"):
        Workspace.open(parent / "mine")


def test_a_damaged_workspace_is_kept_and_made_anew(tmp_path):
    made = Workspace.create(tmp_path, OTHER, subject="s", files={"a": b"1"})
    (made.path / "manifest.json").write_text("{")
    again = Workspace.create(tmp_path, OTHER, subject="s", files={"a": b"1"})
    assert again.changed() == []
    assert len([p for p in tmp_path.iterdir() if p.name.startswith("damaged-")]) == 1


def test_what_the_rule_analyst_writes_passes_its_own_checks(tmp_path, team):
    made = Workspace.create(tmp_path, TEAM_ANALYSIS, subject=team.id, files=team_files(team))
    assert RuleAnalyst().work(made, knowledge={}).status == "done"
    found = read_outputs(made.output, facts(read_input(made.input)), analyst="rule")
    assert found.problems == []
    assert found.is_complete
    assert {c.agent_id for c in found.agent_credits.credits} == {"lead", "worker-1", "worker-2", "checker"}
    seen = found.coordination_assessment
    assert {p.name for p in seen.observed_patterns} == {"fan-out"}
    assert {p.name for p in seen.observed_anti_patterns} == {"ping-pong"}
    credit = {c.interaction_id: c for c in found.interaction_credits.credits}
    back_and_forth = seen.observed_anti_patterns[0].interaction_ids
    first = seen.observed_patterns[0].interaction_ids[0]
    assert all("part of ping-pong" in credit[i].reasoning for i in back_and_forth)
    assert max(credit[i].credit_score for i in back_and_forth) < credit[first].credit_score


def test_a_person_fills_the_folder(tmp_path, team):
    atlas = Atlas(None, tmp_path, config={"team_learning": {"fill_gaps": False}})
    made = atlas.team_workspace(team)
    assert len(check_outputs(made).problems) == 6  # five files and the role lessons
    assert not atlas.process_team(team, analyst=Person()).stored
    RuleAnalyst().work(made, knowledge={})
    (made.output / "team-lessons.json").write_text(json.dumps({"coordination_lessons": [{"lesson": "x"}]}))
    told = {(p.file, p.place) for p in check_outputs(made).problems}
    assert told == {
        ("team-lessons.json", f"coordination_lessons.0.{f}") for f in ("category", "evidence", "confidence")
    }
    (made.output / "team-lessons.json").write_text("{}")
    result = atlas.process_team(team, analyst=Person())
    assert result.stored
    assert set(result.experience.written_by.values()) == {"person"}
    assert not made.path.exists()


def test_all_faults_of_a_file_are_told_in_one_pass(tmp_path, team):
    """A credit without its reasoning, of a role that the agent has not, with a step that is not; and a lesson of nobody."""
    made = Workspace.create(tmp_path, TEAM_ANALYSIS, subject=team.id, files=team_files(team))
    RuleAnalyst().work(made, knowledge={})
    path = made.output / "agent-credits.json"
    value = json.loads(path.read_text())
    first = value["credits"][0]
    del first["assessment"]
    first["role"] = "cook"
    first["step_attributions"] = [{"step_index": 999, "credit": 0.5, "reasoning": "x"}]
    path.write_text(json.dumps(value))
    lesson = next((made.output / "role-lessons").iterdir())
    lesson.write_text(json.dumps({"agent_id": "nobody", "role": "x"}))
    told = {(p.file, p.place): p.message for p in check_outputs(made).problems}
    assert ("agent-credits.json", "credits.0.assessment") in told
    assert "not 'cook'" in told["agent-credits.json", "credits.0.role"]
    assert "has no step 999" in told["agent-credits.json", "credits.0.step_attributions.0.step_index"]
    assert "nobody" in told[f"role-lessons/{lesson.name}", "agent_id"]
    assert (f"role-lessons/{lesson.name}", "role_assessment") in told


def test_where_nothing_tells_how_it_went_nobody_is_blamed(team):
    """Without quality a credit stands at 0 and says so; agents are judged by what is left, from a half."""
    read = read_input(team_files(team))
    read["detected-practices"] = []
    for item in read["critical-moments"]["interactions"]:
        item["scores"]["quality"] = None
    read["critical-moments"]["critical_steps"] = []
    made = analyse(read)
    credits = made.interaction_credits.credits
    assert {(c.value, c.credit_score, c.necessity) for c in credits} == {("neutral", 0.0, "useful")}
    assert {c.reasoning for c in credits} == {"nothing tells how it went."}
    assert {a.contribution_score for a in made.agent_credits.credits} == {0.5}
    assert all("no interaction sent of which" in a.assessment for a in made.agent_credits.credits)
    # one that failed is known to have failed: it alone is what its sender sent
    edge = read["graph"]["interactions"][0]
    edge["ok"] = False
    sender = next(a for a in analyse(read).agent_credits.credits if a.agent_id == edge["from"]["agent_id"])
    assert sender.contribution_score == 0.375  # 0.5 - 0.25 * 0.5


def test_declared_patterns_are_compared_also_those_that_never_came(team):
    """A template that wants two ways that were gone, one that was gone otherwise, and one that nobody went."""
    template = {
        "name": "made", "version": 1, "roles": ["lead", "worker", "checker"], "topology": {"root": {"role": "lead"}},
        "communication": {"routing": {"peers": [
            {"from": "lead", "to": "worker"}, {"from": "worker", "to": "lead", "signals": ["DONE"]},
            {"from": "checker", "to": "worker"},
        ]}},
    }  # fmt: skip
    ways = {(e.from_role, e.to_role) for e in team.interaction_list}
    assert ("lead", "worker") in ways
    assert ("worker", "lead") in ways
    assert ("checker", "worker") not in ways
    read = read_input(team_files(apply_template(team, template)))
    told = analyse(read).coordination_assessment.pattern_comparison
    assert {t.expected: t.observed for t in told} == {
        "peer route lead to worker": "followed",
        "DONE worker to lead": "deviated",
        "peer route checker to worker": "absent",
    }
    # without a declaration there is nothing to compare, and the narrative says so
    bare = analyse(read_input(team_files(team))).coordination_assessment
    assert bare.pattern_comparison == []
    assert "No pattern was declared" in bare.narrative
