"""Canonical records as lines of a file: a session's records, cleaned where asked, with hashes that fit what is left.

How records are made is in `canonical`. They are made of stored lines, so this takes sessions and no trajectories.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sessionbank.errors import FormatError, NotFoundError, QueryError
from sessionbank.records import Session
from sessionbank.trajectory import javascript as js
from sessionbank.trajectory.redact import Redactor

_HASHED = ("record_json", "record_hash", "content_hash")


def canonical_rows(session: Any, redactor: Redactor | None) -> tuple[list[dict[str, Any]], str | None]:
    """The records of a session, and the reason where there are none.

    With a redactor, texts are cleaned and hashes made anew; ids stay, so that rows can be joined with others. Raises
    `QueryError` for a trajectory, and for a session that no bank stands behind.
    """
    if not isinstance(session, Session):
        raise QueryError(
            "canonical records are made of stored lines: give sessions (a selection), not trajectories"
        )
    try:
        made = session.canonical()
    except (FormatError, NotFoundError) as error:
        return [], str(error)
    if made is None:
        raise QueryError(
            f"session {session.session_id} comes from no bank, so its stored lines are not at hand"
        )
    rows = [dict(r) for r in made.records]
    return (rows if redactor is None else _cleaned(session, rows, redactor)), None


def _cleaned(session: Session, rows: list[dict[str, Any]], redactor: Redactor) -> list[dict[str, Any]]:
    records = [json.loads(r["record_json"]) for r in rows]
    beside = [{k: v for k, v in r.items() if k not in _HASHED} for r in rows]
    changed = redactor.json([records, beside], place=session.session_id)
    return [
        row if (record, rest) == (old, own) else {**row, **rest, **_hashes(rest["record_type"], record)}
        for row, old, own, record, rest in zip(rows, records, beside, *changed, strict=True)
    ]


def _hashes(kind: str, record: dict[str, Any]) -> dict[str, str]:
    text = js.stringify(record, sort_keys=True)
    call = (record.get("tool_calls") or [None])[0]
    if kind == "meta":
        meaning = {k: v for k, v in record.items() if k != "role"}
    elif call:
        meaning = {"name": call["name"], "args": call["args"]}
    else:
        meaning = {k: record[k] for k in ("content", "ok") if k in record}
    content = js.stringify({"type": kind, "content": meaning}, sort_keys=True)
    return {"record_json": text, "record_hash": _sha(text), "content_hash": _sha(content)}


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
