"""Pictures of tool calls by status and of messages by kind. Nothing is counted here but rows of the frames given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionbank.errors import QueryError
from sessionbank.plot import style
from sessionbank.records import KINDS, STATUSES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_WHO = ("all", "main", "subagents")


def tools_by_status_data(frame: pd.DataFrame, *, top: int | None = None, who: str = "all") -> pd.DataFrame:
    """Calls of each tool by status, most calls first; `frame` is ``tool_calls()``.

    Columns: tool (an MCP tool as ``server: tool``), ok, error, rejected, interrupted, no_result, total. Inherited rows
    are left out. With `top`, the tools after the first `top` are one row. Raises `QueryError` for an unknown `who`.

    Example:
        >>> int(sb.plot.tools_by_status_data(bank.tool_calls())["total"].sum())
        767
    """
    import pandas as pd

    style.need(frame, ["tool_name", "mcp_server", "status", "is_subagent", "inherited_from"], "tool_calls()")
    rows = _of(frame, who)
    tool = rows["tool_name"].where(rows["mcp_server"].isna(), rows["mcp_server"] + ": " + rows["tool_name"])
    counts = pd.crosstab(tool.rename("tool"), rows["status"]).reindex(columns=list(STATUSES), fill_value=0)
    counts = counts.astype("Int64").rename_axis(columns=None).reset_index()
    counts["total"] = counts[list(STATUSES)].sum(axis=1).astype("Int64")
    counts = counts.sort_values(["total", "tool"], ascending=[False, True], ignore_index=True)
    if top is not None and len(counts) > top:
        rest = counts.iloc[top:].sum(numeric_only=True)
        counts = counts.iloc[:top].copy()
        counts.loc[top] = {
            "tool": f"{len(tool.unique()) - top} others",
            **{c: int(v) for c, v in rest.items()},
        }
    return counts


def tools_by_status(
    frame: pd.DataFrame, *, ax: Axes | None = None, top: int | None = 14, who: str = "all"
) -> Axes:
    """Bars of calls by tool, parted by how they ended; `frame` is ``tool_calls()``. Gives the axes.

    Example:
        >>> sb.plot.tools_by_status(bank.tool_calls()).get_title(loc="left")
        'Tool calls by status'
    """
    data = tools_by_status_data(frame, top=top, who=who)
    title = "Tool calls by status" + {"all": "", "main": ", main agent", "subagents": ", subagents"}[who]
    ax = style.axes(ax, size=(7.5, 1.2 + 0.29 * max(len(data), 3)))
    if data.empty:
        return style.nothing(ax, "no tool calls", title=title)
    at = range(len(data))
    left = [0] * len(data)
    for status in STATUSES:
        values = [int(v) for v in data[status]]
        if any(values):
            label = status.replace("_", " ")
            ax.barh(at, values, left=left, color=style.colour("status", status), label=label, height=0.72)
        left = [a + b for a, b in zip(left, values, strict=True)]
    for i, total in enumerate(left):
        bad = total - int(data["ok"].iloc[i])
        label = f"{total}" + (f" ({bad} not ok)" if bad else "")
        ax.annotate(label, (total, i), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
    ax.set_yticks(list(at), [style.plain(t, width=34) for t in data["tool"]])
    ax.invert_yaxis()
    style.room(ax, left, share=0.3)
    style.legend(ax)
    sums = ", ".join(f"{s.replace('_', ' ')} {int(data[s].sum())}" for s in STATUSES)
    most = f"Most used: {data['tool'].iloc[0]}, {left[0]} calls."
    words = f"{title}: {sum(left)} calls in {len(data)} bars; {sums}. {most}"
    return style.dress(ax, title=title, x="calls", grid="x", words=words)


def messages_by_kind_data(frame: pd.DataFrame) -> pd.DataFrame:
    """Lines of each role by kind, inherited ones left out; `frame` is ``messages()``.

    Columns: kind, role, is_subagent, lines.

    Example:
        >>> sb.plot.messages_by_kind_data(bank.messages()).shape
        (23, 4)
    """
    style.need(frame, ["kind", "role", "is_subagent", "inherited_from"], "messages()")
    own = frame[frame["inherited_from"].isna()]
    counts = (
        own.groupby(["kind", "role", "is_subagent"], as_index=False).size().rename(columns={"size": "lines"})
    )
    counts["lines"] = counts["lines"].astype("Int64")
    counts["place"] = counts["kind"].map({k: n for n, k in enumerate(KINDS)}).fillna(len(KINDS))
    counts = counts.sort_values(["place", "role", "is_subagent"], ignore_index=True)
    return counts.drop(columns="place")


def messages_by_kind(frame: pd.DataFrame, *, ax: Axes | None = None, role: str = "user") -> Axes:
    """Bars: what the main agent's lines of one role really are; `frame` is ``messages()``. Gives the axes.

    Example:
        >>> sb.plot.messages_by_kind(bank.messages()).get_title(loc="left")
        'What lines of the role user are'
    """
    data = messages_by_kind_data(frame)
    data = data[(data["role"] == role) & ~data["is_subagent"].astype(bool)]
    title = f"What lines of the role {role} are"
    ax = style.axes(ax, size=(7.5, 1.2 + 0.3 * max(len(data), 3)))
    if data.empty:
        return style.nothing(ax, "no such lines", title=title)
    data = data.sort_values(["lines", "kind"], ascending=[False, True])
    at = range(len(data))
    paint = [style.colour("kind", k if k in ("prompt", "reply") else "other") for k in data["kind"]]
    ax.barh(at, data["lines"].astype(int).tolist(), color=paint, height=0.72)
    for i, lines in enumerate(data["lines"]):
        ax.annotate(
            str(lines), (int(lines), i), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8
        )
    ax.set_yticks(list(at), [k.replace("_", " ") for k in data["kind"]])
    ax.invert_yaxis()
    style.room(ax, data["lines"].astype(int), share=0.1)
    told = ", ".join(f"{k.replace('_', ' ')} {n}" for k, n in zip(data["kind"], data["lines"], strict=True))
    return style.dress(ax, title=title, x="lines", grid="x", words=f"{title}: {told}.")


def _of(frame: pd.DataFrame, who: str) -> pd.DataFrame:
    if who not in _WHO:
        raise QueryError(f"who is one of {', '.join(_WHO)}, not {who!r}")
    own = frame[frame["inherited_from"].isna()]
    sub = own["is_subagent"].astype(bool)
    return own if who == "all" else own[sub if who == "subagents" else ~sub]
