"""Which format a transcript is in, told by its bytes. Labels in the metadata lie; they are not asked.

The list of formats is here; what each looks like is in its module.
"""

from __future__ import annotations

from typing import Any

from sessionbank.transcripts import (
    claude,
    codex,
    compact,
    copilot,
    cursor,
    droid,
    gemini_jsonl,
    jsonl,
    kiro,
    opencode,
    pi,
    plugin,
    unknown,
)  # fmt: skip
from sessionbank.transcripts.rows import Format

FORMATS: tuple[Format, ...] = (
    claude.FORMAT, codex.FORMAT, gemini_jsonl.DOCUMENT, gemini_jsonl.FORMAT, opencode.FORMAT, kiro.FORMAT,
    copilot.FORMAT, droid.FORMAT, pi.FORMAT, cursor.FORMAT, plugin.FORMAT, *compact.FORMATS,
)  # fmt: skip
UNKNOWN = unknown.FORMAT


def sniff(data: bytes) -> Format:
    """The first format whose marks the bytes bear, or `UNKNOWN`."""
    first = jsonl.head(data)
    whole: Any = None
    if _opens_a_document(data):
        found = jsonl.documents(data, lambda *_: None)
        whole = found[0] if found else None
    elif len(first) == 1 and b"\n" not in data.strip():
        whole = first[0]
    for candidate in FORMATS:
        if (whole is not None or not candidate.is_document) and candidate.matches(whole, first):
            return candidate
    return UNKNOWN


def _opens_a_document(data: bytes) -> bool:
    """Whether the first line opens an object or list that it does not close."""
    line = data[:256].lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0].strip()
    return line in (b"{", b"[")
