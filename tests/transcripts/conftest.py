"""Reads a transcript's bytes as a session: what a load does, without a repository and without Arrow."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sessionbank import schema
from sessionbank.records import SessionRecord
from sessionbank.tables import finish
from sessionbank.tables.batch import Batch
from sessionbank.tables.union import SessionUnion
from sessionbank.transcripts.rows import SessionRows


@dataclass(frozen=True)
class Read:
    """A session as rows of dicts, with the names of its format and agent."""

    format: str
    agent: str
    rows: SessionRows
    messages: list[dict[str, Any]]
    blocks: list[dict[str, Any]]
    calls: list[dict[str, Any]]
    usage: list[dict[str, Any]]

    def of(self, table: str, *columns: str) -> list[Any]:
        """Some columns of a table, as tuples (one column: its values)."""
        rows = [tuple(r[c] for c in columns) for r in getattr(self, table)]
        return [r[0] for r in rows] if len(columns) == 1 else rows

    def kinds(self, kind: str) -> list[str | None]:
        """The texts of the messages of a kind."""
        return [m["text"] for m in self.messages if m["kind"] == kind]

    @property
    def codes(self) -> list[str]:
        """The codes of its diagnostics."""
        return [p.code for p in self.rows.problems]


def _dicts(table: str, columns: list[Any]) -> list[dict[str, Any]]:
    names = schema.table(table).columns
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)] if columns else []


def read_transcripts(*stored: bytes, session_id: str = "session") -> Read:
    """The session that these stored transcripts make together, each of a checkpoint of its own."""
    rows = SessionRows(session_id)
    union = SessionUnion(rows.problem)
    for number, data in enumerate(stored):
        record = SessionRecord(
            f"{number:012d}", 0, session_id, session_id, "branch-v1", "ref", "path", None, None, None, None,
            None, "present", transcript_blobs=(f"blob{number}",), transcript_name="full.jsonl",
        )  # fmt: skip
        union.add(record, [data])
    entries = union.entries()
    rows.repeats = union.repeats
    assert union.format is not None
    union.format.read(entries, rows)
    calls = _dicts("tool_calls", finish.tool_call_columns(rows, {}))
    usage = _dicts("token_usage", finish.usage_columns(rows, {})[0])
    messages = _dicts("messages", finish.message_columns(rows, {}))
    blocks = _dicts("blocks", finish.block_columns(rows))
    return Read(union.format.name, union.format.agent, rows, messages, blocks, calls, usage)


@pytest.fixture
def read() -> Callable[..., Read]:
    """`read_transcripts`."""
    return read_transcripts


@pytest.fixture
def sample(root: Path) -> Callable[[str], bytes]:
    """The bytes of a hand-made transcript in ``tests/data/transcripts``."""
    return lambda name: (root / "tests" / "data" / "transcripts" / name).read_bytes()


@pytest.fixture(scope="session")
def stored(bundle_repo: Callable[[str], Path]) -> Callable[..., bytes]:
    """A function: bundle, path (and ref, else the checkpoint branch) -> the bytes of a file in it."""

    def show(bundle: str, path: str, *, ref: str = "refs/heads/entire/checkpoints/v1") -> bytes:
        command = ["git", "-C", str(bundle_repo(bundle)), "cat-file", "blob", f"{ref}:{path}"]
        return subprocess.run(command, check=True, capture_output=True).stdout

    return show


@pytest.fixture
def arrow() -> Callable[[bytes], tuple[str, dict[str, Any]]]:
    """A function: the bytes of a transcript -> its agent, and its tables as Arrow."""

    def load(data: bytes) -> tuple[str, dict[str, Any]]:
        session = read_transcripts(data)
        batch = Batch()
        batch.add(session.rows, [], session.agent, inherited={}, size=len(data))
        return session.agent, batch.tables()

    return load
