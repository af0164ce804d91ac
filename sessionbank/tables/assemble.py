"""One session's stored transcripts, put together and handed to the batch.

What could not be read, and whose hash does not fit, is told here. How a union is made is `union`'s business, what is
read again after a session grew is `refresh`'s.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from sessionbank.records import AgentFile, Diagnostic, SessionRecord
from sessionbank.tables.batch import Batch
from sessionbank.tables.refresh import Resumed
from sessionbank.tables.union import COMPACT, SessionUnion
from sessionbank.transcripts.jsonl import head
from sessionbank.transcripts.rows import SessionRows, as_json

HASH_INLINE = 1 << 17  # bytes


@dataclass(slots=True)
class _Seen:
    """What reading showed of one stored transcript."""

    record: SessionRecord
    state: str  # present, empty or missing_blob
    hashed: Future[str] | str | None


def objects(record: SessionRecord) -> tuple[str, ...]:
    """The objects to read for a record: its hash, where it has one, then its transcript."""
    blobs = (*record.transcript_blobs, *(f.blob for f in record.agent_files))
    return (record.hash_blob, *blobs) if record.hash_blob and blobs else blobs


def add_session(
    batch: Batch, session: tuple[str, list[SessionRecord]], stream: Iterator[tuple[str, bytes | None]], *,
    inherited: Mapping[str, str], hashing: ThreadPoolExecutor,
) -> None:  # fmt: skip
    """Reads every transcript of a session from `stream`, which gives the objects of `objects` in order."""
    sid, records = session
    rows = SessionRows(sid)
    union = SessionUnion(rows.problem)
    seen: list[_Seen] = []
    size = 0
    agents: list[tuple[SessionRecord, AgentFile, bytes | None]] = []
    for record in records:
        parts = [next(stream)[1] for _ in objects(record)]
        files = parts[len(parts) - len(record.agent_files) :]
        del parts[len(parts) - len(record.agent_files) :]
        agents += [(record, f, d) for f, d in zip(record.agent_files, files, strict=True)]
        if record.transcript_blobs:
            size += _take(record, parts, (rows, union, seen), hashing)
    size += _agent_files(agents, rows, union)
    _finish(batch, (rows, union, seen), inherited, size)


def add_resumed(
    batch: Batch, sid: str, resumed: Resumed, *, inherited: Mapping[str, str], hashing: ThreadPoolExecutor
) -> None:
    """Reads a session that grew: chains of an earlier run by their longest file, then what is new."""
    rows = SessionRows(sid)
    union = SessionUnion(rows.problem)
    seen: list[_Seen] = []
    size = 0
    for chain in resumed.chains:
        union.replay([(k.record, k.size) for k in chain.known], chain.data)
        seen += [_Seen(k.record, "present", k.hash_state) for k in chain.known]
        size += len(chain.data)
    for record, parts in resumed.tail:
        size += _take(record, parts, (rows, union, seen), hashing)
    _finish(batch, (rows, union, seen), inherited, size)


def _agent_files(
    agents: list[tuple[SessionRecord, AgentFile, bytes | None]], rows: SessionRows, union: SessionUnion
) -> int:
    """Subagents' own transcripts join their session, each agent's snapshots one after the other."""
    size = 0
    for record, file, data in sorted(agents, key=lambda a: a[1].agent_id or a[1].path):
        if data is None or not data.strip():
            _tell(
                rows,
                record,
                "missing_blob",
                f"the subagent's transcript {file.path} is empty or not in this clone",
                "warning",
            )
            continue
        named = {v.get("sessionId") for v in head(data)} - {None}
        if named and rows.session_id not in named:
            continue  # of another session of the same checkpoint, which has the same file
        if file.agent_id and file.tool_use_id:
            rows.agent_calls[file.agent_id] = file.tool_use_id
        size += union.add_agent_file(record, file, data)
    return size


_Work = tuple[SessionRows, SessionUnion, list[_Seen]]


def _take(record: SessionRecord, parts: list[bytes | None], work: _Work, hashing: ThreadPoolExecutor) -> int:
    rows, union, seen = work
    stated = parts.pop(0) if record.hash_blob else None
    chunks = [p for p in parts if p is not None]
    if len(chunks) < len(parts):
        text = "the transcript, or a part of it, is not in this clone or is damaged"
        _tell(rows, record, "missing_blob", text, "warning")
    if all(not c or c.isspace() for c in chunks):
        seen.append(_Seen(record, "missing_blob" if len(chunks) < len(parts) else "empty", None))
        return 0
    is_long = (
        stated is not None and sum(map(len, chunks)) > HASH_INLINE
    )  # to hand it over costs more than a short hash
    hashed = hashing.submit(_hash_state, stated, chunks) if is_long else _hash_state(stated, chunks)
    seen.append(_Seen(record, "present", hashed))
    here = tuple(b for b, p in zip(record.transcript_blobs, parts, strict=True) if p is not None)
    return union.add(record, chunks, blobs=here)


def _finish(batch: Batch, work: _Work, inherited: Mapping[str, str], size: int) -> None:
    rows, union, seen = work
    sid = rows.session_id
    runs = union.runs()
    rows.repeats = union.repeats
    agent = union.format.agent if union.format else None
    if union.format and union.format.name != COMPACT:  # the compact form does not show compactions
        rows.agent = union.format.agent
    if union.format:
        try:
            for form, entries in runs:
                form.read(entries, rows)
        except (
            Exception
        ) as error:  # a format module must not stop a bank; what it read so far would be half of it
            rows = SessionRows(sid)
            text = f"the reader failed on it: {type(error).__name__}: {error}"[:300]
            _tell(rows, seen[0].record, "reader_failed", text, "error")
            agent = None
    shots = {id(s.record): s for s in union.snapshots}
    snapshots = []
    for one in seen:
        record = one.record
        hash_state = one.hashed.result() if isinstance(one.hashed, Future) else one.hashed
        if hash_state == "mismatch":
            text = "content_hash.txt is of other bytes (before 2026-02-08: of those before redaction)"
            _tell(rows, record, "hash_mismatch", text, "info")
        shot = shots.get(id(record))
        known = (shot.chain, shot.lines, shot.size, shot.format, shot.agent) if shot else (None,) * 5
        blobs = as_json(list(record.transcript_blobs))
        snapshots.append(
            (sid, record.checkpoint_id, record.session_index, *known, one.state, hash_state, blobs)
        )
    batch.add(rows, snapshots, agent, inherited=inherited, size=size)


def _hash_state(stated: bytes | None, chunks: list[bytes]) -> str:
    if stated is None:
        return "absent"
    digest = hashlib.sha256()
    for at, chunk in enumerate(chunks):
        if at:
            digest.update(b"\n")
        digest.update(chunk)
    named = stated.strip().removeprefix(b"sha256:").decode("ascii", "replace")
    return "match" if named == digest.hexdigest() else "mismatch"


def _tell(rows: SessionRows, record: SessionRecord, code: str, message: str, severity: str) -> None:
    path = f"{record.path}/{record.transcript_name}"
    rows.problems.append(
        Diagnostic(
            severity, code, message, record.checkpoint_id, record.session_index, record.session_id, path
        )
    )
