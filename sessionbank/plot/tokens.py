"""Pictures of tokens and cost: over time, by model, from the naive sum to the true one, and against what was stored.

Each `f_data` gives the numbers that `f` draws. Nothing is counted here: frames come from `totals`, `explain` and
`reconcile`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from sessionbank.errors import QueryError
from sessionbank.plot import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

CLASSES = ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens")
WORDS = {
    "input_tokens": "input", "cache_creation_tokens": "cache written", "cache_read_tokens": "cache read",
    "output_tokens": "output", "total_tokens": "all classes", "api_calls": "API calls",
    "human_prompts": "human prompts", "tool_calls": "tool calls", "tool_errors": "tool errors",
    "message_count": "messages",
}  # fmt: skip
SCOPES = {
    "window": "its own part", "whole": "the whole transcript", "both": "both, they are equal",
    "stale": "an earlier snapshot", "zero": "zeros", "absent": "nothing stored", "unknown": "fits nothing",
}  # fmt: skip
WHO = {"all": "main agent and subagents", "main": "main agent", "subagents": "subagents"}
_EVERY = {"day": "D", "week": "W-SUN", "month": "M"}


def tokens_over_time_data(
    frame: pd.DataFrame,
    *,
    every: str = "day",
    who: str = "all",
    classes: Sequence[str] = CLASSES,
) -> pd.DataFrame:
    """Tokens a day, week (from Monday) or month, one column a class; a period without calls is a row of zeros.

    `frame` is ``totals("day")``; calls without a time are left out. Columns: start, then `classes`; whole numbers.
    Raises `QueryError` for other values of `every`, `who` or `classes`.

    Example:
        >>> sb.plot.tokens_over_time_data(bank.totals("day"), every="month").shape
        (3, 5)
    """
    import pandas as pd

    if every not in _EVERY or who not in WHO or not set(classes) <= set(CLASSES):
        raise QueryError(
            f"every is one of {', '.join(_EVERY)}; who of {', '.join(WHO)}; classes of {', '.join(CLASSES)}"
        )
    style.need(frame, ["day", *classes, *(f"subagent_{c}" for c in classes)], 'totals("day")')
    dated = frame[frame["day"].notna()]
    periods = pd.PeriodIndex(pd.to_datetime(dated["day"]), freq=_EVERY[every])
    prefixes = {"all": ("", "subagent_"), "main": ("",), "subagents": ("subagent_",)}[who]
    values = pd.DataFrame(
        {c: sum(dated[f"{p}{c}"].astype("Int64") for p in prefixes) for c in classes}, index=dated.index
    )
    summed = values.groupby(periods).sum()
    if len(summed):
        summed = summed.reindex(
            pd.period_range(periods.min(), periods.max(), freq=_EVERY[every]), fill_value=0
        )
    summed.insert(0, "start", summed.index.start_time)  # type: ignore[attr-defined]
    return summed.reset_index(drop=True)


def tokens_over_time(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    every: str = "week",
    who: str = "all",
    classes: Sequence[str] = CLASSES,
) -> Axes:
    """Stacked bars of tokens a day, week or month by class; `frame` is ``totals("day")``.

    Cache reads are most of any sum; leave them out with `classes` to see the others. Gives the axes. Raises as
    `tokens_over_time_data` does.

    Example:
        >>> sb.plot.tokens_over_time(bank.totals("day"), every="month").get_title(loc="left")
        'Tokens a month, main agent and subagents'
    """
    import matplotlib.dates as dates

    data = tokens_over_time_data(frame, every=every, who=who, classes=classes)
    title = f"Tokens a {every}"
    ax = style.axes(ax)
    if not data[list(classes)].to_numpy().sum():
        return style.nothing(ax, f"{WHO[who]}: no dated call with tokens", title=title)
    days, middle = {"day": (0.85, 0.5), "week": (6.0, 3.5), "month": (25.0, 15.0)}[every]
    x = [t.to_pydatetime() + timedelta(days=middle) for t in data["start"]]
    bottom = [0] * len(data)
    for c in classes:
        values = [int(v) for v in data[c]]
        ax.bar(x, values, days, bottom=bottom, color=style.colour("tokens", c), label=WORDS[c])
        bottom = [b + v for b, v in zip(bottom, values, strict=True)]
    locator = dates.AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    style.short_numbers(ax.yaxis)
    style.legend(ax)
    best = max(range(len(bottom)), key=bottom.__getitem__)
    sums = ", ".join(f"{WORDS[c]} {int(data[c].sum()):,}" for c in classes)
    words = (
        f"{title} of {WHO[who]}, {data['start'].iloc[0]:%Y-%m-%d} to {data['start'].iloc[-1]:%Y-%m-%d}. "
        f"In all: {sums}. Most in the {every} from {data['start'].iloc[best]:%Y-%m-%d}: {bottom[best]:,}."
    )
    return style.dress(ax, title=f"{title}, {WHO[who]}", x=f"{every} of the calls", y="tokens", words=words)


def cost_by_model_data(frame: pd.DataFrame) -> pd.DataFrame:
    """Cost of each model, dearest first; `frame` is ``totals("model")``.

    Columns: model, cost_usd (main agent), subagent_cost_usd, uncosted_calls; a model without a price has no cost.

    Example:
        >>> sb.plot.cost_by_model_data(bank.totals("model"))["model"].tolist()[:2]
        ['claude-opus-4-5-20251101', 'claude-sonnet-4-5-20250929']
    """
    columns = ["model", "cost_usd", "subagent_cost_usd", "uncosted_calls"]
    style.need(frame, columns, 'totals("model")')
    total = frame[["cost_usd", "subagent_cost_usd"]].sum(axis=1, min_count=1)
    order = total.sort_values(ascending=False, na_position="last", kind="stable").index
    return frame.loc[order, columns].reset_index(drop=True)


def cost_by_model(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Bars of cost in USD by model, subagents' part hatched; models without a price say so. Gives the axes.

    Example:
        >>> sb.plot.cost_by_model(bank.totals("model")).get_title(loc="left")
        'Cost by model'
    """
    data = cost_by_model_data(frame)
    title = "Cost by model"
    ax = style.axes(ax, size=(7.5, 1.2 + 0.36 * max(len(data), 2)))
    if data.empty:
        return style.nothing(ax, "no calls", title=title)
    names = [m if isinstance(m, str) else "model not recorded" for m in data["model"]]
    main, sub = (data[c].fillna(0).tolist() for c in ("cost_usd", "subagent_cost_usd"))
    paint = style.colours("model", names)
    at = range(len(data))
    ax.barh(at, main, color=[paint[n] for n in names], height=0.7)
    ax.barh(at, sub, left=main, color=[paint[n] for n in names], height=0.7, hatch="////", edgecolor="white")
    unpriced = data[["cost_usd", "subagent_cost_usd"]].isna().all(axis=1)
    told = []
    for i, name in enumerate(names):
        calls = int(data["uncosted_calls"].iloc[i])
        label = "no price" if unpriced.iloc[i] else f"{main[i] + sub[i]:,.2f}"
        label += f" (calls without a price: {calls})" if calls else ""
        ax.annotate(
            label, (main[i] + sub[i], i), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5
        )
        told.append(f"{name} {label}")
    ax.set_yticks(list(at), [style.plain(n) for n in names])
    ax.invert_yaxis()
    style.room(ax, [m + n for m, n in zip(main, sub, strict=True)], share=0.3)
    words = f"Cost in USD by model, subagents included: {'; '.join(told)}."
    return style.dress(ax, title=title, x="USD (hatched: subagents)", grid="x", words=words)


def bridge(frame: pd.DataFrame, *, ax: Axes | None = None, column: str = "") -> Axes:
    """The way from the naive sum to the true figure, a bar a rule; `frame` is ``explain(column)``. Gives the axes.

    `column` is named in the title. The numbers are the frame's own: effect and value of each step.

    Example:
        >>> sb.plot.bridge(bank.explain("output_tokens"), column="output_tokens").get_title(loc="left")
        'Output tokens, naive to true'
    """
    style.need(frame, ["rule", "effect", "value"], "explain(column)")
    what = WORDS.get(column.removeprefix("subagent_"), column)
    what = f"{what} tokens" if column.endswith("_tokens") and column != "total_tokens" else what
    what = f"subagents' {what}" if column.startswith("subagent_") else what
    title = f"{what.capitalize()}, naive to true" if what else "Naive to true"
    steps = [
        (str(rule), int(effect), int(value))
        for rule, effect, value in zip(frame["rule"], frame["effect"], frame["value"], strict=True)
    ]
    shown = [
        s for n, s in enumerate(steps) if n in (0, len(steps) - 1) or s[1]
    ]  # rules without effect take no room
    ax = style.axes(ax, size=(8.4, 1.1 + 0.5 * max(len(shown), 2)))
    if not any(value for _, _, value in shown):
        return style.nothing(ax, "nothing was counted", title=title)
    for i, (_, effect, value) in enumerate(shown):
        is_end = i in (0, len(shown) - 1)
        left, width = (0, value) if is_end else (min(value, value - effect), abs(effect))
        kind = ("naive" if i == 0 else "true") if is_end else ("less" if effect < 0 else "more")
        paint = style.colour("bridge", kind)
        ax.barh(
            i, width, left=left, color=paint, edgecolor=paint, height=0.66
        )  # the edge keeps small effects in sight
        label = style.short(value) if is_end else ("+" if effect > 0 else "") + style.short(effect)
        ax.annotate(
            label, (left + width, i), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5
        )
        if i:
            ax.plot(
                [value - (0 if is_end else effect)] * 2, [i - 0.67, i - 0.33], color=style.RULE, linewidth=0.8
            )
    ax.set_yticks(range(len(shown)), [_wrapped(rule) for rule, _, _ in shown])
    ax.invert_yaxis()
    style.room(ax, [max(value, value - effect) for _, effect, value in shown], share=0.17)
    style.short_numbers(ax.xaxis)
    words = f"{title}. " + "; ".join(
        f"{rule}: {value:,}" if i in (0, len(shown) - 1) else f"{rule}: {effect:+,}"
        for i, (rule, effect, value) in enumerate(shown)
    )
    unit = "tokens" if "token" in column else WORDS.get(column, "count")
    return style.dress(ax, title=title, x=unit, grid="x", words=words + ".")


def _wrapped(rule: str) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(style.plain(rule, width=120), 52))


def naive_and_true_data(explained: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """First and last value of several bridges; `explained` maps a column to ``explain(column)``.

    Columns: column, naive, true (whole numbers) and times (naive / true; missing where true is 0).

    Example:
        >>> sums = {c: bank.explain(c) for c in ("input_tokens", "output_tokens")}
        >>> sb.plot.naive_and_true_data(sums).shape
        (2, 4)
    """
    import pandas as pd

    rows = [(c, int(f["value"].iloc[0]), int(f["value"].iloc[-1])) for c, f in explained.items()]
    data = pd.DataFrame(rows, columns=["column", "naive", "true"])
    data = data.astype({"column": "str", "naive": "Int64", "true": "Int64"})
    known = data["true"] != 0
    return data.assign(times=(data["naive"].astype("float64") / data["true"].astype("float64")).where(known))


def naive_and_true(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """How many times the naive sum is the true figure, a bar a column; `frame` is of `naive_and_true_data`.

    Example:
        >>> sums = {c: bank.explain(c) for c in ("input_tokens", "output_tokens")}
        >>> sb.plot.naive_and_true(sb.plot.naive_and_true_data(sums)).get_title(loc="left")
        'How many times too much a naive sum is'
    """
    style.need(frame, ["column", "naive", "true", "times"], "naive_and_true_data")
    title = "How many times too much a naive sum is"
    data = frame[frame["times"].notna()]
    ax = style.axes(ax, size=(7.5, 1.2 + 0.36 * max(len(data), 2)))
    if data.empty:
        return style.nothing(ax, "nothing was counted", title=title)
    names = [WORDS.get(c, c) for c in data["column"]]
    at = range(len(data))
    paint = [style.colour("tokens", c) if c in CLASSES else style.GREY for c in data["column"]]
    ax.barh(at, data["times"].tolist(), color=paint, height=0.7)
    for i, (naive, true, times) in enumerate(zip(data["naive"], data["true"], data["times"], strict=True)):
        label = f"{times:.2f} ({style.short(naive)} for {style.short(true)})"
        ax.annotate(label, (times, i), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5)
    ax.axvline(1, color=style.INK, linewidth=1)
    ax.set_yticks(list(at), names)
    ax.invert_yaxis()
    style.room(ax, data["times"], share=0.3)
    told = "; ".join(f"{n} {t:.2f} times" for n, t in zip(names, data["times"], strict=True))
    return style.dress(
        ax, title=title, x="naive / true (the line at 1: right)", grid="x", words=f"{title}: {told}."
    )


def reconcile_scopes_data(frame: pd.DataFrame) -> pd.DataFrame:
    """How many records each scope has, all seven in order; `frame` is ``reconcile()``.

    Columns: scope, meaning, records.

    Example:
        >>> sb.plot.reconcile_scopes_data(bank.reconcile()).shape
        (7, 3)
    """
    import pandas as pd

    style.need(frame, ["scope"], "reconcile()")
    counts = frame["scope"].value_counts()
    rows = [(s, words, int(counts.get(s, 0))) for s, words in SCOPES.items()]
    data = pd.DataFrame(rows, columns=["scope", "meaning", "records"])
    return data.astype({"scope": "str", "meaning": "str", "records": "Int64"})


def reconcile_scopes(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Bars: what the stored token counts of each record cover; `frame` is ``reconcile()``. Gives the axes.

    Example:
        >>> sb.plot.reconcile_scopes(bank.reconcile()).get_title(loc="left")
        'What the stored token counts cover'
    """
    data = reconcile_scopes_data(frame)
    title = "What the stored token counts cover"
    ax = style.axes(ax, size=(7.5, 3.2))
    if not data["records"].sum():
        return style.nothing(ax, "no records", title=title)
    at = range(len(data))
    ax.barh(
        at,
        data["records"].astype(int).tolist(),
        color=[style.colour("scope", s) for s in data["scope"]],
        height=0.7,
    )
    for i, n in enumerate(data["records"]):
        ax.annotate(str(n), (int(n), i), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5)
    ax.set_yticks(list(at), [f"{s}: {m}" for s, m in zip(data["scope"], data["meaning"], strict=True)])
    ax.invert_yaxis()
    style.room(ax, data["records"].astype(int), share=0.1)
    told = "; ".join(f"{s} {n}" for s, n in zip(data["scope"], data["records"], strict=True))
    return style.dress(ax, title=title, x="records", grid="x", words=f"{title}, in records: {told}.")
