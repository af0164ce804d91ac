"""A session to read: a page of messages at a time, filters, search, jumps to errors, one message in full.

The widget only holds controls together; what is shown is made by pure functions (`message_html`, `message_detail`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sessionbank.errors import QueryError
from sessionbank.records import Message, Session
from sessionbank.redaction import are_views_redacted
from sessionbank.widgets import message_detail as detail
from sessionbank.widgets.message_html import header_html, page_html
from sessionbank.widgets.session_entries import GROUPS, Entries
from sessionbank.widgets.shown_texts import Shown

if TYPE_CHECKING:
    import ipywidgets

PAGE = 40
VIEWS = ("Closed", "Message", "What the model saw", "Stored line")
_TROUBLE = "A call that failed, was rejected or interrupted"
_HINTS = {
    "prompts": "What a person typed: prompts, commands, interruptions",
    "replies": "What the model said and thought",
    "tools": "Tool calls with their results",
    "subagents": "All that subagents said and did, under the call that started them",
    "other": "Lines of the program itself: system, progress, notifications, teammates, summaries",
}


def session_explorer(session: Session, *, redact: bool = True, page: int = PAGE) -> ipywidgets.VBox:
    """A widget to read a session: `page` messages at a time, drawn when seen.

    `redact` says whether keys, addresses and names of people are taken out at first; a box in the widget switches it.
    Raises `QueryError` for a page below 1.

    Example:
        >>> import sessionbank as sb
        >>> with sb.open_bank("data/shop.bundle", cache=False, progress=False) as bank:
        ...     box = session_explorer(bank.get_by_session_id("6d52dd5f-87d8-438c-b5ff-ca1b4cb7438f"))
        >>> "Cart totals are off by a cent" in box.children[4].value
        True
    """
    if page < 1:
        raise QueryError(f"a page holds at least 1 message, not {page}")
    return _Reader(session, redact=redact, page=page).box


class _Reader:
    """The state of one explorer: where the page begins, which message is chosen, what passes the filters."""

    def __init__(self, session: Session, *, redact: bool, page: int) -> None:
        import ipywidgets as w

        self.session, self.size = session, page
        self.entries = Entries(session)
        self.show = Shown(is_redacted=redact and are_views_redacted())
        self.start, self.needle = 0, ""
        self.chosen: int | None = None
        self.below = self._below()
        self.visible: list[int] = []
        self.hits: list[int] = []
        self.is_quiet = False  # while the widget itself moves a control
        wrap = {"flex_flow": "row wrap", "align_items": "center"}

        self.header, self.page, self.detail = w.HTML(), w.HTML(), w.HTML()
        self.boxes = {
            group: w.Checkbox(
                value=group != "other", description=f"{group.capitalize()} ({self.entries.counts[group]:,})",
                tooltip=_HINTS[group], indent=False, layout={"width": "auto", "margin": "0 18px 0 2px"},
            )
            for group in GROUPS
        }  # fmt: skip
        self.redacted = w.Checkbox(
            value=self.show.is_redacted, description="Redact", indent=False, layout={"width": "auto", "margin": "0 2px 0 18px"},
            tooltip="Take out keys, addresses and names of people",
        )  # fmt: skip
        slim = {"description_width": "auto"}
        self.search = w.Text(
            description="Search", placeholder="words, inputs and results", continuous_update=False, style=slim,
            layout={"width": "270px"}, tooltip="Words, tool inputs and results; Enter searches",
        )  # fmt: skip
        self.hit_words, self.trouble_words, self.where = w.Label(), w.Label(), w.Label()
        self.where.layout.min_width = "190px"
        hits = [
            button("Previous hit", lambda: self.jump(self.hits, -1)),
            button("Next hit", lambda: self.jump(self.hits, 1)),
        ]
        errors = [
            button("Previous error", lambda: self.jump(self.troubles, -1), _TROUBLE),
            button("Next error", lambda: self.jump(self.troubles, 1), _TROUBLE),
        ]
        self.slider = w.IntSlider(
            min=0, max=0, description="From", continuous_update=False, readout=False, style=slim, layout={"width": "260px"},
            tooltip="Where in the session the page begins",
        )  # fmt: skip
        moves = [
            button("First", lambda: self.go(0)), button("Previous", lambda: self.go(self.start - self.size)),
            button("Next", lambda: self.go(self.start + self.size)), button("Last", lambda: self.go(self._last())),
        ]  # fmt: skip
        seqs = [m.seq for m in session.messages] or [0]
        self.number = w.BoundedIntText(
            value=min(seqs), min=min(seqs), max=max(seqs), description="Message", style=slim, layout={"width": "150px"},
            tooltip="The number of a message, to go to it and to read it in full",
        )  # fmt: skip
        self.view = w.ToggleButtons(
            options=VIEWS, value="Closed", style={"button_width": "auto"}, layout={"width": "auto"},
            tooltips=["Nothing more", "The message in full", "What had been sent to the model when it came", "The exact line"],
        )  # fmt: skip
        self.part = w.BoundedIntText(
            value=1, min=1, max=1, description="Part", style=slim, layout={"width": "140px", "display": "none"},
            tooltip="Which part of what is long",
        )  # fmt: skip
        self.box = w.VBox([
            self.header,
            w.HBox([*self.boxes.values(), self.redacted], layout=wrap),
            w.HBox([self.search, *hits, self.hit_words, *errors, self.trouble_words], layout=wrap),
            w.HBox([*moves[:2], self.slider, *moves[2:], self.where], layout=wrap),
            self.page,
            w.HBox([self.number, self.view, self.part], layout=wrap),
            self.detail,
        ])  # fmt: skip
        self._observe()
        self.filter()
        self.header.value = header_html(session, self.entries, show=self.show)

    def _observe(self) -> None:
        for box in self.boxes.values():
            box.observe(lambda _: self.filter(), "value")
        self.redacted.observe(lambda _: self.redact(), "value")
        self.search.observe(lambda _: self.look_for(self.search.value), "value")
        self.slider.observe(lambda _: None if self.is_quiet else self.go(self.slider.value), "value")
        self.number.observe(lambda _: None if self.is_quiet else self.choose(self.number.value), "value")
        self.view.observe(lambda _: self.draw_detail(), "value")
        self.part.observe(
            lambda _: None if self.is_quiet else self.draw_detail(part=self.part.value), "value"
        )

    # -- what is seen ------------------------------------------------------------------------------------------

    def filter(self) -> None:
        """Takes up the filters; the page stays where it was, as far as that passes."""
        first = self.visible[self.start] if self.visible else 0
        self.visible = self.entries.chosen([g for g, box in self.boxes.items() if box.value])
        seen = set(self.visible)
        self.troubles = [at for at in self.entries.troubles if at in seen]
        self.hits = [at for at in self.entries.found(self.needle) if at in seen]
        self._tell()
        self.go(bisect_left(self.visible, first))

    def look_for(self, text: str) -> None:
        """Searches, and goes to the first hit from the page on."""
        self.needle = text.strip()
        seen = set(self.visible)
        self.hits = [at for at in self.entries.found(self.needle) if at in seen]
        if self.hits:
            at = bisect_left(self.hits, self.visible[self.start])
            self._take(self.hits[at % len(self.hits)])
        else:
            self._tell()
            self.draw()

    def redact(self) -> None:
        """Takes up whether texts are redacted."""
        self.show = Shown(is_redacted=self.redacted.value)
        self.header.value = header_html(self.session, self.entries, show=self.show)
        self.draw()
        self.draw_detail(part=self.part.value)

    # -- moving ------------------------------------------------------------------------------------------------

    def go(self, start: int) -> None:
        """Begins the page there (a position among what passes the filters)."""
        last = max(len(self.visible) - 1, 0)
        self.start = min(max(start, 0), last)
        self.is_quiet = True
        self.slider.max, self.slider.value = last, self.start
        self.is_quiet = False
        self.draw()

    def choose(self, seq: int) -> None:
        """Takes the message with that number; shows what is nearest to it where a filter hides it."""
        at = self.entries.place.get(seq)
        if at is None:
            return
        self.chosen = seq
        self._tell()
        self.go(max(bisect_left(self.visible, at) - 1, 0))  # one before it, so that what it answers is seen
        self.draw_detail()

    def jump(self, among: Sequence[int], by: int) -> None:
        """Goes to the next (1) or previous (-1) of these positions from the chosen message on, round the end."""
        if not among:
            return
        here = self._here()
        at = bisect_left(among, here + 1) if by > 0 else bisect_left(among, here) - 1
        self._take(among[at % len(among)])

    def _take(self, at: int) -> None:
        seq = self.entries.all[at].seq
        self.is_quiet = True
        self.number.value = seq
        self.is_quiet = False
        self.choose(seq)

    def _here(self) -> int:
        """The position from which a jump counts: that of the chosen message, else just before the page."""
        if self.chosen is not None:
            return self.entries.place[self.chosen]
        return self.visible[self.start] - 1 if self.visible else -1

    def _last(self) -> int:
        return max(len(self.visible) - 1, 0) // self.size * self.size

    # -- drawing -----------------------------------------------------------------------------------------------

    def draw(self) -> None:
        """Draws the page."""
        part = [self.entries.all[at] for at in self.visible[self.start : self.start + self.size]]
        self.page.value = page_html(
            part,
            show=self.show,
            needle=self.needle,
            chosen=self.chosen,
            below=self.below,
            root=self.session.cwd,
        )
        end = self.start + len(part)
        self.where.value = (
            f"{self.start + 1:,} to {end:,} of {len(self.visible):,} entries" if part else "no entries"
        )

    def draw_detail(self, *, part: int = 1) -> None:
        """Draws what is asked of the chosen message: the first one where none was chosen yet."""
        message = self.entries.message(self.number.value)
        made, parts = "", 1
        if message is not None and self.view.value != "Closed":
            made, parts = self._detail(message, part)
        self.is_quiet = True
        self.part.max, self.part.value = parts, min(part, parts)
        self.is_quiet = False
        self.part.description = f"Part of {parts}"
        self.part.layout.display = None if parts > 1 else "none"
        self.detail.value = (
            f'<div style="max-height:480px;overflow:auto" tabindex="0">{made}</div>' if made else ""
        )

    def _detail(self, message: Message, part: int) -> tuple[str, int]:
        show = Shown(is_redacted=self.show.is_redacted)
        if self.view.value == "What the model saw":
            return detail.context_html(self.session, message, show=show, part=part)
        if self.view.value == "Stored line":
            return detail.stored_html(message, self.session.raw, show=show, part=part)
        calls = [c for c in self.session.tool_calls if message.seq in (c.seq, c.result_seq)]
        return detail.message_html(message, calls, show=show, part=part, needle=self.needle)

    def _tell(self) -> None:
        """Says how many hits and errors there are, and which of them is chosen."""
        at = None if self.chosen is None else self.entries.place[self.chosen]
        self.hit_words.value = _count(self.hits, at, "hit") if self.needle else ""
        self.trouble_words.value = _count(self.troubles, at, "error")

    def _below(self) -> dict[str, int]:
        return {
            s.parent_tool_call_id: len(s.messages) for s in self.session.subagents if s.parent_tool_call_id
        }


def _count(places: Sequence[int], at: int | None, word: str) -> str:
    total = f"{len(places):,} {word}" + ("" if len(places) == 1 else "s")
    return f"{word} {places.index(at) + 1:,} of {len(places):,}" if at in places else total


def button(
    name: str, act: Callable[[], None], hint: str = "", *, layout: dict[str, str] | None = None
) -> Any:
    """A button with its name, what it does when pressed, and what it says of itself."""
    import ipywidgets

    made = ipywidgets.Button(description=name, tooltip=hint or name, layout=layout or {"width": "auto"})
    made.on_click(lambda _: act())
    return made
