"""Text and JSON as JavaScript writes them: what byte-for-byte equality with a JavaScript program hangs on.

Numbers, key order, escapes of lone surrogates, white space, times. Nothing here knows a transcript.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

SPACE = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_INDEX = re.compile(r"0|[1-9]\d{0,9}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TIME = re.compile(
    r"^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:?\d\d)?)?$"
)
_EXACT = 2**53


def strip(text: str) -> str:
    """``text.trim()``."""
    return text.strip(SPACE)


def parse(text: str) -> Any:
    """``JSON.parse``: numbers are doubles, integer-like keys come first. Raises `ValueError` for what it refuses."""
    try:
        return json.loads(
            text,
            parse_int=_whole,
            parse_constant=_refuse,
            object_pairs_hook=lambda pairs: _ordered(dict(pairs)),
        )
    except RecursionError:
        raise ValueError("nested deeper than can be read") from None


def _whole(digits: str) -> int | float:
    value = int(digits) if len(digits) < 400 else float(digits)
    return value if -_EXACT <= value <= _EXACT else float(value)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _ordered(value: dict[str, Any]) -> dict[str, Any]:
    indices = [k for k in value if _INDEX.fullmatch(k) and int(k) < 2**32 - 1]
    if not indices:
        return value
    first = sorted(indices, key=int)
    return {k: value[k] for k in (*first, *(k for k in value if k not in set(indices)))}


def stringify(value: Any, *, sort_keys: bool = False) -> str:
    """``JSON.stringify``; with `sort_keys` keys by code point, as canonical JSON has them."""
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, list):
        return "[" + ",".join(stringify(v, sort_keys=sort_keys) for v in value) + "]"
    items = sorted(value.items()) if sort_keys else value.items()
    return "{" + ",".join(f"{quote(k)}:{stringify(v, sort_keys=sort_keys)}" for k, v in items) + "}"


def quote(text: str) -> str:
    """A string as JSON: other characters raw, lone surrogates escaped."""
    found = json.dumps(text, ensure_ascii=False)
    return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", found) if _SURROGATE.search(found) else found


def number(value: float) -> str:
    """A number as JavaScript prints it."""
    if isinstance(value, int):
        return str(value)
    if value != value or value in (float("inf"), float("-inf")):
        return "null"
    if value == 0:
        return "0"
    sign, digits, exponent = _digits(value)
    point = len(digits) + exponent  # place of the decimal point among the digits
    if len(digits) <= point <= 21:
        return f"{sign}{digits}{'0' * (point - len(digits))}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    mantissa = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{sign}{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def _digits(value: float) -> tuple[str, str, int]:
    text = repr(value)
    sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
    mantissa, _, power = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    exponent = int(power or 0) - len(fraction)
    trimmed = digits.rstrip("0")
    return sign, trimmed, exponent + len(digits) - len(trimmed)


def milliseconds(value: Any) -> int | None:
    """``new Date(value).getTime()`` of an ISO 8601 text (without a zone: UTC) or of epoch milliseconds; None if none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value) if 1e11 < value < 8.64e15 else None
    match = _TIME.match(value) if isinstance(value, str) else None
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    offset = zone if zone and zone != "Z" else "+00:00"
    text = f"{year}-{month}-{day}T{hour or '00'}:{minute or '00'}:{second or '00'}{offset}"
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return int(at.timestamp()) * 1000 + int(((fraction or "") + "000")[:3])


def iso(ms: float) -> str:
    """``new Date(ms).toISOString()``."""
    whole = int(ms)
    at = datetime.fromtimestamp(whole // 1000, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{whole % 1000:03d}Z"
