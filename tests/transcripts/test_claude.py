"""Claude Code transcripts: each fault that users of other tools reported, as a tiny input with the right value."""

from __future__ import annotations

import json

import pytest

from tests.makers.banks import assert_agreement, codes, opened
from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude, jsonl, nested_reply, nested_result, tool, usage


@pytest.fixture
def read(tmp_path):
    """A function: a conversation (or several, or bytes) -> an open bank of it."""
    banks = []

    def bank(*stories):
        repo = CheckpointRepo(tmp_path / f"repo{len(banks)}")
        for number, story in enumerate(stories):
            data = story if isinstance(story, bytes) else story.bytes()
            sid = f"bytes-{number}" if isinstance(story, bytes) else story.session_id
            repo.add_checkpoint(
                f"{number:012x}", sessions=[session(sid, data, created_at=f"2026-02-0{number + 1}T10:00:00Z")]
            )
        banks.append(opened(repo.path, tmp_path / f"bank{len(banks)}"))
        assert_agreement(banks[-1], light=True)
        return banks[-1]

    yield bank
    for each in banks:
        each.close()


def rows(bank, name):
    return bank.arrow(name).to_pylist()


def kinds(bank):
    return [m["kind"] for m in rows(bank, "messages")]


# -- tokens and calls ------------------------------------------------------------------------------------------------


def test_the_line_with_most_output_counts_and_input_once(read):
    c = Claude()
    for out in (9, 9, 159):
        c.reply(
            message_id="m",
            tokens=usage(out, input=4, write=20, read=1000),
            stop=None if out == 9 else "tool_use",
        )
    (call,) = rows(read(c), "token_usage")
    assert [
        call[k]
        for k in (
            "input_tokens",
            "cache_creation_tokens",
            "cache_read_tokens",
            "output_tokens",
            "total_tokens",
        )
    ] == [4, 20, 1000, 159, 1183]
    assert not call["is_partial"]


def test_lines_of_a_reply_need_not_be_adjacent(read):
    c = Claude()
    c.reply(tool("t1"), message_id="m", output=3)
    c.result("t1")
    c.line("progress", data={"type": "bash_progress"})
    c.reply("end", message_id="m", output=8)
    assert [u["output_tokens"] for u in rows(read(c), "token_usage")] == [8]


def test_without_request_ids_nothing_is_counted_twice(read):
    c = Claude()
    c.reply(message_id="m", output=5, requestId=None)
    c.reply(message_id="m", output=5, requestId=None)
    assert [u["output_tokens"] for u in rows(read(c), "token_usage")] == [5]


def test_a_gateway_that_gives_every_reply_one_id(read):
    c = Claude()
    for n in range(3):
        c.prompt(f"p{n}")
        c.reply(message_id="ocgo", tokens=usage(10 + n, input=100 * (n + 1)), requestId=None)
        c.reply(tool(f"t{n}"), message_id="ocgo", tokens=usage(20 + n, input=100 * (n + 1)), requestId=None)
        c.result(f"t{n}")
    assert [u["output_tokens"] for u in rows(read(c), "token_usage")] == [20, 21, 22]


def test_a_tool_result_is_no_separator_for_a_gateways_ids(read):
    c = Claude()
    c.prompt()
    c.reply(tool("t"), message_id="ocgo", tokens=usage(10, input=5), requestId=None)
    c.result("t")
    c.reply("end", message_id="ocgo", tokens=usage(30, input=5), requestId=None)
    assert [u["output_tokens"] for u in rows(read(c), "token_usage")] == [30]


def test_usage_seen_only_mid_stream_is_flagged_not_guessed(read):
    c = Claude()
    c.reply("x" * 2000, message_id="m", output=1, stop=None)
    (call,) = rows(read(c), "token_usage")
    assert call["output_tokens"] == 1
    assert call["is_partial"]


def test_writes_to_the_cache_for_an_hour_cost_more(read):
    c = Claude()
    tokens = {
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 1_000_000,
        "cache_creation": {"ephemeral_1h_input_tokens": 400_000, "ephemeral_5m_input_tokens": 600_000},
    }
    c.reply(message_id="m", tokens=tokens)
    (call,) = rows(read(c), "token_usage")
    assert call["cache_creation_1h_tokens"] == 400_000
    assert call["cost_usd"] == pytest.approx(7.75)


@pytest.mark.parametrize(
    ("model", "priced"),
    [
        ("claude-opus-4-5-20251101", True),
        ("claude-opus-4.5", True),
        ("anthropic/claude-opus-4-5", True),
        ("claude-opus-4-5[1m]", True),
        ("claude-zzz-9", False),
        ("claude", False),
        ("gpt", False),
        ("orchid-coder-2", False),
        ("", False),
    ],
)
def test_a_model_is_priced_or_listed_never_of_a_wrong_family(model, priced, read):
    c = Claude()
    c.reply(message_id="m", output=100, model=model)
    bank = read(c)
    (call,) = rows(bank, "token_usage")
    assert (call["cost_usd"] is not None) == priced
    assert codes(bank).get("unpriced_model", 0) == (not priced)
    (whole,) = rows(bank, "sessions")
    assert (whole["cost_usd"] is None) == (not priced)
    if priced:
        assert call["cost_usd"] == pytest.approx((3 * 5 + 100 * 25) / 1e6)


def test_synthetic_replies_are_no_calls(read):
    c = Claude()
    c.reply("API Error", message_id="x", model="<synthetic>", output=0, isApiErrorMessage=True)
    bank = read(c)
    assert rows(bank, "token_usage") == []
    (message,) = rows(bank, "messages")
    assert (message["kind"], message["model"]) == ("system", None)
    assert "isApiErrorMessage" in message["extra"]
    assert rows(bank, "sessions")[0]["models"] is None


def test_a_reply_without_usage_is_a_call_whose_tokens_are_unknown(read):
    c = Claude()
    c.reply(message_id="m", tokens={})
    (call,) = rows(read(c), "token_usage")
    assert call["output_tokens"] is None and call["total_tokens"] is None and call["cost_usd"] is None


# -- subagents -------------------------------------------------------------------------------------------------------


def test_subagents_in_progress_lines_count_once_and_apart(read):
    c = Claude()
    c.reply(tool("toolu_task", "Task", prompt="look", subagent_type="explore"), message_id="m", output=9)
    nested = nested_reply("n1", tool("toolu_in"), message_id="n", output=33)
    for _ in range(3):
        c.progress(nested, call_id="toolu_task")
    c.progress(nested_result("n2", "toolu_in", "no", is_error=True), call_id="toolu_task")
    c.result("toolu_task", "done")
    bank = read(c)
    (row,) = rows(bank, "sessions")
    assert (
        row["output_tokens"],
        row["subagent_output_tokens"],
        row["subagent_api_calls"],
        row["subagent_tool_calls"],
    ) == (9, 33, 1, 1)
    assert row["tool_errors"] == 0
    inner = next(t for t in rows(bank, "tool_calls") if t["tool_call_id"] == "toolu_in")
    assert (inner["status"], inner["parent_tool_call_id"], inner["agent_id"], inner["is_subagent"]) == (
        "error",
        "toolu_task",
        "a1b2c3d",
        True,
    )
    (sub,) = bank.discover()[0].subagents
    assert (sub.agent_id, sub.parent_tool_call_id, sub.agent_type) == ("a1b2c3d", "toolu_task", "explore")
    assert [u.output_tokens for u in sub.usage] == [33]


def test_a_sidechain_counts_as_a_subagent_by_its_own_model(read):
    c = Claude()
    c.prompt()
    c.reply(tool("toolu_task", "Agent", prompt="go look"), message_id="m", output=9)
    c.line("user", message={"role": "user", "content": "go look"}, isSidechain=True, parentUuid=None)
    c.reply(
        tool("toolu_side"), message_id="s", output=33, model="claude-haiku-4-5-20251001", isSidechain=True
    )
    c.result("toolu_side", isSidechain=True)
    bank = read(c)
    (row,) = rows(bank, "sessions")
    assert (row["output_tokens"], row["subagent_output_tokens"], row["human_prompts"]) == (9, 33, 1)
    side = next(t for t in rows(bank, "tool_calls") if t["tool_call_id"] == "toolu_side")
    assert (side["is_subagent"], side["parent_tool_call_id"]) == (True, "toolu_task")
    costs = {u["message_id"]: u["cost_usd"] for u in rows(bank, "token_usage")}
    assert costs["s"] == pytest.approx((3 * 1 + 33 * 5) / 1e6)


def test_a_subagents_own_file_joins_its_session(tmp_path):
    """tasks/<call>/agent-<id>.jsonl at the checkpoint; a later rewrite of it alone is seen by a warm cache."""
    c, sub = Claude(), Claude(start=Claude().start)
    c.prompt()
    c.reply(tool("toolu_task", "Agent", prompt="x"), message_id="m", output=9)
    c.result("toolu_task")
    for n in range(2):
        sub.reply(
            tool(f"toolu_s{n}"),
            message_id=f"s{n}",
            output=30 + n,
            uuid=f"00000000-aaaa-4000-8000-00000000000{n}",
            isSidechain=True,
            agentId="abc",
        )
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint(
        "00000000000a",
        sessions=[session(c.session_id, c.bytes())],
        files={"tasks/toolu_task/agent-abc.jsonl": sub.bytes(0, 1)},
    )
    with opened(repo.path, tmp_path) as bank:
        assert bank.sessions()["subagent_output_tokens"].tolist() == [30]
        row = bank.token_usage().query("is_subagent").iloc[0]
        assert bank.raw(row) == [json.dumps(sub.lines[0]).encode()]
        repo.add_checkpoint(
            "00000000000a",
            sessions=[session(c.session_id, c.bytes())],
            files={"tasks/toolu_task/agent-abc.jsonl": sub.bytes()},
        )
        assert bank.sessions()["subagent_output_tokens"].tolist() == [61]
        assert bank.sessions()["output_tokens"].tolist() == [9]
        assert_agreement(bank)


def test_task_and_agent_are_both_spawns(read):
    c = Claude()
    for n, name in enumerate(("Task", "Agent")):
        c.reply(tool(f"toolu_{n}", name, prompt="p", subagent_type=f"kind{n}"), message_id=f"m{n}")
        c.progress(
            nested_reply(f"n{n}", message_id=f"n{n}", output=1), call_id=f"toolu_{n}", agent_id=f"agent{n}"
        )
    assert [s.agent_type for s in read(c).discover()[0].subagents] == ["kind0", "kind1"]


# -- sessions that copy each other ------------------------------------------------------------------------------------


def test_a_fork_counts_only_what_is_its_own(read):
    a, b = Claude("aaaaaaaa-0000-4000-8000-000000000001"), Claude("bbbbbbbb-0000-4000-8000-000000000002")
    for n in range(2):
        a.prompt(f"u{n}")
        a.reply(tool(f"toolu_{n}"), message_id=f"m{n}")
    b.lines = [{**line, "sessionId": b.session_id, "sessionKind": "bg"} for line in a.lines]
    b.prompt("u3")
    b.reply(message_id="m3")
    bank = read(a, b)
    one, two = rows(bank, "sessions")
    assert (one["human_prompts"], one["api_calls"], two["human_prompts"], two["api_calls"]) == (2, 2, 1, 1)
    assert (one["inherited_messages"], two["inherited_messages"]) == (0, 4)
    assert len(bank.get_by_session_id(b.session_id).messages) == 6  # they are shown, and marked
    (edge,) = rows(bank, "lineage")
    assert (edge["from_session"], edge["to_session"], edge["shared_messages"], edge["relation"]) == (
        a.session_id,
        b.session_id,
        4,
        "resumed",
    )


def test_a_fork_that_was_stored_first_is_still_the_fork(read):
    """Its copied lines name the session that they come from."""
    a, b = Claude("aaaaaaaa-0000-4000-8000-000000000001"), Claude("bbbbbbbb-0000-4000-8000-000000000002")
    a.prompt("u0")
    a.reply(message_id="m0")
    b.lines = list(a.lines)  # with the first session's id
    b.prompt("u1")
    bank = read(b, a)
    assert {r["session_id"]: r["human_prompts"] for r in rows(bank, "sessions")} == {
        a.session_id: 1,
        b.session_id: 1,
    }
    assert {m["inherited_from"] for m in rows(bank, "messages")} == {None, a.session_id}


def test_a_line_that_a_file_repeats_counts_once(read):
    c = Claude()
    c.prompt("x")
    c.reply(message_id="m")
    data = jsonl([*c.lines, {**c.lines[0], "slug": "again"}])
    bank = read(data)
    assert rows(bank, "sessions")[0]["human_prompts"] == 1


def test_parallel_calls_all_stay(read):
    c = Claude()
    c.prompt()
    a = c.reply(tool("A"), message_id="m")
    b = c.reply(tool("B"), message_id="m")
    c.result("A", parentUuid=a["uuid"])
    c.result("B", parentUuid=b["uuid"])
    c.reply("go on", message_id="m2", parentUuid=c.lines[-1]["uuid"])
    bank = read(c)
    assert [(t["tool_call_id"], t["status"]) for t in rows(bank, "tool_calls")] == [("A", "ok"), ("B", "ok")]
    assert len(rows(bank, "messages")) == 6


# -- who said it -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "keys", "kind"),
    [
        ("real words", {}, "prompt"),
        ("see <command-name> in the docs", {}, "prompt"),
        ("skill text", {"isMeta": True}, "meta"),
        ("<command-name>/clear</command-name>", {}, "command"),
        ("<command-message>x</command-message>", {}, "command"),
        ("<bash-input>ls</bash-input>", {}, "command"),
        ("<local-command-stdout>x</local-command-stdout>", {}, "command_output"),
        ("<bash-stdout>x</bash-stdout>", {}, "command_output"),
        (
            "Caveat: The messages below were generated by the user while running local commands.",
            {"isMeta": True},
            "meta",
        ),
        ("[Request interrupted by user]", {}, "interruption"),
        ("[Request interrupted by user for tool use]", {}, "interruption"),
        (
            "This session is being continued from a previous conversation that ran out",
            {"isCompactSummary": True},
            "compact_summary",
        ),
        ("<task-notification>done</task-notification>", {}, "notification"),
        ('<teammate-message teammate_id="x">hi</teammate-message>', {}, "teammate"),
        ("   ", {}, "other"),
    ],
)
def test_who_wrote_a_user_line(text, keys, kind, read):
    c = Claude()
    c.prompt(text, **keys)
    c.prompt([{"type": "text", "text": text}], **keys)
    bank = read(c)
    assert kinds(bank) == [kind, kind]
    assert rows(bank, "sessions")[0]["human_prompts"] == (2 if kind == "prompt" else 0)


def test_tool_results_are_no_prompts(read):
    c = Claude()
    c.result("unknown-call", "some text")
    bank = read(c)
    assert kinds(bank) == ["tool_result"]
    assert codes(bank)["result_without_call"] == 1


def queued(c, text, **keys):
    return c.line("attachment", attachment={"type": "queued_command", "prompt": text, **keys})


def test_a_queued_prompt_counts_once_and_is_flagged(read):
    c = Claude()
    c.reply(tool("t"), message_id="m")
    queued(c, "also this")
    c.result("t")
    bank = read(c)
    assert [(m["kind"], m["is_queued"]) for m in rows(bank, "messages") if m["kind"] == "prompt"] == [
        ("prompt", True)
    ]
    assert rows(bank, "sessions")[0]["human_prompts"] == 1


def test_a_queued_prompt_that_was_delivered_as_a_line_too_counts_once(read):
    c = Claude()
    queued(c, "also this")
    c.prompt("also this")
    assert rows(read(c), "sessions")[0]["human_prompts"] == 1


def test_what_was_queued_and_taken_back_is_no_prompt(read):
    c = Claude()
    c.line("queue-operation", operation="enqueue", content="never mind", uuid=None)
    c.line("queue-operation", operation="remove", content="never mind", uuid=None)
    queued(c, "<task-notification>x</task-notification>", commandMode="task-notification")
    bank = read(c)
    assert rows(bank, "sessions")[0]["human_prompts"] == 0
    assert "notification" in kinds(bank)


# -- tool calls ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "flag", "data", "status", "explicit"),
    [
        ("ok", None, None, "ok", False),
        ("ok", False, None, "ok", True),
        ("boom", True, None, "error", True),
        (
            "The user doesn't want to proceed with this tool use.",
            True,
            "User rejected tool use",
            "rejected",
            True,
        ),
        ("The user doesn't want to take this action right now.", True, None, "rejected", True),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", True, None, "interrupted", True),
        ("[Request interrupted by user for tool use]", True, None, "interrupted", True),
        ("x", None, {"interrupted": True}, "interrupted", False),
        ("x", None, {"success": False}, "error", False),
        ("The user doesn't want to proceed, says a README", None, None, "ok", False),
        ("", None, None, "ok", False),
        ([], None, None, "ok", False),
        (None, None, None, "ok", False),
    ],
)
def test_how_a_call_ended(content, flag, data, status, explicit, read):
    c = Claude()
    c.reply(tool("t"), message_id="m")
    c.result("t", content, is_error=flag, data=data)
    (call,) = rows(read(c), "tool_calls")
    assert (call["status"], call["is_error_explicit"]) == (status, explicit)
    assert call["duration_ms"] == 1000


def test_results_of_every_shape(read):
    c = Claude()
    shapes = [
        "text",
        [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        [{"type": "tool_reference", "tool_name": "X"}],
        ["plain"],
    ]
    for n, content in enumerate(shapes):
        c.reply(tool(f"t{n}", "mcp__linear-server__create_issue", n=n), message_id=f"m{n}")
        c.result(f"t{n}", content, data=[{"any": "list"}, None, 3])
    calls = rows(read(c), "tool_calls")
    assert [t["result_text"] for t in calls] == ["text", "a\nb", None, "plain"]
    assert {(t["mcp_server"], t["tool_name"]) for t in calls} == {("linear-server", "create_issue")}
    assert json.loads(calls[0]["result_data"]) == [{"any": "list"}, None, 3]
    assert json.loads(calls[2]["input"]) == {"n": 2}


def test_images_are_blocks_and_never_text(read):
    c = Claude()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJDRA=="}}
    c.reply(tool("t", "Read", file_path="/a.png"), message_id="m")
    c.result("t", [image], data={"type": "image", "file": {"base64": "QUJDRA=="}})
    c.prompt([image, {"type": "text", "text": "look"}])
    bank = read(c)
    images = [b for b in rows(bank, "blocks") if b["type"] == "image"]
    assert [(b["media_type"], b["bytes"], b["tool_call_id"]) for b in images] == [
        ("image/png", 4, "t"),
        ("image/png", 4, None),
    ]
    for name in ("messages", "blocks", "tool_calls"):
        assert "QUJDRA" not in repr(rows(bank, name))


def test_thinking_that_was_withheld(read):
    c = Claude()
    c.reply(
        {"type": "thinking", "thinking": "", "signature": "abc"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "thinking", "thinking": "hm"},
        message_id="m",
    )
    blocks = rows(read(c), "blocks")
    assert [(b["type"], b["text"], b["is_redacted"]) for b in blocks] == [
        ("thinking", None, True),
        ("thinking", None, True),
        ("thinking", "hm", False),
    ]


def test_unknown_lines_and_keys_are_kept(read):
    c = Claude()
    c.prompt("x", novelKey={"a": [1]})
    c.line("mode", mode="normal")
    c.line("file-history-delta", uuid=None, timestamp=None, delta={"x": 1})
    m = rows(read(c), "messages")
    assert [x["line_type"] for x in m] == ["user", "mode", "file-history-delta"]
    assert json.loads(m[0]["extra"])["novelKey"] == {"a": [1]}
    assert json.loads(m[1]["extra"])["mode"] == "normal"
    assert m[2]["kind"] == "other" and m[2]["timestamp"] is None


def test_compaction_leaves_what_came_before_out_of_sight(read):
    c = Claude()
    c.prompt("early")
    c.line("system", subtype="compact_boundary", content="Conversation compacted", parentUuid=None)
    c.prompt("This session is being continued from a previous conversation", isCompactSummary=True)
    c.prompt("late")
    seen = {m["text"]: m["in_context"] for m in rows(read(c), "messages") if m["kind"] == "prompt"}
    assert seen == {"early": False, "late": True}


def test_the_working_directory_is_as_recorded(read):
    c = Claude(cwd="C:\\Users\\x\\my-app")
    c.prompt()
    assert rows(read(c), "sessions")[0]["cwd"] == "C:\\Users\\x\\my-app"


def test_redacted_lines_are_kept(read):
    c = Claude()
    c.prompt("the key is REDACTED")
    c.reply({"type": "thinking", "thinking": "x", "signature": "REDACTED"}, message_id="m")
    bank = read(c)
    assert kinds(bank) == ["prompt", "reply"]


def test_order_is_file_order_not_time(read):
    c = Claude()
    for n, at in enumerate(("10:00:05", "10:00:01", "10:00:09")):
        c.prompt(str(n), timestamp=f"2026-02-01T{at}.000Z")
    bank = read(c)
    assert [m["text"] for m in rows(bank, "messages")] == ["0", "1", "2"]
    (row,) = rows(bank, "sessions")
    assert (row["span_s"], row["active_s"]) == (8.0, 8.0)


def test_active_time_caps_each_gap(read):
    c = Claude()
    for at in ("10:00:00", "10:01:00", "13:00:00"):
        c.prompt(at, timestamp=f"2026-02-01T{at}.000Z")
    (row,) = rows(read(c), "sessions")
    assert (row["span_s"], row["active_s"]) == (3 * 3600, 60 + 300)


def test_a_day_is_a_day_in_the_zone_asked_for(read):
    c = Claude()
    c.reply(message_id="m", output=5, timestamp="2026-01-25T04:08:00.000Z")
    bank = read(c)
    assert bank.totals("day")["day"].tolist() == ["2026-01-25"]
    assert bank.totals("day", tz="America/Los_Angeles")["day"].tolist() == ["2026-01-24"]
