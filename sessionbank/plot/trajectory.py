"""Pictures of trajectories and of outcomes: steps of a run, how far runs get, strategies side by side and compared.

Frames of `steps`, `outcomes`, `agreement` and `accuracy` are drawn. Only rows are counted here: nothing is judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from sessionbank.errors import QueryError
from sessionbank.plot import style
from sessionbank.records import STATUSES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

RESPOND = "respond"  # the action of a step without a tool call
_STRIP = 1.7  # height of the strip of tokens, in lanes
_LABELS = ("success", "partial", "failure", "unknown")
STAGES = ("any step", "looked", "changed files", "ran a check", "a check passed", "committed")
_AGREE = {
    "kappa": "Agreement beyond chance (Cohen's kappa)",
    "share": "Share of sessions with the same label",
}
_KIND = {
    "looked": "read", "changed files": "write", "ran a check": "check", "a check passed": "check",
    "committed": "commit",
}  # fmt: skip


# -- the steps of one run --------------------------------------------------------------------------------------


def trajectory_timeline_data(steps: pd.DataFrame) -> pd.DataFrame:
    """The steps of one session in the order of their times; `steps` is a frame of table ``steps``.

    Columns: at (place in the run, from 0), lane (the action, or subagent and its id), step, action_name, status
    (missing without a call), started_at, duration_ms, tokens (of the reply, on its first step; missing where not
    recorded). A step without a time stays behind the one before it. Raises `QueryError` where the frame holds several
    sessions.
    """
    wanted = ["session_id", "step", "status", "started_at", "duration_ms", "tokens"]
    style.need(steps, [*wanted, "action_name", "agent_id", "parent_tool_call_id"], "steps()")
    if steps["session_id"].nunique() > 1:
        raise QueryError(
            f"a timeline is of one session, the frame holds {steps['session_id'].nunique()}; select one"
        )
    child = steps["agent_id"].fillna(steps["parent_tool_call_id"])
    lane = steps["action_name"].where(child.isna(), "subagent " + child.fillna("").str[:12])
    agent = child.fillna("")
    time = steps["started_at"].groupby(agent).ffill()
    data = steps.assign(lane=lane, _time=time).sort_values("_time", kind="stable", na_position="first")
    data = data.assign(at=range(len(data)))
    kept = ["at", "lane", "step", "action_name", "status", "started_at", "duration_ms", "tokens"]
    return data[kept].reset_index(drop=True)


def trajectory_timeline(steps: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """The steps of one session from left to right, a lane a tool, and above them the tokens of each reply.

    Colour: how the call ended; what is not ok is a cross. Frame and errors as in `trajectory_timeline_data`. Gives the
    axes.
    """
    data = trajectory_timeline_data(steps)
    title = "Trajectory"
    if data.empty:
        return style.nothing(style.axes(ax), "no steps", title=title)
    from matplotlib.ticker import MaxNLocator

    lanes = _lanes(data)
    place = {lane: n for n, lane in enumerate(lanes)}
    n = len(data)
    ax = style.axes(ax, size=(8.6, 1.9 + 0.3 * max(len(lanes), 3)))
    _strip(ax, data)
    size = 34 if n <= 80 else max(4.0, 2700 / n)
    for status in STATUSES:
        mine = data[data["status"] == status]
        if len(mine):
            ax.scatter(
                mine["at"], mine["lane"].map(place), s=size if status == "ok" else size * 1.7, linewidths=0,
                marker="s" if status == "ok" else "X", color=style.colour("status", status),
                label=f"{status.replace('_', ' ')} ({len(mine)})", zorder=3 + (status != "ok"),
            )  # fmt: skip
    words_only = data[data["status"].isna()]
    if len(words_only):
        ax.scatter(
            words_only["at"], words_only["lane"].map(place), s=size, marker="D", linewidths=0, zorder=3,
            color=style.colour("kind", "reply"), label=f"no call ({len(words_only)})",
        )  # fmt: skip
    ax.set_yticks(range(len(lanes)), [style.plain(lane, width=30) for lane in lanes])
    ax.set_ylim(len(lanes) - 0.4, -0.75 - _STRIP)
    ax.set_xlim(-0.02 * n - 0.5, n - 0.5 + 0.02 * n)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    style.legend(ax)
    bad = int((data["status"].notna() & (data["status"] != "ok")).sum())
    total = int(data["tokens"].sum())
    lost = int(data["tokens"].isna().sum())
    words = (
        f"{title} of {n} steps: {n - len(words_only)} tool calls, of them not ok {bad}; "
        f"{total:,} tokens{f', not recorded for {lost} of the steps' if lost else ''}. "
        f"Most used: {', '.join(f'{lane} {int((data.lane == lane).sum())}' for lane in lanes[:4])}."
    )
    return style.dress(
        ax, title=f"{title}: {n} steps, {bad} not ok", x="steps in time order", grid="x", words=words
    )


def _strip(ax: Axes, data: pd.DataFrame) -> None:
    """Bars of tokens above the lanes, with the size of the tallest written beside them."""
    most = float(data["tokens"].max()) if data["tokens"].notna().any() else 0.0
    base = -0.75
    ax.axhline(base, color="#9A9A9A", linewidth=0.8)
    if not most:
        return
    known = data[data["tokens"].fillna(0) > 0]
    heights = known["tokens"].astype("float64") / most * (_STRIP - 0.35)
    ax.bar(known["at"], -heights, bottom=base, width=0.7, color=style.BLUE, alpha=0.8, linewidth=0)
    ax.text(
        0.008, 0.985, f"tokens a reply, at most {style.short(most)}", transform=ax.transAxes, va="top", fontsize=8,
        color=style.BLUE,
    )  # fmt: skip


def _lanes(data: pd.DataFrame) -> list[str]:
    """Replies without a call, tools (most used first), subagents (in order of appearance)."""
    counts = data["lane"].value_counts()
    own = [x for x in counts.index if not x.startswith("subagent ")]
    tools = sorted((x for x in own if x != RESPOND), key=lambda x: (-counts[x], x))
    children = [x for x in dict.fromkeys(data["lane"]) if x.startswith("subagent ")]
    return [*([RESPOND] if RESPOND in own else []), *tools, *children]


# -- how far runs get --------------------------------------------------------------------------------------------


def step_funnel_data(steps: pd.DataFrame) -> pd.DataFrame:
    """How many trajectories reach each stage of usual work; `steps` is a frame of table ``steps``.

    Columns: stage (one of `STAGES`), trajectories (a step of the main agent did it at all), in_order (and every stage
    before it, in this order), share (in_order of all), steps (how many steps did it). What a step did is read off its
    tool and command, that a check passed off its status and what it printed (`team.actions`). Steps of subagents do not
    count.
    """
    import pandas as pd

    style.need(
        steps,
        ["trajectory_id", "step", "action_name", "action_input", "observation", "status", "agent_id",
         "parent_tool_call_id"],
        "steps()",
    )  # fmt: skip
    own = steps[steps["agent_id"].isna() & steps["parent_tool_call_id"].isna()]
    at_all = dict.fromkeys(STAGES, 0)
    in_order = dict.fromkeys(STAGES, 0)
    counted = dict.fromkeys(STAGES, 0)
    for _, mine in own.sort_values("step", kind="stable").groupby("trajectory_id", sort=False):
        done = [_stages(row) for row in mine.to_dict("records")]
        reached = 0
        for here in done:
            for stage in here:
                counted[stage] += 1
            while reached < len(STAGES) and STAGES[reached] in here:
                in_order[STAGES[reached]] += 1
                reached += 1
        for stage in set().union(*done):
            at_all[stage] += 1
    whole = in_order[STAGES[0]]
    rows = [(s, at_all[s], in_order[s], in_order[s] / whole if whole else None, counted[s]) for s in STAGES]
    frame = pd.DataFrame(rows, columns=["stage", "trajectories", "in_order", "share", "steps"])
    return frame.astype(
        {"stage": "str", "trajectories": "Int64", "in_order": "Int64", "share": "float64", "steps": "Int64"}
    )


def _stages(row: Mapping[Any, Any]) -> set[str]:
    """The stages that one step belongs to; of a step that failed only "any step", "looked" and "ran a check"."""
    from sessionbank.team.actions import action_kind, failure

    texts = ("action_name", "action_input", "observation", "status")
    known = {k: row[k] if isinstance(row[k], str) else None for k in texts}  # missing is NaN
    step = SimpleNamespace(step=row["step"], thought=None, **known)
    kind = action_kind(step)
    has_failed = failure(step, kind=kind) is not None
    found = {s for s in STAGES[1:] if _KIND[s] == kind}
    if has_failed:
        found -= {"changed files", "a check passed", "committed"}
    return {STAGES[0], *found}


def step_funnel(steps: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Bars of how many trajectories reach each stage; pale where they did it, but not in this order. Gives the axes.

    Frame as in `step_funnel_data`.
    """
    data = step_funnel_data(steps)
    title = "How far trajectories get"
    whole = int(data["in_order"].iloc[0])
    if not whole:
        return style.nothing(style.axes(ax), "no steps", title=title)
    ax = style.axes(ax, size=(7.5, 3.1))
    at = range(len(data))
    ordered, every = data["in_order"].astype(int).tolist(), data["trajectories"].astype(int).tolist()
    ax.barh(at, every, color=style.PALE, height=0.7, label="at any time")
    ax.barh(at, ordered, color=style.BLUE, height=0.7, label="in this order")
    for i, (n, share, end) in enumerate(zip(ordered, data["share"], every, strict=True)):
        ax.annotate(
            f"{n}  {share:.0%}",
            (end, i),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
        )
    ax.set_yticks(list(at), list(data["stage"]))
    ax.invert_yaxis()
    style.room(ax, every)
    style.legend(ax)
    told = ", ".join(f"{s} {n}" for s, n in zip(data["stage"], ordered, strict=True))
    return style.dress(ax, title=title, x="trajectories", grid="x", words=f"{title}, of {whole}: {told}.")


# -- outcomes ------------------------------------------------------------------------------------------------------


def outcome_labels_data(outcomes: pd.DataFrame) -> pd.DataFrame:
    """How often each strategy gives each label; `outcomes` is a frame of table ``outcomes``.

    One row a strategy, in the order of the frame: strategy, success, partial, failure, unknown, sessions.
    """
    import pandas as pd

    style.need(outcomes, ["session_id", "strategy", "label"], "outcomes()")
    order = list(dict.fromkeys(outcomes["strategy"]))
    counts = pd.crosstab(outcomes["strategy"], outcomes["label"])
    counts = counts.reindex(index=order, columns=list(_LABELS), fill_value=0).astype("Int64")
    counts["sessions"] = counts.sum(axis=1).astype("Int64")
    return counts.rename_axis(columns=None).rename_axis("strategy").reset_index()


def outcome_labels(outcomes: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """A bar a strategy, parted by label; `outcomes` is a frame of table ``outcomes``. Gives the axes."""
    data = outcome_labels_data(outcomes)
    title = "Outcomes by strategy"
    if data.empty:
        return style.nothing(style.axes(ax), "no outcomes", title=title)
    ax = style.axes(ax, size=(7.5, 1.3 + 0.36 * max(len(data), 2)))
    left = [0] * len(data)
    for label in _LABELS:
        values = data[label].astype(int).tolist()
        ax.barh(
            range(len(data)), values, left=left, height=0.7, label=label, color=style.colour("outcome", label)
        )
        for i, (n, start) in enumerate(zip(values, left, strict=True)):
            if n >= 0.03 * int(data["sessions"].max()):
                ax.text(start + n / 2, i, str(n), ha="center", va="center", fontsize=8, color="white")
        left = [a + b for a, b in zip(left, values, strict=True)]
    ax.set_yticks(range(len(data)), [style.plain(s, width=24) for s in data["strategy"]])
    ax.invert_yaxis()
    ax.set_xlim(0, max(left) or 1)
    style.legend(ax)
    told = "; ".join(
        f"{r['strategy']} " + ", ".join(f"{label} {r[label]}" for label in _LABELS if r[label])
        for r in data.to_dict("records")
    )
    return style.dress(ax, title=title, x="sessions", grid="", words=f"{title}: {told}.")


def outcome_agreement_data(agreement: pd.DataFrame, *, value: str = "kappa") -> pd.DataFrame:
    """The square matrix of a frame of `agreement`: strategies down and across, `value` kappa or share in the cells.

    The diagonal and pairs without a common session are missing. Raises `QueryError` for another `value`.
    """
    import numpy as np
    import pandas as pd

    if value not in ("kappa", "share"):
        raise QueryError(f"value is kappa or share, not {value!r}")
    style.need(agreement, ["a", "b", value], "agreement()")
    names = list(dict.fromkeys([*agreement["a"], *agreement["b"]]))
    matrix = pd.DataFrame(np.nan, index=pd.Index(names, name="a"), columns=pd.Index(names, name="b"))
    for a, b, found in zip(agreement["a"], agreement["b"], agreement[value], strict=True):
        matrix.loc[a, b] = matrix.loc[b, a] = found
    return matrix


def outcome_agreement(agreement: pd.DataFrame, *, value: str = "kappa", ax: Axes | None = None) -> Axes:
    """A heat map of how far strategies agree; frame and errors as in `outcome_agreement_data`. Gives the axes.

    Kappa is 1 where two always agree and 0 where they agree as often as chance would make them.
    """
    import numpy as np

    matrix = outcome_agreement_data(agreement, value=value)
    title = _AGREE[value]
    n = len(matrix)
    if not n:
        return style.nothing(style.axes(ax), "no two strategies", title=title)
    ax = style.axes(ax, size=(3.2 + 0.62 * n, 1.7 + 0.46 * n))
    values = matrix.to_numpy(dtype=np.float64)
    ax.imshow(np.clip(values, 0, 1), cmap="Blues", vmin=-0.15, vmax=1.05, aspect="auto")
    for i in range(n):
        for j in range(n):
            v = values[i, j]
            if i != j:
                text = "–" if np.isnan(v) else f"{v:.2f}".replace("-", "\N{MINUS SIGN}")
                tone = "white" if v > 0.6 else style.INK
                ax.text(j, i, text, ha="center", va="center", fontsize=8.5, color=tone)
    names = [style.plain(str(name), width=18) for name in matrix.index]
    ax.set_xticks(range(n), names, rotation=35, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(n), names)
    known = agreement.dropna(subset=[value]).sort_values([value, "a", "b"])
    words = f"{title} of {n} strategies."
    if len(known):
        low, high = known.iloc[0], known.iloc[-1]
        words += f" Lowest: {low['a']} and {low['b']} {low[value]:.2f};"
        words += f" highest: {high['a']} and {high['b']} {high[value]:.2f}."
    style.dress(ax, title=title, grid="", words=words)
    ax.tick_params(length=0)
    return ax


def outcome_accuracy(accuracy: pd.DataFrame, *, value: str = "accuracy", ax: Axes | None = None) -> Axes:
    """Share of right labels of each strategy with its 95 % interval, from a frame of `accuracy`. Gives the axes.

    `value` is accuracy, or balanced (the mean of the shares of each label). Raises `QueryError` for another.
    """
    if value not in ("accuracy", "balanced"):
        raise QueryError(f"value is accuracy or balanced, not {value!r}")
    ends = ("low", "high") if value == "accuracy" else ("balanced_low", "balanced_high")
    style.need(accuracy, ["strategy", "sessions", value, *ends], "accuracy()")
    title = {"accuracy": "Right labels", "balanced": "Right labels, each label counted alike"}[value]
    if accuracy.empty:
        return style.nothing(style.axes(ax), "no labelled sessions", title=title)
    ax = style.axes(ax, size=(7.5, 1.4 + 0.36 * max(len(accuracy), 2)))
    told = []
    for i, row in enumerate(accuracy.to_dict("records")):
        low, high = row[ends[0]], row[ends[1]]
        ax.plot([low, high], [i, i], color=style.BLUE, linewidth=2.4, solid_capstyle="butt", alpha=0.55)
        ax.plot([row[value]], [i], "o", color=style.BLUE, markersize=7)
        ax.annotate(
            f"{row[value]:.0%}",
            (row[value], i),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
        told.append(f"{row['strategy']} {row[value]:.2f} ({low:.2f} to {high:.2f})")
    ax.set_yticks(range(len(accuracy)), [style.plain(s, width=24) for s in accuracy["strategy"]])
    ax.set_ylim(len(accuracy) - 0.4, -0.8)
    ax.set_xlim(-0.02, 1.05)
    sessions = int(accuracy["sessions"].max())
    words = f"{title} of {sessions} labelled sessions, with 95 % intervals: {'; '.join(told)}."
    return style.dress(ax, title=title, x=f"share of {sessions} labelled sessions", grid="x", words=words)
