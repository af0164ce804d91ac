"""Real git repositories with checkpoints in any layout, made from Python values by git's own command line.

`CheckpointRepo(path).add_checkpoint("0123456789ab", sessions=[session("s", transcript=...)])` writes what Entire would
have written. Nothing here reads a repository, and nothing of the package under test is used.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

BRANCH = "refs/heads/entire/checkpoints/v1"
V2_MAIN, V2_FULL = "refs/entire/checkpoints/v2/main", "refs/entire/checkpoints/v2/full/current"
SESSIONS_V0 = "refs/heads/entire/sessions"
LAYOUTS = ("branch-v1", "refs-v1", "v2", "sessions-v0")
Content = (
    bytes | tuple[str, bytes]
)  # a file's bytes, or its mode and bytes (of a 160000 entry: the commit id)


def session(
    session_id: str, transcript: bytes | Sequence[bytes] | None = None, **stated: Any
) -> dict[str, Any]:
    """What one session directory holds; `stated` are keys of its metadata, or of `_files`.

    `transcript` may be a list of chunks. Not part of the metadata: `index` (directory number), `prompt` (text),
    `hash` (True, or the text of content_hash.txt), `raw_metadata` (bytes instead of JSON), `files` (path -> content),
    `compact` (transcript.jsonl of the v2 layout), `start` (short for checkpoint_transcript_start).
    """
    return {"session_id": session_id, "transcript": transcript, **stated}


class CheckpointRepo:
    """A git repository that tests write to."""

    def __init__(self, path: Path, *, bare: bool = False, clone_of: Path | None = None) -> None:
        self.path = path
        if clone_of is None:
            path.mkdir(parents=True, exist_ok=True)
            self.git("init", "-q", *(["--bare"] if bare else []), ".")
        self._minute = 0

    @property
    def git_dir(self) -> Path:
        """The folder that holds objects and refs."""
        dot = self.path / ".git"
        return dot if dot.is_dir() else self.path

    def git(
        self, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None, check: bool = True
    ) -> bytes:
        """Output of a git command that runs in the repository."""
        done = subprocess.run(
            ["git", *args],
            cwd=self.path,
            input=stdin,
            capture_output=True,
            env={**os.environ, **(env or {})},
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"git {' '.join(args)}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def write(
        self,
        ref: str,
        files: Mapping[str | bytes, Content | None],
        *,
        message: str = "Checkpoint",
        fresh: bool = False,
    ) -> str:
        """Commits files to a ref (None removes a path; `fresh` forgets the ref's history); gives the commit."""
        self._minute += 1
        when = 1_770_000_000 + 60 * self._minute
        parts = [
            b"commit %s\ncommitter T <t@example.org> %d +0000\n" % (ref.encode(), when),
            _data(message.encode()),
        ]
        if not fresh and self.resolve(ref):
            parts.append(b"from %s^0\n" % ref.encode())
        for path, content in files.items():
            name = _quoted(path)
            if content is None:
                parts.append(b"D %s\n" % name)
                continue
            mode, data = content if isinstance(content, tuple) else ("100644", content)
            if mode == "160000":
                parts.append(b"M 160000 %s %s\n" % (data, name))
            else:
                parts.append(b"M %s inline %s\n" % (mode.encode(), name) + _data(data))
        self.git(
            "-c",
            "core.protectNTFS=false",
            "fast-import",
            "--quiet",
            "--force",
            stdin=b"".join([*parts, b"\n", b"done\n"]),
        )
        return self.resolve(ref)

    def resolve(self, name: str) -> str:
        """The object id of a ref, empty where there is none."""
        return self.git("rev-parse", "--verify", "--quiet", name, check=False).decode().strip()

    def add_checkpoint(
        self,
        checkpoint_id: str,
        *,
        sessions: Iterable[Mapping[str, Any]],
        layout: str = "branch-v1",
        ref: str | None = None,
        root: Mapping[str, Any] | bytes | None = None,
        files: Mapping[str, Content] | None = None,
        fresh: bool = False,
    ) -> str:
        """Stores a checkpoint in a layout; `root` adds to (or, as bytes, is) its root metadata. Gives the commit."""
        sessions = list(sessions)
        folder = "" if layout == "refs-v1" else f"{checkpoint_id[:2]}/{checkpoint_id[2:]}/"
        target = (
            ref
            or {
                "branch-v1": BRANCH,
                "refs-v1": f"refs/entire/checkpoints/{checkpoint_id[-2:]}/{checkpoint_id}",
                "v2": V2_MAIN,
                "sessions-v0": SESSIONS_V0,
            }[layout]
        )
        out: dict[str, Content] = {}
        full: dict[str, Content] = {}
        for number, stored in enumerate(sessions):
            index = stored.get("index", number)
            where = f"{folder}{index}/"
            if layout == "sessions-v0" and number == len(sessions) - 1:
                where = folder  # the latest session lies at the root
            elif layout == "sessions-v0":
                where = f"{folder}{number + 1}/"
            for name, content in _files(checkpoint_id, stored, layout).items():
                (full if name.startswith("raw_transcript") else out)[where + name] = content
        if layout != "sessions-v0":
            stated = {
                "checkpoint_id": checkpoint_id,
                "strategy": "manual-commit",
                "sessions": [],
                "files_touched": [],
            }
            out[f"{folder}metadata.json"] = (
                root if isinstance(root, bytes) else json.dumps({**stated, **(root or {})}).encode()
            )
        for path, content in (files or {}).items():
            out[folder + path] = content
        done = self.write(target, out, message=f"Checkpoint: {checkpoint_id}", fresh=fresh)
        if full:
            self.write(V2_FULL, full, message=f"Checkpoint: {checkpoint_id}")
        return done

    def remove_checkpoint(self, checkpoint_id: str) -> None:
        """Takes a checkpoint off the branch, as a clean-up does."""
        self.write(
            BRANCH,
            {f"{checkpoint_id[:2]}/{checkpoint_id[2:]}": None},
            message="Cleanup: removed 1 orphaned checkpoint",
        )

    def commit(self, message: str | bytes, *, branch: str = "refs/heads/main", path: str = "code.txt") -> str:
        """A code commit with that message."""
        text = message.decode("utf-8", "surrogateescape") if isinstance(message, bytes) else message
        return self.write(branch, {path: f"{self._minute}\n".encode()}, message=text)

    def delete_object(self, oid: str) -> None:
        """Takes a loose object out of the store, as an incomplete copy would lack it."""
        (self.git_dir / "objects" / oid[:2] / oid[2:]).unlink()

    def object_path(self, oid: str) -> Path:
        """Where a loose object lies."""
        return self.git_dir / "objects" / oid[:2] / oid[2:]

    def blob_at(self, ref: str, path: str) -> str:
        """The object id of a file in a ref's tree."""
        return self.git("rev-parse", "--verify", f"{ref}:{path}").decode().strip()


def _data(data: bytes) -> bytes:
    return b"data %d\n" % len(data) + data + b"\n"


def _quoted(path: str | bytes) -> bytes:
    raw = path if isinstance(path, bytes) else path.encode("utf-8", "surrogateescape")
    return (
        b'"' + b"".join(b"\\%03o" % c if c < 32 or c > 126 or c in b'"\\' else bytes([c]) for c in raw) + b'"'
    )


def _files(checkpoint_id: str, stored: Mapping[str, Any], layout: str) -> dict[str, Content]:
    apart = {"transcript", "index", "prompt", "hash", "raw_metadata", "files", "compact", "start"}
    stated = {
        "checkpoint_id": checkpoint_id,
        "strategy": "manual-commit",
        "created_at": "2026-02-01T10:00:00Z",
        "branch": "main",
    }
    stated |= {k: v for k, v in stored.items() if k not in apart}
    if stored.get("start"):
        stated["checkpoint_transcript_start"] = stored["start"]
    raw = stored.get("raw_metadata", json.dumps(stated).encode())
    out: dict[str, Content] = {"metadata.json": raw} if raw is not None else {}
    name = "raw_transcript" if layout == "v2" else "full.jsonl"
    transcript = stored.get("transcript")
    if transcript is not None:
        chunks = [transcript] if isinstance(transcript, bytes) else list(transcript)
        for number, chunk in enumerate(chunks):
            out[name + (f".{number:03d}" if number else "")] = chunk
        if stored.get("hash") is True:
            out["content_hash.txt"] = b"sha256:" + hashlib.sha256(b"\n".join(chunks)).hexdigest().encode()
    if isinstance(stored.get("hash"), str):
        out["content_hash.txt"] = stored["hash"].encode()
    if stored.get("prompt") is not None:
        out["prompt.txt"] = stored["prompt"].encode()
    if stored.get("compact") is not None:
        out["transcript.jsonl"] = stored["compact"]
    return out | dict(stored.get("files", {}))
