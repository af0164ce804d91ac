"""What memory and workspaces may keep of a run: its texts without secrets, addresses and names of users, all of them
writable. What is looked for is the redaction room's work; ids, numbers and times stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from sessionbank.redaction.passes import Pass, Placeholders

T = TypeVar("T")


def kept(value: T) -> T:
    """A team, trajectory, summary or tuple of them, as memory may keep it; itself where nothing changes.

    What one text of it gives away is taken out of all. Lone surrogates become U+FFFD: neither files nor frames can hold
    one. Same value, same result.
    """
    writable: T = _with(value, _writable)
    done = Pass(Placeholders(), _texts(writable))
    return _with(writable, done.text) if done.cleaned else writable


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, Mapping):
        yield from _texts(tuple(value))
        yield from _texts(tuple(value.values()))
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _texts(getattr(value, field.name))


def _with(value: Any, change: Callable[[str], str]) -> Any:
    """The value with each of its texts changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, (tuple, list)):
        items = [_with(v, change) for v in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else type(value)(items)
    if isinstance(value, Mapping):
        return {_with(k, change): _with(v, change) for k, v in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        new = {
            f.name: (old, _with(old, change))
            for f in fields(value)
            if f.init
            for old in (getattr(value, f.name),)
        }
        changed = {name: done for name, (old, done) in new.items() if done is not old}
        return replace(value, **changed) if changed else value
    return value


def _writable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
