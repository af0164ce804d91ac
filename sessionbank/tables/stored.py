"""The tables that need no transcript: checkpoints, records, attribution, commits, learnings, files.

Each is a function from records and commits to rows in schema order. What transcripts add to `records` (agent, format,
size) is handed in where it is known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from sessionbank.records import SessionRecord
from sessionbank.sources.git import Commit
from sessionbank.sources.store import Checkpoint
from sessionbank.transcripts.rows import as_json

Row = tuple[Any, ...]


def commit_rows(commits: Iterable[Commit], known: frozenset[str] | set[str]) -> list[Row]:
    """One row a commit and checkpoint. A checkpoint's cost counts at one commit alone."""
    commits = list(commits)
    first: dict[str, Commit] = {}
    for commit in commits:  # oldest first
        for checkpoint_id in commit.checkpoint_ids:
            best = first.get(checkpoint_id)
            if best is None or (commit.on_default_branch and not best.on_default_branch):
                first[checkpoint_id] = commit
    return [
        (
            c.sha, checkpoint_id, checkpoint_id in known, c.authored_at, c.subject, c.on_default_branch,
            first[checkpoint_id] is c, False,
        )
        for c in commits
        for checkpoint_id in c.checkpoint_ids
    ]  # fmt: skip


def linked(commit_rows_: Iterable[Row]) -> dict[str, str]:
    """checkpoint -> the commit that carries its cost."""
    return {row[1]: row[0] for row in commit_rows_ if row[6]}


def checkpoint_rows(checkpoints: Iterable[Checkpoint], commits: Iterable[Row]) -> list[Row]:
    """One row a checkpoint."""
    named: dict[str, set[str]] = defaultdict(set)
    for row in commits:
        named[row[1]].add(row[0])
    return [_checkpoint(c, len(named[c.checkpoint_id])) for c in checkpoints]


def _checkpoint(c: Checkpoint, commits: int) -> Row:
    times = [r.created_at for r in c.records if r.created_at]
    latest = sorted((r for r in c.records if r.created_at), key=lambda r: (r.created_at, r.session_index))
    branch = next((r.branch for r in reversed(latest) if r.branch), c.root.branch if c.root else None)
    strategy = next((r.strategy for r in reversed(latest) if r.strategy), c.root.strategy if c.root else None)
    version = next(
        (r.cli_version for r in reversed(latest) if r.cli_version), c.root.cli_version if c.root else None
    )
    named = [r.files_touched for r in c.records if r.files_touched is not None]
    files = as_json(sorted({f for n in named for f in n})) if named else None
    return (
        c.checkpoint_id, min(times, default=None), branch, strategy, version, c.layout, c.ref, len(c.records),
        len({r.session_id for r in c.records}), commits, files, c.commit,
    )  # fmt: skip


def record_rows(
    records: Iterable[SessionRecord],
    prompts: Mapping[str, str],
    read: Mapping[tuple[str, int, str], Row],
    commits: Mapping[str, str],
) -> list[Row]:
    """One row a record.

    `prompts` maps the object id of a prompt.txt to its text. `read` maps (checkpoint, directory, session) to what its
    transcript showed: agent, format, state, hash state.
    """
    rows = []
    for r in records:
        agent, form, state, hash_state = read.get(
            (r.checkpoint_id, r.session_index, r.session_id), (None,) * 4
        )
        usage = r.stored_usage
        stated = (
            (
                usage.input_tokens,
                usage.cache_creation_tokens,
                usage.cache_read_tokens,
                usage.output_tokens,
                usage.api_call_count,
            )
            if usage
            else (None,) * 5
        )
        rows.append((
            r.checkpoint_id, r.session_index, r.session_id, r.raw_session_id, r.layout, r.agent_label, agent, form,
            r.created_at, r.branch, r.strategy, r.cli_version, state or r.transcript_state, r.transcript_bytes, r.transcript_name,
            r.start_offset, hash_state, *stated, r.summary is not None, r.is_task, r.tool_use_id,
            prompts.get(r.prompt_blob or ""), r.path, r.model_label, r.extra, r.ref, r.storage_commit_sha,
            commits.get(r.checkpoint_id),
        ))  # fmt: skip
    return rows


def learning_rows(records: Iterable[SessionRecord]) -> list[Row]:
    """One row a sentence of a summary."""
    rows: list[Row] = []
    for r in records:
        s = r.summary
        if s is None:
            continue
        at = (r.session_id, r.checkpoint_id)
        rows += [(*at, "repo", t, None, None, None) for t in s.repo]
        rows += [(*at, "code", c.finding, c.path or None, c.line, c.end_line) for c in s.code]
        rows += [(*at, "workflow", t, None, None, None) for t in s.workflow]
        rows += [(*at, "friction", t, None, None, None) for t in s.friction]
        rows += [(*at, "open_item", t, None, None, None) for t in s.open_items]
    return rows


def file_rows(
    records: Iterable[SessionRecord], calls: Iterable[tuple[str, str | None, str]], cwds: Mapping[str, str]
) -> list[Row]:
    """One row a session, file and kind of evidence.

    `calls` are (session, checkpoint, path) of calls that write a file; `cwds` the working directory of each session.
    """
    rows: dict[tuple[str, str, str], Row] = {}
    for r in records:
        for path in r.files_touched or ():
            rows.setdefault(
                (r.session_id, path, "metadata"), (r.session_id, r.checkpoint_id, path, "metadata")
            )
    for session_id, checkpoint_id, path in calls:
        root = (cwds.get(session_id) or "").rstrip("/\\")
        if root and path.startswith((root + "/", root + "\\")):
            path = path[len(root) + 1 :]
        rows.setdefault((session_id, path, "tool"), (session_id, checkpoint_id or "", path, "tool"))
    return sorted(rows.values(), key=lambda row: (row[0], row[3], row[2]))
