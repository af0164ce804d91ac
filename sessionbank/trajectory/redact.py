"""Takes out of trajectories what should not leave: secrets, addresses, names of people; each becomes a placeholder.

A value has one placeholder wherever it stands, so that structure survives: ``[REDACTED:github-token:1]``, and in paths
``redacted_user_1``. What was found once is replaced everywhere in the same trajectory, also where nothing around it
tells what it is. A report says what was replaced where, never with what it was. Rules are in `secret_rules` and
`places`. No rule finds everything: look at the report, and at the file, before it leaves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any

from sessionbank.trajectory import gates, secret_rules
from sessionbank.trajectory.model import Outcome, Reply, Step, Task, Trajectory, Turn
from sessionbank.trajectory.places import Found, addresses, begins_word, is_person, users

if TYPE_CHECKING:
    import pandas as pd

NAMES = frozenset({"user", "person", "name"})  # kinds whose values are words that stand in paths and text
_SPREAD_FROM = 8  # a shorter value is replaced only where its context tells
_SHORTEST_NAME = 3  # the same, for names
_FEW = 20_000  # so few characters are not worth making gates for
_SHORTEST = 4  # shorter texts hold nothing
_PARTS = frozenset({Trajectory, Task, Step, Reply, Turn, Outcome})
REPORT_COLUMNS = ("trajectory_id", "field", "kind", "placeholder", "count", "first_step")


class Redactor:
    """Replaces what should not leave by placeholders that stay the same for as long as the object lives.

    `names` are words to take out in any case: user names, hosts, customers. One object serves many trajectories; what
    it remembers grows with the number of different secrets, not with that of trajectories.
    """

    def __init__(self, *, names: Iterable[str] = ()) -> None:
        self._placeholders: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._given = {n: "name" for n in names if n}
        self._report: dict[tuple[str, str, str, str], list[int]] = {}

    # -- what it is asked ------------------------------------------------------------------------------------------

    def trajectory(self, trajectory: Trajectory) -> Trajectory:
        """The trajectory, its subagents too, without what should not leave."""
        done: Trajectory = _replaced(trajectory, _Pass(self, _texts(trajectory)), _Where(trajectory.id))
        return done

    def text(self, text: str) -> str:
        """One text without what should not leave; for labels, log lines and views."""
        return _Pass(self, [text]).clean(text, _Where(""))

    def json(self, value: Any, *, place: str) -> Any:
        """A JSON value (objects, lists, texts) without what should not leave; `place` names it in the report."""
        return _replaced(value, _Pass(self, _texts(value)), _Where(place))

    def report(self) -> pd.DataFrame:
        """What was replaced where: trajectory_id, field, kind, placeholder, count (places), first_step (or missing)."""
        import pandas as pd

        rows = [(*key, count, step if step >= 0 else None) for key, (count, step) in self._report.items()]
        frame = pd.DataFrame(rows, columns=list(REPORT_COLUMNS))
        kinds = dict.fromkeys(REPORT_COLUMNS[:4], "str") | dict.fromkeys(REPORT_COLUMNS[4:], "Int64")
        return frame.astype(kinds)

    # -- what a pass over one trajectory asks --------------------------------------------------------------------------

    def placeholder(self, kind: str, value: str) -> str:
        """The stand-in of a value, made when first asked."""
        key = (kind, value.lower() if kind in NAMES or kind == "email" else value)
        found = self._placeholders.get(key)
        if found is None:
            number = self._counts[kind] = self._counts.get(kind, 0) + 1
            found = f"redacted_{kind}_{number}" if kind in NAMES else f"[REDACTED:{kind}:{number}]"
            self._placeholders[key] = found
        return found

    def given(self) -> Mapping[str, str]:
        """The names that the caller gave, with their kind."""
        return self._given

    def note(self, where: _Where, kind: str, placeholder: str) -> None:
        """Adds one replacement to the report."""
        row = self._report.setdefault((where.trajectory, where.field, kind, placeholder), [0, where.step])
        row[0] += 1


class _Where:
    """The place that is being cleaned, for the report."""

    __slots__ = ("field", "step", "trajectory")

    def __init__(self, trajectory: str) -> None:
        self.trajectory, self.field, self.step = trajectory, "", -1


class _Pass:
    """One trajectory: first all texts are looked at, then each is cleaned of all that was found in any."""

    def __init__(self, redactor: Redactor, texts: Iterable[str]) -> None:
        self._redactor = redactor
        self._spread: dict[
            str, str
        ] = {}  # value (names in small letters) -> kind, to be replaced wherever it stands
        self._cleaned: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {}
        unique = [t for t in dict.fromkeys(texts) if len(t) >= _SHORTEST]
        if not unique:
            return
        found = {t: _disjoint(find(t, groups)) for t, groups in _worth_a_look(unique) if groups}
        for text, spans in found.items():
            self._remember(text, spans)
        self._spread |= {n.lower(): k for n, k in redactor.given().items()}
        again = set(found)
        if self._spread:
            again.update(_holding(unique, self._spread))
        for text in unique:  # in the order of the transcript, so that placeholders are numbered in it
            if text in again:
                done = self._clean(text, found.get(text, ()))
                if done[1]:
                    self._cleaned[text] = done

    def _remember(self, text: str, spans: Iterable[Found]) -> None:
        for start, end, kind in spans:
            value = text[start:end]
            if kind in NAMES:
                if len(value) >= _SHORTEST_NAME:
                    self._spread[value.lower()] = kind
            elif (
                kind != "email"
                and len(value) >= _SPREAD_FROM
                and "\n" not in value
                and any(c.isdigit() for c in value)
            ):
                self._spread[value] = kind

    def changes(self, text: str) -> bool:
        """Whether anything in the text is replaced."""
        return text in self._cleaned

    def clean(self, text: str, where: _Where) -> str:
        """The text with placeholders."""
        done = self._cleaned.get(text)
        if done is None:
            return text
        for kind, placeholder in done[1]:
            self._redactor.note(where, kind, placeholder)
        return done[0]

    def _clean(self, text: str, spans: Iterable[Found]) -> tuple[str, tuple[tuple[str, str], ...]]:
        parts: list[str] = []
        noted: list[tuple[str, str]] = []
        at = 0
        for start, end, kind in _disjoint([*spans, *self._everywhere(text)]):
            placeholder = self._redactor.placeholder(kind, text[start:end])
            parts += [text[at:start], placeholder]
            noted.append((kind, placeholder))
            at = end
        return "".join((*parts, text[at:])), tuple(noted)

    def _everywhere(self, text: str) -> Iterator[Found]:
        folded = _folded(text)
        for value, kind in self._spread.items():
            is_name = kind in NAMES
            sought = folded if is_name else text
            at = sought.find(value)
            while at >= 0:
                end = at + len(value)
                after = text[end : end + 1]
                if not is_name or (begins_word(text, at) and not (after.isalnum() or after == "_")):
                    yield Found(at, end, kind)
                at = sought.find(value, end)


# -- finding -----------------------------------------------------------------------------------------------------


def find(text: str, groups: frozenset[str]) -> Iterator[Found]:
    """What should not leave a text, by those groups of rules (see `gates`); spans may overlap."""
    if "exact" in groups:
        for rule in secret_rules.EXACT:
            if rule.anchor in text:
                yield from _of_rule(text, text, rule)
    if "folded" in groups:
        folded = _folded(text)
        for rule in secret_rules.FOLDED:
            if rule.anchor in folded:
                yield from _of_rule(text, folded, rule)
    if "kept" in groups:
        for kept in secret_rules.kept_rules():
            for match in kept.pattern.finditer(text):
                yield Found(*_kept_span(match), kept.kind)
    if "addresses" in groups:
        yield from addresses(text)
    if "homes" in groups:
        yield from users(text)


def _worth_a_look(texts: list[str]) -> Iterable[tuple[str, frozenset[str]]]:
    """Each text with the groups of rules that may find something in it; of few texts all groups, which is quicker."""
    if sum(map(len, texts)) < _FEW:
        return ((t, gates.GROUPS) for t in texts)
    return zip(texts, gates.worth_a_look(gates.array(texts)), strict=True)


def _holding(texts: list[str], words: Mapping[str, str]) -> Iterator[str]:
    if sum(map(len, texts)) < _FEW:
        folded = [w.lower() for w in words]
        yield from (t for t in texts if any(w in t.lower() for w in folded))
    else:
        yield from (t for t, has in zip(texts, gates.holding(gates.array(texts), words), strict=True) if has)


def _folded(text: str) -> str:
    """The text in small letters, each at its place: a few letters become two when made small."""
    folded = text.lower()
    return folded if len(folded) == len(text) else "".join(c.lower() if c.isascii() else c for c in text)


_SECRET_PART = re.compile(r"[^\s\"'`\\]+")


def _kept_span(match: re.Match[str]) -> tuple[int, int]:
    """The secret in a match of detect-secrets: some of its patterns run on past quotes, which would break JSON."""
    group = 1 if match.lastindex == 1 and match[1] is not None and len(match[1]) >= _SPREAD_FROM else 0
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


def _disjoint(spans: Iterable[Found]) -> list[Found]:
    """Overlapping spans as one, of the kind of the first and longest."""
    merged: list[Found] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if merged and span.start < merged[-1].end:
            if span.end > merged[-1].end:
                merged[-1] = Found(merged[-1].start, span.end, merged[-1].kind)
        else:
            merged.append(span)
    return merged


# -- every text of a trajectory ----------------------------------------------------------------------------------

_PLAIN = frozenset({"int", "float", "bool", "datetime"})  # fields of these hold no text


def _reader(kind: type[Any]) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    """Names of the fields that may hold text, and a function that reads them all."""
    names = tuple(f.name for f in fields(kind) if str(f.type).split(" |")[0] not in _PLAIN)
    return names, attrgetter(*names)


_READERS = {kind: _reader(kind) for kind in _PARTS}


def _texts(value: Any) -> Iterator[str]:
    """Every text in a trajectory."""
    stack = [value]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is str:
            yield item
        elif kind is tuple or kind is list:
            stack.extend(reversed(item))
        elif kind in _PARTS:
            stack.extend(reversed(_READERS[kind][1](item)))
        elif isinstance(item, Mapping):
            stack.extend(item.keys())
            stack.extend(item.values())


def _replaced(value: Any, pass_: _Pass, where: _Where) -> Any:
    """The value with its texts cleaned; itself where nothing changed."""
    kind = type(value)
    if kind is str:
        return pass_.clean(value, where)
    if kind is tuple or kind is list:
        items = [_replaced(v, pass_, where) for v in value]
        return value if all(map(is_, items, value)) else kind(items)
    if kind in _PARTS:
        return _replaced_part(value, pass_, where)
    if isinstance(value, Mapping):
        found = {_replaced(k, pass_, where): _replaced(v, pass_, where) for k, v in value.items()}
        return value if found == value else found
    return value


def _replaced_part(value: Any, pass_: _Pass, where: _Where) -> Any:
    kind = type(value)
    names, read = _READERS[kind]
    outer = where.trajectory, where.step, where.field
    if kind is Trajectory:
        where.trajectory, where.step = value.id, -1
    elif kind is Step:
        where.step = value.step
    prefix = kind.__name__.lower()
    new = {}
    for name, old in zip(names, read(value), strict=True):
        if old is None or (type(old) is str and not pass_.changes(old)):
            continue
        where.field = f"{prefix}.{name}"
        changed = _replaced(old, pass_, where)
        if changed is not old:
            new[name] = changed
    where.trajectory, where.step, where.field = outer
    return replace(value, **new) if new else value
