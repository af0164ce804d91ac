"""Transcripts of a format that no module here reads: nothing is guessed, every line is kept as it is."""

from __future__ import annotations

from collections.abc import Callable

from sessionbank.transcripts import jsonl
from sessionbank.transcripts.rows import Entry, Format, MessageRow, SessionRows, as_json, string

_TIMES = ("timestamp", "ts", "time", "created_at")


def _split(data: bytes, problem: Callable[..., None]) -> list[jsonl.Stored]:
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n\0")[:1]
    if start == b"{" and jsonl.head(data, 1):
        return [(None, value, line, at) for _, value, line, at in jsonl.lines(data, problem, id_key="")]
    return [(None, whole, at, -1) for at, whole in enumerate(jsonl.documents(data, problem))]


def read(entries: list[Entry], rows: SessionRows) -> None:
    """One message of kind ``other`` a line, its JSON in ``extra``."""
    if entries:
        rows.problem(
            "warning",
            "format_not_read",
            "no reader knows this transcript format; its lines are kept as they are",
            place=entries[0][3],
        )
    for value, line, offset, place in entries:
        value = value if isinstance(value, dict) else {"value": value}
        time = next((string(value.get(k)) for k in _TIMES if string(value.get(k))), None)
        kind = string(value.get("type"))
        rows.messages.append(
            MessageRow(
                string(value.get("uuid")) or string(value.get("id")), None, kind or "unknown", "other", None, None, None,
                None, time, None, None, False, False, kind, as_json(value), line, offset, place,
            )
        )  # fmt: skip


FORMAT = Format("unknown", "unknown", False, lambda whole, first: True, _split, read)
