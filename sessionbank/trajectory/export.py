"""Trajectories into files and back: streams, whole files or none, nothing that should not leave.

One line a document. Formats are made in `jsonl`, `atif` and `chat`; what is taken out of them in `redact`.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessionbank.errors import FormatError, QueryError
from sessionbank.records import Session
from sessionbank.trajectory.atif import to_atif
from sessionbank.trajectory.atif_reading import from_atif
from sessionbank.trajectory.chat import ARGUMENTS, THINKING, chat_rows
from sessionbank.trajectory.jsonl import FORMAT, dumped, from_object, loaded, to_object
from sessionbank.trajectory.model import Trajectory
from sessionbank.trajectory.pictures import Folder, without_bytes
from sessionbank.trajectory.synthesis import synthesize

if TYPE_CHECKING:
    import pandas as pd

    from sessionbank.trajectory.redact import Redactor

FORMATS = ("sessionbank", "atif", "messages", "canonical")
CONTEXTS = ("all", "live")
NOTHING = "nothing was said in it"
Rows = tuple[
    str, list[dict[str, Any]], str | None
]  # id of what was given, rows, the reason where there are none
Maker = Callable[[Iterable[Trajectory | Session]], Iterator[Rows]]


class UnredactedWarning(UserWarning):
    """A file was written with ``redact=False``: it may hold keys, addresses and names."""


@dataclass(frozen=True)
class Written:
    """What became of an export. `skipped` holds id and reason of each trajectory that the format cannot hold."""

    path: Path
    format: str
    trajectories: int
    rows: int
    bytes: int
    skipped: tuple[tuple[str, str], ...] = ()
    redactor: Redactor | None = field(default=None, repr=False)

    def report(self) -> pd.DataFrame:
        """What was replaced where: trajectory_id, field, kind, placeholder, count, first_step; or an empty frame."""
        from sessionbank.trajectory.redact import Redactor

        return (self.redactor or Redactor()).report()


def write_jsonl(
    trajectories: Iterable[Trajectory | Session] | Trajectory | Session, path: str | os.PathLike[str], *,
    format: str = "sessionbank", redact: bool | Redactor = True, arguments: str = "string", thinking: str = "apart",
    context: str = "all", images: bool = False,
) -> Written:  # fmt: skip
    """Writes trajectories as lines of JSON, one at a time, and moves the file into place when it is whole.

    Sessions, or a selection of them, may be given as well: each is synthesised when its turn comes.
    `format`: ``sessionbank`` (ours, read back without loss when not redacted), ``atif`` (ATIF v1.7, a document a line,
    subagents embedded), ``messages`` (chat rows, a row an agent; `arguments` is ``string`` for OpenAI or ``dict`` for
    the templates of TRL; `thinking` is ``apart``, ``merged`` with the text of replies that call tools, each call a
    message of its own, as gpt-oss wants it, or ``none``), ``canonical`` (records of stored lines, of sessions only: a
    trajectory does not hold them).
    `context`: ``all``, or ``live`` for only what the model still saw at the end (atif and messages). `redact`: True, a
    `Redactor` of your own (its placeholders then are the same over several files), or False, which warns. Pictures are
    left out and a note stands where they were, unless `images` is True: then ``sessionbank`` and ``messages`` hold them
    as data URLs, and ``atif`` names files in a folder ``{file}-pictures`` beside the file. What a picture shows is not
    redacted, and that warns. Canonical records hold none. Memory does not grow with the number of trajectories. Raises `QueryError`
    for an unknown option. Source: DESIGN section 8, ATIF, OpenAI chat.
    """
    _check("format", format, FORMATS)
    _check("arguments", arguments, ARGUMENTS)
    _check("thinking", thinking, THINKING)
    _check("context", context, CONTEXTS)
    if images and format == "canonical":
        raise QueryError("canonical records hold no pictures; leave out images=True or choose another format")
    redactor = _redactor(redact)
    target = Path(path).resolve()  # a link is followed, not replaced
    if images and redactor is not None:
        text = "images=True: pictures leave as they are; what they show is not redacted"
        warnings.warn(text, UnredactedWarning, stacklevel=2)
    make = _maker(format, (arguments, thinking, context), redactor, Folder(target) if images else None)
    if target.exists() and not target.is_file():
        raise QueryError(f"{path} is no regular file; name a file to write")
    counts = {"trajectories": 0, "rows": 0, "bytes": 0}
    skipped: list[tuple[str, str]] = []
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}-", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb", buffering=1 << 20) as stream:
            for identity, rows, reason in make(_given(trajectories)):
                if not rows:
                    skipped.append((identity, reason or NOTHING))
                    continue
                counts["trajectories"] += 1
                for row in rows:
                    line = dumped(row)
                    stream.write(line)
                    stream.write(b"\n")
                    counts["rows"] += 1
                    counts["bytes"] += len(line) + 1
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    return Written(target, format, **counts, skipped=tuple(skipped), redactor=redactor)


def _check(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise QueryError(f"no {what} {given!r}; there are {', '.join(known)}")


def _redactor(redact: bool | Redactor) -> Redactor | None:
    from sessionbank.trajectory.redact import Redactor

    if isinstance(redact, Redactor):
        return redact
    if redact:
        return Redactor()
    text = (
        "redact=False: the file may hold keys, passwords, addresses and names of people; do not let it leave"
    )
    warnings.warn(text, UnredactedWarning, stacklevel=3)
    return None


def _given(
    trajectories: Iterable[Trajectory | Session] | Trajectory | Session,
) -> Iterator[Trajectory | Session]:
    """Each trajectory or session; a session whose transcript nobody read yet is read for this alone, and let go."""
    for item in [trajectories] if isinstance(trajectories, (Trajectory, Session)) else trajectories:
        yield replace(item) if isinstance(item, Session) and "transcript" not in vars(item) else item


def _maker(
    format: str, style: tuple[str, str, str], redactor: Redactor | None, pictures: Folder | None
) -> Maker:
    if format == "canonical":
        from sessionbank.trajectory.canonical_rows import canonical_rows

        return lambda items: ((_identity(i), *canonical_rows(i, redactor)) for i in items)
    arguments, thinking, context = style
    is_live = context == "live"

    def rows(items: Iterable[Trajectory | Session]) -> Iterator[Rows]:
        waiting: deque[str] = deque()
        ready = _synthesised(items, waiting, images=pictures is not None)
        for made in ready if redactor is None else redactor.trajectories(ready):
            identity = waiting.popleft()
            if format == "sessionbank":
                yield identity, [to_object(made)], None
            elif format == "atif":
                document = to_atif(made, is_live=is_live, put=pictures.put if pictures else None)
                yield identity, [] if document is None else [document], None
            else:
                yield (
                    identity,
                    list(chat_rows(made, arguments=arguments, thinking=thinking, is_live=is_live)),
                    None,
                )

    return rows


def _synthesised(
    items: Iterable[Trajectory | Session], waiting: deque[str], *, images: bool
) -> Iterator[Trajectory]:
    for item in items:
        waiting.append(_identity(item))
        made = synthesize(item, images=images) if isinstance(item, Session) else item
        yield made if images else without_bytes(made)


def _identity(item: Trajectory | Session) -> str:
    return item.id if isinstance(item, Trajectory) else item.session_id


def read_jsonl(path: str | os.PathLike[str]) -> list[Trajectory]:
    """The trajectories of a file: ours, or ATIF (one document a line, or one document over many lines).

    Raises `FormatError` with the line where it cannot be read, and for chat rows, which do not hold a trajectory.
    """
    source = Path(path)
    data = source.read_bytes()
    found = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = loaded(line)
        except ValueError as error:
            if number == 1:
                return [_one(_whole(data, source), source, 1)]
            raise FormatError(f"{source}, line {number}: not JSON ({error})") from error
        found.append(_one(value, source, number))
    return found


def _whole(data: bytes, source: Path) -> Any:
    try:
        return loaded(data)
    except ValueError as error:
        raise FormatError(f"{source}: neither lines of JSON nor one JSON document ({error})") from error


def _one(value: Any, source: Path, number: int) -> Trajectory:
    try:
        if isinstance(value, dict) and value.get("format") == FORMAT:
            return from_object(value)
        if isinstance(value, dict) and str(value.get("schema_version", "")).startswith("ATIF-"):
            return from_atif(value)
    except FormatError as error:
        raise FormatError(f"{source}, line {number}: {error}") from error
    what = (
        "chat rows, which do not hold a whole trajectory"
        if isinstance(value, dict) and "messages" in value
        else "something else"
    )
    raise FormatError(f"{source}, line {number}: {what}; read_jsonl reads formats sessionbank and atif")
