"""A repository's checkpoints as records: trees and metadata read, copies in several layouts counted once.

`read_store` is the whole of it: refs to trees, trees to directories (`entire`), metadata to `SessionRecord`s
(`metadata`). Transcripts are not read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice

from sessionbank.errors import RepositoryError
from sessionbank.records import AgentFile, Diagnostic, SessionRecord
from sessionbank.sources import metadata as meta
from sessionbank.sources.entire import LAYOUTS, StoredCheckpoint, StoredDir, TreeReader, checkpoint_refs
from sessionbank.sources.git import GitReader
from sessionbank.sources.no_gc import no_gc

Content = dict[str, object] | str  # a metadata file's object, or why there is none
Read = tuple[dict[str, Content], dict[str, int | None]]  # metadata by object id, sizes of transcripts
_AGENT_FILE = re.compile(r"([^/]+)/(?:.*/)?agent-([^/]+)\.jsonl")
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint as the bank counts it: the layout that was read, and its records in order."""

    checkpoint_id: str
    layout: str
    ref: str
    commit: str
    path: str
    root: meta.RootMetadata | None
    records: tuple[SessionRecord, ...]
    tasks: dict[str, str]


@dataclass(slots=True)
class Store:
    """Everything that can be known of a repository's checkpoints without reading a transcript."""

    refs: list[tuple[str, str, str, str | None]] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    prompts: dict[str, str] = field(default_factory=dict)  # object id of a prompt.txt -> its text

    @property
    def records(self) -> list[SessionRecord]:
        """All records, by checkpoint and directory."""
        return [r for c in self.checkpoints for r in c.records]

    @property
    def layouts(self) -> tuple[str, ...]:
        """Layouts that hold at least one checkpoint."""
        return tuple(name for name in LAYOUTS if any(c.layout == name for c in self.checkpoints))


def record_order(record: SessionRecord) -> tuple[datetime, str, int]:
    """Records of a session in the order in which they were stored."""
    return record.created_at or _NEVER, record.checkpoint_id, record.session_index


def read_store(git: GitReader, refs: dict[str, str], branch: str | None = None) -> Store:
    """Reads trees and metadata of every checkpoint ref (or of `branch` alone)."""
    with no_gc():
        return _read_store(git, refs, branch)


def _read_store(git: GitReader, refs: dict[str, str], branch: str | None) -> Store:
    found = checkpoint_refs(refs, branch)
    trees = TreeReader()
    walked = git.objects.walk([commit for _, _, commit, _ in found])
    for (layout, ref, commit, own_id), tree in zip(found, walked, strict=True):
        trees.add(layout, ref, commit, tree.files, own_id)
        for path, why in tree.unread:
            code, text = ("tree_unreadable", f"a folder of {ref}") if path else ("ref_unreadable", ref)
            problem = Diagnostic("error", code, f"{text}: {why}", checkpoint_id=own_id, path=path or None)
            trees.problems.append(problem)
    if found and not trees.checkpoints and all(t.unread for t in walked):
        why = next((p.message for p in trees.problems if p.severity == "error"), "")
        raise RepositoryError(
            f"no checkpoint ref can be read: objects of the repository are missing or damaged ({why})"
        )
    return _read_metadata(git, found, trees)


def _read_metadata(git: GitReader, found: list[tuple[str, str, str, str | None]], trees: TreeReader) -> Store:
    stored = trees.finish()
    problems = trees.problems
    directories = [d for c in stored for d in c.dirs.values()]
    sizes = git.sizes(oid for d in directories for oid in d.transcript()[1])  # git answers while we read on
    wanted = dict.fromkeys(
        o for c in stored for o in (c.metadata, *(d.metadata for d in c.dirs.values())) if o
    )
    prompts = dict.fromkeys(d.prompt for d in directories if d.prompt and d.prompt not in wanted)
    stream = git.small_blobs([*wanted, *prompts])
    contents: dict[str, Content] = {oid: meta.decode(data) for oid, data in islice(stream, len(wanted))}
    known = sizes()
    checkpoints = [_checkpoint(c, (contents, known), problems) for c in stored]  # git reads prompts meanwhile
    texts = {oid: data.decode("utf-8", "replace") for oid, data in stream if data is not None}
    return Store(found, _once(checkpoints, problems), problems, texts)


def _checkpoint(stored: StoredCheckpoint, read: Read, problems: list[Diagnostic]) -> Checkpoint:
    root = None
    if stored.metadata is None:
        _tell(
            problems,
            "no_root_metadata",
            "the checkpoint has no metadata.json of its own",
            stored.checkpoint_id,
            stored.root,
        )
    else:
        value = read[0][stored.metadata]
        if isinstance(value, str):
            path = f"{stored.root}/metadata.json".lstrip("/")
            _tell(
                problems,
                "metadata_unreadable",
                f"root metadata could not be read: {value}",
                stored.checkpoint_id,
                path,
                "warning",
            )
        else:
            root = meta.root(value)
    records = [
        replace(r, agent_files=agent_files(stored.tasks, stored.root) + r.agent_files) if stored.tasks else r
        for r in (_record(d, read, problems) for _, d in sorted(stored.dirs.items()))
    ]
    if stored.tasks and not records:
        text = "task files of a checkpoint without a session directory are not read"
        _tell(problems, "task_without_session", text, stored.checkpoint_id, f"{stored.root}/tasks")
    return Checkpoint(
        stored.checkpoint_id,
        stored.layout,
        stored.ref,
        stored.commit,
        stored.root,
        root,
        tuple(records),
        stored.tasks,
    )


def _record(stored: StoredDir, read: Read, problems: list[Diagnostic]) -> SessionRecord:
    path = f"{stored.path}/metadata.json"
    value = read[0][stored.metadata] if stored.metadata else "there is no metadata.json"
    if isinstance(value, str):
        _tell(
            problems,
            "metadata_unreadable",
            f"session metadata could not be read: {value}",
            stored.checkpoint_id,
            path,
            "warning",
        )
        value = {}
    raw_id = meta.text(value.get("session_id"))
    name, blobs = stored.transcript()
    sizes = [read[1].get(oid) for oid in blobs]
    offset, identifier = meta.start(value)
    if stored.layout == "v2" and name == "raw_transcript":
        offset = None  # v2 counts lines of the compact transcript, which says nothing about this file
    files = value.get("files_touched")

    def left_out(why: str) -> None:
        text = f"metadata beyond the known keys is {why}, and left out of `extra`"
        _tell(problems, "metadata_extra_omitted", text, stored.checkpoint_id, path)

    chunks = stored.chunks.get(name or "", {})
    if chunks and sorted(chunks) != list(range(len(chunks))):
        text = f"transcript chunks {sorted(chunks)} are not numbered from 0 without a gap: a part is missing"
        _tell(problems, "chunk_gap", text, stored.checkpoint_id, f"{stored.path}/{name}", "warning")
    return SessionRecord(
        checkpoint_id=stored.checkpoint_id,
        session_index=stored.index,
        session_id=meta.canonical_id(raw_id) if raw_id else f"unnamed-{stored.checkpoint_id}-{stored.index}",
        raw_session_id=raw_id,
        layout=stored.layout,
        ref=stored.ref,
        path=stored.path,
        created_at=meta.moment(value.get("created_at")),
        branch=meta.text(value.get("branch")),
        strategy=meta.text(value.get("strategy")),
        cli_version=meta.text(value.get("cli_version")),
        agent_label=meta.text(value.get("agent")),
        transcript_state=_transcript_state(sizes),
        transcript_bytes=sum(s for s in sizes if s) + len(sizes) - 1 if sizes and None not in sizes else None,
        transcript_blobs=blobs,
        transcript_name=name,
        start_offset=offset,
        start_identifier=identifier,
        files_touched=meta.texts(files) if isinstance(files, list) else None,
        summary=meta.summary(value.get("summary")),
        attribution=meta.attribution(value.get("initial_attribution")),
        stored_usage=meta.usage(value.get("token_usage")),
        is_task=value.get("is_task") is True,
        tool_use_id=meta.text(value.get("tool_use_id")),
        prompt_blob=stored.prompt,
        hash_blob=stored.content_hash,
        metadata_blob=stored.metadata,
        storage_commit_sha=stored.commit,
        model_label=meta.text(value.get("model")),
        extra=meta.extra(value, left_out),
        agent_files=agent_files(stored.tasks, stored.path),
    )


def agent_files(tasks: dict[str, str], root: str) -> tuple[AgentFile, ...]:
    """The subagents' transcripts among task files: ``<tool-use-id>/agent-<id>.jsonl``."""
    found = []
    for path, oid in sorted(tasks.items()):
        match = _AGENT_FILE.fullmatch(path)
        if match:
            found.append(AgentFile(match[2], match[1], oid, f"{root}/tasks/{path}".lstrip("/")))
    return tuple(found)


def _transcript_state(sizes: list[int | None]) -> str:
    if not sizes:
        return "absent"
    if None in sizes:
        return "missing_blob"
    return "present" if any(sizes) else "empty"


def _once(checkpoints: Iterable[Checkpoint], problems: list[Diagnostic]) -> list[Checkpoint]:
    """Counts a checkpoint once that stands in several refs or layouts.

    The preferred copy stays; a record of another copy is added only where the preferred one lacks that session, or
    lacks its transcript.
    """
    by_id: dict[str, list[Checkpoint]] = {}
    for checkpoint in checkpoints:
        by_id.setdefault(checkpoint.checkpoint_id, []).append(checkpoint)
    kept = []
    for checkpoint_id, copies in by_id.items():
        best = max(
            copies,
            key=lambda c: (sum(r.transcript_state == "present" for r in c.records) > 0, -copies.index(c)),
        )
        records = list(best.records)
        for other in copies:
            if other is not best:
                records = _merged(records, other, problems)
        tasks = {k: v for c in reversed(copies) for k, v in c.tasks.items()}
        records.sort(key=lambda r: (r.session_index, r.path))
        kept.append(
            Checkpoint(
                checkpoint_id, best.layout, best.ref, best.commit, best.path, best.root, tuple(records), tasks
            )
        )
    return sorted(
        kept, key=lambda c: (min((record_order(r) for r in c.records), default=(_NEVER,)), c.checkpoint_id)
    )


def _merged(
    records: list[SessionRecord], other: Checkpoint, problems: list[Diagnostic]
) -> list[SessionRecord]:
    records = list(records)
    for record in other.records:
        same = [
            i
            for i, r in enumerate(records)
            if r.session_id == record.session_id and r.session_index == record.session_index
        ]
        same = same or [i for i, r in enumerate(records) if r.session_id == record.session_id]
        if not same:
            taken = {r.session_index for r in records}
            if record.session_index in taken:
                _tell(
                    problems,
                    "same_directory",
                    f"another session stands under this number in {other.ref}",
                    record.checkpoint_id,
                    record.path,
                )
            records.append(record)
            continue
        mine = records[same[0]]
        # A copy that was finalized elsewhere is longer; copies that say the same are equally long.
        if record.transcript_state == "present" and (
            mine.transcript_state != "present"
            or (record.transcript_bytes or 0) > (mine.transcript_bytes or 0)
        ):
            records[same[0]] = record
        text = f"stored in {mine.ref} and in {record.ref}: counted once"
        _tell(problems, "stored_twice", text, record.checkpoint_id, record.path)
    return records


def _tell(
    problems: list[Diagnostic], code: str, message: str, checkpoint_id: str, path: str, severity: str = "info"
) -> None:
    problems.append(Diagnostic(severity, code, message, checkpoint_id=checkpoint_id, path=path))
