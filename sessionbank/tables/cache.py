"""Tables on disk: Arrow IPC segments, memory-mapped, and a manifest that says which rows of them are alive.

A segment is written once and never changed. The manifest is replaced as a whole, so a process that is killed leaves
either the old state or the new one; segments that no manifest names are swept by a later writer. What is damaged, or of
another version, is as good as absent. What the rows mean is not known here.
"""

from __future__ import annotations

import hashlib
import shutil
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from sessionbank import schema
from sessionbank.sources.locking import lock, write_whole

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 2  # of the manifest; the schemas have their own part in the key
_SWEEP_AFTER_S = 3600  # another process may still be about to name a younger segment


@dataclass(slots=True)
class Kept:
    """A session in the cache: what it was built from, and where its rows stand."""

    segment: str
    signature: str  # of the records and blobs it was built from
    inherited: str  # of the rows that it has from other sessions
    rows: dict[str, tuple[int, int]]


@dataclass(slots=True)
class Manifest:
    """What the cache holds for one state of the refs."""

    fingerprint: str
    sessions: dict[str, Kept] = field(default_factory=dict)  # in the order of the tables
    bank: str | None = None  # segment of the tables that stand for the whole bank


class Cache:
    """The folder of one bank's tables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[tuple[str, str], pa.Table] = {}
        self._recent: tuple[str, dict[str, pa.Table]] = (
            "",
            {},
        )  # the segment that was asked for last without keeping

    def read(self) -> Manifest | None:
        """The manifest, or None where there is none that can be used."""
        try:
            value = orjson.loads((self.folder / "manifest.json").read_bytes())
            if value["version"] != VERSION:
                return None
            kept = {
                sid: Kept(seg, sig, inh, {t: (b, n) for t, b, n in rows})
                for sid, seg, sig, inh, rows in value["sessions"]
            }
            found = Manifest(value["fingerprint"], kept, value["bank"])
            files: dict[str, list[int]] = value["files"]
            whole = all(_stamp(self.folder / name) == stamp for name, stamp in files.items())
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return found if whole else None

    def write(self, manifest: Manifest) -> None:
        """Replaces the manifest, then sweeps what it no longer names."""
        alive = {k.segment for k in manifest.sessions.values()} | (
            {manifest.bank} if manifest.bank else set()
        )
        files = {
            f"{segment}/{p.name}": _stamp(p)
            for segment in sorted(alive)
            for p in sorted((self.folder / segment).iterdir())
        }
        value = {
            "version": VERSION,
            "fingerprint": manifest.fingerprint,
            "bank": manifest.bank,
            "files": files,
            "sessions": [
                (sid, k.segment, k.signature, k.inherited, [(t, b, n) for t, (b, n) in k.rows.items()])
                for sid, k in manifest.sessions.items()
            ],
        }
        with lock(self.folder / "lock"):
            write_whole(self.folder / "manifest.json", orjson.dumps(value))
            self._sweep(alive)

    def _sweep(self, alive: set[str]) -> None:
        old = time.time() - _SWEEP_AFTER_S
        for path in self.folder.glob("seg-*"):
            with suppress(OSError):
                if path.name not in alive and path.stat().st_mtime < old:
                    shutil.rmtree(path)

    @staticmethod
    def new_name() -> str:
        """A name for a segment, for `add`."""
        return f"seg-{uuid.uuid4().hex}"

    def add(self, name: str, tables: dict[str, pa.Table]) -> None:
        """Writes a segment; `write` must name it in a manifest within the hour."""
        import pyarrow as pa

        target = self.folder / name
        target.mkdir(parents=True)
        for table, rows in tables.items():
            with (
                pa.OSFile(str(target / f"{table}.arrow"), "wb") as sink,
                pa.ipc.new_file(sink, rows.schema) as writer,
            ):
                writer.write_table(rows)

    def table(self, segment: str, name: str, *, keep: bool = True) -> pa.Table:
        """A table of a segment, memory-mapped; with `keep` False a mapping of its own, held until another segment's."""
        key = (segment, name)
        if not keep:
            if self._recent[0] != segment:  # sessions side by side lie in one segment
                self._recent = (segment, {})
            with suppress(OSError):  # another process may have cleared it; what is held stays readable
                recent = self._recent[1]
                if name not in recent:
                    recent[name] = self._mapped(segment, name)
                return recent[name]
        if key not in self._open:
            self._open[key] = self._mapped(segment, name)
        return self._open[key]

    def _mapped(self, segment: str, name: str) -> pa.Table:
        import pyarrow as pa

        with pa.memory_map(str(self.folder / segment / f"{name}.arrow"), "r") as source:
            return pa.ipc.open_file(source).read_all()

    def hold(self, manifest: Manifest) -> bool:
        """Opens every table of a manifest, so that it stays whatever other processes take away.

        False where one is gone or damaged.
        """
        import pyarrow as pa

        try:
            for segment, names in {k.segment: k.rows for k in manifest.sessions.values()}.items():
                for name in names:
                    self.table(segment, name)
        except (OSError, pa.ArrowException):
            self._open.clear()
            return False
        return True

    def clear(self) -> None:
        """Forgets everything, on disk too."""
        self._open.clear()
        self._recent = ("", {})
        if self.folder.is_dir():
            with lock(self.folder / "lock"):
                (self.folder / "manifest.json").unlink(missing_ok=True)
                for path in self.folder.glob("seg-*"):
                    shutil.rmtree(path, ignore_errors=True)


def _stamp(path: Path) -> list[int]:
    """Size and time of the last change: a file that somebody wrote into since is not what the manifest names."""
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns]


def assemble(cache: Cache, manifest: Manifest, name: str, *, keep: bool = True) -> pa.Table:
    """One table of all live sessions, in their order; rows that stand side by side are one slice.

    What was mapped stays mapped, unless `keep` is False: then it goes with the table.
    """
    import pyarrow as pa

    slices: list[tuple[str, int, int]] = []
    for kept in manifest.sessions.values():
        begin, n = kept.rows[name]
        if not n:
            continue
        if slices and slices[-1][0] == kept.segment and slices[-1][1] + slices[-1][2] == begin:
            slices[-1] = (kept.segment, slices[-1][1], slices[-1][2] + n)
        else:
            slices.append((kept.segment, begin, n))
    parts = []
    for segment, begin, n in slices:
        whole = cache.table(segment, name, keep=keep)
        parts.append(whole if n == len(whole) else whole.slice(begin, n))
    return pa.concat_tables(parts) if parts else schema.arrow_schema(name).empty_table()


def key(*parts: Any) -> str:
    """A short name for a combination of things, safe as a file name."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]
