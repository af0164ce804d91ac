"""The support of lines, counted by hand: runs and not interactions, and of reviewed lines the figures of now."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sessionbank.learning import Memory
from sessionbank.learning import playbooks as pb
from sessionbank.learning.batches import BatchResult, run_batch
from sessionbank.learning.distill import distill
from sessionbank.learning.experience import Practice, RunRow, Teamwork
from sessionbank.learning.measured import measured
from sessionbank.learning.recommend import recommend_team
from sessionbank.learning.revise import revised, role_playbooks
from sessionbank.learning.team_learning import process_team
from sessionbank.learning.teamwork import together
from tests.learning import planted

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def run(
    number: int, score: float | None, *, quality: str = "effective", times: int = 1, practice: bool = False
) -> RunRow:
    place = [pb.Evidence(run_id=f"r{number}", interaction_id=f"i{number}")]
    return RunRow(
        run_id=f"r{number}", revision="1", score=score, roles={"lead": 1, "tester": 1},
        practices=[Practice(name="fan-out", source="pattern", roles=["lead"], evidence=place)] if practice else [],
        teamwork=[
            Teamwork(role="lead", with_role="tester", interaction_type="delegation", quality=quality,
                     recommendation=f"Say what is {quality}.", evidence=place)
            for _ in range(times)
        ],
    )  # fmt: skip


def test_runs_are_counted_and_not_interactions() -> None:
    """Three interactions in run 1, two in run 2, one in run 3: that is three runs, of which two ended well."""
    rows = [run(1, 1.0, times=3), run(2, 0.0, times=2), run(3, 1.0), run(4, 1.0, quality="poor")]
    (item,) = together(rows, "lead")
    support = item.guidance.support
    assert (support.runs, support.runs_with, support.runs_for, support.runs_against) == (4, 3, 2, 1)
    assert [(e.run_id, e.supports) for e in item.guidance.evidence] == [
        ("r1", True),
        ("r2", False),
        ("r3", True),
    ]
    assert item.guidance.contradictions == ["in 1 run it was poor"]


def test_what_is_to_be_mended_is_borne_out_by_failure() -> None:
    rows = [run(n, 0.0, quality="poor") for n in range(3)] + [
        run(3, 0.5, quality="poor"),
        run(4, None, quality="poor"),
    ]
    (item,) = together(rows, "lead")
    support = item.guidance.support
    assert (support.runs, support.runs_with, support.runs_for, support.runs_against) == (4, 4, 3, 0)


def test_outcomes_that_speak_against_it_leave_no_line() -> None:
    assert together([run(1, 0.0), run(2, 0.0), run(3, 1.0)], "lead") == []


def of(rows: list[RunRow]):
    found = distill(rows)
    (lead,) = [p for p in role_playbooks(rows, found) if p.role == "lead"]
    return lead, measured(rows, found)


@pytest.mark.parametrize("action", ["accept", "reject"])
def test_a_reviewed_line_that_is_no_longer_distilled_has_the_figures_of_now(action: str) -> None:
    """Two runs with it end well, and it is told; then four with it fail: nothing is to be told, but Ada decided."""
    rows = [run(n, 1.0, practice=True) for n in (1, 2)] + [run(3, 0.0)]
    old, _ = of(rows)
    (line,) = old.guidance.responsibilities
    assert (line.support.runs_for, line.support.runs_against) == (2, 0)
    line.decisions = [pb.Decision(action=action, reviewer="Ada", at=NOW, reason="seen")]
    line.text = "Ada's words"
    new, figures = of([*rows, *(run(n, 0.0, practice=True) for n in (4, 5, 6, 7))])
    assert "fan-out" not in [kept.practice for _, kept in new.lines()]
    (kept,) = [k for _, k in revised(new, old, at=NOW, reason="more", measured=figures).lines() if k.practice]
    assert (kept.text, kept.decisions, kept.standing) == ("Ada's words", line.decisions, "contested")
    assert (kept.support.runs, kept.support.runs_with, kept.support.runs_for, kept.support.runs_against) == (
        7,
        6,
        2,
        4,
    )
    assert {e.run_id for e in kept.evidence} == {f"r{n}" for n in (1, 2, 4, 5, 6, 7)}
    assert kept.confidence < line.confidence


def test_a_line_that_no_run_shows_any_more_has_no_support() -> None:
    old, _ = of([run(n, 1.0, practice=True) for n in (1, 2)] + [run(3, 0.0)])
    old.guidance.responsibilities[0].decisions = [
        pb.Decision(action="accept", reviewer="Ada", at=NOW, reason="x")
    ]
    new, figures = of([run(n, 1.0) for n in (1, 2, 3)])
    (kept,) = [k for _, k in revised(new, old, at=NOW, reason="more", measured=figures).lines() if k.practice]
    assert (kept.support.runs_with, kept.support.runs_for, kept.evidence, kept.confidence) == (0, 0, [], 0.0)


def test_two_batches_of_one_moment_tell_what_was_made_from_what_was_changed(tmp_path) -> None:
    """The clock stands still: the second batch changes the playbooks that the first made."""
    memory = Memory(tmp_path, clock=lambda: NOW)
    teams = planted.runs(3, 12, helps="fan-out", harms="ping-pong", noise=0)
    made = []
    for part in (teams[:8], teams[8:]):
        for team in part:
            process_team(memory, team)
        made.append(run_batch(memory, "team", minimum=2))
    first, second = made
    assert first.created and not first.updated
    own = {(kind, i) for kind, ids in first.created.items() for i in ids}
    changed = {(kind, i) for kind, ids in second.updated.items() for i in ids}
    assert changed and changed <= own
    assert not own & {(kind, i) for kind, ids in second.created.items() for i in ids}
    assert "1 thing" in BatchResult(True, 1, 1, created={"role-playbooks": ["a"]}).message


def test_a_recommendation_that_rests_on_one_run_says_so(tmp_path) -> None:
    memory = Memory(tmp_path, clock=lambda: NOW)
    teams = planted.runs(3, 4, helps="fan-out", harms="ping-pong", noise=0)
    process_team(memory, teams[0])
    thin = recommend_team(memory, teams[0].objective)
    assert thin.basis and thin.is_thin
    assert "Only 1 run had such a team: an example, not yet advice." in thin.to_markdown()
    assert thin.why[0].startswith("1 run with such a team")
    for team in teams[1:]:
        process_team(memory, team)
    assert any(not r.is_thin for r in [recommend_team(memory, t.objective) for t in teams])
    assert not recommend_team(memory, "knit a scarf").basis
