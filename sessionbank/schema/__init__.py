"""What every column of every table means, once.

`TABLES` holds each table as a list of fields: name, Arrow type, unit, meaning, when it is missing, where it comes
from. From it come the Arrow schema, the empty typed frame, the dtypes of pandas frames, the documentation page and the
validator. Not here: how a value is worked out (that is `transcripts`, `tables`, `team`).
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

from sessionbank.errors import QueryError
from sessionbank.schema.behind import BEHIND
from sessionbank.schema.fields import Field, Table
from sessionbank.schema.spoken import SPOKEN
from sessionbank.schema.stored import STORED
from sessionbank.schema.worked_out import WORKED_OUT

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = [
    "TABLES", "Field", "Table", "arrow_schema", "arrow_table", "empty_frame", "frame", "markdown", "problems", "table",
]  # fmt: skip

TABLES: dict[str, Table] = {t.name: t for t in (*STORED, *SPOKEN, *WORKED_OUT)}


_ALL = {**TABLES, **{t.name: t for t in BEHIND}}


def table(name: str) -> Table:
    """The table of that name.

    Raises `QueryError` with the names that exist.
    """
    try:
        return _ALL[name]
    except KeyError:
        raise QueryError(f"no table {name!r}; tables are: {', '.join(TABLES)}") from None


def _arrow_type(kind: str) -> pa.DataType:
    import pyarrow as pa

    return {
        "str": pa.large_string(),
        "int": pa.int64(),
        "bool": pa.bool_(),
        "float": pa.float64(),
        "time": pa.timestamp("us", tz="UTC"),
    }[kind]


@cache
def arrow_schema(name: str) -> pa.Schema:
    """The Arrow schema of a table: large strings, int64, bool, float64, timestamps in microseconds UTC."""
    import pyarrow as pa

    return pa.schema([pa.field(f.name, _arrow_type(f.type)) for f in table(name).fields])


def arrow_table(name: str, rows: list[tuple[Any, ...]]) -> pa.Table:
    """Rows (tuples in column order) as an Arrow table of the schema."""
    import pyarrow as pa

    schema = arrow_schema(name)
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return pa.Table.from_arrays(
        [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema
    )


def frame(arrow: pa.Table) -> pd.DataFrame:
    """An Arrow table as a pandas frame: str, nullable Int64, nullable boolean, float64, datetime64[us, UTC]."""
    import pandas as pd
    import pyarrow as pa

    mapped = {
        pa.int64(): pd.Int64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
        pa.large_string(): pd.StringDtype("pyarrow", na_value=float("nan")),
    }
    return arrow.to_pandas(types_mapper=mapped.get)


def empty_frame(name: str) -> pd.DataFrame:
    """A frame of the table with no rows and the right dtypes."""
    return frame(arrow_schema(name).empty_table())


def problems(name: str, arrow: pa.Table) -> list[str]:
    """What keeps an Arrow table from being of the table's schema; an empty list when nothing does."""
    want = {f.name: f for f in arrow_schema(name)}
    have = {f.name: f for f in arrow.schema}
    found = [f"column {c!r} is missing" for c in want if c not in have]
    found += [f"column {c!r} is not in the schema" for c in have if c not in want]
    for column, f in want.items():
        if column in have and have[column].type != f.type:
            found.append(f"column {column!r} is {have[column].type}, not {f.type}")
    for f in table(name).fields:
        if f.missing == "never" and f.name in have and arrow.column(f.name).null_count:
            found.append(
                f"column {f.name!r} is missing in {arrow.column(f.name).null_count} rows and may never be"
            )
    return found


@cache
def fingerprint() -> str:
    """Changes whenever a column of any table comes, goes, or changes its type."""
    return hashlib.sha256(
        repr([(t.name, [(f.name, f.type) for f in t.fields]) for t in _ALL.values()]).encode()
    ).hexdigest()


def markdown(name: str | None = None) -> str:
    """The documentation page of one table, or of all: a heading, what a row is, and a line a column."""
    parts = []
    for t in TABLES.values() if name is None else (table(name),):
        parts += [
            f"## {t.name}\n",
            f"{t.row}\n",
            "| column | type | unit | meaning | missing | from |",
            "|---|---|---|---|---|---|",
        ]
        parts += [
            f"| {f.name} | {f.type} | {f.unit or ''} | {f.meaning} | {f.missing} | {f.origin} |"
            for f in t.fields
        ]
        parts.append("")
    return "\n".join(parts)
