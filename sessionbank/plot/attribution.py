"""Pictures of what commits hold and cost: lines by agent and people, and cost by commit.

A commit may name several checkpoints and a checkpoint several commits; a checkpoint is put at the one commit that
carries its cost, so that nothing is added twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionbank.plot import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LINES = ("agent_lines", "human_added", "human_modified")
WORDS = {"agent_lines": "agent added", "human_added": "people added", "human_modified": "people changed"}
_COMMIT = ["commit_sha", "checkpoint_id", "authored_at", "subject", "on_default_branch"]


def attribution_by_commit_data(frame: pd.DataFrame, commits: pd.DataFrame) -> pd.DataFrame:
    """Lines of each commit by who wrote them, oldest first; frames are ``attribution()`` and ``commits()``.

    One row a commit that carries a checkpoint with a stated attribution. Columns: commit_sha, authored_at, subject,
    on_default_branch, checkpoints, agent_lines, human_added, human_modified (lines of the representative rows, summed;
    missing where none states them), agent_percentage (0 to 100; missing where several checkpoints are summed), warning.

    Example:
        >>> sb.plot.attribution_by_commit_data(bank.attribution(), bank.commits()).shape
        (56, 10)
    """
    style.need(
        frame, ["checkpoint_id", *LINES, "agent_percentage", "is_representative", "warning"], "attribution()"
    )
    style.need(commits, [*_COMMIT, "carries_cost"], "commits()")
    told = frame[frame["is_representative"].astype(bool)]
    carrying = commits.loc[commits["carries_cost"].astype(bool), _COMMIT]
    rows = carrying.merge(told[["checkpoint_id", *LINES, "agent_percentage", "warning"]], on="checkpoint_id")
    keys = ["commit_sha", "authored_at", "subject", "on_default_branch"]
    grouped = rows.groupby(keys, dropna=False, sort=False)
    data = grouped[list(LINES)].sum(min_count=1)
    data.insert(0, "checkpoints", grouped.size().astype("Int64"))
    data["agent_percentage"] = grouped["agent_percentage"].first().where(data["checkpoints"] == 1)
    data["warning"] = grouped["warning"].first()
    return data.reset_index().sort_values(["authored_at", "commit_sha"], ignore_index=True)


def attribution_by_commit(frame: pd.DataFrame, commits: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Bars of lines a commit, oldest first, by who wrote them; frames as in `attribution_by_commit_data`.

    A bar far above the others is cut and says its height; one whose figures are implausible is marked. Gives the axes.

    Example:
        >>> sb.plot.attribution_by_commit(bank.attribution(), bank.commits()).get_title(loc="left")
        'Lines by commit, and who wrote them'
    """
    data = attribution_by_commit_data(frame, commits)
    title = "Lines by commit, and who wrote them"
    ax = style.axes(ax, size=(8.4, 3.4))
    if data.empty:
        return style.nothing(ax, "no commit has a stated attribution", title=title)
    values = {c: data[c].fillna(0).astype(int).tolist() for c in LINES}
    total = [sum(parts) for parts in zip(*values.values(), strict=True)]
    limit = _limit(total)
    bottom = [0] * len(data)
    for c in LINES:
        ax.bar(
            range(len(data)),
            values[c],
            bottom=bottom,
            color=style.colour("lines", c),
            label=WORDS[c],
            width=0.8,
        )
        bottom = [b + v for b, v in zip(bottom, values[c], strict=True)]
    ax.set_ylim(0, limit * 1.16)
    odd = [i for i, w in enumerate(data["warning"]) if isinstance(w, str)]
    for i in odd:
        y = min(total[i], limit)
        label = None if i != odd[0] else "implausible, see warning"
        ax.plot([i], [y + limit * 0.05], "v", color=style.INK, markersize=6, label=label, clip_on=False)
    for i, height in enumerate(total):
        if height > limit:
            right = i > len(total) / 2
            off, side = ((-6, 0), "right") if right else ((6, 0), "left")
            at_top = (i, limit * 1.12)
            ax.annotate(
                f"{height:,} lines",
                at_top,
                xytext=off,
                textcoords="offset points",
                ha=side,
                va="top",
                fontsize=8.5,
            )
    step = max(1, round(len(data) / 7))
    at = range(0, len(data), step)
    ax.set_xticks(list(at), [f"{data['authored_at'].iloc[i]:%Y-%m-%d}" for i in at])
    ax.set_xlim(-0.7, len(data) - 0.3)
    style.legend(ax)
    sums = ", ".join(f"{WORDS[c]} {sum(values[c]):,}" for c in LINES)
    words = f"{title}: {len(data)} commits; {sums}; {len(odd)} with implausible figures."
    return style.dress(ax, title=title, x="commits, oldest first (author date)", y="lines", words=words)


def _limit(heights: list[int]) -> float:
    """Where bars are cut: above three times the 90th part of a hundred, and only if something is."""
    ordered = sorted(heights)
    usual = ordered[int(0.9 * (len(ordered) - 1))]
    return max(
        1.0,
        float(ordered[-1]) if ordered[-1] <= 3 * usual else max(h for h in ordered if h <= 3 * usual) * 1.05,
    )


def cost_by_commit_data(frame: pd.DataFrame, commits: pd.DataFrame) -> pd.DataFrame:
    """Cost of each commit, dearest first; `frame` is ``totals("checkpoint")`` or ``totals(["session", "checkpoint"])``.

    Each checkpoint's cost stands at the commit that carries it (`commits` is ``commits()``); what no commit names is in
    rows without a commit, so the sum is the whole cost. Columns: session_id (where given), commit_sha, authored_at,
    subject, on_default_branch, checkpoints, api_calls, tokens (main and subagents), cost_usd (USD, subagents included;
    missing where no call has a price), uncosted_calls.

    Example:
        >>> sb.plot.cost_by_commit_data(bank.totals("checkpoint"), bank.commits()).shape
        (58, 9)
    """
    used = ["api_calls", "total_tokens", "cost_usd"]
    wanted = ["checkpoint_id", *used, *(f"subagent_{c}" for c in used), "uncosted_calls"]
    style.need(frame, wanted, 'totals("checkpoint")')
    style.need(commits, [*_COMMIT, "carries_cost"], "commits()")
    carrying = commits.loc[commits["carries_cost"].astype(bool), _COMMIT]
    rows = frame.merge(carrying, on="checkpoint_id", how="left")
    rows["tokens"] = rows["total_tokens"] + rows["subagent_total_tokens"]
    rows["api_calls"] = rows["api_calls"] + rows["subagent_api_calls"]
    rows["cost_usd"] = rows[["cost_usd", "subagent_cost_usd"]].sum(axis=1, min_count=1)
    keys = [k for k in ("session_id",) if k in frame.columns]
    keys += ["commit_sha", "authored_at", "subject", "on_default_branch"]
    grouped = rows.groupby(keys, dropna=False, sort=False)
    data = grouped[["api_calls", "tokens", "uncosted_calls"]].sum().astype("Int64")
    data.insert(0, "checkpoints", grouped["checkpoint_id"].nunique().astype("Int64"))
    data.insert(3, "cost_usd", grouped["cost_usd"].sum(min_count=1))
    order = ["cost_usd", "commit_sha", *keys[:1]]
    return data.reset_index().sort_values(
        order, ascending=[False, True, True], na_position="last", ignore_index=True
    )


def cost_by_commit(
    frame: pd.DataFrame, commits: pd.DataFrame, *, ax: Axes | None = None, top: int = 15
) -> Axes:
    """Bars of the `top` dearest commits in USD, by whether they are on the default branch. Gives the axes.

    `frame` is ``totals("checkpoint")``, `commits` is ``commits()``; the numbers are those of `cost_by_commit_data`.

    Example:
        >>> sb.plot.cost_by_commit(bank.totals("checkpoint"), bank.commits()).get_title(loc="left")
        'Cost by commit'
    """
    data = cost_by_commit_data(frame.drop(columns="session_id", errors="ignore"), commits)
    title = "Cost by commit"
    data, rest = data.iloc[:top], data.iloc[top:]
    ax = style.axes(ax, size=(8.4, 1.3 + 0.27 * max(len(data), 3)))
    if data.empty or data["cost_usd"].isna().all():
        return style.nothing(ax, "no call has a price", title=title)
    states = {
        "on the default branch": (style.BLUE, data["on_default_branch"].eq(True).fillna(False)),
        "on other branches only": (style.ORANGE, data["on_default_branch"].eq(False).fillna(False)),
        "no commit names it": (style.GREY, data["commit_sha"].isna()),
    }
    names = [s if isinstance(s, str) else "(no commit)" for s in data["subject"]]
    for label, (paint, mask) in states.items():
        at = [i for i, m in enumerate(mask) if m]
        if at:
            costs = [float(data["cost_usd"].fillna(0).iloc[i]) for i in at]
            ax.barh(at, costs, color=paint, label=label, height=0.72)
            for i, cost in zip(at, costs, strict=True):
                ax.annotate(
                    f"{cost:.2f}",
                    (cost, i),
                    xytext=(4, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=8,
                )
    ax.set_yticks(range(len(data)), [style.plain(n, width=44) for n in names])
    ax.invert_yaxis()
    style.room(ax, data["cost_usd"].fillna(0), share=0.1)
    style.legend(ax, outside=False)
    more = f"; {len(rest)} others together {rest['cost_usd'].sum():,.2f}" if len(rest) else ""
    words = f"{title} in USD: " + "; ".join(
        f"{n} {c:.2f}" for n, c in zip(names, data["cost_usd"].fillna(0), strict=True)
    )
    return style.dress(
        ax, title=title, x=f"USD, subagents included{more}", grid="x", words=words + more + "."
    )
