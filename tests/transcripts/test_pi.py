"""Pi sessions. Expected values are read off ``pi.jsonl``, or stated where they are."""

from __future__ import annotations

import json

import pytest

TOKENS = (
    "message_id",
    "input_tokens",
    "cache_creation_tokens",
    "cache_read_tokens",
    "output_tokens",
    "is_partial",
)


def test_entries(read, sample):
    session = read(sample("pi.jsonl"), session_id="019e0000-0000-7000-8000-00000000000a")
    assert (session.format, session.agent, session.rows.cwd) == ("pi-jsonl", "pi", "/home/ada/shop")
    assert session.of("messages", "kind") == [
        "other", "other", "prompt", "reply", "tool_result", "reply", "command", "compact_summary", "reply",
    ]  # fmt: skip
    assert session.of("messages", "parent_uuid")[5:7] == ["p4", "p3"]  # a branch: both are kept
    assert session.kinds("command") == ["git status"]
    assert session.rows.boundaries == [(7, "compaction")]
    assert json.loads(session.messages[7]["extra"])["firstKeptEntryId"] == "p6"
    assert json.loads(session.messages[5]["extra"])["stopReason"] == "aborted"
    assert session.rows.foreign_ids == {
        "019d0000-0000-7000-8000-00000000000b": 1
    }  # the session it was forked from


def test_usage_and_calls(read, sample):
    session = read(sample("pi.jsonl"))
    assert session.of("usage", *TOKENS) == [
        ("msg_p1", 6, 2547, 2104, 113, False),
        ("p5", None, None, None, None, True),  # broke off: its zeros are no counts
        ("msg_p2", 1, 311, 3775, 56, False),
    ]
    assert session.of(
        "calls", "tool_call_id", "tool_name", "status", "is_error_explicit", "command", "result_text"
    ) == [("toolu_p1", "bash", "ok", True, "ls", "a.md")]


def test_lines_that_differ_under_one_id_are_both_kept(read, sample):
    lines = sample("pi.jsonl").splitlines()
    other = lines[2].replace(b"look around", b"look elsewhere")
    session = read(b"\n".join([*lines[:3], other, lines[2]]))
    assert session.kinds("prompt") == ["look around", "look elsewhere", "look around"]
    session = read(b"\n".join([*lines[:3], lines[2]]))
    assert session.kinds("prompt") == ["look around"]  # the same line again is no other record


@pytest.mark.shared
def test_real_session(read, stored):
    """Added up by eye: input 6+1+1+1, output 113+72+205+56, cache read 0+2104+3687+3775, write 2547+1583+88+311, which
    the totals of the lines (2666+3760+3981+4143) confirm, and Entire's metadata too (4 calls).
    """
    session = read(stored("many-agents", "de/5a2f809927/0/full.jsonl"))
    sums = tuple(sum(session.of("usage", c)) for c in TOKENS[1:5])
    assert sums == (9, 4529, 9566, 446)
    assert sum(sums) == 2666 + 3760 + 3981 + 4143
    assert len(session.usage) == len(session.calls) == 4
    assert session.of("calls", "status") == ["ok"] * 4
    assert session.kinds("prompt") == ["add a test folder and readme for pi"]
