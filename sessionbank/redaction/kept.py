"""The patterns that detect-secrets brings, each with what a text must hold for it to match: most texts are told by that.

Rules of ours are in `rules` and `prefixes`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

# Classes of detect-secrets that we do not run: guessing by entropy and keyword (ids and code look random too; `guess`
# does it with more care), public IP addresses, encrypted passwords of Artifactory (their pattern takes ordinary words).
_KEPT_SKIPPED = frozenset({
    "Base64HighEntropyString", "HexHighEntropyString", "KeywordDetector", "IPPublicDetector", "ArtifactoryDetector",
    "NpmDetector",  # takes the rest of the line
    "IbmCloudIamDetector",  # any word of 44 letters after "pass:"
    "JwtTokenDetector", "PrivateKeyDetector",  # these two match a part only; the rules above take the whole
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeptRule:
    """A pattern of detect-secrets."""

    kind: str
    pattern: re.Pattern[str]


@lru_cache(maxsize=1)
def kept_rules() -> tuple[KeptRule, ...]:
    """The patterns of the installed detect-secrets."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector

    found = []
    classes: dict[str, Any] = dict(get_mapping_from_secret_type_to_class())
    for kind, made in classes.items():
        if issubclass(made, RegexBasedDetector) and made.__name__ not in _KEPT_SKIPPED:
            label = re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-")
            found += [KeptRule(label, pattern) for pattern in made().denylist]
    return tuple(found)


# -- what a text must hold ---------------------------------------------------------------------------------------------

_DENSE = re.compile(r"[-A-Za-z0-9_+/=\\]{20,}")  # what long secrets of these patterns are made of
_LONG_RUN = 20
_FEW = 3  # sets of words that are asked for: the most telling


@dataclass(frozen=True, slots=True)
class Need:
    """Of each set of words (in small letters) one must stand in the text, and a run of characters that `run` finds."""

    words: tuple[tuple[str, ...], ...]
    run: re.Pattern[str] | None

    def may_match(self, small: str, long_runs: str) -> bool:
        """Whether the pattern may match the text whose small letters and `long_runs` these are."""
        for words in self.words:
            for word in words:
                if word in small:
                    break
            else:
                return False
        return self.run is None or self.run.search(long_runs) is not None


def long_runs(text: str) -> str:
    """The long runs in a text of what keys are made of, one a line."""
    return "\n".join(_DENSE.findall(text))


def need_of(pattern: re.Pattern[str]) -> Need:
    """What a text must hold for the pattern to match; nothing where that cannot be told."""
    try:
        from re import _parser  # type: ignore[attr-defined]
    except ImportError:  # the standard library keeps its parser to itself and may move it
        return Need((), None)
    words: list[frozenset[str]] = []
    runs: list[tuple[int, str]] = []
    _gather(_parser.parse(pattern.pattern, pattern.flags), words, runs)
    best = max(runs, default=None)
    run = None if best is None else re.compile(f"[{best[1]}]{{{best[0]}}}", pattern.flags & re.IGNORECASE)
    telling = sorted({w for w in words if w}, key=lambda w: (-min(map(len, w)), len(w), sorted(w)))
    return Need(tuple(tuple(sorted(w)) for w in telling[:_FEW]), run)


def _gather(items: Any, words: list[frozenset[str]], runs: list[tuple[int, str]]) -> None:
    """Adds the words and long runs that a sequence of a parsed pattern cannot do without."""
    run = ""
    for kind, value in [*items, ("END", None)]:
        name = str(kind)
        if name == "LITERAL":
            run += chr(value).lower()
            continue
        if run:
            words.append(frozenset({run}))
            run = ""
        if name == "SUBPATTERN":
            _gather(value[-1], words, runs)
        elif name == "BRANCH":
            words.append(_of_any(value[1]))
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and value[0] > 0:
            inner = list(value[2])
            if value[0] >= _LONG_RUN and len(inner) == 1 and str(inner[0][0]) == "IN":
                characters = _characters(inner[0][1])
                if characters:
                    runs.append((value[0], characters))
            else:
                _gather(inner, words, runs)


def _of_any(ways: Any) -> frozenset[str]:
    """A word of each way, the longest that it needs; none where a way needs no word."""
    found: set[str] = set()
    for way in ways:
        words: list[frozenset[str]] = []
        _gather(way, words, [])
        best = max(filter(None, words), key=lambda s: min(map(len, s)), default=None)
        if best is None:
            return frozenset()
        found |= best
    return frozenset(found)


def _characters(items: Any) -> str:
    """The inside of a class as it was parsed; "" where it holds what `_DENSE` does not."""
    parts = []
    for kind, value in items:
        name = str(kind)
        if name == "LITERAL" and (chr(value) in "-_+/=\\" or chr(value).isalnum()):
            parts.append(re.escape(chr(value)))
        elif name == "RANGE" and chr(value[0]).isalnum() and chr(value[1]).isalnum() and value[1] < 128:
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        elif str(value) == "CATEGORY_DIGIT":
            parts.append("0-9")
        else:
            return ""
    return "".join(parts)
