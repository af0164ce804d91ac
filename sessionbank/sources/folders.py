"""An agent's own folder of transcripts as a source: ``~/.claude/projects``, ``~/.codex/sessions`` and their like.

Each file is a record of layout ``folder``; what Entire would have told (commits, summaries, attribution) is not there.
Files are known by their content, so a copy under another root is the same record, and a rewrite of equal size and time
is seen. Nothing is written, and symbolic links are not followed. What a file means is told in `transcripts`.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from sessionbank.records import AgentFile, CheckpointRef, Diagnostic, SessionRecord
from sessionbank.sources.git import Commit
from sessionbank.sources.metadata import RootMetadata, canonical_id
from sessionbank.sources.store import Checkpoint, Store

_HEAD = 1 << 16
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_AGENT = re.compile(r"agent-(.+)\.jsonl")
KNOWN_PLACES = (".claude/projects", ".codex/sessions", ".gemini/tmp", ".pi/agent/sessions")


def is_known_place(path: Path) -> bool:
    """Whether the path is, or lies in, a folder where an agent keeps its sessions."""
    parts = path.parts
    places = [tuple(place.split("/")) for place in KNOWN_PLACES]
    return any(parts[at : at + len(p)] == p for p in places for at in range(len(parts)))


def transcripts_below(root: Path, limit: int | None = None) -> Iterator[Path]:
    """Files that may be transcripts, in a fixed order; links are not followed."""
    found = 0
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = Path(folder) / name
            if (
                name.endswith((".jsonl", ".json")) and not path.is_symlink() and path.is_file()
            ):  # no pipe, no device
                found += 1
                yield path
                if limit is not None and found >= limit:
                    return


class Folder:
    """Transcripts below one folder."""

    branch = None
    head = None

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.identity = f"folder:{self.path}"
        self._paths: dict[
            str, tuple[Path, int]
        ] = {}  # content id -> where it lies, and how many bytes were seen

    def refs(self) -> dict[str, str]:
        """Every file and what changes whenever it does."""
        found = {}
        for path in transcripts_below(self.path):
            with suppress(OSError):
                stat = path.stat()
                found[path.relative_to(self.path).as_posix()] = (
                    f"{stat.st_ino}-{stat.st_mtime_ns}-{stat.st_ctime_ns}-{stat.st_size}"
                )
        return found

    def has_checkpoints(self, refs: dict[str, str]) -> bool:
        """Whether there is any file."""
        return bool(refs)

    def fingerprint(self, refs: dict[str, str]) -> str:
        """Changes whenever a file comes, goes or changes."""
        return hashlib.sha256(orjson.dumps(sorted(refs.items()))).hexdigest()

    def store(self, refs: dict[str, str]) -> Store:
        """A record for each session file; a file that holds no session is told, not read."""
        store = Store()
        sessions: dict[str, list[SessionRecord]] = {}
        agents: list[tuple[str | None, AgentFile]] = []
        for name in sorted(refs):
            path = self.path / name
            try:
                data = path.read_bytes()
                modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            except OSError as error:
                store.problems.append(
                    Diagnostic("warning", "file_unreadable", f"cannot be read: {error.strerror}", path=name)
                )
                continue
            oid = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
            about = _about(data)
            if about is None:
                store.problems.append(
                    Diagnostic("info", "no_transcript", "holds no session of an agent", path=name)
                )
                continue
            self._paths.setdefault(oid, (path, len(data)))
            agent = _AGENT.fullmatch(path.name)
            if agent and about.get("parent"):
                agents.append((about["parent"], AgentFile(agent[1], None, oid, name)))
                continue
            sid = canonical_id(about.get("session") or _named(path))
            record = _record(sid, name, oid, data=data, modified=modified, about=about)
            if any(r.transcript_blobs == record.transcript_blobs for r in sessions.get(sid, [])):
                store.problems.append(
                    Diagnostic(
                        "info",
                        "stored_twice",
                        "the same content stands in another file: counted once",
                        session_id=sid,
                        path=name,
                    )
                )
                continue
            sessions.setdefault(sid, []).append(record)
        for parent, file in agents:
            home = sessions.get(canonical_id(parent or ""))
            if home:
                last = home[-1]
                home[-1] = replace(last, agent_files=(*last.agent_files, file))
            else:
                sid = f"agent-{file.agent_id}"
                record = _record(sid, file.path, file.blob, data=b"", modified=None, about={})
                sessions.setdefault(sid, []).append(record)
                store.problems.append(
                    Diagnostic(
                        "info",
                        "agent_without_session",
                        "a subagent's transcript whose session is not here",
                        session_id=sid,
                        path=file.path,
                    )
                )
        for records in sessions.values():
            for record in records:
                root = RootMetadata(None, None, record.branch, None, None)
                store.checkpoints.append(
                    Checkpoint(
                        record.checkpoint_id, "folder", record.ref, "", record.path, root, (record,), {}
                    )
                )
        return store

    def list_checkpoints(self, refs: dict[str, str]) -> list[CheckpointRef]:
        """A reference for each file's record."""
        return [
            CheckpointRef(c.checkpoint_id, c.layout, c.ref, c.path, len(c.records))
            for c in self.store(refs).checkpoints
        ]

    def blobs(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """The bytes of each file as they were when it was listed; None where they have changed since."""
        for oid in oids:
            path, size = self._paths.get(oid, (None, 0))
            data = None
            if path is not None:
                with suppress(OSError), path.open("rb") as stream:
                    data = stream.read(
                        size
                    )  # a session that goes on is appended to: what was listed is its beginning
            if (
                data is not None
                and hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() != oid
            ):
                data = None
            yield oid, data

    def sizes(self, oids: Iterable[str]) -> Callable[[], dict[str, int | None]]:
        """The size of each file."""
        found = {oid: self._paths[oid][1] if oid in self._paths else None for oid in oids}
        return lambda: found

    def commits(self, refs: dict[str, str]) -> Callable[[], list[Commit]]:
        """None: a folder knows no commits."""
        return list

    def commits_with_files(
        self, refs: dict[str, str], since: datetime
    ) -> list[tuple[Commit, tuple[str, ...]]]:
        """None: a folder knows no commits."""
        return []

    def reverts(self) -> list[tuple[str, str]]:
        """None: a folder knows no commits."""
        return []

    def commit_id(self, name: str) -> str | None:
        """None: a folder knows no commits."""
        return None

    def close(self) -> None:
        """Nothing is held open."""


def _record(
    sid: str, name: str, oid: str, *, data: bytes, modified: datetime | None, about: dict[str, Any]
) -> SessionRecord:
    return SessionRecord(
        checkpoint_id=f"file-{hashlib.sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()[:12]}",
        session_index=0,
        session_id=sid,
        raw_session_id=about.get("session"),
        layout="folder",
        ref="folder",
        path=name,
        created_at=modified,
        branch=about.get("branch"),
        strategy=None,
        cli_version=None,
        agent_label=None,
        transcript_state="present" if data.strip() or not about else "empty",
        transcript_blobs=(oid,),
        transcript_bytes=len(data) or None,
        transcript_name=Path(name).name,
    )


def _named(path: Path) -> str:
    found = _UUID.findall(path.stem)
    return found[-1] if found else path.stem


def _about(data: bytes) -> dict[str, Any] | None:
    """What the beginning of a file says of its session; None where it is no session at all."""
    about: dict[str, Any] = {}
    objects = 0
    for value in _objects(data):
        objects += 1
        _learn(about, value)
        if "session" in about and "branch" in about:
            break
    return about if objects else None


def _objects(data: bytes) -> Iterator[dict[str, Any]]:
    start = data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    first = start.split(b"\n", 1)[0].strip()
    if first in (b"{", b"["):
        with suppress(orjson.JSONDecodeError):
            value = orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
            if isinstance(value, dict) and ({"messages", "history"} & value.keys()):
                yield value
        return
    for line in data[:_HEAD].split(b"\n")[:40]:
        with suppress(orjson.JSONDecodeError):
            value = orjson.loads(line)
            if isinstance(value, dict) and (
                "type" in value or "role" in value or "messages" in value or "sessionId" in value
            ):
                yield value


def _learn(about: dict[str, Any], value: dict[str, Any]) -> None:
    payload, info, data = _part(value, "payload"), _part(value, "info"), _part(value, "data")
    is_header = value.get("type") in ("session", "session_start", "session_meta")
    candidates = [value.get("sessionId"), value.get("session_id"), info.get("id"), data.get("sessionId")]
    if is_header:
        candidates += [value.get("id"), payload.get("id")]
    found = next((c for c in candidates if isinstance(c, str) and c), None)
    if value.get("isSidechain") is True:
        about.setdefault("parent", found)
    if found:
        about.setdefault("session", found)
    branch = value.get("gitBranch") or (_part(payload, "git") or _part(value, "git")).get("branch")
    if isinstance(branch, str) and branch:
        about.setdefault("branch", branch)


def _part(value: dict[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}
