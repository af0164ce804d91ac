"""A picture of one session: who said what and which tools ran, along its time. Nothing is counted here.

Long pauses would squeeze the work into thin lines, so time in which nothing begins or ends is cut down to a short gap
and marked.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from sessionbank.errors import QueryError
from sessionbank.plot import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

PAUSE_MIN = 5.0  # a gap longer than this is cut down, as active time is capped
_CUT_SHARE = 0.03  # what is left of a pause, as a share of the time at work
_LANES = {"prompt": "prompts", "reply": "replies"}


def session_timeline_data(
    messages: pd.DataFrame, tool_calls: pd.DataFrame | None = None, *, pause_min: float = PAUSE_MIN
) -> pd.DataFrame:
    """The events of one session in time order; `messages` and `tool_calls` are its frames.

    Columns: lane (prompts, replies, a tool, or subagent and its id), what (kind or tool), status (of calls), start and
    end (UTC), minutes since the first event, and at_min, end_min: the same with pauses over `pause_min` minutes cut
    down. Lines without a time are left out. Raises `QueryError` where the frames hold several sessions.

    Example:
        >>> found = bank.query(search="CSRF")
        >>> sb.plot.session_timeline_data(found.messages(), found.tool_calls()).shape
        (53, 8)
    """
    import pandas as pd

    style.need(messages, ["session_id", "kind", "timestamp", "is_subagent", "agent_id"], "messages()")
    sessions = set(messages["session_id"]) | (set() if tool_calls is None else set(tool_calls["session_id"]))
    if len(sessions) > 1:
        raise QueryError(f"a timeline is of one session, the frames hold {len(sessions)}; select one")
    shown = messages[messages["kind"].isin(list(_LANES)) & messages["timestamp"].notna()]
    parts = [
        pd.DataFrame({
            "lane": _lane(shown, shown["kind"].map(_LANES)), "what": shown["kind"], "status": None,
            "start": shown["timestamp"], "end": shown["timestamp"],
        })
    ]  # fmt: skip
    if tool_calls is not None:
        style.need(tool_calls, ["tool_name", "status", "called_at", "returned_at"], "tool_calls()")
        calls = tool_calls[tool_calls["called_at"].notna()]
        ended = calls["returned_at"].where(calls["returned_at"] >= calls["called_at"], calls["called_at"])
        parts.append(
            pd.DataFrame({
                "lane": _lane(calls, calls["tool_name"]), "what": calls["tool_name"], "status": calls["status"],
                "start": calls["called_at"], "end": ended,
            })
        )  # fmt: skip
    events = pd.concat([p.astype({"lane": "str", "what": "str", "status": "str"}) for p in parts])
    events = events.sort_values(["start", "end", "lane"], kind="stable", ignore_index=True)
    start = (events["start"] - events["start"].min()).dt.total_seconds() / 60
    end = (events["end"] - events["start"].min()).dt.total_seconds() / 60
    gaps = _pauses(start.tolist(), end.tolist(), pause_min)
    worked = max(end, default=0.0) - sum(b - a for a, b in gaps)
    left = min(pause_min, max(worked * _CUT_SHARE, 0.05))
    at, until = (_moved(times.tolist(), gaps, left) for times in (start, end))
    return events.assign(minutes=start, at_min=at, end_min=until)


def _lane(rows: pd.DataFrame, own: pd.Series) -> pd.Series:
    sub = rows["is_subagent"].astype(bool)
    return own.where(~sub, "subagent " + rows["agent_id"].fillna("").str[:12])


def _pauses(start: list[float], end: list[float], pause: float) -> list[tuple[float, float]]:
    """Stretches longer than `pause` in which nothing begins or ends; a call that waits for a person may span one."""
    points = sorted({*start, *end})
    return [(a, b) for a, b in pairwise(points) if b - a > pause]


def _moved(times: list[float], gaps: list[tuple[float, float]], left: float) -> list[float]:
    """Times after each gap is cut down to the length `left`."""
    return [t - sum(max(0.0, min(t, b) - a - left) for a, b in gaps) for t in times]


def session_timeline(
    messages: pd.DataFrame,
    tool_calls: pd.DataFrame | None = None,
    *,
    ax: Axes | None = None,
    pause_min: float = PAUSE_MIN,
) -> Axes:
    """One session along its time: prompts, replies, a lane a tool (bars as long as the call ran, coloured by status).

    Frames and errors as in `session_timeline_data`. Dashed lines stand where a pause over `pause_min` minutes was cut
    out. Gives the axes.

    Example:
        >>> found = bank.query(search="CSRF")
        >>> sb.plot.session_timeline(found.messages(), found.tool_calls()).get_title(loc="left")
        'Session timeline'
    """
    data = session_timeline_data(messages, tool_calls, pause_min=pause_min)
    title = "Session timeline"
    if data.empty:
        return style.nothing(style.axes(ax), "no line has a time", title=title)
    lanes = _ordered(data)
    ax = style.axes(ax, size=(8.4, 1.3 + 0.27 * max(len(lanes), 3)))
    place = {lane: n for n, lane in enumerate(lanes)}
    whole = max(float(data["end_min"].max()), 0.05)
    thin = whole * 0.004  # a call that took no time is still seen
    labelled: set[str] = set()
    for event in data.to_dict("records"):
        y, x = place[event["lane"]], event["at_min"]
        if event["status"] != event["status"]:  # a message: missing is NaN
            shape = "D" if event["what"] == "prompt" else "|"
            ax.plot([x], [y], shape, color=style.colour("kind", event["what"]), markersize=6, clip_on=False)
            continue
        label = event["status"].replace("_", " ") if event["status"] not in labelled else None
        labelled.add(event["status"])
        width = max(event["end_min"] - x, thin)
        ax.barh(y, width, left=x, height=0.62, color=style.colour("status", event["status"]), label=label)
    cuts = _cuts(data, pause_min)
    for x in cuts:
        ax.axvline(x, color=style.RULE, linewidth=0.9, linestyle=(0, (3, 3)), zorder=0)
    ax.set_yticks(range(len(lanes)), [style.plain(lane, width=34) for lane in lanes])
    ax.set_ylim(len(lanes) - 0.4, -0.6)
    ax.set_xlim(-whole * 0.01, whole * 1.02)
    style.legend(ax)
    span = float(data["minutes"].max())
    cut = (
        f", {len(cuts)} pause{'s' * (len(cuts) > 1)} over {pause_min:g} min cut out (dashed)" if cuts else ""
    )
    calls = data[data["status"].notna()]
    words = (
        f"{title} from {data['start'].iloc[0]:%Y-%m-%d %H:%M} UTC over {span:.0f} minutes{cut}: "
        f"prompts {int((data['what'] == 'prompt').sum())}, lines of replies {int((data['what'] == 'reply').sum())}, "
        f"tool calls {len(calls)}, of them not ok {int((calls['status'] != 'ok').sum())}."
    )
    return style.dress(ax, title=title, x=f"minutes since the first event{cut}", grid="x", words=words)


def _ordered(data: pd.DataFrame) -> list[str]:
    """Prompts, replies, tools (most used first), subagents (in order of appearance)."""
    lanes = [lane for lane in _LANES.values() if (data["lane"] == lane).any()]
    rest = data.loc[~data["lane"].isin(list(_LANES.values())), "lane"]
    counts = rest.value_counts()
    tools = sorted((x for x in counts.index if not x.startswith("subagent ")), key=lambda x: (-counts[x], x))
    return lanes + tools + list(dict.fromkeys(x for x in rest if x.startswith("subagent ")))


def _cuts(data: pd.DataFrame, pause: float) -> list[float]:
    """Where, on the shortened axis, time was cut out: the middle of what is left of each pause."""
    true = [*data["minutes"], *(data["minutes"] + (data["end"] - data["start"]).dt.total_seconds() / 60)]
    drawn = dict(zip(true, [*data["at_min"], *data["end_min"]], strict=True))
    return [(drawn[a] + drawn[b]) / 2 for a, b in _pauses(true, [], pause)]
