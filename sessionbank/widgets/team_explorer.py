"""The explorer of a team: graph, lanes and a matrix of buttons, each edge to be read, weights to be turned.

The widget holds native controls and panes of HTML together; what a pane says is made by `team_html` and `team_svg`, what a
choice leaves by `team_view`. Nothing is judged here, and only the picture that is looked at is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sessionbank.redaction import shown
from sessionbank.team.model import TYPES, Team
from sessionbank.team.score import INTERACTION_PARTS, STEP_PARTS, ScoreConfig
from sessionbank.widgets import team_html, tones
from sessionbank.widgets.team_matrix import Matrix
from sessionbank.widgets.team_svg import graph_html, label, timeline_html
from sessionbank.widgets.team_view import KINDS_SHOWN, Choice, TeamView

if TYPE_CHECKING:
    import ipywidgets

    from sessionbank.bank import SessionBank

PAGE = 50  # interactions on a page of the list
MAX_EDGES = (
    300  # pairs in the list beside the graph; the others are reached with From and To, or in the matrix
)
VIEWS = ("Graph", "Timeline", "Hand-overs", "Weights")
_THRESHOLDS = {
    "critical_step_threshold": "step threshold", "critical_interaction_threshold": "interaction threshold",
    "max_critical_ratio": "largest share",
}  # fmt: skip


def team_explorer(
    team: Team, *, config: ScoreConfig | None = None, bank: SessionBank | None = None, redact: bool = True
) -> ipywidgets.VBox:
    """Look at a team: who reached whom and when; pick an edge and read it; turn weights and see what becomes critical.

    `config` is what the run is weighed with at first. `bank` also shows the stored line behind an interaction.
    Secrets and names of people are left out of what is shown, unless `redact` is False.

    Example:
        >>> import sessionbank as sb
        >>> from sessionbank.widgets.team_explorer import team_explorer
        >>> bank = sb.open_bank("data/shop.bundle", cache=False)
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> widget = team_explorer(run)
        >>> "Team checkout-steps" in widget.children[0].value
        True
        >>> bank.close()
    """
    return _Explorer(team, config=config, bank=bank, redact=redact).box


class _Explorer:
    """The controls of one explorer, and what is chosen in it."""

    def __init__(
        self, team: Team, *, config: ScoreConfig | None, bank: SessionBank | None, redact: bool
    ) -> None:
        import ipywidgets as w

        self.show = shown if redact else team_html.unchanged
        self.view = TeamView(team, config=config, show=self.show)
        self.bank = bank
        self._quiet = False
        self.page = 0
        self.found: list[int] = []
        self.step: int | None = None  # a step that is read in place of an interaction
        names = [(label(a, self.view.names), a) for a in self.view.agents]
        wide = {"description_width": "70px"}
        self.header, self.picture, self.reading = w.HTML(), w.HTML(), w.HTML()
        self.header.value = team_html.header_html(team, show=self.show)
        self.views = w.ToggleButtons(
            options=VIEWS, value="Graph", description="View", style={"button_width": "110px", "description_width": "70px"},
            tooltips=["Who reaches whom", "When: a lane an agent", "How often: press a count", "What is critical, and why"],
        )  # fmt: skip
        self.sender = w.Dropdown(options=[("anyone", ""), *names], description="From", style=wide,
                                 tooltip="Only interactions that this agent sent")  # fmt: skip
        self.receiver = w.Dropdown(options=[("anyone", ""), *names], description="To", style=wide,
                                   tooltip="Only interactions that reached this agent")  # fmt: skip
        used = {e.type for e in self.view.edges}
        self.type = w.Dropdown(options=[("all types", ""), *((t, t) for t in TYPES if t in used)], description="Type",
                               style=wide, tooltip="Only interactions of this type")  # fmt: skip
        self.kind = w.Dropdown(options=KINDS_SHOWN, value="all", description="Show", style=wide,
                               tooltip="Only critical, failed, emergent or inferred interactions")  # fmt: skip
        self.order = w.Dropdown(options=[("time", False), ("score, highest first", True)], description="Order",
                                style=wide, tooltip="Order of the list")  # fmt: skip
        self.words = w.Text(description="Search", placeholder="words in the text", continuous_update=False, style=wide,
                            tooltip="Only interactions whose text or names hold these words; press Enter")  # fmt: skip
        self.clear = w.Button(description="Show all", tooltip="Take all limits off the list")
        self.list = w.Select(options=[], description="Interactions", rows=16, tooltip="Pick an interaction to read it",
                             style={"description_width": "0"}, layout={"width": "auto"})  # fmt: skip
        self.before = w.Button(description="Previous page", tooltip="Earlier interactions of the list")
        self.after = w.Button(description="Next page", tooltip="Later interactions of the list")
        self.where = w.HTML()
        self.raw = w.Checkbox(value=False, description="Stored line", indent=False,
                              tooltip="Show the stored line of the transcript as well")  # fmt: skip
        self._make_graph_list()
        self._make_weights()
        lanes_step = {"step": 0.1, "readout_format": ".1f"}
        self.minutes = w.FloatRangeSlider(
            value=(0, 1), min=0, max=1, description="Minutes", continuous_update=False, style=wide, **lanes_step,
            tooltip="Which minutes the lanes show", layout={"width": "640px"},
        )  # fmt: skip
        self._minutes_set = False
        self.matrix = Matrix(
            self.view.by_pair, agents=self.view.agents, names=self.view.names, chosen=self._choose_pair
        )
        self.stage = w.VBox([])
        for control in (self.sender, self.receiver, self.type, self.kind, self.order, self.words):
            control.observe(lambda _: self._search(), "value")
        self.views.observe(lambda _: self._look(), "value")
        self.list.observe(lambda _: self._read(), "value")
        self.raw.observe(lambda _: self._read(), "value")
        self.minutes.observe(lambda _: self._draw(), "value")
        self.before.on_click(lambda _: self._turn(-1))
        self.after.on_click(lambda _: self._turn(1))
        self.clear.on_click(lambda _: self._show_all())
        pager = w.HBox([self.before, self.after, self.where])
        filters = w.VBox(
            [
                w.HBox([self.sender, self.receiver, self.type]),
                w.HBox([self.kind, self.order, self.words, self.clear]),
            ]
        )
        left = w.VBox([self.list, pager, *([self.raw] if bank is not None else [])], layout={"width": "46%"})
        self.reading.layout = {"width": "54%", "padding": "0 0 0 14px"}
        self.box = w.VBox([self.header, self.views, self.stage, filters, w.HBox([left, self.reading])])
        self._search()
        self._look()

    def _make_graph_list(self) -> None:
        import ipywidgets as w

        pairs = sorted(self.view.by_pair.values(), key=lambda p: -len(p.places))
        options: list[tuple[str, Any]] = [("all", None)]
        for p in pairs[:MAX_EDGES]:
            who = f"{label(p.sender, self.view.names)} → {label(p.receiver, self.view.names)}"
            options.append((f"{len(p.places):>4}  {who}", (p.sender, p.receiver)))
        self.edges = w.Select(options=options, value=None, description="Edges", rows=18,
                              tooltip="Pick an edge of the graph: its interactions are listed below",
                              style={"description_width": "0"}, layout={"width": "auto"})  # fmt: skip
        self.edges.observe(lambda _: self._choose_pair(self.edges.value), "value")

    def _make_weights(self) -> None:
        import ipywidgets as w

        self.sliders: dict[str, Any] = {}
        start = self.view.at_start.config
        wanted = [(p, team_html.PART_WORDS[p], start.step_weights[p]) for p in STEP_PARTS]
        wanted += [(p, team_html.PART_WORDS[p], start.interaction_weights[p]) for p in INTERACTION_PARTS]
        wanted += [(name, words, getattr(start, name)) for name, words in _THRESHOLDS.items()]
        for name, words, value in wanted:
            what = (
                "How far this part alone lifts a total"
                if name not in _THRESHOLDS
                else "What makes it critical"
            )
            slider = w.FloatSlider(
                value=value, min=0, max=1, step=0.05, description=words, continuous_update=False, readout_format=".2f",
                tooltip=f"{words}: {what}, 0 to 1", style={"description_width": "150px"}, layout={"width": "350px"},
            )  # fmt: skip
            slider.observe(lambda _: self._weigh(), "value")
            self.sliders[name] = slider
        self.reset = w.Button(description="Weights as at the start", layout={"width": "200px"},
                              tooltip="Put all weights and thresholds back")  # fmt: skip
        self.reset.on_click(lambda _: self._reset())
        self.critical_steps = w.Select(options=[("none", None)], value=None, description="Critical steps", rows=8,
                                       tooltip="Pick a critical step to read it below",
                                       style={"description_width": "0"}, layout={"width": "350px"})  # fmt: skip
        self.critical_steps.observe(lambda _: self._read_step(), "value")
        self.critical = w.HTML(layout={"width": "600px", "padding": "0 0 0 18px"})

    # -- what is looked at ----------------------------------------------------------------------------------------

    def _look(self) -> None:
        import ipywidgets as w

        def title(text: str) -> Any:
            return w.HTML(tones.pane(f"<h4>{text}</h4>"))

        def sliders(names: Any) -> list[Any]:
            return [self.sliders[n] for n in names]

        if self.views.value == "Graph":
            self.picture.layout = {"width": "72%"}
            side = w.VBox([title("Edges"), self.edges], layout={"width": "28%", "padding": "0 0 0 12px"})
            children: list[Any] = [w.HBox([self.picture, side])]
        elif self.views.value == "Timeline":
            self._set_minutes()
            self.picture.layout = {"width": "100%"}
            children = [self.picture, self.minutes]
        elif self.views.value == "Hand-overs":
            children = [self.matrix.box]
        else:
            left = [title("Weights of steps"), *sliders(STEP_PARTS), title("Weights of interactions")]
            left += [*sliders(INTERACTION_PARTS), title("Critical from"), *sliders(_THRESHOLDS), self.reset]
            left += [title("Read a critical step"), self.critical_steps]
            children = [w.HBox([w.VBox(left), self.critical])]
        self.stage.children = children
        self._draw()

    def _set_minutes(self) -> None:
        """The slider gets its ends when the lanes are first looked at: before, nobody needs them."""
        if not self._minutes_set:
            self._minutes_set = True
            longest = max(self.view.lanes.minutes, 0.1)
            with self._silently():
                self.minutes.max = longest
                self.minutes.step = max(round(longest / 200, 2), 0.01)
                self.minutes.value = (0, longest)

    def _draw(self) -> None:
        """Draws what is looked at, and nothing else."""
        if self._quiet:
            return
        place, pair = self.list.value, self._pair()
        if self.views.value == "Graph":
            self.picture.value = tones.pane(graph_html(
                self.view.agents, self.view.by_pair, names=self.view.names, chosen=pair, critical=self.view.critical_edges
            ), label="graph")  # fmt: skip
        elif self.views.value == "Timeline":
            lanes = self.view.lanes
            self.picture.value = tones.pane(timeline_html(
                lanes.agents, lanes.pieces, lanes.handovers, span=self.minutes.value, names=self.view.names, chosen=place,
                critical=self.view.critical_edges, totals=self.view.totals, critical_steps=self.view.critical_minutes(),
                untimed=lanes.untimed,
            ), label="timeline")  # fmt: skip
        elif self.views.value == "Hand-overs":
            self.matrix.mark(pair)
        else:
            self._draw_critical()

    def _draw_critical(self) -> None:
        parts = []
        for what, of in (("steps", len(self.view.steps)), ("interactions", len(self.view.edges))):
            rows, places, left = self.view.critical(what)
            parts.append(team_html.critical_html(what, rows, of=of, left=left, show=self.show))
            if what == "steps":
                options = [
                    ("none", None),
                    *((f"{r.total:.2f}  {r.name}", p) for r, p in zip(rows, places, strict=True)),
                ]
                with self._silently():
                    kept = self.step if self.step in places else None
                    self.critical_steps.options = options[: PAGE + 1] if kept is None else options
                    self.critical_steps.value = kept
        self.critical.value = tones.pane(*parts, label="critical set")

    def _pair(self) -> tuple[str, str] | None:
        if self.list.value is not None:
            edge = self.view.edges[self.list.value]
            return edge.from_agent, edge.to_agent
        sender, receiver = self.sender.value, self.receiver.value
        return (sender, receiver) if sender and receiver else None

    # -- what is chosen -------------------------------------------------------------------------------------------

    def _choice(self) -> Choice:
        return Choice(
            self.sender.value or None,
            self.receiver.value or None,
            self.type.value or None,
            self.kind.value,
            self.words.value,
            self.order.value,
        )

    def _search(self) -> None:
        if self._quiet:
            return
        self.found = self.view.matching(self._choice())
        self.page = 0
        both = (self.sender.value, self.receiver.value)
        with self._silently():
            known = {value for _, value in self.edges.options}
            self.edges.value = both if both in known else None
        self._fill(keep=False)

    def _show_all(self) -> None:
        with self._silently():
            self.sender.value = self.receiver.value = self.type.value = ""  # None would show nothing
            self.kind.value, self.words.value = "all", ""
        self._search()

    def _choose_pair(self, pair: tuple[str, str] | None) -> None:
        """An edge was clicked: its interactions are listed, the first is read."""
        if self._quiet:
            return
        with self._silently():
            self.sender.value, self.receiver.value = pair or ("", "")
        self._search()

    def _turn(self, by: int) -> None:
        self.page += by
        self._fill(keep=False)

    def _fill(self, *, keep: bool) -> None:
        """One page of the list; the first of it is read, unless what was read is to stay and is on it."""
        pages = max(1, -(-len(self.found) // PAGE))
        self.page = min(max(self.page, 0), pages - 1)
        mine = self.found[self.page * PAGE : (self.page + 1) * PAGE]
        options = [
            (team_html.list_label(p, self.view.edges[p], self.view.names, total=self.view.totals[p],
                                  is_critical=p in self.view.critical_edges, show=self.show), p)
            for p in mine
        ]  # fmt: skip
        before = self.list.value
        with self._silently():
            self.list.options = options
            self.list.value = before if keep and before in mine else (mine[0] if mine else None)
        first = self.page * PAGE + 1 if mine else 0
        self.where.value = tones.pane(
            f'<span class="q">{first:,}–{self.page * PAGE + len(mine):,} of {len(self.found):,}</span>'
        )
        self.before.disabled, self.after.disabled = self.page == 0, self.page >= pages - 1
        if not keep:
            self._read()

    def _read(self) -> None:
        if self._quiet:
            return
        self.step = None
        place = self.list.value
        if place is None:
            self.reading.value = tones.pane(
                '<div class="q">No interaction is left.</div>', label="interaction"
            )
        else:
            edge = self.view.edges[place]
            sent, received = self.view.ends(place)
            self.reading.value = team_html.interaction_html(
                edge, place=place, names=self.view.names, score=self.view.edge_row(place), config=self.view.now.config,
                sent_by=sent, received_by=received, raw=self._stored(edge.session_id, edge.from_step), show=self.show,
            )  # fmt: skip
        self._draw()

    def _read_step(self) -> None:
        if self._quiet or self.critical_steps.value is None:
            return
        self.step = self.critical_steps.value
        step = self.view.steps[self.step]
        self.reading.value = team_html.step_html(
            step, names=self.view.names, score=self.view.step_row(self.step), config=self.view.now.config,
            raw=self._stored(step.session_id, step.seq), show=self.show,
        )  # fmt: skip

    def _stored(self, session_id: str | None, seq: int | None) -> str | None:
        """The stored line, where it is asked for and the bank has it."""
        if self.bank is None or not self.raw.value or session_id is None or seq is None:
            return None
        lines = self.bank.raw({"session_id": session_id, "seq": seq})
        return b"\n".join(lines).decode("utf-8", "replace")

    # -- weights --------------------------------------------------------------------------------------------------

    def _weigh(self) -> None:
        if self._quiet:
            return
        value = {name: round(float(s.value), 6) for name, s in self.sliders.items()}
        self.view.weigh(ScoreConfig(
            step_weights={p: value[p] for p in STEP_PARTS},
            interaction_weights={p: value[p] for p in INTERACTION_PARTS},
            **{name: value[name] for name in _THRESHOLDS},
        ))  # fmt: skip
        self.found = self.view.matching(self._choice())
        self._fill(keep=True)
        if self.step is None:
            self._read()
        else:
            self._draw()
            self._read_step()

    def _reset(self) -> None:
        start = self.view.at_start.config
        value = {
            **start.step_weights,
            **start.interaction_weights,
            **{n: getattr(start, n) for n in _THRESHOLDS},
        }
        with self._silently():
            for name, slider in self.sliders.items():
                slider.value = value[name]
        self._weigh()

    @contextmanager
    def _silently(self) -> Iterator[None]:
        """Values that we set ourselves are no choice of the reader."""
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before
