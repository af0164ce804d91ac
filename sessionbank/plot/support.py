"""A picture of the support matrix: which questions the agents' transcripts answer. What they record is told in
`transcripts.support`; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from sessionbank.errors import QueryError
from sessionbank.plot import style
from sessionbank.transcripts.support import Cell

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_STATES = {  # colour, mark and its ink
    "recorded": (style.BLUE, "●", "white"),
    "inferred": (style.SKY, "○", style.INK),
    "unseen": ("#FFFFFF", "(●)", style.GREY),
    "absent": (style.FAINT, "–", style.GREY),
}


def support_matrix_data(cells: Iterable[Cell], questions: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """For each question (name -> table and column that answer it) and agent: recorded, inferred, unseen or absent.

    Unseen is what a reader takes but no sample holds. One row a question, one column an agent, in the orders given.
    `cells` are those of `transcripts.support.support`. Raises `QueryError` for a column that they do not hold.

    Example:
        >>> from sessionbank.transcripts.support import support
        >>> asked = {"Who spoke?": ("messages", "role")}
        >>> sb.plot.support_matrix_data(support(), asked).shape
        (1, 10)
    """
    import pandas as pd

    states: dict[tuple[str, str], dict[str, str]] = {}
    for cell in cells:
        is_unseen = cell.state != "absent" and not cell.is_seen
        states.setdefault((cell.table, cell.column), {})[cell.agent] = "unseen" if is_unseen else cell.state
    unknown = [".".join(place) for place in questions.values() if place not in states]
    if unknown:
        raise QueryError(f"the support matrix has no column {', '.join(unknown)}")
    return pd.DataFrame(
        [states[place] for place in questions.values()], index=pd.Index(questions, name="question")
    )


def support_matrix(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Squares, a row a question and a column an agent; `frame` is what `support_matrix_data` gives. Gives the axes.

    Example:
        >>> from sessionbank.transcripts.support import support
        >>> asked = {"Who spoke?": ("messages", "role")}
        >>> sb.plot.support_matrix(sb.plot.support_matrix_data(support(), asked)).get_title(loc="left")
        "What the agents' transcripts record"
    """
    title = "What the agents' transcripts record"
    ax = style.axes(ax, size=(2.6 + 0.58 * max(frame.shape[1], 3), 1.7 + 0.3 * max(frame.shape[0], 3)))
    if frame.empty:
        return style.nothing(ax, "no questions", title=title)
    odd = sorted(set(frame.to_numpy().ravel()) - set(_STATES))
    if odd:
        raise QueryError(f"a cell is {', '.join(_STATES)}, not {odd[0]!r}")
    for row, question in enumerate(frame.index):
        for column, agent in enumerate(frame.columns):
            paint, mark, ink = _STATES[frame.loc[question, agent]]
            ax.bar(column, 0.92, 0.92, row - 0.46, color=paint, linewidth=0)
            ax.text(column, row, mark, ha="center", va="center", fontsize=9, color=ink)
    for state, (paint, mark, _) in _STATES.items():
        ax.bar(0, 0, color=paint, label=f"{mark} {state}")
    ax.set_xticks(range(frame.shape[1]), [style.plain(a) for a in frame.columns], rotation=35, ha="right")
    ax.set_yticks(range(frame.shape[0]), [style.plain(q, width=44) for q in frame.index])
    ax.set_xlim(-0.5, frame.shape[1] - 0.5)
    ax.set_ylim(frame.shape[0] - 0.5, -0.5)
    style.legend(ax)
    counts = ", ".join(f"{a} {int(frame[a].isin(['recorded', 'inferred']).sum())}" for a in frame.columns)
    words = f"{title}: questions of {frame.shape[0]} that are answered, recorded or inferred: {counts}."
    ax = style.dress(ax, title=title, grid="", words=words)
    ax.tick_params(length=0)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    return ax
