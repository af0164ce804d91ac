"""Several sources as one: a repository and an agent's folder opened together, each session counted once.

A session that stands in two of them is the union of both, as one that stands in two checkpoints is. What each source
is, is its own module's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from sessionbank.records import CheckpointRef
from sessionbank.sources.folders import Folder
from sessionbank.sources.git import Commit, commit_order
from sessionbank.sources.repository import Repository
from sessionbank.sources.store import Store

_MARK = "\0"


class Several:
    """The union of sources; the first one to hold an object gives its bytes."""

    branch = None

    def __init__(self, sources: Sequence[Repository | Folder]) -> None:
        self.sources = list(sources)
        self.identity = "several:" + "|".join(s.identity for s in self.sources)
        self.path = Path(", ".join(str(s.path) for s in self.sources))
        self._home: dict[str, int] = {}  # object id -> the source that holds it

    @property
    def head(self) -> str | None:
        """Of the first source that has one."""
        return next((s.head for s in self.sources if s.head), None)

    def refs(self) -> dict[str, str]:
        """All refs, each marked with its source."""
        return {f"{at}{_MARK}{k}": v for at, s in enumerate(self.sources) for k, v in s.refs().items()}

    def _parts(self, refs: dict[str, str]) -> list[dict[str, str]]:
        parts: list[dict[str, str]] = [{} for _ in self.sources]
        for key, value in refs.items():
            at, _, name = key.partition(_MARK)
            parts[int(at)][name] = value
        return parts

    def has_checkpoints(self, refs: dict[str, str]) -> bool:
        """Whether any source holds something."""
        return any(s.has_checkpoints(p) for s, p in zip(self.sources, self._parts(refs), strict=True))

    def fingerprint(self, refs: dict[str, str]) -> str:
        """Changes whenever one of them changes."""
        return "+".join(s.fingerprint(p) for s, p in zip(self.sources, self._parts(refs), strict=True))

    def store(self, refs: dict[str, str]) -> Store:
        """All checkpoints and records; a checkpoint that two repositories hold stands once."""
        whole = Store()
        seen: set[str] = set()
        for at, (source, part) in enumerate(zip(self.sources, self._parts(refs), strict=True)):
            store = source.store(part)
            whole.refs += store.refs
            whole.problems += store.problems
            whole.prompts.update(store.prompts)
            for checkpoint in store.checkpoints:
                for record in checkpoint.records:
                    for oid in (
                        *record.transcript_blobs,
                        record.hash_blob,
                        *(f.blob for f in record.agent_files),
                    ):
                        if oid:
                            self._home.setdefault(oid, at)
                if checkpoint.checkpoint_id not in seen or checkpoint.layout == "folder":
                    whole.checkpoints.append(checkpoint)
                seen.add(checkpoint.checkpoint_id)
        return whole

    def list_checkpoints(self, refs: dict[str, str]) -> list[CheckpointRef]:
        """The checkpoints of all sources, each once."""
        found: dict[str, CheckpointRef] = {}
        for source, part in zip(self.sources, self._parts(refs), strict=True):
            for ref in source.list_checkpoints(part):
                found.setdefault(ref.checkpoint_id, ref)
        return list(found.values())

    def blobs(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """The bytes of each object, in the order asked; runs of one source are one stream of it."""
        run: list[str] = []
        home = 0
        for oid in oids:
            here = self._home.get(oid, 0)
            if here != home and run:
                yield from self.sources[home].blobs(run)
                run = []
            home = here
            run.append(oid)
        if run:
            yield from self.sources[home].blobs(run)

    def sizes(self, oids: Iterable[str]) -> Callable[[], dict[str, int | None]]:
        """The size of each object."""
        asked: dict[int, list[str]] = {}
        for oid in oids:
            asked.setdefault(self._home.get(oid, 0), []).append(oid)
        waits = [self.sources[at].sizes(part) for at, part in asked.items()]
        return lambda: {k: v for wait in waits for k, v in wait().items()}

    def commits(self, refs: dict[str, str]) -> Callable[[], list[Commit]]:
        """Commits of all repositories, each once."""
        waits = [s.commits(p) for s, p in zip(self.sources, self._parts(refs), strict=True)]
        return lambda: sorted({c.sha: c for w in waits for c in w()}.values(), key=commit_order)

    def commits_with_files(
        self, refs: dict[str, str], since: datetime
    ) -> list[tuple[Commit, tuple[str, ...]]]:
        """Of all repositories."""
        pairs = zip(self.sources, self._parts(refs), strict=True)
        return [c for source, part in pairs for c in source.commits_with_files(part, since)]

    def reverts(self) -> list[tuple[str, str]]:
        """Of all repositories."""
        return [r for s in self.sources for r in s.reverts()]

    def commit_id(self, name: str) -> str | None:
        """The full id of a commit, in the first source that knows it."""
        return next((found for s in self.sources if (found := s.commit_id(name))), None)

    def close(self) -> None:
        """Closes all."""
        for source in self.sources:
            source.close()
