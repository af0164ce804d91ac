"""A session becomes task and steps: replies as calls group them, prompts kept, tokens once, subagents inside."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import sessionbank as sb
from sessionbank import schema
from sessionbank.errors import NotFoundError, QueryError
from sessionbank.records import Block
from sessionbank.trajectory import Outcome, steps_rows, synthesize
from tests.trajectory.made_sessions import FIRST, SECOND, Script, record, small, with_subagent

FIGURES = (
    "api_calls", "tokens", "tool_calls", "subagent_api_calls", "subagent_tokens", "subagent_tool_calls",
    "human_prompts",
)  # fmt: skip
CLASSES = ("input", "cache_creation", "cache_read", "output")


def test_steps_of_a_reply_share_its_thought_and_its_tokens_stand_once():
    made = synthesize(small(), outcome=None)
    thought = "Where is the rounding?\n\nI look at the cart."
    assert [(s.step, s.action_name, s.thought, s.tokens, s.status) for s in made.own_steps] == [
        (0, "Read", thought, 65, "ok"),
        (1, "Bash", thought, 0, "error"),
        (2, "respond", "Both are done.", 65, None),
    ]
    assert [s.observation for s in made.own_steps] == ["def total(): ...", "1 failed", None]
    first = made.own_steps[0]
    assert (first.message_uuid, first.checkpoint_id, first.seq, first.result_seq) == (
        "u3",
        FIRST,
        3,
        4,
    )
    assert made.own_steps[0].started_at == small().messages[3].timestamp
    assert made.own_steps[0].duration_ms == 10_000


def test_the_whole_of_a_session():
    made = synthesize(small(), outcome=None, repository="shop")
    assert made.id == f"entire-{FIRST}-s1"
    assert made.task.description == "Round the cart"
    assert made.task.context["branch"] == "main"
    assert made.task.context["repository"] == "shop"
    assert made.task.context["files"] == ["src/shop/cart.py", "src/shop/cart_test.go"]
    assert (made.llm_calls, made.total_tokens, made.cost_usd) == (2, 130, 0.5)
    assert (made.wall_seconds, made.active_seconds) == (90.0, 90.0)
    assert made.agent == "claude-code"
    assert made.metadata["checkpoints"] == [FIRST]
    assert made.outcome is None
    assert len(made) == 3


def test_what_was_said_between_replies_is_kept():
    made = synthesize(small(), outcome=None)
    assert [[(t.kind, t.text) for t in r.before] for r in made.replies] == [
        [("prompt", "Make the cart round to cents")],
        [("prompt", "Also the tax, please")],
    ]
    assert [(t.kind, t.text) for t in made.after] == [("interruption", "[Request interrupted by user]")]


def test_without_a_summary_the_first_prompt_is_the_task():
    s = Script()
    s.line("user", "command", Block("text", "<command-name>/clear</command-name>"))
    s.prompt("Fix the login")
    assert synthesize(s.session(), outcome=None).task.description == "Fix the login"
    assert synthesize(Script().session(), outcome=None).task.description is None


def test_words_beside_a_tool_result_are_kept():
    s = Script()
    s.prompt("Go")
    s.tool("m1", "t1", "Edit", output="The user doesn't want to proceed", status="rejected")
    s.line("user", "tool_result", Block("tool_result", "x", "t9"), Block("text", "No, use the other file"))
    s.reply("m2", Block("text", "All right."))
    made = synthesize(s.session(), outcome=None)
    assert [t.text for t in made.replies[1].before] == ["No, use the other file"]


def test_a_call_on_a_line_that_is_no_reply_is_a_step_all_the_same():
    s = Script()
    s.prompt("Go")
    s.tool("m1", "t1", "Read", output="x")
    s.messages[1] = replace(s.messages[1], kind="other", message_id=None)
    assert [x.tool_call_id for x in synthesize(s.session(), outcome=None).own_steps] == ["t1"]


def test_withheld_thinking_and_a_reply_that_says_nothing():
    s = Script()
    s.prompt("Go")
    s.reply("m1", Block("thinking", None, is_redacted=True))
    made = synthesize(s.session(), outcome=None)
    assert made.replies[0].is_thinking_withheld
    assert [(x.action_name, x.thought, x.tokens) for x in made.own_steps] == [("respond", None, None)]


def test_tokens_that_were_not_recorded_are_missing_on_every_step_of_the_reply():
    s = Script()
    s.prompt("Go")
    s.tool("m1", "t1", "Read", output="x")
    s.tool("m1", "t2", "Read", output="y")
    assert [x.tokens for x in synthesize(s.session(), outcome=None).own_steps] == [None, None]


def test_inherited_rows_are_left_out():
    s = Script()
    s.prompt("Old", inherited="s0")
    old = s.reply("m0", Block("text", "Old answer"), inherited="s0")
    s.used("m0", old, inherited="s0")
    s.prompt("New")
    new = s.reply("m1", Block("text", "New answer"))
    s.used("m1", new)
    made = synthesize(s.session(), outcome=None)
    assert [x.thought for x in made.own_steps] == ["New answer"]
    assert [t.text for t in made.replies[0].before] == ["New"]
    assert (made.llm_calls, made.total_tokens) == (1, 65)


def test_subagents_are_trajectories_below_the_agent_that_started_them():
    made = synthesize(with_subagent(), outcome=None)
    (helper,) = made.subagents
    (deeper,) = helper.subagents
    assert (helper.agent_id, helper.agent_type, helper.parent_tool_call_id) == ("a1", "Explore", "spawn")
    assert helper.task.description == "Look for the leak"
    assert (deeper.agent_id, deeper.parent_tool_call_id, deeper.task.description) == (
        "a2",
        "inner",
        "Read pool.py",
    )
    assert [t.total_tokens for t in made.walk()] == [130, 65, 65]
    assert [s.tool_call_id for s in made.own_steps] == ["spawn", "open"]
    assert len({t.id for t in made.walk()}) == 3


def test_agents_that_started_each_other_do_not_make_a_ring():
    s = Script()
    s.prompt("Go")
    s.reply("m1", Block("text", "Hm"))
    s.tool("m2", "t1", "Agent", output="x", agent="a1", parent="t2")
    s.tool("m3", "t2", "Agent", output="x", agent="a2", parent="t1")
    made = synthesize(s.session(), outcome=None)
    assert sorted(t.agent_id for t in made.walk() if t.agent_id) == ["a1", "a2"]


def test_a_window_takes_whole_replies_and_windows_part_the_session():
    s = Script()
    s.prompt("One")
    a = s.tool("m1", "t1", "Read", output="x")
    s.checkpoint = SECOND
    s.tool("m1", "t2", "Read", output="y")
    s.prompt("Two")
    b = s.reply("m2", Block("text", "Done"))
    s.used("m1", a)
    s.used("m2", b)
    session = s.session(checkpoints=(FIRST, SECOND))
    one = synthesize(session, outcome=None, checkpoint_id=FIRST)
    two = synthesize(session, outcome=None, checkpoint_id=SECOND)
    assert [x.tool_call_id for x in one.own_steps] == ["t1", "t2"]
    assert [x.action_name for x in two.own_steps] == ["respond"]
    assert (one.id, two.id) == (f"entire-{FIRST}-s1", f"entire-{SECOND}-s1")
    assert (one.total_tokens, two.total_tokens, one.llm_calls, two.llm_calls) == (65, 65, 1, 1)
    assert [t.text for r in (*one.replies, *two.replies) for t in r.before] == ["One", "Two"]
    assert two.metadata["window"] == SECOND


def test_the_outcome_is_asked_of_whoever_is_named():
    seen = []

    def judge(session):
        seen.append(len(session.messages))
        return Outcome("partial", 0.5, 0.9, "judge", "half of it")

    assert synthesize(small(), outcome=judge).outcome.label == "partial"
    assert seen == [len(small().messages)]
    assert synthesize(small()).outcome.strategy == "evidence"
    with pytest.raises(QueryError, match="no_such"):
        synthesize(small(), outcome="no_such")


def test_a_judge_of_a_window_sees_the_window_alone():
    s = Script()
    s.prompt("One")
    s.reply("m1", Block("text", "x"))
    s.checkpoint = SECOND
    s.prompt("Two")
    session = s.session(checkpoints=(FIRST, SECOND))
    seen = []

    def judge(given):
        seen.append([m.text for m in given.messages])
        return Outcome("unknown", None, 0, "judge", "")

    synthesize(session, outcome=judge, checkpoint_id=SECOND)
    assert seen == [["Two"]]


def test_wrong_calls_say_what_is_wrong():
    with pytest.raises(NotFoundError, match="cccccccccccc"):
        synthesize(small(), checkpoint_id="cccccccccccc")
    with pytest.raises(QueryError, match="get_by_session_id"):
        synthesize(record("s1", FIRST))


def test_the_frame_is_of_the_table_and_holds_subagents_too():
    made = synthesize(with_subagent(), outcome=None)
    frame = made.steps()
    assert list(frame.columns) == list(schema.table("steps").columns)
    assert list(frame["tool_call_id"]) == ["spawn", "open", "inner", "deep"]
    assert frame["agent_id"].isna().tolist() == [True, True, False, False]
    assert list(made.steps(subagents=False)["tool_call_id"]) == ["spawn", "open"]
    arrow = schema.arrow_table("steps", steps_rows(with_subagent()))
    assert schema.problems("steps", arrow) == []
    assert schema.frame(arrow).equals(frame)


# -- real input ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shop(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    truth = json.loads((root / "data" / "shop.truth.json").read_text("utf-8"))
    with sb.open_bank(root / "data" / "shop.bundle", cache=folder, state_dir=folder, progress=False) as bank:
        yield bank, truth["sessions"]


def figures(made):
    below = [t for t in made.walk() if t is not made]
    turns = [*(t for r in made.replies for t in r.before), *made.after]
    prompts = [t for t in turns if t.kind == "prompt"]
    return {
        "api_calls": made.llm_calls or 0,
        "tokens": made.total_tokens or 0,
        "tool_calls": sum(s.tool_call_id is not None for s in made.own_steps),
        "subagent_api_calls": sum(t.llm_calls for t in below),
        "subagent_tokens": sum(t.total_tokens for t in below),
        "subagent_tool_calls": sum(s.tool_call_id is not None for t in below for s in t.own_steps),
        "human_prompts": len(prompts),
    }


def wanted(truth):
    sums = {k: sum(truth[k][c] for c in CLASSES) for k in ("tokens", "subagent_tokens")}
    return {k: sums.get(k, truth.get(k)) for k in FIGURES}


def test_figures_of_the_sample_bank_are_those_of_its_script(shop):
    bank, truth = shop
    for session in bank.iter_sessions():
        assert figures(synthesize(session, outcome=None)) == wanted(truth[session.session_id]), (
            session.session_id
        )


def assert_no_thought_or_call_is_lost(made):
    ids = [s.tool_call_id for t in made.walk() for s in t.own_steps if s.tool_call_id]
    assert len(ids) == len(set(ids))
    for trajectory in made.walk():
        assert [s.step for s in trajectory.own_steps] == list(range(len(trajectory.own_steps)))
        assert sum(s.tokens or 0 for s in trajectory.own_steps) == trajectory.total_tokens
        for step in trajectory.own_steps:
            reply = trajectory.replies[step.reply]
            assert bool(step.thought) == bool(reply.text or reply.thinking)


def test_times_and_calls_agree_with_the_sessions_table(shop):
    bank, _ = shop
    rows = bank.sessions().set_index("session_id")
    for session in bank.iter_sessions():
        made = synthesize(session, outcome=None)
        row = rows.loc[session.session_id]
        if made.own_steps:
            assert_no_thought_or_call_is_lost(made)
        times = {
            "span_s": made.wall_seconds,
            "active_s": made.active_seconds,
            "total_tokens": made.total_tokens,
        }
        for name, value in times.items():
            assert row.isna()[name] if value is None else value == pytest.approx(row[name]), (
                session.session_id
            )
        steps = [s for s in made.own_steps if s.tool_call_id]
        results = {c.tool_call_id: c.result_text for c in session.tool_calls}
        assert all(s.observation == results[s.tool_call_id] for s in steps)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["go-cli", "teams", "per-checkpoint-refs"])
def test_figures_of_real_sessions(shared, tmp_path, name):
    expected = json.loads((shared / "data" / f"{name}.expected.json").read_text("utf-8"))
    total = dict.fromkeys(FIGURES, 0)
    with sb.open_bank(
        shared / "data" / f"{name}.bundle", cache=tmp_path, state_dir=tmp_path, progress=False
    ) as bank:
        for session in bank.iter_sessions():
            made = synthesize(session, outcome=None)
            if session.agent == "claude-code":
                for key, value in figures(made).items():
                    total[key] += value
            if made.own_steps:
                assert_no_thought_or_call_is_lost(made)
    assert total == wanted(expected)
