"""Outside validators accept the ATIF that we write, and refuse what is no ATIF.

They run in their own environments, which `checkers/run.py` makes at pinned versions. Harbor's needs Python 3.12 or
newer. Where the package index cannot be reached the tests are skipped, but not in CI.
"""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sessionbank as sb
from checkers import run as checkers

Run = subprocess.CompletedProcess[str]
pytestmark = pytest.mark.slow
CHECKERS = ("harbor", "atif", "nvidia-nat-atif", "agentpile", "atif-scan")
NEEDS_PYTHON = pytest.mark.skipif(
    checkers.find_python(checkers.OLDEST_PYTHON["harbor"]) is None,
    reason="harbor's validator needs Python >= 3.12, and there is none on the path or under pyenv",
)


def ask(*arguments: str | Path) -> Run:
    command = [sys.executable, str(checkers.__file__), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == checkers.CANNOT_INSTALL and not os.environ.get("CI"):
        pytest.skip(f"a checker cannot be installed: {done.stderr.strip().splitlines()[-1]}")
    return done


def verdicts(done: Run) -> dict[str, tuple[str, str]]:
    """checker -> (number of documents, result) from the printed table."""
    rows = re.findall(r"^([\w-]+) +\S+ +(\d+) +(.+)$", done.stdout, re.MULTILINE)
    return {checker: (documents, result) for checker, documents, result in rows}


def assert_accepted(done: Run, documents: int) -> None:
    found = verdicts(done)
    assert tuple(found) == CHECKERS, done.stdout + done.stderr
    for checker, (number, result) in found.items():
        assert int(number) == documents, checker
        assert result == "accepted" or (checker == "harbor" and result.startswith("skipped: no Python")), (
            done.stdout
        )
    assert done.returncode == 0


# One document with what ours may hold: a reply with two calls and usage, a subagent, its reference, a note.
VALID: dict[str, Any] = {
    "schema_version": "ATIF-v1.7",
    "session_id": "session",
    "trajectory_id": "main",
    "agent": {"name": "claude-code", "version": "2.1.0", "model_name": "claude-opus-4-5"},
    "notes": "by hand",
    "steps": [
        {
            "step_id": 1,
            "source": "user",
            "message": "list, then explore",
            "timestamp": "2026-01-02T03:04:05Z",
        },
        {
            "step_id": 2,
            "source": "agent",
            "message": "",
            "reasoning_content": "both at once",
            "timestamp": "2026-01-02T03:04:06Z",
            "model_name": "claude-opus-4-5",
            "llm_call_count": 1,
            "tool_calls": [
                {"tool_call_id": "a", "function_name": "Bash", "arguments": {"command": "ls"}},
                {"tool_call_id": "b", "function_name": "Task", "arguments": {"prompt": "explore"}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "a", "content": "x.py"},
                    {"source_call_id": "b", "subagent_trajectory_ref": [{"trajectory_id": "sub"}]},
                ]
            },
            "metrics": {"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 8, "cost_usd": 0.001},
        },
    ],
    "final_metrics": {"total_prompt_tokens": 10, "total_completion_tokens": 2, "total_steps": 2},
    "subagent_trajectories": [
        {
            "schema_version": "ATIF-v1.7",
            "trajectory_id": "sub",
            "agent": {"name": "claude-code", "version": "2.1.0"},
            "steps": [{"step_id": 1, "source": "user", "message": "explore"}],
        }
    ],
}


def gap_in_steps(document: dict[str, Any]) -> None:
    document["steps"][1]["step_id"] = 3


def unknown_field(document: dict[str, Any]) -> None:
    document["steps"][0]["surprise"] = 1


def result_without_call(document: dict[str, Any]) -> None:
    document["steps"][1]["observation"]["results"][0]["source_call_id"] = "elsewhere"


def message_is_null(document: dict[str, Any]) -> None:
    document["steps"][1]["message"] = None


def user_with_usage(document: dict[str, Any]) -> None:
    document["steps"][0]["metrics"] = {"prompt_tokens": 1}


def arguments_as_text(document: dict[str, Any]) -> None:
    document["steps"][1]["tool_calls"][0]["arguments"] = '{"command": "ls"}'


def nameless_subagent(document: dict[str, Any]) -> None:
    del document["subagent_trajectories"][0]["trajectory_id"]


def test_checkers_accept_a_document_made_by_hand(tmp_path: Path) -> None:
    whole, lines = tmp_path / "whole.json", tmp_path / "lines.jsonl"
    whole.write_text(json.dumps(VALID, indent=1), encoding="utf-8")
    lines.write_text(2 * (json.dumps(VALID) + "\n"), encoding="utf-8")
    assert_accepted(ask(whole, lines), 3)


@pytest.mark.parametrize(
    "checker", ["atif", "nvidia-nat-atif", "agentpile", pytest.param("harbor", marks=NEEDS_PYTHON)]
)
@pytest.mark.parametrize(
    "damage",
    [
        gap_in_steps,
        unknown_field,
        result_without_call,
        message_is_null,
        user_with_usage,
        arguments_as_text,
        nameless_subagent,
    ],
)
def test_each_checker_refuses(checker: str, damage: Callable[[dict[str, Any]], None], tmp_path: Path) -> None:
    damaged = copy.deepcopy(VALID)
    damage(damaged)
    path = tmp_path / "damaged.jsonl"
    path.write_text(json.dumps(VALID) + "\n" + json.dumps(damaged) + "\n", encoding="utf-8")
    done = ask("--only", checker, path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert verdicts(done) == {checker: ("2", "REFUSED")}
    faults = [line for line in done.stdout.splitlines() if line.startswith(f"{checker}: ")]
    assert faults
    assert all(f"{path}:2: " in fault for fault in faults)  # the second line, never the first


def foreign_step(document: dict[str, Any]) -> None:
    document["subagent_trajectories"][0]["steps"][0]["source"] = "tool"


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (gap_in_steps, "step_sequence"),
        (result_without_call, "orphan_observation"),
        (user_with_usage, "agent_only_fields"),
        (foreign_step, "subagent 1: invalid_step"),
    ],
)
def test_atif_scan_refuses_what_is_badly_written(
    damage: Callable[[dict[str, Any]], None], fault: str, tmp_path: Path
) -> None:
    """It is a scanner of what runs did, lenient about form; these are what it does tell of form."""
    damaged = copy.deepcopy(VALID)
    damage(damaged)
    path = tmp_path / "damaged.jsonl"
    path.write_text(json.dumps(VALID) + "\n" + json.dumps(damaged) + "\n", encoding="utf-8")
    done = ask("--only", "atif-scan", path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert fault in done.stdout
    assert f"{path}:1: " not in done.stdout


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "holds no document"),
        (b'{"steps": [}\n{}\n', ":1: is not JSON"),
        (json.dumps(VALID | {"extra": {"x": float("nan")}}).encode(), "NaN is not JSON"),
        (json.dumps(VALID).encode()[:-1], "is not JSON"),
    ],
)
def test_a_file_that_is_no_json_is_refused(data: bytes, fault: str, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(data)
    done = ask("--only", "agentpile", tmp_path / "x.jsonl")
    assert done.returncode == 1
    assert fault in done.stdout


def test_a_missing_file_is_a_wrong_call(tmp_path: Path) -> None:
    done = ask(tmp_path / "absent.jsonl")
    assert done.returncode == 2
    assert "no such file" in done.stderr


def test_a_fault_that_quotes_a_transcript_cannot_steer_the_terminal(tmp_path: Path) -> None:
    damaged = copy.deepcopy(VALID) | {"\x1b[2Jx": 1}
    (tmp_path / "x.json").write_text(json.dumps(damaged), encoding="utf-8")
    done = ask("--only", "atif", tmp_path / "x.json")
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert r"\x1b[2Jx" in done.stdout


def test_sample_bank_is_accepted(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "shop.jsonl"
    with sb.open_bank(str(root / "data" / "shop.bundle"), cache=False) as bank:
        trajectories = [sb.synthesize(session) for session in bank.discover() if session.messages]
        assert trajectories
        sb.write_jsonl(trajectories, path, format="atif")
    assert_accepted(ask(path), len(trajectories))


@pytest.mark.shared
def test_real_sessions_are_accepted(shared: Path, tmp_path: Path) -> None:
    """The five sessions of go-cli whose subagents called the most tools: subagents are what is hardest to write."""
    path = tmp_path / "go-cli.jsonl"
    with sb.open_bank(str(shared / "data" / "go-cli.bundle"), cache=False) as bank:
        frame = bank.sessions()
        chosen = frame[frame["transcript_state"] == "present"].nlargest(5, "subagent_tool_calls")[
            "session_id"
        ]
        assert len(chosen) == 5
        trajectories = [sb.synthesize(bank.get_by_session_id(name)) for name in chosen]
        sb.write_jsonl(trajectories, path, format="atif")
    assert_accepted(ask(path), 5)
    written = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert all(document.get("subagent_trajectories") for document in written)
