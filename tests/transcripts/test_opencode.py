"""OpenCode documents. Expected values are worked out by hand from ``opencode.json``, or stated where they are."""

from __future__ import annotations

import json
from collections import Counter

import pytest

TOKENS = (
    "input_tokens",
    "cache_creation_tokens",
    "cache_read_tokens",
    "output_tokens",
    "reasoning_tokens",
    "is_partial",
)


def test_messages(read, sample):
    session = read(sample("opencode.json"), session_id="ses_child")
    assert (session.format, session.agent, session.rows.cwd) == (
        "opencode-json",
        "opencode",
        "/home/ada/shop",
    )
    # the session is another's child: its prompt was written by that one's agent
    assert session.of("messages", "kind") == ["meta", "reply", "reply", "reply"]
    assert session.rows.foreign_ids == {"ses_parent": 1}
    assert json.loads(session.messages[0]["extra"])["session"]["parentID"] == "ses_parent"
    assert session.of("messages", "uuid") == ["msg_u1", None, "msg_a2", "msg_a3"]
    assert session.messages[0]["timestamp"] == "2026-03-11T02:06:49.917+00:00"  # 1773194809917 ms
    assert session.kinds("reply") == [None, "No bugs.", None]
    data = json.loads(sample("opencode.json"))
    del data["info"]["parentID"]
    assert read(json.dumps(data).encode()).kinds("prompt") == ["review the change"]


def test_each_step_is_a_call_and_the_total_tells_where_reasoning_is(read, sample):
    session = read(sample("opencode.json"))
    assert session.of("usage", *TOKENS) == [
        (4638, 0, 2560, 122, 83, False),  # 4638 + 122 + 2560 = 7320: inside
        (60, 0, 0, 30, 20, False),  # 60 + 10 + 20 = 90: outside
        (100, 0, 20, 60, 40, False),  # 100 + 20 + 20 + 40 = 180: outside
        (None, None, None, None, None, True),  # broke off: its zeros are no counts
    ]
    assert session.of("usage", "model") == ["gpt-5.3-codex", "gemini-3-pro", "gemini-3-pro", "gemini-3-pro"]
    assert session.of("usage", "message_id") == ["part:prt_3", "msg_a2", "msg_a2#2", "msg_a3"]


def test_calls_are_paired_by_part(read, sample):
    session = read(sample("opencode.json"))
    assert session.of("calls", "tool_call_id", "tool_name", "status", "result_text", "is_error_explicit") == [
        ("prt_4", "bash", "ok", "diff", True),
        ("prt_5", "bash", "error", "no rule", True),  # exit 2
        ("call_9", "edit", "rejected", "The user rejected permission to use this specific tool call.", True),
        ("call_10", "task", "no_result", None, False),
    ]
    assert session.calls[0]["returned_at"] == "2026-03-11T02:06:51.500+00:00"
    assert session.calls[2]["file_path"] == "a.py"


def test_the_last_state_of_a_message_counts(read, sample):
    whole = json.loads(sample("opencode.json"))
    early = json.loads(sample("opencode.json"))
    early["messages"] = early["messages"][:2]
    early["messages"][1]["parts"] = early["messages"][1]["parts"][
        :3
    ]  # its id is redacted: a part's tells what it is
    session = read(json.dumps(early).encode(), json.dumps(whole).encode())
    assert len(session.messages) == 4
    assert len(session.calls) == 4
    assert len(session.usage) == 4


@pytest.mark.shared
@pytest.mark.parametrize(
    ("path", "tokens"),
    [
        # Entire's metadata.json beside each: input, cache read, output, api calls
        ("23/b83d9c8d3b/0", (78628, 224384, 3984, 12)), ("23/b83d9c8d3b/1", (19656, 11904, 859, 4)),
        ("23/b83d9c8d3b/2", (20025, 5760, 970, 3)), ("3a/e1df25512c/0", (80019, 324224, 7314, 7)),
        ("3a/e1df25512c/1", (38675, 256384, 2709, 9)), ("3a/e1df25512c/2", (44344, 252672, 2994, 9)),
        ("f0/53d251e430/0", (77908, 48768, 3029, 5)), ("f0/53d251e430/1", (97205, 178944, 3107, 8)),
    ],
)  # fmt: skip
def test_real_sessions(read, stored, path, tokens):
    """Each stated total is input + output + cache with reasoning above zero: so reasoning is inside the output."""
    data = stored("opencode", f"{path}/full.jsonl")
    metadata = json.loads(stored("opencode", f"{path}/metadata.json"))["token_usage"]
    session = read(data)
    found = [sum(session.of("usage", c)) for c in ("input_tokens", "cache_read_tokens", "output_tokens")]
    assert (*found, len(session.usage)) == tokens
    assert tokens == tuple(
        metadata[k] for k in ("input_tokens", "cache_read_tokens", "output_tokens", "api_call_count")
    )
    parts = [p for m in json.loads(data)["messages"] for p in m["parts"]]
    assert len(session.calls) == sum(p["type"] == "tool" for p in parts)
    assert Counter(session.of("calls", "status")) == {"ok": len(session.calls)}
    assert len(session.messages) == len(json.loads(data)["messages"])
    assert session.codes == []
