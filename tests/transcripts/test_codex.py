"""Codex rollouts. Expected values are worked out by hand from ``codex.jsonl``, or stated where they are."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from sessionbank.transcripts.codex_outcome import from_event, outcome, output_text

TOKENS = (
    "input_tokens",
    "cache_creation_tokens",
    "cache_read_tokens",
    "output_tokens",
    "reasoning_tokens",
    "total_tokens",
)


def counted(*numbers):
    """A line that states a running total (input, cached, output, reasoning)."""
    keys = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
    info = {"total_token_usage": dict(zip(keys, numbers[:4], strict=True))}
    if len(numbers) > 4:
        info["last_token_usage"] = dict(zip(keys, numbers[4:], strict=True))
    return {
        "timestamp": "2026-03-01T10:00:00Z",
        "type": "event_msg",
        "payload": {"type": "token_count", "info": info},
    }


def said(text, role="assistant"):
    part = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
    payload = {"type": "message", "role": role, "content": [part]}
    return {"timestamp": "2026-03-01T10:00:00Z", "type": "response_item", "payload": payload}


def event(kind, **payload):
    return {"timestamp": "2026-03-01T10:00:00Z", "type": "event_msg", "payload": {"type": kind, **payload}}


def lines(*values):
    return b"\n".join(json.dumps(v).encode() for v in values)


def test_prompts_replies_and_echoes(read, sample):
    session = read(sample("codex.jsonl"), session_id="0195-a")
    assert (session.format, session.agent, session.rows.cwd) == ("codex-rollout", "codex", "/home/ada/shop")
    assert len(session.messages) == 31  # one a line: nothing is dropped
    # "run the tests" stands as item and event, "and now?" as an event alone; <turn_aborted> and the like were not typed
    assert session.kinds("prompt") == ["run the tests", "and now?"]
    assert session.kinds("interruption") == [None]
    assert session.kinds("compact_summary") == ["what was done so far"]
    replies = [t for t in session.kinds("reply") if t]
    assert replies == ["I run them.", "Done."]  # the second has no item, only its event
    assert session.rows.foreign_ids == {}
    assert [b["text"] for b in session.blocks if b["type"] == "thinking"] == ["**Planning the run**"]
    assert session.rows.boundaries == [(29, "compaction")]


def test_calls_are_what_the_total_grew_by(read, sample):
    usage = read(sample("codex.jsonl"), session_id="0195-a")
    # totals 1000/800/50/20, then 2300/1900/90/20 (said twice), then 2400/1900/95/20; the aborted reply states nothing
    assert usage.of("usage", *TOKENS) == [
        (200, None, 800, 50, 20, 1050),
        (200, None, 1100, 40, 0, 1340),
        (None, None, None, None, None, None),
        (100, None, 0, 5, 0, 105),
    ]
    assert usage.of("usage", "is_partial") == [False, False, True, False]
    assert usage.of("usage", "model") == ["gpt-5.1-codex", "gpt-5.1-codex", "gpt-5.1-codex", "gpt-5.2"]
    first = usage.usage[0]["message_id"]
    # reasoning, text, call of the tool and the count itself are one reply
    assert [m["line_type"] for m in usage.messages if m["message_id"] == first] == [
        "response_item/reasoning", "response_item/message", "response_item/function_call", "event_msg/token_count",
    ]  # fmt: skip


def test_tool_calls_and_how_they_ended(read, sample):
    session = read(sample("codex.jsonl"), session_id="0195-a")
    assert session.of("calls", "tool_call_id", "tool_name", "status", "is_error_explicit") == [
        ("call_1", "exec_command", "error", True),  # exit code 2; the 0 in the output is not one
        ("call_2", "apply_patch", "ok", True),
        ("ws_1", "web_search", "ok", True),
        ("call_3", "shell", "rejected", True),
        ("call_4", "shell", "no_result", False),
    ]
    assert session.of("calls", "command")[0] == "make test"
    assert json.loads(session.calls[0]["input"]) == {"cmd": "make test", "workdir": "/home/ada/shop"}
    assert session.calls[1]["input"].startswith("*** Begin Patch")
    assert session.calls[1]["result_text"] == "Success. Updated the following files:\nM a.py\n"
    assert session.calls[4]["input"] == "not json"


def test_older_writers_put_the_count_first(read):
    session = read(
        lines(
            event("user_message", message="hi"), event("agent_message", message="one"),
            counted(10, 0, 5, 0, 10, 0, 5, 0), said("one"), said("one b"),
            counted(30, 10, 9, 0, 20, 10, 4, 0), said("two"),
        )
    )  # fmt: skip
    assert session.of("usage", "input_tokens", "output_tokens") == [(10, 5), (10, 4)]
    calls = {m["text"]: m["message_id"] for m in session.messages if m["kind"] == "reply"}
    assert calls["one"] == calls["one b"] == session.usage[0]["message_id"]
    assert calls["two"] == session.usage[1]["message_id"]


def test_without_counts_calls_have_no_tokens(read):
    call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"}
    answer = {"type": "function_call_output", "call_id": "c1", "output": "x"}
    session = read(
        lines(
            said("hi", "user"), said("I look"), *({"type": "response_item", "payload": p} for p in (call, answer)),
            said("seen"),
        )
    )  # fmt: skip
    assert session.kinds("prompt") == ["hi"]  # no event tells what was typed
    assert session.of("usage", "output_tokens", "is_partial") == [(None, True), (None, True)]


def test_a_counter_that_began_anew_and_a_transcript_that_begins_in_the_middle(read):
    session = read(
        lines(said("a"), counted(1000, 0, 90, 0, 100, 0, 9, 0), said("b"), counted(50, 0, 5, 0, 50, 0, 5, 0))
    )
    assert session.of("usage", "input_tokens", "output_tokens") == [(100, 9), (50, 5)]


def test_calls_whose_count_is_not_stored_are_told(read):
    session = read(
        lines(said("a"), counted(100, 0, 9, 0, 100, 0, 9, 0), said("b"), counted(400, 0, 30, 0, 100, 0, 7, 0))
    )
    assert session.of("usage", "input_tokens", "output_tokens") == [(100, 9), (300, 21)]
    assert session.codes == ["uncounted_calls"]


def test_a_count_after_the_turns_end_is_its_last_replys(read):
    session = read(lines(said("a"), event("task_complete"), counted(10, 0, 5, 0, 10, 0, 5, 0)))
    assert session.of("usage", "input_tokens", "output_tokens") == [(10, 5)]


def test_prompts_of_a_subagents_session_were_typed_by_nobody(read):
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "0195-parent", "depth": 1}}}
    meta = {"type": "session_meta", "payload": {"id": "0195-child", "source": spawn}}
    session = read(
        lines(meta, said("look", "user"), event("user_message", message="look")), session_id="0195-child"
    )
    assert session.kinds("prompt") == []
    assert session.rows.foreign_ids == {"0195-parent": 1}


@pytest.mark.parametrize(
    ("output", "event_", "expected"),
    [
        ("Exit code: 0\nOutput:\nExit code: 3", None, (False, None)),
        ("Wall time: 1\nOutput:\nProcess exited with code 1", None, (None, None)),
        ("Process exited with code 0", (True, None), (True, None)),
        ({"content": "no", "success": False}, None, (True, None)),
        ("aborted by user after 3.2s", None, (None, "interrupted")),
        ("failed to parse function arguments: EOF", None, (None, "error")),
        ("fine", None, (None, None)),
        (None, None, (None, None)),
    ],
)
def test_outcomes(output, event_, expected):
    assert outcome(output, output_text(output), event_) == expected


def test_outcome_of_events():
    assert from_event({"exit_code": 1}) == (True, None)
    assert from_event({"result": {"Ok": {"content": [], "isError": True}}}) == (True, None)
    assert from_event({"result": {"Ok": {"content": []}}}) == (False, None)
    assert from_event({"type": "x_end"}) == (None, None)


@pytest.mark.shared
def test_real_rollout(read, stored):
    """Counted from the lines with ``json`` alone (below), and equal to Entire's own metadata (input 1,931,956,
    cache read 34,484,864, output 116,919), whose 291 calls are the count lines: 4 of them repeat a total.
    """
    data = stored("codex", "a7/1156299398/0/full.jsonl")
    values = [json.loads(line) for line in data.decode().split("\n") if line.strip()]
    kinds = Counter((v["type"], v["payload"].get("type")) for v in values)
    totals = [
        v["payload"]["info"]["total_token_usage"] for v in values if v["payload"].get("type") == "token_count"
    ]
    session = read(data, session_id="019ef35b-2300-75e0-98d6-8e4dce14050f")
    assert len(session.messages) == len(values) == 2101
    assert len(session.kinds("prompt")) == kinds["event_msg", "user_message"] == 28
    assert (
        len(session.calls)
        == kinds["response_item", "function_call"] + kinds["response_item", "custom_tool_call"]
        == 432
    )
    measured = [u for u in session.usage if u["output_tokens"] is not None]
    assert len(measured) == len({json.dumps(t) for t in totals}) == 287
    assert len(session.usage) == 288  # the transcript ends in a reply that was not counted yet
    sums = {
        c: sum(u[c] for u in measured)
        for c in ("input_tokens", "cache_read_tokens", "output_tokens", "reasoning_tokens")
    }
    assert sums == {
        "input_tokens": totals[-1]["input_tokens"] - totals[-1]["cached_input_tokens"],
        "cache_read_tokens": totals[-1]["cached_input_tokens"],
        "output_tokens": totals[-1]["output_tokens"],
        "reasoning_tokens": totals[-1]["reasoning_output_tokens"],
    }
    assert sums == {
        "input_tokens": 1931956,
        "cache_read_tokens": 34484864,
        "output_tokens": 116919,
        "reasoning_tokens": 48521,
    }
    # "Process exited with code 1" 7 times and "code 2" once in the outputs; one call has no output yet
    assert Counter(session.of("calls", "status")) == {"ok": 423, "error": 8, "no_result": 1}
    texts = [t for t in session.kinds("reply") if t]
    assert (
        len(texts) == kinds["event_msg", "agent_message"] == 270
    )  # each text stands twice, and is taken once


def test_rollouts_of_before_the_envelope(read):
    """Until the summer of 2025 items stood bare, below a header without a type; state lines say nothing."""
    session = read(
        lines(
            {"id": "5973b6c0-94b8-487b-a530-2aeb6098ae0e", "timestamp": "2025-05-07T17:24:21.500Z",
             "instructions": None, "git": {"branch": "main"}},
            {"record_type": "state"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "fix the total"}]},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look first."}]},
            {"record_type": "state"},
            {"type": "function_call", "id": "fc_1", "name": "shell", "call_id": "call_1",
             "arguments": '{"command":["bash","-lc","cat a.py"]}'},
            {"type": "function_call_output", "call_id": "call_1",
             "output": '{"output":"no such file","metadata":{"exit_code":1,"duration_seconds":0.1}}'},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Fixed."}]},
        ),
        session_id="5973b6c0-94b8-487b-a530-2aeb6098ae0e",
    )  # fmt: skip
    assert (session.format, session.agent, session.codes) == ("codex-rollout", "codex", [])
    assert len(session.messages) == 8  # one a line
    assert session.kinds("prompt") == ["fix the total"]
    assert session.kinds("reply") == [None, None, "Fixed."]
    assert session.of("calls", "tool_name", "status", "result_text", "command") == [
        ("shell", "error", "no such file", "bash -lc 'cat a.py'")
    ]
    assert [m["timestamp"] for m in session.messages[:3]] == ["2025-05-07T17:24:21.500Z", None, None]
    assert session.of("usage", "output_tokens") == [None, None]  # two calls, whose tokens nobody counted
