"""Trees and small objects of a repository, asked of one `git cat-file` that runs meanwhile.

To start a process takes git as long as to read a hundred objects, so whole levels of trees, of all refs, and the
metadata below them go through one. Many objects are asked of a process that may buffer (`GitReader.stream`). What the
trees mean is `entire`'s business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

Found = tuple[str, bytes, bytes | None]  # as asked, type, content (None: not in this clone, or damaged)
MANY = 2_000  # from here on a process of its own that buffers is quicker
DEEPEST = 64  # levels of folders; Entire writes six
ODD = "backslashreplace"  # names that are not UTF-8 stay apart and can be written down; git never sees them again
_SHORT = 1 << 14  # bytes that cost less to copy than a call
_AT_ONCE = 500  # requests that fit a pipe: git never waits for us while we wait for git


class ObjectReader:
    """Asks a git that runs until `close`; it starts git where none runs, and again where damage made it end."""

    def __init__(self, start: Callable[[], Any], stream: Callable[[Sequence[str]], Iterator[Found]]) -> None:
        self._start = start
        self._stream = stream
        self._process: Any = None
        self._early = ""  # asked at the start, to be passed over

    def __del__(self) -> None:
        with suppress(Exception):  # a bank that nobody closed: the interpreter may be ending too
            self.close()

    def start(self, first: str = "") -> None:
        """Starts git, if it does not run. It opens its packs at once where `first` names an object to look for."""
        if self._process is None:
            self._process = self._started()
            self._early = first
            self._ask([first] if first else [])

    def read(self, names: Sequence[str]) -> Iterator[Found]:
        """Each object, in the order asked. Names are object ids that were checked, or such with ``^{tree}``."""
        if len(names) > MANY:
            yield from self._stream(names)
            return
        for begin in range(0, len(names), _AT_ONCE):
            yield from self._read(names[begin : begin + _AT_ONCE])

    def _read(self, names: Sequence[str]) -> Iterator[Found]:
        todo = list(names)
        try:
            while todo:
                self.start()
                self._pass_early()
                self._ask(todo)
                for found in answers(self._process.proc.stdout, tuple(todo)):
                    todo.pop(0)
                    yield found
                if todo:  # git gave up on a damaged object: say so, go on behind it
                    self.close()
                    yield todo.pop(0), b"", None
        finally:
            if todo:
                self.close()  # answers that nobody took would be taken for those of the next questions

    def _ask(self, names: Sequence[str]) -> None:
        with suppress(BrokenPipeError):
            self._process.proc.stdin.write("".join(f"{n}\n" for n in names).encode())
            self._process.proc.stdin.flush()

    def _pass_early(self) -> None:
        early, self._early = self._early, ""
        if early and not any(answers(self._process.proc.stdout, (early,))):  # it is damaged, and git gave up
            self.close()
            self.start()

    def _started(self) -> Any:
        process = self._start()
        widen(process.proc.stdout.fileno())
        return process

    def walk(self, roots: Sequence[str]) -> list[Tree]:
        """All files below each root (a commit or tree), and what could not be read of it."""
        trees = [Tree() for _ in roots]
        level = [(tree, f"{root}^{{tree}}", "") for tree, root in zip(trees, roots, strict=True)]
        for depth in range(DEEPEST + 1):
            below: list[tuple[Tree, str, str]] = []
            if depth == DEEPEST:
                for tree, _, path in level:
                    tree.unread.append((path, f"it lies more than {DEEPEST} folders deep"))
                break
            for (tree, _, path), (_, kind, data) in zip(
                level, self.read([name for _, name, _ in level]), strict=True
            ):
                found = _parsed(data) if kind == b"tree" and data is not None else None
                if found is None:
                    tree.unread.append((path, "its object is not in this clone, or is damaged"))
                    continue
                for mode, name, oid in found:
                    here = path + name.decode("utf-8", ODD)
                    if mode == "040000":
                        below.append((tree, oid, here + "/"))
                    else:
                        tree.files.append((mode, oid, here))
            level = below
            if not level:
                break
        for tree in trees:
            tree.files.sort(key=lambda f: f[2])
        return trees

    def close(self) -> None:
        """Ends git."""
        if self._process is None:
            return
        process, self._process = self._process.proc, None
        for pipe in (process.stdin, process.stdout, process.stderr):
            with suppress(OSError):
                pipe.close()
        with suppress(OSError):
            process.kill()
        process.wait()


def widen(pipe: int) -> None:
    """Let git run ahead of us: a pipe of 1 MB saves a sixth of the reading time. Only Linux has the call."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 20)


class Tree:
    """What lies below a root: files as (mode, object id, path), and folders that cannot be read as (path, why)."""

    __slots__ = ("files", "unread")

    def __init__(self) -> None:
        self.files: list[tuple[str, str, str]] = []
        self.unread: list[tuple[str, str]] = []


def answers(out: Any, asked: Sequence[str]) -> Iterator[Found]:
    """What `cat-file --batch` prints for each name; ends early where git does."""
    line, read = out.readline, out.read
    for name in asked:
        head = line().split()
        if len(head) < 2:
            return
        if len(head) < 3 or not head[2].isdigit():
            yield name, b"", None  # missing, or ambiguous
            continue
        size = int(head[2])
        if size < _SHORT:  # the newline behind it comes along: one call less
            data = read(size + 1)[:size]
        else:
            data = read(size)
            read(1)
        if len(data) < size:
            return
        yield name, head[1], data


_ENTRIES = {n: re.compile(rb"([0-7]{5,6}) ([^\0]+)\0(.{%d})" % n, re.DOTALL) for n in (20, 32)}


def _parsed(data: bytes) -> list[tuple[str, bytes, str]] | None:
    """The entries of a tree object as (mode in six digits, name, object id); None where it is none."""
    for size, entry in _ENTRIES.items():
        found = entry.findall(data)
        if sum(len(mode) + len(name) + 2 + size for mode, name, _ in found) == len(data):
            return [(mode.decode().zfill(6), name, oid.hex()) for mode, name, oid in found]
    return None
