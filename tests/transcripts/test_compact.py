"""Entire's compact transcript. Expected values are read off the two samples, or stated where they are."""

from __future__ import annotations

import pytest

from sessionbank.transcripts import claude
from sessionbank.transcripts.compact import FORMATS, agent_of
from sessionbank.transcripts.rows import Place, SessionRows

TOKENS = ("message_id", "input_tokens", "cache_read_tokens", "output_tokens", "is_partial")


def test_claude(read, sample):
    session = read(sample("compact_claude.jsonl"))
    assert (session.format, session.agent) == ("entire-compact", "claude-code")
    assert session.codes == ["compact_transcript"]
    assert session.kinds("prompt") == ["fix the readme", "go on"]
    assert session.of("usage", *TOKENS) == [
        ("msg_c1", 3, None, 78, False)
    ]  # the other reply is Claude Code's own
    assert session.kinds("system") == ["No response requested."]
    assert session.of("calls", "tool_call_id", "tool_name", "status", "result_text", "file_path") == [
        ("toolu_c1", "Read", "ok", "# shop", "README.md"),
        ("toolu_c2", "Edit", "error", "no match", "README.md"),
        ("toolu_c3", "Bash", "no_result", None, None),
    ]
    assert session.of("messages", "uuid") == [None] * 4


def test_gemini_mixes_cache_into_input(read, sample):
    session = read(sample("compact_gemini.jsonl"))
    assert session.agent == "gemini-cli"
    assert session.of("usage", *TOKENS) == [("3b930df9", None, None, 41, True)]
    assert '"input_tokens":6341' in session.messages[1]["extra"]
    assert session.of("calls", "status", "result_text") == [("ok", "hi")]  # without an id of its own


def test_the_writers_version_is_no_part_of_a_line(read, sample):
    data = sample("compact_claude.jsonl")
    assert len(read(data, data.replace(b'"cli_version":"dev"', b'"cli_version":"1.0"')).messages) == 4


def test_beside_a_full_transcript_it_adds_what_that_one_lacks(sample):
    """A session of which one checkpoint stores the full transcript and a later one the compact alone."""
    place = Place("0" * 12, 0, "blob", 1)
    user = {
        "type": "user", "uuid": "u1", "timestamp": "2026-03-06T05:00:00.000Z", "message": {"content": "fix the readme"},
    }  # fmt: skip
    reply = {
        "type": "assistant", "uuid": "u2", "timestamp": "2026-03-06T05:00:02.000Z", "requestId": "r1",
        "message": {"id": "msg_c1", "model": "claude-x", "content": [], "usage": {"output_tokens": 78}},
    }  # fmt: skip
    rows = SessionRows("session")
    claude.FORMAT.read([(user, 0, 0, place), (reply, 1, 9, place)], rows)
    compact = next(f for f in FORMATS if f.agent == "claude-code")
    lines = compact.split(sample("compact_claude.jsonl"), lambda *_: None)
    compact.read([(value, line, at, place) for _, value, line, at in lines], rows)
    assert [(m.kind, m.text) for m in rows.messages if m.text] == [
        ("prompt", "fix the readme"), ("prompt", "go on"), ("system", "No response requested."),
    ]  # fmt: skip
    assert [u.call for u in rows.usage] == ["msg_c1"]
    assert [p.code for p in rows.problems] == ["compact_transcript", "compact_repeats"]


@pytest.mark.parametrize(
    ("label", "agent"),
    [
        ("Claude Code", "claude-code"), ("claude-code", "claude-code"), ("Opencode", "opencode"),
        ("OpenCode", "opencode"), ("Gemini CLI", "gemini-cli"), ("Copilot CLI", "copilot-cli"), ("pi", "pi"),
        ("Factory AI Droid", "factory-droid"), ("kiro", "kiro"), ("Codex", "codex"), ("Cursor", "cursor"),
        ("roger-roger", "plugin"), ("", "unknown"), (7, "unknown"),
    ],
)  # fmt: skip
def test_labels(label, agent):
    assert agent_of(label) == agent


@pytest.mark.shared
@pytest.mark.parametrize(
    "checkpoint",
    ["09/7ab76c6dbc", "69/9504f045e2", "75/6b48023085", "d6/c5b42b281b", "de/5a2f809927", "f5/5b1d3b434a"],
)
def test_it_tells_what_the_full_transcript_tells(read, stored, checkpoint):
    """Six agents' sessions of which both are stored: prompts, calls and output agree."""
    refs = "refs/entire/checkpoints/v2"
    compact = read(stored("many-agents", f"{checkpoint}/0/transcript.jsonl", ref=f"{refs}/main"))
    full = read(stored("many-agents", f"{checkpoint}/0/raw_transcript", ref=f"{refs}/full/current"))
    assert compact.format == "entire-compact"
    assert compact.agent == full.agent
    assert compact.kinds("prompt") == full.kinds("prompt")
    # it gives tools of some agents other names, so they are not compared
    assert compact.of("calls", "status") == full.of("calls", "status")
    assert compact.of("usage", "output_tokens") == full.of("usage", "output_tokens")
