"""Banks for tests, opened with folders of their own, and what tests ask of every bank."""

from __future__ import annotations

import os
from pathlib import Path

import sessionbank as sb

TABLES = (
    "checkpoints",
    "records",
    "sessions",
    "messages",
    "blocks",
    "tool_calls",
    "token_usage",
    "attribution",
    "commits",
    "learnings",
    "files",
    "lineage",
    "reconcile",
    "diagnostics",
)
CLASSES = ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens")


def opened(path: str | os.PathLike[str], folder: Path, **options) -> sb.SessionBank:
    """A bank whose cache and log lie under `folder`."""
    options.setdefault("cache", folder / "cache")
    return sb.open_bank(path, state_dir=folder / "state", progress=False, **options)


def all_tables(bank: sb.SessionBank | sb.Selection) -> dict[str, list[dict]]:
    """Every row of every table, in order."""
    return {name: bank.arrow(name).to_pylist() for name in TABLES}


def codes(bank: sb.SessionBank | sb.Selection) -> dict[str, int]:
    """How often each kind of diagnostics row occurs."""
    return bank.diagnostics()["code"].value_counts().to_dict()


def assert_agreement(bank: sb.SessionBank, *, light: bool = False) -> dict[str, int]:
    """Holds that sums by session, day, model, checkpoint, and the last value of explain agree; gives the sums.

    `light` leaves out some groupings and columns, for tests that ask it of many small banks.
    """
    sessions, usage = bank.sessions(), bank.token_usage()
    usage = usage[usage["inherited_from"].isna()]
    sub = usage["is_subagent"].astype(bool)
    groupings = ("session", "checkpoint", "day", "model", "agent", "branch", ["day", "model"])
    totals = {str(by): bank.totals(by) for by in (groupings[1:3] if light else groupings)}
    explained = {"output_tokens", "subagent_api_calls", "human_prompts", "tool_calls"}
    sums = {}
    for prefix, mask in (("", ~sub), ("subagent_", sub)):
        for name in ("api_calls", *CLASSES):
            column = prefix + name
            sums[column] = int(mask.sum()) if name == "api_calls" else int(usage.loc[mask, name].sum())
            assert int(sessions[column].sum()) == sums[column], column
            for by, frame in totals.items():
                assert int(frame[column].sum()) == sums[column], (column, by)
            if not light or column in explained:
                assert int(bank.explain(column)["value"].iloc[-1]) == sums[column], column
    for column in ("human_prompts", "tool_calls", "tool_errors", "message_count", "total_tokens"):
        sums[column] = int(sessions[column].sum())
        if not light or column in explained:
            assert int(bank.explain(column)["value"].iloc[-1]) == sums[column], column
    calls = bank.tool_calls()
    own = calls[calls["inherited_from"].isna()]
    nested = own["is_subagent"].astype(bool)
    assert sums["tool_calls"] == int((~nested).sum())
    assert sums["tool_errors"] == int((own.loc[~nested, "status"] == "error").sum())
    sums["subagent_tool_calls"] = int(nested.sum())
    assert int(sessions["subagent_tool_calls"].sum()) == sums["subagent_tool_calls"]
    assert sums["total_tokens"] == sum(sums[c] for c in CLASSES)
    return sums
