"""Reading a git repository: refs, trees, objects in one stream, and commits that name checkpoints.

One `cat-file --batch` for all: a process a file would cost 20 times as much. Nothing is ever written to the
repository, nothing is fetched, and no text from the data is given to git as an argument: refs are resolved to object
ids first. What the trees mean is `entire`'s business, not this module's.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from sessionbank.errors import RepositoryError
from sessionbank.sources.objects import ODD, Found, ObjectReader, answers, widen

OID = re.compile(r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")
TRAILER = re.compile(rb"Entire-Checkpoint:[ \t]*([0-9a-f]{12}|[0-9ABCDEFGHJKMNPQRSTVWXYZ]{26})(?=\s|$)")
DELTA_CACHE = (
    "core.deltaBaseCacheLimit=256m"  # session order with this cache: 0.67 times the time of path order
)
NOT_CODE = ("refs/heads/entire/*", "refs/remotes/*/entire/*", "refs/entire/*", "refs/stash")
_LOG = (
    "log", "-z", "--no-show-signature", "--no-color", "--encoding=UTF-8", "--format=%H%x00%at%x00%s%x00%B%x00", "-F",
    "--grep=Entire-Checkpoint:", "--ignore-missing",
)  # fmt: skip
_REF_ROLES = "%00%(symref)%00%(HEAD)"
_ALL_REFS = ("for-each-ref", f"--format=%(refname)%00%(objectname)%00%(*objectname){_REF_ROLES}")
_FOREIGN = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX",
)  # fmt: skip
_ENV = {
    "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none",  # git before 2.45 knows only the second
    "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Commit:
    """A code commit and the checkpoints that its message names."""

    sha: str
    authored_at: datetime | None
    subject: str
    checkpoint_ids: tuple[str, ...]
    on_default_branch: bool | None


@contextmanager
def only_the_path_counts() -> Iterator[None]:
    """Without the variables by which git hooks name their own repository: a path that was named is the one to use."""
    away = {k: os.environ.pop(k) for k in _FOREIGN if k in os.environ}
    try:
        yield
    finally:
        os.environ.update(away)


def commit_order(commit: Commit) -> tuple[bool, float, str]:
    """Oldest first; a commit without a date that can be comes last."""
    at = commit.authored_at
    return at is None, at.timestamp() if at else 0.0, commit.sha


class GitReader:
    """Reads one repository through git's own plumbing. Belongs to one thread; close it when done."""

    def __init__(self, path: str | Path) -> None:
        import git

        self.path = Path(path)
        if not self.path.is_dir():
            raise RepositoryError(f"no such folder: {self.path}")
        self._git = git.Git(str(self.path))
        self._git.update_environment(**_ENV)
        self.common_dir = self._common_dir()

    def _common_dir(self) -> str:
        """Where the repository's own files lie; one process less where the path shows it."""
        here = self.path.resolve()
        for found in (here / ".git", here):
            if (
                (found / "HEAD").is_file()
                and (found / "objects").is_dir()
                and not (found / "commondir").exists()
            ):
                return str(found)
        relative = self._run("rev-parse", "--git-common-dir").decode("utf-8", "surrogateescape").rstrip("\n")
        return str((self.path / relative).resolve())

    def close(self) -> None:
        """Ends the git processes that belong to this reader."""
        if "objects" in self.__dict__:
            self.objects.close()
        self._asked_refs = None  # GitPython ends what is let go of
        self._git.clear_cache()

    def refs(self) -> dict[str, str]:
        """Every ref and the commit (or other object) it points to, tags peeled."""
        seen = self._ref_files()  # before git reads them: a change meanwhile is seen the next time
        if seen is not None and seen == self._refs_seen:
            return self._refs
        early, self._asked_refs = self._asked_refs, None
        try:
            if early is not None and seen is not None and early[0] == seen:
                out = self._finish(early[1])
            else:
                out = self._run(*_ALL_REFS)
        except (
            RepositoryError
        ):  # an object that a ref names is not here: names and ids can be had all the same
            out = self._run("for-each-ref", f"--format=%(refname)%00%(objectname)%00{_REF_ROLES}")
        found: dict[str, str] = {}
        self._head = self._origin_head = ""
        for line in out.decode("utf-8", ODD).split("\n")[:-1]:
            name, oid, peeled, target, checked_out = (line + "\0\0\0\0").split("\0")[:5]
            found[name] = peeled or oid
            if name == "refs/remotes/origin/HEAD":
                self._origin_head = target
            if checked_out == "*":
                self._head = name
        self._refs, self._refs_seen = found, seen
        return found

    def _ref_files(self) -> list[tuple[str, int, int, int]] | None:
        """What changes whenever a ref does: the files that hold them (git replaces them, it never writes into one).

        None where there are so many that asking git is as quick.
        """
        found: list[tuple[str, int, int, int]] = []
        todo = [self.common_dir + "/refs", self.common_dir + "/reftable"]
        single = [self.common_dir + "/packed-refs", self.common_dir + "/HEAD", str(self.path) + "/.git"]
        try:
            for name in single:
                with suppress(OSError):
                    stat = Path(name).stat()
                    found.append((name, stat.st_ino, stat.st_mtime_ns, stat.st_size))
            while todo:
                folder = todo.pop()
                if not Path(folder).is_dir():
                    continue
                for entry in os.scandir(folder):
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    else:
                        stat = entry.stat()
                        found.append((entry.path, stat.st_ino, stat.st_mtime_ns, stat.st_size))
                if len(found) + len(todo) > 500:
                    return None
        except OSError:
            return None
        return sorted(found)

    _refs: dict[str, str]
    _refs_seen: list[tuple[str, int, int, int]] | None = None
    # What `start` asked, and the files of the refs at that moment.
    _asked_refs: tuple[list[tuple[str, int, int, int]], Any] | None = None
    _head = _origin_head = ""  # set by `refs`: the branch checked out, and what HEAD of origin names

    def start(self, first: str = "") -> None:
        """Lets git start, list the refs and open its packs while the caller goes on: the first questions find it ready.

        `first` names an object that will likely be asked for; it need not exist.
        """
        seen = self._ref_files()
        if seen is not None:
            self._asked_refs = seen, self._start(*_ALL_REFS)
        self.objects.start(first)

    @cached_property
    def objects(self) -> ObjectReader:
        """A git that runs until `close`, to ask for trees and small objects."""
        return ObjectReader(
            lambda: self._start("cat-file", "--batch", istream=subprocess.PIPE), self._buffered
        )

    def folders(self, oid: str) -> str:
        """The paths of all folders of a tree, with a NUL behind each; no file names are read."""
        out = self._run("ls-tree", "-r", "-d", "-z", "--name-only", "--full-tree", _checked(oid))
        return out.decode("utf-8", ODD)

    def blobs(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """The content of each object, in the order asked; None where this clone does not hold it or it is damaged.

        One process for all, so that git can reuse what it unpacked; memory holds one object at a time.
        """
        return self._blobs(oids, self._buffered)

    def small_blobs(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """Like `blobs`, asked of a git that runs already."""
        return self._blobs(oids, self.objects.read)

    def _blobs(
        self, oids: Iterable[str], read: Callable[[Sequence[str]], Iterator[Found]]
    ) -> Iterator[tuple[str, bytes | None]]:
        todo = [o for o in oids if OID.match(o)]
        absent = self._absent(todo) if self.is_partial else frozenset()
        found = read([o for o in todo if o not in absent] if absent else todo)
        for oid in todo:
            if oid in absent:
                yield oid, None
            else:
                _, kind, data = next(found)
                yield oid, data if kind == b"blob" else None
        for _ in found:  # git is waited for
            pass

    def _buffered(self, todo: Sequence[str]) -> Iterator[Found]:
        while todo:
            done = 0
            for found in self._stream(todo):
                done += 1
                yield found
            if done < len(todo):  # git gave up on a damaged object: say so, go on behind it
                yield todo[done], b"", None
                done += 1
            todo = todo[done:]

    def _stream(self, oids: Sequence[str]) -> Iterator[Found]:
        with tempfile.TemporaryFile() as asked:
            asked.write(("\n".join(oids) + "\n").encode())
            asked.seek(0)
            process = self._start("-c", DELTA_CACHE, "cat-file", "--batch", "--buffer", istream=asked)
            out = process.proc.stdout
            widen(out.fileno())
            try:
                yield from answers(out, oids)
            finally:
                out.close()
                process.proc.stderr.close()
                with suppress(Exception):
                    process.proc.terminate()
                process.proc.wait()

    @property
    def is_partial(self) -> bool:
        """Whether objects may be left out on purpose (a partial clone)."""
        config = Path(self.common_dir) / "config"
        with suppress(OSError):
            text = config.read_text("utf-8", "replace").lower()
            return "promisor" in text or "partialclone" in text
        return False

    def _absent(self, oids: Sequence[str]) -> frozenset[str]:
        """Objects that a partial clone left out: asking `cat-file` for them would fetch each one from afar."""
        packs = Path(self.common_dir) / "objects"
        here: set[str] = set()
        for index in sorted((packs / "pack").glob("*.idx")):
            with index.open("rb") as stream:
                out = self._run("show-index", istream=stream)
            here.update(line.split(b" ")[1].decode() for line in out.splitlines())
        return frozenset(o for o in oids if o not in here and not (packs / o[:2] / o[2:]).exists())

    def default_branch(self, refs: dict[str, str]) -> str | None:
        """The ref of the default branch: origin's HEAD, else main or master, else the branch checked out."""
        for name in self._origin_head, "refs/heads/main", "refs/heads/master":
            if name in refs:
                return name
        if self._head in refs and "/entire/" not in self._head:
            return self._head
        return next(
            (n for n in ("refs/remotes/origin/main", "refs/remotes/origin/master") if n in refs), None
        )

    def commits(self, refs: dict[str, str]) -> Callable[[], list[Commit]]:
        """Starts to look for code commits, over all refs, whose message names a checkpoint anywhere.

        Git searches while the caller reads on; the function that is given back waits and gives them, oldest first.
        """
        everywhere = self._start(*_LOG, *(f"--exclude={glob}" for glob in NOT_CODE), "--all", "--")
        default = self.default_branch(refs)
        is_all = default is not None and self._is_all(refs, refs[default])
        main = self._start(*_LOG, _checked(refs[default]), "--") if default and not is_all else None

        def wait() -> list[Commit]:
            rows = _logged(self._finish(everywhere))
            reached = {row[0] for row in _logged(self._finish(main))} if main else None
            found = [Commit(*row, is_all or (None if reached is None else row[0] in reached)) for row in rows]
            return sorted(found, key=commit_order)

        return wait

    def _is_all(self, refs: dict[str, str], tip: str) -> bool:
        """Whether all refs but those of `NOT_CODE` point to this commit, and HEAD to a ref: no need to search twice."""
        code = {oid for ref, oid in refs.items() if not any(fnmatchcase(ref, glob) for glob in NOT_CODE)}
        with suppress(OSError):
            head = Path(self.common_dir, "HEAD").read_bytes()
            is_linked = self.path.joinpath(".git").is_file()
            return code == {tip} and head.startswith(b"ref: ") and not is_linked
        return False

    def commits_with_files(
        self, refs: dict[str, str], since: datetime
    ) -> list[tuple[Commit, tuple[str, ...]]]:
        """Code commits over all refs from a time on, oldest first, with the files they change."""
        head = ("log", "-z", "--no-show-signature", "--no-color", "--encoding=UTF-8", "--name-only", "--no-renames",
                "--ignore-missing")  # fmt: skip
        when = f"--since={int(since.timestamp())}"
        out = self._run(
            *head, "--format=%x01%H%x02%at%x02%s", when, *(f"--exclude={g}" for g in NOT_CODE), "--all", "--"
        )
        default = self.default_branch(refs)
        main = (
            self._run("rev-list", when, _checked(refs[default]), "--").decode().split() if default else None
        )
        reached = None if main is None else set(main)
        found = []
        for part in out.decode("utf-8", "replace").split("\x01")[1:]:
            about, *files = part.split("\0")
            sha, authored, subject = (about.strip("\n") + "\x02\x02").split("\x02")[:3]
            names = tuple(f for f in (f.lstrip("\n") for f in files) if f)
            on_default = None if reached is None else sha in reached
            found.append((Commit(sha, _moment(authored.encode()), subject, (), on_default), names))
        return sorted(found, key=lambda c: commit_order(c[0]))

    def reverts(self) -> list[tuple[str, str]]:
        """Commits, over all refs, that say they revert another: (id, whole message)."""
        words = ("--grep=This reverts commit", "--grep=^Revert ", "--grep=^revert")
        head = ("log", "-z", "--no-show-signature", "--no-color", "--encoding=UTF-8", "--format=%H%x00%B%x00")
        out = self._run(*head, *words, *(f"--exclude={glob}" for glob in NOT_CODE), "--all", "--")
        parts = out.split(b"\0")
        return [
            (a.decode().strip(), b.decode("utf-8", "replace"))
            for a, b in zip(parts[::3], parts[1::3], strict=False)
        ]

    def commit_id(self, name: str) -> str | None:
        """The full id of a commit named by an abbreviated or full id, or None."""
        if not re.fullmatch(r"[0-9a-fA-F]{4,64}", name):
            return None
        import git

        try:
            with only_the_path_counts():
                return str(
                    self._git.rev_parse("--verify", "--quiet", "--end-of-options", name.lower() + "^{commit}")
                )
        except git.GitCommandError:
            return None

    def sizes(self, oids: Iterable[str]) -> Callable[[], dict[str, int | None]]:
        """Starts to ask for the size of each object; the function given back waits. None: not in this clone."""
        todo = list(dict.fromkeys(o for o in oids if OID.match(o)))
        absent = self._absent(todo) if self.is_partial else frozenset()
        asked = tempfile.TemporaryFile()  # noqa: SIM115 - git reads it until `wait`
        asked.write("".join(f"{o}\n" for o in todo if o not in absent).encode())
        asked.seek(0)
        process = self._start(
            "cat-file", "--batch-check=%(objectname) %(objectsize)", "--buffer", istream=asked
        )

        def wait() -> dict[str, int | None]:
            found: dict[str, int | None] = dict.fromkeys(absent)
            with asked:
                out = self._finish(process, strict=False)
            for line in out.decode("ascii", "replace").splitlines():
                oid, _, size = line.partition(" ")
                found[oid] = int(size) if size.isdigit() else None
            return found

        return wait

    def _run(self, *command: str, istream: object = None) -> bytes:
        return self._finish(self._start(*command, istream=istream))

    def _start(self, *command: str, istream: object = None) -> Any:
        import git

        try:
            with only_the_path_counts():
                return self._git.execute(["git", *command], as_process=True, istream=istream)  # type: ignore[call-overload]
        except git.GitCommandNotFound:
            raise RepositoryError("git is not installed, or not on PATH; install git 2.30 or newer") from None

    def _finish(self, process: Any, *, strict: bool = True) -> bytes:
        out, err = process.proc.communicate()
        if process.proc.returncode and strict:
            raise _not_readable(self.path, err.decode("utf-8", "replace"))
        return bytes(out)


def _logged(out: bytes) -> list[tuple[str, datetime | None, str, tuple[str, ...]]]:
    parts = out.split(b"\0")
    rows = []
    for at in range(0, len(parts) - 4, 5):
        sha, when, subject, body = parts[at : at + 4]
        ids = tuple(dict.fromkeys(m.decode() for m in TRAILER.findall(body)))
        if ids:
            rows.append(
                (
                    sha.decode().strip(),
                    _moment(when),
                    subject.decode("utf-8", "replace"),
                    ids,
                )
            )
    return rows


def _moment(seconds: bytes) -> datetime | None:
    """An author date; None where a commit states one that cannot be."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _checked(oid: str) -> str:
    if not OID.match(oid):
        raise RepositoryError(f"not a git object id: {oid!r}")
    return oid


def _not_readable(path: Path, stderr: str) -> RepositoryError:
    said = stderr.strip().removeprefix("stderr: ").strip("'\n ")
    if "dubious ownership" in said:
        return RepositoryError(
            f"git refuses to read {path}: it belongs to another user. If you trust it, run: "
            f"git config --global --add safe.directory {path.absolute()}"
        )
    if "not a git repository" in said:
        return RepositoryError(
            f"{path} is not a git repository, nor inside one; name a repository, a .bundle file or an agent's folder"
        )
    return RepositoryError(f"git cannot read {path}: {said.splitlines()[0] if said else 'no reason given'}")
