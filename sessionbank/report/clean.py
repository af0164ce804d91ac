"""Text out of transcripts as the report may show it: without secrets, control and direction characters; not escaped.

A report has placeholders of its own, so that the same bank gives the same report whatever was shown before.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from sessionbank.redaction.passes import Pass, Placeholders

if TYPE_CHECKING:
    import pandas as pd

_LOOKED_AT = 4096  # characters: more of a text is never shown


class Clean:
    """Cleans texts for one report."""

    def __init__(self, *, redact: bool) -> None:
        self._placeholders = Placeholders() if redact else None

    def texts(self, given: Iterable[Any]) -> list[str | None]:
        """Each text without what should not be shown; missing stays missing."""
        cut = [t[:_LOOKED_AT] if isinstance(t, str) else None for t in given]
        if self._placeholders is not None:
            known = Pass(self._placeholders, [t for t in cut if t])
            cut = [known.text(t) if t else t for t in cut]
        return [None if t is None else printable(t) for t in cut]

    def column(self, column: pd.Series) -> pd.Series:
        """The same of a column."""
        import pandas as pd

        each = column.drop_duplicates()
        done = dict(zip(each, self.texts(each), strict=True))
        return pd.Series(
            [done.get(t) if isinstance(t, str) else None for t in column], column.index, dtype="str"
        )


def printable(text: str) -> str:
    """The text on one line; what could move or hide words becomes a replacement character."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))
