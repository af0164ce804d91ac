"""Strategy ``commit``: whether the work was committed, reached the default branch, and stayed.

Commit facts are handed in, since this room knows no repository: rows of the ``commits`` table, and which commits were
reverted. `reverts` finds the latter from commit messages.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sessionbank.records import Session
from sessionbank.trajectory.model import Outcome
from sessionbank.trajectory.outcomes.checks import EDITS
from sessionbank.trajectory.outcomes.verdict import outcome, row, unknown

NAME = "commit"
_REVERT_SHA = re.compile(r"\bThis reverts commit ([0-9a-f]{7,64})", re.IGNORECASE)
_REVERT_SUBJECT = re.compile(r'^(?:Revert|revert:?) "(.+)"\s*$')
_WIP = re.compile(
    r"^\W*(?:wip|work in progress|draft|tmp|temp|broken|not working|savepoint|do not merge)\b"
    r"|\bwork in progress\b|\(wip\)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CommitFact:
    """One commit that names a checkpoint: the columns of ``commits`` that this strategy reads."""

    commit_sha: str
    checkpoint_id: str
    subject: str = ""
    on_default_branch: bool | None = None


@dataclass(frozen=True)
class CommitFacts:
    """What git says of a bank's checkpoints. `reverted`: sha (or subject) of a reverted commit -> the one that
    reverts.
    """

    by_checkpoint: Mapping[str, tuple[CommitFact, ...]] = field(default_factory=dict)
    reverted: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], messages: Iterable[tuple[str, str]] = ()) -> CommitFacts:
        """From rows of the ``commits`` table (mappings) and (sha, whole message) of any commits of the repository."""
        grouped: dict[str, list[CommitFact]] = defaultdict(list)
        for r in rows:
            known = r.get("on_default_branch")
            fact = CommitFact(
                str(r["commit_sha"]),
                str(r["checkpoint_id"]),
                str(r.get("subject") or ""),
                bool(known) if isinstance(known, (bool, int)) or str(known) in ("True", "False") else None,
            )
            grouped[fact.checkpoint_id].append(fact)
        found = reverts(messages)
        subjects = ((f.commit_sha, f.subject) for facts in grouped.values() for f in facts)
        return cls({k: tuple(v) for k, v in grouped.items()}, {**reverts(subjects), **found})


def reverts(messages: Iterable[tuple[str, str]]) -> dict[str, str]:
    r"""Which commits were reverted: their sha where the message names it, else their subject -> the reverting sha.

    A revert that was itself reverted counts for nothing. Messages may come in any order.

    Example:
        >>> from sessionbank.trajectory.outcome import reverts
        >>> reverts([("bbbbbbbb", 'Revert "Add search"\n\nThis reverts commit aaaaaaaa.')])
        {'aaaaaaaa': 'bbbbbbbb'}
    """
    found: dict[str, str] = {}
    for sha, message in messages:
        targets = _REVERT_SHA.findall(message)
        subject = _REVERT_SUBJECT.match(message.split("\n", 1)[0].strip())
        for target in targets:
            found[target.lower()] = sha
        if subject and not targets:
            found[subject[1]] = sha
    named = [t for t in found if re.fullmatch(r"[0-9a-f]{7,64}", t)]
    undone = {by for by in found.values() if any(by.startswith(t) for t in named)}
    return {target: by for target, by in found.items() if by not in undone}


def of_session(session: Session, facts: CommitFacts | None) -> Outcome:
    """The outcome by what became of the session's commits; unknown without facts, or where nothing was to commit."""
    if facts is None:
        return unknown(NAME, "no commit facts were handed in")
    ids = list(dict.fromkeys(r.checkpoint_id for r in session.records))
    commits = [c for i in ids for c in facts.by_checkpoint.get(i, ())]
    edits = [c for c in session.tool_calls if c.tool_name in EDITS and c.status == "ok"]
    if not edits and not any(c.command for c in session.tool_calls):
        # other sessions share the checkpoint, so its commit need not hold anything of this one
        return unknown(NAME, "the session changed nothing that could be committed")
    if not commits:
        return _none(
            session, ids, edited=bool(edits or session.files_touched), any_known=bool(facts.by_checkpoint)
        )
    undone = [(c, by) for c in commits if (by := _reverted_by(c, facts)) is not None]
    rows = [
        row(session.session_id, _what(c), checkpoint_id=c.checkpoint_id, commit_sha=c.commit_sha)
        for c in commits
    ]
    rows += [
        row(
            session.session_id,
            f"reverts {c.commit_sha[:12]} ({c.subject})",
            checkpoint_id=c.checkpoint_id,
            commit_sha=by,
        )
        for c, by in undone
    ]
    shas = {c.commit_sha for c in commits}
    lost = {c.commit_sha for c, _ in undone}
    if lost == shas:
        return outcome(NAME, 0.1, confidence=0.85, reason="what was committed was reverted", evidence=rows)
    if lost:
        return outcome(
            NAME,
            0.5,
            confidence=0.6,
            reason=f"{len(lost)} of {len(shas)} commits were reverted",
            evidence=rows,
        )
    if all(_WIP.search(c.subject) for c in commits):
        landed = any(c.on_default_branch for c in commits)
        return outcome(
            NAME,
            0.5 if landed else 0.35,
            confidence=0.55,
            reason="committed as work in progress only",
            evidence=rows,
        )
    if any(c.on_default_branch for c in commits):
        return outcome(
            NAME, 0.8, confidence=0.5, reason="committed, and on the default branch", evidence=rows
        )
    where = (
        "not on the default branch"
        if any(c.on_default_branch is False for c in commits)
        else "the default branch is not known"
    )
    return outcome(NAME, 0.68, confidence=0.3, reason=f"committed; {where}", evidence=rows)


def _none(session: Session, ids: list[str], *, edited: bool, any_known: bool) -> Outcome:
    rows = [row(session.session_id, "no commit of any ref names it", checkpoint_id=i) for i in ids]
    if not any_known:
        return unknown(NAME, "no commit of this repository names a checkpoint", rows)
    if not edited:
        return unknown(NAME, "nothing was edited, so there was nothing to commit", rows)
    # squashes and rebases lose the trailer too, so this says little by itself
    return outcome(
        NAME,
        0.3,
        confidence=0.4,
        reason="files were edited, and no commit names its checkpoints",
        evidence=rows,
    )


def _reverted_by(fact: CommitFact, facts: CommitFacts) -> str | None:
    for target, by in facts.reverted.items():
        if (
            fact.commit_sha.startswith(target)
            if re.fullmatch(r"[0-9a-f]{7,64}", target)
            else target == fact.subject
        ):
            return by
    return None


def _what(fact: CommitFact) -> str:
    place = {
        True: "on the default branch",
        False: "not on the default branch",
        None: "default branch not known",
    }
    return f"commit: {fact.subject} ({place[fact.on_default_branch]})"
