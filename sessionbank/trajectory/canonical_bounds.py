"""How canonical records keep long arguments and results within bounds, code point by code point as the original does."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

from sessionbank.trajectory import javascript as js

LEAF_FLOOR = (
    2000  # a string of the arguments is not cut below this many code points while longer ones are left
)


def marker(remaining: int) -> str:
    """What stands where text was cut out."""
    return f"\n… [truncated, {remaining} more chars]"


def cut_text(text: str, limit: int) -> str:
    """The text, or its head and tail around a marker, in at most `limit` code points."""
    if len(text) <= limit:
        return text
    low, high, keep = 0, min(len(text) - 1, limit), -1
    while low <= high:
        middle = (low + high) // 2
        if middle + len(marker(len(text) - middle)) <= limit:
            keep, low = middle, middle + 1
        else:
            high = middle - 1
    mark = marker(len(text) - keep) if keep >= 0 else "…"[:limit]
    keep = keep if keep >= 0 else limit - len(mark)
    head = ceil(keep / 2)
    tail = keep - head
    return text[:head] + mark + (text[len(text) - tail :] if tail else "")


def cut_arguments(raw: str, limit: int) -> tuple[str, bool, bool]:
    """Arguments as the JSON text of an object, within `limit` code points: (text, reshaped, truncated)."""
    raw = raw or "{}"
    try:
        parsed = js.parse(raw)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        full = js.stringify({"_raw": raw})
        wrapped = _wrapped(raw, limit)
        return wrapped, True, wrapped != full
    if len(raw) <= limit:
        return raw, False, False
    halved = _halved(parsed, limit)
    if len(halved) <= limit:
        return halved, False, True
    shrunk = _shrunk(js.parse(raw), limit)
    if len(shrunk) > limit:
        return _wrapped(raw, limit), True, True
    return shrunk, False, True


@dataclass(slots=True)
class _Leaf:
    parent: Any
    key: Any
    original: str
    keep: int
    length: int

    @property
    def value(self) -> str:
        found = self.parent[self.key]
        return found if isinstance(found, str) else ""


def _leaves(value: Any) -> list[_Leaf]:
    found: list[_Leaf] = []
    pairs = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    for key, child in pairs:
        if isinstance(child, str):
            found.append(_Leaf(value, key, child, len(child), len(child)))
        elif isinstance(child, list | dict):
            found += _leaves(child)
    return found


def _halved(parsed: dict[str, Any], limit: int) -> str:
    """The longest string is halved, again and again, down to the floor."""
    leaves = _leaves(parsed)
    text = js.stringify(parsed)
    seen: set[str] = set()
    while len(text) > limit and leaves and text not in seen:
        seen.add(text)
        largest = max(leaves, key=lambda leaf: len(leaf.value))
        length = len(largest.value)
        if length <= LEAF_FLOOR:
            break
        keep = max(LEAF_FLOOR, length // 2)
        largest.parent[largest.key] = largest.value[:keep] + marker(length - keep)
        text = js.stringify(parsed)
    return text


def _shrunk(parsed: dict[str, Any], limit: int) -> str:
    """The longest string is cut by what is too much, below the floor if it must, and emptied at last."""
    leaves = _leaves(parsed)
    text = js.stringify(parsed)
    while len(text) > limit:
        longest = [leaf for leaf in leaves if leaf.length > 0]
        if not longest:
            break
        largest = max(longest, key=lambda leaf: leaf.length)
        before = len(text)
        candidate, keep = "", 0
        if largest.keep > 0:
            floor = LEAF_FLOOR if largest.keep > LEAF_FLOOR else 0
            budget = len(marker(len(largest.original)))
            keep = max(floor, min(largest.keep // 2, largest.keep - (before - limit) - budget - 1))
            keep = max(0, min(keep, largest.keep - 1))
            candidate = largest.original[:keep] + marker(len(largest.original) - keep)
            if len(candidate) >= largest.length:
                candidate, keep = "", 0
        _set(largest, candidate, keep)
        text = js.stringify(parsed)
        if len(text) >= before and candidate:
            _set(largest, "", 0)
            text = js.stringify(parsed)
    return text


def _set(leaf: _Leaf, text: str, keep: int) -> None:
    leaf.parent[leaf.key] = text
    leaf.keep, leaf.length = keep, len(text)


def _wrapped(raw: str, limit: int) -> str:
    full = js.stringify({"_raw": raw})
    if len(full) <= limit:
        return full
    low, high, best = 0, min(len(raw), limit), "{}"
    while low <= high:
        keep = (low + high) // 2
        candidate = js.stringify({"_raw": raw[:keep] + marker(len(raw) - keep)})
        if len(candidate) <= limit:
            best, low = candidate, keep + 1
        else:
            high = keep - 1
    return best
