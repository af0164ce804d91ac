"""How far the figures go: attribution, outcomes, teams, data quality, and how each number is counted. Words and tables.

What is inferred says so, what is missing is told, and the rules stand in the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionbank.redaction.views import cut
from sessionbank.report.facts import Facts
from sessionbank.report.markup import (
    NOT_KNOWN,
    Column,
    Markup,
    capped,
    empty,
    html,
    is_missing,
    joined,
    paragraph,
    rule,
    section,
    share,
    table,
    total,
    whole,
)
from sessionbank.report.pictures import MOST_ROLES, Gallery, by_role
from sessionbank.report.rules import NUMBERS, RULES, rule_html

if TYPE_CHECKING:
    import pandas as pd

SESSIONS, EDGES, CODES = 20, 20, 25
LABELS = ("success", "partial", "failure", "unknown")
_INTENT, _REASON = 90, 110  # characters


def of(facts: Facts, gallery: Gallery) -> list[Markup]:
    """The sections, in order."""
    return [*(f(facts, gallery) for f in (_attribution, _outcomes, _teams, _quality)), _counting()]


# -- attribution -----------------------------------------------------------------------------------------------------


def _attribution(facts: Facts, gallery: Gallery) -> Markup:
    stated = facts["attribution"]
    told = stated[stated["is_representative"].astype(bool)]
    if told.empty:
        return section("attribution", "Attribution", empty("No checkpoint states who wrote its lines."))
    columns = ("agent_lines", "human_added", "human_modified", "human_removed", "total_committed")
    names = ("by agents", "added by people", "changed by people", "removed by people", "committed in all")
    odd = told["warning"].notna()
    rows = [
        (words, whole(total(told.loc[~odd, c])), whole(total(told.loc[odd, c])) if odd.any() else "0")
        for c, words in zip(columns, names, strict=True)
    ]
    without = len(facts["checkpoints"]) - told["checkpoint_id"].nunique()
    note = (
        f"{without:,} of {len(facts['checkpoints']):,} checkpoints state no attribution."
        if without > 0
        else ""
    )
    lead = joined(
        f"What the tool that stored the checkpoints says of their lines: {len(told):,} checkpoints, of which {int(odd.sum()):,} "
        "state figures that cannot be right. Nothing is corrected. ", rule(10),
    )  # fmt: skip
    heads = [Column("lines"), Column("plausible rows", "figure"), Column("implausible rows", "figure")]
    what = table(heads, rows, caption="Lines, one row a checkpoint added up", note=note)
    return section("attribution", "Attribution", gallery["lines"], what, lead=lead)


# -- outcomes --------------------------------------------------------------------------------------------------------


def _outcomes(facts: Facts, gallery: Gallery) -> Markup:
    from sessionbank.trajectory.outcomes.agreement import agreement

    outcomes = facts["outcomes"]
    own = outcomes[outcomes["strategy"] == "evidence"]
    if own.empty:
        return section("outcomes", "Outcomes", empty("There are no sessions to judge."))
    rows = []
    for label in LABELS:
        mine = own[own["label"] == label]
        sure = mine["confidence"].dropna()
        rows.append((
            _tag(label), whole(len(mine)), share(len(mine) / len(own)), f"{sure.mean():.2f}" if len(sure) else NOT_KNOWN,
            whole(int((sure < 0.5).sum())),
        ))  # fmt: skip
    heads = [
        Column("how it ended"), Column("sessions", "figure"), Column("share", "figure"), Column("mean confidence", "figure"),
        Column("confidence below 0.5", "figure"),
    ]  # fmt: skip
    pairs = agreement(outcomes[outcomes["strategy"] != "evidence"])
    lead = joined(
        "No transcript states how a session ended: it is inferred. Five strategies read different evidence (summary, the "
        "course of the session, its end, the last checks, what became of the commits); evidence weighs them, and its "
        "confidence (0 to 1) falls where they part. ", _agree(pairs),
    )  # fmt: skip
    return section(
        "outcomes", "Outcomes", table(heads, rows, caption="By strategy evidence"), gallery["outcomes"],
        _not_well(facts, own), lead=lead,
    )  # fmt: skip


def _agree(pairs: pd.DataFrame) -> str:
    known = pairs.dropna(subset=["share"])
    if known.empty:
        return ""
    low, high = known["share"].min(), known["share"].max()
    return f"Two strategies that both give a label agree in {share(low)} to {share(high)} of sessions."


def _not_well(facts: Facts, own: pd.DataFrame) -> Markup:
    """Sessions that failed or ended in part, the surest failures first."""
    bad = own[own["label"].isin(["failure", "partial"])]
    if bad.empty:
        return paragraph("No session is judged a failure or a part.")
    known = facts["sessions"].set_index("session_id")
    bad = bad.assign(place=bad["label"].map({"failure": 0, "partial": 1}))
    bad = bad.sort_values(["place", "confidence", "session_id"], ascending=[True, False, True])
    shown = bad.head(SESSIONS)
    asked = _first_prompts(facts, shown["session_id"])
    rows = []
    for r in shown.to_dict("records"):
        its = known.loc[r["session_id"]]
        begun = its["started_at"]
        rows.append((
            r["session_id"][:8], f"{begun.tz_convert(facts.tz):%Y-%m-%d}" if not is_missing(begun) else NOT_KNOWN,
            _short(its["intent"], _INTENT) or _short(asked.get(r["session_id"]), _INTENT), _tag(r["label"]),
            f"{r['confidence']:.2f}", _short(_why(facts["outcomes"], r), _REASON),
        ))  # fmt: skip
    heads = [
        Column("session", "code"), Column("begun", "figure"), Column("intent, or first prompt"), Column("outcome"),
        Column("confidence", "figure"), Column("what says so most surely"),
    ]  # fmt: skip
    note = capped(len(rows), len(bad), "such sessions", rest=", the surest failures first")
    return table(heads, rows, caption="Sessions that did not go well", note=note)


def _why(outcomes: pd.DataFrame, judged: dict[Any, Any]) -> str:
    """The reason of the surest strategy that gives the same label; of evidence itself where none does."""
    mine = outcomes[outcomes["session_id"].eq(judged["session_id"]) & outcomes["label"].eq(judged["label"])]
    others = mine[mine["strategy"] != "evidence"].sort_values("confidence", ascending=False, kind="stable")
    if others.empty:
        return f"evidence: {judged['reason']}"
    return f"{others['strategy'].iloc[0].replace('_', ' ')}: {others['reason'].iloc[0]}"


def _first_prompts(facts: Facts, wanted: pd.Series) -> dict[str, str | None]:
    """The first stored prompt of each session that has no intent, cleaned."""
    records = facts["records"]
    mine = records[records["session_id"].isin(set(wanted)) & records["prompt_text"].notna()]
    first = mine.drop_duplicates("session_id")
    return dict(zip(first["session_id"], facts.clean.texts(first["prompt_text"]), strict=True))


# -- teams -----------------------------------------------------------------------------------------------------------


def _teams(facts: Facts, gallery: Gallery) -> Markup:
    edges, members = by_role(facts["interactions"]), facts["members"]
    if edges.empty and members.empty:
        return section(
            "teams",
            "Teams",
            empty("In no session did several agents work together, as far as transcripts show."),
        )
    groups = []
    for (source, target, kind), mine in edges.groupby(["from_agent", "to_agent", "type"], sort=False):
        failed = int((mine["ok"] == False).fillna(False).sum())  # noqa: E712
        wait = mine["latency_ms"].median()
        groups.append(
            (source, target, kind, len(mine), failed, None if is_missing(wait) else float(wait) / 1000)
        )
    groups.sort(key=lambda g: (-g[3], *g[:3]))
    rows = [
        (
            a,
            b,
            str(kind).replace("_", " "),
            whole(n),
            whole(failed),
            NOT_KNOWN if wait is None else f"{wait:,.1f}",
        )
        for a, b, kind, n, failed, wait in groups[:EDGES]
    ]
    heads = [
        Column("from"), Column("to"), Column("what"), Column("times", "figure"), Column("failed", "figure"),
        Column("median seconds to answer", "figure"),
    ]  # fmt: skip
    shown = sum(g[3] for g in groups[:EDGES])
    note = capped(len(rows), len(groups), "rows", rest=f", {shown:,} of {len(edges):,} hand-overs")
    guessed = int(edges["is_inferred"].fillna(False).astype(bool).sum())
    lead = joined(
        f"{len(edges):,} hand-overs in {edges['session_id'].nunique():,} sessions, between agents by role; {guessed:,} are "
        "inferred. ", rule(5),
    )  # fmt: skip
    roles = len(set(edges["from_agent"]) | set(edges["to_agent"]))
    many = paragraph(f"{roles:,} roles are too many for a picture.") if roles > MOST_ROLES else Markup("")
    what = table(heads, rows, caption="Who reached whom", note=note)
    return section("teams", "Teams", gallery["team"], many, what, _roles(members), lead=lead)


def _roles(members: pd.DataFrame) -> Markup:
    groups = []
    for role, mine in members.assign(role=members["role"].fillna("no role")).groupby("role", sort=True):
        groups.append(
            (role, len(mine), total(mine["steps"]), total(mine["tool_calls"]), total(mine["tokens"]))
        )
    groups.sort(key=lambda g: (-g[1], g[0]))
    heads = [Column("role"), *(Column(h, "figure") for h in ("agents", "steps", "tool calls", "tokens"))]
    rows = [(role, *(whole(v) for v in figures)) for role, *figures in groups[:EDGES]]
    return table(heads, rows, caption="By role", note=capped(len(rows), len(groups), "roles"))


# -- data quality ----------------------------------------------------------------------------------------------------


def _quality(facts: Facts, gallery: Gallery) -> Markup:
    found = facts["diagnostics"]
    order = {"error": 0, "warning": 1, "info": 2}
    rows = []
    for (severity, code), mine in found.groupby(["severity", "code"], sort=True):
        first = mine["message"].dropna()
        rows.append(
            (order.get(str(severity), 3), severity, code, len(mine), first.iloc[0] if len(first) else None)
        )
    rows.sort(key=lambda r: (r[0], -r[3], r[2]))
    heads = [Column("severity"), Column("code", "code"), Column("times", "figure"), Column("for example")]
    cells = [(_tag(str(s)), code, whole(n), _short(text, 160)) for _, s, code, n, text in rows[:CODES]]
    lead = joined(
        f"{len(found):,} things were not as they should be. Nothing is dropped without such a row. ",
        rule(1, 8, 10),
    )
    what = (
        table(heads, cells, caption="Diagnostics", note=capped(len(cells), len(rows), "codes"))
        if rows
        else paragraph("None.")
    )
    return section(
        "quality", "Data quality", what, _missing(facts), gallery["scopes"], gallery["bridge"],
        paragraph("The last picture shows what adding up all stored lines would have given, and why it is not the figure."),
        lead=lead,
    )  # fmt: skip


def _missing(facts: Facts) -> Markup:
    sessions, totals = facts["sessions"], facts.totals["day"]
    states = sessions["transcript_state"].value_counts()
    undated = totals[totals["day"].isna()]
    rows: list[tuple[str, Any, Any]] = [
        (f"sessions whose transcript is {state.replace('_', ' ')}", states.get(state, 0), len(sessions))
        for state in ("absent", "empty", "missing_blob")
    ]
    calls = int((totals["api_calls"] + totals["subagent_api_calls"]).sum())
    rows += [
        ("sessions without a summary", int(sessions["outcome_text"].isna().sum()), len(sessions)),
        ("calls of models without a price", int(totals["uncosted_calls"].sum()), calls),
        (
            "calls of models without a time",
            int((undated["api_calls"] + undated["subagent_api_calls"]).sum()),
            calls,
        ),
    ]
    none = facts["tool_calls"]
    rows.append(("tool calls without a result", int((none["status"] == "no_result").sum()), len(none)))
    heads = [Column("missing"), Column("rows", "figure"), Column("of", "figure")]
    return table(heads, [(w, whole(n), whole(of_)) for w, n, of_ in rows], caption="What is missing")


# -- how it is counted -----------------------------------------------------------------------------------------------


def _counting() -> Markup:
    rows = [(name, words, rule(*numbers) if numbers else "") for name, words, numbers in NUMBERS]
    heads = [Column("number"), Column("what it is"), Column("by")]
    rules = "".join(f'<li id="rule-{n}">{rule_html(text)}</li>' for n, text in enumerate(RULES, 1))
    return section(
        "counting", "How each number is counted", table(heads, rows, caption="The numbers"),
        Markup(f'<h3>The counting rules</h3><ol class="rules">{rules}</ol>'),
        lead="Every table and picture follows the same rules, so two figures of the same thing agree.",
    )  # fmt: skip


def _tag(word: str) -> Markup:
    return Markup(f'<span class="tag {word if word.isalpha() else ""}">{html(word)}</span>')


def _short(text: Any, length: int) -> str | None:
    if not isinstance(text, str):
        return None
    return cut(text, length)
