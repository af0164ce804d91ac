"""A picture of what the lines of playbooks rest on: runs for and against each. Nothing is distilled here."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from sessionbank.plot import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_PARTS = {
    "runs_for": ("runs for it", style.GREEN),
    "runs_against": ("runs against it", style.VERMILION),
    "neither": ("runs that say nothing", style.PALE),
}


def line_support_data(frame: pd.DataFrame, *, top: int = 10) -> pd.DataFrame:
    """What `line_support` draws: the `top` surest lines; `frame` is a frame of ``learning.lines(memory)``.

    Columns: text, direction (do, avoid), standing, confidence (0 to 1), runs_for, runs_against, and neither: the other
    runs of known outcome. A line that stands in several playbooks is one row.

    Example:
        >>> import pandas as pd
        >>> memory = sb.learning.Memory("memory")
        >>> atlas = sb.Atlas(bank, memory, config={"session_bank": {"outcome_strategy": "evidence"}})
        >>> _ = atlas.ingest_sessions(limit=29), atlas.run_batch()
        >>> sb.plot.line_support_data(pd.DataFrame(sb.learning.lines(memory)), top=1)["runs_for"].tolist()
        [9]
    """
    wanted = ["line_id", "text", "direction", "standing", "confidence", "runs", "runs_for", "runs_against"]
    style.need(frame, wanted, "learning.lines(memory), as a frame,")
    data = frame[wanted].drop_duplicates("line_id")
    data = data.sort_values(["confidence", "line_id"], ascending=[False, True], ignore_index=True).head(top)
    neither = data["runs"] - data["runs_for"] - data["runs_against"]
    return data.assign(neither=neither.clip(lower=0)).drop(columns=["line_id", "runs"])


def line_support(frame: pd.DataFrame, *, ax: Axes | None = None, top: int = 10) -> Axes:
    """Bars of runs for and against each of the `top` surest lines, with their confidence. Gives the axes.

    Example:
        >>> import pandas as pd
        >>> memory = sb.learning.Memory("memory")
        >>> atlas = sb.Atlas(bank, memory, config={"session_bank": {"outcome_strategy": "evidence"}})
        >>> _ = atlas.ingest_sessions(limit=29), atlas.run_batch()
        >>> sb.plot.line_support(pd.DataFrame(sb.learning.lines(memory))).get_title(loc="left")
        'What the lines of playbooks rest on'
    """
    from matplotlib.ticker import MaxNLocator

    title = "What the lines of playbooks rest on"
    if frame.empty:
        return style.nothing(style.axes(ax), "no lines yet", title=title)
    data = line_support_data(frame, top=top)
    ax = style.axes(ax, size=(8.4, 1.3 + 0.5 * max(len(data), 2)))
    left = [0] * len(data)
    for column, (label, paint) in _PARTS.items():
        values = data[column].astype(int).tolist()
        ax.barh(range(len(data)), values, left=left, color=paint, label=label, height=0.62)
        left = [a + b for a, b in zip(left, values, strict=True)]
    for i, (end, confidence) in enumerate(zip(left, data["confidence"], strict=True)):
        ax.annotate(
            f"{confidence:.2f}",
            (end, i),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
        )
    said = [
        f"{'' if d == 'do' else 'avoid: '}{t}" for d, t in zip(data["direction"], data["text"], strict=True)
    ]
    ax.set_yticks(range(len(data)), ["\n".join(textwrap.wrap(style.plain(t, width=110), 48)) for t in said])
    ax.invert_yaxis()
    style.room(ax, left)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    style.legend(ax)
    told = "; ".join(
        f"{style.plain(t, width=70)}: {f} for, {a} against, confidence {c:.2f}"
        for t, f, a, c in zip(said, data["runs_for"], data["runs_against"], data["confidence"], strict=True)
    )
    return style.dress(
        ax, title=title, x="runs of known outcome (number: confidence)", grid="x", words=f"{title}. {told}."
    )
