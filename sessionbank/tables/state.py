"""One state of a bank: its refs as they stood at one moment, and every table of them, each made when first asked.

All tables of a state agree with one another, whatever happens to the repository meanwhile. Where bytes come from is the
source's business, what is kept between runs the cache's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from sessionbank import schema
from sessionbank.errors import QueryError
from sessionbank.records import SessionRecord
from sessionbank.sources.git import Commit
from sessionbank.sources.no_gc import no_gc
from sessionbank.sources.store import Store, record_order
from sessionbank.tables import attribution, cache, load, sessions, stored
from sessionbank.tables.inferred_commits import inferred_commit_rows
from sessionbank.trajectory.outcomes.commit import CommitFacts

if TYPE_CHECKING:
    import pyarrow as pa

_ATTEMPTS = 5  # to fill a cache that another process clears meanwhile
SPOKEN = ("messages", "blocks", "tool_calls", "token_usage")
# Up to this many records, `records` reads transcripts by itself to tell agent, format and size.
READ_AT_ONCE = 80
_EDITS = frozenset({
    "Edit", "MultiEdit", "Write", "NotebookEdit", "write_file", "replace", "edit", "write", "create", "apply_patch",
    "Create", "str_replace", "fs_write",
})  # fmt: skip


class Source(Protocol):
    """What a state asks of where its bytes come from."""

    identity: str

    def refs(self) -> dict[str, str]:
        """What the source holds now, by name."""

    def fingerprint(self, refs: dict[str, str]) -> str:
        """Changes whenever any of it does."""

    def store(self, refs: dict[str, str]) -> Store:
        """Checkpoints and records."""

    def blobs(self, oids: Iterable[str]) -> Any:
        """The bytes of each object, in the order asked."""

    def commits_with_files(
        self, refs: dict[str, str], since: datetime
    ) -> list[tuple[Commit, tuple[str, ...]]]:
        """Code commits from a time on, with the files they change."""

    def reverts(self) -> list[tuple[str, str]]:
        """Commits that say they revert another."""

    def commits(self, refs: dict[str, str]) -> Callable[[], list[Commit]]:
        """Starts to look for commits that name checkpoints."""


class State:
    """Everything that is known of a bank at one state of its refs."""

    def __init__(
        self, source: Source, refs: dict[str, str], store: cache.Cache, progress: Callable[[], load.Progress]
    ) -> None:
        self.source = source
        self.refs = refs
        self.cache = store
        self.fingerprint = source.fingerprint(refs)
        self._progress = progress
        self._tables: dict[str, pa.Table] = {}

    # -- what metadata tells -----------------------------------------------------------------------------------

    @cached_property
    def store(self) -> Store:
        """Checkpoints and records."""
        self._commits = self.source.commits(self.refs)  # git searches meanwhile
        return self.source.store(self.refs)

    @cached_property
    def sessions(self) -> dict[str, list[SessionRecord]]:
        """Records of each session in stored order, sessions in the order of their first record."""
        found: dict[str, list[SessionRecord]] = defaultdict(list)
        for record in sorted(self.store.records, key=record_order):
            found[record.session_id].append(record)
        return dict(found)

    @cached_property
    def commit_rows(self) -> list[tuple[Any, ...]]:
        """Rows of the commits table."""
        known = {c.checkpoint_id for c in self.store.checkpoints}
        rows = stored.commit_rows(self._commits(), known)
        return rows + self._inferred_commits(rows) if "folder" in self.store.layouts else rows

    def _inferred_commits(self, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Commits of sessions that stand in a folder alone."""
        changed: dict[str, set[str]] = defaultdict(set)
        for session_id, _, path, source in self._files():
            if source == "tool":
                changed[session_id].add(path)
        sessions = []
        for sid, records in self.sessions.items():
            facts = self.facts.get(sid) or {}
            if all(r.layout == "folder" for r in records) and facts.get("started_at") and changed[sid]:
                sessions.append(
                    (
                        records[-1].checkpoint_id,
                        facts["started_at"],
                        facts["ended_at"],
                        frozenset(changed[sid]),
                    )
                )
        if not sessions:
            return []
        commits = self.source.commits_with_files(self.refs, min(s[1] for s in sessions))
        known: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            known[row[0]].add(row[1])
        return inferred_commit_rows(sessions, commits, known)

    @cached_property
    def commit_facts(self) -> CommitFacts:
        """What git says of the checkpoints, as outcomes are judged by it: commits, and which of them were reverted."""
        names = schema.table("commits").columns
        return CommitFacts.of(
            [dict(zip(names, row, strict=True)) for row in self.commit_rows], self.source.reverts()
        )

    # -- what transcripts tell ---------------------------------------------------------------------------------

    @cached_property
    def manifest(self) -> cache.Manifest:
        """Where the cached rows stand; reads what is not cached yet."""
        kept = self._kept
        for _ in range(_ATTEMPTS):
            if kept is not None and kept.fingerprint == self.fingerprint and self.cache.hold(kept):
                return kept
            try:
                loader = load.Loader(self.source.blobs, self.cache, self._progress())
                found = loader.load(self.sessions, self.fingerprint)
                self.cache.write(found)
            except FileNotFoundError:  # another process cleared the cache meanwhile
                kept = self.cache.read()
                continue
            except OSError as error:
                raise QueryError(
                    f"the cache folder {self.cache.folder} cannot be written ({error.strerror}); "
                    "name another one with cache=, or none with cache=False"
                ) from None
            if self.cache.hold(found):
                return found
            kept = self.cache.read()
        raise QueryError(
            f"the cache folder {self.cache.folder} is cleared faster than it is filled; name another one with cache="
        )

    @cached_property
    def _kept(self) -> cache.Manifest | None:
        """The cache's manifest, if it is of this very state."""
        found = self.cache.read()
        return found if found is not None and found.fingerprint == self.fingerprint else None

    @property
    def is_read(self) -> bool:
        """Whether the transcripts of this state have been read, now or in an earlier run."""
        return "manifest" in self.__dict__ or self._kept is not None

    def spoken(self, name: str) -> pa.Table:
        """A table out of the cache: one of `load.TABLES`."""
        return cache.assemble(self.cache, self.manifest, name)

    @cached_property
    def snapshots(self) -> dict[tuple[str, int, str], dict[str, Any]]:
        """What each record's transcript showed, by (checkpoint, directory, session)."""
        rows = self.spoken("snapshots").to_pylist()
        return {(r["checkpoint_id"], r["session_index"], r["session_id"]): r for r in rows}

    @cached_property
    def facts(self) -> dict[str, dict[str, Any]]:
        """Each session as its transcript shows it."""
        return {r["session_id"]: r for r in self.spoken("facts").to_pylist()}

    # -- tables ------------------------------------------------------------------------------------------------

    def table(self, name: str) -> pa.Table:
        """A public table of the whole bank."""
        if name not in self._tables:
            with no_gc():
                made = self._made(name)
            if name == "records" and not self.is_read:
                return made  # it will tell more once transcripts have been read
            self._tables[name] = made
        return self._tables[name]

    def _made(self, name: str) -> pa.Table:
        from sessionbank.tables import lineage, reconcile  # they ask this state for their rows

        if name in SPOKEN:
            return self.spoken(name)
        if name == "records":
            return self.records(read=None)
        makers: dict[str, Callable[[], list[tuple[Any, ...]]]] = {
            "checkpoints": lambda: stored.checkpoint_rows(self.store.checkpoints, self.commit_rows),
            "commits": lambda: self.commit_rows,
            "learnings": lambda: stored.learning_rows(self.store.records),
            "attribution": lambda: attribution.attribution_rows(self.store.checkpoints, self._edit_counts()),
            "files": self._files,
            "sessions": self._sessions,
            "diagnostics": self._diagnostics,
            "lineage": lambda: lineage.lineage_rows(self),
            "reconcile": lambda: reconcile.reconcile_rows(self),
        }
        if name not in makers:
            schema.table(name)  # a name that does not exist is told as such
            raise NotImplementedError(name)
        return schema.arrow_table(name, makers[name]())

    def kept(self, name: str, make: Callable[[], pa.Table]) -> pa.Table:
        """A table of the whole bank that a floor above makes; made once."""
        if name not in self._tables:
            self._tables[name] = make()
        return self._tables[name]

    def records(self, *, read: bool | None) -> pa.Table:
        """The records table; `read` says whether to read transcripts for agent, format and size (None: if few)."""
        if read is None:
            read = self.is_read or len(self.store.records) <= READ_AT_ONCE
        shown = self.snapshots if read else {}
        known = {k: (s["agent"], s["format"], s["state"], s["hash_state"]) for k, s in shown.items()}
        rows = stored.record_rows(
            self.store.records, self.store.prompts, known, stored.linked(self.commit_rows)
        )
        return schema.arrow_table("records", rows)

    def _sessions(self) -> list[tuple[Any, ...]]:
        states = {k: s["state"] for k, s in self.snapshots.items()}
        return sessions.session_rows(self.sessions, self.facts, states, self.commit_rows)

    @cached_property
    def _edits(self) -> list[tuple[str, str | None, str]]:
        """Calls that write a file, with the path as written: (session, checkpoint, path)."""
        import pyarrow as pa
        import pyarrow.compute as pc

        names = ["session_id", "checkpoint_id", "file_path", "tool_name", "inherited_from"]
        calls = self.spoken("tool_calls").select(names)
        mine = pc.and_(pc.is_valid(calls["file_path"]), pc.is_null(calls["inherited_from"]))
        edits = pc.is_in(calls["tool_name"], pa.array(sorted(_EDITS), pa.large_string()))
        calls = calls.filter(pc.and_(mine, edits))
        return list(zip(*(calls[n].to_pylist() for n in names[:3]), strict=True))

    def _edit_counts(self) -> dict[tuple[str, str], int]:
        found: dict[tuple[str, str], int] = defaultdict(int)
        for session_id, checkpoint_id, _ in self._edits:
            found[checkpoint_id or "", session_id] += 1
        return found

    def _files(self) -> list[tuple[Any, ...]]:
        cwds = {sid: f["cwd"] for sid, f in self.facts.items() if f["cwd"]}
        return stored.file_rows(self.store.records, self._edits, cwds)

    def _diagnostics(self) -> list[tuple[Any, ...]]:
        columns = schema.table("diagnostics").columns
        rows = [tuple(getattr(d, c) for c in columns) for d in self.store.problems]
        rows += [tuple(r[c] for c in columns) for r in self.spoken("diagnostics").to_pylist()]
        rows += self._dangling() + self._unpriced()
        return rows

    def _dangling(self) -> list[tuple[Any, ...]]:
        ids = sorted({row[1] for row in self.commit_rows if not row[2]})
        text = "a commit names this checkpoint, but the bank does not hold it"
        return [("info", "dangling_checkpoint", i, None, None, None, None, text) for i in ids]

    def _unpriced(self) -> list[tuple[Any, ...]]:
        import pyarrow.compute as pc

        usage = self.spoken("token_usage").select(["model", "cost_usd"])
        names = pc.value_counts(usage.filter(pc.is_null(usage["cost_usd"]))["model"]).to_pylist()
        text = "{} calls of {} have no known price"
        told = sorted((str(n["values"] or "an unnamed model"), n["counts"]) for n in names)
        empty = (None,) * 5
        return [("warning", "unpriced_model", *empty, text.format(count, name)) for name, count in told]
