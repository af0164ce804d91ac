"""What holds for every team, whatever its size and shape: hypothesis draws small ones, one has 100,000 steps.

Dangling edges, budgets, boundary steps, folded + kept = original, share of critical steps, scores in [0, 1].
"""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessionbank.team import compress, metrics, reweigh, score, to_networkx, validate
from sessionbank.team.compress import CompressionConfig
from sessionbank.team.model import Interaction, Member, Team
from sessionbank.team.score import INTERACTION_PARTS, STEP_PARTS, ScoreConfig
from tests.team.generated import generate, large
from tests.team.test_compress import check_invariants

QUIET = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


def check_scores(team: Team, config: ScoreConfig) -> None:
    done = score(team, config)
    frames = ((done.steps, STEP_PARTS), (done.interactions, INTERACTION_PARTS))
    for frame, parts in frames:
        n = len(frame)
        assert frame["is_critical"].sum() <= config.max_critical_ratio * n
        assert sorted(frame["rank"]) == list(range(1, n + 1))
        for column in (*parts, "total"):
            known = frame[column].dropna()
            assert known.between(0, 1).all(), column
        best = frame[frame["is_critical"]]["total"]
        rest = frame[~frame["is_critical"].astype(bool)]["total"]
        if len(best) and len(rest) and config.max_critical_ratio * n - len(best) < 1:
            assert best.min() >= rest.max()


def check_graph(team: Team) -> None:
    graph = to_networkx(team)
    members = {m.agent_id for m in team.member_list}
    assert set(graph.nodes) >= members
    ends = {(e.from_agent, e.to_agent) for e in team.interaction_list}
    assert {(a, b) for a, b, _ in graph.edges} == ends
    assert graph.number_of_edges() == len(team.interaction_list)
    assert not [d for d in validate(team) if "dangling" in d.code]
    made = metrics(team)
    assert int(made.members["steps"].sum()) == len(team.step_list)
    assert len(made.interactions) == len(team.interaction_list)


shares = st.floats(0, 1)
weights = st.builds(
    lambda a, b, c, d, e, ratio: ScoreConfig(
        step_weights=dict(zip(STEP_PARTS, (a, b, c), strict=True)),
        interaction_weights=dict(zip(INTERACTION_PARTS, (d, e, a, b), strict=True)),
        max_critical_ratio=ratio,
    ),
    shares, shares, shares, shares, shares, shares,
)  # fmt: skip
teams = st.one_of(
    st.builds(lambda seed, w, r: generate(seed, workers=w, rounds=r)[0],
              st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 5)),
    st.builds(lambda members, per, edges, seed: large(members=members, steps=members * per, interactions=edges, seed=seed),
              st.sampled_from([2, 3, 9, 40, 200]), st.integers(2, 12), st.integers(0, 300), st.integers(0, 10**6)),
)  # fmt: skip


@QUIET
@given(teams, weights, st.integers(1, 6000), st.integers(0, 9))
def test_any_team(team: Team, config: ScoreConfig, budget: int, threshold: int) -> None:
    check_graph(team)
    check_scores(team, config)
    how = CompressionConfig(max_tokens_per_agent=budget, fold_threshold=threshold)
    done = compress(team, how)
    check_invariants(done, team.step_lists)
    again = compress(team, how)
    assert done.entries.equals(again.entries) and done.agents.equals(again.agents)


@QUIET
@given(teams, weights, weights)
def test_scores_weighed_anew_are_the_scores(team: Team, before: ScoreConfig, after: ScoreConfig) -> None:
    quick, whole = reweigh(team, score(team, before), after), score(team, after)
    assert quick.config == after
    assert quick.steps.equals(whole.steps)
    assert quick.interactions.equals(whole.interactions)


def test_a_hundred_thousand_steps() -> None:
    team = large(members=200, steps=100_000, interactions=10_000)
    check_graph(team)
    check_scores(team, ScoreConfig())
    done = compress(team)
    check_invariants(done, team.step_lists)
    assert len(done.agents) == 200
    assert int(done.agents["kept_steps"].sum() + done.agents["folded_steps"].sum()) == 100_000


def test_quality_is_missing_where_only_density_is_known() -> None:
    """Nothing shows what came of the message, no time is known, and no template says whether it was expected."""
    edge = Interaction("i1", None, None, "message", None, "a", None, 0, "b", None, None, "see src/cart.py")
    team = Team("t", member_list=(Member(None, "a"), Member(None, "b")), interaction_list=(edge,))
    row = score(team).interactions.iloc[0]
    assert row["information_density"] > 0
    assert math.isnan(row["quality"])
    assert row["reason"].endswith("nothing tells how it went")
    late = dataclasses.replace(edge, was_expected=True)
    row = score(dataclasses.replace(team, interaction_list=(late,))).interactions.iloc[0]
    assert "nothing tells" not in row["reason"]
    assert row["quality"] == pytest.approx((0.35 * 1 + 0.25 * row["information_density"]) / 0.6)
