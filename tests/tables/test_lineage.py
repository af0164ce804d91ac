"""Sessions of Claude Code that go on from another without its lines: what each edge rests on, and what makes none."""

from __future__ import annotations

import pytest

from tests.makers.banks import opened
from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude, tool

ONE, TWO = "aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002"
TAIL = "If you need details, read the full transcript at: /home/x/.claude/projects/-srv-shop/{}.jsonl"


@pytest.fixture
def read(tmp_path):
    """A function: conversations -> an open bank of them, a checkpoint each."""
    banks = []

    def bank(*stories):
        repo = CheckpointRepo(tmp_path / "repo")
        for number, story in enumerate(stories):
            repo.add_checkpoint(f"{number:012x}", sessions=[session(story.session_id, story.bytes())])
        banks.append(opened(repo.path, tmp_path))
        return banks[-1]

    yield bank
    for each in banks:
        each.close()


def edges(bank):
    return [(r["from_session"], r["to_session"], r["relation"]) for r in bank.arrow("lineage").to_pylist()]


def test_a_compaction_that_follows_a_line_of_another_session(read):
    a, b = Claude(ONE), Claude(TWO)
    a.prompt("one")
    last = a.reply(message_id="m0")
    b.line("system", subtype="compact_boundary", content="Conversation compacted",
           logicalParentUuid=last["uuid"], compactMetadata={"trigger": "auto", "preTokens": 9})  # fmt: skip
    b.prompt("go on")
    bank = read(a, b)
    assert edges(bank) == [(ONE, TWO, "compacted")]
    assert last["uuid"] in bank.lineage()["evidence"].iloc[0]
    assert bank.lineage()["shared_messages"].isna().all()


def test_a_compaction_within_a_session_is_no_edge(read):
    a = Claude(ONE)
    last = a.prompt("one")
    a.line("system", subtype="compact_boundary", content="", logicalParentUuid=last["uuid"])
    a.prompt("This session is being continued from a previous conversation. " + TAIL.format(ONE),
             isCompactSummary=True)  # fmt: skip
    assert edges(read(a)) == []


def test_a_plan_names_the_session_in_which_it_was_made(read):
    a, b = Claude(ONE), Claude(TWO)
    a.prompt("plan it")
    b.prompt("Implement the following plan: 1. look. " + TAIL.format(ONE), planContent="1. look")
    assert edges(read(a, b)) == [(ONE, TWO, "compacted")]


def test_a_summary_of_a_session_that_is_not_here_is_told_all_the_same(read):
    b = Claude(TWO)
    b.prompt("This session is being continued from a previous conversation. " + TAIL.format(ONE),
             isCompactSummary=True)  # fmt: skip
    assert edges(read(b)) == [(ONE, TWO, "compacted")]


def test_a_quoted_text_is_no_edge(read):
    a, b = Claude(ONE), Claude(TWO)
    a.prompt("x")
    b.prompt("what does this mean? " + TAIL.format(ONE))
    b.reply(TAIL.format(ONE), message_id="m1")
    assert edges(read(a, b)) == []


def mate_and_lead(name: str):
    a, b = Claude(ONE), Claude(TWO)
    a.reply(tool("toolu_1", "Agent", subagent_type="t", prompt="test it"), message_id="m0")
    spawned = {"status": "teammate_spawned", "teammate_id": "tester@t1", "name": "tester", "team_name": "t1"}
    a.result("toolu_1", "Spawned", data=spawned)
    b.prompt(
        '<teammate-message teammate_id="team-lead">test it</teammate-message>', teamName="t1", agentName=name
    )
    b.reply(message_id="m1", teamName="t1", agentName=name)
    return a, b


def test_a_teammates_own_session_comes_from_the_one_that_started_it(read):
    bank = read(*mate_and_lead("tester"))
    assert edges(bank) == [(ONE, TWO, "teammate")]
    assert "toolu_1" in bank.lineage()["evidence"].iloc[0]


@pytest.mark.parametrize("name", ["somebody", "team-lead"])
def test_a_mate_whom_nobody_started_has_no_edge(read, name):
    assert edges(read(*mate_and_lead(name))) == []


@pytest.mark.shared
def test_real_plans_name_where_they_were_made(bundle_repo, tmp_path):
    """Found with grep: the five prompts with `planContent` that name the transcript of another session by its id."""
    with opened(bundle_repo("go-cli"), tmp_path) as bank:
        found = {(a[:8], b[:8]) for a, b, _ in edges(bank)}
    assert found == {
        ("1284c080", "9e2434f3"), ("645ea3df", "60b38d1e"), ("7aa4110c", "7505c804"), ("9ebafbbe", "545b45d4"),
        ("b6b20c21", "e0cf01c8"),
    }  # fmt: skip
