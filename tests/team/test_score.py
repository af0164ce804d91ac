"""Scores: parts worked out by hand on small teams, and what must hold on generated ones."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from sessionbank.errors import QueryError
from sessionbank.team.model import Interaction, Member, Team, TeamStep
from sessionbank.team.score import STEP_PARTS, ScoreConfig, score
from sessionbank.team.sensitivity import FACTORS, sensitivity
from tests.team.generated import FAULTS, generate, large

ZERO = datetime(2026, 1, 5, 12, tzinfo=UTC)
PARTS = ["downstream_success", "latency_penalty", "expected", "information_density"]


def step(
    agent: str,
    number: int,
    second: float,
    *ids: str,
    name: str = "Read",
    arguments: dict | None = None,
    seen: str = "",
    status: str = "ok",
) -> TeamStep:
    at = ZERO + timedelta(seconds=second)
    return TeamStep(
        None,
        agent,
        number,
        None,
        None,
        name,
        json.dumps(arguments or {}),
        seen,
        status,
        at,
        at,
        interaction_ids=ids,
        seq=number,
    )


def edge(key: str, kind: str, a: str, b: str, second: float, **more: object) -> Interaction:
    values = {"content": "", "to_step": 0, **more}
    return Interaction(
        key, None, None, kind, None, a, None, 0, b, None, timestamp=ZERO + timedelta(seconds=second), **values
    )


def team(steps: list[TeamStep], edges: list[Interaction]) -> Team:
    lists: dict[str, tuple[TeamStep, ...]] = {}
    for s in steps:
        lists[s.agent_id] = (*lists.get(s.agent_id, ()), s)
    return Team(
        "hand",
        member_list=tuple(Member(None, a) for a in lists),
        interaction_list=tuple(edges),
        step_lists=lists,
    )


def test_parts_and_totals_on_paper() -> None:
    """B gets a task with two identifiers, uses both, and one of its tests fails and stays so."""
    run = team(
        [
            step("A", 0, 0, "d", name="SendMessage"),
            step("B", 0, 5, "d"),
            step(
                "B", 1, 6, name="Edit", arguments={"file_path": "src/cart.py", "new_string": "merge_carts()"}
            ),
            step(
                "B", 2, 7, name="Bash", arguments={"command": "pytest tests"}, seen="1 failed", status="error"
            ),
            step("B", 3, 8, name="Read", arguments={"file_path": "b"}),
        ],
        [
            edge(
                "d",
                "delegation",
                "A",
                "B",
                0,
                content="Look at merge_carts in src/cart.py",
                was_expected=True,
            )
        ],
    )
    done = score(run)
    row = done.interactions.iloc[0]
    assert row["downstream_success"] == 1 / (1 + 1)  # one failure that stays
    assert row["latency_penalty"] == 0.0  # 5 s is the usual time
    assert row["expected"] == 1.0
    assert row["information_density"] == 2 / (2 + 2)
    # 1 - (1 - .8 * .5)(1 - .6 * 0)(1 - .35 * 0)(1 - .25 * .5)
    assert row["total"] == pytest.approx(1 - 0.6 * 0.875)
    # (.8 * .5 + .6 * 1 + .35 * 1 + .25 * .5) / (.8 + .6 + .35 + .25)
    assert row["quality"] == pytest.approx((0.4 + 0.6 + 0.35 + 0.125) / 2)
    assert not row["is_critical"]  # a quarter of one is none
    assert "1 of the receiver's next 4 steps failed" in row["reason"]
    steps = done.steps.set_index(["agent_id", "step"])
    # A has one step: |2 * .5 / 1 - 1| = 0; B's first of four: |2 * .5 / 4 - 1| = .75, half of it
    assert steps.loc[("A", 0), "promise"] == 0.0
    assert steps.loc[("B", 0), "promise"] == pytest.approx(0.375)
    assert steps["progress"].tolist() == [0.4, 0.2, 0.6, 1.0, 0.2]
    assert steps["interaction_bonus"].tolist() == pytest.approx([0.3 + 0.7 * row["total"]] * 2 + [0.0] * 3)
    # 1 - (1 - .3 * .125)(1 - .8 * 1)(1 - 0)
    assert steps.loc[("B", 2), "total"] == pytest.approx(1 - (1 - 0.3 * 0.125) * 0.2)
    assert done.critical_steps[["agent_id", "step"]].to_numpy().tolist() == [["B", 2]]
    assert "nothing mended it" in done.critical_steps["reason"].iloc[0]


def test_a_mended_failure_weighs_less_and_its_mending_is_seen() -> None:
    check = {"command": "pytest tests"}
    run = team(
        [
            step("B", 0, 0, name="Bash", arguments=check, status="error"),
            step("B", 1, 1, name="Bash", arguments=check, seen="5 passed"),
        ],
        [],
    )
    assert score(run).steps["progress"].tolist() == [0.7, 0.8]


def test_lost_failed_and_slow() -> None:
    edges = [edge(f"m{k}", "message", "A", "B", k, was_expected=None) for k in range(6)]
    edges[1] = edge("m1", "message", "A", "B", 1, to_step=None)  # no step of B shows it
    edges[2] = edge("m2", "message", "A", "B", 2, ok=False)
    steps = [step("A", 0, 0, *(f"m{k}" for k in range(6)), name="SendMessage")]
    # m0, m3 and m4 are read 5 s after they were sent, m5 160 s after: 32 times the usual
    steps += [
        step("B", n, second, key)
        for n, (key, second) in enumerate([("m0", 5), ("m3", 8), ("m4", 9), ("m5", 165)])
    ]
    rows = score(team(steps, edges)).interactions.set_index("interaction_id")
    assert rows.loc["m1", ["downstream_success", "latency_penalty"]].tolist() == [0.0, 1.0]
    assert "never received" in rows.loc["m1", "reason"]
    assert rows.loc["m2", "downstream_success"] == 0.0
    assert rows["latency_penalty"].loc[["m0", "m3", "m4", "m5"]].tolist() == [0.0, 0.0, 0.0, 1.0]
    assert rows["expected"].isna().all()  # no template: unknown, not unexpected
    assert rows.index[rows["is_critical"]].tolist() == ["m1"]  # a quarter of six is one


def test_unknown_receiver_is_missing() -> None:
    run = team(
        [step("A", 0, 0, "m")], [edge("m", "message", "A", "ghost", 0, content="see src/a.py", to_step=None)]
    )
    row = score(run).interactions.iloc[0]
    assert row[["downstream_success", "latency_penalty", "expected"]].isna().all()
    assert row["information_density"] == 1 / (1 + 4)
    assert row["total"] == pytest.approx(0.25 * 0.2)


def test_late_escalation_is_told() -> None:
    check = {"command": "pytest tests"}
    steps = [step("B", n, n, name="Bash", arguments=check, status="error") for n in range(6)]
    steps += [step("B", 6, 7, "e", name="SendMessage"), step("A", 0, 8, "e")]
    row = score(team(steps, [edge("e", "escalation", "B", "A", 7)])).interactions.iloc[0]
    assert row["latency_penalty"] == 1.0  # (6 - 2) / 4
    assert "escalated only after 6 failures" in row["reason"]


@pytest.mark.parametrize("fault", [None, *FAULTS])
def test_invariants_of_generated_teams(fault: str | None) -> None:
    for seed in range(3):
        run, _ = generate(seed, fault=fault)
        done = score(run)
        assert len(done.steps) == len(run.step_list) and len(done.interactions) == len(run.interaction_list)
        for frame, parts in ((done.steps, list(STEP_PARTS)), (done.interactions, PARTS)):
            known = frame[parts].stack()
            assert known.between(0, 1).all()
            assert frame["total"].between(0, 1).all()
            assert frame["is_critical"].sum() <= 0.25 * len(frame)
            assert frame.loc[frame["is_critical"], "total"].min() >= 0.3
            assert sorted(frame["rank"]) == list(range(1, len(frame) + 1))
            assert frame["reason"].str.len().min() > 0
        again = score(run)
        assert done.steps.equals(again.steps) and done.interactions.equals(again.interactions)


def test_ties_go_by_time_then_by_member() -> None:
    run = team([step(a, 0, second) for a, second in (("P", 3), ("Q", 1), ("R", 1), ("S", 2))], [])
    assert score(run).steps.sort_values("rank")["agent_id"].tolist() == ["Q", "R", "S", "P"]


def test_limits_of_the_configuration_hold() -> None:
    run, _ = generate(1)
    none = score(run, ScoreConfig(max_critical_ratio=0.0))
    assert none.critical_steps.empty and none.critical_interactions.empty
    high = score(run, ScoreConfig(critical_step_threshold=1.0, critical_interaction_threshold=1.0))
    assert high.critical_steps.empty
    for wrong in (
        {"max_critical_ratio": 2},
        {"step_weights": {"promise": 1}},
        {"interaction_weights": dict.fromkeys(PARTS, 3.0)},
    ):
        with pytest.raises(QueryError, match=next(iter(wrong))):
            ScoreConfig(**wrong)


def test_empty_team() -> None:
    done = score(Team("nobody"))
    assert done.steps.empty and done.interactions.empty and done.critical_ratio is None
    assert sensitivity(Team("nobody")).changes["overlap"].eq(1).all()


def test_sensitivity_agrees_with_scoring_again() -> None:
    run, _ = generate(4, fault="bottleneck")
    found = sensitivity(run)
    assert len(found.changes) == 2 * 7 * len(FACTORS)
    base = ScoreConfig()
    changed = ScoreConfig(interaction_weights={**base.interaction_weights, "latency_penalty": 0.0})
    before, after = score(run, base), score(run, changed)
    for of in ("steps", "interactions"):
        row = found.changes.query("of == @of and weight == 'latency_penalty' and factor == 0").iloc[0]
        a, b = getattr(before, of)["is_critical"].astype(bool), getattr(after, of)["is_critical"].astype(bool)
        assert (row["critical"], row["entered"], row["left"]) == (b.sum(), (b & ~a).sum(), (a & ~b).sum())
        assert row["overlap"] == pytest.approx((a & b).sum() / (a | b).sum())
    assert found.steps["stability"].between(0, 1).all()
    assert found.interactions["stability"].max() > 0


def test_large_team_scores_every_step() -> None:
    run = large(members=200, steps=6000, interactions=800)
    done = score(run)
    assert done.critical_ratio is not None and done.critical_ratio <= 0.25
    assert len(done.steps) == 6000
