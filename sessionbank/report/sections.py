"""What was done and what it cost: activity, cost by commit and branch, agents and models, tools. Words and tables only.

Each table tells how many rows there are where it does not show them all. How far figures can be trusted is `trust`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionbank.report.facts import Facts
from sessionbank.report.markup import (
    NOT_KNOWN,
    Column,
    Markup,
    capped,
    empty,
    is_missing,
    joined,
    rule,
    section,
    share,
    table,
    total,
    usd,
    whole,
)
from sessionbank.report.pictures import Gallery, period

if TYPE_CHECKING:
    import pandas as pd

COMMITS, BRANCHES, MODELS, TOOLS, PERIODS = 20, 15, 15, 20, 26


def of(facts: Facts, gallery: Gallery) -> list[Markup]:
    """The sections, in order."""
    return [f(facts, gallery) for f in (_activity, _cost, _agents, _tools)]


# -- activity ------------------------------------------------------------------------------------------------------


def _activity(facts: Facts, gallery: Gallery) -> Markup:
    days, sessions = facts.totals["day"], facts["sessions"]
    if not days["day"].notna().any():
        return section("activity", "Activity", empty("No call of a model has a time."))
    unit = period(days)
    rows = _periods(days, sessions, facts.tz, unit)
    most = _most(rows)
    shown = rows[-PERIODS:]
    undated = days[days["day"].isna()]
    calls = int((undated["api_calls"] + undated["subagent_api_calls"]).sum())
    note = capped(len(shown), len(rows), f"{unit}s", rest=", the latest")
    note += f" Calls without a time stand in no {unit}: {calls:,}." if calls else ""
    columns = [
        Column(f"{unit} from" if unit == "week" else unit), Column("sessions begun", "figure"), Column("API calls", "figure"),
        Column("tokens", "figure"), Column("USD", "figure"), Column("", "bar"),
    ]  # fmt: skip
    cells = [(w, whole(n), whole(c), whole(t), usd(cost), _part(cost, most)) for w, n, c, t, cost in shown]
    return section(
        "activity", "Activity", gallery["tokens"], table(columns, cells, caption=f"By {unit}", note=note.strip()),
        lead=joined(f"Calls of models by {unit}, main agents and subagents. ", rule(3, 4, 9)),
    )  # fmt: skip


def _periods(days: pd.DataFrame, sessions: pd.DataFrame, tz: str, unit: str) -> list[tuple]:
    """(period, sessions begun, API calls, tokens, USD) of each period in which something happened."""
    import pandas as pd

    code = {"day": "D", "week": "W-SUN", "month": "M"}[unit]
    dated = days[days["day"].notna()]
    at = pd.PeriodIndex(pd.to_datetime(dated["day"]), freq=code)
    sums = pd.DataFrame(
        {
            "calls": (dated["api_calls"] + dated["subagent_api_calls"]).array,
            "tokens": dated["total_tokens"].fillna(0).array + dated["subagent_total_tokens"].fillna(0).array,
            "cost": dated["total_cost_usd"].array,
        },
        index=at,
    )
    summed = sums.groupby(level=0).sum(min_count=1)
    begun = (
        sessions["started_at"]
        .dropna()
        .dt.tz_convert(tz)
        .dt.tz_localize(None)
        .dt.to_period(code)
        .value_counts()
    )
    every = sorted(set(summed.index) | set(begun.index))
    written = "%Y-%m" if unit == "month" else "%Y-%m-%d"
    found = []
    for each in every:
        row = summed.loc[each] if each in summed.index else None
        calls, tokens, cost = (
            (0, 0, float("nan")) if row is None else (row["calls"], row["tokens"], row["cost"])
        )
        found.append((each.start_time.strftime(written), int(begun.get(each, 0)), calls, tokens, cost))
    return found


# -- cost ----------------------------------------------------------------------------------------------------------


def _cost(facts: Facts, gallery: Gallery) -> Markup:
    from sessionbank.plot.attribution import cost_by_commit_data

    if facts.totals["checkpoint"].empty:
        return section("cost", "Cost", empty("No call of a model was recorded."))
    commits = cost_by_commit_data(facts.totals["checkpoint"], facts["commits"])
    whole_cost = total(commits["cost_usd"])
    named = commits[commits["commit_sha"].notna()]
    loose = commits[commits["commit_sha"].isna()]
    shown = named.head(COMMITS)
    rows = [
        (
            r["commit_sha"][:10], r["subject"], _day(r["authored_at"], facts.tz),
            _where(r["on_default_branch"]), whole(r["api_calls"]), whole(r["tokens"]), usd(r["cost_usd"]),
        )
        for r in shown.to_dict("records")
    ]  # fmt: skip
    left = named.iloc[COMMITS:]["cost_usd"]
    note = capped(
        len(shown), len(named), "commits", rest=f", the dearest; the others together {usd(left.sum())} USD"
    )
    if len(loose):
        calls = int(loose["api_calls"].sum())
        note += f" No commit names the checkpoints of {calls:,} calls, {usd(total(loose['cost_usd']))} USD."
    columns = [
        Column("commit", "code"), Column("subject"), Column("date", "figure"), Column("reached"), Column("API calls", "figure"),
        Column("tokens", "figure"), Column("USD", "figure"),
    ]  # fmt: skip
    by_commit = table(columns, rows, caption="By commit", note=note.strip())
    lead = joined(
        f"{usd(whole_cost)} USD in all, subagents included. A checkpoint counts at one commit, so the parts add up to the "
        "whole. ", rule(2, 4, 8),
    )  # fmt: skip
    return section(
        "cost", "Cost by commit and branch", gallery["commits"], by_commit, _branches(facts), lead=lead
    )


def _branches(facts: Facts) -> Markup:
    rows = _summed(facts.totals["branch"], "branch")
    most = _most(rows)
    shown = rows[:BRANCHES]
    left = sum(cost for *_, cost in rows[BRANCHES:] if not is_missing(cost))
    note = capped(len(shown), len(rows), "branches", rest=f"; the others together {usd(left)} USD")
    columns = [Column("branch of the work"), *_FIGURES]
    cells = [
        (n or "not recorded", whole(c), whole(t), usd(cost), _part(cost, most)) for n, c, t, cost in shown
    ]
    return Markup('<div class="second">' + table(columns, cells, caption="By branch", note=note) + "</div>")


_FIGURES = (
    Column("API calls", "figure"),
    Column("tokens", "figure"),
    Column("USD", "figure"),
    Column("", "bar"),
)


def _day(time: Any, tz: str) -> str:
    return NOT_KNOWN if is_missing(time) else f"{time.tz_convert(tz):%Y-%m-%d}"


def _where(is_main: Any) -> str:
    return NOT_KNOWN if is_missing(is_main) else "default branch" if is_main else "other branch"


def _summed(frame: pd.DataFrame, key: str) -> list[tuple]:
    """(name or None, API calls, tokens, USD), dearest first; main agents and subagents together."""
    rows = []
    for r in frame.to_dict("records"):
        tokens = [v for v in (r["total_tokens"], r["subagent_total_tokens"]) if not is_missing(v)]
        name = r[key] if isinstance(r[key], str) else None
        rows.append(
            (
                name,
                r["api_calls"] + r["subagent_api_calls"],
                sum(tokens) if tokens else None,
                r["total_cost_usd"],
            )
        )
    return sorted(rows, key=lambda r: (-(-1.0 if is_missing(r[3]) else r[3]), -r[1], r[0] or ""))


def _most(rows: list[tuple]) -> float:
    return max((r[-1] for r in rows if not is_missing(r[-1])), default=0.0) or 1.0


def _part(cost: float, most: float) -> float:
    return 0.0 if is_missing(cost) else cost / most


# -- agents and models -----------------------------------------------------------------------------------------------


def _agents(facts: Facts, gallery: Gallery) -> Markup:
    sessions, by_agent = facts["sessions"], facts.totals["agent"].set_index("agent")
    present = sessions[sessions["transcript_state"] == "present"]
    if present.empty:
        return section("agents", "Agents and models", empty("No session has a transcript."))
    rows = []
    for agent, mine in present.groupby("agent", dropna=False):
        sums = by_agent.loc[agent] if agent in by_agent.index else None
        calls = sums["api_calls"] + sums["subagent_api_calls"] if sums is not None else 0
        cost = sums["total_cost_usd"] if sums is not None else float("nan")
        hours = mine["active_s"].sum(min_count=1) / 3600
        rows.append(
            (
                agent if isinstance(agent, str) else "unknown",
                len(mine),
                total(mine["human_prompts"]),
                hours,
                calls,
                cost,
            )
        )
    rows.sort(key=lambda r: (-r[1], r[0]))
    columns = [
        Column("agent"), Column("sessions", "figure"), Column("prompts", "figure"), Column("active hours", "figure"),
        Column("API calls", "figure"), Column("USD", "figure"),
    ]  # fmt: skip
    cells = [
        (a, whole(n), whole(p), NOT_KNOWN if is_missing(h) else f"{h:,.1f}", whole(c), usd(cost))
        for a, n, p, h, c, cost in rows
    ]
    models = _summed(facts.totals["model"], "model")
    most, shown = _most(models), models[:MODELS]
    by_model = table(
        [Column("model"), *_FIGURES],
        [(n or "not recorded", whole(c), whole(t), usd(cost), _part(cost, most)) for n, c, t, cost in shown],
        caption="By model", note=capped(len(shown), len(models), "models"),
    )  # fmt: skip
    lead = joined("An agent is what the bytes of a transcript show, not what a label says. ", rule(3, 5, 8))
    return section(
        "agents",
        "Agents and models",
        table(columns, cells, caption="By agent"),
        gallery["models"],
        by_model,
        lead=lead,
    )


# -- tools -----------------------------------------------------------------------------------------------------------


def _tools(facts: Facts, gallery: Gallery) -> Markup:
    from sessionbank.plot.tools import tools_by_status_data

    calls = facts["tool_calls"]
    own = calls[calls["inherited_from"].isna()]
    if own.empty:
        return section("tools", "Tools and errors", empty("No tool call was recorded."))
    data = tools_by_status_data(calls)
    name = own["tool_name"].where(own["mcp_server"].isna(), own["mcp_server"] + ": " + own["tool_name"])
    middle = own.groupby(name)["duration_ms"].median()
    shown = data.head(TOOLS)
    rows = [
        (
            r["tool"], whole(r["total"]), whole(r["error"]), share(r["error"] / r["total"]), whole(r["rejected"]),
            whole(r["interrupted"]), whole(r["no_result"]), _seconds(middle.get(r["tool"])),
        )
        for r in shown.to_dict("records")
    ]  # fmt: skip
    columns = [
        Column("tool"), Column("calls", "figure"), Column("errors", "figure"), Column("share", "figure"),
        Column("rejected", "figure"), Column("interrupted", "figure"), Column("no result", "figure"),
        Column("median seconds", "figure"),
    ]  # fmt: skip
    sums = own["status"].value_counts()
    words = ", ".join(
        f"{whole(n)} {str(s).replace('_', ' ')}" for s, n in sorted(sums.items(), key=lambda i: (-i[1], i[0]))
    )
    lead = joined(f"{len(own):,} calls, subagents included: {words}. ", rule(2, 5, 7))
    what = table(columns, rows, caption="By tool", note=capped(len(shown), len(data), "tools"))
    return section("tools", "Tools and errors", gallery["tools"], what, lead=lead)


def _seconds(milliseconds: Any) -> str:
    return NOT_KNOWN if is_missing(milliseconds) else f"{float(milliseconds) / 1000:,.1f}"
