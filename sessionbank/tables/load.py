"""From stored transcripts to tables: what is new is read and decoded, the rest comes from the cache.

A session is built anew when its records or blobs changed, or when another session turns out to have had its rows
first. The result of a refresh equals that of a cold load. Sources are handed in; frames are made by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessionbank.records import SessionRecord
from sessionbank.sources.no_gc import no_gc
from sessionbank.tables import cache as disk
from sessionbank.tables.assemble import add_resumed, add_session, objects
from sessionbank.tables.batch import TABLES, Batch
from sessionbank.tables.inherit import inherited_rows
from sessionbank.tables.refresh import Plan, Resumed, grown, resume
from sessionbank.tables.second import Second, Tokens, has_second_core

if TYPE_CHECKING:
    import pyarrow as pa

# Memory follows the batch: that many bytes of transcript, or that many messages, are held as Python objects.
FLUSH_BYTES = 32 << 20
FLUSH_ROWS = 50_000
TWO_FROM_BYTES = 16 << 20  # of stored transcripts: below it a second process costs more than it saves
GROUP_BYTES, GROUP_SESSIONS = 1 << 20, 200
Blobs = Callable[[Iterable[str]], Generator[tuple[str, bytes | None], None, None]]
Progress = Callable[[int, int], None]  # sessions done, sessions in all


def signature(records: list[SessionRecord]) -> str:
    """What a session's rows depend on: its records' blobs, in order, and what decides their windows."""
    parts = [
        (
            r.checkpoint_id,
            r.session_index,
            r.start_offset,
            r.transcript_blobs,
            r.hash_blob,
            r.agent_files,
            r.path,
            r.transcript_name,
        )
        for r in records
    ]
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
        found = old.sessions if old and self._cache.hold(old) else {}
        signatures = {sid: signature(records) for sid, records in sessions.items()}
        kept = {
            sid: found[sid] for sid in sessions if sid in found and found[sid].signature == signatures[sid]
        }
        with no_gc():
            todo = {sid: records for sid, records in sessions.items() if sid not in kept}
            plans = (
                grown(self._cache, {sid: found[sid] for sid in todo if sid in found}, todo) if found else {}
            )
            kept.update(self._build(todo, signatures, {}, plans=plans))
            manifest = disk.Manifest(fingerprint, {sid: kept[sid] for sid in sessions})
            copies = inherited_rows(self._cache, manifest)
            again = [
                sid for sid, k in manifest.sessions.items() if k.inherited != _owners(copies.get(sid, {}))
            ]
            if again:
                rebuilt = self._build({sid: sessions[sid] for sid in again}, signatures, copies, plans={})
                manifest.sessions.update(rebuilt)
        return manifest

    def _build(
        self, sessions: Mapping[str, list[SessionRecord]], signatures: Mapping[str, str],
        copies: Mapping[str, Mapping[str, str]], *, plans: Mapping[str, Plan],
    ) -> dict[str, disk.Kept]:  # fmt: skip
        job = _Job(sessions, signatures, copies, resume(plans, self._blobs))
        groups = _groups(job)
        count, done = len(sessions), 0

        def told(finished: int) -> None:
            self._progress(finished, count)

        if not _is_long(job) or not has_second_core():
            return self._build_here(job, groups, take=lambda: True, on_done=told)

        def work(tick: Callable[[], None]) -> dict[str, disk.Kept]:
            return self._build_here(job, groups, take=tokens.take, on_done=lambda n: tick(), backwards=True)

        # This process takes groups from the front, the other one from the back, until they meet.
        with Tokens(len(groups)) as tokens, Second(work) as second:
            built = self._build_here(
                job, groups, take=tokens.take, on_done=lambda n: told(min(n + second.look(), count))
            )
            done = len(built)
            theirs = second.answer(lambda n: told(min(done + n, count)))
        if theirs is None:
            left = [group for group in groups if group[0] not in built]
            theirs = self._build_here(job, left, take=lambda: True, on_done=lambda n: told(done + n))
        return built | theirs

    def _build_here(
        self, job: _Job, groups: list[list[str]], *, take: Callable[[], bool], on_done: Callable[[int], None],
        backwards: bool = False,
    ) -> dict[str, disk.Kept]:  # fmt: skip
        """Builds group after group while `take` allows it; rows of a segment stand in the order of `groups`."""
        built: dict[str, disk.Kept] = {}
        batch = Batch()
        order = groups[::-1] if backwards else groups
        fresh = [r for group in order for sid in group if sid not in job.resumed for r in job.sessions[sid]]
        stream = self._blobs([oid for r in fresh for oid in objects(r)])

        def flush() -> None:
            segment = self._cache.new_name()
            self._writes.append(writing.submit(self._cache.add, segment, batch.tables()))
            while len(self._writes) > 1:  # at most one batch waits in memory
                self._writes.pop(0).result()
            for where in batch.ranges:
                sid = where.session_id
                owners = _owners(job.copies.get(sid, {}))
                built[sid] = disk.Kept(segment, job.signatures[sid], owners, where.rows)

        # Hashes are worked out, and finished batches written, while lines are decoded.
        with (
            closing(stream),
            ThreadPoolExecutor(1, "hashing") as hashing,
            ThreadPoolExecutor(1, "writing") as writing,
        ):
            done = 0
            for group in order:
                if not take():
                    break
                part = Batch()
                for sid in group:
                    inherited = job.copies.get(sid, {})
                    if sid in job.resumed:
                        add_resumed(part, sid, job.resumed.pop(sid), inherited=inherited, hashing=hashing)
                    else:
                        records = job.sessions[sid]
                        add_session(part, (sid, records), stream, inherited=inherited, hashing=hashing)
                    done += 1
                    on_done(done)
                batch = part + batch if backwards else batch + part
                if batch.size >= FLUSH_BYTES or batch.messages >= FLUSH_ROWS:
                    flush()
                    batch = Batch()
            if batch.ranges:
                flush()
            while self._writes:
                self._writes.pop().result()
        return built

    def table(self, manifest: disk.Manifest, name: str) -> pa.Table:
        """One of `TABLES`, of all sessions of the manifest."""
        if name not in TABLES:
            raise KeyError(name)
        return disk.assemble(self._cache, manifest, name)


@dataclass(slots=True)
class _Job:
    """The sessions to build, and what is known of them."""

    sessions: Mapping[str, list[SessionRecord]]
    signatures: Mapping[str, str]
    copies: Mapping[str, Mapping[str, str]]  # session -> uuid -> session that owns the row
    resumed: dict[str, Resumed]  # what is not built yet

    def size(self, session_id: str) -> int:
        """Bytes of stored transcripts."""
        return sum(r.transcript_bytes or 0 for r in self.sessions[session_id])


def _is_long(job: _Job) -> bool:
    fresh = [sid for sid in job.sessions if sid not in job.resumed]
    return len(fresh) > 1 and sum(map(job.size, fresh)) >= TWO_FROM_BYTES


def _groups(job: _Job) -> list[list[str]]:
    """The sessions in runs of some megabytes: what a process takes at once. No more runs than a pipe holds bytes."""
    total = sum(map(job.size, job.sessions))
    limit = max(GROUP_BYTES, total // 1000)
    most = max(1, len(job.sessions) // 1000)
    groups: list[list[str]] = []
    size = limit
    for sid in job.sessions:
        if size >= limit or len(groups[-1]) >= max(most, GROUP_SESSIONS):
            groups.append([])
            size = 0
        groups[-1].append(sid)
        size += job.size(sid)
    return groups


def _owners(inherited: Mapping[str, str]) -> str:
    return disk.key(sorted(inherited.items())) if inherited else ""
