"""Every figure of the real sample repositories and hard cases, from public tables; what each counts is said here."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.makers.banks import CLASSES, assert_agreement, opened
from tests.makers.checkpoints import CheckpointRepo, session

pytestmark = pytest.mark.shared
_SHARED = Path(
    os.environ.get("SESSIONBANK_SHARED") or Path(__file__).resolve().parent.parent.parent / "shared"
)
BUNDLES = sorted(
    p.name.removesuffix(".expected.json") for p in (_SHARED / "data").glob("*.expected.json")
) or ["none"]
CASES = sorted(p.stem for p in (_SHARED / "cases").glob("*.jsonl")) or ["none"]
SHORT = dict(zip(("input", "cache_creation", "cache_read", "output"), CLASSES, strict=True))


@pytest.fixture(scope="module")
def banks(shared, tmp_path_factory):
    """name -> bank, each opened once."""
    folder, found = tmp_path_factory.mktemp("shared"), {}

    def bank(name):
        if name not in found:
            found[name] = opened(shared / "data" / f"{name}.bundle", folder)
        return found[name]

    yield bank
    for each in found.values():
        each.close()


def figures(bank) -> dict:
    """The figures of an expected.json file, each from the frames alone.

    Rows, prompts, calls and tokens are of Claude Code sessions, inherited rows left out; main and subagent work is told
    apart by `is_subagent`. Checkpoints, sessions and directories are of all agents.
    """
    records, sessions, diagnostics = bank.records(transcripts=True), bank.sessions(), bank.diagnostics()
    claude = set(sessions.loc[sessions["agent"] == "claude-code", "session_id"])

    def own(frame):
        frame = frame[frame["session_id"].isin(claude) & frame["inherited_from"].isna()]
        nested = frame["is_subagent"].astype(bool)
        return frame[~nested], frame[nested]

    messages, _ = own(bank.messages())
    calls, nested_calls = own(bank.tool_calls())
    usage, nested_usage = own(bank.token_usage())
    rows = messages[messages["uuid"].notna()].drop_duplicates(["session_id", "uuid"])
    answered = int((calls["status"] != "no_result").sum())
    orphans = int((diagnostics["code"] == "result_without_call").sum())
    present = records[records["transcript_state"] == "present"]
    # messages of a document have a number, but no place in bytes
    documents = set(bank.messages().groupby("session_id")["byte_offset"].count().loc[lambda n: n == 0].index)
    return {
        "checkpoints": len(bank.checkpoints()),
        "session_dirs": len(records),
        "sessions": len(sessions),
        "jsonl": int((~present["session_id"].isin(documents)).sum()),
        "documents": int(present["session_id"].isin(documents).sum()),
        "no_transcript": int((records["transcript_state"] == "absent").sum()),
        "missing_blob": int((records["transcript_state"] == "missing_blob").sum()),
        "glued_lines": int((diagnostics["code"] == "glued_objects").sum()),
        "rows": len(rows),
        "rows_by_type": rows["line_type"].value_counts().to_dict(),
        "human_prompts": int((messages["kind"] == "prompt").sum()),
        "queued_prompts": int(((messages["kind"] == "prompt") & messages["is_queued"].astype(bool)).sum()),
        "api_calls": len(usage),
        "tokens": {k: int(usage[c].sum()) for k, c in SHORT.items()},
        "tool_calls": len(calls),
        "tool_results": answered + orphans,
        "tool_status": calls["status"].value_counts().to_dict(),
        "tool_calls_without_result": int((calls["status"] == "no_result").sum()),
        "results_without_call": orphans,
        "inherited_rows": int(bank.messages()["inherited_from"].notna().sum()),
        "spawns": int(calls["tool_name"].isin(["Task", "Agent"]).sum()),
        "subagent_tool_calls": len(nested_calls),
        # calls whose result says is_error: errors, rejections and interruptions alike
        "subagent_tool_errors": int(nested_calls["status"].isin(["error", "rejected", "interrupted"]).sum()),
        "subagent_api_calls": len(nested_usage),
        "subagent_tokens": {k: int(nested_usage[c].sum()) for k, c in SHORT.items()},
    }


@pytest.mark.parametrize("name", BUNDLES)
def test_figures_of_bundle(name, banks, shared):
    expected = json.loads((shared / "data" / f"{name}.expected.json").read_text(encoding="utf-8"))
    found = figures(banks(name))
    # `lines` counts physical lines of stored files, copies too: no table is of them (see the test below).
    wanted = {k: v for k, v in expected.items() if k != "lines"}
    assert {k: found[k] for k in wanted} == wanted
    assert found["missing_blob"] == expected.get("missing_blob", 0)
    assert found["no_transcript"] == expected.get("no_transcript", 0)


@pytest.mark.parametrize("name", [n for n in BUNDLES if n != "many-agents"])
def test_stored_copies_add_up_to_the_physical_lines(name, banks, shared):
    """All stored objects, copies too, are the sum of `stored_copies` (`lines` counts both objects of a glued line).

    Not for the bundle of many agents, whose `lines` are of formats that do not make a row of each line.
    """
    expected = json.loads((shared / "data" / f"{name}.expected.json").read_text(encoding="utf-8"))
    bank = banks(name)
    claude = bank.sessions().query("agent == 'claude-code'")["session_id"]
    m = bank.messages()
    m = m[m["session_id"].isin(claude)]
    m = m[
        ~(m["line_type"].eq("progress") & m["role"].ne("progress"))
    ]  # nested in a progress line: no line of its own
    second = m[m.duplicated(["session_id", "blob_oid", "line_index"])]
    assert len(second) == expected.get("glued_lines", 0)
    assert int(m["stored_copies"].sum()) == expected["lines"]


@pytest.mark.parametrize("name", BUNDLES)
def test_all_sums_agree(name, banks, shared):
    expected = json.loads((shared / "data" / f"{name}.expected.json").read_text(encoding="utf-8"))
    sums = assert_agreement(banks(name))
    assert sums["subagent_api_calls"] == expected["subagent_api_calls"]


@pytest.mark.parametrize("name", CASES)
def test_hard_case(name, shared, tmp_path):
    expected = json.loads((shared / "cases" / "expected.json").read_text(encoding="utf-8"))[name]
    data = (shared / "cases" / f"{name}.jsonl").read_bytes()
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint("0123456789ab", sessions=[session("11111111-0000-4000-8000-000000000001", data)])
    with opened(repo.path, tmp_path) as bank:
        row = bank.sessions().iloc[0]
        found = {k: int(row[k]) for k in expected if k != "tool_status"}
        if "tool_status" in expected:
            found["tool_status"] = bank.tool_calls()["status"].value_counts().to_dict()
        assert found == expected
        assert_agreement(bank)


def test_every_case_has_a_value(shared):
    expected = json.loads((shared / "cases" / "expected.json").read_text(encoding="utf-8"))
    assert sorted(expected) == CASES
