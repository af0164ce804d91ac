"""`write_report`: gathers, draws, and writes the file as a whole. What stands in it is the other modules' part."""

from __future__ import annotations

import os
from pathlib import Path

from sessionbank.bank import SessionBank
from sessionbank.errors import QueryError
from sessionbank.redaction import redact_views
from sessionbank.report import page, sections, trust
from sessionbank.report.facts import gather
from sessionbank.report.pictures import Gallery
from sessionbank.selection import Selection
from sessionbank.sources.locking import write_whole
from sessionbank.tables.select import zone

TITLE = "Work with coding agents"


def write_report(
    bank: SessionBank | Selection,
    path: str | os.PathLike[str],
    *,
    title: str = TITLE,
    tz: str = "UTC",
    redact: bool = True,
    date: str | None = None,
) -> Path:
    """Writes the report of a bank, or of a selection of its sessions, as one HTML file; gives its path.

    Days are those of `tz` (an IANA name). With `redact` secrets, addresses and names of users are left out. `date` is
    printed as the day of the report; without it the file tells no other time than that of what was stored, and the same
    bank gives the same bytes. Costs are USD. Raises `QueryError` for an unknown zone, or for what is neither a bank nor
    a selection.

    Example:
        >>> import sessionbank as sb, tempfile
        >>> with tempfile.TemporaryDirectory() as folder, sb.open_bank("data/shop.bundle", progress=False) as bank:
        ...     path = sb.write_report(bank.query(limit=2), f"{folder}/report.html", title="The shop")
        ...     "<h1>The shop</h1>" in path.read_text(encoding="utf-8")
        True
    """
    target = Path(path)
    text = report_html(bank, title=title, tz=tz, redact=redact, date=date)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, text.encode("utf-8"))
    return target


def report_html(
    bank: SessionBank | Selection,
    *,
    title: str = TITLE,
    tz: str = "UTC",
    redact: bool = True,
    date: str | None = None,
) -> str:
    """The text of the file; see `write_report`."""
    if not isinstance(bank, SessionBank | Selection):
        raise QueryError(f"a report is of a bank or a selection, not of {type(bank).__name__}")
    zone(tz)  # refuses before anything is read
    with redact_views(redact):
        with Gallery() as gallery:
            facts, pictures = gather(bank, tz=tz, redact=redact, jobs=gallery.counted)
            gallery.keep(pictures)
            gallery.judged(facts)
        body = [page.head(facts, title=title, date=date, redact=redact)]
        body += sections.of(facts, gallery)
        body += trust.of(facts, gallery)
        return page.document(title, body, colours=gallery.colours)
