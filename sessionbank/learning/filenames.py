"""How an id from data names a file: encoded, so that no id reaches outside its folder. No file is opened here.

Letters, digits, ``_``, ``-`` and inner dots stay; everything else is percent-encoded, so two ids never share a name.
An id whose name would be long keeps its beginning and gets a hash of the whole.
"""

from __future__ import annotations

import hashlib
import re

LONGEST = 120  # of a name without its suffix; file systems allow 255 bytes
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_RESERVED = re.compile(
    r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE
)  # names Windows keeps for devices


def file_stem(identifier: str) -> str:
    """A name, without suffix, that stands for `identifier` and no other; plain ASCII, never empty, no separators."""
    parts = []
    for place, letter in enumerate(identifier):
        if letter in _PLAIN or (letter == "." and 0 < place < len(identifier) - 1):
            parts.append(letter)
        else:
            parts.extend(f"%{byte:02X}" for byte in letter.encode("utf-8", "surrogatepass"))
    stem = "".join(parts) or "%"
    if _RESERVED.fullmatch(stem):
        stem = f"%{ord(stem[0]):02X}{stem[1:]}"
    if len(stem) > LONGEST:
        stem = f"{stem[: LONGEST - 33]}~{digest(identifier, 32)}"
    return stem


def digest(text: str, length: int = 12) -> str:
    """The first `length` hex characters of the text's SHA-256: the same on every machine."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]
