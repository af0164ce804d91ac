"""pm4py's hand-over-of-work network agrees with our hand-over matrix, and the comparison finds what does not.

pm4py runs in its own environment, which `checkers/run.py` makes at pinned versions. How the two definitions meet stands
in `checkers/pm4py_handover.py`. Where the package index cannot be reached the tests are skipped, but not in CI.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest

import sessionbank as sb
from checkers import pm4py_handover as checker
from checkers import run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def python() -> Path:
    """The Python of pm4py's environment."""
    try:
        found = checker.interpreter()
    except run.CannotInstallError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"pm4py cannot be installed: {str(error).splitlines()[-1]}")
    if found is None:
        pytest.skip("pm4py needs Python >= 3.11, and there is none on the path or under pyenv")
    return found


@pytest.fixture(scope="module")
def teams(root: Path, tmp_path_factory: pytest.TempPathFactory) -> list[sb.team.Team]:
    """The eleven teams of the sample bank."""
    state = tmp_path_factory.mktemp("state")
    with sb.open_bank(root / "data" / "shop.bundle", cache=False, state_dir=state) as bank:
        return list(checker.teams_of(bank))


def log(*events: tuple[str, int, str]) -> pd.DataFrame:
    """Case, minute, resource."""
    start = pd.Timestamp("2026-01-01T10:00:00Z")
    return pd.DataFrame({
        "case:concept:name": [case for case, _, _ in events],
        "concept:name": ["x"] * len(events),
        "time:timestamp": [start + timedelta(minutes=m) for _, m, _ in events],
        "org:resource": [who for _, _, who in events],
    })  # fmt: skip


def test_pm4py_counts_neighbours_in_time_within_a_case(python: Path) -> None:
    """By hand: case 1 is a, b, b, a in time; case 2 is b, a. Pairs: ab, bb, ba and ba."""
    given = log(("1", 3, "a"), ("1", 0, "a"), ("1", 1, "b"), ("1", 2, "b"), ("2", 0, "b"), ("2", 9, "a"))
    assert checker.handovers(given, python) == Counter({("b", "a"): 2, ("a", "b"): 1, ("b", "b"): 1})


def test_a_run_file_worked_out_on_paper(root: Path, python: Path) -> None:
    """Counted in the file itself: each tag of a step that is the source of an interaction is one hand-over."""
    source = root / "data" / "team-runs" / "wave.json"
    team = sb.team.from_input(source)
    written = Counter(
        ("0/" + member["agent_id"], "0/" + tag["counterpart"])
        for member in json.loads(source.read_text(encoding="utf-8"))["members"]
        for step in member["steps"]
        for tag in step.get("interactions", [])
        if tag["step_role"] == "source"
    )
    assert len(written) > 4
    edges, without = checker.edge_log([team])
    assert without == 0
    assert checker.handovers(edges, python) == written == checker.matrix_of([team])


def test_the_sample_bank_agrees(teams: list[sb.team.Team], root: Path, python: Path) -> None:
    books = json.loads((root / "data" / "shop.truth.json").read_text(encoding="utf-8"))["sessions"]
    found = {c.log: c for c in checker.compare(teams, python)}
    assert {c: found[c].faults for c in found} == {"edges": (), "steps": ()}
    assert found["edges"].theirs == sum(len(s.get("edges", ())) for s in books.values()) == 103
    assert found["steps"].teams >= 5
    assert found["steps"].theirs == 2 * found["steps"].teams  # one subagent each: there and back


@pytest.mark.shared
def test_real_teams_agree(shared: Path, tmp_path: Path, python: Path) -> None:
    with sb.open_bank(shared / "data" / "teams.bundle", cache=False, state_dir=tmp_path) as bank:
        real = list(checker.teams_of(bank))
    assert max(len(t.member_list) for t in real) > 10
    found = {c.log: c for c in checker.compare(real, python)}
    assert {c: found[c].faults for c in found} == {"edges": (), "steps": ()}
    assert found["edges"].theirs > 300


def without_last_edge(team: sb.team.Team) -> sb.team.Team:
    return replace(team, interaction_list=team.interaction_list[:-1])


def with_last_edge_turned(team: sb.team.Team) -> sb.team.Team:
    *others, last = team.interaction_list
    return replace(
        team, interaction_list=(*others, replace(last, from_agent=last.to_agent, to_agent=last.from_agent))
    )


@pytest.mark.parametrize("damage", [without_last_edge, with_last_edge_turned])
def test_a_wrong_edge_is_found_from_the_steps_alone(teams: list[sb.team.Team], python: Path, damage) -> None:
    sound = next(t for t in teams if checker.one_at_a_time(t))
    wrong = damage(sound)
    last = sound.interaction_list[-1]
    faults = {c.log: c.faults for c in checker.compare([sound, wrong], python)}
    assert any(f.startswith(f"1/{last.from_agent} -> 1/{last.to_agent}: ") for f in faults["steps"])
    assert not any("0/" in f for f in faults["steps"])


def test_an_edge_that_goes_back_in_time_is_found(teams: list[sb.team.Team], python: Path) -> None:
    team = next(t for t in teams if checker.one_at_a_time(t))
    first, *others = team.interaction_list
    late = replace(first, timestamp=first.timestamp + timedelta(days=1))
    (found, *_) = checker.compare([replace(team, interaction_list=(late, *others))], python)
    assert found.log == "edges"
    assert len(found.faults) == 2


def test_side_by_side_work_is_not_read_off_steps(teams: list[sb.team.Team]) -> None:
    """cart-merge-on-login and others have one subagent at a time; the agent team and the two at once do not qualify."""
    alone = [t for t in teams if checker.one_at_a_time(t)]
    assert all(len(t.member_list) == 2 for t in alone)
    assert not any(t.name in ("checkout-steps", "fraud-rules") for t in alone)


def test_differences_name_each_cell() -> None:
    ours, theirs = {("a", "b"): 2, ("b", "a"): 1}, {("a", "b"): 2, ("b", "c"): 1}
    assert checker.differences(ours, theirs) == ("b -> a: ours 1, pm4py 0", "b -> c: ours 0, pm4py 1")
