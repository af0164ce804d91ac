"""HTML of a report, built from values: every value is escaped, unless it is `Markup` of ours. Tables, figures, sections.

Nothing is known here of banks; styles are in `look`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

NOT_KNOWN = "–"


class Markup(str):
    """HTML that we wrote; any other text is escaped."""

    __slots__ = ()


def html(value: Any) -> str:
    """A value as HTML: what is missing is a dash, never 0."""
    if isinstance(value, Markup):
        return value
    return NOT_KNOWN if is_missing(value) else escape(str(value))


def is_missing(value: Any) -> bool:
    """Whether a value of a frame is missing."""
    if value is None:
        return True
    import pandas as pd

    return bool(pd.isna(value))


def joined(*parts: Any) -> Markup:
    """Parts as one piece of HTML."""
    return Markup("".join(html(p) for p in parts))


def total(values: Any) -> Any:
    """The sum of a column: 0 of no rows, missing where no row states a value."""
    return values.sum(min_count=1) if len(values) else 0


def whole(value: Any) -> str:
    """A whole number with separators: 12,345."""
    return NOT_KNOWN if is_missing(value) else f"{int(value):,}"


def usd(value: Any) -> str:
    """An amount of USD with two digits; what is less than a cent and more than nothing says so."""
    if is_missing(value):
        return NOT_KNOWN
    return "<0.01" if 0 < value < 0.005 else f"{value:,.2f}"


def share(value: Any) -> str:
    """A share (0 to 1) in percent."""
    return NOT_KNOWN if is_missing(value) else f"{100 * value:.0f} %"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its head, and whether it holds figures or a bar (share of the largest, 0 to 1)."""

    head: str
    kind: str = "text"  # text | figure | bar | code


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[Any]], *, caption: str, note: Any = ""
) -> Markup:
    """A table with its caption; `note` stands under it. Cells of kind bar are shares of 1."""
    head = "".join(f'<th scope="col" class="{c.kind}">{html(c.head)}</th>' for c in columns)
    body = []
    for row in rows:
        cells = (
            _cell(c, value, first=not at) for at, (c, value) in enumerate(zip(columns, row, strict=True))
        )
        body.append(f"<tr>{''.join(cells)}</tr>")
    foot = f'<p class="note">{html(note)}</p>' if note else ""
    label = escape(caption, quote=True)
    return Markup(
        f'<div class="wide" role="region" tabindex="0" aria-label="{label}"><table><caption>{html(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>{foot}"
    )


def _cell(column: Column, value: Any, *, first: bool) -> str:
    if column.kind == "bar":
        width = 0.0 if is_missing(value) else max(0.0, min(1.0, float(value)))
        bar = f'<span style="width:{100 * width:.1f}%"></span>' if width else ""
        return f'<td class="bar" aria-hidden="true">{bar}</td>'
    tag = 'th scope="row"' if first else "td"
    text = f"<code>{html(value)}</code>" if column.kind == "code" and not is_missing(value) else html(value)
    return f'<{tag} class="{column.kind}">{text}</{tag.split()[0]}>'


def capped(shown: int, total: int, what: str, *, rest: str = "") -> str:
    """What is said under a table that does not show all rows; nothing where it does."""
    if shown >= total:
        return ""
    return f"{shown:,} of {total:,} {what} are shown{rest}."


def section(name: str, title: str, *parts: Any, lead: Any = "") -> Markup:
    """A section with an anchor; `lead` is its first sentence."""
    first = f'<p class="lead">{html(lead)}</p>' if lead else ""
    return Markup(
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{html(title)}</h2>{first}'
        f"{''.join(html(p) for p in parts)}</section>"
    )


def empty(words: str) -> Markup:
    """What stands in the place of a section that has nothing to show."""
    return Markup(f'<p class="empty">{html(words)}</p>')


def paragraph(*parts: Any) -> Markup:
    """A paragraph."""
    return Markup(f"<p>{joined(*parts)}</p>")


def rule(*numbers: int) -> Markup:
    """A mark that leads to the counting rules of those numbers."""
    links = ", ".join(f'<a href="#rule-{n}">{n}</a>' for n in numbers)
    return Markup(f'<span class="rule">rule{"s" * (len(numbers) > 1)} {links}</span>')
