"""Copilot CLI events. Expected values are read off ``copilot.jsonl``, or stated where they are."""

from __future__ import annotations

import json

import pytest

TOKENS = ("message_id", "input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens")


def test_messages(read, sample):
    session = read(sample("copilot.jsonl"), session_id="cop-1")
    assert (session.format, session.agent, session.rows.cwd) == (
        "copilot-events",
        "copilot-cli",
        "/home/ada/shop",
    )
    assert len(session.messages) == 11
    assert session.kinds("prompt") == ["make a file", "thanks"]  # as typed, not as transformed
    assert session.kinds("reply") == [None, "Made it.", "You are welcome."]
    assert session.messages[2]["parent_uuid"] == "e2"
    # no reply names its model: the results of its tools and the run's sums do
    assert session.of("usage", "model") == ["claude-sonnet-4.6"] * 3
    assert [b["text"] for b in session.blocks if b["type"] == "thinking"] == ["A file is asked for."]
    assert session.rows.foreign_ids == {}


def test_calls(read, sample):
    session = read(sample("copilot.jsonl"), session_id="cop-1")
    assert session.of("calls", "tool_call_id", "tool_name", "status", "result_text", "returned_at") == [
        ("t1", "create", "ok", "Created file", "2026-03-02T09:00:03.600Z"),
        ("t2", "bash", "rejected", "The user rejected this tool call.", "2026-03-02T09:00:04.000Z"),
    ]
    assert session.of("calls", "file_path", "command") == [("/home/ada/shop/a.md", None), (None, "rm -rf /")]


def test_input_and_cache_are_sums_of_a_run(read, sample):
    session = read(sample("copilot.jsonl"), session_id="cop-1")
    # 5000 - 4200 on the run's last call; the run after it has not ended, so its input is not known
    assert session.of("usage", *TOKENS) == [
        ("m1", None, None, None, 120), ("m2", 800, 10, 4200, 30), ("m3", None, None, None, 7),
    ]  # fmt: skip
    assert session.codes == ["usage_of_run"]


def shutdown(number, **usage):
    metrics = {"gpt-5": {"requests": {"count": 1}, "usage": usage}}
    return {"type": "session.shutdown", "id": f"s{number}", "data": {"modelMetrics": metrics}}


def reply(number, output):
    return {
        "type": "assistant.message",
        "id": f"r{number}",
        "data": {"messageId": f"m{number}", "content": "x", "outputTokens": output},
    }


@pytest.mark.parametrize(
    "second", [{"inputTokens": 300, "outputTokens": 30}, {"inputTokens": 200, "outputTokens": 20}]
)
def test_sums_that_go_on_from_the_run_before_are_not_counted_twice(read, second):
    events = [
        reply(1, 10),
        shutdown(1, inputTokens=100, outputTokens=10),
        reply(2, 20),
        shutdown(2, **second),
    ]
    session = read("\n".join(map(json.dumps, events)).encode())
    assert session.of("usage", "input_tokens", "output_tokens") == [(100, 10), (200, 20)]


def test_usage_of_calls_that_are_not_there_is_told(read):
    events = [shutdown(1, inputTokens=100, outputTokens=10)]
    session = read("\n".join(map(json.dumps, events)).encode())
    assert session.usage == []
    assert session.codes == ["usage_without_call"]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("path", "calls", "tools", "tokens"),
    [
        # read off session.shutdown by eye (inputTokens 40503 less cacheReadTokens 31836) and assistant.message lines
        ("69/9504f045e2/0/full.jsonl", 2, 2, (8667, 0, 31836, 187)),
        ("d6/c5b42b281b/0/full.jsonl", 3, 3, (21106, 0, 41648, 311)),
    ],
)
def test_real_sessions(read, stored, path, calls, tools, tokens):
    session = read(stored("many-agents", path))
    assert len(session.kinds("prompt")) == 1
    assert (len(session.usage), len(session.calls)) == (calls, tools)
    assert session.of("calls", "status") == ["ok"] * tools
    assert tuple(sum(u[c] or 0 for u in session.usage) for c in TOKENS[1:]) == tokens
    assert session.of("usage", "model") == ["claude-sonnet-4.6"] * calls


def test_a_subagents_reply_is_told_apart(read):
    nested = reply(2, 5)
    nested["data"]["parentToolCallId"] = "t1"
    session = read("\n".join(map(json.dumps, [reply(1, 10), nested])).encode())
    assert session.of("usage", "agent_id", "is_subagent", "output_tokens") == [
        (None, False, 10),
        ("t1", True, 5),
    ]
    assert session.messages[1]["parent_tool_call_id"] == "t1"
