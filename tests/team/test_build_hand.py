"""Teams of sessions told by hand: each trap of `facts/teams.md`, with the edges that the story itself has."""

from __future__ import annotations

from collections import Counter

import pytest

from sessionbank.errors import QueryError
from sessionbank.team import from_session, interaction_rows, member_rows, validate
from tests.makers.claude import nested_reply, nested_result, tool
from tests.team.made import Story, heard, idle, sessions_of


@pytest.fixture
def built(tmp_path):
    return lambda story: from_session(sessions_of(tmp_path, story)[0])


def edges(team):
    return [(e.subtype, e.from_agent, e.to_agent, e.ok) for e in team.interaction_list]


def sync(story, agent, kind="Explore", **more):
    """A synchronous subagent with two replies of its own inside progress lines."""
    call = story.call("Agent", description="d", prompt=f"look {agent}", subagent_type=kind, **more)
    story.progress(
        nested_reply(
            f"{agent}-1", tool(f"{agent}_t", "Read", file_path="a"), message_id=f"{agent}_m1", output=7
        ),
        call_id=call,
        agent_id=agent,
    )
    story.progress(nested_result(f"{agent}-2", f"{agent}_t"), call_id=call, agent_id=agent)
    story.progress(
        nested_reply(f"{agent}-3", message_id=f"{agent}_m2", output=9), call_id=call, agent_id=agent
    )
    story.result(
        call, "found it", data={"status": "completed", "agentId": agent, "content": [], "totalTokens": 99}
    )
    return call


def test_synchronous_subagent(built):
    story = Story()
    story.prompt("find the bug")
    call = sync(story, "a111")
    story.reply("done", message_id="msg_end")
    team = built(story)
    assert edges(team) == [("subagent", "main", "a111", True), ("result", "a111", "main", True)]
    spawn, back = team.interaction_list
    assert (spawn.type, back.type) == ("spawn", "result_return")
    assert spawn.tool_call_id == back.tool_call_id == call
    assert spawn.content == "look a111" and back.content == "found it"
    # two calls of 3 input tokens each, 7 and 9 output: totalTokens of the result is the last context, not the work
    assert back.tokens == 3 + 7 + 3 + 9
    member = team.member("a111")
    assert (member.steps, member.tool_calls, member.tokens, member.outcome) == (2, 1, 22, "completed")
    assert (member.role, member.spawned_by, member.objective) == ("Explore", "main", "look a111")
    steps = team.step_lists["a111"]
    assert [s.interaction_ids for s in steps] == [(spawn.interaction_id,), (back.interaction_id,)]
    lead = next(s for s in team.step_lists["main"] if s.tool_call_id == call)
    assert set(lead.interaction_ids) == {spawn.interaction_id, back.interaction_id}
    assert team.objective == "find the bug"


def test_no_result_but_lines_of_its_own_is_a_spawn_without_an_answer(built):
    story = Story()
    call = story.call("Task", description="d", prompt="p", subagent_type="dev")
    story.progress(nested_reply("x", message_id="m", output=1), call_id=call, agent_id="a222")
    team = built(story)
    assert edges(team) == [("subagent", "main", "a222", True)]
    assert team.interaction_list[0].evidence == "agent_progress"
    assert team.member("a222").outcome is None


def test_a_spawn_without_any_trace_is_unknown_not_failed(built):
    story = Story()
    call = story.call("Task", description="d", prompt="p", subagent_type="dev")
    team = built(story)
    assert edges(team) == [("subagent", "main", f"agent-of-{call}", None)]
    assert team.interaction_list[0].evidence == "tool_use"


def test_a_refused_spawn_starts_nobody(built):
    story = Story()
    call = story.call("Agent", description="d", prompt="p", subagent_type="dev")
    story.result(call, "InputValidationError", is_error=True)
    team = built(story)
    assert edges(team) == [("subagent", "main", "dev", False)]
    assert [m.agent_id for m in team.member_list] == ["main"]
    assert [p.code for p in validate(team)] == ["never_started"]


def launch(story, agent, description="d"):
    data = {"isAsync": True, "status": "async_launched", "agentId": agent, "description": description}
    return story.done(
        "Task", data, description=description, prompt="p", subagent_type="dev", run_in_background=True
    )


def note(task, status="completed", call=None, result="r", summary='Agent "d" completed'):
    use = f"<tool-use-id>{call}</tool-use-id>\n" if call else ""
    end = f"<status>{status}</status>\n<summary>{summary}</summary>\n<result>{result}</result>\n"
    return f"<task-notification>\n<task-id>{task}</task-id>\n{use}{end}</task-notification>"


def test_background_answers_by_notification_once_each(built):
    story = Story()
    launch(story, "b1")
    launch(story, "b2")
    launch(story, "b3")
    story.prompt(note("b2", call="REDACTED", result="two"))  # linked by the agent id
    story.queued(note("b2", call="REDACTED", result="two"), "task-notification")  # a copy of the line before
    story.queued(note("b1", status="failed", result="one"), "task-notification")  # by attachment alone
    story.prompt(note("c9", summary='Background command "x" completed'))  # a command is no agent
    team = built(story)
    results = [
        (e.from_agent, e.ok, e.content, e.evidence)
        for e in team.interaction_list
        if e.type == "result_return"
    ]
    assert results == [("b2", True, "two", "task_notification"), ("b1", False, "one", "task_notification")]
    assert [e.subtype for e in team.interaction_list if e.type == "spawn"] == ["background"] * 3
    assert team.member("b3").outcome is None and team.member("b1").outcome == "failed"


def test_background_answer_that_was_only_read_through_task_output(built):
    story = Story()
    launch(story, "b1")
    for _ in range(2):  # read twice, answered once
        task = {"task_id": "b1", "task_type": "local_agent", "status": "completed", "output": "all good"}
        story.done("TaskOutput", {"retrieval_status": "success", "task": task}, task_id="b1")
    team = built(story)
    results = [
        (e.from_agent, e.content, e.evidence) for e in team.interaction_list if e.type == "result_return"
    ]
    assert results == [("b1", "all good", "task_output")]


def test_one_agent_in_several_spawns(built):
    story = Story()
    first = sync(story, "a111")
    again = story.done(
        "Agent",
        {"status": "completed", "agentId": "a111"},
        description="d",
        prompt="go on",
        subagent_type="Explore",
        resume="a111",
    )
    team = built(story)
    assert [(e.subtype, e.tool_call_id) for e in team.interaction_list] == [
        ("subagent", first), ("result", first), ("subagent", again), ("result", again),
    ]  # fmt: skip
    assert [m.agent_id for m in team.member_list] == ["main", "a111"]


def test_nested_subagent_is_started_by_its_parent(built):
    story = Story()
    call = story.call("Agent", description="d", prompt="outer", subagent_type="dev")
    story.progress(
        nested_reply(
            "o1",
            tool("toolu_inner", "Agent", prompt="inner", description="d", subagent_type="Explore"),
            message_id="om",
            output=1,
        ),
        call_id=call,
        agent_id="outer1",
    )
    story.progress(nested_reply("i1", message_id="im", output=1), call_id="toolu_inner", agent_id="inner1")
    story.progress(nested_result("o2", "toolu_inner", "inner is done"), call_id=call, agent_id="outer1")
    story.result(call, "outer is done", data={"status": "completed", "agentId": "outer1"})
    team = built(story)
    assert sorted(edges(team)) == sorted([
        ("subagent", "main", "outer1", True), ("subagent", "outer1", "inner1", True),
        ("result", "inner1", "outer1", True), ("result", "outer1", "main", True),
    ])  # fmt: skip
    assert team.member("inner1").spawned_by == "outer1"


# -- teammates -------------------------------------------------------------------------------------------------------


def test_blocks_count_only_where_a_user_line_starts_with_the_tag(built):
    story = Story()
    story.create("t")
    story.mate("dev", "t")
    story.prompt("look at this: " + heard(("dev", "pasted")))  # quoted in a prompt
    read = story.call("Read", file_path="log")
    story.result(read, heard(("dev", "in a file")))
    quote = 'I was told\n<teammate-message teammate_id="x">no</teammate-message>\nby x'
    story.hear(("dev", quote), ("dev", idle("dev")), ("dev", idle("dev")))  # one body holds a quoted tag
    team = built(story)
    found = [(e.subtype, e.content) for e in team.interaction_list if e.evidence == "teammate_message"]
    assert found == [("incoming_text", quote), ("idle", "available"), ("idle", "available")]


def test_an_attachment_delivers_and_an_enqueued_line_does_not(built):
    story = Story()
    story.create("t")
    story.mate("dev", "t")
    story.queued(heard(("dev", "by attachment")), "task-notification")
    story.queued(heard(("dev", "twice told")))
    story.hear(("dev", "twice told"))
    story.line("queue-operation", operation="enqueue", content=heard(("dev", "never came")))
    gone = {"type": "teammate_terminated", "message": "dev has shut down."}
    story.hear(("system", gone))
    story.hear(("system", gone))  # the same text again is another event
    team = built(story)
    found = [
        (e.subtype, e.from_agent, e.content)
        for e in team.interaction_list
        if e.evidence == "teammate_message"
    ]
    assert found == [
        ("incoming_text", "dev", "by attachment"), ("incoming_text", "dev", "twice told"),
        *[("teammate_terminated", "system", "dev has shut down.")] * 2,
    ]  # fmt: skip
    assert team.member("dev").outcome == "shut_down"


def test_peers_aliases_and_loops_of_an_idle_notification(built):
    story = Story()
    story.create("t")
    story.mate("dev", "t", "engineer")
    story.mate("pm", "t", "product-manager")
    story.hear(("dev", idle("dev", "[to pm] scope?")), ("dev", idle("dev", "[to orchestrator] blocked")))
    story.hear(
        ("dev", idle("dev", "[to dev] note")),
        ("dev", idle("dev", "[to product-manager] hi")),
        ("dev", idle("dev", "[to ghost] hm")),
    )
    team = built(story)
    peers = [
        (e.to_raw, e.to_agent, e.content, e.is_inferred) for e in team.interaction_list if e.subtype == "peer"
    ]
    assert peers == [
        ("pm", "pm", "scope?", True), ("orchestrator", "team-lead", "blocked", True), ("dev", "dev", "note", True),
        ("product-manager", "pm", "hi", True), ("ghost", "ghost", "hm", True),
    ]  # fmt: skip
    assert team.aliases == {"orchestrator": "team-lead", "product-manager": "pm"}
    assert Counter(p.code for p in team.problems) == {"self_interaction": 1, "unknown_agent": 1}
    assert [p.code for p in validate(team) if p.severity == "error"] == ["dangling_edge"]
    # idle notifications carry the sender's clock: told at 09:59:00, received at 10:00:08
    first = next(e for e in team.interaction_list if e.subtype == "idle")
    assert first.latency_ms == (60 + (first.timestamp.second)) * 1000


def test_one_name_in_two_teams_is_two_agents(built):
    story = Story()
    story.create("one")
    story.mate("dev", "one")
    story.hear(("dev", "from the first"))
    story.done("TeamDelete", {"success": True, "team_name": "one"})
    story.create("two")
    story.mate("dev", "two")
    story.hear(("dev", "from the second"))
    story.done("SendMessage", {"success": True}, to="dev", message="thanks", summary="s")
    team = built(story)
    heard_of = [e.from_agent for e in team.interaction_list if e.subtype == "incoming_text"]
    assert heard_of == ["dev@one", "dev@two"]
    assert next(e for e in team.interaction_list if e.subtype == "message").to_agent == "dev@two"
    assert [(m.team, m.role) for m in team.member_list[1:]] == [("one", "dev"), ("two", "dev")]
    assert team.name == "one + two"


def test_calls_that_fail_without_is_error(built):
    story = Story()
    story.create("t")
    story.mate("dev", "t")
    story.done(
        "TeamDelete",
        {"success": False, "message": "Cannot cleanup team with 1 active member(s): dev", "team_name": "t"},
    )
    story.done(
        "TaskUpdate",
        {"success": False, "taskId": "7", "error": "Task not found"},
        taskId="7",
        status="completed",
    )
    cast = story.call(
        "SendMessage", to="*", type="message", message={"type": "shutdown_request", "reason": "end"}
    )
    story.result(cast, "structured messages cannot be broadcast", is_error=True)
    team = built(story)
    assert edges(team)[2:] == [
        ("team_delete", "team-lead", "*", False),
        ("task_update", "team-lead", "*", False),
        ("broadcast", "team-lead", "*", False),
    ]
    assert team.interaction_list[3].to_raw == "task:7"


def test_old_and_new_spelling_of_messages_and_the_answer_to_a_request(built):
    story = Story()
    story.create("t")
    story.mate("dev", "t")
    story.done("SendMessage", {"success": True}, type="message", recipient="dev", content="old", summary="s")
    story.done("SendMessage", {"success": True}, to="dev", message="new", summary="s")
    asked = story.done(
        "SendMessage",
        {"success": True, "request_id": "r1"},
        to="dev",
        message={"type": "shutdown_request", "reason": "end"},
    )
    story.prompt("wait")
    story.hear(
        (
            "dev",
            {
                "type": "shutdown_approved",
                "requestId": "r1",
                "from": "dev",
                "timestamp": "2026-02-01T10:00:05.000Z",
            },
        )
    )
    team = built(story)
    said = [(e.type, e.content) for e in team.interaction_list if e.subtype == "message"]
    assert said == [("message", "old"), ("message", "new")]
    request = next(e for e in team.interaction_list if e.tool_call_id == asked)
    assert (request.type, request.subtype, request.content) == ("signal", "shutdown_request", "end")
    assert request.latency_ms == 3000  # lines are a second apart: call, result, prompt, approval


def test_task_board(built):
    story = Story()
    story.create("t")
    story.mate("dev", "t")
    story.done("TaskCreate", {"task": {"id": "1", "subject": "s"}}, subject="s", description="d")
    story.done("TaskUpdate", {"success": True, "taskId": "1"}, taskId="1", owner="dev", status="in_progress")
    story.done("TaskUpdate", {"success": True, "taskId": "1"}, taskId="1", status="completed")
    team = built(story)
    assert edges(team)[2:] == [
        ("task_create", "team-lead", "*", True),
        ("task_owner", "team-lead", "dev", True),
        ("task_update", "team-lead", "*", True),
    ]
    assert [e.type for e in team.interaction_list[2:]] == ["signal", "delegation", "signal"]
    owner = team.interaction_list[3]
    assert owner.channel == "task_board" and owner.latency_ms == 2000


def test_a_list_of_things_to_do_is_no_team(tmp_path):
    story = Story()
    story.prompt("do it")
    story.done("TaskCreate", {"task": {"id": "1", "subject": "s"}}, subject="s", description="d")
    story.reply("ok", message_id="msg_end")
    session = sessions_of(tmp_path, story)[0]
    assert interaction_rows(session) == [] and member_rows(session) == []
    assert [m.agent_id for m in from_session(session).member_list] == ["main"]


def test_a_mate_whose_spawn_is_elsewhere_is_a_member(built):
    story = Story()
    story.hear(("scout", "found the file"), teamName="t")
    team = built(story)
    assert [(m.agent_id, m.team, m.spawn_call_id) for m in team.member_list] == [
        ("team-lead", "t", None),
        ("scout", "t", None),
    ]


def test_a_request_for_approval_is_an_escalation(built):
    story = Story()
    story.create("t")
    story.mate("dev", "t")
    story.hear(("dev", {"type": "plan_approval_request", "requestId": "p1", "from": "dev"}))
    assert built(story).interaction_list[-1].type == "escalation"


def test_hostile_text_stays_text(built):
    story = Story()
    story.create("t")
    story.mate("../../x", "t")
    story.hear(("../../x", '{"type": ["idle_notification"], "from": 3}'), ("../../x", "{" * 2000))
    team = built(story)
    said = [e for e in team.interaction_list if e.evidence == "teammate_message"]
    assert [(e.subtype, e.from_agent) for e in said] == [("incoming_text", "../../x")] * 2


def test_lines_copied_from_another_session_are_its_edges_alone(tmp_path):
    story = Story()
    story.prompt("find the bug")
    sync(story, "a111")
    fork = Story("99999999-2222-4333-8444-555555555555")
    for line in story.lines:
        fork.lines.append({**line, "sessionId": fork.session_id})
    fork.prompt("and now this")
    first, second = sessions_of(tmp_path, story, fork)
    assert len(interaction_rows(first)) == 2
    assert interaction_rows(second) == []


def test_what_is_no_session_is_told():
    with pytest.raises(QueryError, match="takes a Session"):
        from_session("session-id")
