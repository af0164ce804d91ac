"""Claim: with 5,000 team experiences, storing takes below 20 ms each, matching and recommending below 50 ms warm, and
time grows in proportion. Warm is told twice: asked again at once, and after a pause in which a person may have edited
files, so that the folder is looked through. Floor of storing: `write_whole` of the same bytes.

Usage: python benchmarks/memory_scale.py [COUNT]. Experiences are made by script; each has eight members and thirty
credits, about 20 KB of JSON. Imports are not counted.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from sessionbank.learning import outputs
from sessionbank.learning.experience import (
    MemberRecord,
    Practice,
    TeamAnalysisResult,
    TeamExperience,
    TeamOutcome,
    TeamRecord,
)
from sessionbank.learning.guidance import find_matching
from sessionbank.learning.memory import TRUSTED, Memory
from sessionbank.learning.readback import dump
from sessionbank.learning.recommend import recommend_team
from sessionbank.sources.locking import write_whole

WORDS = [
    "add", "fix", "write", "test", "move", "form", "cart", "payment", "order", "stock", "export", "import",
    "login", "user", "page", "table", "search", "filter", "report", "mail", "queue", "worker", "cache",
    "index", "schema", "query", "server", "client", "button", "layout", "price", "tax", "invoice", "refund",
    "coupon", "review", "rating", "image", "upload", "session", "token", "role", "permission", "audit", "log",
    "metric", "alert", "deploy", "build", "lint", "release", "version", "branch", "merge", "docs", "guide",
]  # fmt: skip


def experience(number: int, chance: random.Random) -> TeamExperience:
    """One experience of about 20 KB, with an objective of twelve words."""
    objective = " ".join(chance.choice(WORDS) for _ in range(12))
    label = chance.choice(("success", "partial", "failure", "unknown"))
    outcome = TeamOutcome.of(label)
    members = [
        MemberRecord(agent_id=f"agent-{i}", role=f"role-{chance.randrange(5)}x", steps=50, tokens=9000)
        for i in range(8)
    ]
    credits = [
        outputs.InteractionCredit(
            interaction_id=f"i{i}", type="message", from_role="a", to_role="b", value="helpful", credit_score=0.5,
            reasoning="quality 0.75; it is part of fan-out; " + " ".join(chance.choice(WORDS) for _ in range(20)),
            necessity="useful", content_quality=0.5,
        )
        for i in range(30)
    ]  # fmt: skip
    return TeamExperience(
        id=f"run-{number:06d}", revision="r", outcome=outcome, score=outcome.score,
        timestamp=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number),
        team_trajectory=TeamRecord(
            id=f"run-{number:06d}", objective=objective, domain=chance.choice(("web", "data", None)), members=members,
            topology_type=chance.choice(("hierarchical", "flat", "wave")), structural_metrics={"total_tokens": 72_000},
        ),
        analysis=TeamAnalysisResult(team_trajectory_id=f"run-{number:06d}", interaction_credits=credits),
        detected_practices=[Practice(name="fan-out", source="pattern").model_dump()],
    )  # fmt: skip


def timed(work: object, *, times: int = 9, pause: float = 0.0) -> float:
    """Median milliseconds of calling `work`, each time after `pause` seconds."""
    taken = []
    for _ in range(times):
        time.sleep(pause)
        start = time.perf_counter()
        work()  # type: ignore[operator]
        taken.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken)


def main(count: int) -> None:
    """Print one line a size: storing, its floor, matching and recommending warm, reading all anew."""
    chance = random.Random(1)
    task = "add a payment form with tax and coupon to the cart page"
    with tempfile.TemporaryDirectory(prefix="memory-scale-") as name:
        memory = Memory(Path(name, "m"), limits={"team-experiences": None})
        asked_match = partial(find_matching, memory, "team-experiences", task, domain="web")
        asked_recommend = partial(recommend_team, memory, task, domain="web")
        done = 0
        for size in (count // 4, count // 2, count):
            made = [experience(i, chance) for i in range(done, size)]
            start = time.perf_counter()
            for thing in made:
                memory.store("team-experiences", thing)
            store = (time.perf_counter() - start) * 1000 / len(made)
            data = [dump(thing) for thing in made[:200]]
            start = time.perf_counter()
            for place, text in enumerate(data):
                write_whole(Path(name, "floor", f"{place}.json"), text)
            floor = (time.perf_counter() - start) * 1000 / len(data)
            done = size
            match, recommend = timed(asked_match), timed(asked_recommend)
            looked = [timed(w, times=3, pause=TRUSTED + 0.05) for w in (asked_match, asked_recommend)]
            start = time.perf_counter()
            cold = Memory(Path(name, "m")).count("team-experiences")
            read = time.perf_counter() - start
            print(
                f"{size:6d} experiences of {len(data[0]):,} bytes: store {store:.2f} ms each "
                f"({store / floor:.1f} x the floor "
                f"{floor:.2f}), match {match:.1f} ms (after a pause {looked[0]:.1f}), "
                f"recommend {recommend:.1f} ms (after a pause {looked[1]:.1f}), read {cold} anew {read:.1f} s"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
