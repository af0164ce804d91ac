"""The graph of networkx, edges by type, and validation: each fault planted in a sound run, and told from clocks."""

from __future__ import annotations

import copy
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import networkx as nx
import pytest

from sessionbank.team import edges_by_type, from_input, to_networkx, validate
from sessionbank.team.model import Interaction, Member, Team

T0 = datetime(2026, 5, 1, 9, tzinfo=UTC)


def at(seconds):
    return (T0 + timedelta(seconds=seconds)).isoformat()


@pytest.fixture
def wave(root):
    return from_input(root / "data" / "team-runs" / "wave.json")


def test_nodes_and_edges(wave):
    graph = to_networkx(wave)
    assert isinstance(graph, nx.MultiDiGraph)
    assert list(graph) == ["orchestrator", "scout-1", "scout-2", "executor-1", "executor-2"]
    assert graph.number_of_edges() == 8
    assert graph.nodes["scout-1"]["tokens"] == 400 and graph.nodes["orchestrator"]["is_lead"]
    assert graph.edges["executor-1", "orchestrator", "w7"]["latency_ms"] == 300_000
    assert dict(graph.out_degree()) == {
        "orchestrator": 4,
        "scout-1": 1,
        "scout-2": 1,
        "executor-1": 1,
        "executor-2": 1,
    }


def test_collapsed(wave):
    twice = replace(
        wave,
        interaction_list=(
            *wave.interaction_list,
            replace(wave.interaction_list[0], interaction_id="again", type="message"),
        ),
    )
    graph = to_networkx(twice, collapse=True)
    assert not graph.is_multigraph() and graph.number_of_edges() == 8
    assert graph.edges["orchestrator", "scout-1"] == {"weight": 2, "types": {"delegation": 1, "message": 1}}


def test_who_is_no_member_is_marked(wave):
    more = (Interaction("b", None, None, "message", None, "scout-1", None, None, "*", None, None, "all"),
            Interaction("g", None, None, "signal", None, "system", None, None, "ghost", None, None, "boo"))  # fmt: skip
    graph = to_networkx(replace(wave, interaction_list=(*wave.interaction_list, *more)))
    assert {n: graph.nodes[n]["kind"] for n in ("scout-1", "*", "system", "ghost")} == {
        "scout-1": "agent", "*": "everyone", "system": "system", "ghost": "absent",
    }  # fmt: skip


def test_by_type(wave):
    frame = edges_by_type(wave)
    rows = [(r.type, r.edges, r.median_latency_ms) for r in frame.itertuples()]
    # signals 60, 60, 300, 60 s; delegations 60, 60; results 60, 0
    assert rows == [("signal", 4, 60_000), ("delegation", 2, 60_000), ("result_return", 2, 30_000)]
    assert len(edges_by_type(Team("empty"))) == 0


# -- faults --------------------------------------------------------------------------------------------------------


def codes(team):
    return [(p.severity, p.code) for p in validate(team)]


def test_a_sound_run_has_no_faults(wave):
    assert validate(wave) == ()


def test_dangling_edges_and_strangers(wave):
    lost = replace(wave, member_list=tuple(m for m in wave.member_list if m.agent_id != "scout-2"))
    assert codes(lost) == [
        ("error", "dangling_edge"),
        ("error", "dangling_edge"),
        ("error", "step_of_stranger"),
    ]


def test_edges_to_everyone_and_from_the_system_hang_on_nothing(wave):
    more = (Interaction("b", "s", None, "message", None, "scout-1", None, None, "*", None, None, "all"),
            Interaction("g", "s", None, "signal", None, "system", None, None, "scout-1", None, None, ""))  # fmt: skip
    assert validate(replace(wave, interaction_list=(*wave.interaction_list, *more))) == ()


def test_ids_that_do_not_match(wave):
    first = wave.interaction_list[0]
    assert ("error", "duplicate_interaction") in codes(
        replace(wave, interaction_list=(*wave.interaction_list, first))
    )
    gone = replace(wave, interaction_list=wave.interaction_list[1:])
    assert codes(gone) == [("error", "unknown_interaction")] * 2
    loose = replace(
        wave,
        step_lists={
            **wave.step_lists,
            "scout-1": tuple(replace(s, interaction_ids=()) for s in wave.step_lists["scout-1"]),
        },
    )
    assert codes(loose) == [("warning", "unlinked_target"), ("warning", "unlinked_source")]


def test_time_in_a_member(wave):
    steps = wave.step_lists["executor-2"]
    turned = replace(
        wave,
        step_lists={
            **wave.step_lists,
            "executor-2": (replace(steps[0], started_at=steps[1].ended_at, ended_at=None), steps[1]),
        },
    )
    assert ("warning", "step_time_backwards") in codes(turned)
    ends = replace(
        wave,
        step_lists={
            **wave.step_lists,
            "executor-2": (replace(steps[0], ended_at=steps[0].started_at - timedelta(seconds=1)), steps[1]),
        },
    )
    assert ("error", "step_ends_before_start") in codes(ends)


def exchange(forth, back, behind=0.0):
    """Two agents; messages that take `forth` and `back` seconds each, b's clock `behind` seconds behind a's."""
    a, b, now = [], [], 0.0
    tags = ("interaction_id", "interaction_type", "counterpart", "step_role")
    for n, seconds in enumerate(forth):
        a.append((now, [dict(zip(tags, (f"f{n}", "message", "b", "source"), strict=True))]))
        b.append(
            (now + seconds - behind, [dict(zip(tags, (f"f{n}", "message", "a", "target"), strict=True))])
        )
        now += 1000
    for n, seconds in enumerate(back):
        b.append((now - behind, [dict(zip(tags, (f"b{n}", "message", "a", "source"), strict=True))]))
        a.append((now + seconds, [dict(zip(tags, (f"b{n}", "message", "b", "target"), strict=True))]))
        now += 1000
    members = [
        {"agent_id": who, "role": who, "steps": [{"started_at": at(t), "interactions": i} for t, i in steps]}
        for who, steps in (("a", a), ("b", b))
    ]
    return from_input({"objective": "o", "members": members})


def test_clocks_that_agree():
    assert validate(exchange([1, 2, 3], [1, 1])) == ()


def test_one_constant_offset_is_a_clock_and_no_fault():
    team = exchange([1, 2, 3], [1, 1], behind=60)
    assert codes(team) == [("info", "clock_offset")]
    # forth: 1 - 60 .. 3 - 60, so b is at least 59 s behind; back: 1 + 60, so at most 61
    assert "59000 to 61000 ms" in validate(team)[0].message
    assert codes(exchange([1, 2, 3], [1, 1], behind=-60)) == [("info", "clock_offset")]


def test_one_way_only_needs_a_steady_offset():
    assert codes(exchange([1, 2, 1.5], [], behind=60)) == [("info", "clock_offset")]
    assert codes(exchange([-5, -400, -90], [])) == [("error", "time_backwards")] * 3


def test_one_early_edge_among_others_is_a_fault():
    team = exchange([1, -30, 2], [1, 1])
    assert codes(team) == [("error", "time_backwards")]
    assert "f1" in validate(team)[0].message and "30000 ms" in validate(team)[0].message


def test_early_both_ways_is_no_clock():
    assert codes(exchange([-20, -20], [-20, -20])) == [("error", "time_backwards")] * 4


def test_a_fault_beside_a_clock_is_not_hidden_by_it():
    """b is 60 s behind, and one answer arrives 200 s early: no offset explains both."""
    found = codes(exchange([1, 2, 3], [1, -200], behind=60))
    assert ("error", "time_backwards") in found and ("info", "clock_offset") not in found


def test_a_spawn_that_failed_names_nobody():
    spawn = Interaction(
        "s", "x", None, "spawn", "subagent", "main", None, 1, "dev", None, None, None, ok=False
    )
    team = Team("t", member_list=(Member(None, "main"),), interaction_list=(spawn,))
    assert codes(team) == [("info", "never_started")]
    assert codes(replace(team, interaction_list=(replace(spawn, ok=True),))) == [("error", "dangling_edge")]


def test_enforcement(wave):
    emergent = replace(
        wave,
        interaction_list=tuple(replace(i, was_expected=i.type != "signal") for i in wave.interaction_list),
    )
    assert codes(replace(emergent, enforcement="strict")) == [("error", "undeclared_interaction")] * 4
    assert codes(replace(emergent, enforcement="audit")) == [("warning", "undeclared_interaction")] * 4
    assert codes(replace(emergent, enforcement="permissive")) == []


def test_validation_changes_nothing_and_is_the_same_twice(wave):
    before = copy.deepcopy(wave)
    assert validate(wave) == validate(wave)
    assert wave == before
