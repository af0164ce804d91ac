"""The edges of the sample bank against the books of the script that made it (`data/shop.truth.json`)."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from sessionbank.team import from_session, from_sessions, interaction_rows, member_rows
from tests.makers.banks import opened

SPAWNS = ("subagent", "background", "teammate")


@pytest.fixture(scope="module")
def bank(root, tmp_path_factory):
    with opened(root / "data" / "shop.bundle", tmp_path_factory.mktemp("shop")) as found:
        yield found


@pytest.fixture(scope="module")
def truth(root):
    return json.loads((root / "data" / "shop.truth.json").read_text())["sessions"]


def test_every_booked_edge_is_found_once_and_no_other(bank, truth):
    booked = 0
    for session in bank.discover():
        want = truth[session.session_id].get("edges", [])
        own = "team-lead" if any(e["from"] == "team-lead" for e in want) else "main"

        def name(agent, own=own):  # the books call a lead "main" before it has made its team; it is one agent
            return own if agent == "main" else agent

        found = Counter(
            (
                "spawn" if e.subtype in SPAWNS else e.subtype, e.from_raw or e.from_agent, e.to_raw or e.to_agent, e.ok,
                e.tool_call_id, e.message_uuid,
            )
            for e in interaction_rows(session)
        )  # fmt: skip
        expected = Counter(
            (e["kind"], name(e["from"]), name(e["to"]), e["ok"], e["tool_use_id"], e["uuid"]) for e in want
        )
        assert found == expected, truth[session.session_id]["key"]
        booked += len(want)
    assert booked == 103


def test_sessions_without_others_give_no_rows(bank, truth):
    for session in bank.discover():
        has_others = bool(truth[session.session_id].get("edges"))
        assert bool(member_rows(session)) is has_others
        team = from_session(session)
        assert (len(team.member_list) > 1) is has_others


def test_teams_of_the_bank_are_those_with_edges(bank, truth):
    teams = from_sessions(bank, is_loose=False)
    assert sorted(sid for t in teams for sid in t.session_ids) == sorted(
        s for s, v in truth.items() if v.get("edges")
    )


def test_what_is_built_twice_is_the_same(bank):
    session = bank.get_by_session_id("a142e90f-dc3c-4235-9245-17989366bd6c")
    assert from_session(session) == from_session(session)
    frames = from_session(session)
    assert len(frames.interactions()) == 67
    assert frames.interactions()["interaction_id"].is_unique


def test_an_edge_leads_to_its_steps(bank):
    """Spawns, messages and board edges leave a step of the lead; a subagent's edges touch two steps each."""
    team = from_session(bank.get_by_session_id("a142e90f-dc3c-4235-9245-17989366bd6c"))
    calls = {s.tool_call_id: s for s in team.step_lists["team-lead"] if s.tool_call_id}
    for edge in team.interaction_list:
        if edge.from_agent == "team-lead":
            assert edge.interaction_id in calls[edge.tool_call_id].interaction_ids
            assert calls[edge.tool_call_id].seq == edge.from_step
    sub = next(m.agent_id for m in team.member_list if m.agent_type == "Explore")
    first, last = team.step_lists[sub][0], team.step_lists[sub][-1]
    spawn = next(e for e in team.interaction_list if e.to_agent == sub)
    back = next(e for e in team.interaction_list if e.from_agent == sub)
    assert spawn.interaction_id in first.interaction_ids
    assert back.interaction_id in last.interaction_ids
    assert {spawn.interaction_id, back.interaction_id} <= set(calls[spawn.tool_call_id].interaction_ids)
