"""A session as entries: results with their calls, subagents under the call that started them, no line without a place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessionbank.records import Session
from sessionbank.widgets.session_entries import Entries
from tests.trajectory.outcome_sessions import bash
from tests.trajectory.outcome_sessions import session as talk
from tests.widgets.talks import bank_of, full, long_talk


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    bank = bank_of(tmp_path_factory.mktemp("entries"), full())
    yield Entries(bank.query()[0])
    bank.close()


def test_every_line_has_a_place(entries):
    seqs = {m.seq for m in entries.session.messages}
    assert set(entries.place) == seqs
    shown = [e.seq for e in entries.all] + [n for e in entries.all for n in e.results]
    assert sorted(shown) == sorted(seqs)


def test_results_stand_with_their_calls(entries):
    edit = next(e for e in entries.all if e.calls and e.calls[0].tool_name == "Edit")
    assert entries.place[edit.results[0]] == entries.place[edit.seq]
    assert entries.message(edit.results[0]).kind == "tool_result"
    assert edit.groups == {"tools"}


def test_subagents_stand_under_the_call(entries):
    names = [
        (e.depth, e.calls[0].tool_name if e.calls else e.message.kind)
        for e in entries.all
        if e.message.kind != "progress"
    ]
    at = names.index((0, "Task"))
    assert names[at + 1] == (1, "Grep")
    assert entries.all[entries.place[entries.all[0].seq]].depth == 0
    grep = next(e for e in entries.all if e.depth == 1 and e.calls)
    assert grep.groups == {"subagents"}
    assert grep.agent_type == "Explore"


def test_groups_are_counted(entries):
    # by hand from `full`: one prompt; thinking, two texts; Edit, Bash, Task, Bash; the subagent's call
    assert {g: entries.counts[g] for g in ("prompts", "replies", "tools", "subagents")} == {
        "prompts": 1, "replies": 3, "tools": 4, "subagents": 1,
    }  # fmt: skip
    assert [entries.all[at].calls[0].tool_call_id for at in entries.troubles] == ["t2"]


def test_search_finds_words_inputs_and_results(entries):
    def found(text):
        return [entries.all[at].message.kind for at in entries.found(text)]

    assert found("FLOATS") == ["reply"]
    assert found("a = 2") == ["reply"]
    assert len(found("1 failed")) == 1
    assert len(found("cart.py:3")) == 1
    assert found("") == []
    assert found("nowhere to be seen") == []


def test_filters(entries):
    assert entries.chosen([]) == []
    assert entries.chosen(["prompts", "replies", "tools", "subagents", "other"]) == list(
        range(len(entries.all))
    )
    assert [entries.all[at].message.kind for at in entries.chosen(["prompts"])] == ["prompt"]


def test_five_thousand_lines():
    entries = Entries(long_talk())
    assert len(entries.all) == 5000
    assert entries.counts == {"prompts": 1, "replies": 2500, "tools": 2499, "subagents": 0, "other": 0}
    assert [entries.all[at].seq for at in entries.troubles] == [1000, 2000, 3000, 4000]


def test_calls_that_start_each_other_are_shown_once():
    given = talk(("prompt", "x"), bash("a"), bash("b"))
    t = given.transcript
    ring = tuple(
        replace(m, is_subagent=m.seq > 0, agent_id="a", parent_tool_call_id={1: "t2", 2: "t1"}.get(m.seq))
        for m in t.messages
    )
    looped = replace(t, messages=ring)
    entries = Entries(Session("s1", given.records, lambda _: looped))
    assert sorted(e.seq for e in entries.all) == [0, 1, 2]


def test_a_session_without_a_transcript():
    entries = Entries(talk())
    assert entries.all == ()
    assert sum(entries.counts.values()) == 0
    assert entries.found("x") == entries.chosen(["prompts"]) == []
