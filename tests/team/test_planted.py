"""Faults planted into good runs are among the critical steps and interactions, far more often than by chance.

The runs are `generated`'s: benign noise (mended failures, slow and emergent messages, tries that do not matter) and one
fault. Chance is the share of draws of as many steps or interactions that would have hit as well.
"""

from __future__ import annotations

import math

import pytest

from sessionbank.team.score import score
from tests.team.generated import FAULTS, generate

RUNS = 40


def chance(total: int, planted: int, drawn: int, *, least: int) -> float:
    """How likely `drawn` of `total` hold at least `least` of the `planted` ones."""
    ways = sum(
        math.comb(planted, j) * math.comb(total - planted, drawn - j)
        for j in range(least, min(planted, drawn) + 1)
    )
    return ways / math.comb(total, drawn)


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_critical(fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    hits, by_chance, share = 0, 0.0, 0.0
    for seed in range(1000, 1000 + RUNS):
        run, planted = generate(seed, fault=fault, workers=4 + seed % 4, rounds=3 + seed % 3)
        assert planted is not None
        done = score(run)
        if planted.step:
            frame = done.steps
            mine = frame[(frame["agent_id"] == planted.step[0]) & (frame["step"] == planted.step[1])]
        else:
            frame = done.interactions
            mine = frame[frame["interaction_id"].isin(planted.interactions)]
        least = len(mine) // 2 + 1  # of several edges into a bottleneck more than half
        drawn = int(frame["is_critical"].sum())
        hits += int(mine["is_critical"].sum()) >= least
        by_chance += chance(len(frame), len(mine), drawn, least=least)
        share += drawn / len(frame)
    with capsys.disabled():
        print(
            f"\n{fault}: found {hits} of {RUNS}; chance {by_chance / RUNS:.0%}; critical {share / RUNS:.0%} of all"
        )
    assert hits >= 0.8 * RUNS
    assert by_chance / RUNS < 0.3
