"""Every figure and every edge of the real teams, from `from_session`. How their kinds map to ours is said here.

| theirs | ours: type / subtype |
|---|---|
| spawn | spawn / subagent, background or teammate |
| result | result_return / result |
| message, broadcast | message / message, broadcast |
| incoming_text | message / incoming_text |
| peer | message / peer, inferred |
| idle, shutdown_request, shutdown_response, shutdown_approved | signal / the same |
| teammate_terminated | signal / the same, from the system |
| team_create, team_delete, task_create, task_update | signal / the same, to everyone |
| task_owner | delegation / task_owner |

Their `from` and `to` are names as written, or the session's own agent, or an agent id: ours are `from_raw` and
`to_raw`, else the resolved agent. `seq` is the rank by time, so the order of the lists is compared too.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime

import pytest

from sessionbank.team import from_session, interaction_rows, member_rows, validate
from sessionbank.team.claude_teams import incoming
from sessionbank.team.events import Scene
from tests.makers.banks import opened

pytestmark = pytest.mark.shared
SPAWNS = ("subagent", "background", "teammate")
TYPES = {
    "spawn": "spawn", "result": "result_return", "message": "message", "broadcast": "message",
    "incoming_text": "message", "peer": "message", "idle": "signal", "shutdown_request": "signal",
    "shutdown_response": "signal", "shutdown_approved": "signal", "teammate_terminated": "signal",
    "team_create": "signal", "team_delete": "signal", "task_create": "signal", "task_update": "signal",
    "task_owner": "delegation",
}  # fmt: skip


@pytest.fixture(scope="module")
def truth(shared):
    return json.loads((shared / "data" / "teams.edges.json").read_text())


@pytest.fixture(scope="module")
def sessions(shared, tmp_path_factory):
    with opened(shared / "data" / "teams.bundle", tmp_path_factory.mktemp("teams")) as bank:
        yield {s.session_id: s for s in bank.discover()}


@pytest.fixture(scope="module")
def teams(sessions):
    return {sid: from_session(s) for sid, s in sessions.items()}


def kind(edge):
    return "spawn" if edge.subtype in SPAWNS else edge.subtype


def without(value: dict) -> dict:
    return {k: v for k, v in value.items() if v not in (0, {}, [])}


def test_every_edge_is_there_once_in_order(teams, truth):
    compared = 0
    for sid, expected in truth["edge_lists"].items():
        found = teams[sid].interaction_list
        assert len(found) == len(expected)
        for edge, want in zip(found, expected, strict=True):
            assert kind(edge) == want["kind"]
            assert edge.type == TYPES[want["kind"]]
            got = (edge.ok, edge.tool_call_id, edge.message_uuid, edge.timestamp)
            when = datetime.fromisoformat(want["timestamp"])
            assert got == (want["ok"], want["tool_use_id"], want["uuid"], when)
            assert (edge.from_raw or edge.from_agent) == want["from"]
            # "*" is how we write that an edge reaches the whole team; theirs is null where no name is written
            assert (edge.to_raw or (None if want["to"] is None else edge.to_agent)) == want["to"]
            if want["team"] is not None:
                assert edge.team == want["team"]
            if "spawned_team" in want:
                assert edge.team == want["spawned_team"]
            compared += 1
        assert len({e.interaction_id for e in found}) == len(found)
    assert compared == sum(map(len, truth["edge_lists"].values())) == 385


def test_edge_counts_of_every_session(teams, truth):
    total = Counter()
    for sid, figures in truth["sessions"].items():
        counts = Counter(map(kind, teams[sid].interaction_list))
        assert counts == figures["edges"]["kind"], sid
        assert sum(counts.values()) == figures["edges"]["all"]
        total += counts
    assert total == truth["totals"]["edges"]["kind"]
    others = [sid for sid in teams if sid not in truth["sessions"]]
    assert all(not teams[sid].interaction_list for sid in others)


def test_self_teams_and_teammates(sessions, truth):
    for sid, figures in truth["sessions"].items():
        scene = Scene(sessions[sid])
        assert scene.self_id == figures["self"]
        assert sorted(scene.team_names) == figures["team_names"]
        team = from_session(sessions[sid])
        mates = sorted(
            f"{m.role}@{m.team}"
            for m in team.member_list
            if m.team and not m.is_lead and "@" not in (m.role or "") and is_mate(team, m)
        )
        assert mates == figures["teammates"]


def is_mate(team, member):
    return any(
        e.subtype == "teammate" and e.ok and e.to_agent == member.agent_id for e in team.interaction_list
    )


def test_spawn_figures(sessions, teams, truth):
    totals = truth["totals"]["spawns"]
    spawns = [e for t in teams.values() for e in t.interaction_list if e.type == "spawn"]
    assert len(spawns) == totals["calls"]
    outcome = Counter(
        "error" if not e.ok else "teammate_spawned" if e.subtype == "teammate" else "completed"
        for e in spawns
    )
    assert outcome == totals["outcome"]
    results = [e for t in teams.values() for e in t.interaction_list if e.type == "result_return"]
    assert len({e.from_agent for e in results}) == totals["distinct_agent_ids_in_results"]
    mates = {(e.session_id, e.team, e.to_agent) for e in spawns if e.subtype == "teammate" and e.ok}
    assert len(mates) == totals["distinct_teammates"]
    inline = Counter()
    types = Counter()
    for sid, session in sessions.items():
        scene = Scene(session)
        calls = {c.tool_call_id for c in scene.calls}
        agents = {m.agent_id: m.parent_tool_call_id for m in scene.messages if m.is_subagent}
        inline["agent_ids"] += len(agents)
        # every subagent inside progress lines is linked to the call that started it by parentToolUseID
        inline["linked"] += sum(call in calls for call in agents.values())
        inline["members"] += sum(teams[sid].member(a).spawn_call_id == call for a, call in agents.items())
        types += Counter(scene.input(c).get("subagent_type") or "None" for c in scene.spawns)
    assert (
        inline["agent_ids"] == inline["linked"] == inline["members"] == truth["totals"]["inline"]["agent_ids"]
    )
    assert types == totals["by_subagent_type"]


def test_incoming_figures(sessions, truth):
    for sid, figures in truth["sessions"].items():
        want = figures.get("incoming")
        said = incoming(Scene(sessions[sid]))
        if want is None:
            assert not said
            continue
        kinds = Counter("text" if s.data is None else s.data["type"] for s in said)
        per_record = Counter(s.message.uuid for s in said)
        idle = Counter(
            f"idle_{'with' if s.data.get('summary') else 'without'}_summary"
            for s in said
            if s.data and s.data["type"] == "idle_notification"
        )
        texts = Counter(f"text_{'with' if s.summary else 'without'}_summary" for s in said if s.data is None)
        found = {
            "blocks": len(said), "kind": dict(kinds), "records": len(per_record),
            "records_with_several_blocks": sum(n > 1 for n in per_record.values()),
            "teammate_id": dict(Counter(s.sender for s in said)), **idle, **texts,
        }  # fmt: skip
        assert without(found) == without(want)


def test_peer_edges_and_self_loops(teams, truth):
    peers = [e for t in teams.values() for e in t.interaction_list if e.subtype == "peer"]
    pairs = Counter(f"{e.from_raw} > {e.to_raw}" for e in peers)
    assert pairs == truth["totals"]["peer"]["pairs"]
    assert sum(e.is_self for e in peers) == truth["totals"]["peer"]["self_loops"]
    assert all(e.is_inferred and e.evidence == "idle_summary" for e in peers)
    aliased = [e for e in peers if e.to_raw == "orchestrator"]
    assert aliased and all(e.to_agent == "team-lead" for e in aliased)
    flagged = [p for t in teams.values() for p in t.problems if p.code == "self_interaction"]
    assert len(flagged) == truth["totals"]["peer"]["self_loops"]


def test_send_figures(teams, truth):
    totals = truth["totals"]["send"]
    kinds = ("message", "broadcast", "shutdown_request", "shutdown_response")
    sent = [
        e
        for t in teams.values()
        for e in t.interaction_list
        if e.subtype in kinds and e.evidence == "tool_result"
    ]
    assert len(sent) == totals["calls"]
    assert Counter(e.to_raw for e in sent) == totals["target"]
    found: dict = {}
    for edge in sent:
        by = found.setdefault(edge.subtype, Counter())
        by["ok" if edge.ok else "error"] += 1
    assert {k: dict(v) for k, v in found.items()} == totals["kind"]


def test_task_board_and_life_of_teams(teams, truth):
    edges = [e for t in teams.values() for e in t.interaction_list]
    tasks, life = truth["totals"]["tasks"], truth["totals"]["teams"]
    by = Counter((e.subtype, "ok" if e.ok else "error") for e in edges)
    assert {k: by["task_create", k] for k in tasks["create"]} == tasks["create"]
    updates = {k: by["task_update", k] + by["task_owner", k] for k in ("ok", "error")}
    assert updates == tasks["update"]
    assert by["task_owner", "ok"] == tasks["owner_changed"]
    board = [
        e for e in edges if e.subtype in ("task_update", "task_owner") and e.signal in tasks["status_asked"]
    ]
    assert Counter(e.signal for e in board) == tasks["status_asked"]
    assert {k: by["team_create", k] for k in life["create"]} == life["create"]
    assert {k: by["team_delete", k] for k in life["delete"]} == life["delete"]


def test_graphs_of_real_teams_have_no_errors(teams):
    found = [(p.code, p.message) for t in teams.values() for p in validate(t) if p.severity == "error"]
    assert found == []


def test_rows_of_the_tables_are_those_of_the_team(sessions, teams):
    for sid, session in sessions.items():
        assert tuple(interaction_rows(session)) == teams[sid].interaction_list
        assert [m.agent_id for m in member_rows(session)] in (
            [],
            [m.agent_id for m in teams[sid].member_list],
        )


def test_go_cli_every_spawn_and_every_answer_once(shared, tmp_path):
    """55 Task calls (go-cli.expected.json); 44 synchronous answers and 4 notifications, counted in the transcripts."""
    expected = json.loads((shared / "data" / "go-cli.expected.json").read_text())
    with opened(shared / "data" / "go-cli.bundle", tmp_path) as bank:
        built = [from_session(s) for s in bank.discover()]
        calls = bank.tool_calls()
        messages = bank.messages()
    edges = [e for t in built for e in t.interaction_list]
    spawns = [e for e in edges if e.type == "spawn"]
    assert len(spawns) == len({(e.session_id, e.tool_call_id) for e in spawns}) == expected["spawns"] == 55
    task = calls[calls["tool_name"] == "Task"]
    assert {e.tool_call_id for e in spawns} == set(task["tool_call_id"])
    background = task["input"].str.contains('"run_in_background":true', regex=False)
    answered = set(task.loc[~background & (task["status"] == "ok"), "tool_call_id"])
    results = [e for e in edges if e.type == "result_return"]
    assert {e.tool_call_id for e in results if e.evidence == "tool_result"} == answered
    noted = messages[
        (messages["kind"] == "notification") & messages["text"].str.contains('<summary>Agent "', regex=False)
    ]
    assert sorted(e.message_uuid for e in results if e.evidence == "task_notification") == sorted(
        noted["uuid"]
    )
    assert len(results) == len(answered) + len(noted) == 48
    linked = messages[messages["is_subagent"].astype(bool)].groupby("agent_id")["parent_tool_call_id"].first()
    assert len(linked) == 51 and set(linked) <= {e.tool_call_id for e in spawns}
    assert all(
        any(e.tool_call_id == call and e.to_agent == agent for e in spawns) for agent, call in linked.items()
    )
    assert [p for t in built for p in validate(t) if p.severity == "error"] == []
