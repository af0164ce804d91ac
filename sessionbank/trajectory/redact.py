"""Takes out of trajectories what should not leave: secrets, addresses, names of people; each becomes a placeholder.

What is found once is replaced everywhere in the same trajectory, also where nothing around it tells what it is. A
report says what was replaced where, never with what it was. Texts are cleaned in room `redaction`; here are the parts
of a trajectory and the report. No rule finds everything: look at the report, and at the file, before it leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any

from sessionbank.redaction.passes import Groups, Pass, Placeholders, worth_a_look
from sessionbank.trajectory.model import Outcome, Reply, Step, Task, Trajectory, Turn

if TYPE_CHECKING:
    import pandas as pd

_PARTS = frozenset({Trajectory, Task, Step, Reply, Turn, Outcome})
_AT_ONCE = (
    4_000_000  # characters of trajectories that are looked at together: each look has a price of its own
)
REPORT_COLUMNS = ("trajectory_id", "field", "kind", "placeholder", "count", "first_step")


class Redactor:
    """Replaces what should not leave by placeholders that stay the same for as long as the object lives.

    `names` are words to take out in any case: user names, hosts, customers. One object serves many trajectories; what
    it remembers grows with the number of different secrets, not with that of trajectories.

    Example:
        >>> from sessionbank.trajectory import Redactor
        >>> Redactor(names=["Acme"]).text("DB_PASSWORD=kT7vQ2mXw9 of acme in /home/mkowalczyk")
        'DB_PASSWORD=[REDACTED:password:1] of redacted_name_1 in /home/redacted_user_1'
    """

    def __init__(self, *, names: Iterable[str] = ()) -> None:
        self._placeholders = Placeholders()
        self._given = {n: "name" for n in names if n}
        self._report: dict[tuple[str, str, str, str], list[int]] = {}

    def trajectory(self, trajectory: Trajectory) -> Trajectory:
        """The trajectory, its subagents too, without what should not leave."""
        return self._one(trajectory, list(_texts(trajectory)), None)

    def trajectories(self, trajectories: Iterable[Trajectory]) -> Iterator[Trajectory]:
        """Each trajectory as `trajectory` gives it, in order; quicker, since a few are looked at together."""
        held: list[tuple[Trajectory, list[str]]] = []
        size = 0
        for item in trajectories:
            texts = list(dict.fromkeys(_texts(item)))
            held.append((item, texts))
            size += sum(map(len, texts))
            if size >= _AT_ONCE:
                yield from self._several(held)
                held, size = [], 0
        yield from self._several(held)

    def text(self, text: str) -> str:
        """One text without what should not leave."""
        done: str = self.json(text, place="")
        return done

    def json(self, value: Any, *, place: str) -> Any:
        """A JSON value (objects, lists, texts) without what should not leave; `place` names it in the report."""
        return _replaced(value, self._pass(_texts(value), None), _Where(place))

    def report(self) -> pd.DataFrame:
        """What was replaced where: trajectory_id, field, kind, placeholder, count (places), first_step (or missing)."""
        import pandas as pd

        rows = [(*key, count, step if step >= 0 else None) for key, (count, step) in self._report.items()]
        frame = pd.DataFrame(rows, columns=list(REPORT_COLUMNS))
        kinds = dict.fromkeys(REPORT_COLUMNS[:4], "str") | dict.fromkeys(REPORT_COLUMNS[4:], "Int64")
        return frame.astype(kinds)

    def _several(self, held: list[tuple[Trajectory, list[str]]]) -> Iterator[Trajectory]:
        if held:
            looked = worth_a_look(t for _, texts in held for t in texts)
            for item, texts in held:
                yield self._one(item, texts, looked)

    def _one(self, trajectory: Trajectory, texts: list[str], looked: Groups | None) -> Trajectory:
        done: Trajectory = _replaced(trajectory, self._pass(texts, looked), _Where(trajectory.id))
        return done

    def _pass(self, texts: Iterable[str], looked: Groups | None) -> _Noting:
        return _Noting(Pass(self._placeholders, texts, names=self._given, looked=looked), self._report)


class _Where:
    """The place that is being cleaned, for the report."""

    __slots__ = ("field", "step", "trajectory")

    def __init__(self, trajectory: str) -> None:
        self.trajectory, self.field, self.step = trajectory, "", -1


class _Noting:
    """The cleaned texts of a pass; each place where one is used goes into the report."""

    __slots__ = ("_report", "cleaned")

    def __init__(self, done: Pass, report: dict[tuple[str, str, str, str], list[int]]) -> None:
        self.cleaned = done.cleaned
        self._report = report

    def clean(self, text: str, where: _Where) -> str:
        """The text with placeholders."""
        done = self.cleaned.get(text)
        if done is None:
            return text
        for kind, placeholder in done[1]:
            key = (where.trajectory, where.field, kind, placeholder)
            self._report.setdefault(key, [0, where.step])[0] += 1
        return done[0]


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


def _replaced(value: Any, pass_: _Noting, where: _Where) -> Any:
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


def _replaced_part(value: Any, pass_: _Noting, where: _Where) -> Any:
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
        if old is None or (type(old) is str and old not in pass_.cleaned):
            continue
        where.field = f"{prefix}.{name}"
        changed = _replaced(old, pass_, where)
        if changed is not old:
            new[name] = changed
    where.trajectory, where.step, where.field = outer
    return replace(value, **new) if new else value
