"""From stored transcripts to tables: what is new is read and decoded, the rest comes from the cache.

A session is built anew when its records or blobs changed, or when another session turns out to have had its rows
first. The result of a refresh equals that of a cold load. Sources are handed in; frames are made by the caller.
"""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sessionbank.records import Diagnostic, SessionRecord
from sessionbank.tables import cache as disk
from sessionbank.tables.batch import TABLES, Batch
from sessionbank.tables.inherit import inherited_rows
from sessionbank.tables.union import SessionUnion
from sessionbank.transcripts.rows import SessionRows, as_json

if TYPE_CHECKING:
    import pyarrow as pa

FLUSH_BYTES = 32 << 20
Blobs = Callable[[Iterable[str]], Iterator[tuple[str, bytes | None]]]
Progress = Callable[[int, int], None]  # sessions done, sessions in all


@contextmanager
def _without_gc() -> Iterator[None]:
    """The rows of a load are all alive: looking for garbage among them costs a quarter of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def signature(records: list[SessionRecord]) -> str:
    """What a session's rows depend on: its records' blobs, in order, and what decides their windows."""
    parts = [(r.checkpoint_id, r.session_index, r.start_offset, r.transcript_blobs, r.hash_blob) for r in records]
    return disk.key(parts)


class Loader:
    """Builds the transcript tables of sessions and keeps them in a cache."""

    def __init__(self, blobs: Blobs, cache: disk.Cache, progress: Progress | None = None) -> None:
        self._blobs = blobs
        self._cache = cache
        self._progress = progress or (lambda done, total: None)
        self._writes: list[Future[None]] = []

    def load(self, sessions: Mapping[str, list[SessionRecord]], fingerprint: str) -> disk.Manifest:
        """Brings the cache up to `sessions` (id -> records in stored order, in table order) and gives its manifest."""
        old = self._cache.read()
        found = old.sessions if old else {}
        signatures = {sid: signature(records) for sid, records in sessions.items()}
        kept = {sid: found[sid] for sid in sessions if sid in found and found[sid].signature == signatures[sid]}
        with _without_gc():
            todo = [sid for sid in sessions if sid not in kept]
            kept.update(self._build({sid: sessions[sid] for sid in todo}, signatures, {}))
            manifest = disk.Manifest(fingerprint, {sid: kept[sid] for sid in sessions})
            copies = inherited_rows(self._cache, manifest)
            again = [sid for sid, k in manifest.sessions.items() if k.inherited != _owners(copies.get(sid, {}))]
            if again:
                rebuilt = self._build({sid: sessions[sid] for sid in again}, signatures, copies)
                manifest.sessions.update(rebuilt)
        return manifest

    def _build(
        self, sessions: Mapping[str, list[SessionRecord]], signatures: Mapping[str, str], copies: Mapping[str, Mapping[str, str]]
    ) -> dict[str, disk.Kept]:
        built: dict[str, disk.Kept] = {}
        batch = Batch()
        wanted = [oid for records in sessions.values() for r in records for oid in _objects(r)]
        stream = self._blobs(wanted)
        # Hashes are worked out, and finished batches written, while lines are decoded.
        with ThreadPoolExecutor(1, "hashing") as hashing, ThreadPoolExecutor(1, "writing") as writing:
            for done, (sid, records) in enumerate(sessions.items()):
                _add(batch, (sid, records), stream, inherited=copies.get(sid, {}), hashing=hashing)
                if batch.size >= FLUSH_BYTES:
                    self._flush(writing, batch, signatures, copies, built)
                    batch = Batch()
                self._progress(done + 1, len(sessions))
            _exhaust(stream)
            if batch.ranges:
                self._flush(writing, batch, signatures, copies, built)
            while self._writes:
                self._writes.pop().result()
        return built

    def _flush(
        self, writing: ThreadPoolExecutor, batch: Batch, signatures: Mapping[str, str], copies: Mapping[str, Mapping[str, str]], built: dict[str, disk.Kept]
    ) -> None:
        segment = self._cache.new_name()
        self._writes.append(writing.submit(self._cache.add, segment, batch.tables()))
        while len(self._writes) > 1:  # at most one batch waits in memory
            self._writes.pop(0).result()
        for where in batch.ranges:
            sid = where.session_id
            built[sid] = disk.Kept(segment, signatures[sid], _owners(copies.get(sid, {})), where.rows)

    def table(self, manifest: disk.Manifest, name: str) -> pa.Table:
        """One of `TABLES`, of all sessions of the manifest."""
        if name not in TABLES:
            raise KeyError(name)
        return disk.assemble(self._cache, manifest, name)


def _owners(inherited: Mapping[str, str]) -> str:
    return disk.key(sorted(inherited.items())) if inherited else ""


def _objects(record: SessionRecord) -> tuple[str, ...]:
    return (record.hash_blob, *record.transcript_blobs) if record.hash_blob and record.transcript_blobs else record.transcript_blobs


def _exhaust(stream: Iterator[tuple[str, bytes | None]]) -> None:
    for _ in stream:
        pass


def _add(
    batch: Batch, session: tuple[str, list[SessionRecord]], stream: Iterator[tuple[str, bytes | None]], *,
    inherited: Mapping[str, str], hashing: ThreadPoolExecutor,
) -> None:  # fmt: skip
    sid, records = session
    rows = SessionRows(sid)
    union = SessionUnion(rows.problem)
    states: list[tuple[SessionRecord, str, Future[str] | None]] = []
    size = 0
    for record in records:
        parts = [next(stream)[1] for _ in _objects(record)]
        stated = parts.pop(0) if record.hash_blob and parts else None
        chunks = [p for p in parts if p is not None]
        if not record.transcript_blobs:
            continue
        if len(chunks) < len(parts):
            _tell(rows, record, "missing_blob", "the transcript, or a part of it, is not in this clone or is damaged", "warning")
        if all(not c or c.isspace() for c in chunks):
            states.append((record, "missing_blob" if len(chunks) < len(parts) else "empty", None))
            continue
        states.append((record, "present", hashing.submit(_hash_state, stated, chunks)))
        size += union.add(record, chunks)
    entries = union.entries()
    rows.repeats = union.repeats
    agent = union.format.agent if union.format else None
    if union.format:
        try:
            union.format.read(entries, rows)
        except Exception as error:  # a format module must not stop a bank; what it read so far would be half of it
            rows = _unreadable(sid, error, records)
            agent = "unknown"
    shots = {id(s.record): s for s in union.snapshots}
    snapshots = []
    for record, state, hashed in states:
        hash_state = hashed.result() if hashed else None
        if hash_state == "mismatch":
            text = "content_hash.txt is of other bytes (before 2026-02-08: of those before redaction)"
            _tell(rows, record, "hash_mismatch", text, "info")
        s = shots.get(id(record))
        known = (s.chain, s.lines, s.size, s.format, s.agent) if s else (None,) * 5
        snapshots.append(
            (sid, record.checkpoint_id, record.session_index, *known, state, hash_state, as_json(list(record.transcript_blobs)))
        )
    batch.add(rows, snapshots, agent, inherited, size)


def _unreadable(sid: str, error: Exception, records: list[SessionRecord]) -> SessionRows:
    rows = SessionRows(sid)
    _tell(rows, records[0], "reader_failed", f"the reader failed on it: {type(error).__name__}: {error}"[:300], "error")
    return rows


def _hash_state(stated: bytes | None, chunks: list[bytes]) -> str:
    if stated is None:
        return "absent"
    digest = hashlib.sha256()
    for at, chunk in enumerate(chunks):
        if at:
            digest.update(b"\n")
        digest.update(chunk)
    return "match" if stated.strip().removeprefix(b"sha256:").decode("ascii", "replace") == digest.hexdigest() else "mismatch"


def _tell(rows: SessionRows, record: SessionRecord, code: str, message: str, severity: str) -> None:
    path = f"{record.path}/{record.transcript_name}"
    rows.problems.append(
        Diagnostic(severity, code, message, record.checkpoint_id, record.session_index, record.session_id, path)
    )


