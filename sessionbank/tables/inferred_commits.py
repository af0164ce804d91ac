"""Commits of sessions that no trailer links: by time and path, and marked as inferred.

A session out of an agent's folder knows no checkpoint. A commit is taken for its work when it was made while the
session ran, or soon after, and changes a file that the session changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sessionbank.sources.git import Commit

AFTER = timedelta(minutes=30)  # how long after its last line a session's work may still be committed


def inferred_commit_rows(
    sessions: Iterable[tuple[str, datetime, datetime, frozenset[str]]],
    commits: Sequence[tuple[Commit, tuple[str, ...]]],
    known: Mapping[str, set[str]],
) -> list[tuple[Any, ...]]:
    """Rows of the commits table. A session is (checkpoint id, start, end, changed files relative to the repository).

    `known` maps a commit to checkpoints that a trailer of it names: such a commit is not linked again.
    """
    rows = []
    for checkpoint_id, start, end, files in sessions:
        first = True
        for commit, changed in commits:
            at = commit.authored_at
            if (
                at is None
                or not start <= at <= end + AFTER
                or commit.sha in known
                or files.isdisjoint(changed)
            ):
                continue
            rows.append((
                commit.sha, checkpoint_id, True, commit.authored_at, commit.subject, commit.on_default_branch, first, True,
            ))  # fmt: skip
            first = False
    return rows
