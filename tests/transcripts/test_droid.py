"""Factory Droid lines. Expected values are read off ``droid.jsonl``, or stated where they are."""

from __future__ import annotations

import pytest


def test_messages_and_calls(read, sample):
    session = read(sample("droid.jsonl"), session_id="d-1")
    assert (session.format, session.agent, session.rows.cwd) == (
        "droid-jsonl",
        "factory-droid",
        "/home/ada/shop",
    )
    assert session.of("messages", "kind") == ["other", "prompt", "reply", "tool_result", "system", "other"]
    assert session.kinds("prompt") == ["list the files"]  # without the reminder beside it
    assert session.kinds("tool_result") == ["a.md\nno such file"]
    assert session.of("calls", "tool_name", "status", "is_error_explicit", "command", "file_path") == [
        ("Execute", "ok", False, "ls", None),
        ("Read", "error", True, None, "no.md"),
    ]
    # the reply is a call; what it used stands nowhere
    assert session.of("usage", "message_id", "total_tokens", "is_partial") == [
        (session.messages[2]["uuid"], None, False)
    ]
    assert session.messages[2]["parent_uuid"] == session.messages[1]["uuid"]


@pytest.mark.shared
@pytest.mark.parametrize("path", ["a0/f8612fcb64/0/full.jsonl", "b1/b2d74d8ef1/0/full.jsonl"])
def test_real_sessions(read, stored, path):
    """Both have three lines, read by eye: the start, a prompt, and Droid's own "Token limit reached"."""
    session = read(stored("many-agents", path))
    assert session.of("messages", "kind") == ["other", "prompt", "system"]
    assert session.kinds("system")[0].startswith("Token limit reached")
    assert "<system-reminder>" not in session.kinds("prompt")[0]
    assert session.calls == session.usage == []
