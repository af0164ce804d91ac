"""Each reader's speed beside the Claude reader's, on real transcripts repeated to a few megabytes.

The claim: no reader has less than half of the Claude reader's speed per byte. Where the only samples are toys whose
messages are short (Kiro's have 150 bytes, Claude's 2,000), rows and not bytes are the work: there the claim is held to
messages per second, which is shown for all. Bytes are split, read and paired, as a load does; git, Arrow and imports
are not in it. Run from the checkout: ``python benchmarks/readers.py [megabytes]``; it needs the
sample repositories (SESSIONBANK_SHARED, or a folder ``shared`` beside the checkout).
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from sessionbank.records import SessionRecord
from sessionbank.sources.git import GitReader
from sessionbank.sources.store import read_store
from sessionbank.tables import finish
from sessionbank.tables.union import SessionUnion
from sessionbank.transcripts.rows import SessionRows
from sessionbank.transcripts.sniff import sniff

BUNDLES = ("many-agents", "codex", "opencode")
BASE = "claude-jsonl"
LEAST = 0.5
SHORT = 250  # bytes a message, below which rows are the work
# Values under these keys name a record, a call or a message; a copy gets names of its own, or it would be a repeat.
IDS = frozenset({
    "id", "uuid", "parentUuid", "parentId", "messageId", "toolCallId", "tool_use_id", "call_id", "callID", "requestId",
    "responseId", "messageID", "parentToolUseID", "message_id",
})  # fmt: skip


def transcripts(shared: Path) -> Iterator[bytes]:
    """Every stored transcript of the sample repositories."""
    import git

    for name in BUNDLES:
        with tempfile.TemporaryDirectory() as folder:
            git.Repo.clone_from(str(shared / "data" / f"{name}.bundle"), folder, mirror=True).close()
            reader = GitReader(folder)
            wanted = [oid for r in read_store(reader, reader.refs()).records for oid in r.transcript_blobs]
            yield from (data for _, data in reader.blobs(wanted) if data)
            reader.close()


def renamed(value: Any, copy: int) -> Any:
    """The value with its ids made those of a copy."""
    if isinstance(value, list):
        return [renamed(v, copy) for v in value]
    if isinstance(value, dict):
        return {
            k: f"{v}-{copy}" if k in IDS and isinstance(v, str) and v else renamed(v, copy)
            for k, v in value.items()
        }
    return value


def grown(data: bytes, size: int) -> bytes:
    """The transcript, its records repeated under new ids until it has about that many bytes."""
    copies = max(size // len(data), 1)
    fmt = sniff(data)
    if not fmt.is_document:
        values = [orjson.loads(line) for line in data.splitlines() if line.strip()]
        return b"\n".join(orjson.dumps(renamed(v, n)) for n in range(copies) for v in values)
    whole = json.loads(data)
    key = "history" if "history" in whole else "messages"
    whole[key] = [renamed(m, n) for n in range(copies) for m in whole[key]]
    return json.dumps(whole, indent=None if key == "history" else 2).encode()


def measured(data: bytes) -> tuple[float, int]:
    """Seconds from bytes to paired columns (the best of five), and the number of messages."""
    record = SessionRecord(
        "0" * 12, 0, "session", "session", "branch-v1", "ref", "path", None, None, None, None, None, "present",
        transcript_blobs=("blob",), transcript_name="full.jsonl",
    )  # fmt: skip
    best = float("inf")
    for _ in range(5):
        gc.collect()
        gc.disable()
        begin = time.process_time()
        rows = SessionRows("session")
        union = SessionUnion(rows.problem)
        union.add(record, [data])
        entries = union.entries()
        assert union.format is not None
        union.format.read(entries, rows)
        finish.message_columns(rows, {})
        finish.block_columns(rows)
        finish.tool_call_columns(rows, {})
        finish.usage_columns(rows, {})
        best = min(best, time.process_time() - begin)
        gc.enable()
    return best, len(rows.messages)


def main() -> int:
    """Prints a line a format; 1 where one is too slow."""
    shared = Path(os.environ.get("SESSIONBANK_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    size = int(float(sys.argv[1] if len(sys.argv) > 1 else 4) * 1e6)
    stored: dict[str, list[bytes]] = {}
    for data in transcripts(shared):
        stored.setdefault(sniff(data).name, []).append(data)
    rates = {}
    for name, found in stored.items():
        whole = sum(map(len, found))
        parts = [grown(data, size * len(data) // whole) for data in found]
        spent, messages = map(sum, zip(*map(measured, parts), strict=True))
        size_now = sum(map(len, parts))
        rates[name] = (size_now / spent / 1e6, messages / spent, size_now / messages)
    by_byte, by_message, _ = rates[BASE]
    is_slow = False
    for name, (rate, messages, length) in sorted(rates.items(), key=lambda r: -r[1][0]):
        part, other = rate / by_byte, messages / by_message
        is_slow = is_slow or max(part, other if length < SHORT else 0) < LEAST
        print(
            f"{name:15} {rate:6.1f} MB/s: {part:.2f} of the Claude reader;"
            f" {messages:7.0f} messages/s: {other:.2f} of it; {length:.0f} bytes a message, {len(stored[name])} files"
        )
    return int(is_slow)


if __name__ == "__main__":
    sys.exit(main())
