"""How alike two texts are, and finding the nearest among many: plain counts of words and letter triples, no model.

`similarity` is the cosine of two texts' counts (square roots of word and of letter-triple counts, each half of the
weight): 1 for the same words, about 0 for none in common. `opposed` tells apart "always run tests" and "never run
tests", which are alike by any count. `TextIndex` finds the nearest of thousands by an inverted index.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
# a text turned round by one of these is not a duplicate of the text without it
_NEGATIONS = frozenset((
    "not", "no", "never", "none", "without", "avoid", "avoids", "avoiding", "stop", "skip", "don", "dont", "doesn",
    "doesnt", "cannot", "cant", "wont", "shouldn", "instead",
))  # fmt: skip
_FILLER = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "in", "is", "it", "its", "of", "on", "or",
    "that", "the", "this", "to", "was", "were", "with",
))  # fmt: skip
_LONGEST = 4000  # characters of a text that are compared


def words(text: str) -> list[str]:
    """Words of a text in lower case, in order; an underscore parts words as a space does."""
    return _WORD.findall(text[:_LONGEST].lower())


@lru_cache(maxsize=20_000)
def _profile(text: str) -> tuple[dict[str, float], dict[str, float]]:
    found = words(text)
    joined = f" {' '.join(found)} "
    triples = Counter(joined[i : i + 3] for i in range(len(joined) - 2))
    kept = Counter(w for w in found if w not in _FILLER) or Counter(found)
    return _unit(kept), _unit(triples)


def _unit(counts: Counter[str]) -> dict[str, float]:
    length = math.sqrt(sum(counts.values())) or 1.0
    return {k: math.sqrt(n) / length for k, n in counts.items()}


def _dot(one: dict[str, float], other: dict[str, float]) -> float:
    if len(one) > len(other):
        one, other = other, one
    return sum(v * other[k] for k, v in one.items() if k in other)


def similarity(one: str, other: str) -> float:
    """Cosine similarity of two texts, 0 to 1. Two empty texts are alike (1); an empty and a full one are not (0)."""
    if one == other:
        return 1.0
    (w1, t1), (w2, t2) = _profile(one), _profile(other)
    if not w1 or not w2:
        return 1.0 if not w1 and not w2 else 0.0
    return min(1.0, 0.5 * _dot(w1, w2) + 0.5 * _dot(t1, t2))


def opposed(one: str, other: str) -> bool:
    """Whether one text says no where the other does not: an odd number of negations against an even one."""
    return _negations(one) % 2 != _negations(other) % 2


def _negations(text: str) -> int:
    return sum(w in _NEGATIONS for w in words(text.replace("'", "").replace("’", "")))


def groups(texts: Iterable[str], *, threshold: float = 0.85) -> list[list[int]]:
    """Places of texts that say the same, as lists in order of first appearance.

    A text joins the first group whose first text is at least `threshold` alike and not opposed to it.
    """
    listed = list(texts)
    heads: list[list[int]] = []
    for place, text in enumerate(listed):
        for group in heads:
            head = listed[group[0]]
            if similarity(head, text) >= threshold and not opposed(head, text):
                group.append(place)
                break
        else:
            heads.append([place])
    return heads


class TextIndex:
    """Texts by key, and the nearest of them to a query: cosine of words weighed by how rare they are.

    Add and remove at any time. Memory grows with the number of different words a text has.
    """

    def __init__(self) -> None:
        self._texts: dict[str, dict[str, float]] = {}
        self._holders: dict[str, set[str]] = defaultdict(set)

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, key: str, text: str) -> None:
        """Adds a text, or replaces the one of that key."""
        self.remove(key)
        counts = {w: 1 + math.log(n) for w, n in Counter(w for w in words(text) if w not in _FILLER).items()}
        self._texts[key] = counts
        for word in counts:
            self._holders[word].add(key)

    def remove(self, key: str) -> None:
        """Forgets a key; unknown keys are no error."""
        for word in self._texts.pop(key, ()):
            self._holders[word].discard(key)

    def nearest(self, query: str, *, limit: int = 10) -> list[tuple[str, float]]:
        """Up to `limit` keys with their similarity (0 to 1, never 0), nearest first; ties in order of key."""
        total = len(self._texts) or 1
        asked = Counter(w for w in words(query) if w not in _FILLER)
        # a rare word says more; a word of the query that no text has counts as if one text had it
        rare = {w: math.log(1 + total / max(1, len(self._holders.get(w, ())))) for w in asked}
        weights = {w: (1 + math.log(n)) * rare[w] for w, n in asked.items()}
        length = math.sqrt(sum(v * v for v in weights.values()))
        if not length:
            return []
        sums: dict[str, float] = defaultdict(float)
        for word, weight in weights.items():
            factor = weight * rare[word]
            for key in self._holders.get(word, ()):
                sums[key] += factor * self._texts[key][word]
        # only the likely ones get their exact length: it costs a walk over their words
        likely = [k for _, k in heapq.nsmallest(max(limit * 4, 200), ((-n, k) for k, n in sums.items()))]
        holders, known = self._holders, dict(rare)
        scored = []
        for key in likely:
            squares = 0.0
            for word, count in self._texts[key].items():
                if word not in known:
                    known[word] = math.log(1 + total / max(1, len(holders[word])))
                squares += (count * known[word]) ** 2
            scored.append((key, min(1.0, sums[key] / (length * math.sqrt(squares)))))
        scored.sort(key=lambda pair: (-pair[1], pair[0]))
        return scored[:limit]
