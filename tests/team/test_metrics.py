"""Metrics of teams made by hand, one of each topology, against sums done on paper (written beside them)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from sessionbank.team.activity import member_time
from sessionbank.team.critical_path import critical_path
from sessionbank.team.metrics import handover_matrix, metrics
from sessionbank.team.model import Interaction, Member, Team, TeamStep
from tests.team.generated import FAULTS, generate, large

ZERO = datetime(2026, 1, 5, 12, tzinfo=UTC)
S = 1000  # milliseconds


def team(lanes: dict[str, list[tuple]], edges: list[tuple]) -> Team:
    """Steps as (begin, end, ids) in seconds, edges as (id, type, from, to, second sent)."""
    steps = {
        agent: tuple(
            TeamStep(
                None,
                agent,
                k,
                f"{agent}{k}",
                action_name="Bash",
                status="ok",
                interaction_ids=tuple(ids),
                started_at=ZERO + timedelta(seconds=b),
                ended_at=ZERO + timedelta(seconds=e),
                tokens=10,
                seq=k,
            )
            for k, (b, e, *ids) in enumerate(mine)
        )
        for agent, mine in lanes.items()
    }
    made = tuple(
        Interaction(
            i, None, None, t, None, a, None, None, b, None, 0, "x" * 8, timestamp=ZERO + timedelta(seconds=s)
        )
        for i, t, a, b, s in edges
    )
    return Team(
        "hand", member_list=tuple(Member(None, a) for a in lanes), interaction_list=made, step_lists=steps
    )


@pytest.fixture
def hierarchical() -> Team:
    """A lead gives work to two, hears from A at 40 s and from B at 60 s."""
    return team(
        {
            "L": [(0, 10), (10, 11, "d1"), (11, 12, "d2"), (40, 41, "r1"), (60, 62, "r2")],
            "A": [(11, 13, "d1"), (13, 39), (39, 40, "r1")],
            "B": [(12, 14, "d2"), (14, 59), (59, 60, "r2")],
        },
        [
            ("d1", "delegation", "L", "A", 11),
            ("d2", "delegation", "L", "B", 12),
            ("r1", "result_return", "A", "L", 40),
            ("r2", "result_return", "B", "L", 60),
        ],
    )


def test_hierarchical(hierarchical: Team) -> None:
    m = metrics(hierarchical)
    g = m.graph
    members = m.members.set_index("agent_id")
    # 5 + 3 + 3 steps, 4 edges
    assert (g["team_size"], g["total_steps"], g["total_interactions"]) == (3, 11, 4)
    assert g["interaction_density"] == 4 / 11
    assert g["max_in_degree"] == {"agent_id": "L", "count": 2} == g["max_out_degree"]
    # L waits 12..40 for A and 41..60 for B: 28 + 19; works 0..12, 40..41, 60..62
    assert members.loc["L", ["span_ms", "work_ms", "waiting_ms", "idle_ms"]].tolist() == [
        62 * S,
        15 * S,
        47 * S,
        0,
    ]
    assert members.loc["A", ["span_ms", "work_ms"]].tolist() == [29 * S, 29 * S]
    assert members.loc["B", ["span_ms", "work_ms"]].tolist() == [48 * S, 48 * S]
    assert members["waited_for_ms"].to_dict() == {"L": 0, "A": 28 * S, "B": 19 * S}
    # two at work: L and A 11..12, A and B 12..40, B and L 40..41; someone all the 62 s
    assert g["parallelism_ratio"] == pytest.approx(30 / 62)
    assert g["mean_active_members"] == pytest.approx((15 + 29 + 48) / 62)
    # L 12 s, B 48 s, L 2 s; by A it would be 11 + 29 + 1 + 2
    assert g["critical_path_ms"] == 62 * S
    assert g["critical_path_share"] == 1.0
    path = [tuple(r) for r in m.critical_path[["agent_id", "step", "work_ms", "via"]].itertuples(index=False)]
    assert path == [
        ("L", 0, 10 * S, "start"),
        ("L", 1, S, "own"),
        ("L", 2, S, "own"),
        ("B", 0, 2 * S, "interaction"),
        ("B", 1, 45 * S, "own"),
        ("B", 2, S, "own"),
        ("L", 4, 2 * S, "interaction"),
    ]
    assert g["reciprocity"] == 1.0
    assert g["total_wall_time_seconds"] == 62.0
    assert g["total_tokens"] == 110
    assert g["total_cost_usd"] is None
    assert g["coordination_overhead"] == 8 / 11
    assert g["waiting_share"] == pytest.approx(47 / (62 + 29 + 48))
    assert m.interactions.set_index("interaction_id")["queue_ms"].to_dict() == {
        "d1": 0,
        "d2": 0,
        "r1": 0,
        "r2": 0,
    }
    # d1 was received at 11 and answered at 40
    assert m.interactions.set_index("interaction_id").loc["d1", "work_ms"] == 29 * S
    assert m.interactions["content_tokens"].tolist() == [2, 2, 2, 2]  # 8 characters


def test_flat() -> None:
    # three peers, each at work 0..10 and 10..20; messages at second 10 in a ring, and A to C beside it
    flat = team(
        {
            "A": [(0, 10, "ab", "ac"), (10, 20, "ca")],
            "B": [(0, 10, "bc"), (10, 20, "ab")],
            "C": [(0, 10, "ca"), (10, 20, "bc", "ac")],
        },
        [
            ("ab", "message", "A", "B", 10),
            ("bc", "message", "B", "C", 10),
            ("ca", "message", "C", "A", 10),
            ("ac", "message", "A", "C", 10),
        ],
    )
    g = metrics(flat).graph
    assert g["interaction_density"] == 4 / 6
    assert g["max_in_degree"] == {"agent_id": "C", "count": 2}
    assert g["max_out_degree"] == {"agent_id": "A", "count": 2}
    assert g["parallelism_ratio"] == 1.0
    assert g["mean_active_members"] == 3.0
    assert g["critical_path_ms"] == 20 * S
    assert g["reciprocity"] == 2 / 4  # of AB, BC, CA, AC only A and C write both ways
    assert g["waiting_share"] == 0.0
    assert handover_matrix(flat).to_dict("index") == {
        "A": {"A": 0, "B": 1, "C": 1},
        "B": {"A": 0, "B": 0, "C": 1},
        "C": {"A": 1, "B": 0, "C": 0},
    }


def test_wave() -> None:
    # first wave: A 0..10, B 0..20; both signal C, which works 20..50
    wave = team(
        {"A": [(0, 10, "a")], "B": [(0, 20, "b")], "C": [(20, 50, "a", "b")]},
        [("a", "signal", "A", "C", 10), ("b", "signal", "B", "C", 20)],
    )
    m = metrics(wave)
    assert m.graph["interaction_density"] == 2 / 3
    assert m.graph["max_in_degree"] == {"agent_id": "C", "count": 2}
    assert m.graph["parallelism_ratio"] == 10 / 50
    assert m.graph["mean_active_members"] == (10 + 20 + 30) / 50
    assert m.graph["critical_path_ms"] == (20 + 30) * S
    assert m.graph["reciprocity"] == 0.0
    assert m.interactions.set_index("interaction_id")["queue_ms"].to_dict() == {"a": 10 * S, "b": 0}


def test_custom_blocking_call_and_idling() -> None:
    # the lead's one call starts S and holds its answer: 100 s of waiting; 301 s later it works for 10 s
    custom = team(
        {"L": [(0, 100, "go", "back"), (401, 411)], "S": [(5, 45, "go"), (45, 95, "back")]},
        [("go", "spawn", "L", "S", 0), ("back", "result_return", "S", "L", 95)],
    )
    m = metrics(custom)
    members = m.members.set_index("agent_id")
    assert members.loc["L", ["work_ms", "waiting_ms", "idle_ms"]].tolist() == [10 * S, 100 * S, 301 * S]
    assert members.loc["S", ["work_ms", "waiting_ms", "idle_ms"]].tolist() == [90 * S, 0, 0]
    assert m.graph["critical_path_ms"] == (90 + 10) * S
    assert m.critical_path["agent_id"].tolist() == ["L", "S", "S", "L", "L"]
    assert m.graph["parallelism_ratio"] == 0.0
    # with a longer silence allowed the 301 s are thinking
    longer = metrics(custom, idle_gap_s=600).members.set_index("agent_id")
    assert longer.loc["L", ["work_ms", "idle_ms"]].tolist() == [311 * S, 0]


def test_hub_is_a_bottleneck() -> None:
    # a star of four around H: every way between two others leads over H, and half of all 8 edges reach it
    edges = [(f"{a}{k}", "message", *pair, k) for a in "PQRS" for k, pair in enumerate([(a, "H"), ("H", a)])]
    star = team({a: [(0, 1)] for a in "HPQRS"}, edges)
    found = metrics(star).bottlenecks
    assert found["agent_id"].tolist() == ["H"]
    assert found["betweenness"].tolist() == [1.0]
    assert found["inbound_share"].tolist() == [0.5]
    assert "50% of all edges reach it" in found["bottleneck_reason"].iloc[0]


def test_unknown_is_missing_not_zero() -> None:
    silent = Team(
        "t",
        member_list=(Member(None, "lead", steps=None), Member(None, "mate")),
        interaction_list=(
            Interaction("i", None, None, "message", None, "lead", None, None, "mate", None, None, None),
        ),
    )
    m = metrics(silent)
    assert (
        m.members[["steps", "tool_calls", "tokens", "errors", "work_ms", "waiting_ms"]].isna().all(axis=None)
    )
    assert m.interactions[["latency_ms", "queue_ms", "content_chars", "ok"]].isna().all(axis=None)
    for name in (
        "interaction_density",
        "parallelism_ratio",
        "critical_path_ms",
        "total_tokens",
        "total_wall_time_seconds",
    ):
        assert m.graph[name] is None, name
    assert json.loads(json.dumps(m.to_dict()))["total_interactions"] == 1


def test_empty_team() -> None:
    m = metrics(Team("nobody"))
    assert (len(m.members), len(m.interactions), len(m.handover), len(m.critical_path)) == (0, 0, 0, 0)
    assert m.graph["team_size"] == 0
    assert m.types().empty


def test_self_edges_count_in_the_matrix_and_nowhere_else() -> None:
    loop = team({"A": [(0, 1, "s"), (1, 2, "s")]}, [("s", "message", "A", "A", 1)])
    m = metrics(loop)
    assert m.handover.loc["A", "A"] == 1
    assert m.members[["sent", "received"]].iloc[0].tolist() == [0, 0]
    assert m.graph["self_interactions"] == 1
    assert m.graph["reciprocity"] is None


def test_edges_that_run_back_in_time_do_not_hang_the_path() -> None:
    back = team(
        {"A": [(0, 1, "x"), (2, 3, "y")], "B": [(0, 1, "y"), (2, 3, "x")]},
        [("x", "message", "A", "B", 1), ("y", "message", "A", "B", 3)],
    )
    assert critical_path(back)["work_ms"].sum() == 3 * S  # 1 s, the gap of 1 s, 1 s


@pytest.mark.parametrize("fault", [None, *FAULTS])
def test_invariants_of_generated_teams(fault: str | None) -> None:
    run, _ = generate(7, fault=fault)
    m = metrics(run)
    members = m.members
    assert m.handover.to_numpy().sum() == len(run.interaction_list) == len(m.interactions)
    assert (members["work_ms"] + members["waiting_ms"] + members["idle_ms"] == members["span_ms"]).all()
    assert members["steps"].sum() == m.graph["total_steps"]
    assert 0 <= m.graph["parallelism_ratio"] <= 1
    assert m.graph["critical_path_ms"] <= members["work_ms"].sum()
    assert m.graph["critical_path_ms"] >= members["work_ms"].max() - 1
    time = member_time(run)
    assert (
        time.groupby("agent_id")["ms"].sum().to_dict() == members.set_index("agent_id")["span_ms"].to_dict()
    )
    assert m.to_dict() == metrics(run).to_dict()


def test_two_hundred_members() -> None:
    run = large(members=200, steps=4000, interactions=1000)
    m = metrics(run)
    assert m.graph["team_size"] == 200
    assert m.handover.to_numpy().sum() == 1000
    assert m.members["betweenness"].between(0, 1).all()
