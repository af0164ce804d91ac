"""From stored transcripts to tables: what is new is read and decoded, the rest comes from the cache.

A session is built anew when its records or blobs changed, or when another session turns out to have had its rows
first. The result of a refresh equals that of a cold load. Sources are handed in; frames are made by the caller.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import accumulate
from typing import TYPE_CHECKING

from sessionbank.records import SessionRecord
from sessionbank.sources.no_gc import no_gc
from sessionbank.tables import cache as disk
from sessionbank.tables.assemble import add_resumed, add_session, objects
from sessionbank.tables.batch import TABLES, Batch
from sessionbank.tables.inherit import inherited_rows
from sessionbank.tables.refresh import Plan, Resumed, grown, resume
from sessionbank.tables.second import Second, has_second_core

if TYPE_CHECKING:
    import pyarrow as pa

# Memory follows the batch: that many bytes of transcript, or that many messages, are held as Python objects.
FLUSH_BYTES = 32 << 20
FLUSH_ROWS = 50_000
TWO_FROM_BYTES = 16 << 20  # of stored transcripts: below it a second process costs more than it saves
Blobs = Callable[[Iterable[str]], Iterator[tuple[str, bytes | None]]]
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
        resumed = resume(plans, self._blobs)
        mine, theirs = _shares(sessions)
        if not theirs:
            return self._build_here(
                mine, signatures, copies, resumed=resumed, on_done=self._told(len(sessions))
            )

        def work(tick: Callable[[], None]) -> dict[str, disk.Kept]:
            return self._build_here(theirs, signatures, copies, resumed=resumed, on_done=lambda done: tick())

        tell = self._told(len(sessions))
        with Second(work) as second:
            built = self._build_here(
                mine, signatures, copies, resumed=resumed, on_done=lambda done: tell(done + second.look())
            )
            rest = second.answer(lambda done: tell(len(mine) + done))
        if rest is None:
            rest = self._build_here(
                theirs, signatures, copies, resumed=resumed, on_done=lambda done: tell(len(mine) + done)
            )
        return built | rest

    def _told(self, total: int) -> Callable[[int], None]:
        return lambda done: self._progress(done, total)

    def _build_here(
        self, sessions: Mapping[str, list[SessionRecord]], signatures: Mapping[str, str],
        copies: Mapping[str, Mapping[str, str]], *, resumed: dict[str, Resumed], on_done: Callable[[int], None],
    ) -> dict[str, disk.Kept]:  # fmt: skip
        built: dict[str, disk.Kept] = {}
        batch = Batch()
        fresh = {sid: records for sid, records in sessions.items() if sid not in resumed}
        stream = self._blobs([oid for records in fresh.values() for r in records for oid in objects(r)])

        def flush() -> None:
            segment = self._cache.new_name()
            self._writes.append(writing.submit(self._cache.add, segment, batch.tables()))
            while len(self._writes) > 1:  # at most one batch waits in memory
                self._writes.pop(0).result()
            for where in batch.ranges:
                sid = where.session_id
                built[sid] = disk.Kept(segment, signatures[sid], _owners(copies.get(sid, {})), where.rows)

        # Hashes are worked out, and finished batches written, while lines are decoded.
        with ThreadPoolExecutor(1, "hashing") as hashing, ThreadPoolExecutor(1, "writing") as writing:
            for done, (sid, records) in enumerate(sessions.items()):
                inherited = copies.get(sid, {})
                if sid in resumed:
                    add_resumed(batch, sid, resumed.pop(sid), inherited=inherited, hashing=hashing)
                else:
                    add_session(batch, (sid, records), stream, inherited=inherited, hashing=hashing)
                if batch.size >= FLUSH_BYTES or batch.messages >= FLUSH_ROWS:
                    flush()
                    batch = Batch()
                on_done(done + 1)
            for _ in stream:  # git is waited for
                pass
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


def _shares(
    sessions: Mapping[str, list[SessionRecord]],
) -> tuple[Mapping[str, list[SessionRecord]], Mapping[str, list[SessionRecord]]]:
    """The sessions in two halves by size, the second empty where one process is as quick; order is kept."""
    sizes = [sum(r.transcript_bytes or 0 for r in records) for records in sessions.values()]
    total = sum(sizes)
    if len(sizes) < 2 or total < TWO_FROM_BYTES or not has_second_core():
        return sessions, {}
    at = _middle(sizes)
    items = list(sessions.items())
    return dict(items[:at]), dict(items[at:])


def _middle(sizes: list[int]) -> int:
    """How many stand on the first side where both are as nearly equal as can be; at least one on each."""
    sums = list(accumulate(sizes))
    at = bisect_left(sums, sums[-1] / 2)  # the one that crosses the middle
    before = sums[at - 1] if at else 0
    on_first = sums[at] - sums[-1] / 2 <= sums[-1] / 2 - before
    return min(max(at + on_first, 1), len(sizes) - 1)


def _owners(inherited: Mapping[str, str]) -> str:
    return disk.key(sorted(inherited.items())) if inherited else ""
