"""Rows that a session copied from another: whose they are.

A fork or a resumed session may repeat another's lines under its own id. Such a line belongs to the session that the
copies name, else to the one that was stored first; in the others it is inherited and in no total.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from sessionbank.tables import cache as disk

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

SHORTEST = 20  # ids shorter than this (numbers, short hex) are not unique across sessions


def inherited_rows(cache: disk.Cache, manifest: disk.Manifest) -> dict[str, dict[str, str]]:
    """For each session with copied rows: uuid -> session that owns it."""
    import numpy as np

    uuids = disk.assemble(cache, manifest, "messages").column("uuid")
    if not len(uuids):
        return {}
    hashes = _hashes(uuids)
    order = list(manifest.sessions)
    lengths = [manifest.sessions[s].rows["messages"][1] for s in order]
    owner_of_row = np.repeat(np.arange(len(order)), lengths)
    usable = np.flatnonzero(hashes != 0)
    usable = usable[np.argsort(hashes[usable], kind="stable")]
    sorted_hashes = hashes[usable]
    same = np.flatnonzero(sorted_hashes[1:] == sorted_hashes[:-1])
    rows = np.unique(np.concatenate([usable[same], usable[same + 1]]))
    if not len(rows):
        return {}
    groups: dict[str, set[int]] = {}
    for row, uuid in zip(rows.tolist(), uuids.take(rows).to_pylist(), strict=True):
        groups.setdefault(uuid, set()).add(int(owner_of_row[row]))
    named = _named(cache, manifest, order)
    owners: dict[frozenset[int], int] = {}
    found: dict[str, dict[str, str]] = {}
    for uuid, sessions in groups.items():
        if len(sessions) < 2:
            continue
        key = frozenset(sessions)
        if key not in owners:
            owners[key] = min(key, key=lambda s: (-sum(order[s] in named[o] for o in key if o != s), s))
        for session in sessions:
            if session != owners[key]:
                found.setdefault(order[session], {})[uuid] = order[owners[key]]
    return found


def _named(cache: disk.Cache, manifest: disk.Manifest, order: list[str]) -> list[Mapping[str, Any]]:
    """The other session ids that each session's lines name."""
    texts = disk.assemble(cache, manifest, "facts").column("foreign_ids").to_pylist()
    assert len(texts) == len(order)
    return [orjson.loads(t) if t else {} for t in texts]


def _hashes(uuids: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """A 64-bit hash of each id, 0 where it is missing or too short to be unique. Equal ids have equal hashes."""
    import numpy as np

    parts = []
    for chunk in uuids.chunks:
        offsets = np.frombuffer(chunk.buffers()[1], dtype="int64")[
            chunk.offset : chunk.offset + len(chunk) + 1
        ]
        text = np.frombuffer(chunk.buffers()[2] or b"", dtype="uint8")
        lengths = np.diff(offsets)
        good = np.flatnonzero(lengths >= SHORTEST)
        out = np.zeros(len(chunk), dtype="uint64")
        head = _eight(text, offsets[:-1][good])
        tail = _eight(text, offsets[1:][good] - 8)
        out[good] = (head * np.uint64(0x9E3779B97F4A7C15)) ^ tail
        parts.append(out)
    return np.concatenate(parts) if parts else np.zeros(0, dtype="uint64")


def _eight(text: np.ndarray[Any, Any], at: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The eight bytes from each place on, as one number."""
    import numpy as np

    if not len(at):
        return np.zeros(0, dtype="uint64")
    return np.ascontiguousarray(text[at[:, None] + np.arange(8)]).view("uint64").reshape(-1)
