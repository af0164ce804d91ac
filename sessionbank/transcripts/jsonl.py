"""Bytes of a transcript to JSON objects, whatever state the bytes are in.

orjson first, for whole lines; what it refuses (lone surrogates, NaN, glued objects, NUL bytes, cut lines) is read by
the slower ways, and each repair or loss is told. What an object means is the business of the format modules.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson

Problem = Callable[[str, str, str, int | None], None]  # severity, code, message, line
# identity (the record's own id, None where it has none), object, line (or message) from 0, byte offset (-1: not known)
Stored = tuple[str | None, Any, int, int]

_DECODER = json.JSONDecoder()
_BOM = b"\xef\xbb\xbf"


def lines(data: bytes, problem: Problem, *, id_key: str) -> list[Stored]:
    """The objects of a JSONL transcript, in file order, each with its physical line and byte offset."""
    found: list[Stored] = []
    keep = found.append
    loads, find = orjson.loads, data.find
    view = memoryview(data)  # a slice of it is no copy: lines may be megabytes long
    offset = 3 if data.startswith(_BOM) else 0
    end, size, number = offset - 1, len(data), 0
    while end < size:
        offset = end + 1
        end = find(b"\n", offset)
        if end < 0:
            end = size
        try:
            value = loads(view[offset:end])
            identity = value.get(id_key)
            keep((identity if type(identity) is str and identity else None, value, number, offset))
        except (orjson.JSONDecodeError, AttributeError):
            line = data[offset:end]
            if line and not line.isspace():
                for value in _repaired(line, number, problem):
                    identity = value.get(id_key)
                    keep((identity if type(identity) is str and identity else None, value, number, offset))
        number += 1
    return found


def documents(data: bytes, problem: Problem) -> list[Any]:
    """The JSON documents that a transcript is made of: one, or one a chunk; empty where none can be read."""
    try:
        return [orjson.loads(data)]
    except orjson.JSONDecodeError:

        def told(severity: str, code: str, message: str, line: int | None = None) -> None:
            if code != "glued_objects":  # chunks are documents one after the other; nothing was repaired
                problem(severity, code, message, line)

        return _repaired(data, 0, told)


def head(data: bytes, limit: int = 8) -> list[dict[str, Any]]:
    """The first few JSON objects of a JSONL transcript, for telling its format; broken lines are passed over."""
    found: list[dict[str, Any]] = []
    at = 3 if data.startswith(_BOM) else 0
    for _ in range(64):
        end = data.find(b"\n", at)
        line = data[at : end if end >= 0 else len(data)]
        try:
            values = [orjson.loads(line)]
        except orjson.JSONDecodeError:
            values = _repaired(line, 0, untold) if line.strip() else []
        found += [v for v in values if isinstance(v, dict)]
        if end < 0 or len(found) >= limit:
            break
        at = end + 1
    return found[:limit]


def untold(severity: str, code: str, message: str, line: int | None) -> None:
    """A `Problem` that says nothing: for lines that are read, and told of, elsewhere."""


def _repaired(line: bytes, number: int, problem: Problem) -> list[Any]:
    clean = line.strip(b"\0\r\n\t ")
    if not clean:
        problem("warning", "nul_line", f"{len(line)} bytes that are NUL or blank", number)
        return []
    if len(clean) < len(line.strip(b"\r\n\t ")):
        problem("warning", "nul_bytes", "NUL bytes around the object were passed over", number)
    text = clean.decode("utf-8-sig", "replace")
    values: list[Any] = []
    at = 0
    while at < len(text):
        try:
            value, at = _DECODER.raw_decode(text, at)
        except ValueError as error:
            what = "cut or broken" if text[at:].startswith(("{", "[")) else "not JSON"
            problem("warning", "invalid_json_line", f"{what} at character {at}: {error}"[:300], number)
            break
        except RecursionError:
            problem("warning", "too_deep", "nested deeper than can be read", number)
            break
        if isinstance(value, dict):
            values.append(value)
        else:
            problem(
                "warning",
                "non_object_line",
                f"the line holds a {type(value).__name__}, not an object",
                number,
            )
        while at < len(text) and text[at] in " \t\r\n\0":
            at += 1
    if len(values) > 1:
        problem(
            "info", "glued_objects", f"{len(values)} objects stand where one should; all were read", number
        )
    return [_storable(v, number, problem) for v in values]


def _storable(value: Any, number: int, problem: Problem) -> Any:
    """The value with lone surrogates replaced by U+FFFD: they cannot be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        problem("info", "lone_surrogate", "lone surrogates were replaced by U+FFFD", number)
        return _mended(value)
    except (ValueError, RecursionError):
        problem("warning", "too_deep", "nested deeper than can be read", number)
        return {}
    return value


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(v) for v in value]
    if isinstance(value, dict):
        return {_mended(k): _mended(v) for k, v in value.items()}
    return value
