"""Kiro documents. Expected values are read off ``kiro.json``, or stated where they are."""

from __future__ import annotations

import json

import pytest


def test_turns(read, sample):
    session = read(sample("kiro.json"))
    assert (session.format, session.agent) == ("kiro-json", "kiro")
    assert session.of("messages", "kind", "text", "line_index") == [
        ("prompt", "make a folder", 0), ("reply", "On it.", 0),
        ("tool_result", 'written\n{"exit_status":"1"}', 1), ("reply", "Made it.", 1),
        ("reply", "Anything else?", 2), ("prompt", "no", 3), ("reply", None, 3),
    ]  # fmt: skip
    # ids are empty: results belong to the uses of the turn before, in their order
    assert session.of("calls", "tool_name", "status", "result_text", "file_path", "command") == [
        ("fs_write", "ok", "written", "kiro/a.md", None),
        ("execute_bash", "error", '{"exit_status":"1"}', None, "ls"),
        ("fs_write", "no_result", None, "kiro/b.md", None),
    ]
    assert len(set(session.of("calls", "tool_call_id"))) == 3
    named = [b["tool_call_id"] for b in session.blocks if b["type"] in ("tool_use", "tool_result")]
    assert named == ["session:tool-0", "session:tool-1", "session:tool-0", "session:tool-1", None]
    assert session.of("usage", "total_tokens") == [None] * 4


def test_a_grown_document_adds_its_new_turns(read, sample):
    whole = json.loads(sample("kiro.json"))
    short = {**whole, "history": whole["history"][:2]}
    session = read(json.dumps(short).encode(), json.dumps(whole).encode())
    assert len(session.messages) == 7
    assert len(session.calls) == 3


@pytest.mark.shared
def test_real_session(read, stored):
    """Read by eye: three prompts; answers are a use of fs_write and three texts."""
    session = read(stored("many-agents", "9b/bf78569566/0/full.jsonl"))
    assert session.kinds("prompt")[2] == "Update that comment to say hi"
    assert (len(session.kinds("prompt")), len(session.kinds("reply")), len(session.usage)) == (3, 4, 4)
    assert session.of("calls", "tool_name", "status", "file_path") == [
        ("fs_write", "no_result", "kiro/README.md")
    ]
