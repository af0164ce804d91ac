"""One practice helps, one harms, five do nothing: distillation names the first two and not the five.

Effect: a practice moves the outcome by one of three levels (failure, partial, success); a tenth of the outcomes is off
by one by chance. The truth is `planted.runs`'; nothing of the room's own counting makes it.
"""

from __future__ import annotations

import itertools

import pytest

from sessionbank.learning import Atlas, Memory
from sessionbank.learning.detectors import detect
from sessionbank.learning.distill import distill
from sessionbank.learning.experience import SCORES, Practice, RunRow
from sessionbank.learning.playbooks import Evidence
from tests.learning import planted

PAIRS = list(itertools.permutations(planted.PRACTICES, 2))


def _rows(teams):
    return [
        RunRow(
            run_id=t.id, revision="1", objective=t.objective or "", domain=t.domain, topology=t.topology,
            team_size=len(t.member_list), outcome=t.outcome, score=SCORES.get(t.outcome or ""),
            practices=[
                Practice(name=d.name, source=d.words.kind, roles=list(d.roles), evidence=[Evidence(run_id=t.id)])
                for d in detect(t)
            ],
        )
        for t in teams
    ]  # fmt: skip


def _is_right(found, helps, harms):
    said = {n: line.direction for n, line in found.lines.items() if n in planted.PRACTICES}
    return said == {helps: "do", harms: "avoid"}


@pytest.mark.parametrize("count", [30, 45, 60])
def test_nine_times_in_ten_from_thirty_runs_on(count):
    right = 0
    for seed in range(42):  # every ordered pair of practices once: any of them may be the one that helps
        helps, harms = PAIRS[seed]
        right += _is_right(distill(_rows(planted.runs(seed, count, helps=helps, harms=harms))), helps, harms)
    assert right >= 0.9 * 42


@pytest.mark.parametrize("noise", [0.05, 0.15])
def test_other_runs_with_less_and_more_chance_in_them(noise):
    right = 0
    for seed, (helps, harms) in enumerate(PAIRS):
        teams = planted.runs(10_000 + seed, 30, helps=helps, harms=harms, noise=noise)
        right += _is_right(distill(_rows(teams)), helps, harms)
    assert right >= 0.9 * 42


def test_where_nothing_helps_nothing_is_named():
    wrong = 0
    for seed in range(40):
        teams = planted.runs(1000 + seed, 30, helps="fan-out", harms="ping-pong")
        outcomes = [t.outcome for t in planted.runs(5000 + seed, 30, helps="fan-out", harms="ping-pong")]
        rows = _rows(teams)
        for row, outcome in zip(rows, outcomes, strict=True):  # outcomes of other runs
            row.outcome, row.score = outcome, SCORES[outcome]
        wrong += bool({n for n in distill(rows).lines if n in planted.PRACTICES})
    assert wrong <= 4


def test_few_runs_establish_nothing_and_say_so():
    found = distill(_rows(planted.runs(1, 8, helps="check-after-edit", harms="ping-pong", noise=0)))
    assert found.lines
    for line in found.lines.values():
        assert line.standing in ("tentative", "contested")
        assert line.confidence < 0.8
        assert "no claim" in line.basis


def test_confidence_grows_with_the_number_of_runs():
    teams = planted.runs(2, 60, helps="fan-out", harms="ping-pong", noise=0)
    sure = [distill(_rows(teams[:n])).lines["fan-out"].confidence for n in (6, 30, 60)]
    assert sure == sorted(sure)
    assert sure[0] < 0.75 < sure[2]


def test_the_order_of_runs_does_not_matter():
    rows = _rows(planted.runs(4, 30, helps="fan-out", harms="ping-pong"))
    assert distill(rows) == distill(rows[::-1])


@pytest.mark.parametrize(
    ("helps", "harms"), [("check-after-edit", "ping-pong"), ("late-escalation", "specific-delegation")]
)
def test_from_teams_to_playbooks_to_a_recommendation_that_follows(tmp_path, helps, harms):
    """The second pair turns the detectors' own labels round: what the runs say counts, not what a thing is called."""
    from sessionbank.learning.detectors import PRACTICES

    atlas = Atlas(None, Memory(tmp_path / "memory"))
    for team in planted.runs(7, 30, helps=helps, harms=harms):
        assert atlas.process_team(team).stored
    assert atlas.accumulated_count == 30
    assert atlas.is_batch_ready
    result = atlas.run_team_batch()
    assert result.ready
    assert atlas.accumulated_count == 0
    good, bad = PRACTICES[helps].do, PRACTICES[harms].avoid
    told = atlas.recommend_team("Add a checkout form to the web shop", domain="web")
    assert told.basis
    assert (told.do, told.avoid) == ((good,), (bad,))
    assert told.topology == "hierarchical"
    assert {r.role: r.count for r in told.roles} == {"lead": 1, "worker": 2, "checker": 1}
    undecided = {u["practice"] for u in result.undecided}
    assert undecided >= set(planted.PRACTICES) - {helps, harms}
    lines = [
        line
        for kind in ("role-playbooks", "team-playbooks")
        for p in atlas.memory.all(kind)
        for _, line in p.lines()
    ]
    assert {line.practice for line in lines if line.practice} == {helps, harms}
    for line in lines:
        if line.practice:
            assert line.evidence
            assert all(e.message_uuid and e.session_id for e in line.evidence)
            assert line.support.runs == 30
    assert good in atlas.role_guidance(
        next(
            r.role
            for r in told.roles
            if any(
                good == x.text
                for p in atlas.memory.all("role-playbooks")
                if p.role == r.role
                for _, x in p.lines()
            )
        )
    )
