"""Reading a JSON or YAML document that a person wrote, and telling everything that is wrong with it at once.

What a document must hold is the business of `run_file` and `template`; YAML is read without tags, and a document that
grows without bound through its own references is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessionbank.errors import FormatError, NotFoundError, QueryError

if TYPE_CHECKING:
    from pydantic import ValidationError

MAX_VALUES = 20_000_000  # of a document; references of YAML can make a small file as large as memory


def read_document(source: str | Path | Mapping[str, Any], what: str) -> tuple[Any, str]:
    """The document as plain values, and what to call it in messages.

    `source` is a path (``.yaml`` and ``.yml`` are YAML, all others JSON) or the value itself. Raises `NotFoundError`
    where there is no such file, `FormatError` where it is no JSON or YAML.
    """
    if isinstance(source, Mapping):
        return dict(source), what
    if not isinstance(source, str | Path):
        raise QueryError(f"{what}: give a path or a mapping, not {type(source).__name__}")
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise NotFoundError(f"{what} {path.name!r} cannot be read: {error.strerror or error}") from None
    name = f"{what} {path.name}"
    try:
        text = data.decode("utf-8-sig")
        value = (
            _yaml(text)
            if path.suffix.lower() in (".yaml", ".yml")
            else json.loads(text, parse_constant=_refuse)
        )
    except UnicodeDecodeError as error:
        raise FormatError(f"{name} is not UTF-8: byte {error.start}") from None
    except RecursionError:
        raise FormatError(f"{name} is nested too deeply") from None
    except ValueError as error:
        raise FormatError(
            f"{name} is no {'YAML' if path.suffix.lower() in ('.yaml', '.yml') else 'JSON'}: {error}"
        ) from None
    _bounded(value, name)
    return value, name


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None


def _bounded(value: Any, name: str) -> None:
    """Refuses a document whose references make it larger than `MAX_VALUES`, or endless; each part is counted once."""
    sizes: dict[int, int | None] = {}  # None: being counted, so a reference to it is a circle
    todo = [(value, False)]
    while todo:
        item, is_counted = todo.pop()
        parts = list(item.values()) if isinstance(item, dict) else item if isinstance(item, list) else None
        if parts is None:
            continue
        if is_counted:
            sizes[id(item)] = size = 1 + sum(sizes.get(id(p)) or 1 for p in parts)
            if size > MAX_VALUES:
                raise FormatError(f"{name} holds more than {MAX_VALUES:,} values")
        elif id(item) not in sizes:
            sizes[id(item)] = None
            todo.append((item, True))
            todo += [(p, False) for p in parts if isinstance(p, dict | list) and sizes.get(id(p), 0) == 0]
            if any(sizes.get(id(p), 0) is None for p in parts if isinstance(p, dict | list)):
                raise FormatError(f"{name} refers to itself")


def place(parts: Iterable[Any]) -> str:
    """Where in a document: ``members[2].steps[0].tokens``."""
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "the document"


def shape_errors(error: ValidationError) -> list[tuple[str, str]]:
    """Place and text of each error that pydantic found."""
    found = []
    for one in error.errors(include_url=False, include_context=False):
        message = one["msg"].removeprefix("Value error, ")
        given = one.get("input")
        if one["type"] not in ("missing", "extra_forbidden") and isinstance(given, str | int | float | bool):
            message += f" (it is {str(given)[:80]!r})"
        found.append((place(p for p in one["loc"] if not _is_inner(p)), message))
    return found


def _is_inner(part: Any) -> bool:
    """Whether a part of a place names a branch that pydantic tried rather than a key of the document."""
    return isinstance(part, str) and part.startswith(("function-", "list[", "dict[", "union["))


def refuse(name: str, errors: list[tuple[str, str]]) -> None:
    """Raises `FormatError` with all errors and their places; does nothing where there are none."""
    if not errors:
        return
    unique = list(dict.fromkeys(errors))
    lines = "\n".join(f"  {where}: {message}" for where, message in unique)
    raise FormatError(f"{name} has {len(unique)} {'error' if len(unique) == 1 else 'errors'}:\n{lines}")
