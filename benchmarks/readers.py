"""Each reader's speed beside the Claude reader's, on real transcripts repeated to a few megabytes.

The claim: no reader has less than half of the Claude reader's speed per byte. Speed per byte tells readers apart only
where messages are about as long: a row costs what it costs. Some samples are toys (Kiro's messages have 124 bytes,
Claude's 1,700), so the texts of a format whose messages are shorter than Claude's are repeated until they are as long;
the claim is held to that, and the speed of the samples as they are is shown beside it. Bytes are split, read and paired,
as a load does; git, Arrow and imports are not in it. Run from the checkout: ``python benchmarks/readers.py
[megabytes]``; it needs the sample repositories (SESSIONBANK_SHARED, or a folder ``shared`` beside the checkout).
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
# What was said, thought, asked and printed: the strings that are long in long transcripts.
TEXTS = frozenset({
    "text", "Text", "thinking", "content", "prompt", "output", "command", "arguments", "result", "detailedContent",
})  # fmt: skip
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


def lengthened(value: Any, times: int, *, is_text: bool = False) -> Any:
    """The value with its texts repeated that many times; a text that is JSON (Codex's arguments) stays as it is."""
    if isinstance(value, list):
        return [lengthened(v, times, is_text=is_text) for v in value]
    if isinstance(value, dict):
        return {k: lengthened(v, times, is_text=k in TEXTS) for k, v in value.items()}
    return value * times if is_text and isinstance(value, str) and not value.startswith("{") else value


def grown(data: bytes, size: int, times: int = 1) -> bytes:
    """The transcript, its texts `times` as long, its records repeated under new ids until it has about that many bytes."""
    fmt = sniff(data)
    if not fmt.is_document:
        values = [lengthened(orjson.loads(line), times) for line in data.splitlines() if line.strip()]
        copies = max(size // sum(len(orjson.dumps(v)) for v in values), 1)
        return b"\n".join(orjson.dumps(renamed(v, n)) for n in range(copies) for v in values)
    whole = json.loads(data)
    key = "history" if "history" in whole else "messages"
    parts = lengthened(whole[key], times)
    copies = max(size // len(json.dumps(parts)), 1)
    whole[key] = [renamed(m, n) for n in range(copies) for m in parts]
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
    as_it_is = {name: rate(found, size) for name, found in stored.items()}
    base, _, length = as_it_is[BASE]
    is_slow = False
    for name, (speed, messages, own) in sorted(as_it_is.items(), key=lambda r: -r[1][0]):
        equal, times = (speed, messages, own), 1
        while equal[2] < length * 0.9:  # ids and keys do not grow with the texts, so this takes a few rounds
            times = max(times + 1, round(times * length / equal[2]))
            equal = rate(stored[name], size, times)
        is_slow = is_slow or equal[0] / base < LEAST
        print(
            f"{name:15} {equal[0] / base:5.2f} of the Claude reader's {base:.0f} MB/s at {equal[2]:6.0f} bytes a message;"
            f" as stored {speed / base:5.2f} at {own:6.0f} bytes, {messages:7.0f} messages/s, {len(stored[name])} files"
        )
    return int(is_slow)


def rate(found: list[bytes], size: int, times: int = 1) -> tuple[float, float, float]:
    """MB and messages a second, and bytes a message, of these transcripts grown to `size` together."""
    whole = sum(map(len, found))
    parts = [grown(data, size * len(data) // whole, times) for data in found]
    spent, messages = map(sum, zip(*map(measured, parts), strict=True))
    return sum(map(len, parts)) / spent / 1e6, messages / spent, sum(map(len, parts)) / messages


if __name__ == "__main__":
    sys.exit(main())
