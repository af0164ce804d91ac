"""Chat rows: the conversation in order, calls and thinking as asked, tools inferred, old context left out."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sessionbank.records import Block
from sessionbank.trajectory import Outcome, synthesize, write_jsonl
from sessionbank.trajectory.export import UnredactedWarning
from tests.trajectory.made_sessions import Script, small, with_subagent


def plain(trajectories, path, **options):
    with pytest.warns(UnredactedWarning):
        return write_jsonl(trajectories, path, redact=False, **options)


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def judged(session):
    made = synthesize(session, outcome=None)
    return made.with_outcome(
        Outcome("partial", 0.5, 0.8, "checks", "one of two", ({"seq": 3, "checks": ["pytest"]},))
    )


def test_chat_rows_follow_the_conversation(tmp_path):
    (row,) = lines(plain([judged(small())], tmp_path / "t.jsonl", format="messages").path)
    assert [(m["role"], m["content"]) for m in row["messages"]] == [
        ("user", "Make the cart round to cents"),
        ("assistant", "I look at the cart."),
        ("tool", "def total(): ..."),
        ("tool", "1 failed"),
        ("user", "Also the tax, please"),
        ("assistant", "Both are done."),
        ("user", "[Request interrupted by user]"),
    ]
    said = row["messages"][1]
    assert said["reasoning_content"] == "Where is the rounding?"
    assert [json.loads(c["function"]["arguments"]) for c in said["tool_calls"]][1] == {
        "command": "pytest -q",
        "timeout": 5,
    }
    assert [m["tool_call_id"] for m in row["messages"] if m["role"] == "tool"] == ["t1", "t2"]
    assert (row["outcome"], row["score"], row["open_calls"]) == ("partial", 0.5, [])


def test_arguments_may_be_objects_and_each_agent_is_a_row(tmp_path):
    rows = lines(
        plain(
            [synthesize(with_subagent(), outcome=None)],
            tmp_path / "t.jsonl",
            format="messages",
            arguments="dict",
        ).path
    )
    assert [r["agent_id"] for r in rows] == [None, "a1", "a2"]
    call = rows[0]["messages"][1]["tool_calls"][0]["function"]
    assert call == {"name": "Task", "arguments": {"subagent_type": "Explore", "prompt": "Look for the leak"}}
    assert rows[0]["open_calls"] == ["open"]
    assert [m["role"] for m in rows[0]["messages"]] == ["user", "assistant", "tool", "assistant"]


def test_thinking_stands_apart_merged_or_nowhere(tmp_path):
    found = {}
    for thinking in ("apart", "merged", "none"):
        (row,) = lines(
            plain(
                [synthesize(small(), outcome=None)], tmp_path / "t", format="messages", thinking=thinking
            ).path
        )
        said = row["messages"][1]
        found[thinking] = (said["content"], said.get("reasoning_content"))
        assert row["messages"][6 if thinking == "merged" else 5]["content"] == "Both are done."
    assert found == {
        "apart": ("I look at the cart.", "Where is the rounding?"),
        "merged": ("", "Where is the rounding?\n\nI look at the cart."),
        "none": ("I look at the cart.", None),
    }


def test_tools_are_inferred_from_what_calls_gave(tmp_path):
    s = Script()
    s.prompt("Go")
    s.tool("m1", "t1", "Grep", '{"pattern":"x","path":"a"}', output="1")
    s.tool("m1", "t2", "Grep", '{"pattern":"y","n":3,"globs":["*.py"],"opts":{"i":true}}', output="2")
    s.tool("m1", "t3", "Grep", '{"pattern":null,"n":1.5}', output="3")
    s.tool("m2", "t4", "apply_patch", '"*** Begin"', output="ok")
    (row,) = lines(
        plain([synthesize(s.session(), outcome=None)], tmp_path / "t.jsonl", format="messages").path
    )
    grep, patch = (t["function"] for t in row["tools"][::-1])
    grep, patch = (grep, patch) if grep["name"] == "Grep" else (patch, grep)
    assert grep["parameters"]["required"] == ["pattern"]
    assert grep["parameters"]["properties"] == {
        "pattern": {"type": ["null", "string"]},
        "path": {"type": "string"},
        "n": {"type": "number"},
        "globs": {"type": "array", "items": {"type": "string"}},
        "opts": {"type": "object", "properties": {"i": {"type": "boolean"}}, "required": ["i"]},
    }
    assert patch["parameters"]["properties"] == {"input": {"type": "string"}}


def test_pictures_are_left_out_with_a_note(tmp_path):
    s = Script()
    s.line("user", "prompt", Block("text", "Look"), Block("image", None, None, "image/png", 12), text="Look")
    s.tool("m1", "t1", "Read", "{}", output="shown")
    s.messages[2] = replace(
        s.messages[2], blocks=(*s.messages[2].blocks, Block("image", None, "t1", "image/jpeg", 9))
    )
    made = synthesize(s.session(), outcome=None)
    assert (made.replies[0].before[0].images, made.own_steps[0].images) == (("image/png",), ("image/jpeg",))
    (row,) = lines(plain([made], tmp_path / "t.jsonl", format="messages").path)
    assert [m["content"] for m in row["messages"]] == [
        "Look\n[image: image/png]",
        "",
        "shown\n[image: image/jpeg]",
    ]


def test_the_live_context_leaves_out_what_the_model_no_longer_saw(tmp_path):
    s = Script()
    s.prompt("Old", live=False)
    s.reply("m1", Block("text", "Old answer"), live=False)
    s.line("user", "compact_summary", Block("text", "So far: old"))
    s.prompt("New")
    s.reply("m2", Block("text", "New answer"))
    made = synthesize(s.session(), outcome=None)
    for context, said in (
        ("all", ["Old", "Old answer", "So far: old", "New", "New answer"]),
        ("live", ["So far: old", "New", "New answer"]),
    ):
        (row,) = lines(plain([made], tmp_path / "c", format="messages", context=context).path)
        (document,) = lines(plain([made], tmp_path / "a", format="atif", context=context).path)
        assert [m["content"] for m in row["messages"]] == said
        assert [x["message"] for x in document["steps"]] == said
