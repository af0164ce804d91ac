"""A person's labels of sessions: a file of JSON lines that only grows. The last line of a person on a session counts.

A line holds session_id, label (success, partial, failure, unknown), reason, by, at (ISO 8601, UTC). Earlier lines
stay as the history. How labels are compared with strategies is `agreement`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from sessionbank.errors import FormatError, QueryError
from sessionbank.trajectory.model import LABELS


@dataclass(frozen=True, slots=True)
class Label:
    """What a person says of a session."""

    session_id: str
    label: str
    reason: str
    by: str
    at: str


def write_label(
    path: str | Path,
    session_id: str,
    label: str,
    *,
    reason: str = "",
    by: str = "",
    at: datetime | None = None,
) -> Label:
    """Adds a label to the file (made when absent) in one write, so that two writers cannot mix their lines.

    Raises `QueryError` for a label that does not exist or an empty session id.

    Example:
        >>> from sessionbank.trajectory.outcomes.labels import read_labels, write_label
        >>> write_label("labels.jsonl", "s1", "partial", reason="one page is missing", by="ada").label
        'partial'
        >>> [(x.session_id, x.label) for x in read_labels("labels.jsonl")]
        [('s1', 'partial')]
    """
    if label not in LABELS:
        raise QueryError(f"no label {label!r}; there are {', '.join(LABELS)}")
    if not session_id:
        raise QueryError("a label needs a session id")
    moment = (at or datetime.now(UTC)).astimezone(UTC)
    made = Label(session_id, label, reason, by, moment.isoformat(timespec="seconds").replace("+00:00", "Z"))
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(asdict(made), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    handle = os.open(target, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
    try:
        size = os.fstat(handle).st_size
        if size:
            os.lseek(handle, size - 1, os.SEEK_SET)
            if os.read(handle, 1) != b"\n":  # a writer was killed in the middle: keep its line from ours
                line = b"\n" + line
        os.write(handle, line)
        os.fsync(handle)
    finally:
        os.close(handle)
    return made


def read_labels(path: str | Path, *, by: str | None = None, strict: bool = True) -> list[Label]:
    """The labels that count: the last of each person on each session, in order of the file; one person's with `by`.

    Raises `FormatError` that names every bad line; with ``strict=False`` bad lines are passed over.
    Raises `QueryError` when there is no such file.

    Example:
        >>> from sessionbank.trajectory.outcomes.labels import label_map, read_labels, write_label
        >>> for label in ("failure", "success"):
        ...     _ = write_label("mine.jsonl", "s1", label, by="ada")
        >>> label_map(read_labels("mine.jsonl"))
        {'s1': 'success'}
    """
    source = Path(path)
    try:
        lines = source.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        raise QueryError(f"no labels file {str(source)!r}; write_label makes one") from None
    found: dict[tuple[str, str], Label] = {}
    faults = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            label = _label(json.loads(line))
        except (ValueError, TypeError) as error:
            faults.append(f"line {number}: {error}")
            continue
        found.pop((label.session_id, label.by), None)
        found[label.session_id, label.by] = label
    if faults and strict:
        raise FormatError(f"{source.name} is not a file of labels: " + "; ".join(faults[:20]))
    return [x for x in found.values() if by is None or x.by == by]


def label_map(labels: Iterable[Label]) -> dict[str, str]:
    """session id -> label; of several persons the latest decides."""
    return {x.session_id: x.label for x in sorted(labels, key=lambda x: x.at)}


def _label(value: object) -> Label:
    if not isinstance(value, dict):
        raise TypeError("not a JSON object")
    session_id, label = value.get("session_id"), value.get("label")
    if not isinstance(session_id, str) or not session_id:
        raise ValueError("no session_id")
    if label not in LABELS:
        raise ValueError(f"label {label!r} is none of {', '.join(LABELS)}")
    return Label(
        session_id,
        str(label),
        str(value.get("reason") or ""),
        str(value.get("by") or ""),
        str(value.get("at") or ""),
    )
