"""The four ways in which Entire stores checkpoints, as one list of stored session directories.

Trees are read as they are: directories are listed, never counted up to, and the paths that the root metadata claims
are not followed. What a directory holds is kept as object ids; `metadata` reads the JSON. Git itself is `git`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from sessionbank.records import Diagnostic

BRANCH = "entire/checkpoints/v1"
_HEX_DIR = re.compile(r"^([0-9a-f]{2})/([0-9a-f]{10})/(?:(0|[1-9][0-9]*)/)?(.+)\Z")
_ULID_DIR = re.compile(r"^([0-9A-HJKMNP-TV-Z]{2})/([0-9A-HJKMNP-TV-Z]{24})/(?:(0|[1-9][0-9]*)/)?(.+)\Z")
_FOLDER = re.compile(
    r"(?<=\0)([0-9a-f]{2}/[0-9a-f]{10}|[0-9A-HJKMNP-TV-Z]{2}/[0-9A-HJKMNP-TV-Z]{24})(?:/(0|[1-9][0-9]*))?(?=\0)"
)
_ROOTED = re.compile(r"^(?:(0|[1-9][0-9]*)/)?(.+)\Z")
_OWN_REF = re.compile(r"(?:^|/)entire/checkpoints/([0-9A-Za-z]{2})/([0-9a-f]{12}|[0-9A-HJKMNP-TV-Z]{26})$")
_V2_REF = re.compile(r"(?:^|/)entire/checkpoints/v2/(main|full/.+)$")
_TRANSCRIPT = re.compile(r"^(full\.jsonl|full\.log|raw_transcript)(?:\.([0-9]{3,9}))?\Z")
_KNOWN = {
    "prompt.txt",
    "context.md",
    "content_hash.txt",
    "raw_transcript_hash.txt",
    "transcript_hash.txt",
    "summary.txt",
}
LAYOUTS = ("refs-v1", "branch-v1", "v2", "sessions-v0", "folder")  # the order in which a copy is preferred


@dataclass(slots=True)
class StoredDir:
    """One session directory as it lies in a tree: which objects it is made of."""

    checkpoint_id: str
    index: int
    layout: str
    ref: str
    commit: str
    path: str
    metadata: str | None = None
    chunks: dict[str, dict[int, str]] = field(
        default_factory=dict
    )  # transcript name -> chunk number -> object id
    compact: str | None = None
    prompt: str | None = None
    content_hash: str | None = None
    tasks: dict[str, str] = field(default_factory=dict)  # path below tasks/ -> object id

    def transcript(self) -> tuple[str | None, tuple[str, ...]]:
        """Name and object ids of the transcript: the full one in chunk order, else the compact one."""
        for name in ("full.jsonl", "raw_transcript", "full.log"):
            if name in self.chunks:
                return name, tuple(oid for _, oid in sorted(self.chunks[name].items()))
        return ("transcript.jsonl", (self.compact,)) if self.compact else (None, ())


@dataclass(slots=True)
class StoredCheckpoint:
    """One checkpoint in one layout: its root metadata, session directories and task files."""

    checkpoint_id: str
    layout: str
    ref: str
    commit: str
    root: str  # path of the checkpoint's folder inside the tree; empty where the tree is the checkpoint
    metadata: str | None = None
    dirs: dict[int, StoredDir] = field(default_factory=dict)
    tasks: dict[str, str] = field(default_factory=dict)

    def directory(self, index: int) -> StoredDir:
        """The session directory with that number, made when first seen."""
        if index not in self.dirs:
            path = f"{self.root}/{index}" if self.root else str(index)
            self.dirs[index] = StoredDir(self.checkpoint_id, index, self.layout, self.ref, self.commit, path)
        return self.dirs[index]


def checkpoint_refs(
    refs: dict[str, str], branch: str | None = None
) -> list[tuple[str, str, str, str | None]]:
    """Refs that hold checkpoints as (layout, ref, commit, checkpoint id of a ref of its own), in order of preference.

    A remote-tracking branch counts like a local one; where two refs have the same commit, it is read once. `branch`
    names the one checkpoint branch to read instead, as short or full ref name.
    """
    found: list[tuple[str, str, str, str | None]] = []
    for ref, commit in refs.items():
        short = re.sub(r"^refs/(?:heads/|remotes/[^/]+/)?", "", ref)
        own = _OWN_REF.search(ref)
        if branch is not None:
            if branch in (ref, short, ref.removeprefix("refs/")):
                found.append(("branch-v1", ref, commit, None))
        elif own and own[2][-2:].lower() == own[1].lower():
            found.append(("refs-v1", ref, commit, own[2]))
        elif short == BRANCH:
            found.append(("branch-v1", ref, commit, None))
        elif _V2_REF.search(ref):
            found.append(("v2", ref, commit, None))
        elif short == "entire/sessions":
            found.append(("sessions-v0", ref, commit, None))
    found.sort(key=lambda r: (LAYOUTS.index(r[0]), not r[1].startswith("refs/heads/"), r[1]))
    seen: set[tuple[str, str]] = set()
    kept = []
    for row in found:
        if (row[0], row[2]) not in seen:
            seen.add((row[0], row[2]))
            kept.append(row)
    return kept


def listed(folders: str) -> dict[str, tuple[str, int]]:
    """Checkpoints of a sharded tree from its folder names alone: id -> (path, number of session directories).

    `folders` are paths with a NUL behind each, as git prints them.
    """
    counts: dict[str, int] = {}
    for path, number in _FOLDER.findall("\0" + folders):
        counts[path] = counts.get(path, 0) + (number != "")
    return {path.replace("/", ""): (path, count) for path, count in counts.items()}


class TreeReader:
    """Sorts the entries of checkpoint trees into `StoredCheckpoint`s; what fits nowhere becomes a diagnostics row."""

    def __init__(self) -> None:
        self.checkpoints: dict[tuple[str, str, str], StoredCheckpoint] = {}  # (layout, ref, id)
        self.problems: list[Diagnostic] = []

    def add(
        self, layout: str, ref: str, commit: str, entries: Iterable[tuple[str, str, str]], own_id: str | None
    ) -> None:
        """Takes the entries (mode, object id, path) of one ref's tree."""
        # All v2 refs are halves of one store: the record lies in .../main, its transcript in .../full/*.
        home = re.sub(r"v2/.*$", "v2", ref) if layout == "v2" else ref
        for mode, oid, path in entries:
            if mode in ("120000", "160000"):
                what = "symbolic link" if mode == "120000" else "submodule"
                self._problem("not_a_file", f"a {what} in the checkpoint tree is not followed", path)
                continue
            if own_id is not None:
                match = _ROOTED.match(path)
                checkpoint_id, root = own_id, ""
                number, rest = match.group(1, 2) if match else (None, path)
            else:
                match = _HEX_DIR.match(path) or _ULID_DIR.match(path)
                if match is None:
                    self._problem("unknown_path", "not part of a checkpoint", path)
                    continue
                checkpoint_id, root = match[1] + match[2], f"{match[1]}/{match[2]}"
                number, rest = match.group(3, 4)
            key = (layout, home, checkpoint_id)
            checkpoint = self.checkpoints.get(key)
            if checkpoint is None:
                checkpoint = self.checkpoints[key] = StoredCheckpoint(
                    checkpoint_id, layout, home, commit, root
                )
            if not self._place(checkpoint, number, rest, oid):
                self._problem(
                    "unknown_path", "not a file that a checkpoint is known to hold", path, checkpoint_id
                )

    def _place(self, checkpoint: StoredCheckpoint, number: str | None, rest: str, oid: str) -> bool:
        if rest.startswith("tasks/"):
            target = checkpoint.tasks if number is None else checkpoint.directory(int(number)).tasks
            target[rest[6:]] = oid
            return True
        if number is None:
            if rest == "metadata.json":
                checkpoint.metadata = oid
                return True
            if checkpoint.layout != "sessions-v0" and not _TRANSCRIPT.match(rest):
                return rest in _KNOWN
            number = "0"  # before v1 the latest session lay at the checkpoint's root, earlier ones in 1/, 2/
        if len(number) > 9:
            return False
        directory = checkpoint.directory(int(number))
        transcript = _TRANSCRIPT.match(rest)
        if transcript:
            directory.chunks.setdefault(transcript[1], {})[int(transcript[2] or 0)] = oid
        elif rest == "metadata.json":
            directory.metadata = oid
        elif rest == "transcript.jsonl":
            directory.compact = oid
        elif rest == "prompt.txt":
            directory.prompt = oid
        elif rest in ("content_hash.txt", "raw_transcript_hash.txt"):
            directory.content_hash = oid
        else:
            return rest in _KNOWN or rest.startswith("assets/")
        return True

    def finish(self) -> list[StoredCheckpoint]:
        """The checkpoints, those of older layouts given what their layout left at the root."""
        for checkpoint in self.checkpoints.values():
            if (
                checkpoint.layout == "sessions-v0"
                and checkpoint.metadata
                and not checkpoint.directory(0).metadata
            ):
                checkpoint.directory(0).metadata = checkpoint.metadata
        return list(self.checkpoints.values())

    def _problem(self, code: str, message: str, path: str, checkpoint_id: str | None = None) -> None:
        self.problems.append(Diagnostic("info", code, message, checkpoint_id=checkpoint_id, path=path))
