"""A generated bank of many small sessions: listing, records frame, all tables, and memory, beside git's own listing.

    python benchmarks/many_sessions.py [--sessions 50000] [--lines 30]

Shows whether cost grows in proportion to sessions: run it with two sizes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import sessionbank as sb
from sessionbank.selection import STORED_AND_SPOKEN as TABLES

MODEL = "claude-opus-4-5-20251101"


def transcript(number: int, lines: int) -> bytes:
    """A small Claude Code transcript: prompts, replies with a call, results."""
    sid = f"{number:08x}-0000-4000-8000-{number:012x}"
    rows = []
    parent = None
    for at in range(lines):
        uuid = f"{number:08x}-{at:04x}-4000-8000-{(number * 1009 + at) & 0xFFFFFFFFFFFF:012x}"
        row = {
            "parentUuid": parent,
            "isSidechain": False,
            "cwd": "/w",
            "sessionId": sid,
            "version": "2.1.40",
            "gitBranch": "main",
            "uuid": uuid,
        }
        second = f"2026-02-{1 + number % 28:02d}T10:{at // 60 % 60:02d}:{at % 60:02d}.000Z"
        if at % 3 == 0:
            row.update(
                type="user",
                message={
                    "role": "user",
                    "content": f"step {at} of task {number}: look at module {at * 7 % 31}",
                },
            )
        elif at % 3 == 1:
            use = {
                "type": "tool_use",
                "id": f"toolu_{number}_{at}",
                "name": "Read",
                "input": {"file_path": f"/w/src/m{at}.py"},
            }
            usage = {
                "input_tokens": 3,
                "cache_creation_input_tokens": 100,
                "cache_read_input_tokens": 1000 + at,
                "output_tokens": 40,
            }
            message = {
                "model": MODEL,
                "id": f"msg_{number}_{at}",
                "role": "assistant",
                "content": [use],
                "stop_reason": "tool_use",
                "usage": usage,
            }
            row.update(type="assistant", message=message, requestId=f"req_{number}_{at}")
        else:
            text = hashlib.sha256(f"{number} {at}".encode()).hexdigest() * 6
            result = {"type": "tool_result", "tool_use_id": f"toolu_{number}_{at - 1}", "content": text}
            row.update(type="user", message={"role": "user", "content": [result]})
        row["timestamp"] = second
        parent = uuid
        rows.append(json.dumps(row))
    return "\n".join(rows).encode() + b"\n"


def stream(sessions: int, lines: int) -> Iterator[bytes]:
    """A fast-import stream of one commit on the checkpoint branch."""
    yield b"commit refs/heads/entire/checkpoints/v1\ncommitter b <b@example.org> 1770000000 +0000\ndata 1\nx\n"
    for number in range(sessions):
        cid = hashlib.sha256(str(number).encode()).hexdigest()[:12]
        root = f"{cid[:2]}/{cid[2:]}"
        sid = f"{number:08x}-0000-4000-8000-{number:012x}"
        created = f"2026-02-{1 + number % 28:02d}T11:00:00Z"
        meta = {"checkpoint_id": cid, "session_id": sid, "strategy": "manual-commit", "created_at": created, "branch": "main",
                "files_touched": [f"src/m{number % 40}.py"], "agent": "Claude Code"}  # fmt: skip
        files = {
            "metadata.json": json.dumps(
                {"checkpoint_id": cid, "strategy": "manual-commit", "sessions": []}
            ).encode(),
            "0/metadata.json": json.dumps(meta).encode(),
            "0/prompt.txt": f"task {number}".encode(),
            "0/full.jsonl": transcript(number, lines),
        }
        for name, data in files.items():
            yield (
                b"M 100644 inline %s/%s\ndata %d\n" % (root.encode(), name.encode(), len(data)) + data + b"\n"
            )
    yield b"done\n"


def make(repo: Path, sessions: int, lines: int) -> None:
    """The repository, well packed."""
    subprocess.run(["git", "init", "-q", "--bare", str(repo)], check=True)
    with subprocess.Popen(
        ["git", "-C", str(repo), "fast-import", "--quiet", "--done"], stdin=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        for part in stream(sessions, lines):
            process.stdin.write(part)
    subprocess.run(["git", "-C", str(repo), "repack", "-adfq"], check=True)


def main() -> None:
    """Runs and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=5000)
    parser.add_argument("--lines", type=int, default=30)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / "many.git"
        make(repo, asked.sessions, asked.lines)
        ls = ["git", "-C", str(repo), "ls-tree", "-r", "refs/heads/entire/checkpoints/v1"]
        begin = time.perf_counter()
        subprocess.run(ls, stdout=subprocess.DEVNULL, check=True)
        floor = time.perf_counter() - begin
        bank = sb.open_bank(repo, cache=Path(folder) / "cache", state_dir=folder, progress=False)
        work = {
            "listing": bank.list_checkpoints, "records frame": lambda: bank.records(transcripts=False),
            "all tables cold": lambda: [getattr(bank, t)() for t in TABLES],
        }  # fmt: skip
        print(f"{asked.sessions} sessions of {asked.lines} lines; git ls-tree -r: {floor:.2f} s")
        for name, step in work.items():
            begin = time.perf_counter()
            step()
            took = time.perf_counter() - begin
            print(
                f"  {name:16s} {took:7.2f} s = {took / floor:6.1f} times ls-tree, {1e6 * took / asked.sessions:7.0f} us a session"
            )
        bank.close()
        scale = 1 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale / 1e6
        print(f"  peak memory of this process: {peak:.0f} MB")


if __name__ == "__main__":
    main()
