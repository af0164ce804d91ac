"""The bank of many agents comes out of its script again, and its tables equal the truth that the script wrote.

What a format does not record is null in the truth file, and must be missing in the tables.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from sessionbank.errors import QueryError
from tests.makers.banks import assert_agreement, codes, opened

DATA = Path(__file__).resolve().parent.parent / "data"
BUNDLE, TRUTH = DATA / "agents.bundle", DATA / "agents.truth.json"
COLUMNS = {
    "input": "input_tokens",
    "cache_creation": "cache_creation_tokens",
    "cache_read": "cache_read_tokens",
    "output": "output_tokens",
    "reasoning": "reasoning_tokens",
}


def git(*args, cwd):
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(["git", *args], cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout


def refs_of(bundle, cwd):
    pairs = [line.split() for line in git("bundle", "list-heads", str(bundle), cwd=cwd).splitlines()]
    return {name: oid for oid, name in pairs if name != "HEAD"}


@pytest.fixture(scope="module")
def truth():
    return json.loads(TRUTH.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    with opened(BUNDLE, tmp_path_factory.mktemp("agents")) as found:
        yield found


UNCOUNTED = ("plugin", "unknown")  # agents of which some counts cannot be known


def differences(row, stated):
    """What the row of a session says otherwise than the truth."""
    wanted = {column: stated["tokens"][name] for name, column in COLUMNS.items() if column in row.index}
    wanted |= {name: stated[name] for name in ("human_prompts", "api_calls", "tool_calls")}
    return [(stated["key"], c, known(row[c]), v) for c, v in wanted.items() if known(row[c]) != v]


def rows(frame, session_id):
    return frame[frame["session_id"] == session_id]


def known(value):
    """A number of a row, None where it is missing."""
    return None if pd.isna(value) else int(value)


def total(column):
    """The sum of what is there; None where nothing is."""
    return None if column.isna().all() else int(column.sum())


def test_script_gives_the_same_objects_and_truth(tmp_path, truth):
    env = os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "GIT_AUTHOR_NAME": "Somebody"}
    command = [sys.executable, "-W", "error", str(DATA / "make_agents_bank.py"), str(tmp_path)]
    subprocess.run(command, cwd=tmp_path, env=env, check=True, capture_output=True)
    assert (tmp_path / TRUTH.name).read_bytes() == TRUTH.read_bytes()
    made = refs_of(tmp_path / BUNDLE.name, tmp_path)
    assert made == refs_of(BUNDLE, tmp_path) == truth["refs"]


def test_bundle_is_small_and_sound(tmp_path):
    assert BUNDLE.stat().st_size < 400_000
    git("init", "-q", "--bare", ".", cwd=tmp_path)
    assert "complete history" in git("bundle", "verify", str(BUNDLE), cwd=tmp_path)
    git("fetch", "-q", str(BUNDLE), "refs/*:refs/*", cwd=tmp_path)
    git("fsck", "--strict", "--no-dangling", cwd=tmp_path)


def test_script_stands_alone():
    for path in [DATA / "make_agents_bank.py", *sorted((DATA / "agents_bank").glob("*.py"))]:
        for line in path.read_text(encoding="utf-8").splitlines():
            assert not line.strip().startswith(("import sessionbank", "from sessionbank")), path.name


def test_every_agent_is_told_by_its_bytes(bank, truth):
    found = bank.sessions().set_index("session_id")["agent"].to_dict()
    assert found == {k: v["agent"] for k, v in truth["sessions"].items()}
    assert len(set(found.values())) == 11
    labels = bank.records().groupby("session_id")["agent_label"].first().to_dict()
    assert labels == {k: v["label"] for k, v in truth["sessions"].items()}


def test_checkpoints_and_commits(bank, truth):
    found = bank.commits().set_index("checkpoint_id")["commit_sha"].to_dict()
    assert found == {k: v["commit"] for k, v in truth["checkpoints"].items()}
    records = bank.records().sort_values(["checkpoint_id", "session_index"])
    of = records.groupby("checkpoint_id")["session_id"].agg(list).to_dict()
    assert of == {k: v["sessions"] for k, v in truth["checkpoints"].items()}


def test_prompts_calls_and_tokens(bank, truth):
    """Main agent, each session, each class; a class that the format does not state is missing and not 0."""
    messages, usage = bank.messages(), bank.token_usage()
    sessions = bank.sessions().set_index("session_id")
    wrong = []
    for sid, stated in truth["sessions"].items():
        said, used, row = rows(messages, sid), rows(usage, sid), sessions.loc[sid]
        found = {
            "human_prompts": int((said["kind"] == "prompt").sum()),
            "api_calls": len(used),
            "tokens": {k: total(used[c]) for k, c in COLUMNS.items()},
            "models": sorted(used["model"].dropna().unique()),
            "compactions": int((said["kind"] == "compact_summary").sum()),
            "cwd": row["cwd"] if isinstance(row["cwd"], str) else None,
            "has_times": bool(said["timestamp"].notna().any()),
            "has_ids": bool(said["uuid"].notna().any()),
        }
        wanted = {k: stated[k] for k in found}
        wanted["human_prompts"] = wanted["human_prompts"] or 0
        wanted["api_calls"] = wanted["api_calls"] or 0
        if found != wanted:
            wrong.append((stated["key"], {k: (found[k], wanted[k]) for k in found if found[k] != wanted[k]}))
        if stated["agent"] not in UNCOUNTED:
            wrong += differences(row, stated)
    assert wrong == []


def test_what_cannot_be_counted_is_missing(bank, truth):
    sessions = bank.sessions().set_index("session_id")
    stated = {k: v for k, v in truth["sessions"].items() if v["agent"] in UNCOUNTED}
    assert len(stated) == 2
    assert [d for sid, v in stated.items() for d in differences(sessions.loc[sid], v)] == []


def test_totals_of_agents_that_state_no_tokens_are_missing(bank, truth):
    totals = bank.totals("agent").set_index("agent")
    for agent in ("factory-droid", "kiro"):
        assert totals.loc[agent, "api_calls"] == 3
        assert totals.loc[agent, list(COLUMNS.values())[:4]].isna().all()


def test_tool_calls_and_how_they_ended(bank, truth):
    calls = bank.tool_calls()
    found, wanted = {}, {}
    for sid, stated in truth["sessions"].items():
        own = rows(calls, sid)
        found[stated["key"]] = own["status"].value_counts().to_dict()
        wanted[stated["key"]] = stated["tool_status"] or {}
        assert own["tool_call_id"].dropna().is_unique
    assert found == wanted


def test_usage_of_each_window_is_what_the_script_stored(bank, truth):
    """The script states the usage of a record from its own steps; Gemini CLI's as Entire does, which fits nothing."""
    key = {k: v["key"] for k, v in truth["sessions"].items()}
    found = sorted((key[r["session_id"]], r["scope"]) for r in bank.reconcile().to_dict("records"))
    silent = ("tide-table", "user-guide", "contributing", "gull-talk", "lighthouse", "change-list")
    whole = (
        "readme-tests",
        "storm-surge",
        "storm-surge-review",
        "harbour-file",
        "moon-phase",
        "two-branches",
    )
    twice = ("first-calculator", "command-line")  # the first window is the whole session so far
    wanted = [(k, "absent") for k in silent] + [(k, "both") for k in (*whole, *twice)]
    wanted += [(k, "window") for k in twice] + [(k, "unknown") for k in ("low-water", "low-water-notes")]
    assert found == sorted(wanted)


def test_every_row_leads_back_to_its_bytes(bank):
    for table in ("messages", "blocks", "tool_calls", "token_usage"):
        for row in getattr(bank, table)().to_dict("records"):
            stored = bank.raw(row)
            assert stored
            assert all(isinstance(json.loads(line), dict) for line in stored)


def test_a_child_names_its_parent(bank, truth):
    children = {(v["parent"], k) for k, v in truth["sessions"].items() if v["parent"]}
    edges = bank.lineage()
    assert len(children) == 1
    assert {(e["from_session"], e["to_session"]) for e in edges.to_dict("records")} == children


def test_what_the_model_saw(bank, truth):
    """The story says by hand which of its steps are in the context, at the end and at other moments."""
    messages = bank.messages()
    told = 0
    for sid, stated in truth["sessions"].items():
        session, own = bank.get_by_session_id(sid), rows(messages, sid)
        if stated["key"] == "change-list":
            continue  # the next test's
        if (
            stated["agent"] == "codex"
        ):  # its lines have no ids; the story has no compaction, so nothing was left out
            sent = own["kind"].isin(["prompt", "reply", "tool_result", "meta"])
            assert own.loc[sent, "in_context"].all() and own.loc[~sent, "in_context"].isna().all()
            assert [m.seq for m in session.context_at()] == own.loc[sent, "seq"].to_list()
            continue
        if "context" not in stated:
            assert own["in_context"].isna().all()
            with pytest.raises(QueryError, match="what the model saw cannot be told"):
                session.context_at()
            continue
        told += 1
        assert [m.uuid for m in session.context_at()] == stated["context"], stated["key"]
        seen = {u: v for u, v in zip(own["uuid"], own["in_context"], strict=True) if not pd.isna(v)}
        assert {k for k, v in seen.items() if v} == set(stated["context"])
        assert {k for k, v in seen.items() if not v} == set(stated["left_out"])
        by_id = {m.uuid: m for m in session.messages}
        for moment, view in stated["views"].items():
            assert [m.uuid for m in session.context_at(by_id[moment])] == view, (stated["key"], moment)
    assert told == 3


def test_the_context_of_a_compact_transcript_is_not_told(bank, truth):
    sid = next(k for k, v in truth["sessions"].items() if v["key"] == "change-list")
    assert rows(bank.messages(), sid)["in_context"].isna().all()


def test_an_agent_that_nobody_knows_is_kept_and_told(bank, truth):
    sid = next(k for k, v in truth["sessions"].items() if v["agent"] == "unknown")
    own = rows(bank.messages(), sid)
    assert [json.loads(x)["words"] for x in own["extra"]] == ["Blink.", "Blinking.", "Lamp at 40 %."]
    told = rows(bank.diagnostics(), sid)
    assert told["code"].to_list() == ["format_not_read"]


def test_nothing_is_wrong_with_the_bank_but_what_was_meant(bank):
    assert (
        codes(bank)
        == {
            "compact_transcript": 1,  # change-list
            "format_not_read": 1,  # lighthouse
            "unpriced_model": 2,  # calls without a model or without tokens: Droid, Kiro, the compact one; Pi's drafts
            "usage_of_run": 1,  # harbour-file
        }
    )


def test_sums_agree(bank):
    assert assert_agreement(bank)["api_calls"] > 40
