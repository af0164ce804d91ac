"""What has to be read again of a session that grew: of each chain of snapshots its longest file, and what is new.

An earlier run found which snapshots begin with which, and the cache remembers. If the first new transcript begins with
the last known one, not even that is read: git's own object id of the old file, worked out over the beginning of the new
one, proves it. The rows come out as a cold load makes them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import orjson

from sessionbank.records import SessionRecord
from sessionbank.tables import cache as disk

TAIL_LIMIT = (
    64 << 20
)  # bytes of new transcripts that may wait in memory; above it everything is read as a stream


@dataclass(frozen=True, slots=True)
class Known:
    """A snapshot that an earlier run read."""

    record: SessionRecord
    size: int
    chain: int
    hash_state: str | None


@dataclass(slots=True)
class Plan:
    """What an earlier run knows of a session, and the records that have come since."""

    known: list[Known]
    tail: list[SessionRecord]


@dataclass(slots=True)
class ChainData:
    """A known chain with the bytes that begin with each of its snapshots."""

    known: list[Known]
    data: bytes


@dataclass(slots=True)
class Resumed:
    """All that is needed to build a session that grew."""

    chains: list[ChainData] = field(default_factory=list)
    tail: list[tuple[SessionRecord, list[bytes | None]]] = field(default_factory=list)


def grown(
    cache: disk.Cache, found: Mapping[str, disk.Kept], sessions: Mapping[str, list[SessionRecord]]
) -> dict[str, Plan]:
    """Plans for sessions whose known records are the beginning of their present ones."""
    plans: dict[str, Plan] = {}
    size = 0
    for sid, kept in found.items():
        begin, n = kept.rows["snapshots"]
        shots = cache.table(kept.segment, "snapshots").slice(begin, n).to_pylist()
        records = [r for r in sessions[sid] if r.transcript_blobs]
        plan = _plan(shots, records)
        if plan is not None:
            plans[sid] = plan
            size += sum(r.transcript_bytes or 0 for r in plan.tail)
    return plans if size <= TAIL_LIMIT else {}


def _plan(shots: list[dict[str, object]], records: list[SessionRecord]) -> Plan | None:
    if not shots or len(shots) > len(records) or any(r.agent_files for r in records):
        return None
    known = []
    for shot, record in zip(shots, records, strict=False):
        blobs = orjson.loads(str(shot["blobs"]))
        same = (shot["checkpoint_id"], shot["session_index"]) == (record.checkpoint_id, record.session_index)
        size, chain, state = shot["bytes"], shot["chain"], shot["hash_state"]
        if not same or tuple(blobs) != record.transcript_blobs or len(blobs) != 1:
            return None
        if not isinstance(size, int) or not isinstance(chain, int) or shot["state"] != "present":
            return None
        known.append(Known(record, size, chain, state if isinstance(state, str) else None))
    return Plan(known, records[len(known) :])


def resume(
    plans: Mapping[str, Plan], blobs: Callable[[Iterable[str]], Iterator[tuple[str, bytes | None]]]
) -> dict[str, Resumed]:
    """Reads what the plans ask for; a session whose old bytes are gone is left out."""
    if not plans:
        return {}
    from sessionbank.tables.assemble import objects

    tails = [oid for plan in plans.values() for r in plan.tail for oid in objects(r)]
    stream = blobs(tails)
    found = {}
    wanted: list[tuple[str, int, str]] = []  # session, chain, object of its longest file
    for sid, plan in plans.items():
        found[sid] = Resumed(tail=[(r, [next(stream)[1] for _ in objects(r)]) for r in plan.tail])
    for _ in stream:
        pass
    for sid, plan in plans.items():
        wanted += [(sid, chain, oid) for chain, oid in _needed(plan, found[sid])]
    old = dict(
        zip(((s, c) for s, c, _ in wanted), (d for _, d in blobs([o for _, _, o in wanted])), strict=True)
    )
    return {
        sid: r
        for sid, r in found.items()
        if _join(plans[sid], r, {c: d for (s, c), d in old.items() if s == sid})
    }


def _longest(plan: Plan, chain: int) -> Known:
    return max((k for k in plan.known if k.chain == chain), key=lambda k: k.size)


def _needed(plan: Plan, resumed: Resumed) -> list[tuple[int, str]]:
    last = plan.known[-1].chain
    chains = range(last + 1)
    longest = _longest(plan, last)
    first_new = _first_new(resumed)
    if first_new is not None and _begins_with(first_new, longest.size, longest.record.transcript_blobs[0]):
        chains = range(last)
    return [(c, _longest(plan, c).record.transcript_blobs[0]) for c in chains]


def _first_new(resumed: Resumed) -> bytes | None:
    for record, parts in resumed.tail:
        if len(record.transcript_blobs) == 1 and parts[-1] is not None:
            return parts[-1]
        return None
    return None


def _begins_with(data: bytes, size: int, oid: str) -> bool:
    """Whether the first `size` bytes are the object with that id."""
    if len(data) < size:
        return False
    digest = hashlib.sha256() if len(oid) == 64 else hashlib.sha1(usedforsecurity=False)
    digest.update(b"blob %d\0" % size)
    digest.update(memoryview(data)[:size])
    return digest.hexdigest() == oid


def _join(plan: Plan, resumed: Resumed, old: Mapping[int, bytes | None]) -> bool:
    for chain in range(plan.known[-1].chain + 1):
        data = old[chain] if chain in old else _first_new(resumed)
        if data is None:
            return False
        resumed.chains.append(ChainData([k for k in plan.known if k.chain == chain], data))
    return True
