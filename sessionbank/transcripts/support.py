"""The support matrix: what each agent's transcripts record, read from ``support.yaml``, and its page.

Columns that metadata and git give for every agent alike (checkpoints, commits and the like) are not in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

_MARKS = {"recorded": "●", "inferred": "○", "absent": "–"}


class Cell(NamedTuple):
    """What is known of one column of one agent."""

    table: str
    column: str
    agent: str
    state: str  # recorded | inferred | absent
    source: str | None  # the field it is read from, or the rule it is worked out by; None where absent
    is_seen: bool  # whether the sample data holds one; False of what is absent


@cache
def _matrix() -> dict[str, Any]:
    import yaml

    text = resources.files("sessionbank.transcripts").joinpath("support.yaml").read_text(encoding="utf-8")
    matrix = yaml.safe_load(text)
    assert isinstance(matrix, dict)
    return matrix


def agents() -> tuple[str, ...]:
    """The agents of the matrix, in the order of its columns."""
    return tuple(_matrix()["agents"])


def support() -> tuple[Cell, ...]:
    """Every cell of the matrix: tables, then columns, then agents, in the order of the file."""
    return tuple(
        _cell(table, column, agent)
        for table, columns in _matrix()["columns"].items()
        for column in columns
        for agent in agents()
    )


def _cell(table: str, column: str, agent: str) -> Cell:
    matrix = _matrix()
    entry = matrix["columns"][table][column]
    nothing = Cell(table, column, agent, "absent", None, False)
    if agent in matrix["rows"].get(table, {}).get("none", ()):
        return nothing
    own = entry.get(agent, entry.get("every"))
    if own is None and "from" in entry:
        base_table, _, base_column = entry["from"].partition(".")
        base = _cell(base_table, base_column, agent)
        return base._replace(table=table, column=column, source=base.source and entry["from"])
    if own is None or own == "absent":
        return nothing
    state = next(s for s in ("recorded", "inferred") if s in own)
    return Cell(table, column, agent, state, own[state], own.get("seen", True))


def support_markdown() -> str:
    """The matrix as a Markdown page: a table a table, then where each agent's columns are read from."""
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    names = agents()
    yield "# What each agent records"
    yield ""
    yield (
        f"{_MARKS['recorded']} recorded, {_MARKS['inferred']} inferred, {_MARKS['absent']} absent; in brackets: read,"
        " but in no sample that we have. Made from `sessionbank/transcripts/support.yaml`."
    )
    yield ""
    yield from (f"- **{agent}**: {note}" for agent, note in _matrix()["notes"].items())
    cells = support()
    for table in _matrix()["columns"]:
        yield from ("", f"## {table}", "", f"| column | {' | '.join(names)} |", f"|---|{'---|' * len(names)}")
        rows: dict[str, list[str]] = {}
        for cell in cells:
            if cell.table == table:
                mark = _MARKS[cell.state]
                rows.setdefault(cell.column, []).append(
                    f"({mark})" if cell.source and not cell.is_seen else mark
                )
        yield from (f"| {column} | {' | '.join(marks)} |" for column, marks in rows.items())
    for agent in names:
        yield from ("", f"## Where {agent} says it", "", "| column | state | from |", "|---|---|---|")
        for cell in cells:
            if cell.agent == agent and cell.source is not None:
                yield f"| {cell.table}.{cell.column} | {cell.state} | {cell.source.replace('|', '/')} |"
