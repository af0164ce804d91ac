"""Teams over several sessions: a teammate's own session, child sessions, sessions side by side in one checkpoint."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sessionbank.errors import QueryError
from sessionbank.team import from_session, from_sessions, validate
from tests.team.made import Story, idle, sessions_of

LEAD = "11111111-0000-4000-8000-000000000001"
MATE = "22222222-0000-4000-8000-000000000002"
OTHER = "33333333-0000-4000-8000-000000000003"


def minutes(n):
    return datetime(2026, 2, 1, 10, tzinfo=UTC) + timedelta(minutes=n)


def mate_line(story, who="dev", team="t"):
    """Lines of a teammate's own session name it and its team."""
    for line in story.lines:
        line.update(teamName=team, agentName=who)


@pytest.fixture
def joined(tmp_path):
    """A lead and the session of one of its two teammates; the mate heard, wrote, broadcast, and was shut down."""
    lead = Story(LEAD)
    lead.prompt("build it")
    lead.create("t")
    lead.mate("dev", "t", prompt="write the code")
    lead.mate("pm", "t", prompt="plan")
    lead.done("SendMessage", {"success": True}, to="dev", message="one more thing", summary="s")
    lead.start = minutes(3)
    lead.hear(("dev", "it is done"), ("dev", idle("dev", "[to pm] see the diff")))
    lead.done(
        "SendMessage", {"success": True, "request_id": "r1"}, to="dev", message={"type": "shutdown_request"}
    )
    lead.start = minutes(6)
    lead.hear(("dev", {"type": "shutdown_approved", "requestId": "r1", "from": "dev"}))

    mate = Story(MATE, start=minutes(1))
    mate.hear(("team-lead", "write the code"))
    mate.hear(("team-lead", "one more thing"))
    mate.done("SendMessage", {"success": True}, to="pm", message="the diff is at abc", summary="see the diff")
    mate.done("SendMessage", {"success": True}, to="team-lead", message="it is done", summary="done")
    mate.start = minutes(4)
    mate.hear(("team-lead", {"type": "shutdown_request", "requestId": "r1", "reason": "end"}))
    mate.start = minutes(5)
    answer = {"type": "shutdown_response", "recipient": "team-lead", "approve": True, "request_id": "r1"}
    mate.done("SendMessage", {"success": True}, **answer)
    mate_line(mate)
    return sessions_of(tmp_path, lead, mate)


def test_both_sides_of_an_edge_are_one_edge(joined):
    teams = from_sessions(joined)
    assert len(teams) == 1
    team = teams[0]
    assert not team.is_loose and team.session_ids == (LEAD, MATE)
    found = [(e.subtype, e.from_agent, e.to_agent, e.is_inferred) for e in team.interaction_list]
    assert sorted(found) == sorted([
        ("team_create", "team-lead", "*", False),
        ("teammate", "team-lead", "dev", False),
        ("teammate", "team-lead", "pm", False),
        ("message", "team-lead", "dev", False),
        ("message", "dev", "pm", False),  # recorded, so the idle notification's guess has gone
        ("message", "dev", "team-lead", False),
        ("idle", "dev", "team-lead", False),
        ("shutdown_request", "team-lead", "dev", False),
        ("shutdown_response", "dev", "team-lead", False),
    ])  # fmt: skip
    assert [m.agent_id for m in team.member_list] == ["team-lead", "dev", "pm"]
    dev = team.member("dev")
    assert dev.steps == 3 and dev.tool_calls == 3 and dev.objective == "write the code" and not dev.is_lead
    assert team.member("pm").steps is None
    assert [p for p in validate(team) if p.severity == "error"] == []


def test_edges_link_a_step_at_either_end(joined):
    team = from_sessions(joined)[0]
    lead, dev = team.step_lists["team-lead"], team.step_lists["dev"]
    to_dev = next(e for e in team.interaction_list if e.subtype == "message" and e.to_agent == "dev")
    assert any(to_dev.interaction_id in s.interaction_ids for s in lead)
    assert to_dev.interaction_id in dev[0].interaction_ids
    assert to_dev.latency_ms is not None and to_dev.latency_ms > 0
    back = next(e for e in team.interaction_list if e.content == "it is done")
    assert back.interaction_id in dev[1].interaction_ids
    # what the lead did on hearing it: the request to shut down
    asked = next(s for s in lead if s.action_input and "shutdown_request" in s.action_input)
    assert back.interaction_id in asked.interaction_ids


def test_each_session_alone_shows_its_side(joined):
    lead, mate = (from_session(s) for s in joined)
    assert len(lead.interaction_list) == 9 and len(mate.interaction_list) == 6
    assert mate.member_list[0].agent_id == "dev"
    assert [m.agent_id for m in mate.member_list if m.agent_id == "team-lead"] == ["team-lead"]


def test_order_of_the_sessions_does_not_matter(joined):
    assert from_sessions(joined) == from_sessions(joined[::-1])


def child_and_parent(tmp_path, result):
    parent, child = Story(LEAD), Story(MATE, start=minutes(1))
    parent.prompt("find it")
    call = parent.call("task", description="d", prompt="look", subagent_type="explore")
    parent.result(call, "found", data=result)
    child.prompt("look")
    child.reply("found", message_id="msg_c")
    return sessions_of(tmp_path, parent, child)


def test_child_session_that_the_parents_call_names(tmp_path):
    team = from_sessions(child_and_parent(tmp_path, {"sessionId": MATE}))[0]
    assert [(e.type, e.from_agent, e.to_agent) for e in team.interaction_list] == [
        ("spawn", "main", MATE), ("result_return", MATE, "main"),
    ]  # fmt: skip
    assert team.member(MATE).steps == 1 and team.member(MATE).agent_type == "explore"
    assert [m.agent_id for m in team.member_list] == ["main", MATE]


def test_child_session_that_is_only_stored_as_one(tmp_path):
    parent, child = Story(LEAD), Story(MATE, start=minutes(1))
    parent.prompt("find it")
    parent.reply("yes", message_id="msg_p")
    child.prompt("look")
    child.reply("found", message_id="msg_c")
    sessions = sessions_of(tmp_path, parent, child)
    assert from_sessions(sessions) == []
    team = from_sessions(sessions, parents={MATE: LEAD})[0]
    assert [(e.type, e.evidence, e.is_inferred) for e in team.interaction_list] == [
        ("spawn", "child_session", True)
    ]
    edge = team.interaction_list[0]
    assert {edge.from_agent, edge.to_agent} == {m.agent_id for m in team.member_list}


def beside(start):
    one, two = Story(LEAD), Story(MATE, start=minutes(start))
    for story in (one, two):
        story.prompt("go")
        story.reply("done", message_id=f"msg_{story.session_id[:4]}")
    one.start = minutes(5)
    one.prompt("still here")
    return one, two


def test_sessions_at_one_time_in_one_checkpoint_are_a_loose_team(tmp_path):
    sessions = sessions_of(tmp_path, *beside(2), apart=False)
    team = from_sessions(sessions)[0]
    assert team.is_loose and team.interaction_list == ()
    assert [m.agent_id for m in team.member_list] == ["11111111/main", "22222222/main"]
    assert from_sessions(sessions, is_loose=False) == []


@pytest.mark.parametrize(
    ("start", "apart"), [(30, False), (2, True)], ids=["one after the other", "two checkpoints"]
)
def test_sessions_apart_are_no_team(tmp_path, start, apart):
    assert from_sessions(sessions_of(tmp_path, *beside(start), apart=apart)) == []


def test_two_leads_side_by_side_stay_two_agents(tmp_path):
    one, two = Story(LEAD), Story(OTHER)
    for story, name in ((one, "a"), (two, "b")):
        story.create(name)
        story.mate("dev", name)
    team = from_sessions(sessions_of(tmp_path, one, two, apart=False))[0]
    assert sorted(m.agent_id for m in team.member_list) == [
        "11111111/dev", "11111111/team-lead", "33333333/dev", "33333333/team-lead",
    ]  # fmt: skip
    ends = {(e.from_agent[:8], e.to_agent[:8]) for e in team.interaction_list if e.type == "spawn"}
    assert ends == {("11111111", "11111111"), ("33333333", "33333333")}


def test_what_holds_no_sessions_is_told():
    with pytest.raises(QueryError, match="takes sessions"):
        from_sessions(["id"])
