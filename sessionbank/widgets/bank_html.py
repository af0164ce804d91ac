"""A page of a bank's sessions as an HTML table, and what stands above it. Pure functions; every text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from sessionbank.html import one_line
from sessionbank.widgets import session_look as look
from sessionbank.widgets.bank_rows import Row, SessionRows
from sessionbank.widgets.shown_texts import Shown

_HEAD = (  # heading, width, whether figures
    ("stored (UTC)", "126px", False), ("agent", "112px", False), ("branch", "17%", False), ("session", "76px", False),
    ("lines", "46px", True), ("errors", "54px", True), ("USD", "52px", True), ("outcome", "84px", False),
    ("intent or first words", "auto", False),
)  # fmt: skip
_COUNTED = ("lines", "errors", "USD")
ABOUT = 200
NARROW = 20  # characters of a branch that a column shows


def header_html(rows: SessionRows, *, what: str) -> str:
    """How many sessions of which agents there are, from when to when."""
    times = rows.frame["stored_at"].dropna()
    span = f"stored {times.min():%Y-%m-%d} to {times.max():%Y-%m-%d}" if len(times) else "no date is stored"
    agents = "".join(
        f'<span style="white-space:nowrap">{look.dot("agent", name)}{escape(name)} {count:,}</span>'
        for name, count in rows.agents
    )
    told = "" if rows.is_read else (
        '<div class="quiet">Transcripts have not been read: agents are those that the metadata names. The first search, outcome '
        "or session that you ask for reads them all, once.</div>"
    )  # fmt: skip
    count = f"{len(rows.frame):,} session{'' if len(rows.frame) == 1 else 's'}"
    return look.pane(
        f'<div class="r"><h3>{escape(what)}</h3><span>{count}, {span}</span></div>',
        f'<div class="r">{agents}</div>',
        told,
        label="bank",
    )


def rows_html(
    rows: Sequence[Row],
    *,
    show: Shown,
    chosen: str | None = None,
    is_read: bool = True,
    has_outcomes: bool = False,
) -> str:
    """The table of a page; each row is `look.ROW` pixels high, to stand beside its button. Prepares `show`."""
    if not rows:
        return look.pane('<div class="q">No session passes the filters.</div>', label="sessions")
    show.prepare((t for r in rows for t in (r.about, r.branches)), limit=ABOUT)
    hidden = {*(() if is_read else _COUNTED), *(() if has_outcomes else ("outcome",))}
    heads = [h for h in _HEAD if h[0] not in hidden]
    columns = "".join(f'<col style="width:{width}">' for _, width, _ in heads)
    top = "".join(f'<th scope="col"{_figures(is_figure)}>{escape(name)}</th>' for name, _, is_figure in heads)
    body = "".join(_row(r, show, chosen, [h[0] for h in heads]) for r in rows)
    return look.pane(
        f'<table class="rows"><colgroup>{columns}</colgroup><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>',
        label="sessions",
    )


def _row(row: Row, show: Shown, chosen: str | None, names: Sequence[str]) -> str:
    branches, about = show(row.branches, limit=ABOUT), one_line(show(row.about, limit=ABOUT), 160)
    errors = "" if row.tool_errors is None else f"{row.tool_errors:,}" if row.tool_errors else "0"
    cells = {
        "stored (UTC)": f"{row.stored_at:%Y-%m-%d %H:%M}" if row.stored_at else "not recorded",
        "agent": look.dot("agent", row.agent) + escape(row.agent),
        "branch": escape(_ends(branches)) or '<span class="quiet">none</span>',
        "session": escape(row.session_id[:8]),
        "lines": "" if row.message_count is None else f"{row.message_count:,}",
        "errors": f"<b>{errors}</b>" if row.tool_errors else errors,
        "USD": "" if row.cost_usd is None else f"{row.cost_usd:,.2f}",
        "outcome": look.dot("outcome", row.outcome) + escape(row.outcome) if row.outcome else "",
        "intent or first words": escape(about) or '<span class="quiet">nothing recorded</span>',
    }
    titles = {"branch": branches, "session": row.session_id, "intent or first words": about}
    drawn = "".join(
        f"<td{_figures(name in _COUNTED)}{_title(titles.get(name))}>{cells[name] or _UNKNOWN}</td>"
        for name in names
    )
    is_chosen = row.session_id == chosen
    return f"<tr{' class=sel aria-current=true' if is_chosen else ''}>{drawn}</tr>"


def _ends(branches: str) -> str:
    """The branches as a narrow column tells them apart: of a long name what stands after its last slash."""
    return ", ".join(
        "…/" + name.rpartition("/")[2] if len(name) > NARROW and "/" in name else name
        for name in branches.split(", ")
    )


_UNKNOWN = '<span class="quiet" title="not known">–</span>'


def _figures(is_figure: bool) -> str:
    return ' class="n"' if is_figure else ""


def _title(text: str | None) -> str:
    return f' title="{escape(text)}"' if text else ""
