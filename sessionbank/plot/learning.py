"""Pictures of what learning says: credits of agents, teams to choose from, and whether forecasts beat the base rate.

Nothing is analysed, recommended or forecast here. What playbook lines rest on is drawn in `playbooks`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionbank.plot import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_CREDITS = ["agent_id", "role", "contribution_score", "role_assessment"]
_OPTIONS = ["team", "topology", "runs", "estimate", "low", "high"]
_FORECASTS = ["run", "forecaster", "forecast", "base_rate", "score"]
_SKILL = ["forecaster", "gain", "low", "high"]


def agent_credits_data(frame: pd.DataFrame) -> pd.DataFrame:
    """What `agent_credits` draws: agent_id, role, contribution_score (0 to 1), role_assessment, highest score first.

    `frame` has one row a credit of ``agent-credits.json``. Equal scores go by agent id.
    """
    style.need(frame, _CREDITS, "the credits of an analysis, as a frame,")
    ordered = frame[_CREDITS].sort_values(["contribution_score", "agent_id"], ascending=[False, True])
    return ordered.reset_index(drop=True)


def agent_credits(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """A bar an agent: its part in the outcome, 0 to 1, from the neutral 0.5 on. Gives the axes."""
    title = "What each agent did for the outcome"
    if frame.empty:
        return style.nothing(style.axes(ax), "no credits", title=title)
    data = agent_credits_data(frame)
    ax = style.axes(ax, size=(7.5, 1.2 + 0.42 * max(len(data), 2)))
    scores = data["contribution_score"].astype(float).tolist()
    paint = style.colours("role", data["role"].astype(str))
    for i, (score, role) in enumerate(zip(scores, data["role"].astype(str), strict=True)):
        ax.barh(i, score - 0.5, left=0.5, color=paint[role], height=0.6)
        ax.annotate(
            f"{score:.2f} {style.plain(data['role_assessment'].iloc[i], width=20)}", (score, i),
            xytext=(4 if score >= 0.5 else -4, 0), textcoords="offset points", va="center",
            ha="left" if score >= 0.5 else "right", fontsize=8.5,
        )  # fmt: skip
    ax.axvline(0.5, color=style.GREY, linewidth=1)
    names = [
        f"{style.plain(a, width=28)} ({style.plain(r, width=20)})" if a != r else style.plain(a, width=28)
        for a, r in zip(data["agent_id"], data["role"], strict=True)
    ]
    ax.set_yticks(range(len(data)), names)
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    told = "; ".join(f"{n} {s:.2f}" for n, s in zip(names, scores, strict=True))
    return style.dress(
        ax, title=title, x="contribution score (0.5: neither helped nor harmed)", grid="x",
        words=f"{title}, 0 to 1: {told}.",
    )  # fmt: skip


def team_options_data(recommendation: Any) -> pd.DataFrame:
    """The team of a ``learning.Recommendation`` and its alternatives: one row a team, the recommended one first.

    Columns: team (counts and roles), topology, runs (with such a team), estimate (share of successes, 0 to 1), low and
    high (80 % interval; missing for alternatives, of which only the estimate is told). Empty without a basis.
    """
    import pandas as pd

    rows = []
    if recommendation.basis:
        own = {r.role: r.count for r in recommendation.roles}
        rows.append((
            _team(own), recommendation.topology, len(recommendation.evidence), recommendation.success,
            recommendation.low, recommendation.high,
        ))  # fmt: skip
        rows += [
            (_team(a["roles"]), a["topology"], a["runs"], a["estimate"], None, None)
            for a in recommendation.alternatives
        ]
    kinds = dict(zip(_OPTIONS, ("str", "str", "Int64", "float64", "float64", "float64"), strict=True))
    return pd.DataFrame(rows, columns=_OPTIONS).astype(kinds)


def _team(roles: dict[str, int]) -> str:
    return " + ".join(f"{n} {role}" for role, n in sorted(roles.items()))


def team_options(frame: pd.DataFrame, *, ax: Axes | None = None, title: str = "Teams to choose from") -> Axes:
    """A dot a team: its estimated share of successes, with the interval where there is one. Gives the axes.

    `frame` is what `team_options_data` gives; frames of several recommendations may be put together.
    """
    import textwrap

    style.need(frame, _OPTIONS, "plot.learning.team_options_data(recommendation)")
    if frame.empty:
        return style.nothing(
            style.axes(ax), "no basis: memory has no run of a task like this one", title=title
        )
    ax = style.axes(ax, size=(7.8, 1.3 + 0.55 * max(len(frame), 2)))
    told = []
    estimates, lows, highs = (frame[c].astype(float).tolist() for c in ("estimate", "low", "high"))
    for i, (team, runs) in enumerate(zip(frame["team"], frame["runs"], strict=True)):
        at, low, high = estimates[i], lows[i], highs[i]
        sure = low == low and high == high
        if sure:
            ax.plot([low, high], [i, i], color=style.SKY, linewidth=5, solid_capstyle="butt", zorder=1)
        ax.plot([at], [i], "o", color=style.BLUE if sure else style.GREY, markersize=7, zorder=2)
        ax.annotate(
            f"{at:.0%}, runs: {runs}", (at, i), xytext=(0, 7), textcoords="offset points", ha="center",
            fontsize=8.5,
        )  # fmt: skip
        told.append(
            f"{style.plain(team, width=110)}: {at:.2f}, runs {runs}"
            + (f", interval {low:.2f} to {high:.2f}" if sure else "")
        )
    ax.set_yticks(
        range(len(frame)), ["\n".join(textwrap.wrap(style.plain(t, width=110), 44)) for t in frame["team"]]
    )
    ax.set_ylim(len(frame) - 0.5, -0.7)
    ax.set_xlim(0, 1)
    return style.dress(
        ax, title=title, x="estimated share of successes (bar: 80 % interval of the first choice)", grid="x",
        words=f"{title}, estimated share of successes: {'; '.join(told)}.",
    )  # fmt: skip


def forecast_gain_data(frame: pd.DataFrame) -> pd.DataFrame:
    """What `forecast_gain` draws: run, forecaster, gain, and total, the sum of gains up to that run.

    `frame` has one row a run and forecaster: run (number in time), forecaster, forecast and base_rate (0 to 1, both
    made before the run's outcome was known), score (the outcome, 0 to 1). The gain is the squared error of the base
    rate less that of the forecast: above 0 where the forecast was nearer.
    """
    style.need(frame, _FORECASTS, "a frame of forecasts")
    data = frame[_FORECASTS].sort_values(["forecaster", "run"], kind="stable", ignore_index=True)
    gain = (data["base_rate"] - data["score"]) ** 2 - (data["forecast"] - data["score"]) ** 2
    data = data.assign(gain=gain)
    return data.assign(total=data.groupby("forecaster")["gain"].cumsum())[
        ["run", "forecaster", "gain", "total"]
    ]


def forecast_gain(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """A line a forecaster: what it gained on the running base rate so far, run after run. Gives the axes."""
    title = "Gained on the base rate so far"
    if frame.empty:
        return style.nothing(style.axes(ax), "no forecasts", title=title)
    data = forecast_gain_data(frame)
    ax = style.axes(ax, size=(7.8, 3.4))
    cycle = (style.BLUE, style.VERMILION, style.GREEN, style.ORANGE, style.PINK, style.INDIGO)
    told = []
    for place, name in enumerate(dict.fromkeys(frame["forecaster"])):
        mine = data[data["forecaster"].eq(name)]
        ax.step(
            mine["run"], mine["total"], where="post", color=cycle[place % len(cycle)], linewidth=1.8,
            label=style.plain(name, width=40),
        )  # fmt: skip
        told.append(f"{style.plain(name, width=40)} {mine['total'].iloc[-1]:+.2f}")
    ax.axhline(0, color=style.GREY, linewidth=1)
    style.legend(ax)
    return style.dress(
        ax, title=title, x="run, in order of time", y="squared error saved (sum)",
        words=f"{title}, sum of squared error saved at the last run: {'; '.join(told)}.",
    )  # fmt: skip


def forecast_skill(frame: pd.DataFrame, *, ax: Axes | None = None, share: str = "95 %") -> Axes:
    """A dot a forecaster: mean gain on the base rate with its interval, against 0 (no better). Gives the axes.

    `frame`: forecaster, gain (mean squared error saved a run), low and high; `share` says what the interval holds.
    """
    title = "Better than the base rate?"
    style.need(frame, _SKILL, "a table of forecasters")
    if frame.empty:
        return style.nothing(style.axes(ax), "no forecasters", title=title)
    ax = style.axes(ax, size=(7.8, 1.3 + 0.5 * max(len(frame), 2)))
    told = []
    lows, highs = frame["low"].astype(float).tolist(), frame["high"].astype(float).tolist()
    for i, (name, gain) in enumerate(zip(frame["forecaster"], frame["gain"].astype(float), strict=True)):
        verdict, paint = _verdict(lows[i], highs[i])
        ax.plot([lows[i], highs[i]], [i, i], color=paint, linewidth=3, solid_capstyle="butt")
        ax.plot([gain], [i], "o", color=paint, markersize=7)
        ax.annotate(
            verdict, (highs[i], i), xytext=(6, 0), textcoords="offset points", va="center", fontsize=8.5
        )
        told.append(
            f"{style.plain(name, width=60)} {gain:+.3f} ({lows[i]:+.3f} to {highs[i]:+.3f}), {verdict}"
        )
    ax.axvline(0, color=style.GREY, linewidth=1)
    ax.set_yticks(range(len(frame)), [style.plain(n, width=44) for n in frame["forecaster"]])
    ax.set_ylim(len(frame) - 0.5, -0.5)
    low, high = min(0.0, *lows), max(0.0, *highs)
    ax.set_xlim(low - 0.06 * (high - low), high + 0.32 * (high - low))  # room for the verdicts
    return style.dress(
        ax, title=title, x=f"squared error saved a run (bar: {share} interval)", grid="x",
        words=f"{title} Squared error saved a run, with {share} interval: {'; '.join(told)}.",
    )  # fmt: skip


def _verdict(low: float, high: float) -> tuple[str, str]:
    if low > 0:
        return "better", style.GREEN
    return ("worse", style.VERMILION) if high < 0 else ("cannot tell", style.GREY)
