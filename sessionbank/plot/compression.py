"""A picture of what compression leaves of each agent's run: tokens stored and tokens re-read, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionbank.plot import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_PARTS = {
    "boundary_tokens": ("boundary steps, whole", style.BLUE),
    "inner_tokens": ("inner steps, what is left", style.SKY),
}


def compression_sizes_data(frame: pd.DataFrame) -> pd.DataFrame:
    """What `compression_sizes` draws, from ``agents`` of `team.compress`: agents with steps, the largest run first.

    Columns: agent_id, original_tokens, boundary_tokens, inner_tokens, tokens (estimated), share (tokens / original;
    missing where the original is 0).

    Example:
        >>> crew = sb.team.from_session(bank.query(search="agent team")[0])
        >>> sb.plot.compression_sizes_data(sb.team.compress(crew).agents)["agent_id"].tolist()
        ['team-lead', 'a6c783719d64f2360']
    """
    style.need(frame, ["agent_id", "original_tokens", "tokens", *_PARTS], "team.compress(team).agents")
    data = frame.loc[frame["original_tokens"] > 0, ["agent_id", "original_tokens", *_PARTS, "tokens"]]
    data = data.sort_values(["original_tokens", "agent_id"], ascending=[False, True], ignore_index=True)
    return data.assign(share=(data["tokens"] / data["original_tokens"]).astype("float64"))


def compression_sizes(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Bars of tokens that each agent's run has after compression, before an outline of what it had. Gives the axes.

    Example:
        >>> crew = sb.team.from_session(bank.query(search="agent team")[0])
        >>> sb.plot.compression_sizes(sb.team.compress(crew).agents).get_title(loc="left")
        'What compression leaves'
    """
    data = compression_sizes_data(frame)
    title = "What compression leaves"
    ax = style.axes(ax, size=(7.5, 1.3 + 0.4 * max(len(data), 2)))
    if data.empty:
        return style.nothing(ax, "no steps", title=title)
    at, before = range(len(data)), data["original_tokens"].astype(int).tolist()
    ax.barh(at, before, color="none", edgecolor=style.GREY, linewidth=1, label="before", height=0.72)
    left = [0] * len(data)
    for column, (label, paint) in _PARTS.items():
        values = data[column].astype(int).tolist()
        ax.barh(at, values, left=left, color=paint, label=label, height=0.56)
        left = [a + b for a, b in zip(left, values, strict=True)]
    for i, (end, share) in enumerate(zip(before, data["share"], strict=True)):
        ax.annotate(
            f"{100 * share:.0f} %",
            (end, i),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
        )
    ax.set_yticks(list(at), [style.plain(a, width=30) for a in data["agent_id"]])
    ax.invert_yaxis()
    style.room(ax, before)
    style.short_numbers(ax.xaxis)
    style.legend(ax)
    told = "; ".join(
        f"{style.plain(a, width=30)} {b:,} to {t:,}"
        for a, b, t in zip(data["agent_id"], before, data["tokens"], strict=True)
    )
    return style.dress(
        ax, title=title, x="tokens (estimated)", grid="x", words=f"{title}, in estimated tokens: {told}."
    )
