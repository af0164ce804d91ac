"""Our own format: a trajectory as one JSON object, and back, without loss. Files are `export`'s business.

A field that is missing or empty is not written, nor a flag that is False; reading gives them back. Each object names
its format and version; a version that this program does not know is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

import orjson

from sessionbank.errors import FormatError
from sessionbank.trajectory.model import VERSION, Outcome, Reply, Step, Task, Trajectory, Turn

FORMAT = "sessionbank-trajectory"
# Where a field holds parts of their own: the class of each.
_PARTS: dict[tuple[type, str], type] = {
    (Trajectory, "task"): Task, (Trajectory, "own_steps"): Step, (Trajectory, "replies"): Reply,
    (Trajectory, "after"): Turn, (Trajectory, "outcome"): Outcome, (Trajectory, "subagents"): Trajectory,
    (Reply, "before"): Turn,
}  # fmt: skip
_WRITTEN = {"own_steps": "steps"}  # other programs look for this name
_TIMES = frozenset({"timestamp", "started_at"})


def to_object(trajectory: Trajectory) -> dict[str, Any]:
    """The trajectory as an object of JSON values, its subagents inside."""
    return {"format": FORMAT, **plain(trajectory)}


def from_object(value: Mapping[str, Any]) -> Trajectory:
    """The trajectory of an object. Raises `FormatError` where it is not of our format or of a later version."""
    if value.get("format") != FORMAT:
        raise FormatError(
            f"not a trajectory of ours: its format is {str(value.get('format'))[:40]!r}, not {FORMAT!r}"
        )
    version = value.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise FormatError(
            f"version {str(version)[:40]!r} of {FORMAT} is not known here (known: up to {VERSION}); update sessionbank"
        )
    try:
        made: Trajectory = _made(Trajectory, value)
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise FormatError(f"a trajectory with a field that cannot be read: {error}") from error
    return made


def _reader(kind: type[Any]) -> tuple[tuple[tuple[str, bool], ...], Any]:
    """Of each field the written name and whether False goes without saying; and a function that reads all fields."""
    own = fields(kind)
    return tuple((_WRITTEN.get(f.name, f.name), f.default is False) for f in own), attrgetter(
        *(f.name for f in own)
    )


_READERS = {kind: _reader(kind) for kind in (Step, Reply, Turn, Trajectory, Task, Outcome)}


def plain(value: Any) -> Any:
    """A part of a trajectory as JSON values."""
    kind = type(value)
    if kind in _READERS:
        names, read = _READERS[kind]
        found = {}
        for (name, is_flag), item in zip(names, read(value), strict=True):
            if item is None or (item is False and is_flag) or item == ():
                continue
            found[name] = item if type(item) is str or type(item) is int else plain(item)
        return found
    if kind is tuple or kind is list:
        return [plain(v) for v in value]
    if isinstance(value, datetime):
        return written_time(value)
    return dict(value) if isinstance(value, Mapping) else value


def _made(kind: type, value: Mapping[str, Any]) -> Any:
    given: dict[str, Any] = {}
    for f in fields(kind):
        name = _WRITTEN.get(f.name, f.name)
        item = value.get(name)
        if item is None:
            if f.default is MISSING and f.default_factory is MISSING:
                given[f.name] = () if str(f.type).startswith("tuple") else None
            continue
        part = _PARTS.get((kind, f.name))
        if part is not None:
            given[f.name] = (
                tuple(_made(part, i) for i in item) if isinstance(item, list) else _made(part, item)
            )
        elif f.name in _TIMES:
            given[f.name] = moment(item)
        else:
            given[f.name] = tuple(item) if isinstance(item, list) else item
    return kind(**given)


def task_from(value: Mapping[str, Any]) -> Task:
    """A task from its JSON values."""
    made: Task = _made(Task, value)
    return made


def outcome_from(value: Mapping[str, Any] | None) -> Outcome | None:
    """An outcome from its JSON values."""
    if not value:
        return None
    made: Outcome = _made(Outcome, value)
    return made


def written_time(value: datetime | None) -> str | None:
    """A time as ISO 8601 in UTC."""
    return None if value is None else value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def moment(value: Any) -> datetime | None:
    """A time from ISO 8601; None for what is none. A time without a zone is UTC."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def compact(value: dict[str, Any]) -> dict[str, Any]:
    """The object without what is None or empty; empty texts, zeros and False are kept."""
    return {k: v for k, v in value.items() if v is not None and v != [] and v != {}}


def json_text(value: Any) -> str | None:
    """A value as compact JSON text; None for None."""
    return None if value is None else dumped(value).decode()


def dumped(value: Any) -> bytes:
    """A value as JSON; half a surrogate pair, which orjson refuses, is written as an escape."""
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, orjson.JSONEncodeError):
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str).encode()


def loaded(data: bytes) -> Any:
    """A JSON value; what orjson refuses (half a surrogate pair, large numbers) is read by json. Raises ValueError."""
    try:
        return orjson.loads(data)
    except ValueError:
        return json.loads(data)
