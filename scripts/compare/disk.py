"""The sample bank's Claude Code sessions as they stood on their people's disks: a home with `.claude/projects`.

Entire stores a session again at each commit; on disk it is one file that grew. The file is made from the stored bytes
alone: what is stored later adds the lines that are not there yet. No counting is done here.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import sessionbank as sb


def write_home(bundle: Path, home: Path) -> int:
    """Writes the sessions below `home`; how many there are. Those of which nothing was stored have no file."""
    repo = home.parent / "shop.git"
    subprocess.run(["git", "clone", "--quiet", "--mirror", str(bundle), str(repo)], check=True)
    written = 0
    with sb.open_bank(repo, cache=False, progress=False) as bank:
        for session in bank.query(agent="claude-code"):
            lines: list[bytes] = []
            seen: set[bytes] = set()
            for record in sorted(session.records, key=lambda r: (r.created_at, r.checkpoint_id)):
                stored = b"".join(blob(repo, name) for name in record.transcript_blobs).split(b"\n")
                lines += [line for line in stored if line.strip() and line not in seen]
                seen.update(stored)
            if not lines:
                continue
            folder = home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", session.cwd or "unknown")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{session.session_id}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
            written += 1
    return written


def blob(repo: Path, name: str) -> bytes:
    """The bytes of a git object."""
    command = ["git", "-C", str(repo), "cat-file", "blob", name]
    return subprocess.run(command, check=True, capture_output=True).stdout
