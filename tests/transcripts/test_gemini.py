"""Gemini CLI transcripts that are one JSON document."""

from __future__ import annotations

import json

import pytest

from tests.makers.banks import assert_agreement, codes, opened
from tests.makers.checkpoints import CheckpointRepo, session


def document(*messages, **keys):
    return json.dumps(
        {"sessionId": "g", "projectHash": "h", "messages": list(messages), **keys}, indent=2
    ).encode()


def user(number, text):
    return {
        "id": f"u{number}",
        "timestamp": f"2026-02-01T10:00:{number:02d}Z",
        "type": "user",
        "content": text,
    }


def reply(number, text="ok", calls=None, **tokens):
    base = {"input": 100, "cached": 40, "output": 12, "thoughts": 8, "tool": 0, "total": 120}
    found = {
        "id": f"g{number}",
        "timestamp": f"2026-02-01T10:00:{number:02d}Z",
        "type": "gemini",
        "content": text,
        "model": "gemini-2.5-pro",
        "tokens": {**base, **tokens},
    }
    return found | ({"toolCalls": calls} if calls else {})


@pytest.fixture
def read(tmp_path):
    banks = []

    def bank(*documents, label="Claude Code"):
        repo = CheckpointRepo(tmp_path / f"repo{len(banks)}")
        for number, data in enumerate(documents):
            repo.add_checkpoint(
                f"{number:012x}",
                sessions=[session("gem", data, agent=label, created_at=f"2026-02-0{number + 1}T10:00:00Z")],
            )
        banks.append(opened(repo.path, tmp_path / f"bank{len(banks)}"))
        assert_agreement(banks[-1], light=True)
        return banks[-1]

    yield bank
    for each in banks:
        each.close()


def test_cached_is_inside_input_and_thoughts_are_outside_output(read):
    (call,) = read(document(user(1, "hi"), reply(2))).arrow("token_usage").to_pylist()
    wanted = {
        "input_tokens": 60,
        "cache_read_tokens": 40,
        "output_tokens": 20,
        "reasoning_tokens": 8,
        "total_tokens": 120,
    }
    assert {k: call[k] for k in wanted} == wanted
    assert call["cache_creation_tokens"] is None  # not recorded: missing, not zero
    assert call["cost_usd"] > 0


def test_the_bytes_decide_not_the_label(read):
    bank = read(document(user(1, "hi"), reply(2)), label="Claude Code")
    assert bank.sessions()["agent"].tolist() == ["gemini-cli"]
    assert bank.records()["agent_label"].tolist() == ["Claude Code"]
    compact = json.dumps(json.loads(document(user(1, "hi"), reply(2)))).encode()
    assert read(compact).sessions()["agent"].tolist() == ["gemini-cli"]


def test_a_growing_document_counts_each_message_once(read):
    first = document(user(1, "hi"), reply(2, output=5))
    second = document(user(1, "hi"), reply(2, output=12), user(3, "more"), reply(4))
    bank = read(first, second)
    (row,) = bank.arrow("sessions").to_pylist()
    assert (row["human_prompts"], row["api_calls"], row["output_tokens"]) == (2, 2, 12 + 8 + 12 + 8)
    m = bank.messages()
    assert m["uuid"].tolist() == ["u1", "g2", "u3", "g4"]
    assert m["checkpoint_id"].tolist() == ["000000000000"] * 2 + ["000000000001"] * 2
    assert [json.loads(bank.raw(r)[0])["id"] for _, r in m.iterrows()] == m["uuid"].tolist()


def test_calls_and_their_status(read):
    calls = [
        {
            "id": "c1",
            "name": "read_file",
            "args": {"absolute_path": "/w/a.py"},
            "status": "success",
            "result": [{"functionResponse": {"response": {"output": "text"}}}],
        },
        {
            "id": "c2",
            "name": "run_shell_command",
            "args": {"command": "make"},
            "status": "error",
            "result": [{"functionResponse": {"response": {"error": "no"}}}],
        },
        {"id": "c3", "name": "write_file", "args": {}, "status": "cancelled"},
        {"id": "c4", "name": "glob", "args": {}},
    ]
    bank = read(document(user(1, "hi"), reply(2, calls=calls)))
    found = bank.arrow("tool_calls").to_pylist()
    assert [t["status"] for t in found] == ["ok", "error", "rejected", "no_result"]
    assert [t["result_text"] for t in found][:2] == ["text", "no"]
    assert found[0]["file_path"] == "/w/a.py" and found[1]["command"] == "make"
    assert {t["message_id"] for t in found} == {"g2"}


def test_commands_and_notes_are_no_prompts(read):
    bank = read(
        document(
            user(1, "/help"),
            {"id": "i", "type": "info", "content": "Update available"},
            user(2, "/a path in words"),
            user(3, [{"text": "list"}]),
        )
    )
    assert bank.messages()["kind"].tolist()[:2] == ["command", "system"]
    assert bank.sessions()["human_prompts"].tolist() == [2]


def test_text_that_looks_like_a_key_does_not_mislead_raw(read):
    bank = read(
        document(
            user(1, '"messages": [1, 2]'), user(2, '\\"messages\\": ['), reply(3), startTime='"messages"'
        )
    )
    m = bank.messages()
    assert [json.loads(bank.raw(r)[0])["id"] for _, r in m.iterrows()] == ["u1", "u2", "g3"]


def test_what_is_no_message_is_told_and_numbers_stay_right(read):
    data = json.dumps(
        {"projectHash": "h", "messages": [None, user(1, "a"), 3, user(2, "b")]}, indent=1
    ).encode()
    bank = read(data)
    assert codes(bank)["non_object_line"] == 2
    assert [json.loads(bank.raw(r)[0])["id"] for _, r in bank.messages().iterrows()] == ["u1", "u2"]
