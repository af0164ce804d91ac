"""The processing log: which records a consumer has dealt with, kept in a file that several processes may append to.

A record is known by checkpoint, session and content, so a session that grew is unprocessed again. A damaged log is set
aside, never overwritten; its good lines live on.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from sessionbank.errors import QueryError
from sessionbank.records import SessionRecord
from sessionbank.sources.locking import lock, write_whole
from sessionbank.sources.metadata import moment


@dataclass(frozen=True, slots=True)
class ProcessingEntry:
    """One mark: who dealt with which record, when, and what they noted."""

    consumer: str
    checkpoint_id: str
    session_id: str
    content: str
    processed_at: datetime
    metadata: Mapping[str, Any] | None = None


def content_key(record: SessionRecord) -> str:
    """What a record's content is known by: the objects of its transcript, else of its metadata."""
    return "+".join(record.transcript_blobs) or (record.metadata_blob or "none")


class ProcessingLog:
    """The log of one bank. Every call reads what other processes wrote meanwhile."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "processed.jsonl"
        self._lock = folder / "processed.lock"
        self._size = -1
        self._entries: list[ProcessingEntry] = []
        self._known: set[tuple[str, str, str, str]] = set()

    def mark(
        self, records: Iterable[SessionRecord], *, consumer: str, metadata: Mapping[str, Any] | None
    ) -> None:
        """Appends a mark for each record; returns when it is on disk.

        Raises `QueryError` where `metadata` cannot be written as JSON.
        """
        if type(consumer) is not str:
            raise QueryError(f"consumer is a name, not {consumer!r}")
        if metadata is not None and not isinstance(metadata, Mapping):
            raise QueryError(f"metadata of a mark is a mapping, not {type(metadata).__name__}")
        now = datetime.now(UTC).isoformat()
        try:
            lines = [
                orjson.dumps({
                    "consumer": consumer, "checkpoint_id": r.checkpoint_id, "session_id": r.session_id,
                    "content": content_key(r), "processed_at": now, "metadata": dict(metadata) if metadata else None,
                })
                for r in records
            ]  # fmt: skip
        except TypeError as error:
            raise QueryError(f"metadata of a mark must be JSON: {error}") from None
        with lock(self._lock):
            self._read()
            with self.path.open("ab") as stream:
                stream.write(b"".join(line + b"\n" for line in lines))
                stream.flush()
                os.fsync(stream.fileno())

    def is_processed(self, record: SessionRecord, *, consumer: str) -> bool:
        """Whether the consumer marked this record with its present content."""
        self._refresh()
        return (consumer, record.checkpoint_id, record.session_id, content_key(record)) in self._known

    def entries(self) -> list[ProcessingEntry]:
        """All marks, oldest first."""
        self._refresh()
        return list(self._entries)

    def _refresh(self) -> None:
        try:
            size = self.path.stat().st_size
        except OSError:
            return
        if size != self._size:
            with lock(self._lock):
                self._read()

    def _read(self) -> None:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        entries: list[ProcessingEntry] = []
        good: list[bytes] = []
        damaged = 0
        for line in data.split(b"\n"):
            if not line.strip():
                continue
            entry = _entry(line)
            if entry is None:
                damaged += 1
            else:
                entries.append(entry)
                good.append(line)
        if damaged or (data and not data.endswith(b"\n")):
            data = self._set_aside(data, good, damaged)
        self._entries, self._size = entries, len(data)
        self._known = {(e.consumer, e.checkpoint_id, e.session_id, e.content) for e in entries}

    def _set_aside(self, data: bytes, good: list[bytes], damaged: int) -> bytes:
        kept = b"".join(line + b"\n" for line in good)
        if damaged:
            number = 1
            while (aside := self.path.with_name(f"processed.damaged-{number}.jsonl")).exists():
                number += 1
            write_whole(aside, data)
            warnings.warn(
                f"{damaged} damaged lines in the processing log; the old file is kept as {aside.name}",
                stacklevel=2,
            )
        write_whole(self.path, kept)
        return kept


def _entry(line: bytes) -> ProcessingEntry | None:
    try:
        value = orjson.loads(line)
        at = moment(value["processed_at"])
        names = [value[k] for k in ("consumer", "checkpoint_id", "session_id", "content")]
        noted = value.get("metadata")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    if at is None or not all(isinstance(n, str) for n in names) or not isinstance(noted, dict | None):
        return None
    return ProcessingEntry(names[0], names[1], names[2], names[3], at, noted)
