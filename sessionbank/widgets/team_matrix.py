"""The hand-over matrix as buttons: senders down, receivers across, a press on a count names the pair. No HTML is made here
beyond the names at the edges.

A window of at most `SIDE` by `SIDE` cells is shown and moved with two dropdowns: a button costs the browser more than a
number, and a team of 40 would have 1,600.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from sessionbank.html import shortened
from sessionbank.widgets import tones
from sessionbank.widgets.team_svg import Pair, label, told

SIDE = 12
_LEVELS = 4
_TONE = "rgba(0, 114, 178, {:.2f})"  # the blue of pictures, see-through: legible on light and dark


class Matrix:
    """`box` is the widget; `chosen` is told the pair whose cell was pressed."""

    def __init__(
        self,
        by_pair: Mapping[tuple[str, str], Pair],
        *,
        agents: Sequence[str],
        names: Mapping[str, str],
        chosen: Callable[[tuple[str, str]], None],
    ) -> None:
        import ipywidgets

        self._pairs, self._names, self._tell = by_pair, names, chosen
        self._most = max((len(p.places) for p in by_pair.values()), default=1)
        sending, receiving = {a for a, _ in by_pair}, {b for _, b in by_pair}
        self._senders = [a for a in agents if a in sending]
        self._receivers = [a for a in agents if a in receiving]
        self._marked: tuple[str, str] | None = None
        style: Any = ipywidgets.ButtonStyle
        layout: Any = ipywidgets.Layout
        self._styles = [style(button_color=_TONE.format(0.14 + 0.13 * k)) for k in range(_LEVELS)]
        self._empty = style(button_color="rgba(128, 128, 128, 0.05)")
        size: dict[str, str] = {"width": "auto", "height": "28px", "margin": "0"}
        self._plain = layout(**size, padding="0")
        self._framed = layout(**size, padding="0", border="2px solid currentcolor")
        rows, columns = min(SIDE, len(self._senders)), min(SIDE, len(self._receivers))
        name: dict[str, str] = {"margin": "0", "overflow": "hidden"}
        self._heads = [ipywidgets.HTML(layout=layout(**name, height="118px")) for _ in range(columns)]
        self._sides = [ipywidgets.HTML(layout=layout(**name, height="28px")) for _ in range(rows)]
        self._cells = [
            [ipywidgets.Button(layout=self._plain, style=self._empty) for _ in range(columns)]
            for _ in range(rows)
        ]
        for r, line in enumerate(self._cells):
            for c, cell in enumerate(line):
                cell.on_click(lambda _, r=r, c=c: self._press(r, c))
        self._down = self._window("Senders", self._senders)
        self._across = self._window("Receivers", self._receivers)
        corner = ipywidgets.HTML(
            tones.pane('<div class="q" style="padding:94px 6px 0 0;text-align:right">from ↓ to →</div>'),
            layout=layout(**name),
        )
        grid = [corner, *self._heads]
        for side, line in zip(self._sides, self._cells, strict=True):
            grid += [side, *line]
        wanted = layout(grid_template_columns=f"170px repeat({columns}, minmax(34px, 58px))", grid_gap="3px")
        pagers = [
            d
            for d, all_ in ((self._down, self._senders), (self._across, self._receivers))
            if len(all_) > SIDE
        ]
        parts: list[Any] = [ipywidgets.HBox(pagers)] if pagers else []
        if not by_pair:
            grid = [ipywidgets.HTML(tones.pane('<div class="q">There is no interaction.</div>'))]
        self.box = ipywidgets.VBox([*parts, ipywidgets.GridBox(grid, layout=wanted)])
        self._draw()

    def mark(self, pair: tuple[str, str] | None) -> None:
        """Frames the cell of a pair, and moves the window to it."""
        self._marked = pair
        if pair is not None:
            for dropdown, agents, name in (
                (self._down, self._senders, pair[0]), (self._across, self._receivers, pair[1])
            ):  # fmt: skip
                if name in agents:
                    dropdown.value = agents.index(name) // SIDE
        self._draw()

    def _window(self, name: str, agents: Sequence[str]) -> Any:
        import ipywidgets

        pages = range(max(1, math.ceil(len(agents) / SIDE)))
        options = [(f"{SIDE * k + 1}–{min(SIDE * (k + 1), len(agents))} of {len(agents)}", k) for k in pages]
        dropdown = ipywidgets.Dropdown(
            options=options, value=0, description=name, tooltip=f"Which {name.lower()} the matrix shows",
            layout={"width": "220px"},
        )  # fmt: skip
        dropdown.observe(lambda _: self._draw(), "value")
        return dropdown

    def _at(self, agents: Sequence[str], page: int, k: int) -> str | None:
        place = page * SIDE + k
        return agents[place] if place < len(agents) else None

    def _press(self, row: int, column: int) -> None:
        a, b = (
            self._at(self._senders, self._down.value, row),
            self._at(self._receivers, self._across.value, column),
        )
        if a is not None and b is not None and (a, b) in self._pairs:
            self._tell((a, b))

    def _draw(self) -> None:
        if not self._pairs:
            return
        for k, head in enumerate(self._heads):
            head.value = self._name(self._at(self._receivers, self._across.value, k), is_upright=True)
        for r, line in enumerate(self._cells):
            sender = self._at(self._senders, self._down.value, r)
            self._sides[r].value = self._name(sender, is_upright=False)
            for c, cell in enumerate(line):
                receiver = self._at(self._receivers, self._across.value, c)
                pair = None if sender is None or receiver is None else self._pairs.get((sender, receiver))
                self._fill(cell, pair)

    def _fill(self, cell: Any, pair: Pair | None) -> None:
        count = len(pair.places) if pair else 0
        level = min(_LEVELS - 1, int(_LEVELS * math.sqrt(count / self._most) - 1e-9)) if count else 0
        cell.description = f"{count}" if count else ""
        cell.tooltip = f"Read {told(pair, self._names)}" if pair else "no interaction"
        cell.disabled = not count
        cell.style = self._styles[level] if count else self._empty
        is_marked = pair is not None and (pair.sender, pair.receiver) == self._marked
        cell.layout = self._framed if is_marked else self._plain

    def _name(self, agent: str | None, *, is_upright: bool) -> str:
        if agent is None:
            return ""
        name = label(agent, self._names)
        look = "text-align:right;padding:4px 6px 0 0;white-space:nowrap;overflow:hidden"
        if is_upright:
            look = "writing-mode:vertical-rl;transform:rotate(180deg);height:114px;white-space:nowrap;margin:0 auto"
        text = f'<div style="{look}" title="{escape(name)}">{escape(shortened(name, 14 if is_upright else 22))}</div>'
        return tones.pane(text)
