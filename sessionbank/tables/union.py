"""A session as the union of its stored transcripts.

A session is stored again and again as it grows, sometimes in parts, sometimes both. Consecutive snapshots of which one
begins with the other form a chain, and only a chain's longest file is decoded. Records of several chains are joined by
their identity: the line's uuid, else its content and how often that content came before. Each row belongs to one
checkpoint: the one whose window holds it. Bytes are handed in; rows are made in `transcripts`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from sessionbank.records import AgentFile, SessionRecord
from sessionbank.transcripts.jsonl import Stored
from sessionbank.transcripts.rows import Entry, Format, Place, as_json
from sessionbank.transcripts.sniff import sniff

COMPACT = "entire-compact"
Report = Callable[..., None]  # severity, code, message, line, place


@dataclass(slots=True)
class Snapshot:
    """One stored transcript of the session, and how much of its chain's longest file it covers."""

    record: SessionRecord
    size: int
    lines: int  # physical lines; of documents the number of messages
    start: int | None  # where the record's window begins, as stored
    blobs: tuple[str, ...]
    chain: int = 0
    format: str = "unknown"
    agent: str = "unknown"
    chunk_lines: tuple[int, ...] = (0,)  # first line of each chunk


@dataclass(slots=True)
class Chain:
    """Snapshots of which each begins with, or is the beginning of, the longest one."""

    number: int
    format: Format
    longest: bytes
    agent_id: str | None = None  # of the subagent whose own transcript it is
    snapshots: list[Snapshot] = field(default_factory=list)


class SessionUnion:
    """Takes a session's transcripts in the order in which they were stored; gives its records once, in order."""

    def __init__(self, report: Report) -> None:
        self.snapshots: list[Snapshot] = []
        self.format: Format | None = None  # of the first chain whose format is known
        self.repeats: list[
            tuple[int, int, int, int]
        ] = []  # (chain, line) of a repeat, (chain, line) it repeats
        self._report = report
        self._chain: Chain | None = None
        self._chains = 0
        self._formats: list[Format] = []  # of each chain
        self._is_last = False  # no further transcript will come
        self._entries: list[Entry] = []
        self._keys: list[tuple[float, int, int]] = []
        self._index: dict[Any, int] = {}

    def add(self, record: SessionRecord, chunks: list[bytes], *, blobs: tuple[str, ...] | None = None) -> int:
        """Takes one stored transcript; gives the number of bytes that it adds to what is held.

        `blobs` are the objects of the chunks, where some of the record's are not in this clone.
        """
        data = chunks[0] if len(chunks) == 1 else b"\n".join(chunks)
        starts = [0]
        for chunk in chunks[:-1]:
            starts.append(starts[-1] + chunk.count(b"\n") + 1)
        chain = self._chain
        if chain is not None and data.startswith(chain.longest):
            chain.longest = data
        elif chain is None or not chain.longest.startswith(data):
            self._close()
            chain = self._chain = Chain(self._chains, sniff(data), data)
            self._chains += 1
        shot = self._snapshot(record, len(data), chain)
        if blobs is not None:
            shot.blobs = blobs
        if (
            len(chunks) > 1 and chain.format.is_document
        ):  # each chunk is a document; its lines are its messages
            counts = [len(chain.format.split(chunk, lambda *_: None)) for chunk in chunks[:-1]]
            starts = [sum(counts[:at]) for at in range(len(chunks))]
        shot.chunk_lines = tuple(starts)
        before = max((s.size for s in chain.snapshots), default=0)
        chain.snapshots.append(shot)
        self.snapshots.append(shot)
        return max(len(data) - before, 0)

    @staticmethod
    def _snapshot(record: SessionRecord, size: int, chain: Chain) -> Snapshot:
        known = chain.format
        return Snapshot(
            record,
            size,
            0,
            record.start_offset,
            record.transcript_blobs,
            chain.number,
            known.name,
            known.agent,
        )

    def add_agent_file(self, record: SessionRecord, file: AgentFile, data: bytes) -> int:
        """Takes a subagent's own transcript; call it after all of the session's, file by file in stored order."""
        chain = self._chain
        if (
            chain is None
            or chain.agent_id != (file.agent_id or file.path)
            or not data.startswith(chain.longest)
        ):
            self._close()
            chain = self._chain = Chain(self._chains, sniff(data), data, agent_id=file.agent_id or file.path)
            self._chains += 1
        before, chain.longest = len(chain.longest), data
        format_ = chain.format
        chain.snapshots.append(
            Snapshot(record, len(data), 0, None, (file.blob,), chain.number, format_.name, format_.agent)
        )
        return len(data) - before

    def replay(self, records: list[tuple[SessionRecord, int]], data: bytes) -> None:
        """Takes a chain that an earlier run found: its records with their sizes, and the bytes that begin with each."""
        self._close()
        chain = self._chain = Chain(self._chains, sniff(data), data)
        self._chains += 1
        for record, size in records:
            shot = self._snapshot(record, size, chain)
            chain.snapshots.append(shot)
            self.snapshots.append(shot)

    def runs(self) -> list[tuple[Format, list[Entry]]]:
        """The session's stored records by format, each once, in file order; Entire's compact form comes last.

        Nearly every session is of one format. Where the full transcript of some checkpoint is absent, its compact form
        stands in; its reader leaves out what the full one has told.
        """
        entries = self.entries()
        if len({f.name for f in self._formats}) < 2:
            return [(self._formats[0], entries)] if self._formats else []
        by_format: dict[str, tuple[Format, list[Entry]]] = {}
        for entry in entries:
            known = self._formats[entry[3].chain]
            by_format.setdefault(known.name, (known, []))[1].append(entry)
        return sorted(by_format.values(), key=lambda run: run[0].name == COMPACT)

    def entries(self) -> list[Entry]:
        """All stored records of the session, each once, in file order."""
        self._is_last = True
        self._close()
        if self._chains > 1 and any(a > b for a, b in zip(self._keys, self._keys[1:], strict=False)):
            order = sorted(range(len(self._entries)), key=self._keys.__getitem__)
            return [self._entries[i] for i in order]
        return self._entries

    def _close(self) -> None:
        chain, self._chain = self._chain, None
        if chain is None:
            return
        self._formats.append(chain.format)
        if chain.agent_id is None and (self.format is None or self.format.agent == "unknown"):
            self.format = chain.format
        first = Place(
            chain.snapshots[0].record.checkpoint_id, chain.snapshots[0].record.session_index, None, 0
        )
        spans: list[tuple[int, Place]] = []

        early: list[tuple[str, str, str, int | None]] = []  # told while splitting, before places are known

        def problem(severity: str, code: str, message: str, line: int | None = None) -> None:
            early.append((severity, code, message, line))

        split = chain.format.split(chain.longest, problem)
        for shot in chain.snapshots:
            shot.lines = len(split) if chain.format.is_document else _lines_of(split, shot.size)
        spans.extend(_spans(chain.snapshots))
        for told in early:
            self._report(*told[:4], _place_of(spans, told[3]) if told[3] is not None else first)
        if chain.agent_id is not None:
            for stored in split:  # the file's name tells what its lines may not
                if type(stored[1]) is dict:
                    stored[1]["isSidechain"] = True
                    stored[1].setdefault("agentId", chain.agent_id)
        self._merge(chain, split, spans)

    def _merge(self, chain: Chain, split: list[Stored], spans: list[tuple[int, Place]]) -> None:
        entries, keys, number = self._entries, self._keys, chain.number
        bounds = [s[0] for s in spans]
        if self._is_last and not number:
            named = [s[0] for s in split if s[0] is not None]
            if len(set(named)) == len(named):  # one chain, no line twice: nothing to join
                self._entries = _placed(split, spans)
                return
        at, place = 0, spans[0][1]
        limit = bounds[1] if len(bounds) > 1 else 1 << 62
        identities = self._identities(chain, split)
        known = [self._index.get(i) for i in identities] if number else []
        joins = any(k is not None for k in known)
        base = float(keys[-1][0] + 1 if keys else 0)
        if joins:  # rows before the first one that is known come before it
            base = next(keys[k][0] for k in known if k is not None) - 0.5
        step = 0.0 if joins else 1.0
        index = self._index
        for identity, (_, value, line, offset) in zip(identities, split, strict=True):
            if line >= limit:
                at = bisect_right(bounds, line) - 1
                place = spans[at][1]
                limit = bounds[at + 1] if at + 1 < len(bounds) else 1 << 62
            here = index.setdefault(identity, len(entries))
            if here == len(entries):
                entries.append((value, line, offset, place))
                base += step
                keys.append((base, number, line))
                continue
            old = entries[here]
            copies = old[3].copies + place.copies
            if old[3].chain == number:  # the file itself repeats the line
                entries[here] = (*old[:3], old[3]._replace(copies=copies))
                continue
            base = keys[here][0]
            self.repeats.append((number, line, old[3].chain, old[1]))
            if chain.format.is_document:  # a document's message may have grown since: its last state counts
                entries[here] = (
                    value,
                    line,
                    offset,
                    old[3]._replace(blob_oid=place.blob_oid, copies=copies, chain=number),
                )
            else:
                entries[here] = (*old[:3], old[3]._replace(copies=copies))

    @staticmethod
    def _identities(chain: Chain, split: list[Stored]) -> list[Any]:
        """The identity of each record: its id, else its content and how often that came before in the file."""
        times: dict[int, int] = {}
        found: list[Any] = []
        for identity, value, _, offset in split:
            if identity is not None:
                found.append(identity)
                continue
            content = _content(chain.longest, value, offset)
            nth = times.get(content, 0)
            times[content] = nth + 1
            found.append((content, nth))
        return found


def _placed(split: list[Stored], spans: list[tuple[int, Place]]) -> list[Entry]:
    if len(spans) == 1:
        place = spans[0][1]
        return [(value, line, offset, place) for _, value, line, offset in split]
    found: list[Entry] = []
    ends = [s[0] for s in spans[1:]]
    begin = 0
    for (_, place), end in zip(spans, [*ends, 1 << 62], strict=True):
        stop = bisect_left(split, end, lo=begin, key=lambda s: s[2])
        found += [(value, line, offset, place) for _, value, line, offset in split[begin:stop]]
        begin = stop
    return found


def _lines_of(split: list[Stored], size: int) -> int:
    """How many lines a snapshot of that many bytes has, told by where the lines of its chain's longest file begin."""
    at = bisect_left(split, size, key=lambda s: s[3])
    return split[at - 1][2] + 1 if at else 0


def _content(data: bytes, value: Any, offset: int) -> int:
    """What identifies a record without an id: its bytes (of a document's message, its JSON)."""
    if offset < 0:
        try:
            return hash(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))
        except TypeError:  # deeper than orjson writes
            return hash(as_json(value))
    end = data.find(b"\n", offset)
    return hash(data[offset : end if end >= 0 else len(data)].rstrip(b"\r"))


def windows(snapshots: list[Snapshot]) -> list[int]:
    """The line at which each snapshot's window begins, in a chain; the windows part the file.

    A window begins at the record's start offset. Where that is absent, zero or impossible, it begins where the earlier
    snapshots end: its rows are those that appear in it first.
    """
    begins = [0]
    seen = snapshots[0].lines
    for shot in snapshots[1:]:
        start = shot.start
        usable = start is not None and 0 < start <= shot.lines and start >= begins[-1]
        begins.append(start if usable and start is not None else max(seen, begins[-1]))
        seen = max(seen, shot.lines)
    return begins


def _spans(snapshots: list[Snapshot]) -> list[tuple[int, Place]]:
    """Runs of lines that share a place, as (first line, place)."""
    begins = windows(snapshots)
    chunked = {s for shot in snapshots for s in shot.chunk_lines}
    cuts = sorted({0, *begins, *(s.lines for s in snapshots), *chunked})
    spans = []
    for cut in cuts:
        owner = snapshots[max(i for i, b in enumerate(begins) if b <= cut)].record
        holders = [s for s in snapshots if s.lines > cut]
        if not holders:
            holders = [max(snapshots, key=lambda s: s.lines)]
        blobs = holders[0].blobs
        blob = blobs[bisect_right(holders[0].chunk_lines, cut) - 1] if blobs else None
        spans.append(
            (cut, Place(owner.checkpoint_id, owner.session_index, blob, len(holders), snapshots[0].chain))
        )
    return spans


def _place_of(spans: list[tuple[int, Place]], line: int) -> Place:
    return spans[max(bisect_right([s[0] for s in spans], line) - 1, 0)][1]
