"""A batch done by a program: taken under the same checks, its claims stay claims, the rules fill in."""

from __future__ import annotations

import json
import os
import sys

import pytest

from sessionbank.errors import QueryError
from sessionbank.learning import Atlas, CommandExtractor, Memory
from sessionbank.learning.config import read_config
from tests.learning import planted

PROGRAM = """
import json, pathlib, sys
runs = sorted(json.loads(p.read_text())["run_id"] for p in pathlib.Path("input/lesson-batches").iterdir())
assert json.loads(pathlib.Path("input/findings.json").read_text())["runs"] == len(runs)
line = {"text": "Agree on names first", "standing": "established", "confidence": 0.9, "evidence": [{"run_id": runs[0]}],
        "decisions": [{"action": "accept", "reviewer": "me", "at": "2026-01-01T00:00:00Z", "reason": "I say so"}]}
out = pathlib.Path("output")
def write(name, value): (out / name).write_text(json.dumps(value))
def role(name, identifier, guidance):
    write(f"role-playbooks/{name}.json", {"id": identifier, "name": "n", "role": name, "guidance": guidance})
role("lead", "role-lead", {"responsibilities": [line]})
role("new", "role-new", {"anti_patterns": ["Do not guess"]})
role("wrong", "x", {"responsibilities": [{"text": "t", "evidence": [{"run_id": "no"}]}]})
write("team-playbooks/broken.json", {"id": 3})
write("elsewhere.json", {})
"""


def test_a_program_distils_under_the_same_checks(tmp_path):
    program = tmp_path / "extract.py"
    program.write_text(PROGRAM)
    extractor = CommandExtractor(
        [sys.executable, str(program)], name="agent", env={"PATH": os.environ["PATH"]}
    )
    memory = Memory(tmp_path / "m")
    atlas = Atlas(None, memory, extractor=extractor)
    for team in planted.runs(3, 5, helps="fan-out", harms="ping-pong"):
        atlas.process_team(team)
    result = atlas.run_team_batch()
    assert result.ready
    lead = memory.get("role-playbooks", "role-lead")
    line = next(x for _, x in lead.lines() if x.text == "Agree on names first")
    assert (line.standing, line.decisions) == ("claimed", [])
    assert line.basis.startswith("claimed by the extractor")
    assert memory.get("role-playbooks", "role-new").guidance.anti_patterns[0].text == "Do not guess"
    assert memory.find("role-playbooks", "x") is None
    (batch,) = memory.all("batches")
    told = batch.model_extra["problems"]
    assert any("no run of the batch is called 'no'" in t for t in told)
    assert any("team-playbooks/broken.json" in t for t in told)
    assert any("elsewhere.json" in t for t in told)
    assert memory.count("team-playbooks") == 1  # the rules made what the program did not
    assert batch.analyst == "agent and rule"


def test_an_extractor_that_fails_leaves_the_batch_to_the_rules(tmp_path):
    extractor = CommandExtractor([sys.executable, "-c", "raise SystemExit(3)"])
    atlas = Atlas(None, tmp_path, extractor=extractor)
    for team in planted.runs(3, 5, helps="fan-out", harms="ping-pong"):
        atlas.process_team(team)
    assert atlas.run_team_batch().ready
    (batch,) = atlas.memory.all("batches")
    assert "exit status 3" in batch.model_extra["problems"][0]
    assert atlas.accumulated_count == 0


def test_too_few_runs_say_how_many_are_missing(tmp_path):
    atlas = Atlas(None, tmp_path)
    for team in planted.runs(3, 3, helps="fan-out", harms="ping-pong"):
        atlas.process_team(team)
    result = atlas.run_team_batch()
    assert (result.ready, result.accumulated, result.needed, atlas.is_batch_ready) == (False, 3, 5, False)
    assert result.message == "3 runs have come together, 5 are needed: 2 more."
    assert atlas.memory.count("batches") == 0


def test_an_analyst_is_given_what_memory_knows(tmp_path):
    code = (
        "import json, pathlib, sys; pathlib.Path('workspace/told').write_text(sys.stdin.read());"
        "names = sorted(p.name for p in pathlib.Path('knowledge').iterdir());"
        "pathlib.Path('workspace/files').write_text(json.dumps(names))"
    )
    from sessionbank.learning import CommandAnalyst

    atlas = Atlas(None, tmp_path, config={"team_learning": {"keep_workspaces": True}})
    teams = planted.runs(3, 6, helps="fan-out", harms="ping-pong")
    for team in teams[:5]:
        atlas.process_team(team)
    atlas.run_team_batch()
    result = atlas.process_team(teams[5], analyst=CommandAnalyst([sys.executable, "-c", code]))
    assert json.loads((result.workspace / "workspace" / "files").read_text()) == [
        "past-analyses.md",
        "team-playbooks.md",
    ]
    told = (result.workspace / "workspace" / "told").read_text()
    assert "## Atlas Knowledge" in told
    assert "hierarchical-team-for-web" in told


def test_the_defaults_are_those_of_the_sources():
    config = read_config(None)
    assert config.model_dump() == {
        "session_bank": {
            "enabled": False, "branch": "entire/checkpoints/v1", "state_dir": None, "outcome_strategy": "summary",
            "auto_ingest": False, "max_ingest_batch": 20, "min_trajectories": 5,
        },
        "team_learning": {
            "enabled": False,
            "compression": {
                "max_tokens_per_agent": 5000, "preserve_interaction_boundaries": True, "fold_threshold": 5,
                "strip_patterns": None, "max_critical_ratio": 0.25, "critical_step_threshold": 0.3,
                "critical_interaction_threshold": 0.3,
            },
            "min_team_trajectories": 5, "deduplication_threshold": 0.85, "max_team_experiences": 200,
            "max_team_playbooks": 50, "max_role_playbooks": 100, "analysis_timeout": 300, "extraction_timeout": 600,
            "keep_workspaces": False, "fill_gaps": True,
        },
    }  # fmt: skip


def test_all_errors_of_a_configuration_at_once():
    with pytest.raises(QueryError) as error:
        read_config(
            {
                "session_bank": {"max_ingest_batch": 0, "brunch": "x"},
                "team_learning": {"deduplication_threshold": 2},
            }
        )
    for place in (
        "session_bank.max_ingest_batch",
        "session_bank.brunch",
        "team_learning.deduplication_threshold",
    ):
        assert place in str(error.value)
    with pytest.raises(QueryError, match="no session bank"):
        Atlas(None, "unused").ingest_sessions()
