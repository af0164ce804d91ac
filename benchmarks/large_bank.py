"""Memory and time of a bank of several hundred MB: the transcripts of a real bundle, several times over, as other sessions.

    python benchmarks/large_bank.py [BUNDLE] [--copies 7] [--repack]

Prints the peak memory of our process (git's own apart), the cold load beside `git cat-file --batch` of the same
transcripts in path order, and the report beside the cold load (imports and the first font look-up apart): reading
included, it is to take no more than twice as long. `--repack` packs the made repository well first, which takes minutes.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import sessionbank as sb
from sessionbank.selection import STORED_AND_SPOKEN as TABLES

BRANCH = "refs/heads/entire/checkpoints/v1"


def run(repo: Path, *command: str) -> bytes:
    """Output of a git command."""
    return subprocess.run(["git", "-C", str(repo), *command], check=True, capture_output=True).stdout


def entries(repo: Path) -> list[tuple[str, str]]:
    """Object id and path of every file of the checkpoint branch."""
    rows = (line.split(None, 3) for line in run(repo, "ls-tree", "-r", BRANCH).decode().splitlines())
    return [(oid, name) for _, _, oid, name in rows]


def copied(data: bytes, copy: int) -> bytes:
    """The same session under another id, its lines under other uuids."""
    mark = b"%d" % copy
    for key in (b'"uuid":"', b'"parentUuid":"', b'"sessionId":"', b'"session_id": "', b'"session_id":"'):
        data = data.replace(key, key + mark)
    return data


def stream(source: Path, copies: int) -> Iterator[bytes]:
    """A fast-import stream of one commit."""
    yield b"commit %s\ncommitter b <b@example.org> 1770000000 +0000\ndata 1\nx\n" % BRANCH.encode()
    for oid, name in entries(source):
        data = run(source, "cat-file", "blob", oid)
        for copy in range(copies):
            path = f"{copy}{name[1:]}".encode()  # another checkpoint of the same shape
            content = copied(data, copy)
            yield b"M 100644 inline %s\ndata %d\n" % (path, len(content)) + content + b"\n"
    yield b"done\n"


def main() -> None:
    """Runs and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundle", nargs="?", default=str(Path(__file__).parents[1] / "data" / "shop.bundle"))
    parser.add_argument("--copies", type=int, default=7)
    parser.add_argument("--repack", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source, repo = Path(folder) / "source.git", Path(folder) / "large.git"
        subprocess.run(["git", "clone", "-q", "--mirror", asked.bundle, str(source)], check=True)
        subprocess.run(["git", "init", "-q", "--bare", str(repo)], check=True)
        with subprocess.Popen(
            ["git", "-C", str(repo), "fast-import", "--quiet", "--done"], stdin=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            for part in stream(source, asked.copies):
                process.stdin.write(part)
        if asked.repack:
            run(repo, "repack", "-adfq", "--window=20")
        oids = [oid for oid, name in entries(repo) if "full.jsonl" in name]
        begin = time.perf_counter()
        subprocess.run(
            ["git", "-C", str(repo), "cat-file", "--batch"],
            input="\n".join(oids).encode(),
            stdout=subprocess.DEVNULL,
            check=True,
        )
        floor = time.perf_counter() - begin
        begin = time.perf_counter()
        with sb.open_bank(repo, cache=Path(folder) / "cache", state_dir=folder, progress=False) as bank:
            rows = {name: len(bank.arrow(name)) for name in TABLES}
            total = int(bank.records(transcripts=False)["transcript_bytes"].sum())
        cold = time.perf_counter() - begin
        scale = 1 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale / 1e6
        with sb.open_bank(source, cache=Path(folder) / "first", state_dir=folder, progress=False) as bank:
            sb.write_report(bank.query(limit=3), Path(folder) / "first.html")
        begin = time.perf_counter()
        with sb.open_bank(repo, cache=Path(folder) / "cache", state_dir=folder, progress=False) as bank:
            report = sb.write_report(bank, Path(folder) / "report.html")
        told = time.perf_counter() - begin
        print(f"{total / 1e6:.0f} MB of transcripts in {len(oids)} files, {rows['messages']} messages")
        print(
            f"  git cat-file {floor:.2f} s, all tables cold {cold:.2f} s = {cold / floor:.2f} times, peak memory {peak:.0f} MB"
        )
        print(
            f"  report {told:.2f} s on what was read; with reading {(cold + told) / cold:.2f} times the cold load "
            f"(wanted: 2 or less from 700 MB on), {report.stat().st_size / 1e6:.1f} MB"
        )


if __name__ == "__main__":
    main()
