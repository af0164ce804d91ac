"""Memory: a folder of JSON files, one a thing, that a person can read, diff and edit, and that two processes may share.

A file is written whole or not at all, under one lock. What cannot be read as what it should be is moved to
``damaged/`` and told, never overwritten. Kinds with a limit let go first of what costs least (`retention`), and every
file let go of is written down in ``let-go.jsonl``. What the things mean is told in `experience` and `playbooks`.
"""

from __future__ import annotations

import math
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from sessionbank.errors import NotFoundError, QueryError
from sessionbank.learning import experience, playbooks
from sessionbank.learning.filenames import file_stem
from sessionbank.learning.readback import dump
from sessionbank.learning.retention import victims
from sessionbank.learning.similarity import TextIndex
from sessionbank.records import Diagnostic
from sessionbank.sources.locking import lock, write_whole

KINDS: dict[str, type[BaseModel]] = {
    "experiences": experience.TaskExperience,
    "playbooks": playbooks.TaskPlaybook,
    "meta-observations": experience.MetaObservation,
    "meta-strategies": experience.MetaStrategy,
    "team-experiences": experience.TeamExperience,
    "team-playbooks": playbooks.TeamPlaybook,
    "role-playbooks": playbooks.RolePlaybook,
    "team-meta-observations": experience.TeamMetaObservation,
    "team-meta-strategies": playbooks.TeamMetaStrategy,
    "knowledge": experience.KnowledgeNote,
    "batches": experience.Batch,  # the journal of distillation: which runs were counted, and what they said
}
LIMITS = {"experiences": 1_000, "team-experiences": 200, "team-playbooks": 50, "role-playbooks": 100}
TRUSTED = 1.0  # seconds
TICK_NS = 50_000_000


@dataclass(slots=True)
class _Entry:
    stamp: tuple[int, int, int]  # time, size and inode of the file as read
    value: dict[str, Any]


@dataclass(slots=True)
class _Shelf:
    """What is known of one kind's folder."""

    entries: dict[str, _Entry] = field(default_factory=dict)  # file name -> entry
    index: TextIndex = field(default_factory=TextIndex)
    names: list[str] = field(default_factory=list)  # as the last look at the folder found them, sorted
    folder_time: int = -1  # of the folder then
    looked_at: float = -math.inf


class Memory:
    """A memory folder. Every call sees what other processes wrote meanwhile, and within a second what a person edits.

    `limits` sets how many things a kind keeps (None: no limit); `clock` gives the time that is written down.

    Example:
        >>> memory = sb.learning.Memory("memory")
        >>> memory.store("role-playbooks", sb.learning.RolePlaybook(id="role-tester", name="tester", role="tester")).name
        'role-tester.json'
        >>> memory
        <Memory memory: 1 role-playbooks>
        >>> memory.get("role-playbooks", "role-tester").role
        'tester'
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        limits: Mapping[str, int | None] | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        unknown = set(limits or ()) - set(KINDS)
        if unknown:
            raise QueryError(
                f"no kind of memory is called {sorted(unknown)[0]!r}; there are {', '.join(KINDS)}"
            )
        self.path = Path(path)
        self.limits: dict[str, int | None] = {**LIMITS, **(limits or {})}
        self.now = clock or (lambda: datetime.now(UTC))
        self.problems: list[Diagnostic] = []
        self._shelves = {kind: _Shelf() for kind in KINDS}
        self._guard = threading.RLock()
        self._depth = 0

    # ---- writing ------------------------------------------------------------------------------------------------

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the folder against other writers; may be nested."""
        with self._guard:
            if self._depth:
                self._depth += 1
                try:
                    yield
                finally:
                    self._depth -= 1
                return
            with lock(self.path / ".lock"):
                self._depth = 1
                try:
                    yield
                finally:
                    self._depth = 0

    def store(self, kind: str, value: BaseModel) -> Path:
        """Writes a thing under its id, in place of an earlier one; returns its file once it is on disk."""
        model = _model(kind)
        if not isinstance(value, model):
            raise QueryError(f"{kind} holds {model.__name__}, not {type(value).__name__}")
        identifier: str = value.id  # type: ignore[attr-defined]
        path = self.file(kind, identifier)
        data = dump(value)
        with self.locked():
            self._set_aside_unreadable(kind, path)
            self._keep_version(kind, path.name, value)
            write_whole(path, data)
            self._learn(kind, path.name, path.stat(), orjson.loads(data))
            self._let_go(kind)
        return path

    def update(self, kind: str, identifier: str, change: Callable[[Any], BaseModel]) -> Any:
        """Reads, changes and writes a thing under the lock: no other writer's change is lost. Returns the new one."""
        with self.locked():
            new = change(self.get(kind, identifier))
            self.store(kind, new)
        return new

    def remove(self, kind: str, identifier: str, *, reason: str) -> None:
        """Deletes a thing, and writes down that it was and why."""
        with self.locked():
            self._drop(kind, self.file(kind, identifier).name, reason)

    # ---- reading ------------------------------------------------------------------------------------------------

    def file(self, kind: str, identifier: str) -> Path:
        """The file of a thing, whether or not it exists."""
        _model(kind)
        return self.path / kind / f"{file_stem(identifier)}.json"

    def get(self, kind: str, identifier: str) -> Any:
        """A thing as its model. Raises `NotFoundError` when memory does not have it."""
        found = self.find(kind, identifier)
        if found is None:
            raise NotFoundError(f"memory has no {identifier!r} among its {kind}")
        return found

    def find(self, kind: str, identifier: str) -> Any | None:
        """A thing as its model, or None."""
        path = self.file(kind, identifier)
        with self._guard:
            try:
                self._see(kind, path.name, path.stat())
            except FileNotFoundError:
                self._forget(kind, path.name)
                return None
            return self._value(kind, path.name)

    def all(self, kind: str) -> list[Any]:
        """Everything of a kind, in order of id. Damaged files are set aside and told, not returned."""
        with self._guard:
            names = self._refresh(kind)
            values = [self._value(kind, name) for name in names]
        return sorted((v for v in values if v is not None), key=lambda v: v.id)

    def raw(self, kind: str) -> dict[str, dict[str, Any]]:
        """Everything of a kind by id, as plain JSON values: fast, for counting and choosing. Do not change them."""
        with self._guard:
            names = self._refresh(kind)
            entries = self._shelves[kind].entries
            return {entries[n].value["id"]: entries[n].value for n in names}

    def count(self, kind: str) -> int:
        """How many things of a kind there are."""
        with self._guard:
            return len(self._refresh(kind))

    def nearest(self, kind: str, text: str, *, limit: int = 10) -> list[tuple[dict[str, Any], float]]:
        """Things whose task, objective or lines are most like `text`, as plain values with a similarity, 0 to 1."""
        with self._guard:
            self._refresh(kind)
            shelf = self._shelves[kind]
            found = shelf.index.nearest(text, limit=limit)
            return [(shelf.entries[name].value, alike) for name, alike in found]

    def look(
        self, kind: str, text: str, *, limit: int = 10
    ) -> tuple[dict[str, dict[str, Any]], dict[str, float]]:
        """`raw` and `nearest` at once: everything by id, and similarity by id; the folder is looked at one time."""
        with self._guard:
            values, entries = self.raw(kind), self._shelves[kind].entries
            near = self._shelves[kind].index.nearest(text, limit=limit) if text else []
            return values, {entries[n].value["id"]: alike for n, alike in near}

    def counted(self) -> dict[str, str]:
        """Runs that a finished batch has counted: run id -> revision that was counted last."""
        runs: dict[str, str] = {}
        for batch in sorted(self.raw("batches").values(), key=lambda b: (b["number"], b["id"])):
            if batch["status"] == "done":
                runs.update({row["run_id"]: row["revision"] for row in batch["rows"]})
        return runs

    def __repr__(self) -> str:
        filled = ", ".join(f"{n} {k}" for k in KINDS if (n := self.count(k)))
        return f"<Memory {self.path.name}: {filled or 'empty'}>"

    # ---- files --------------------------------------------------------------------------------------------------

    def _refresh(self, kind: str) -> list[str]:
        """Names of a kind's files, after reading those that are new or changed.

        Every write of ours is a rename, which changes the folder's time; only a file that a person edits in place does
        not, so a folder whose time stands still is looked through again after `TRUSTED` seconds.
        """
        _model(kind)
        shelf, folder = self._shelves[kind], self.path / kind
        try:
            folder_time = folder.stat().st_mtime_ns
        except FileNotFoundError:
            folder_time = -1
        now = time.monotonic()
        if folder_time == shelf.folder_time and now - shelf.looked_at < TRUSTED:
            return shelf.names
        # a write in the same tick of the clock would not change the folder's time again
        is_settled = time.time_ns() - folder_time > TICK_NS
        names = []
        if folder_time >= 0:
            with os.scandir(folder) as listed:
                for item in listed:
                    if item.name.endswith(".json") and item.name[0] != ".":
                        try:
                            seen = self._see(kind, item.name, item.stat(follow_symlinks=False))
                        except FileNotFoundError:
                            continue
                        if seen:
                            names.append(item.name)
        for gone in set(shelf.entries) - set(names):
            self._forget(kind, gone)
        shelf.names = sorted(names)
        shelf.folder_time, shelf.looked_at = (folder_time, now) if is_settled else (-1, -math.inf)
        return shelf.names

    def _see(self, kind: str, name: str, status: os.stat_result) -> bool:
        """Reads a file unless it is known as it stands; whether it could be read."""
        known = self._shelves[kind].entries.get(name)
        stamp = _stamp(status)
        if known is not None and known.stamp == stamp:
            return True
        path = self.path / kind / name
        value = _decode(path.read_bytes())
        if value is None or file_stem(str(value.get("id"))) != path.stem:
            self._set_aside(kind, path, "no JSON object with the id that its name says")
            return False
        if known is None or known.value != value:
            # checked once, when first seen: what a person edited may have lost a field
            wrong = _errors(kind, value)
            if wrong:
                self._set_aside(kind, path, wrong)
                return False
        self._learn(kind, name, status, value)
        return True

    def _learn(self, kind: str, name: str, status: os.stat_result, value: dict[str, Any]) -> None:
        shelf = self._shelves[kind]
        shelf.entries[name] = _Entry(_stamp(status), value)
        shelf.folder_time = -1
        shelf.index.add(name, experience.text_of(kind, value))

    def _forget(self, kind: str, name: str) -> None:
        shelf = self._shelves[kind]
        shelf.folder_time = -1
        if shelf.entries.pop(name, None) is not None:
            shelf.index.remove(name)

    def _value(self, kind: str, name: str) -> Any | None:
        entry = self._shelves[kind].entries.get(name)
        return None if entry is None else KINDS[kind].model_validate(entry.value)

    def _keep_version(self, kind: str, name: str, new: BaseModel) -> None:
        """Before a playbook is replaced by another version, the present one goes to ``history/``."""
        entry = self._shelves[kind].entries.get(name)
        if entry is None or not isinstance(new, playbooks.Playbook):
            return
        version = entry.value.get("evolution", {}).get("version")
        if version and version != new.evolution.version:
            target = self.path / "history" / kind / Path(name).stem / f"{file_stem(version)}.json"
            if not target.exists():
                write_whole(target, dump(entry.value))

    def versions(self, kind: str, identifier: str) -> list[Any]:
        """All versions of a playbook that memory has, oldest first, the present one last."""
        folder = self.path / "history" / kind / file_stem(identifier)
        old = (
            [KINDS[kind].model_validate(orjson.loads(p.read_bytes())) for p in folder.glob("*.json")]
            if folder.is_dir()
            else []
        )
        present = self.find(kind, identifier)
        key = lambda v: [int(n) if n.isdigit() else 0 for n in v.evolution.version.split(".")]  # noqa: E731
        return sorted(old, key=key) + ([present] if present is not None else [])

    def _set_aside_unreadable(self, kind: str, path: Path) -> None:
        """Before a file is replaced: what stands there and cannot be read is kept."""
        if path.exists():
            self._see(kind, path.name, path.stat())

    def _set_aside(self, kind: str, path: Path, why: str) -> None:
        with self.locked():
            try:
                value = _decode(path.read_bytes())
            except FileNotFoundError:
                return  # another process was faster
            if (
                value is not None
                and file_stem(str(value.get("id"))) == path.stem
                and not _errors(kind, value)
            ):
                return  # rewritten since we looked
            folder = self.path / "damaged" / kind
            folder.mkdir(parents=True, exist_ok=True)
            number = 1
            while (aside := folder / f"{path.stem}.{number}.json").exists():
                number += 1
            Path(path).replace(aside)
            self._forget(kind, path.name)
        where = aside.relative_to(self.path).as_posix()
        message = f"a file of {kind} is damaged ({why}); it is kept as {where}"
        self.problems.append(Diagnostic("warning", "damaged_memory", message, path=where))
        warnings.warn(message, stacklevel=3)

    def _drop(self, kind: str, name: str, reason: str) -> None:
        path = self.path / kind / name
        entry = self._shelves[kind].entries.get(name)
        note = {
            "kind": kind,
            "id": entry.value["id"] if entry else path.stem,
            "reason": reason,
            "at": self.now().isoformat(),
        }
        # written down first: killed between, the file is still there and is let go of again
        with (self.path / "let-go.jsonl").open("ab") as stream:
            stream.write(orjson.dumps(note) + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        path.unlink(missing_ok=True)
        self._forget(kind, name)

    def _let_go(self, kind: str) -> None:
        limit = self.limits.get(kind)
        if limit is None or sum(1 for _ in os.scandir(self.path / kind)) <= limit:
            return
        names = self._refresh(kind)
        entries = self._shelves[kind].entries
        over = len(names) - limit
        free = victims(kind, {n: entries[n].value for n in names}, counted=self._counted_for(kind))[:over]
        for name in free:
            self._drop(kind, name, f"limit of {limit}")
        if len(free) < over and not any(
            p.code == "memory_over_limit" and p.path == kind for p in self.problems
        ):
            message = f"{kind} hold {playbooks.counted(len(names), 'thing')}, over the limit of {limit}: what no batch has counted stays"
            self.problems.append(Diagnostic("info", "memory_over_limit", message, path=kind))

    def _counted_for(self, kind: str) -> dict[str, str]:
        return self.counted() if kind in ("experiences", "team-experiences") else {}


def _model(kind: str) -> type[BaseModel]:
    if kind not in KINDS:
        raise QueryError(f"no kind of memory is called {kind!r}; there are {', '.join(KINDS)}")
    return KINDS[kind]


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_mtime_ns, status.st_size, status.st_ino


def _decode(data: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(data)
    except ValueError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("id"), str) else None


def _errors(kind: str, value: dict[str, Any]) -> str:
    try:
        KINDS[kind].model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return (
            f"{error.error_count()} errors, the first at {'.'.join(map(str, first['loc']))}: {first['msg']}"
        )
    return ""
