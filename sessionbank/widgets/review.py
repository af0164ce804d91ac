"""Playbooks to review: pick a line, see what it rests on, accept, edit, reject or merge it, and what that changes.

The widget only holds controls together: decisions are those of `sessionbank.learning.review`, drawn by `review_html`.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from sessionbank.errors import NotFoundError, QueryError, SessionBankError
from sessionbank.learning import review as decide
from sessionbank.learning.memory import Memory
from sessionbank.learning.pipeline import Atlas
from sessionbank.learning.playbooks import Line, Playbook, counted
from sessionbank.redaction import are_views_redacted
from sessionbank.widgets import review_html as html
from sessionbank.widgets.session_explorer import button
from sessionbank.widgets.shown_texts import Shown

if TYPE_CHECKING:
    import ipywidgets

    from sessionbank.bank import SessionBank


def review(
    playbooks: Memory | Atlas | str | os.PathLike[str], *, bank: SessionBank | None = None, reviewer: str = "", redact: bool = True,
) -> ipywidgets.VBox:  # fmt: skip
    """A widget to review the playbooks of a memory (its folder, a `Memory` or an `Atlas`), line by line.

    Each line stands with its runs for and against and its evidence; with `bank` (an `Atlas` has one) down to the stored
    line of the transcript. A decision needs a reviewer and a reason, is kept with the line, and makes a new version.
    `redact` says whether secrets and names of people are left out of what is shown. Raises `QueryError` for what holds
    no playbooks, and where memory has none yet.

    Example:
        >>> import sessionbank as sb
        >>> try:
        ...     sb.review(sb.learning.Memory("an-empty-memory"))
        ... except sb.SessionBankError as error:
        ...     print(error)
        memory has no playbook yet; run_batch or run_team_batch makes them
    """
    if isinstance(playbooks, Atlas):
        bank = bank or playbooks.bank
        playbooks = playbooks.memory
    memory = Memory(playbooks) if isinstance(playbooks, str | os.PathLike) else playbooks
    if not isinstance(memory, Memory):
        raise QueryError(
            f"review takes a Memory, an Atlas or a memory's folder, not {type(playbooks).__name__}"
        )
    if not decide.lines(memory):
        raise QueryError("memory has no playbook yet; run_batch or run_team_batch makes them")
    return _Reviewer(memory, bank, reviewer=reviewer, redact=redact).box


class _Reviewer:
    """The controls of one review, and what is chosen in it."""

    def __init__(self, memory: Memory, bank: SessionBank | None, *, reviewer: str, redact: bool) -> None:
        import ipywidgets as w

        self.memory, self.bank = memory, bank
        self.show = Shown(is_redacted=redact and are_views_redacted())
        self.is_quiet = False
        wide: dict[str, Any] = {"style": {"description_width": "80px"}, "layout": {"width": "420px"}}
        self.playbook = w.Dropdown(options=self._playbooks(), description="Playbook", **wide)
        self.undecided = w.Checkbox(
            value=False, description="Undecided only", indent=False, layout={"width": "auto"},
            tooltip="Leave out lines that somebody decided about",
        )  # fmt: skip
        self.list = w.Select(
            options=[], rows=9, description="Lines", tooltip="Pick a line to review it", style={"description_width": "0"},
            layout={"width": "100%"},
        )  # fmt: skip
        self.place = w.Dropdown(options=[], description="Evidence", **wide)
        self.who = w.Text(value=reviewer, description="Reviewer", **wide)
        self.why = w.Text(placeholder="kept with the decision", description="Reason", **wide)
        self.text = w.Textarea(description="Text", rows=3, style=wide["style"], layout={"width": "100%"})
        self.into = w.Dropdown(options=[], description="Merge into", **wide)
        self.version = w.Dropdown(options=[], description="Since", **wide)
        self.header, self.line, self.evidence = w.HTML(), w.HTML(), w.HTML()
        self.said, self.changes, self.effect = w.HTML(), w.HTML(), w.HTML()
        acts = [
            button("Accept", lambda: self.act("accept"), "Tell it to agents as it is"),
            button("Save the text", lambda: self.act("edit"), "Tell it in these words"),
            button("Reject", lambda: self.act("reject"), "Keep it, and tell it to nobody"),
            button("Merge", lambda: self.act("merge"), "Its evidence goes to the other line"),
            button("What would it change?", self.ask, "Which recommendations tell this line"),
        ]
        row = {"flex_flow": "row wrap", "align_items": "center"}
        self.box = w.VBox([
            w.HBox([self.playbook, self.undecided], layout=row), self.header, self.list, self.line,
            self.place, self.evidence,
            w.HBox([self.who, self.why], layout=row), self.text, self.into, w.HBox(acts, layout=row), self.said, self.effect,
            self.version, self.changes,
        ])  # fmt: skip
        self.playbook.observe(lambda _: self.take_up(), "value")
        self.undecided.observe(lambda _: self.take_up(), "value")
        self.list.observe(lambda _: None if self.is_quiet else self.read(), "value")
        self.place.observe(lambda _: None if self.is_quiet else self.draw_evidence(), "value")
        self.version.observe(lambda _: None if self.is_quiet else self.compare(), "value")
        self.take_up()

    # -- what is chosen ----------------------------------------------------------------------------------------

    def _playbooks(self) -> list[tuple[str, str]]:
        """Names and ids, those with most lines first."""
        rows = decide.lines(self.memory)
        count = Counter(r["playbook_id"] for r in rows)
        version = {r["playbook_id"]: r["version"] for r in rows}
        return [(f"{i}  (version {version[i]}, {counted(n, 'line')})", i) for i, n in count.most_common()]

    @property
    def chosen(self) -> Playbook:
        """The playbook that is reviewed, as memory has it now."""
        found: Playbook = self.memory.get(self._kind(), self.playbook.value)
        return found

    def take_up(self, *, line: str | None = None) -> None:
        """Lists the lines of the playbook, and reads the one of that id, else the first."""
        playbook = self.chosen
        every = list(playbook.lines())
        listed = [(s, li) for s, li in every if not (self.undecided.value and li.decisions)]
        self.show.prepare([li.text for _, li in every], limit=200)
        self.is_quiet = True
        self.list.options = [(html.list_label(li, s, show=self.show), li.id) for s, li in listed]
        ids = [li.id for _, li in listed]
        self.list.value = line if line in ids else ids[0] if ids else None
        versions = [p.evolution.version for p in self.memory.versions(self._kind(), playbook.id)]
        self.version.options = versions
        self.version.value = versions[0]
        self.is_quiet = False
        undecided = sum(not li.decisions for _, li in every)
        self.header.value = html.header_html(playbook, undecided=undecided, show=self.show)
        self.read()
        self.compare()

    def _kind(self) -> str:
        rows = decide.lines(self.memory, self.playbook.value)
        if not rows:
            raise NotFoundError(f"memory has the playbook {self.playbook.value!r} no more")
        return str(rows[0]["kind"])

    def read(self) -> None:
        """Shows the chosen line with its evidence; the words of an earlier decision go."""
        self.said.value = self.effect.value = ""
        found = {li.id: (s, li) for s, li in self.chosen.lines()}
        if self.list.value not in found:
            self.line.value = html.said_html("No line is left to decide about.")
            self.evidence.value, self.place.options, self.into.options = "", [], []
            return
        section, line = found[self.list.value]
        self.line.value = html.line_html(line, section, show=self.show)
        self.places = decide.evidence(self.memory, self.playbook.value, line.id, bank=self.bank)
        self.is_quiet = True
        self.place.options = [(self._place_name(n), n) for n in range(len(self.places))]
        self.place.value = 0 if self.places else None
        others: list[tuple[str, Line]] = [(s, li) for i, (s, li) in found.items() if i != line.id]
        self.into.options = [(html.list_label(li, s, show=self.show)[:100], li.id) for s, li in others]
        self.text.value = self.show(line.text)
        self.is_quiet = False
        self.draw_evidence()

    def _place_name(self, number: int) -> str:
        place = self.places[number]
        side = {True: "for", False: "against", None: "neither"}[place["supports"]]
        return f"{number + 1} of {len(self.places)}, {side}: {self.show(place['run_id'], limit=40)}"

    def draw_evidence(self) -> None:
        """Shows the places, the chosen one down to its transcript line."""
        self.evidence.value = html.evidence_html(self.places, self.place.value, show=self.show)

    # -- what is done ------------------------------------------------------------------------------------------

    def act(self, action: str) -> None:
        """Decides about the chosen line, and shows what became of it."""
        line = self.list.value
        if line is None:
            return
        given: dict[str, Any] = {"reviewer": self.who.value, "reason": self.why.value}
        try:
            own = self.chosen.line(line)
            if action == "edit":
                if own is not None and self.text.value.strip() == self.show(own.text).strip():
                    raise QueryError("the text is as it was; change it, or accept the line")
                decide.edit(self.memory, self.playbook.value, line, text=self.text.value, **given)
            elif action == "merge":
                if self.into.value is None:
                    raise QueryError("there is no other line to merge it into")
                decide.merge(self.memory, self.playbook.value, line, into=self.into.value, **given)
            elif action == "accept":
                decide.accept(self.memory, self.playbook.value, line, **given)
            else:
                decide.reject(self.memory, self.playbook.value, line, **given)
        except SessionBankError as error:
            self.said.value = html.said_html(self.show(str(error)), is_wrong=True)
            return
        self.why.value = ""
        self.take_up(line=line)
        self.said.value = html.said_html(
            f"{action}, by {given['reviewer'].strip()}; now version {self.chosen.evolution.version}"
        )

    def ask(self) -> None:
        """Shows which recommendations tell the chosen line."""
        if self.list.value is not None:
            told = decide.changes_recommendations(self.memory, self.playbook.value, self.list.value)
            self.effect.value = html.told_html(told, show=self.show)

    def compare(self) -> None:
        """Shows what changed since the chosen version."""
        since = self.version.value
        changes = decide.compare(self.memory, self.playbook.value, since) if since else []
        self.changes.value = html.changes_html(
            changes, title=f"Changed since version {since}", show=self.show
        )
