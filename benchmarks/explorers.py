"""How long it takes to open the explorers: a session of 5,000 messages, and a bank of 10,000 sessions.

    python benchmarks/explorers.py [--messages 5000] [--sessions 10000]

Warm means: the tables are in the cache, the libraries are imported, and the bank is opened anew. CPU and wall seconds, the
least of several runs. The limit that is held to is one second, warm, for the session.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from many_sessions import make

import sessionbank as sb

Step = Callable[[], Any]


def measured(step: Step) -> tuple[Any, float, float]:
    """What a step gives, its CPU and its wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    found = step()
    return found, time.process_time() - cpu, time.perf_counter() - wall


def control(box: Any, name: str) -> Any:
    """The control of that description."""
    if getattr(box, "description", None) == name:
        return box
    return next(
        (c for child in getattr(box, "children", ()) if (c := control(child, name)) is not None), None
    )


def session_steps(repo: Path, folder: Path) -> dict[str, tuple[float, float]]:
    """Opening the one session of a bank, and moving in it."""
    bank = sb.open_bank(repo, cache=folder / "cache", state_dir=folder, progress=False)
    session = bank.query(limit=1)[0]
    box, cpu, wall = measured(lambda: sb.browse(session))
    took = {"open, first page": (cpu, wall)}
    moves: dict[str, Step] = {
        "next page": control(box, "Next").click,
        "search": lambda: setattr(control(box, "Search"), "value", "module 7"),
        "next hit": control(box, "Next hit").click,
        "stored line": lambda: session.raw(session.messages[-1]),
    }
    took |= {name: measured(move)[1:] for name, move in moves.items()}
    bank.close()
    return took


def bank_steps(repo: Path, folder: Path) -> dict[str, tuple[float, float]]:
    """Opening a bank of many sessions, and looking for one."""
    bank = sb.open_bank(repo, cache=folder / "cache", state_dir=folder, progress=False)
    _, cpu, wall = measured(bank.discover)  # metadata: what every use of a bank begins with
    took = {"(the bank itself)": (cpu, wall)}
    box, cpu, wall = measured(lambda: sb.browse(bank))
    took["open, first page"] = (cpu, wall)
    moves: dict[str, Step] = {
        "next page": control(box, "Next").click,
        "filter by branch": lambda: setattr(control(box, "Branch"), "value", "main"),
        "search prompts": lambda: setattr(control(box, "Search"), "value", "module 21"),
        "outcomes of a page": lambda: setattr(control(box, "Outcome"), "value", "any, worked out"),
        "pick a session": control(box, "Read 1").click,
    }
    took |= {name: measured(move)[1:] for name, move in moves.items()}
    assert box.children[-1].children, "a session was opened"
    bank.close()
    return took


def told(title: str, runs: list[dict[str, tuple[float, float]]]) -> None:
    """Prints the least of the runs."""
    print(title)
    for name in runs[0]:
        cpu, wall = (min(run[name][n] for run in runs) for n in (0, 1))
        print(f"  {name:18s} CPU {cpu:6.3f} s   wall {wall:6.3f} s")


def main() -> None:
    """Runs and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=5000)
    parser.add_argument("--sessions", type=int, default=10000)
    parser.add_argument("--lines", type=int, default=12, help="of each of the many sessions")
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for title, sessions, lines, steps in (
            (f"a session of {asked.messages:,} messages", 1, asked.messages, session_steps),
            (
                f"a bank of {asked.sessions:,} sessions of {asked.lines} messages",
                asked.sessions,
                asked.lines,
                bank_steps,
            ),
        ):
            folder = Path(name) / steps.__name__
            folder.mkdir()
            make(folder / "made.git", sessions, lines)
            with sb.open_bank(
                folder / "made.git", cache=folder / "cache", state_dir=folder, progress=False
            ) as bank:
                sb.browse(
                    bank.query(limit=1)[0]
                )  # reads all transcripts into the cache, and imports what is needed
            told(f"{title}, warm:", [steps(folder / "made.git", folder) for _ in range(asked.runs)])


if __name__ == "__main__":
    main()
