"""The JSON that Entire writes beside a transcript, read without trusting it.

Every key may be missing, null or of another type. What a field of `SessionRecord` holds is taken; every other key is
kept as JSON text. No git here, and no transcript.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from sessionbank.records import Attribution, CodeLearning, StoredUsage, Summary

_DATED = re.compile(r"^\d{4}-\d{2}-\d{2}-(?=.)")
# All that Arrow reads as a timestamp, and more: a time must not depend on which of the two reads its batch.
_ISO = re.compile(
    r"^([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}(?::[0-9]{2}(?::[0-9]{2})?)?)(?:\.([0-9]+))?\s*"
    r"(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?$"
)
_READ = {
    "checkpoint_id", "session_id", "strategy", "created_at", "branch", "files_touched", "agent", "is_task",
    "tool_use_id", "transcript_identifier_at_start", "transcript_uuid_at_start", "checkpoint_transcript_start",
    "transcript_lines_at_start", "token_usage", "summary", "initial_attribution", "cli_version", "model",
}  # fmt: skip
EXTRA_LIMIT = 1 << 20  # keys that no field holds are kept up to this many bytes a record


@dataclass(frozen=True, slots=True)
class RootMetadata:
    """What we use of a checkpoint's root metadata. Its session paths and sums are not trusted, so not read."""

    cli_version: str | None
    strategy: str | None
    branch: str | None
    token_usage_version: int | None
    combined_attribution: Attribution | None


def decode(data: bytes | None) -> dict[str, Any] | str:
    """The JSON object in `data`, or a sentence that says why there is none."""
    if data is None:
        return "its object is not in this clone, or is damaged"
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            value = json.loads(data.decode("utf-8-sig", "replace").strip("\0\r\n "))
        except (ValueError, RecursionError):
            return "it is not JSON"
    return value if isinstance(value, dict) else f"it holds a {type(value).__name__}, not an object"


def canonical_id(raw: str) -> str:
    """A session id without the date that older writers put in front of it."""
    return _DATED.sub("", raw)


def moment(value: Any) -> datetime | None:
    """An ISO 8601 time with 0 to 9 fractional digits and any offset (none: UTC), in UTC; None if it is none."""
    match = _ISO.match(value) if isinstance(value, str) else None
    if match is None:
        return None
    zone = match[4] or "Z"
    try:
        at = datetime.fromisoformat(f"{match[1]}T{match[2]}{'+00:00' if zone == 'Z' else zone}")
        return at.astimezone(UTC).replace(microsecond=int(((match[3] or "0") + "000000")[:6]))
    except (ValueError, OverflowError):
        return None


def text(value: Any) -> str | None:
    """A non-empty string, made storable (a lone surrogate becomes U+FFFD), or None."""
    if type(value) is not str or not value:
        return None
    return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def count(value: Any) -> int | None:
    """A whole number from 0 that a 64-bit column holds, or None. JSON floats with no fraction count as whole."""
    if type(value) is int:
        return value if 0 <= value < 2**62 else None
    if type(value) is not float:
        return None
    if value != value or not 0 <= value < 2**62 or value != int(value):
        return None
    return int(value)


def texts(value: Any) -> tuple[str, ...]:
    """The strings of a list, in order; empty for anything else."""
    return tuple(t for t in map(text, value) if t) if isinstance(value, list) else ()


def usage(value: Any) -> StoredUsage | None:
    """A token_usage object."""
    if not isinstance(value, dict):
        return None
    return StoredUsage(
        count(value.get("input_tokens")), count(value.get("cache_creation_tokens")),
        count(value.get("cache_read_tokens")), count(value.get("output_tokens")), count(value.get("api_call_count")),
    )  # fmt: skip


def attribution(value: Any) -> Attribution | None:
    """An attribution object, in either formula; the percentage is kept as stored, from 0 to 100."""
    if not isinstance(value, dict):
        return None
    get = value.get
    share = get("agent_percentage")
    if (type(share) is not int and type(share) is not float) or not abs(share) < 1e15:  # NaN too
        share = None
    return Attribution(
        calculated_at=moment(get("calculated_at")),
        agent_percentage=None if share is None else float(share),
        agent_lines=count(get("agent_lines")),
        human_added=count(get("human_added")),
        human_modified=count(get("human_modified")),
        human_removed=count(get("human_removed")),
        total_committed=count(get("total_committed")),
        metric_version=count(get("metric_version")),
        agent_removed=count(get("agent_removed")),
        total_lines_changed=count(get("total_lines_changed")),
    )


def summary(value: Any) -> Summary | None:
    """A summary object; None where it says nothing."""
    if not isinstance(value, dict):
        return None
    learned = value.get("learnings")
    learned = learned if isinstance(learned, dict) else {}
    code = learned.get("code")
    found = Summary(
        intent=text(value.get("intent")),
        outcome=text(value.get("outcome")),
        repo=texts(learned.get("repo")),
        code=tuple(_findings(code if isinstance(code, list) else [])),
        workflow=texts(learned.get("workflow")),
        friction=texts(value.get("friction")),
        open_items=texts(value.get("open_items")),
    )
    return None if found == Summary() else found


def _findings(items: list[Any]) -> list[CodeLearning]:
    found = []
    for item in items:
        if isinstance(item, dict) and text(item.get("finding")):
            path, finding = text(item.get("path")) or "", text(item.get("finding")) or ""
            found.append(CodeLearning(path, finding, count(item.get("line")), count(item.get("end_line"))))
        elif text(item):
            found.append(CodeLearning("", text(item) or ""))
    return found


def start(value: dict[str, Any]) -> tuple[int | None, str | None]:
    """Where the record's window begins: (line or message offset, identifier before it), under either generation's names.

    Writers leave out an offset of 0, so a record with neither name begins at 0 or does not say.
    """
    offset = count(value.get("checkpoint_transcript_start"))
    if offset is None:
        offset = count(value.get("transcript_lines_at_start"))
    return offset, text(value.get("transcript_identifier_at_start")) or text(
        value.get("transcript_uuid_at_start")
    )


def extra(value: dict[str, Any], left_out: Callable[[str], None]) -> str | None:
    """The keys that no field holds, as JSON text.

    Above `EXTRA_LIMIT`, or nested deeper than can be written, they are left out and `left_out` is told why.
    """
    rest = {k: v for k, v in value.items() if k not in _READ}
    if not rest:
        return None
    try:
        found = orjson.dumps(rest)
    except (orjson.JSONEncodeError, RecursionError):
        try:
            found = json.dumps(rest, default=str, ensure_ascii=True).encode()
        except RecursionError:
            left_out("nested too deep")
            return None
    if len(found) > EXTRA_LIMIT:
        left_out(f"{len(found)} bytes long")
        return None
    return found.decode("utf-8", "replace")


def root(value: dict[str, Any]) -> RootMetadata:
    """A checkpoint's root metadata."""
    return RootMetadata(
        text(value.get("cli_version")), text(value.get("strategy")), text(value.get("branch")),
        count(value.get("token_usage_version")), attribution(value.get("combined_attribution")),
    )  # fmt: skip
