"""Pictures of a session: their bytes read from the stored lines when an export asks for them, and how formats carry them.

Tables hold a picture's type and size alone, and a trajectory the type. With `with_bytes` the type becomes a data URL
(``data:image/png;base64,...``), which trajectories carry along; `without_bytes` puts the type back. Nothing is redacted
in a picture: what it shows leaves as it is.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sessionbank.errors import NotFoundError
from sessionbank.records import Message, Session
from sessionbank.trajectory.model import Step, Trajectory, Turn

# Types that other programs read, and the endings of their files.
ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}
_HEAD = "data:"


def with_bytes(session: Session) -> Session:
    """The session with a data URL in place of each picture's media type; of a picture whose bytes are gone, the type."""
    messages = tuple(_filled(session, m) for m in session.messages)
    whole = replace(session.transcript, messages=messages)
    return Session(session.session_id, session.records, lambda _: whole, session.reach)


def without_bytes(trajectory: Trajectory) -> Trajectory:
    """The trajectory with media types alone; itself where it holds no picture's bytes."""
    if not any(url.startswith(_HEAD) for t in trajectory.walk() for url in _urls(t)):
        return trajectory
    return replace(
        trajectory,
        own_steps=tuple(replace(s, images=_types(s)) if s.images else s for s in trajectory.own_steps),
        replies=tuple(replace(r, before=_bare(r.before)) for r in trajectory.replies),
        after=_bare(trajectory.after),
        subagents=tuple(map(without_bytes, trajectory.subagents)),
    )


def data_urls(images: Iterable[str]) -> list[str]:
    """Those of the images that hold their bytes, in a type that other programs read."""
    return [i for i in images if i.startswith(_HEAD) and media_type(i) in ENDINGS]


def media_type(image: str) -> str:
    """The media type of an image: of a data URL the one that it names, else what stands there."""
    return image[len(_HEAD) :].partition(";")[0] if image.startswith(_HEAD) else image


class Folder:
    """A folder beside an exported file, in which each picture stands once, named by its content."""

    def __init__(self, beside: Path) -> None:
        self._folder = beside.parent / f"{beside.name}-pictures"
        self.count = 0

    def put(self, url: str) -> str:
        """Stores the picture of a data URL; gives its path, relative to the exported file."""
        data = base64.b64decode(url.partition(",")[2])
        name = hashlib.sha256(data).hexdigest()[:32] + ENDINGS[media_type(url)]
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / name).write_bytes(data)
        self.count += 1
        return f"{self._folder.name}/{name}"


def _filled(session: Session, message: Message) -> Message:
    count = sum(b.type == "image" for b in message.blocks)
    found: list[str] = []
    if count:
        with suppress(NotFoundError):  # a clone may lack the bytes
            found = [url for line in session.raw(message) for url in _in_line(line)]
    if not count or len(found) != count:
        return message
    urls = iter(found)
    return replace(
        message,
        blocks=tuple(replace(b, media_type=next(urls)) if b.type == "image" else b for b in message.blocks),
    )


def _in_line(line: bytes) -> Iterator[str]:
    with suppress(ValueError, RecursionError):
        value = json.loads(line)
        # Claude Code repeats a result's picture in `toolUseResult`; what was said stands in `message`
        yield from _below(value.get("message", value) if isinstance(value, dict) else value)


def _below(value: Any) -> Iterator[str]:
    """Data URLs of all pictures in a JSON value, in the order in which they stand, whatever the agent calls them."""
    if isinstance(value, list):
        for inner in value:
            yield from _below(inner)
    if not isinstance(value, dict):
        return
    url = _url(value)
    if url is not None:
        yield url
        return
    for inner in value.values():
        yield from _below(inner)


def _url(value: dict[str, Any]) -> str | None:
    """The picture that an object is, as a data URL; None where it is none, or its bytes are elsewhere."""
    source, inline, link = (
        value.get("source"),
        value.get("inlineData"),
        value.get("image_url", value.get("url")),
    )
    link = link.get("url") if isinstance(link, dict) else link
    kind: Any
    data: Any
    if isinstance(link, str) and link.startswith("data:image/") and ";base64," in link:
        kind, _, data = link[len(_HEAD) :].partition(";base64,")
    elif isinstance(inline, dict):
        kind, data = inline.get("mimeType"), inline.get("data")
    elif value.get("type") == "image" and isinstance(source, dict):
        kind, data = source.get("media_type"), source.get("data")
    elif value.get("type") == "image":
        kind, data = value.get("mimeType"), value.get("data")
    else:
        return None
    if not isinstance(kind, str) or not kind.startswith("image/") or not isinstance(data, str):
        return None
    with suppress(binascii.Error, ValueError):
        base64.b64decode(data, validate=True)
        return f"{_HEAD}{kind};base64,{data}"
    return None


def _urls(trajectory: Trajectory) -> Iterator[str]:
    for step in trajectory.own_steps:
        yield from step.images
    for turn in (*(t for r in trajectory.replies for t in r.before), *trajectory.after):
        yield from turn.images


def _types(part: Step | Turn) -> tuple[str, ...]:
    return tuple(map(media_type, part.images))


def _bare(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    return tuple(replace(t, images=_types(t)) if t.images else t for t in turns)
