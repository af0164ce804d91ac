"""Pictures of a team's run: graph, hand-over matrix, cost a member, compression frontier, score profile.

Frames of `sessionbank.team` are drawn; nothing is measured here. Names come from transcripts and are drawn as plain
text, cut to fit. All are legible for 3 and for 40 members.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sessionbank.html import shortened
from sessionbank.plot import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_METHODS = {"compressed": style.BLUE, "identifier list": style.ORANGE, "random lines": style.GREY}
_NAME = 18  # characters of a member's name that fit beside a lane


def team_graph_data(interactions: pd.DataFrame) -> pd.DataFrame:
    """What `team_graph` draws, from ``interactions()``: one row a sender, receiver and type.

    Columns: from_agent, to_agent, type, count, emergent (how many no pattern allows), failed, is_emergent (all are).

    Example:
        >>> crew = sb.team.from_session(bank.query(search="agent team")[0])
        >>> int(sb.plot.team_graph_data(crew.interactions())["count"].sum())
        67
    """
    style.need(interactions, ["from_agent", "to_agent", "type", "was_expected", "ok"], "interactions()")
    marked = interactions.assign(
        emergent=(interactions["was_expected"] == False).fillna(False).astype("int64"),  # noqa: E712
        failed=(interactions["ok"] == False).fillna(False).astype("int64"),  # noqa: E712
        count=1,
    )
    groups = marked.groupby(["from_agent", "to_agent", "type"], sort=False)
    data = groups[["count", "emergent", "failed"]].sum().reset_index()
    data["is_emergent"] = data["emergent"] == data["count"]
    return data


def team_graph(interactions: pd.DataFrame, *, members: Sequence[str] = (), ax: Axes | None = None) -> Axes:
    """Members on a circle and an arrow for each sender, receiver and type of ``interactions()``.

    Width: how many; colour: type; dashed where all of them are emergent. `members` fixes the order around the circle
    and adds those without an edge. Self edges are in the data, not in the picture. Gives the axes.

    Example:
        >>> crew = sb.team.from_session(bank.query(search="agent team")[0])
        >>> sb.plot.team_graph(crew.interactions()).get_title(loc="left")
        'Who reaches whom: 8 members, 67 interactions'
    """
    data = team_graph_data(interactions)
    names = list(dict.fromkeys([*members, *data["from_agent"], *data["to_agent"]]))
    if not names:
        return style.nothing(style.axes(ax), "no members", title="Team")
    n = len(names)
    ax = style.axes(ax, size=(7.6, 5.6) if n <= 12 else (9.6, 8.0))
    turn = [math.pi / 2 - 2 * math.pi * k / n for k in range(n)]
    place = {name: (math.cos(a), math.sin(a)) for name, a in zip(names, turn, strict=True)}
    most = max(data["count"], default=1)
    bends: dict[tuple[str, str], int] = {}
    from matplotlib import patches

    from sessionbank.team.model import EVERYONE

    arrow: Any = patches.FancyArrowPatch
    for e in (
        data[data["from_agent"] != data["to_agent"]].sort_values("count", ascending=False).to_dict("records")
    ):
        pair = (e["from_agent"], e["to_agent"])
        bends[pair] = bends.get(pair, 0) + 1
        ax.add_patch(
            arrow(
                place[pair[0]],
                place[pair[1]],
                connectionstyle=f"arc3,rad={0.06 + 0.09 * bends[pair]:.2f}",
                arrowstyle="-|>",
                mutation_scale=9 if n <= 12 else 6,
                shrinkA=9 if n <= 12 else 5,
                shrinkB=9 if n <= 12 else 5,
                color=style.colour("interaction", e["type"]),
                linewidth=0.7 + (3.8 if n <= 12 else 2.4) * math.sqrt(e["count"] / most),
                alpha=0.85 if n <= 12 else 0.6,
                linestyle=(0, (3, 1.6)) if e["is_emergent"] else "-",
            )
        )
    ax.scatter(
        [x for x, _ in place.values()],
        [y for _, y in place.values()],
        s=130 if n <= 12 else 45,
        color=style.INK,
        zorder=3,
    )
    shown = {name: "everyone" if name == EVERYONE else style.plain(_middle_cut(name)) for name in names}
    for name, angle in zip(names, turn, strict=True):
        degrees = math.degrees(angle)
        is_left = math.cos(angle) < -0.01
        tilt = 0.0 if n <= 12 else degrees + (180 if is_left else 0)
        side = "center" if abs(math.cos(angle)) < 0.01 and n <= 12 else ("right" if is_left else "left")
        away = 14 if n <= 12 else 8  # points from the middle of the dot
        ax.annotate(
            shown[name],
            place[name],
            (away * math.cos(angle), away * math.sin(angle)),
            textcoords="offset points",
            rotation=tilt,
            ha=side,
            va="center",
            rotation_mode="anchor",
            fontsize=9.5 if n <= 12 else 8,
            color=style.INK,
        )
    for kind in dict.fromkeys(data["type"]):
        ax.plot([], [], color=style.colour("interaction", kind), linewidth=2.5, label=kind)
    if data["is_emergent"].any():
        ax.plot([], [], color=style.GREY, linewidth=1.5, linestyle=(0, (3, 1.6)), label="emergent")
    wide, high = _reach(ax, max(len(text) for text in shown.values()), is_small=n <= 12)
    ax.set_xlim(-wide, wide)
    ax.set_ylim(-high, high)
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
    edges = int(data["count"].sum())
    words = (
        f"Team graph: {n} members, {edges} interactions between {len(bends)} ordered pairs; "
        f"the most on one arrow is {most}."
    )
    style.dress(ax, title=f"Who reaches whom: {n} members, {edges} interactions", grid="", words=words)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    style.legend(ax, columns=6, below=True)
    return ax


def _middle_cut(name: str) -> str:
    """Names of a team often begin alike: what is too long loses its middle, once secrets in it are taken out."""
    clean = shortened(name)
    return clean if len(clean) <= 24 else f"{clean[:12]}…{clean[-11:]}"


def _reach(ax: Axes, longest: int, *, is_small: bool) -> tuple[float, float]:
    """How far the axes go, so that names of `longest` characters have room around a circle of radius 1."""
    box = ax.get_window_extent()
    inches = 0.2 + longest * (9.5 if is_small else 8.0) * 0.55 / 72  # a letter is about 0.55 of its size wide
    free = [1.02 / (1 - min(0.7, 2 * inches * ax.figure.dpi / side)) for side in (box.width, box.height)]
    return (free[0], 1.3) if is_small else (max(free), max(free))


def handover_matrix(matrix: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """The matrix of `team.handover_matrix` as shaded cells, senders down, receivers across; empty where none.

    Numbers stand in the cells for up to 20 members. Gives the axes.

    Example:
        >>> crew = sb.team.from_session(bank.query(search="agent team")[0])
        >>> sb.plot.handover_matrix(sb.team.handover_matrix(crew)).get_title(loc="left")
        'Hand-overs: 67 between 8'
    """
    import numpy as np

    n = len(matrix)
    if not n:
        return style.nothing(style.axes(ax), "no members", title="Hand-overs")
    side = 2.6 + (0.5 if n <= 12 else 0.19) * n
    ax = style.axes(ax, size=(side + 1.0, side))
    values = matrix.to_numpy(dtype=np.float64)
    most = max(values.max(), 1)
    shown = ax.imshow(np.where(values > 0, values, np.nan), cmap="Blues", vmin=-0.25 * most, vmax=most)
    if n <= 20:
        for i, j in zip(*np.nonzero(values), strict=True):
            ax.text(
                j,
                i,
                f"{values[i, j]:.0f}",
                ha="center",
                va="center",
                fontsize=9 if n <= 12 else 7,
                color="white" if values[i, j] > 0.5 * most else style.INK,
            )
    else:
        bar = ax.figure.colorbar(shown, ax=ax, shrink=0.6, boundaries=np.linspace(0, most, 64))
        step = max(1, round(most / 6))
        bar.set_ticks(range(0, int(most) + 1, step))
        bar.ax.tick_params(labelsize=8)
        bar.set_label("hand-overs", fontsize=8.5)
    labels = [style.plain(str(name), width=_NAME) for name in matrix.index]
    ax.set_xticks(
        range(n),
        labels,
        rotation=90 if n > 12 else 40,
        ha="center" if n > 12 else "right",
        rotation_mode="default" if n > 12 else "anchor",
    )
    ax.set_yticks(range(n), labels)
    ax.set_xticks(np.arange(-0.5, n), minor=True)
    ax.set_yticks(np.arange(-0.5, n), minor=True)
    ax.grid(visible=True, which="minor", color=style.FAINT, linewidth=0.6)
    total = int(values.sum())
    words = f"Hand-over matrix of {n} agents, {total} hand-overs, most in one cell {most:.0f}."
    style.dress(ax, title=f"Hand-overs: {total} between {n}", x="to", y="from", grid="", words=words)
    ax.tick_params(which="minor", length=0)
    if n > 20:
        ax.tick_params(labelsize=6.5)
    return ax


def member_cost_data(members: pd.DataFrame) -> pd.DataFrame:
    """What `member_cost` draws, from the members of `team.metrics` (or ``members()``): agent_id, tokens, share.

    Highest first; members whose tokens are not recorded come last, missing.

    Example:
        >>> crew = sb.team.from_session(bank.query(search="agent team")[0])
        >>> int(sb.plot.member_cost_data(sb.team.metrics(crew).members)["tokens"].max())
        708591
    """
    style.need(members, ["agent_id", "tokens"], "team.metrics().members")
    tokens = members["tokens"].astype("Float64")
    data = members[["agent_id"]].assign(
        tokens=tokens, share=tokens / tokens.sum() if tokens.sum() else tokens
    )
    return data.sort_values("tokens", ascending=False, na_position="last", kind="stable", ignore_index=True)


def member_cost(members: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Tokens of each member as bars, the largest on top, with its share; "not recorded" where they are missing.

    Example:
        >>> crew = sb.team.from_session(bank.query(search="agent team")[0])
        >>> sb.plot.member_cost(sb.team.metrics(crew).members).get_title(loc="left")
        'Tokens by member: 731 k'
    """
    data = member_cost_data(members)
    title = "Tokens by member"
    if data.empty:
        return style.nothing(style.axes(ax), "no members", title=title)
    n = len(data)
    ax = style.axes(ax, size=(7.5, 1.2 + (0.36 if n <= 12 else 0.2) * n))
    ax.barh(range(n), data["tokens"].fillna(0).astype("float64"), color=style.BLUE, height=0.7)
    for k, row in enumerate(data.to_dict("records")):
        known = row["tokens"] == row["tokens"] and row["tokens"] is not None and str(row["tokens"]) != "<NA>"
        note = f"{style.short(float(row['tokens']))}  {float(row['share']):.0%}" if known else "not recorded"
        ax.text(
            float(row["tokens"]) if known else 0,
            k,
            f" {note}",
            va="center",
            fontsize=8.5 if n <= 12 else 7,
            color=style.INK if known else style.GREY,
        )
    ax.set_yticks(range(n), [style.plain(a, width=24) for a in data["agent_id"]])
    ax.set_ylim(n - 0.4, -0.6)
    style.room(ax, data["tokens"].dropna().astype("float64"))
    style.short_numbers(ax.xaxis)
    total = float(data["tokens"].sum())
    unknown = int(data["tokens"].isna().sum())
    words = f"Tokens of {n} members, {style.short(total)} in all; not recorded for {unknown}."
    style.dress(ax, title=f"{title}: {style.short(total)}", x="tokens, all classes", grid="x", words=words)
    if n > 12:
        ax.tick_params(axis="y", labelsize=7)
    return ax


def compression_frontier(frontier: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Size against what survives, a line a method, from `team.frontier`. Gives the axes.

    Across: size of the inner steps (share of the original, logarithmic); up: share of later used identifiers that
    still stand in their own line or sentence.

    Example:
        >>> crew = sb.team.from_session(bank.query(search="agent team")[0])
        >>> sb.plot.compression_frontier(sb.team.frontier(crew, shares=(0.05, 0.2))).get_title(loc="left")
        'What survives compression'
    """
    style.need(frontier, ["method", "size", "survival"], "team.frontier()")
    title = "What survives compression"
    known = frontier.dropna(subset=["size", "survival"])
    known = known[known["size"] > 0]
    if known.empty:
        return style.nothing(style.axes(ax), "nothing is used later", title=title)
    ax = style.axes(ax, size=(7.2, 4.2))
    said = []
    for method in dict.fromkeys(known["method"]):
        mine = known[known["method"] == method].sort_values("size")
        ax.plot(
            mine["size"],
            mine["survival"],
            "o-",
            color=_METHODS.get(method, style.PINK),
            linewidth=2,
            markersize=5,
            label=method,
        )
        best = mine.iloc[-1]
        said.append(f"{method} {best['survival']:.0%} at {best['size']:.1%}")
    ax.axhline(0.9, color=style.GREY, linewidth=0.9, linestyle=":")
    ax.set_xscale("log")
    from matplotlib import ticker

    percent: Any = ticker.FuncFormatter
    nothing: Any = ticker.NullFormatter
    ax.xaxis.set_major_formatter(percent(lambda v, _: f"{100 * v:g} %"))
    ax.xaxis.set_minor_formatter(nothing())
    ax.yaxis.set_major_formatter(percent(lambda v, _: f"{100 * v:.0f} %"))
    ax.set_ylim(-0.03, 1.05)
    words = f"{title}, largest size of each method: {'; '.join(said)}."
    style.dress(
        ax,
        title=title,
        x="size of inner steps, share of the original",
        y="later used identifiers that survive",
        grid="both",
        words=words,
    )
    style.legend(ax)
    return ax


def score_profile_data(steps: pd.DataFrame) -> pd.DataFrame:
    """What `score_profile` draws, from the steps of `team.score`: all its rows in time order, column what added.

    what: critical, boundary or inner.

    Example:
        >>> crew = sb.team.from_session(bank.query(search="agent team")[0])
        >>> sb.plot.score_profile_data(sb.team.score(crew).steps).shape
        (56, 13)
    """
    style.need(
        steps, ["agent_id", "step", "total", "is_critical", "is_boundary", "order"], "team.score().steps"
    )
    data = steps.sort_values("order", kind="stable", ignore_index=True)
    what = data["is_boundary"].map({True: "boundary", False: "inner"}).astype("str")
    return data.assign(what=what.mask(data["is_critical"].astype(bool), "critical"))


def score_profile(steps: pd.DataFrame, *, threshold: float | None = None, ax: Axes | None = None) -> Axes:
    """Total score of each step along the run, critical ones coloured; `threshold` is drawn as a line.

    Example:
        >>> crew = sb.team.from_session(bank.query(search="agent team")[0])
        >>> sb.plot.score_profile(sb.team.score(crew).steps, threshold=0.3).get_title(loc="left")
        'Scores along the run: 14 of 56 steps are critical'
    """
    data = score_profile_data(steps)
    title = "Scores along the run"
    if data.empty:
        return style.nothing(style.axes(ax), "no steps", title=title)
    ax = style.axes(ax, size=(9.2, 3.6))
    n = len(data)
    size = 22 if n <= 300 else max(3.0, 6600 / n)
    looks: dict[str, dict[str, Any]] = {
        "inner": {"color": style.PALE, "marker": "o"},
        "boundary": {"color": style.SKY, "marker": "s"},
        "critical": {"color": style.VERMILION, "marker": "D"},
    }
    for what, look in looks.items():
        mine = data[data["what"] == what]
        if len(mine):
            if n <= 300:
                ax.vlines(mine.index, 0, mine["total"], color=look["color"], linewidth=0.9, alpha=0.7)
            ax.scatter(
                mine.index,
                mine["total"],
                s=size,
                label=f"{what} ({len(mine)})",
                linewidths=0,
                **look,
                zorder=2 + (what == "critical"),
            )
    if threshold is not None:
        ax.axhline(threshold, color=style.GREY, linewidth=0.9, linestyle=":")
    ax.set_ylim(0, 1.03)
    ax.margins(x=0.01)
    hit = int((data["what"] == "critical").sum())
    words = f"Scores of {n} steps of {data['agent_id'].nunique()} agents in time order; {hit} are critical."
    style.dress(
        ax, title=f"{title}: {hit} of {n} steps are critical", x="steps in time order", y="total", words=words
    )
    style.legend(ax)
    return ax
