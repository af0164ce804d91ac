"""Gemini's JSONL log. Expected values are worked out by hand from ``gemini.jsonl``."""

from __future__ import annotations

import json

TOKENS = ("message_id", "input_tokens", "cache_read_tokens", "output_tokens", "reasoning_tokens")


def test_the_last_state_of_a_message_counts(read, sample):
    session = read(sample("gemini.jsonl"), session_id="gem-1")
    assert (session.format, session.agent, session.rows.cwd) == (
        "gemini-jsonl",
        "gemini-cli",
        "/home/ada/shop",
    )
    assert len(session.messages) == 11  # ten lines, one of which holds a message that stands nowhere else
    assert session.kinds("prompt") == ["list the files", "delete them", "keep them"]
    assert session.kinds("reply") == ["I look.", "Done.", "Kept."]
    assert session.of("usage", *TOKENS) == [
        ("g2", 60, 40, 20, 8),  # 100 with 40 cached; 12 and 8 of thoughts
        ("g4", 100, 100, 3, 0),
        ("g6", 50, 0, 2, 0),
    ]
    assert session.of("calls", "tool_call_id", "status", "result_text") == [("c1", "ok", "a.md")]
    assert [m["uuid"] for m in session.messages].count("g2") == 1


def test_what_was_taken_back_is_marked(read, sample):
    session = read(sample("gemini.jsonl"))
    marked = [m["uuid"] for m in session.messages if m["extra"] and json.loads(m["extra"]).get("rewound")]
    assert marked == ["g3", "g4"]


def test_an_unknown_target_takes_back_all(read, sample):
    session = read(sample("gemini.jsonl").replace(b'"$rewindTo":"g3"', b'"$rewindTo":"nothing"'))
    marked = [m["uuid"] for m in session.messages if m["extra"] and json.loads(m["extra"]).get("rewound")]
    assert marked == ["g1", "g2", "g3", "g4"]


def test_a_growing_log_is_read_once(read, sample):
    lines = sample("gemini.jsonl").splitlines(keepends=True)
    session = read(b"".join(lines[:3]), b"".join(lines))
    assert session.of("usage", "output_tokens") == [20, 3, 2]
    apart = read(b"".join(lines[:3]), b"".join(lines[3:]))  # stored in parts
    assert apart.of("usage", "output_tokens") == [20, 3, 2]
    assert apart.kinds("reply") == ["I look.", "Done.", "Kept."]


def test_a_document_that_became_a_log_is_read_once(read, sample):
    lines = [json.loads(line) for line in sample("gemini.jsonl").splitlines()]
    document = {"sessionId": "gem-1", "projectHash": "abc", "messages": lines[1:3]}
    session = read(json.dumps(document, indent=2).encode(), sample("gemini.jsonl"))
    assert session.kinds("prompt") == ["list the files", "delete them", "keep them"]
    assert session.of("usage", "message_id", "output_tokens") == [("g2", 20), ("g4", 3), ("g6", 2)]
    assert len(session.calls) == 1


def test_prompts_of_a_subagent_were_typed_by_nobody(read, sample):
    session = read(sample("gemini.jsonl").replace(b'"kind":"main"', b'"kind":"subagent"'))
    assert session.kinds("prompt") == []
    assert len(session.kinds("meta")) == 3
