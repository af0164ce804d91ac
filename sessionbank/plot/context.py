"""A picture of what was said in a session and what its model still saw of it. The views are `Session.context_at`'s."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionbank.plot import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from sessionbank.records import Session


def context_growth_data(session: Session) -> pd.DataFrame:
    """For each message that the main agent's model could be sent, in the order of the file: how many there were so far,
    and how many of them were in its context when this one came.

    Columns: message (1, 2, …), kind, said, seen, uuid. Raises `QueryError` where the view cannot be told (see
    `Session.context_at`).

    Example:
        >>> compacted = next(s for s in bank.discover() if any(m.kind == "compact_summary" for m in s.messages))
        >>> sb.plot.context_growth_data(compacted)[["said", "seen"]].max().to_dict()
        {'said': 57, 'seen': 48}
    """
    import pandas as pd

    session.context_at()  # refuses before anything is counted
    spoken = [m for m in session.messages if m.in_context is not None]
    rows = [(at, m.kind, at, len(session.context_at(m)), m.uuid) for at, m in enumerate(spoken, 1)]
    frame = pd.DataFrame(rows, columns=["message", "kind", "said", "seen", "uuid"])
    return frame.astype({"message": "Int64", "kind": "str", "said": "Int64", "seen": "Int64", "uuid": "str"})


def context_growth(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Steps of what was said and what was seen; `frame` is what `context_growth_data` gives. Gives the axes.

    Example:
        >>> compacted = next(s for s in bank.discover() if any(m.kind == "compact_summary" for m in s.messages))
        >>> sb.plot.context_growth(sb.plot.context_growth_data(compacted)).get_title(loc="left")
        "Messages said, and messages in the model's context"
    """
    from matplotlib.ticker import MaxNLocator

    style.need(frame, ["message", "kind", "said", "seen"], "context_growth_data()")
    title = "Messages said, and messages in the model's context"
    ax = style.axes(ax, size=(7.5, 3.0))
    if frame.empty:
        return style.nothing(ax, "no messages", title=title)
    at, said, seen = ([int(v) for v in frame[c]] for c in ("message", "said", "seen"))
    ax.fill_between(at, seen, said, step="mid", color=style.FAINT, linewidth=0)
    ax.step(at, said, where="mid", color=style.GREY, linewidth=1.6, label="said so far")
    ax.step(at, seen, where="mid", color=style.BLUE, linewidth=2.0, label="in the context")
    summaries = [int(v) for v in frame.loc[frame["kind"].eq("compact_summary"), "message"]]
    for number, place in enumerate(summaries):
        label = "compaction" if number == 0 else None
        ax.axvline(place, color=style.VERMILION, linewidth=1.2, linestyle=(0, (4, 3)), label=label)
    ax.set_ylim(0, max(said) * 1.08)
    ax.set_xlim(0.5, max(at) + 0.5)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    style.legend(ax)
    words = f"{title}: {said[-1]} were said, {seen[-1]} of them are in the context at the end"
    words = f"{words}; compactions: {len(summaries)}."
    return style.dress(ax, title=title, x="messages in order of the file", y="messages", words=words)
