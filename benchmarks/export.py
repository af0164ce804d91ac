"""Claim: sessions leave as trajectories at 20 MB/s or more of transcript on one core, with memory below 300 MB whatever
their number.

Usage: python benchmarks/export.py [BUNDLE] [TIMES]. Transcripts are read first (that is the work of `readers.py`); then
each session is made into a trajectory, judged, redacted and written, as each format does it. MB are those of the
largest stored transcript of each session, subagents left out. CPU is of this process alone, which has one thread. Each
line is a process of its own, so that its memory is its own. The second line of a format exports the same sessions TIMES
times over: its memory must be the same.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import sessionbank as sb
from sessionbank.trajectory.export import UnredactedWarning

ROOT = Path(__file__).resolve().parent.parent
MB = 1e6
WAYS: dict[str, dict[str, object]] = {
    "sessionbank": {"format": "sessionbank"},
    "sessionbank, not redacted": {"format": "sessionbank", "redact": False},
    "atif": {"format": "atif"},
    "messages": {"format": "messages", "arguments": "dict"},
    "canonical": {"format": "canonical"},
}


def peak() -> float:
    """The most memory that this process held so far, in MB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MB


def transcript_bytes(bank: sb.SessionBank) -> int:
    """Bytes of the largest stored transcript of each session, added up: what is read into it, without repeats."""
    records = bank.records()
    return int(records.groupby("session_id")["transcript_bytes"].max().sum())


def one(bundle: str, way: str, times: int) -> None:
    """Export once and print the figures as JSON."""
    import warnings

    warnings.simplefilter("ignore", UnredactedWarning)
    with sb.open_bank(bundle, cache=False) as bank, tempfile.TemporaryDirectory() as folder:
        size = transcript_bytes(bank) * times
        for session in bank.discover()[:1]:
            _ = session.messages  # all transcripts are read with the first
        before = peak()
        start, wall = time.process_time(), time.perf_counter()
        given = (session for _ in range(times) for session in bank.discover())
        written = sb.write_jsonl(given, Path(folder, "export.jsonl"), **WAYS[way])  # type: ignore[arg-type]
        taken = time.process_time() - start
        print(
            json.dumps({
                "mb": size / MB, "out": written.bytes / MB, "cpu": taken, "wall": time.perf_counter() - wall,
                "before": before, "peak": peak(),
            })
        )  # fmt: skip


def main(bundle: str, times: int) -> None:
    """Print a line a format and number of repeats."""
    print(
        f"{'format':27}{'times':>6}{'MB in':>8}{'MB out':>8}{'CPU s':>8}{'MB/s':>8}{'peak MB':>9}{'of it export':>14}"
    )
    for way in WAYS:
        for repeats in (1, times):
            command = [sys.executable, __file__, bundle, str(repeats), way]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            f = json.loads(done.stdout.splitlines()[-1])
            print(
                f"{way:27}{repeats:6}{f['mb']:8.1f}{f['out']:8.1f}{f['cpu']:8.2f}{f['mb'] / f['cpu']:8.1f}"
                f"{f['peak']:9.0f}{f['peak'] - f['before']:14.0f}"
            )


if __name__ == "__main__":
    given = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "data" / "shop.bundle")
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    if len(sys.argv) > 3:
        one(given, sys.argv[3], count)
    else:
        main(given, count)
