"""The front door: open a bank, list, query, get, mark as processed.

`open_bank` gives a `SessionBank`; its tables are methods (see `selection`). A bank follows its repository: each call
looks at the refs first, and what was read before they moved is not served again.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from sessionbank import schema
from sessionbank.errors import DamagedDataError, QueryError
from sessionbank.progress import progress_bar
from sessionbank.records import CheckpointRef, Session, SessionRecord
from sessionbank.selection import Selection, Tables
from sessionbank.sources.metadata import canonical_id
from sessionbank.sources.open import Place, Source, open_source
from sessionbank.sources.processing import ProcessingEntry, ProcessingLog
from sessionbank.tables import raw
from sessionbank.tables.cache import Cache
from sessionbank.tables.cache import key as cache_key
from sessionbank.tables.cache_rotation import InUse, bundles_in, opening, rotate
from sessionbank.tables.prices import version as price_version
from sessionbank.tables.select import SessionQuery, matching
from sessionbank.tables.state import State

__all__ = ["SessionBank", "SessionQuery", "open_bank"]

DATA_VERSION = 2  # raise whenever rows of the cache are made in another way


def open_bank(
    path: Place | Sequence[Place] = ".", *, branch: str | None = None, state_dir: str | os.PathLike[str] | None = None,
    cache: bool | str | os.PathLike[str] = True, strict: bool = False, progress: bool = True,
) -> SessionBank:  # fmt: skip
    """Opens the sessions of a git repository (bare, worktree, shallow or partial), of a .bundle file, of an agent's own
    folder (``~/.claude/projects``, ``~/.codex/sessions``, …), or of several of them as one (a list).

    `branch` names the one checkpoint branch to read instead of all known ones. `cache` says whether to keep tables on
    disk between runs (a path: where); in the user's cache folder what was not opened for 30 days, and above 5 GB what
    was used longest ago, goes at the next opening, never what an open bank uses. `state_dir` holds the processing log.
    ``strict=True`` raises `DamagedDataError` for the first diagnostics row of severity warning or error. Raises
    `RepositoryError` where there is no repository; one without checkpoints is no error: `is_available` is False and
    all tables are empty.
    """
    return SessionBank(
        path, branch=branch, state_dir=state_dir, cache=cache, strict=strict, progress=progress
    )


class SessionBank(Tables):
    """All sessions of one repository. Use it in one thread; close it, or use it as a context manager."""

    def __init__(
        self, path: Place | Sequence[Place] = ".", *, branch: str | None = None, state_dir: str | os.PathLike[str] | None = None,
        cache: bool | str | os.PathLike[str] = True, strict: bool = False, progress: bool = True,
    ) -> None:  # fmt: skip
        root = None if cache is False else _writable(_folder(cache, "cache"), is_named=cache is not True)
        self._temporary = None if root else tempfile.TemporaryDirectory(prefix="sessionbank-")
        root = root or Path(self._temporary.name if self._temporary else "")
        with opening(root):
            self._source: Source = open_source(path, branch=branch, cache_dir=root)
            self._cache_folder = root / "tables" / _key(self._source.identity)
            self._in_use = InUse(root, [self._cache_folder, *bundles_in(root, self._source.identity)])
        if cache is True and self._temporary is None:  # a folder that the caller names is theirs
            rotate(root)
        self._log = ProcessingLog(_folder(state_dir, "state") / cache_key(self._source.identity))
        self._strict, self._progress = strict, progress
        self._current: State | None = None
        self._is_closed = False

    # -- what state it is in -----------------------------------------------------------------------------------

    @property
    def is_available(self) -> bool:
        """Whether the repository holds a checkpoint ref."""
        return self._source.has_checkpoints(self._source.refs())

    @property
    def layouts(self) -> tuple[str, ...]:
        """Layouts that hold checkpoints: refs-v1, branch-v1, v2, sessions-v0."""
        return self._state().store.layouts

    @property
    def head(self) -> str | None:
        """Commit of the checkpoint branch (or of the first checkpoint ref); None where there is none."""
        return self._source.head

    def _state(self) -> State:
        if self._is_closed:
            raise QueryError("the bank is closed; open it again")
        refs = self._source.refs()
        if self._current is None or self._current.refs != refs:
            tables = Cache(self._cache_folder)
            self._current = State(
                self._source, refs, tables, lambda: progress_bar("reading", enabled=self._progress)
            )
            if self._strict:
                _raise_first(self._current)
        return self._current

    def _view(self) -> tuple[State, tuple[str, ...] | None]:
        return self._state(), None

    # -- listing and selecting ---------------------------------------------------------------------------------

    def list_checkpoints(self) -> list[CheckpointRef]:
        """The checkpoints by the names of their folders alone; no file is read."""
        return self._source.list_checkpoints(self._state().refs)

    def discover(self) -> Selection:
        """Everything, newest first: metadata is read, transcripts when asked for."""
        return self.query()

    def query(self, query: SessionQuery | None = None, **filters: Any) -> Selection:
        """Whole sessions that have a record passing every filter; filters as in `SessionQuery`, by keyword.

        `limit` and `Selection.total` count sessions, `total` before the limit. Raises `QueryError` for an unknown
        filter or a value that cannot be read.
        """
        asked = _query(query, filters)
        state = self._state()
        ids, total = matching(state, asked, lambda r: self._log.is_processed(r, consumer=asked.consumer))
        return Selection(state, ids, total=total)

    def count(self, query: SessionQuery | None = None, **filters: Any) -> int:
        """How many sessions the query selects, before any limit."""
        return self.query(query, **filters).total

    def get_by_session_id(self, session_id: str) -> Session | None:
        """The session with that id, with or without the date in front of it; None where there is none."""
        state = self._state()
        sid = session_id if session_id in state.sessions else canonical_id(session_id)
        return Selection(state, (sid,))[0] if sid in state.sessions else None

    def get_by_checkpoint_id(self, checkpoint_id: str) -> list[SessionRecord]:
        """The records of a checkpoint, by directory; empty where the bank does not hold it."""
        return [
            r for c in self._state().store.checkpoints if c.checkpoint_id == checkpoint_id for r in c.records
        ]

    def get_by_commit(self, sha: str) -> list[SessionRecord]:
        """The records of the checkpoints that a code commit names; `sha` may be abbreviated."""
        state = self._state()
        full = self._source.commit_id(sha)
        ids = {row[1] for row in state.commit_rows if row[0] == full}
        return [r for c in state.store.checkpoints if c.checkpoint_id in ids for r in c.records]

    # -- back to the bytes -------------------------------------------------------------------------------------

    def raw(self, row: Mapping[str, Any]) -> list[bytes]:
        """The exact stored lines behind a row of messages, blocks, tool_calls or token_usage.

        A list: a tool call stands on two lines, a reply on up to 14. `row` is a row of the frame (a Series) or a dict.
        Raises `QueryError` where it is no such row, `NotFoundError` where the bytes are not in this clone.
        """
        return raw.raw_lines(self._state(), row)

    # -- processing --------------------------------------------------------------------------------------------

    def mark_processed(
        self,
        record: SessionRecord | Session,
        *,
        consumer: str = "default",
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Notes that `consumer` has dealt with a record (of a session: with each of its records)."""
        self._log.mark(_records(record), consumer=consumer, metadata=metadata)

    def is_processed(self, record: SessionRecord | Session, *, consumer: str = "default") -> bool:
        """Whether `consumer` marked the record with its present content; a session that grew is unprocessed again."""
        return all(self._log.is_processed(r, consumer=consumer) for r in _records(record))

    def processing_log(self) -> list[ProcessingEntry]:
        """All marks, of all consumers, oldest first."""
        return self._log.entries()

    # -- life --------------------------------------------------------------------------------------------------

    def invalidate_cache(self) -> None:
        """Forgets what was read, on disk too; the next call reads anew."""
        Cache(self._cache_folder).clear()
        self._current = None

    def close(self) -> None:
        """Ends the git processes and lets go of files; tables that were given out stay valid."""
        self._is_closed = True
        self._current = None
        self._source.close()
        self._in_use.release()
        if self._temporary:
            self._temporary.cleanup()

    def __enter__(self) -> SessionBank:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._state().sessions)

    def __repr__(self) -> str:
        return f"<SessionBank of {self._source.path}>"


def _query(query: SessionQuery | None, filters: Mapping[str, Any]) -> SessionQuery:
    known = {f.name for f in fields(SessionQuery)}
    unknown = sorted(set(filters) - known)
    if unknown:
        raise QueryError(f"no filter {unknown[0]!r}; filters are: {', '.join(sorted(known))}")
    if query is not None and not isinstance(query, SessionQuery):
        raise QueryError(f"query takes a SessionQuery or keywords, not {type(query).__name__}")
    return replace(query or SessionQuery(), **filters)


def _records(record: SessionRecord | Session) -> tuple[SessionRecord, ...]:
    if not isinstance(record, Session | SessionRecord):
        raise QueryError(f"name a Session or a SessionRecord, not {type(record).__name__}")
    return record.records if isinstance(record, Session) else (record,)


def _raise_first(state: State) -> None:
    for row in state.table("diagnostics").to_pylist():
        if row["severity"] in ("warning", "error"):
            place = "/".join(
                str(row[k])
                for k in ("path", "checkpoint_id", "session_id", "line_index")
                if row[k] is not None
            )
            raise DamagedDataError(f"{row['code']}: {row['message']} ({place})")


def _folder(named: bool | str | os.PathLike[str] | None, kind: str) -> Path:
    if named is not None and not isinstance(named, bool):
        return Path(named).expanduser()
    import platformdirs

    found = (
        platformdirs.user_cache_dir("sessionbank")
        if kind == "cache"
        else platformdirs.user_state_dir("sessionbank")
    )
    return Path(found)


def _writable(folder: Path, *, is_named: bool) -> Path | None:
    """The folder, if it can be written; None where it cannot and the caller did not name it: then nothing is kept."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        if is_named:
            text = f"the cache folder {folder} cannot be written ({error.strerror}); name another one, or cache=False"
            raise QueryError(text) from None
        return None


def _key(identity: str) -> str:
    return cache_key(identity, DATA_VERSION, price_version(), schema.fingerprint())
