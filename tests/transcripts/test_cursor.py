"""Cursor lines. Expected values are read off ``cursor.jsonl``, or stated where they are."""

from __future__ import annotations

import pytest


def test_what_is_there_and_nothing_more(read, sample):
    session = read(sample("cursor.jsonl"))
    assert (session.format, session.agent) == ("cursor-jsonl", "cursor")
    assert session.kinds("prompt") == ["why is this so?"]  # what stands around <user_query> is in the blocks
    assert session.blocks[0]["text"].startswith("<attached_files>")
    assert session.kinds("meta") == ["<system_reminder>mind the rules</system_reminder>"]
    assert session.kinds("reply") == ["Let me see."] * 3  # two of them are the same line, said twice
    assert session.of("calls", "tool_name", "status", "file_path") == [
        ("Write", "no_result", "/home/ada/shop/a.md")
    ]
    assert session.calls[0]["tool_call_id"] == "session:call-0"
    assert session.usage == []
    assert {m["timestamp"] for m in session.messages} == {m["uuid"] for m in session.messages} == {None}


def test_the_next_snapshot_adds_what_is_new(read, sample):
    data = sample("cursor.jsonl")
    part = b"".join(data.splitlines(keepends=True)[2:])
    assert len(read(data, part).messages) == 5


@pytest.mark.shared
@pytest.mark.parametrize(
    ("path", "prompts", "replies", "calls"),
    # lines counted with grep: '"role":"user"', '"role":"assistant"', '"type":"tool_use"'
    [("f5/5b1d3b434a/0/full.jsonl", 2, 3, 1), ("b8/b6fbd5f55f/0/full.jsonl", 5, 51, 0)],
)
def test_real_sessions(read, stored, path, prompts, replies, calls):
    session = read(stored("many-agents", path))
    assert (len(session.kinds("prompt")), len(session.kinds("reply")), len(session.calls)) == (
        prompts,
        replies,
        calls,
    )
    assert session.usage == []
    assert not any("<user_query>" in text for text in session.kinds("prompt"))
