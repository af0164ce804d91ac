"""The tables of the sample bank equal the truth that its script wrote from its own books."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.makers.banks import CLASSES, assert_agreement, opened

SHORT = {
    "input": CLASSES[0],
    "cache_creation": CLASSES[1],
    "cache_read": CLASSES[2],
    "output": CLASSES[3],
    "cache_creation_1h": "cache_creation_1h_tokens",
}


@pytest.fixture(scope="module")
def truth(root):
    return json.loads((root / "data" / "shop.truth.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def bank(root, tmp_path_factory):
    with opened(root / "data" / "shop.bundle", tmp_path_factory.mktemp("shop")) as found:
        yield found


def tokens(frame):
    return {k: int(frame[c].sum()) for k, c in SHORT.items()}


def figures(bank, ids):
    """The figures of the truth file over some sessions, from the frames; inherited rows are in none."""

    def own(frame):
        frame = frame[frame["session_id"].isin(ids)]
        frame = frame[frame["inherited_from"].isna()]
        nested = frame["is_subagent"].astype(bool)
        return frame[~nested], frame[nested]

    every = bank.messages()
    every = every[every["session_id"].isin(ids)]
    messages, _ = own(every)
    calls, nested_calls = own(bank.tool_calls())
    usage, nested = own(bank.token_usage())
    claude = set(bank.sessions().query("agent == 'claude-code'")["session_id"])
    rows = messages[messages["uuid"].notna() & messages["session_id"].isin(claude)]
    diagnostics = bank.diagnostics()

    def by(key):
        groups = {}
        for frame, prefix in ((usage, ""), (nested, "subagent_")):
            for name, part in frame.groupby(key(frame)):
                zero = {
                    "api_calls": 0,
                    "subagent_api_calls": 0,
                    "tokens": dict.fromkeys(SHORT, 0),
                    "subagent_tokens": dict.fromkeys(SHORT, 0),
                }
                group = groups.setdefault(name, zero)
                group[f"{prefix}api_calls"] = len(part)
                group[f"{prefix}tokens"] = tokens(part)
        return groups

    full_names = calls["tool_name"].where(
        calls["mcp_server"].isna(), "mcp__" + calls["mcp_server"].fillna("") + "__" + calls["tool_name"]
    )
    return {
        "human_prompts": int((messages["kind"] == "prompt").sum()),
        "queued_prompts": int(((messages["kind"] == "prompt") & messages["is_queued"].astype(bool)).sum()),
        "rows": len(rows),
        "rows_by_type": rows["line_type"].value_counts().to_dict(),
        "inherited_rows": int(every["inherited_from"].notna().sum()),
        "tool_calls": len(calls),
        "tool_names": full_names.value_counts().to_dict(),
        "tool_status": calls["status"].value_counts().to_dict(),
        "results_without_call": int(
            ((diagnostics["code"] == "result_without_call") & diagnostics["session_id"].isin(ids)).sum()
        ),
        "spawns": int(calls["tool_name"].isin(["Task", "Agent"]).sum()),
        "subagent_tool_calls": len(nested_calls),
        "subagent_tool_errors": int((nested_calls["status"] == "error").sum()),
        "synthetic_rows": int(((messages["role"] == "assistant") & (messages["kind"] == "system")).sum()),
        "interruptions": int((messages["kind"] == "interruption").sum()),
        "compactions": int((messages["kind"] == "compact_summary").sum()),
        "api_calls": len(usage),
        "tokens": tokens(usage),
        "subagent_api_calls": len(nested),
        "subagent_tokens": tokens(nested),
        "by_model": by(lambda f: f["model"]),
        "by_day": by(lambda f: f["timestamp"].dt.strftime("%Y-%m-%d")),
    }


def clean(figures):
    """Without counts of nothing: a kind that does not occur may be named or not."""
    return {
        k: {a: b for a, b in v.items() if b != 0} if isinstance(v, dict) else v for k, v in figures.items()
    }


def test_totals(bank, truth):
    found = clean(figures(bank, set(bank.sessions()["session_id"])))
    wanted = clean(truth["total"])
    assert {k: found[k] for k in wanted} == wanted


def test_each_agent(bank, truth):
    sessions = bank.sessions()
    assert sessions["agent"].value_counts().to_dict() == {
        k: v["sessions"] for k, v in truth["by_agent"].items()
    }
    for agent, stated in truth["by_agent"].items():
        found = clean(figures(bank, set(sessions.loc[sessions["agent"] == agent, "session_id"])))
        wanted = clean({k: v for k, v in stated.items() if k != "sessions"})
        assert {k: found[k] for k in wanted} == wanted, agent


def test_each_session(bank, truth):
    rows = {r["session_id"]: r for r in bank.arrow("sessions").to_pylist()}
    assert set(rows) == set(truth["sessions"])
    messages, calls, usage = bank.messages(), bank.tool_calls(), bank.token_usage()
    for sid, stated in truth["sessions"].items():
        row = rows[sid]
        assert row["agent"] == stated["agent"]
        assert row["record_count"] == stated["record_count"]
        assert (row["intent"] is not None) == stated["has_summary"], stated["key"]
        one = bank.get_by_session_id(sid)
        assert list(dict.fromkeys(r.checkpoint_id for r in one.records)) == stated["checkpoints"]
        if row["api_calls"] is None:
            assert stated["api_calls"] == stated["rows"] == 0
            continue
        for name in ("human_prompts", "tool_calls", "api_calls", "subagent_api_calls", "subagent_tool_calls"):
            assert row[name] == stated[name], (stated["key"], name)
        assert row["tool_errors"] == stated["tool_status"].get("error", 0), stated["key"]
        for name, column in list(SHORT.items())[:4]:
            # Gemini records no writes to a cache: what no call states is missing, and the books say 0
            assert (row[column] or 0) == stated["tokens"][name], (stated["key"], column)
            assert (row[f"subagent_{column}"] or 0) == stated["subagent_tokens"][name], (
                stated["key"],
                column,
            )
        assert row["inherited_messages"] == stated["inherited_rows"], stated["key"]
        own = calls[
            (calls["session_id"] == sid) & calls["inherited_from"].isna() & ~calls["is_subagent"].astype(bool)
        ]
        assert own["status"].value_counts().to_dict() == {
            k: v for k, v in stated["tool_status"].items() if v
        }, stated["key"]
    assert len(messages) and len(usage)


def test_counts_of_the_store(bank, truth):
    counts, records = truth["counts"], bank.records(transcripts=True)
    states = records["transcript_state"].value_counts().to_dict()
    found = {
        "checkpoints": len(bank.checkpoints()),
        "session_dirs": len(records),
        "sessions": len(bank.sessions()),
        "checkpoints_in_both_layouts": bank.diagnostics()
        .query("code == 'stored_twice'")["checkpoint_id"]
        .nunique(),
        "no_transcript": states["absent"],
        "empty_transcript": states["empty"],
        "documents": int((records["agent"] == "gemini-cli").sum()),
        "jsonl": int((records["agent"] == "claude-code").sum()),
        "commits_with_trailer": bank.commits()["commit_sha"].nunique(),
        "commit_checkpoint_pairs": len(bank.commits()),
    }
    assert found == {k: counts[k] for k in found}
    # each glued or broken line is told once, where no later snapshot has it whole
    broken = bank.diagnostics()["code"].value_counts()
    assert broken.get("glued_objects", 0) == counts["glued_lines"]


def test_records_and_windows(bank, truth):
    """Each record's window begins where the story's does, and its stored usage has the scope that was meant."""
    records = {(r["checkpoint_id"], r["session_index"]): r for r in bank.arrow("records").to_pylist()}
    scopes = {
        (r["checkpoint_id"], r["session_index"]): r["scope"] for r in bank.arrow("reconcile").to_pylist()
    }
    assert set(records) == {(r["checkpoint_id"], r["session_index"]) for r in truth["records"]}
    wrong = []
    for stated in truth["records"]:
        key = stated["checkpoint_id"], stated["session_index"]
        assert records[key]["transcript_state"] == stated["transcript"]
        assert (records[key]["start_offset"] or 0) == stated["start_offset"]
        if truth["sessions"][stated["session_id"]].get("forked_from"):
            continue  # the script's metadata leaves out what was copied, as no version of Entire does: no scope fits
        if stated["transcript"] == "present" and scopes[key] != stated["usage_scope"]:
            wrong.append((key, scopes[key], stated["usage_scope"]))
    assert wrong == []


def test_attribution(bank, truth):
    rows = bank.attribution()
    chosen = rows[rows["is_representative"].astype(bool)]
    assert chosen["checkpoint_id"].is_unique
    assert set(chosen["checkpoint_id"]) == set(truth["attribution"])
    for row in chosen.to_dict("records"):
        stated = truth["attribution"][row["checkpoint_id"]]
        for name in (
            "agent_lines",
            "human_added",
            "human_modified",
            "human_removed",
            "total_committed",
            "agent_percentage",
        ):
            assert row[name] == pytest.approx(stated[name]), (row["checkpoint_id"], name)
        if stated["session_index"] is None:
            assert row["is_combined"]
        else:
            assert row["session_index"] == stated["session_index"]


def test_commits(bank, truth):
    rows = bank.commits()
    pairs = {(r["commit_sha"], r["checkpoint_id"]): r["resolves"] for r in rows.to_dict("records")}
    assert pairs == {
        (p["commit_sha"], p["checkpoint_id"]): p["resolves"] for p in truth["commit_checkpoints"]
    }
    on_main = {c["sha"]: c["on_main"] for c in truth["commits"]}
    subjects = {c["sha"]: c["subject"] for c in truth["commits"]}
    for row in rows.to_dict("records"):
        assert row["on_default_branch"] == on_main[row["commit_sha"]]
        assert row["subject"] == subjects[row["commit_sha"]]
    dangling = bank.diagnostics().query("code == 'dangling_checkpoint'")["checkpoint_id"]
    assert sorted(dangling) == truth["dangling"]
    assert (rows.groupby("checkpoint_id")["carries_cost"].sum() == 1).all()
    bare = set(bank.checkpoints().query("commit_count == 0")["checkpoint_id"])
    assert sorted(bare) == truth["checkpoints_without_commit"]


def test_forks_are_lineage(bank, truth):
    forks = {
        (v["forked_from"], k): v["inherited_rows"]
        for k, v in truth["sessions"].items()
        if v.get("forked_from")
    }
    rows = bank.lineage()
    found = {
        (r["from_session"], r["to_session"]): r["shared_messages"]
        for r in rows.to_dict("records")
        if r["relation"] in ("forked", "resumed")
    }
    assert found == forks


def test_sums_agree(bank):
    sums = assert_agreement(bank)
    assert sums["api_calls"] > 600


def test_unknown_models_have_no_price_and_are_listed(bank, truth):
    usage = bank.token_usage()
    unpriced = usage[usage["cost_usd"].isna()]
    assert Counter(unpriced["model"]) == {
        "orchid-coder-2": truth["total"]["by_model"]["orchid-coder-2"]["api_calls"]
    }
    assert (
        bank.diagnostics().query("code == 'unpriced_model'")["message"].str.contains("orchid-coder-2").all()
    )
    assert int(bank.sessions()["uncosted_calls"].sum()) == len(unpriced)
