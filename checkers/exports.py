"""Makes the exports that the checkers are asked about: each sample bank as ATIF and as chat rows, redacted as they leave.

Banks are the bundles of `data/`, and those of the folder `shared` beside the checkout (or SESSIONBANK_SHARED) where it
is present. What is asked of the exports is the part of `run.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Exported:
    """The files of one bank, and how much is in them. `left_out` counts sessions in which nothing was said."""

    bank: str
    atif: Path
    chat: Path
    chat_merged: Path
    sessions: int
    documents: int
    rows: int
    left_out: int


def sample_banks() -> list[Path]:
    """The bundles that are there, ours first."""
    shared = Path(os.environ.get("SESSIONBANK_SHARED") or ROOT.parent / "shared")
    return [*sorted((ROOT / "data").glob("*.bundle")), *sorted((shared / "data").glob("*.bundle"))]


def export(banks: Sequence[Path], folder: Path) -> Iterator[Exported]:
    """Writes three files a bank into the folder: ATIF, chat rows for TRL's templates, and chat rows for gpt-oss."""
    import sessionbank as sb

    for path in banks:
        name = path.stem
        with sb.open_bank(str(path), cache=False) as bank:
            sessions = list(bank.discover())
            atif, chat, merged = (folder / f"{name}.{kind}.jsonl" for kind in ("atif", "chat", "chat-merged"))
            documents = sb.write_jsonl(sessions, atif, format="atif")
            rows = sb.write_jsonl(sessions, chat, format="messages", arguments="dict")
            sb.write_jsonl(sessions, merged, format="messages", arguments="dict", thinking="merged")
        yield Exported(
            name, atif, chat, merged, sessions=len(sessions), documents=documents.rows, rows=rows.rows,
            left_out=len(documents.skipped),
        )  # fmt: skip
