"""Texts without what should not leave: placeholders that stay the same, and a pass over texts that belong together.

A value has one placeholder wherever it stands, so that structure survives: ``[REDACTED:github-token:1]``, and in paths
``redacted_user_1``. What one text of a pass tells is taken out of all of them. What is found is `finding`'s work; where
the texts come from and go to is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sessionbank.redaction import gates
from sessionbank.redaction.finding import NAMES, SPREAD_FROM, disjoint, find, folded
from sessionbank.redaction.places import Found, begins_word

SHORTEST = 4  # shorter texts hold nothing
_SHORTEST_NAME = 3  # a shorter name is replaced only where its context tells
_FEW = 30_000  # so few characters are not worth making gates for

Cleaned = tuple[str, tuple[tuple[str, str], ...]]  # the text, and (kind, placeholder) of each place
Groups = Mapping[
    str, frozenset[str]
]  # text -> groups of rules that may find something; other texts have none


class Placeholders:
    """The stand-in of each value; what it remembers grows with the number of different secrets, not of texts."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}

    def of(self, kind: str, value: str) -> str:
        """The stand-in of a value, made when first asked."""
        key = (kind, value.lower() if kind in NAMES or kind == "email" else value)
        found = self._made.get(key)
        if found is None:
            number = self._counts[kind] = self._counts.get(kind, 0) + 1
            found = f"redacted_{kind}_{number}" if kind in NAMES else f"[REDACTED:{kind}:{number}]"
            self._made[key] = found
        return found


class Pass:
    """Texts that belong together: first all are looked at, then each is cleaned of all that was found in any.

    `names` (word -> kind) are taken out in any case. `looked` says which rules may find something in which text, where
    that was asked of many texts at once (`worth_a_look`).
    """

    def __init__(
        self, placeholders: Placeholders, texts: Iterable[str], *, names: Mapping[str, str] | None = None,
        looked: Groups | None = None,
    ) -> None:  # fmt: skip
        self._placeholders = placeholders
        self._spread: dict[
            str, str
        ] = {}  # value (names in small letters) -> kind, replaced wherever it stands
        self.cleaned: dict[str, Cleaned] = {}  # only texts that change
        unique = [t for t in dict.fromkeys(texts) if len(t) >= SHORTEST]
        if not unique:
            return
        groups = worth_a_look(unique) if looked is None else looked
        found = {t: disjoint(find(t, groups[t])) for t in unique if t in groups}
        for text, spans in found.items():
            self._remember(text, spans)
        self._spread |= {n.lower(): k for n, k in (names or {}).items()}
        again = {t for t, spans in found.items() if spans}
        if self._spread:
            again.update(_holding(unique, self._spread))
        for text in unique:  # in the order given, so that placeholders are numbered in it
            if text in again:
                done = self._clean(text, found.get(text, ()))
                if done[1]:
                    self.cleaned[text] = done

    def text(self, text: str) -> str:
        """The text with placeholders."""
        done = self.cleaned.get(text)
        return text if done is None else done[0]

    def _remember(self, text: str, spans: Iterable[Found]) -> None:
        for start, end, kind in spans:
            value = text[start:end]
            if kind in NAMES:
                if len(value) >= _SHORTEST_NAME:
                    self._spread[value.lower()] = kind
            elif (
                kind != "email"
                and len(value) >= SPREAD_FROM
                and "\n" not in value
                and any(c.isdigit() for c in value)
            ):
                self._spread[value] = kind

    def _clean(self, text: str, spans: Iterable[Found]) -> Cleaned:
        parts: list[str] = []
        noted: list[tuple[str, str]] = []
        at = 0
        for start, end, kind in disjoint([*spans, *self._everywhere(text)]):
            placeholder = self._placeholders.of(kind, text[start:end])
            parts += [text[at:start], placeholder]
            noted.append((kind, placeholder))
            at = end
        return "".join((*parts, text[at:])), tuple(noted)

    def _everywhere(self, text: str) -> Iterator[Found]:
        small = folded(text)
        for value, kind in self._spread.items():
            is_name = kind in NAMES
            sought = small if is_name else text
            at = sought.find(value)
            while at >= 0:
                end = at + len(value)
                after = text[end : end + 1]
                if not is_name or (begins_word(text, at) and not (after.isalnum() or after == "_")):
                    yield Found(at, end, kind)
                at = sought.find(value, end)


def worth_a_look(texts: Iterable[str]) -> Groups:
    """The texts that may hold something, each with the groups of rules to try; of few texts all, which is quicker."""
    unique = [t for t in dict.fromkeys(texts) if len(t) >= SHORTEST]
    if sum(map(len, unique)) < _FEW:
        return dict.fromkeys(unique, gates.GROUPS)
    looked = gates.worth_a_look(gates.array(unique))
    return {t: groups for t, groups in zip(unique, looked, strict=True) if groups}


def _holding(texts: list[str], words: Mapping[str, str]) -> Iterator[str]:
    if sum(map(len, texts)) < _FEW:
        small = [w.lower() for w in words]
        yield from (t for t in texts if any(w in t.lower() for w in small))
    else:
        yield from (t for t, has in zip(texts, gates.holding(gates.array(texts), words), strict=True) if has)
