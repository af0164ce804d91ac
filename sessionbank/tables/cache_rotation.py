"""How long what is kept between runs stays: what nobody opened for 30 days goes, and above 5 GB what was used longest ago.

A bank marks its folders as used and holds a lock on the mark while it is open; what is held is never taken away. Only
folders that this package made (by the shape of their names) are looked at. What lies in them is not known here.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

_CAN_SHARE = (
    find_spec("fcntl") is not None
)  # Windows has no shared locks on files: there nothing is taken away
if _CAN_SHARE:
    import fcntl

UNUSED_S = 30 * 86400
MOST_BYTES = 5 << 30
EVERY_S = 86400  # the folders are looked through once a day
_OURS = {"tables": re.compile(r"[0-9a-f]{24}"), "bundles": re.compile(r"[0-9a-f]{32}")}
_TRASH = ".trash-"


@contextmanager
def opening(root: Path) -> Iterator[None]:
    """While a bank is being opened, and until it has marked what it uses, nothing is taken away."""
    if not _CAN_SHARE:
        yield
        return
    gate = _open(root / "rotation.lock")
    try:
        fcntl.flock(gate, fcntl.LOCK_SH)
        yield
    finally:
        os.close(gate)


class InUse:
    """The marks of folders that an open bank uses; let go of by `release`, or when nobody holds the bank any more."""

    def __init__(self, root: Path, folders: Sequence[Path]) -> None:
        marks = [_open(_mark(root, folder)) for folder in folders]
        for mark in marks:
            os.utime(mark)
            if _CAN_SHARE:
                fcntl.flock(mark, fcntl.LOCK_SH)
        self.release = weakref.finalize(self, _close, marks)


def bundles_in(root: Path, identity: str) -> list[Path]:
    """The unpacked bundles that a source reads, told from the paths in its identity."""
    names = re.findall(re.escape(f"{root / 'bundles'}{os.sep}") + r"([0-9a-f]{32})", identity)
    return [root / "bundles" / name for name in names]


def rotate(
    root: Path, *, unused_s: float = UNUSED_S, most_bytes: int = MOST_BYTES, every_s: float = EVERY_S
) -> list[Path]:
    """Takes away what the policy says and nobody holds; gives what went. Does nothing where it ran within `every_s`,
    or while a bank is being opened.
    """
    if not _CAN_SHARE or not root.is_dir():
        return []
    stamp = root / "rotated"
    with suppress(OSError):
        if time.time() - stamp.stat().st_mtime < every_s:
            return []
    gate = _open(root / "rotation.lock")
    try:
        fcntl.flock(gate, fcntl.LOCK_EX | fcntl.LOCK_NB)
        stamp.touch()
        gone = list(_take(root, unused_s, most_bytes))
    except OSError:  # somebody opens a bank just now, or the folder cannot be written
        return []
    finally:
        os.close(gate)
    for left in root.glob(f"{_TRASH}*"):  # outside the gate: this may take long
        shutil.rmtree(left, ignore_errors=True)
    return gone


def _take(root: Path, unused_s: float, most_bytes: int) -> Iterator[Path]:
    found = [p for kind, name in _OURS.items() for p in (root / kind).glob("*") if name.fullmatch(p.name)]
    known = sorted(
        (_last_use(root, p), str(p), p, _size(p)) for p in found if p.is_dir() and not p.is_symlink()
    )
    total, limit = sum(size for *_, size in known), time.time() - unused_s
    for used, _, folder, size in known:
        if (used < limit or total > most_bytes) and _is_free(root, folder):
            trash = Path(tempfile.mkdtemp(dir=root, prefix=_TRASH))
            folder.rename(trash / folder.name)
            _mark(root, folder).unlink(missing_ok=True)
            total -= size
            yield folder


def _is_free(root: Path, folder: Path) -> bool:
    mark = _open(_mark(root, folder))
    try:
        fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(mark)
    return True


def _last_use(root: Path, folder: Path) -> float:
    """When a bank marked it; for one of an earlier version, when something in it was last made."""
    try:
        return _mark(root, folder).stat().st_mtime
    except OSError:
        return folder.stat().st_mtime


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # another process may write here
            total += path.stat().st_size
    return total


def _mark(root: Path, folder: Path) -> Path:
    return root / "used" / folder.name


def _open(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)  # not handed on to git


def _close(marks: list[int]) -> None:
    for mark in marks:
        os.close(mark)
