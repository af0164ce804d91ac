"""Which of many texts are worth a look: every rule as one pattern for RE2, which reads a gigabyte a second.

A gate lets through all texts that a rule may match, and some more: assertions are taken out of the patterns and long
counts shortened, which only widens what they match. The rules themselves then decide, on few texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sessionbank.redaction import rules
from sessionbank.redaction.kept import kept_rules

if TYPE_CHECKING:
    import pyarrow as pa

_BOUND = r"(?:^|[^A-Za-z0-9_]|\\[nrtbf]|\\u[0-9a-fA-F]{4})"  # what may stand before a word; see `places.begins_word`
_LONGEST = 8  # a count beyond this makes the automaton large and tells little more
_ASSERTION = re.compile(
    r"\(\?(?:=|!|<=|<!)(?:[^()\\\[\]]|\\.|\[(?:[^\]\\]|\\.)*\]|\((?:[^()\\\[\]]|\\.|\[(?:[^\]\\]|\\.)*\])*\))*\)"
)
GROUPS = frozenset({"exact", "folded", "kept", "homes", "addresses"})
_TELLING = 5  # so many letters of a prefix are enough
_TOKEN = "[-A-Za-z0-9_.~+/=:]"
_HOMES = r"/Users/[^\s/\\\"'`:;,<>]|/home/[^\s/\\\"'`:;,<>]|\\Users\\|-Users-|-home-|(?:USER|USERNAME|LOGNAME)=[A-Za-z]"
_ADDRESSES = r"[A-Za-z0-9._%+-]@[A-Za-z0-9-]+\.[A-Za-z0-9.-]*[A-Za-z]{2}"


def array(texts: Sequence[str]) -> pa.Array:
    """The texts as an Arrow array; what is no Unicode (half a surrogate pair) becomes a question mark in it."""
    import pyarrow as pa

    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError:
        return pa.array([t.encode("utf-8", "replace").decode() for t in texts], pa.large_string())


def worth_a_look(texts: pa.Array) -> list[frozenset[str]]:
    """For each text, the groups of rules of which one may match it: exact, folded, kept, homes, addresses."""
    import pyarrow.compute as pc

    found: list[set[str]] = [set() for _ in range(len(texts))]
    for group, pattern, ignore_case in _gates():
        mask = pc.match_substring_regex(texts, pattern, ignore_case=ignore_case)
        for at in pc.indices_nonzero(mask).to_pylist():
            found[at].add(group)
    return [frozenset(f) for f in found]


def holding(texts: pa.Array, words: Iterable[str]) -> list[bool]:
    """For each text, whether any of the words stands in it, in capitals or not."""
    import pyarrow.compute as pc

    pattern = "|".join(re2_literal(w) for w in words)
    return pc.match_substring_regex(texts, pattern, ignore_case=True).to_pylist()


def re2_literal(word: str) -> str:
    """A pattern for exactly these characters."""
    return "".join(c if c.isalnum() or c == "_" or ord(c) > 127 else f"\\x{{{ord(c):x}}}" for c in word)


def widened(pattern: str) -> str:
    """A pattern that RE2 takes and that matches all that the given one does: no names, assertions, long counts."""
    plain = re.sub(r"\(\?P<\w+>", "(?:", pattern)
    plain = _ASSERTION.sub("", plain)
    return re.sub(r"\{(\d+)(?:(,)(\d*))?\}", _count, plain).replace(r"\Z", "$")


def _count(match: re.Match[str]) -> str:
    low, is_range, high = int(match[1]), match[2], match[3]
    top = low if is_range is None else int(high) if high else None
    if top is not None and top <= _LONGEST:
        return match[0]
    return f"{{{min(low, _LONGEST)},}}" if low else "*"


@lru_cache(maxsize=1)
def _gates() -> tuple[tuple[str, str, bool], ...]:
    """Group of rules, pattern, whether capitals are the same as small letters."""
    # Prefixes of known makers: the prefix and what tokens are made of is enough. Short prefixes need their pattern.
    long = [r for r in rules.EXACT if len(r.anchor) >= _TELLING and r.is_bounded]
    short = [r for r in rules.EXACT if r not in long and not r.anchor.startswith(("-", "PuTTY"))]
    anchors = _joined(sorted({re2_literal(r.anchor) for r in long}))
    exact = f"{_BOUND}(?:(?:{anchors}){_TOKEN}{{8}}|{_joined(_of(r) for r in short if r.is_bounded)})"
    inner = _joined(_of(r) for r in short if not r.is_bounded)
    assigned = [r for r in rules.FOLDED if r.check is rules.guess]
    words = f"(?:{_joined(re2_literal(r.anchor) for r in assigned)}){widened(rules.ASSIGNED)}"
    other = [_of(r) for r in rules.FOLDED if r not in assigned]
    kept = kept_rules()
    plain = [
        p
        for p in (widened(k.pattern.pattern) for k in kept if not k.pattern.flags & re.IGNORECASE)
        if _accepts(p)
    ]
    loose = [
        p
        for p in (widened(k.pattern.pattern) for k in kept if k.pattern.flags & re.IGNORECASE)
        if _accepts(p)
    ]
    gates = [
        ("homes", _HOMES, False), ("addresses", _ADDRESSES, False), ("exact", "PRIVATE KEY|PuTTY-User-Key", False),
        ("exact", exact, False), ("exact", inner, False), ("folded", _joined([words, *other]), True),
    ]  # fmt: skip
    return (
        *gates,
        *(("kept", _joined(f"(?:{p})" for p in ps), i) for ps, i in ((plain, False), (loose, True)) if ps),
    )


def _of(rule: Any) -> str:
    return f"(?:{widened(rule.pattern.pattern)})"


def _joined(patterns: Iterable[str]) -> str:
    return "|".join(patterns)


def _accepts(pattern: str) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        pc.match_substring_regex(pa.array([""]), pattern)
    except pa.ArrowInvalid:
        return False
    return True
