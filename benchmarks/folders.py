"""A cold load from an agent's own folder beside one from a bundle that holds the same transcripts.

    python benchmarks/folders.py [BUNDLE] [--runs 7]

The last stored transcript of each session is written once as ``projects/work/SESSION.jsonl`` and once as a checkpoint
repository. Unpacking a bundle is not in it, nor are imports; the claim is that a folder opens as fast as a bundle.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import sessionbank as sb
from sessionbank.selection import STORED_AND_SPOKEN as TABLES

BRANCH = "refs/heads/entire/checkpoints/v1"
MOST = 1.1  # times as long as from git


def transcripts(bundle: str) -> dict[str, bytes]:
    """The last stored transcript of each session."""
    with sb.open_bank(bundle, cache=False, progress=False) as bank:
        found = {}
        for session in bank.discover():
            blobs = session.records[-1].transcript_blobs
            if len(blobs) == 1:
                found[session.session_id] = next(bank._source.blobs(blobs))[1] or b""
    return {sid: data for sid, data in found.items() if data}


def stream(sessions: dict[str, bytes]) -> Iterator[bytes]:
    """A fast-import stream: one commit with a checkpoint for each session."""
    yield b"commit %s\ncommitter b <b@example.org> 1770000000 +0000\ndata 1\nx\n" % BRANCH.encode()
    for number, (sid, data) in enumerate(sessions.items()):
        checkpoint = f"{number % 256:02x}{number:010x}"
        about = {"checkpoint_id": checkpoint, "session_id": sid, "created_at": "2026-01-01T00:00:00Z"}
        root = f"{checkpoint[:2]}/{checkpoint[2:]}"
        files = {f"{root}/metadata.json": b"{}", f"{root}/0/metadata.json": json.dumps(about).encode(),
                 f"{root}/0/full.jsonl": data}  # fmt: skip
        for path, content in files.items():
            yield b"M 100644 inline %s\ndata %d\n" % (path.encode(), len(content)) + content + b"\n"
    yield b"done\n"


def cold(path: Path, cache: Path) -> float:
    """Seconds of all tables, nothing cached."""
    begin = time.perf_counter()
    with sb.open_bank(path, cache=cache, state_dir=cache, progress=False) as bank:
        for name in TABLES:
            getattr(bank, name)()
    return time.perf_counter() - begin


def main() -> int:
    """Runs and prints; 1 where the folder is slower than it may be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundle", nargs="?", default=str(Path(__file__).parents[1] / "data" / "shop.bundle"))
    parser.add_argument("--runs", type=int, default=7)
    asked = parser.parse_args()
    sessions = transcripts(asked.bundle)
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        own = here / ".claude" / "projects" / "work"
        own.mkdir(parents=True)
        for sid, data in sessions.items():
            (own / f"{sid}.jsonl").write_bytes(data)
        repo = here / "repo.git"
        subprocess.run(["git", "init", "-q", "--bare", str(repo)], check=True)
        packed = subprocess.Popen(
            ["git", "-C", str(repo), "fast-import", "--quiet", "--done"], stdin=subprocess.PIPE
        )
        assert packed.stdin is not None
        for part in stream(sessions):
            packed.stdin.write(part)
        packed.stdin.close()
        if packed.wait():
            return 1
        subprocess.run(["git", "-C", str(repo), "repack", "-adfq"], check=True)
        pairs = [
            (cold(own.parent, here / f"a{run}"), cold(repo, here / f"b{run}"))
            for run in range(asked.runs + 1)
        ][1:]  # the first run imports
    ratios = [a / b for a, b in pairs]
    size = sum(map(len, sessions.values())) / 1e6
    print(f"{asked.bundle}: {len(sessions)} sessions, {size:.1f} MB, median of {asked.runs} runs")
    print(
        f"  all tables cold, folder / git: {statistics.median(ratios):.2f} "
        f"({min(ratios):.2f} to {max(ratios):.2f}; wanted: {MOST} or less)"
    )
    return int(statistics.median(ratios) > MOST)


if __name__ == "__main__":
    sys.exit(main())
