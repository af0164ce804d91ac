"""The two classes that a table is described with: `Field` (a column) and `Table`. No table is described here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """A column: its name, type (str, int, bool, float, time), meaning, unit, when it is missing, and origin."""

    name: str
    type: str
    meaning: str
    unit: str | None = None
    missing: str = "when not recorded"
    origin: str = "transcript"


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its name, what one row is, and its fields in order."""

    name: str
    row: str
    fields: tuple[Field, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(f.name for f in self.fields)
