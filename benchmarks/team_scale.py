"""A large team: graph, metrics, compression and scores, each in processor seconds, at two sizes, and the memory.

    python benchmarks/team_scale.py [--steps 100000] [--interactions 10000] [--members 100]

The team is made by a script (some 330 characters a step) before the clock starts; imports are counted apart. The
floor is one reading of all text for its words (one regular expression), as the machine's measure. Time should follow
the number of steps: the ratio of the time a step at full size to that at a fifth of it is printed. Seconds are of
this process on one core (``process_time``). Exits 1 when a limit is passed: 10 s together, 1 GB.
"""

from __future__ import annotations

import argparse
import re
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sessionbank.team.compress import compress
from sessionbank.team.metrics import metrics
from sessionbank.team.model import Team
from sessionbank.team.score import score
from tests.team.generated import large

LIMIT_S, LIMIT_MB = 10.0, 1000


def words(team: Team) -> int:
    """The floor: all text of all steps read once."""
    word = re.compile(r"\w{4,}")
    return sum(
        len(set(word.findall(t)))
        for s in team.step_list
        for t in (s.thought, s.action_input, s.observation)
        if t
    )


WORK: dict[str, Callable[[Team], Any]] = {
    "words of all text (floor)": words,
    "graph (frames of edges and members)": lambda t: (t.interactions(), t.members()),
    "metrics": metrics,
    "compression": compress,
    "scores": score,
}


def run(team: Team) -> dict[str, float]:
    """Processor seconds of each part."""
    taken = {}
    for name, work in WORK.items():
        begin = time.process_time()
        work(team)
        taken[name] = time.process_time() - begin
    return taken


def main() -> int:
    """Measure a fifth of the size, then all of it; 1 when a limit is passed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--interactions", type=int, default=10_000)
    parser.add_argument("--members", type=int, default=100)
    asked = parser.parse_args()
    run(large(members=5, steps=200, interactions=20))  # imports
    fifth = run(
        large(members=asked.members // 5, steps=asked.steps // 5, interactions=asked.interactions // 5)
    )
    team = large(members=asked.members, steps=asked.steps, interactions=asked.interactions)
    chars = sum(len(t) for s in team.step_list for t in (s.thought, s.action_input, s.observation) if t)
    whole = run(team)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{asked.steps} steps, {asked.interactions} interactions, {asked.members} members, {chars / 1e6:.0f} MB of text"
    )
    for name, seconds in whole.items():
        ratio = seconds / max(5 * fifth[name], 1e-9)
        print(f"  {name:38s} {seconds:6.2f} s   time a step against a fifth of the size: {ratio:.2f}")
    floor, *parts = whole.values()
    print(
        f"  together {sum(parts):.1f} s (wanted: below {LIMIT_S:.0f}), {sum(parts) / floor:.1f} times the floor; "
        f"memory {memory:.0f} MB (wanted: below {LIMIT_MB})"
    )
    return int(sum(parts) > LIMIT_S or memory > LIMIT_MB)


if __name__ == "__main__":
    raise SystemExit(main())
