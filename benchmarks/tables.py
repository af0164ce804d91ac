"""Records frame, cold load, warm load and refresh of one repository, each beside git's own part of it, in one run.

    python benchmarks/tables.py [REPOSITORY or BUNDLE] [--runs 5]

Prints ratios: seconds differ from machine to machine, and between runs of one. Imports are counted apart, and a bundle
is unpacked before. The floor of a cold load is `git cat-file --batch` of the same transcripts in path order to nowhere.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import sessionbank as sb
from sessionbank.selection import STORED_AND_SPOKEN as TABLES

GIT = {**os.environ, "GIT_AUTHOR_NAME": "bench", "GIT_AUTHOR_EMAIL": "bench@example.org",
       "GIT_COMMITTER_NAME": "bench", "GIT_COMMITTER_EMAIL": "bench@example.org"}  # fmt: skip
BRANCH = "refs/heads/entire/checkpoints/v1"


def git(repo: Path, *command: str, stdin: str | None = None, **env: str) -> str:
    """The output of a git command."""
    return subprocess.run(
        ["git", "-C", str(repo), *command],
        input=stdin,
        env={**GIT, **env},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def timed(work: Callable[[], object]) -> float:
    """Seconds that the work takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def cat(repo: Path, oids: list[str]) -> None:
    """git's own reading of these objects, to nowhere."""
    with tempfile.TemporaryFile("w+") as asked:
        asked.write("".join(f"{o}\n" for o in oids))
        asked.seek(0)
        subprocess.run(
            ["git", "-C", str(repo), "cat-file", "--batch"],
            stdin=asked,
            stdout=subprocess.DEVNULL,
            check=True,
        )


def load(repo: Path, cache: Path | str) -> None:
    """All tables as frames."""
    with sb.open_bank(repo, cache=cache, state_dir=cache, progress=False) as bank:
        for name in TABLES:
            getattr(bank, name)()


def without_last_checkpoint(repo: Path) -> str:
    """A commit of the branch's tree that lacks the checkpoint stored last."""
    with sb.open_bank(repo, cache=False, progress=False) as bank:
        last = bank.checkpoints()["checkpoint_id"].iloc[-1]
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git(repo, "read-tree", BRANCH, **index)
        names = git(
            repo, "ls-tree", "-r", "--name-only", BRANCH, "--", f"{last[:2]}/{last[2:]}/"
        ).splitlines()
        git(
            repo,
            "update-index",
            "--index-info",
            stdin="".join(f"0 {'0' * 40}\t{n}\n" for n in names),
            **index,
        )
        return git(repo, "commit-tree", git(repo, "write-tree", **index), "-m", "without the last")


def refresh(repo: Path, folder: Path) -> tuple[float, float, float]:
    """Seconds of: all tables warm, all tables after one more checkpoint, git's own part of that."""
    tip, before = git(repo, "rev-parse", BRANCH), without_last_checkpoint(repo)
    git(repo, "update-ref", BRANCH, before)
    try:
        load(repo, folder)
        warm = timed(lambda: load(repo, folder))
        git(repo, "update-ref", BRANCH, tip)
        fresh = timed(lambda: load(repo, folder))

        def own() -> None:
            git(repo, "rev-parse", BRANCH)
            cat(repo, [line.split()[3] for line in git(repo, "diff-tree", "-r", before, tip).splitlines()])

        return warm, fresh, timed(own)
    finally:
        git(repo, "update-ref", BRANCH, tip)


def main() -> None:
    """Runs and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "repository", nargs="?", default=str(Path(__file__).parents[1] / "data" / "shop.bundle")
    )
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / "repo.git"
        subprocess.run(["git", "clone", "-q", "--mirror", asked.repository, str(repo)], check=True)
        entries = [line.split(None, 3) for line in git(repo, "ls-tree", "-r", BRANCH).splitlines()]
        transcripts = [oid for _, _, oid, name in entries if "full.jsonl" in name]
        metadata = [oid for _, _, oid, name in entries if name.endswith("metadata.json")]
        load(repo, Path(folder) / "first")  # imports
        rows = []
        for run in range(asked.runs):
            cache = Path(folder) / str(run)
            bank = sb.open_bank(repo, cache=cache, state_dir=cache, progress=False)
            records, records_floor = (
                timed(lambda b=bank: b.records(transcripts=False)),
                timed(lambda: cat(repo, metadata)),
            )
            bank.close()
            floor, cold, warm = (
                timed(lambda: cat(repo, transcripts)),
                timed(lambda c=cache: load(repo, c)),
                timed(lambda c=cache: load(repo, c)),
            )
            before, fresh, own = refresh(repo, Path(folder) / f"r{run}")
            rows.append((records / records_floor, cold / floor, warm / cold, (fresh - before) / own))
    print(
        f"{asked.repository}: {len(transcripts)} transcripts, median of {asked.runs} runs (smallest to largest)"
    )
    claims = (
        ("records frame / cat-file of the same metadata", 4), ("all tables cold / cat-file of the same transcripts", 3),
        ("all tables warm / cold", 0.15), ("(after one new checkpoint - warm) / git's own part", 3),
    )  # fmt: skip
    for (claim, limit), values in zip(claims, zip(*rows, strict=True), strict=True):
        print(
            f"  {claim:52s} {statistics.median(values):6.2f}  ({min(values):.2f} to {max(values):.2f}; wanted: {limit} or less)"
        )


if __name__ == "__main__":
    main()
