"""No transcript stops a load, and what stands around the damage is read: each kind lies between good lines."""

from __future__ import annotations

import json

import pytest

from sessionbank import schema
from tests.makers.banks import TABLES, all_tables, codes, opened
from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude, jsonl, tool

UUID = "99999999-9999-4999-8999-999999999999"


def nested(depth, value="1"):
    return "[" * depth + value + "]" * depth


def user(**keys):
    base = {
        "type": "user",
        "uuid": UUID,
        "parentUuid": None,
        "isSidechain": False,
        "timestamp": "2026-02-01T10:00:00Z",
    }
    return json.dumps({**base, "message": {"role": "user", "content": "hm"}, **keys}).encode()


def reply(message=None, **keys):
    base = {"type": "assistant", "uuid": UUID, "parentUuid": None, "timestamp": "2026-02-01T10:00:00Z"}
    own = {
        "id": "msg_x",
        "role": "assistant",
        "model": "claude-opus-4-5-20251101",
        "content": [],
        "usage": {"output_tokens": 1},
    }
    return json.dumps({**base, "message": {**own, **(message or {})}, **keys}).encode()


def deep(line, depth):
    """The line with the text DEEP replaced by lists inside lists."""
    return line.replace(b'"DEEP"', nested(depth).encode())


BAD_TOKENS = ["7", -3, 1.5, 1e300, True, None, [], {}, 2**61, 2**63, 2**70]
BAD_TIMES = [
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "2026-01-01",
    "2026-13-45T99:00:00Z",
    "99999-01-01T00:00:00Z",
    "2026-02-01T10:00:00.123456789Z",
    "2026-02-01T10:00:00+99:99",
    "2026-02-01 10:00",
    "",
    "yesterday",
    12345,
    [],
    {},
    "1400-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "2026-02-01T10:00:00,5Z",
    "\u0662\u0660\u0662\u0666-02-01T10:00:00Z",
]
DAMAGE = {
    "nul_line": b"\0" * 4096,
    "nul_around": b"\0\0" + user() + b"\0\0",
    "cut": user()[:-20],
    "cut_in_a_character": user(message={"role": "user", "content": "é"}).replace(b"\\u00e9", b"\xc3"),
    "not_json": b"Traceback (most recent call last):",
    "list": b"[]",
    "null": b"null",
    "number": b"3",
    "string": b'"text"',
    "empty_object": b"{}",
    "glued": user() + user(uuid=UUID.replace("9999", "8888")),
    "glued_with_rubbish": user() + b"}}}" + user(),
    "invalid_utf8": user(message={"role": "user", "content": "QQ"}).replace(b"QQ", b"\xff\xfe\x80"),
    "lone_surrogate_key": b'{"type":"user","uuid":"%s","\\ud83d":"\\udcb2"}' % UUID.encode(),
    "nan": b'{"type":"user","uuid":"%s","message":{"content":"x"},"x":NaN,"y":-Infinity}' % UUID.encode(),
    "huge_float": b'{"type":"user","uuid":"%s","message":{"content":"x"},"x":1e999}' % UUID.encode(),
    "huge_int": b'{"type":"user","uuid":"%s","message":{"content":"x"},"x":%s}' % (UUID.encode(), b"9" * 400),
    "int_of_5000_digits": b'{"type":"user","uuid":"%s","message":{"content":"x"},"x":%s}'
    % (UUID.encode(), b"9" * 5000),
    "deep_10000": deep(user(message={"content": "DEEP"}), 10_000),
    "deep_300_content": deep(user(message={"content": "DEEP"}), 300),
    "deep_300_extra": deep(user(novel="DEEP"), 300),
    "deep_950_extra": deep(user(novel="DEEP"), 950),
    "deep_300_input": deep(
        reply({"content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": "DEEP"}]}), 300
    ),
    "deep_300_result": deep(
        user(message={"content": [{"type": "tool_result", "tool_use_id": "t"}]}, toolUseResult="DEEP"), 300
    ),
    "type_list": user(type=["user"]),
    "type_dict": user(type={"a": 1}),
    "type_number": user(type=3),
    "uuid_dict": user(uuid={"a": 1}),
    "uuid_number": user(uuid=3),
    "uuid_empty": user(uuid=""),
    "session_id_list": user(sessionId=[1]),
    "sidechain_parent_dict": user(isSidechain=True, parentUuid={"a": 1}),
    "sidechain_parent_list": reply(isSidechain=True, parentUuid=[1]),
    "sidechain_uuid_list": reply(isSidechain=True, uuid=[1]),
    "sidechain_agent_list": reply(isSidechain=True, agentId=[1]),
    "message_list": user(message=[1]),
    "message_string": user(message="hello"),
    "message_null": user(message=None),
    "content_null": user(message={"content": None}),
    "content_number": user(message={"content": 3}),
    "content_dict": user(message={"content": {"text": "x"}}),
    "blocks_odd": user(
        message={"content": [None, 3, "x", [], {"type": ["text"]}, {"type": "text", "text": {}}, {}]}
    ),
    "result_odd": user(
        message={
            "content": [{"type": "tool_result", "tool_use_id": {"a": 1}, "content": [3, None, {"type": []}]}]
        }
    ),
    "result_data_odd": user(
        message={"content": [{"type": "tool_result", "tool_use_id": "x", "content": 3}]},
        toolUseResult={"agentId": []},
    ),
    "image_odd": user(
        message={"content": [{"type": "image", "source": {"data": 3, "media_type": []}}, {"type": "image"}]}
    ),
    "reply_message_list": reply().replace(b'"message": {', b'"message": [1], "was": {'),
    "reply_content_string": reply({"content": "text"}),
    "reply_content_number": reply({"content": 7}),
    "reply_blocks_odd": reply(
        {"content": [None, 3, [], {"type": {}}, {"type": "tool_use", "id": [], "name": {}, "input": 3}]}
    ),
    "reply_thinking_odd": reply(
        {"content": [{"type": "thinking", "thinking": {}}, {"type": "redacted_thinking"}]}
    ),
    "reply_model_list": reply({"model": ["x"]}),
    "reply_id_dict": reply({"id": {"a": 1}}),
    "reply_usage_list": reply({"usage": [1]}),
    "reply_cache_creation_odd": reply({"usage": {"cache_creation": 3, "output_tokens": 1}}),
    "spawn_prompt_list": reply(
        {"content": [{"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": [1]}}]}
    ),
    "progress_data_list": user(type="progress", data=[1]),
    "progress_message_odd": user(
        type="progress", data={"type": "agent_progress", "message": {"message": [1]}}
    ),
    "progress_nested_odd": user(
        type="progress",
        data={
            "type": "agent_progress",
            "agentId": [],
            "message": {"type": [], "uuid": {}, "message": {"content": {}}},
        },
    ),
    "progress_parent_dict": user(
        type="progress",
        parentToolUseID={},
        data={
            "type": "agent_progress",
            "message": {"type": "assistant", "message": {"id": "m", "content": 3}},
        },
    ),
    "attachment_odd": user(type="attachment", attachment=[1]),
    "attachment_prompt_odd": user(
        type="attachment", attachment={"type": "queued_command", "prompt": {"a": 1}, "commandMode": []}
    ),
    "system_odd": user(type="system", subtype=["compact_boundary"], content={"a": 1}),
    "summary_odd": user(type="summary", summary=[1]),
    **{
        f"tokens_{i}": reply(
            {
                "usage": dict.fromkeys(
                    (
                        "input_tokens",
                        "cache_creation_input_tokens",
                        "cache_read_input_tokens",
                        "output_tokens",
                    ),
                    v,
                )
            }
        )
        for i, v in enumerate(BAD_TOKENS)
    },
    **{f"time_{i}": user(timestamp=v) for i, v in enumerate(BAD_TIMES)},
    **{f"reply_time_{i}": reply(timestamp=v) for i, v in enumerate(BAD_TIMES)},
}


@pytest.mark.parametrize("name", DAMAGE)
def test_what_stands_around_the_damage_is_read(name, tmp_path):
    c = Claude("11111111-2222-4333-8444-000000000001")
    c.prompt("before")
    c.reply(tool("toolu_good_1"), message_id="msg_good", output=5)
    c.result("toolu_good_1")
    data = jsonl([c.lines[0], c.lines[1], DAMAGE[name], c.lines[2]])
    other = Claude("11111111-2222-4333-8444-000000000002")
    other.prompt("after")
    first = jsonl([DAMAGE[name].replace(UUID.encode(), UUID.replace("9", "7").encode()), other.lines[0]])
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(
        "0123456789ab", sessions=[session(c.session_id, data), session(other.session_id, first)]
    )
    with opened(repo.path, tmp_path) as bank:
        tables = all_tables(bank)
        assert "reader_failed" not in codes(bank)
        assert [s["agent"] for s in tables["sessions"]] == ["claude-code"] * 2
        assert "after" in [m["text"] for m in tables["messages"]]
        for table in TABLES:
            assert schema.problems(table, bank.arrow(table)) == []
        bank.messages(), bank.token_usage(), bank.tool_calls()
        assert {"before"} <= {m["text"] for m in tables["messages"] if m["kind"] == "prompt"}
        call = next(t for t in tables["tool_calls"] if t["tool_call_id"] == "toolu_good_1")
        assert call["status"] == "ok"
        assert {u["message_id"]: u["output_tokens"] for u in tables["token_usage"]}["msg_good"] == 5
        damaged = next(m for m in tables["messages"] if m["line_index"] >= 2)
        assert bank.raw(damaged)


GEMINI = {
    "messages_string": {"projectHash": "h", "messages": "x"},
    "messages_odd": {
        "projectHash": "h",
        "messages": [None, 3, [], {"type": []}, {"type": {}}, {"id": {}, "type": "user", "content": {}}],
    },
    "tokens_odd": {
        "projectHash": "h",
        "messages": [{"id": "1", "type": "gemini", "tokens": {"input": "x", "cached": [], "output": -1}}],
    },
    "tokens_list": {"projectHash": "h", "messages": [{"id": "1", "type": "gemini", "tokens": [1]}]},
    "tokens_huge": {
        "projectHash": "h",
        "messages": [
            {
                "id": "1",
                "type": "gemini",
                "tokens": dict.fromkeys(("input", "output", "cached", "thoughts", "tool"), 2**61),
            }
        ],
    },
    "calls_odd": {
        "projectHash": "h",
        "messages": [
            {
                "id": "1",
                "type": "gemini",
                "toolCalls": [
                    None,
                    3,
                    {"id": [], "name": {}, "args": 3, "status": []},
                    {"status": "success", "result": {"functionResponse": {"response": {"output": []}}}},
                ],
            }
        ],
    },
    "thoughts_odd": {
        "projectHash": "h",
        "messages": [{"id": "1", "type": "gemini", "thoughts": [3, None, {"subject": []}]}],
    },
    "times_odd": {
        "projectHash": "h",
        "messages": [{"id": str(i), "type": "gemini", "timestamp": t} for i, t in enumerate(BAD_TIMES)],
    },
    "no_ids": {
        "projectHash": "h",
        "messages": [
            {"type": "user", "content": "x"},
            {"type": "user", "content": "x"},
            {"type": "gemini", "content": "y"},
        ],
    },
    "deep_no_id": {
        "projectHash": "h",
        "messages": [{"type": "user", "content": "DEEP"}, {"type": "gemini", "content": "y"}],
    },
}


@pytest.mark.parametrize("name", GEMINI)
def test_a_damaged_document_gives_tables(name, tmp_path):
    data = json.dumps(GEMINI[name], indent=2).encode().replace(b'"DEEP"', nested(300).encode())
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(
        "0123456789ab",
        sessions=[session("g-1", data), session("g-2", data[: len(data) // 2]), session("g-3", data + data)],
    )
    with opened(repo.path, tmp_path) as bank:
        all_tables(bank)
        assert "reader_failed" not in codes(bank)
        for table in TABLES:
            assert schema.problems(table, bank.arrow(table)) == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b" \t\r\n",
        b"\0\0\0",
        b"{",
        b"[",
        b"}",
        b"\xef\xbb\xbf",
        b"null",
        b"[]",
        b"{}",
        b"[{}]",
        b"\xff" * 100,
        b"{" * 20_000,
        b"[" * 100_000,
    ],
    ids=repr,
)
def test_a_transcript_of_rubbish_gives_tables(data, tmp_path):
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint("0123456789ab", sessions=[session("s-1", data)])
    with opened(repo.path, tmp_path) as bank:
        tables = all_tables(bank)
        assert len(tables["records"]) == 1
        assert tables["sessions"][0]["transcript_state"] == ("present" if data.strip() else "empty")


@pytest.mark.parametrize(
    "time",
    [
        "2026-01-01T10Z",
        "2026-01-01T10:00Z",
        "2026-01-01T10:00:00+01",
        "2026-01-01T10:00:00.5-0100",
        "2026-01-01",
    ],
)
def test_a_bad_time_changes_no_other_session(time, tmp_path):
    """A time is read alike whatever else stands in its batch."""
    a, b = Claude("11111111-2222-4333-8444-000000000001"), Claude("11111111-2222-4333-8444-000000000002")
    a.prompt("x", timestamp=time)
    b.prompt("x", timestamp="not a time")
    times = []
    for number, sessions in enumerate(([a], [a, b])):
        repo = CheckpointRepo(tmp_path / str(number))
        repo.add_checkpoint("0123456789ab", sessions=[session(s.session_id, s.bytes()) for s in sessions])
        with opened(repo.path, tmp_path) as bank:
            times.append(
                [
                    m["timestamp"]
                    for m in bank.arrow("messages").to_pylist()
                    if m["session_id"] == a.session_id
                ]
            )
    assert times[0] == times[1]


@pytest.mark.slow
def test_a_line_of_50_mb_is_read(tmp_path):
    c = Claude()
    c.prompt("before")
    c.reply("x" * (50 << 20), message_id="msg_big", output=3)
    c.prompt("after")
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint("0123456789ab", sessions=[session(c.session_id, c.bytes())])
    with opened(repo.path, tmp_path) as bank:
        assert bank.messages()["text"].str.len().tolist() == [6, 50 << 20, 5]
        assert bank.sessions()["human_prompts"].tolist() == [2]
