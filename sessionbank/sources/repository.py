"""A git repository, or a bundle of one, as a source of checkpoints: where a bank's bytes come from.

A source answers five questions: is there anything, what state is it in, which checkpoints, which bytes, which commits.
Folders of agents answer the same ones in `folders`. A bundle is unpacked into the cache folder, once for its content.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from sessionbank.errors import RepositoryError
from sessionbank.records import CheckpointRef
from sessionbank.sources.entire import BRANCH, checkpoint_refs, listed
from sessionbank.sources.git import Commit, GitReader, only_the_path_counts
from sessionbank.sources.locking import lock
from sessionbank.sources.store import Store, read_store


class Repository:
    """Checkpoints of one git repository. Belongs to one thread; close it when done."""

    def __init__(self, path: Path, *, branch: str | None, cache_dir: Path) -> None:
        self.path = path
        self.branch = branch
        where = _unbundled(path, cache_dir) if path.is_file() else path
        self._git = GitReader(where)
        self._git.start(f"refs/heads/{BRANCH}^{{tree}}")
        self.identity = f"{self._git.common_dir if where == path else where}|{branch or ''}"

    @property
    def head(self) -> str | None:
        """Commit of the first checkpoint ref, or None."""
        found = checkpoint_refs(self.refs(), self.branch)
        return found[0][2] if found else None

    def refs(self) -> dict[str, str]:
        """Every ref and its commit, now."""
        return self._git.refs()

    def has_checkpoints(self, refs: dict[str, str]) -> bool:
        """Whether a ref holds checkpoints."""
        return bool(checkpoint_refs(refs, self.branch))

    def fingerprint(self, refs: dict[str, str]) -> str:
        """Changes whenever any ref moves: checkpoints and the commits that name them both hang on refs."""
        text = "\n".join(f"{k} {v}" for k, v in sorted(refs.items()))
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()

    def store(self, refs: dict[str, str]) -> Store:
        """Every checkpoint and record; reads metadata, no transcript."""
        return read_store(self._git, refs, self.branch)

    def list_checkpoints(self, refs: dict[str, str]) -> list[CheckpointRef]:
        """The checkpoints by the names of their folders; reads no file."""
        found: dict[str, CheckpointRef] = {}
        for layout, ref, commit, own_id in checkpoint_refs(refs, self.branch):
            if layout == "v2" and not ref.endswith("/main"):
                continue
            try:
                folders = self._git.folders(commit)
            except RepositoryError:
                continue  # diagnostics says so
            if own_id is not None:
                count = sum(f.isascii() and f.isdigit() for f in folders.split("\0"))
                found.setdefault(own_id, CheckpointRef(own_id, layout, ref, "", count))
                continue
            for checkpoint_id, (path, count) in listed(folders).items():
                found.setdefault(checkpoint_id, CheckpointRef(checkpoint_id, layout, ref, path, count))
        return list(found.values())

    def blobs(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """The bytes of each object, in the order asked."""
        return self._git.blobs(oids)

    def sizes(self, oids: Iterable[str]) -> Callable[[], dict[str, int | None]]:
        """Starts to ask for the size of each object; None for one that this clone lacks."""
        return self._git.sizes(oids)

    def commits(self, refs: dict[str, str]) -> Callable[[], list[Commit]]:
        """Starts to look for code commits that name checkpoints; the function given back waits for them."""
        return self._git.commits(refs)

    def commits_with_files(
        self, refs: dict[str, str], since: datetime
    ) -> list[tuple[Commit, tuple[str, ...]]]:
        """Code commits from a time on, with the files they change."""
        return self._git.commits_with_files(refs, since)

    def reverts(self) -> list[tuple[str, str]]:
        """Commits that say they revert another: (id, whole message)."""
        return self._git.reverts()

    def commit_id(self, name: str) -> str | None:
        """The full id of a commit named by a possibly abbreviated id."""
        return self._git.commit_id(name)

    def close(self) -> None:
        """Ends the git processes behind it."""
        self._git.close()


def _is_whole(unpacked: Path) -> bool:
    """Whether what was unpacked once is still there: every ref has its object."""
    import git

    try:
        reader = GitReader(unpacked)
        sizes = reader.sizes(reader.refs().values())()
    except (RepositoryError, git.GitCommandError):
        return False
    return bool(sizes) and None not in sizes.values()


def _unbundled(bundle: Path, cache_dir: Path) -> Path:
    """A bare repository with everything that the bundle holds; made once for the bundle's content."""
    import git

    digest = hashlib.sha256()
    with bundle.open("rb") as stream:
        if not stream.read(16).startswith(b"# v"):
            raise RepositoryError(
                f"{bundle} is a file, but not a git bundle; name a repository, a bundle or an agent's folder"
            )
        stream.seek(0)
        while block := stream.read(1 << 20):
            digest.update(block)
    target = cache_dir / "bundles" / digest.hexdigest()[:32]
    with lock(cache_dir / "bundles" / "lock"):
        if target.is_dir() and _is_whole(target):
            return target
        shutil.rmtree(target, ignore_errors=True)
        fresh = Path(tempfile.mkdtemp(dir=target.parent, prefix=".unpacking-"))
        try:
            command = git.Git(str(fresh))
            command.update_environment(GIT_TERMINAL_PROMPT="0", LC_ALL="C")
            with only_the_path_counts():
                command.init("--bare", "--quiet", "--template=", ".")
                # HEAD must not stand in the way of a branch of the bundle that has its name.
                command.symbolic_ref("HEAD", "refs/heads/sessionbank-none")
                command.fetch(
                    "--quiet",
                    "--no-write-fetch-head",
                    "--update-head-ok",
                    "--",
                    str(bundle.resolve()),
                    "+refs/*:refs/*",
                )
                if not command.for_each_ref("--count=1"):
                    raise RepositoryError(
                        f"the bundle {bundle} holds no branch and no other ref; it may have been cut"
                    )
            Path(fresh).replace(target)
        except git.GitCommandError as error:
            said = str(error.stderr).strip("'\n ").splitlines()
            raise RepositoryError(
                f"git cannot unpack the bundle {bundle}: {said[-1] if said else 'no reason given'}"
            ) from None
        finally:
            with suppress(OSError):
                shutil.rmtree(fresh)
    return target
