"""docs/scores.md: what is worked by hand there and what the package says are the same (tests/test_recipes.py runs them)."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "scores.md").read_text("utf-8")
PAIR = re.compile(r"^(.+): ([\d.]+) by hand, ([\d.]+) by the package$", re.MULTILINE)


def test_what_is_worked_by_hand_is_what_the_package_says() -> None:
    pairs = PAIR.findall(PAGE)
    assert len(pairs) >= 20
    assert [p for p in pairs if p[1] != p[2]] == []


def test_each_kind_of_score_has_an_example() -> None:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    assert {s.splitlines()[0]: bool(PAIR.search(s)) for s in sections} == dict.fromkeys(
        ("Steps of a team", "Interactions of a team", "Outcomes of a session", "Confidence of a line of a playbook",
         "Likeness of texts", "What survives compression"), True,
    )  # fmt: skip


def test_weights_and_thresholds_are_those_of_the_package() -> None:
    from sessionbank.learning import distill
    from sessionbank.team.score import PROGRESS, ScoreConfig
    from sessionbank.trajectory.outcomes.checks import _WEIGHT
    from sessionbank.trajectory.outcomes.evidence import WEIGHTS
    from sessionbank.trajectory.outcomes.verdict import FAILURE_TO, SUCCESS_FROM

    config = ScoreConfig()
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| ([\d.]+) \|$", PAGE, re.MULTILINE))
    assert {n: float(rows[n]) for n in rows if n in config.step_weights} == dict(config.step_weights)
    assert {n: float(rows[n]) for n in rows if n in config.interaction_weights} == dict(
        config.interaction_weights
    )
    for kind, value in PROGRESS.items():
        said = re.search(rf"\b{kind}\b[^;|]*? (\d\.\d)", PAGE[PAGE.index("| `progress` |") :])
        assert said is not None
        assert float(said[1]) == value, kind
    for name, weight in WEIGHTS.items():
        assert re.search(rf"\b{name} {weight:g}\b", PAGE), name
    for kind, weight in _WEIGHT.items():
        assert re.search(rf"\b{kind} {weight:g}\b", PAGE), kind
    assert f"From {SUCCESS_FROM} on" in PAGE
    assert f"up to {FAILURE_TO} a failure" in PAGE
    assert f"{distill.ESTABLISHED} is the threshold" in PAGE
    assert f"fewer than {distill.DECIDED_FROM} runs" in PAGE
    assert f"({distill.LEAST} runs or more)" in PAGE
