"""A bank to look through: sessions filtered and searched, a page of them at a time, one picked and read below.

The widget only holds controls together: `bank_rows` filters, `bank_html` draws, `session_explorer` reads.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from sessionbank.errors import QueryError, SessionBankError
from sessionbank.redaction import are_views_redacted
from sessionbank.selection import Tables
from sessionbank.trajectory.model import LABELS
from sessionbank.widgets import session_look as look
from sessionbank.widgets.bank_html import header_html, rows_html
from sessionbank.widgets.bank_rows import SessionRows, Walk
from sessionbank.widgets.session_explorer import button, session_explorer
from sessionbank.widgets.shown_texts import Shown

if TYPE_CHECKING:
    import ipywidgets

PAGE = 25
SECONDS = 1.5  # for outcomes, before the widget says how far it came
_BRANCHES = 500  # that are offered by name
_ANY, _WORK_OUT = "any", "any, worked out"


def bank_explorer(
    tables: Tables, *, redact: bool = True, page: int = PAGE, seconds: float = SECONDS
) -> ipywidgets.VBox:
    """A widget to find a session of a bank or a selection and read it: `page` rows at a time.

    Transcripts are not read before a search, an outcome or a session asks for them. Outcomes are worked out row by row,
    for `seconds` at a time. `redact` says whether keys, addresses and names of people are taken out at first.
    Raises `QueryError` for a page below 1.

    Example:
        >>> import sessionbank as sb
        >>> with sb.open_bank("data/shop.bundle", cache=False, progress=False) as bank:
        ...     box = bank_explorer(bank)
        >>> "60 sessions" in box.children[0].value
        True
    """
    if page < 1:
        raise QueryError(f"a page holds at least 1 session, not {page}")
    return _Finder(tables, redact=redact, page=page, seconds=seconds).box


class _Finder:
    """The state of one explorer: what passes the filters, the page, the session that is read."""

    def __init__(self, tables: Tables, *, redact: bool, page: int, seconds: float) -> None:
        import ipywidgets as w

        self.rows, self.size, self.seconds = SessionRows(tables), page, seconds
        self.show = Shown(is_redacted=redact and are_views_redacted())
        self.read: str | None = None
        self.is_quiet = False
        self.branch_names: dict[str, list[str]] = {}
        wrap = {"flex_flow": "row wrap", "align_items": "center"}
        slim = {"description_width": "auto"}

        self.agent = w.Dropdown(
            options=self._agent_options(), description="Agent", style=slim, layout={"width": "190px"}
        )
        self.branch = w.Combobox(
            placeholder="part of a name", description="Branch", continuous_update=False, style=slim, layout={"width": "190px"},
            tooltip="Sessions with a record on a branch in whose name this stands",
        )  # fmt: skip
        self.since = w.DatePicker(
            description="From", style=slim, layout={"width": "168px"}, tooltip="First day, in UTC"
        )
        self.until = w.DatePicker(
            description="To", style=slim, layout={"width": "152px"}, tooltip="Last day, in UTC"
        )
        self.search = w.Text(
            placeholder="words that were said", description="Search", continuous_update=False, style=slim,
            layout={"width": "230px"}, tooltip="Enter searches",
        )  # fmt: skip
        self.scope = w.Dropdown(
            options=["prompts", "all messages"], description="in", style=slim, layout={"width": "130px"}
        )
        self.outcome = w.Dropdown(
            options=[_ANY, _WORK_OUT, *LABELS], value=_ANY, description="Outcome", style=slim, layout={"width": "180px"},
            tooltip="How the session ended, by the evidence",
        )  # fmt: skip
        self.sort = w.Dropdown(
            options=self.rows.sorts, description="Sort", style=slim, layout={"width": "160px"}
        )
        self.redacted = w.Checkbox(
            value=self.show.is_redacted, description="Redact", indent=False, layout={"width": "auto", "margin": "0 2px 0 12px"},
            tooltip="Take out keys, addresses and names of people",
        )  # fmt: skip
        self.page = w.BoundedIntText(
            value=1, min=1, max=1, description="Page", style=slim, layout={"width": "110px"}
        )
        self.more = button("Look on", self.look_on, "Work out more outcomes")
        self.where, self.said, self.table = w.Label(), w.HTML(), w.HTML()
        self.table.layout = {"flex": "1 1 auto", "margin": "0", "min_width": "0"}
        moves = [
            button("First", lambda: self.turn(1)), button("Previous", lambda: self.turn(self.page.value - 1)),
            button("Next", lambda: self.turn(self.page.value + 1)), button("Last", lambda: self.turn(self.page.max)),
        ]  # fmt: skip
        self.buttons = [self._row_button(n) for n in range(page)]
        self.ids: list[str] = []
        column = w.VBox(
            [w.HTML(layout={"height": f"{look.ROW}px", "margin": "0"}), *self.buttons],
            layout={"flex": "0 0 auto", "margin": "0 8px 0 0", "overflow": "visible"},
        )
        self.finder = w.VBox([
            w.HBox([self.agent, self.branch, self.since, self.until], layout=wrap),
            w.HBox([self.search, self.scope, self.outcome, self.sort], layout=wrap),
            w.HBox([*moves[:2], self.page, *moves[2:], self.where, self.more, button("Clear filters", self.reset), self.redacted],
                   layout=wrap),
            w.HBox([column, self.table], layout={"align_items": "flex-start", "width": "100%"}),
        ])  # fmt: skip
        self.place = w.Label()
        self.bar = w.HBox(
            [button("Back to the sessions", self.back), button("Previous session", lambda: self.step(-1)),
             button("Next session", lambda: self.step(1)), self.place],
            layout={**wrap, "display": "none"},
        )  # fmt: skip
        self.reader = w.VBox([])
        self.what = type(tables).__name__
        self.header = w.HTML(value=header_html(self.rows, what=self.what))
        self.box = w.VBox([self.header, self.said, self.bar, self.finder, self.reader])
        self._observe()
        self.name_branches()
        self.filter()

    def _row_button(self, number: int) -> Any:
        layout = {"height": f"{look.ROW - 2}px", "margin": "1px 0", "width": "84px"}
        return button(f"Read {number + 1}", lambda: self.pick(number), "Read this session", layout=layout)

    def _observe(self) -> None:
        for control in (
            self.agent,
            self.branch,
            self.since,
            self.until,
            self.search,
            self.scope,
            self.outcome,
            self.sort,
        ):
            control.observe(lambda _: None if self.is_quiet else self.filter(), "value")
        self.page.observe(lambda _: None if self.is_quiet else self.draw(), "value")
        self.redacted.observe(lambda _: self.redact(), "value")

    # -- what passes -------------------------------------------------------------------------------------------

    def filter(self) -> None:
        """Takes up the filters and goes to the first page."""
        try:
            among = self._among()
            if among is not None:
                self.take_up()
            ids = self.rows.passing(
                agent=self.agent.value or None, branch=self._branches(), since=self.since.value, until=self.until.value, among=among,
                sort=self.sort.value,
            )  # fmt: skip
            wanted = self.outcome.value
            self.walk = Walk(self.rows, ids, None if wanted in (_ANY, _WORK_OUT) else wanted)
        except SessionBankError as error:
            self.tell(error)
            return
        self.tell(None)
        self.turn(1)

    def _among(self) -> set[str] | None:
        text = self.search.value.strip()
        return self.rows.found(text, everywhere=self.scope.value != "prompts") if text else None

    def _branches(self) -> list[str] | None:
        """The branches in whose shown names stands what was typed: what is not shown cannot be asked for."""
        text = self.branch.value.strip().casefold()
        if not text:
            return None
        return [
            name for shown, names in self.branch_names.items() if text in shown.casefold() for name in names
        ]

    def name_branches(self) -> None:
        """Takes up how branches are called, redacted or not."""
        names = self.rows.branches
        self.show.prepare(names, limit=200)
        self.branch_names = {}
        for name in names:
            self.branch_names.setdefault(self.show(name, limit=200), []).append(name)
        self.branch.options = list(self.branch_names)[:_BRANCHES]

    def look_on(self) -> None:
        """Works out more outcomes, and shows what was found."""
        self.walk.on(enough=len(self.walk.found) + self.size, seconds=self.seconds)
        self.draw()

    def reset(self) -> None:
        """Lets everything pass."""
        self.is_quiet = True
        self.agent.value = self.branch.value = self.search.value = ""
        self.since.value = self.until.value = None
        self.outcome.value = _ANY
        self.is_quiet = False
        self.filter()

    def redact(self) -> None:
        """Takes up whether texts are redacted."""
        self.show = Shown(is_redacted=self.redacted.value)
        self.name_branches()
        self.draw()

    def take_up(self) -> None:
        """Shows agents and counts as the transcripts tell them, once these have been read."""
        if not self.rows.refresh():
            return
        self.header.value = header_html(self.rows, what=self.what)
        was_quiet, self.is_quiet = self.is_quiet, True
        for control, options in ((self.agent, self._agent_options()), (self.sort, self.rows.sorts)):
            before = control.value
            control.options = options
            values = [o[1] if isinstance(o, tuple) else o for o in options]
            control.value = before if before in values else values[0]
        self.is_quiet = was_quiet

    def _agent_options(self) -> list[tuple[str, str]]:
        return [(_ANY, ""), *((f"{name} ({count:,})", name) for name, count in self.rows.agents)]

    # -- what is seen ------------------------------------------------------------------------------------------

    def turn(self, page: int) -> None:
        """Goes to that page."""
        self.is_quiet = True
        self.page.value = min(max(page, 1), self.page.max)
        self.is_quiet = False
        self.draw(page=page)

    def draw(self, *, page: int | None = None) -> None:
        """Draws the page, and says how far it reaches."""
        asked = page if page is not None else self.page.value
        try:
            self.walk.on(enough=asked * self.size + 1, seconds=self.seconds)
            pages = max(1, -(-len(self.walk.found) // self.size))
            asked = min(max(asked, 1), pages)
            begin = (asked - 1) * self.size
            self.ids = self.walk.found[begin : begin + self.size]
            if self.outcome.value != _ANY:
                for sid in self.ids:
                    self.rows.outcome(sid)
                self.take_up()
            rows = self.rows.rows(self.ids)
        except SessionBankError as error:
            self.tell(error)
            return
        self.is_quiet = True
        self.page.max, self.page.value = pages, asked
        self.is_quiet = False
        self.table.value = rows_html(
            rows,
            show=self.show,
            chosen=self.read,
            is_read=self.rows.is_read,
            has_outcomes=self.outcome.value != _ANY,
        )
        for number, reader in enumerate(self.buttons):
            reader.layout.display = None if number < len(rows) else "none"
            reader.tooltip = f"Read session {rows[number].session_id}" if number < len(rows) else ""
        self._say_where(begin, pages)

    def _say_where(self, begin: int, pages: int) -> None:
        count, walk = len(self.walk.found), self.walk
        at_least = "" if walk.is_done else "at least "
        where = (
            f"{begin + 1:,} to {begin + len(self.ids):,} of {at_least}{count:,} sessions"
            if self.ids
            else "no session"
        )
        if not walk.is_done:
            where += f"; {walk.looked:,} of {len(walk.ids):,} looked at"
        self.where.value = f"of {pages:,}: {where}"
        self.more.layout.display = "none" if walk.is_done else None

    def pick(self, number: int) -> None:
        """Opens the session of a row."""
        if number < len(self.ids):
            self.open(self.ids[number])

    def open(self, session_id: str) -> None:
        """Opens a session in place of the table."""
        try:
            made = session_explorer(self.rows.session(session_id), redact=self.redacted.value)
        except SessionBankError as error:
            self.tell(error)
            return
        self._close_reader()
        self.tell(None)
        self.read, self.reader.children = session_id, (made,)
        self.finder.layout.display, self.bar.layout.display = "none", None
        at_least = "" if self.walk.is_done else "at least "
        self.place.value = (
            f"{self.walk.found.index(session_id) + 1:,} of {at_least}{len(self.walk.found):,} sessions"
        )

    def step(self, by: int) -> None:
        """Opens the next (1) or previous (-1) session of those that pass the filters; stays at the ends."""
        if self.read is None:
            return
        at = self.walk.found.index(self.read) + by
        self.walk.on(enough=at + 1, seconds=self.seconds)
        if 0 <= at < len(self.walk.found):
            self.open(self.walk.found[at])

    def back(self) -> None:
        """Closes the session and shows the table, where it stood."""
        self._close_reader()
        self.reader.children = ()
        self.finder.layout.display, self.bar.layout.display = None, "none"
        at = self.walk.found.index(self.read) if self.read in self.walk.found else 0
        self.take_up()
        self.turn(at // self.size + 1)

    def _close_reader(self) -> None:
        for child in self.reader.children:
            _close(child)

    def tell(self, error: Exception | None) -> None:
        """Says what went wrong, in place of raising where nobody sees it."""
        words = escape(self.show(str(error))) if error else ""
        self.said.value = look.pane(f'<div class="t">{words}</div>', label="problem") if words else ""


def _close(widget: Any) -> None:
    """Takes a widget and all in it away, so that reading many sessions does not pile them up in the kernel."""
    for child in getattr(widget, "children", ()):
        _close(child)
    for part in (widget.layout, getattr(widget, "style", None), widget):
        if part is not None:
            part.close()
