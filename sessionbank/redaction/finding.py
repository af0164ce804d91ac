"""Where in a text there is what should not leave: each rule tried where its anchor stands.

Rules are in `rules`, `prefixes`, `kept` and `places`; which of many texts are worth a look is told by `gates`; what is put in
place of what was found is `passes`' work.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from sessionbank.redaction import rules
from sessionbank.redaction.kept import KeptRule, Need, kept_rules, long_runs, need_of
from sessionbank.redaction.places import Found, addresses, begins_word, is_person, users

NAMES = frozenset({"user", "person", "name"})  # kinds whose values are words that stand in paths and text
SPREAD_FROM = 8  # a shorter value is replaced only where its context tells


def find(text: str, groups: frozenset[str]) -> Iterator[Found]:
    """What should not leave a text, by those groups of rules (see `gates.GROUPS`); spans may overlap."""
    if "exact" in groups:
        for anchor, rule in _EXACT:
            if anchor in text:
                yield from _of_rule(text, text, rule)
    if "folded" in groups or "kept" in groups:
        small = folded(text)
        if "folded" in groups:
            for anchor, rule in _FOLDED:
                if anchor in small:
                    yield from _of_rule(text, small, rule)
        if "kept" in groups:
            runs = long_runs(text)
            for need, kept in _kept():
                if need.may_match(small, runs):
                    for match in kept.pattern.finditer(text):
                        yield Found(*_kept_span(match), kept.kind)
    if "addresses" in groups:
        yield from addresses(text)
    if "homes" in groups:
        yield from users(text)


_EXACT = tuple((r.anchor, r) for r in rules.EXACT)
_FOLDED = tuple((r.anchor, r) for r in rules.FOLDED)


@lru_cache(maxsize=1)
def _kept() -> tuple[tuple[Need, KeptRule], ...]:
    return tuple((need_of(k.pattern), k) for k in kept_rules())


def disjoint(spans: Iterable[Found]) -> list[Found]:
    """Overlapping spans as one, of the kind of the first and longest."""
    merged: list[Found] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if merged and span.start < merged[-1].end:
            if span.end > merged[-1].end:
                merged[-1] = Found(merged[-1].start, span.end, merged[-1].kind)
        else:
            merged.append(span)
    return merged


def folded(text: str) -> str:
    """The text in small letters, each at its place: a few letters become two when made small."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(c.lower() if c.isascii() else c for c in text)


_SECRET_PART = re.compile(r"[^\s\"'`\\]+")


def _kept_span(match: re.Match[str]) -> tuple[int, int]:
    """The secret in a match of detect-secrets: some of its patterns run on past quotes, which would break JSON."""
    group = 1 if match.lastindex == 1 and match[1] is not None and len(match[1]) >= SPREAD_FROM else 0
    parts = list(_SECRET_PART.finditer(match.string, *match.span(group)))
    return max((p.span() for p in parts), key=lambda p: p[1] - p[0]) if parts else match.span(group)


def _of_rule(text: str, sought: str, rule: Any) -> Iterator[Found]:
    anchor = rule.anchor
    at = sought.find(anchor)
    while at >= 0:
        step = at + len(anchor)
        if not rule.is_bounded or begins_word(text, at):
            match = rule.pattern.match(text, at)
            if match and (rule.check is None or rule.check(match)):
                start, end = _span(match)
                if rule.kind == "telegram-token":  # the bot's number before it is part of the token
                    while start and text[start - 1].isdigit():
                        start -= 1
                elif rule.kind == "azure-secret":
                    start = max(0, start - 3)
                if end > start and (rule.kind not in NAMES or is_person(text[start:end])):
                    yield Found(start, end, rule.kind)
                    step = max(step, end)
        at = sought.find(anchor, step)


def _span(match: re.Match[str]) -> tuple[int, int]:
    for name in ("v", "quoted", "bare"):
        if name in match.re.groupindex and match[name] is not None:
            if name == "v" and match.re.pattern.startswith("sk-"):
                return match.span()
            return match.span(name)
    return match.span()
