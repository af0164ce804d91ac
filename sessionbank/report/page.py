"""The file as a whole: its head with the key figures, the list of sections, and the frame around all of it.

The policy in the file forbids every script and every address outside it, whatever a text may hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from sessionbank.report.clean import printable
from sessionbank.report.facts import Facts
from sessionbank.report.look import sheet
from sessionbank.report.markup import Markup, html, share, total, usd, whole

SECTIONS = {
    "activity": "Activity", "cost": "Cost", "agents": "Agents and models", "tools": "Tools", "attribution": "Attribution",
    "outcomes": "Outcomes", "teams": "Teams", "quality": "Data quality", "counting": "How it is counted",
}  # fmt: skip
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def document(title: str, body: Iterable[Markup], *, colours: Mapping[str, tuple[str, str]]) -> str:
    """The whole file; the first part of `body` is its head."""
    head, *rest = body
    links = "".join(f'<li><a href="#{name}">{html(words)}</a></li>' for name, words in SECTIONS.items())
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(printable(title))}</title>\n<style>{sheet(colours)}</style>\n</head>\n<body>\n{head}\n"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n<main>\n{"".join(rest)}\n</main>\n'
        "<footer><p>Made by sessionbank. One file: no script, and nothing is fetched.</p></footer>\n</body>\n</html>\n"
    )


def head(facts: Facts, *, title: str, date: str | None, redact: bool) -> Markup:
    """What the report is of, as of when, and the figures to see first."""
    figures = "".join(
        f'<div><dt>{html(name)}</dt><dd><div class="n">{html(value)}</div><div class="s">{html(more)}</div></dd></div>'
        for name, value, more in _key_figures(facts)
    )
    told = "".join(f'<p class="sub">{html(line)}</p>' for line in _about(facts, date=date, redact=redact))
    return Markup(
        f'<header class="top"><div><h1>{escape(printable(title))}</h1>{told}<dl class="key">{figures}</dl></div></header>'
    )


def _about(facts: Facts, *, date: str | None, redact: bool) -> Iterable[str]:
    stored = facts["checkpoints"]["created_at"].dropna()
    if not facts.is_available:
        yield "No Entire checkpoints in this repository, so there is nothing to count."
    elif len(stored):
        first, last = (t.tz_convert(facts.tz) for t in (stored.min(), stored.max()))
        yield (
            f"Sessions of coding agents stored from {first.day} {first:%B %Y} to {last.day} {last:%B %Y}. "
            f"As of the last stored checkpoint, {last:%Y-%m-%d %H:%M} ({facts.tz})."
        )
    else:
        yield "Sessions of coding agents; when they were stored is not recorded."
    if facts.total is not None:
        yield f"A selection: {len(facts['sessions']):,} of the sessions that were asked for, {facts.total:,} in all."
    parts = [f"Checkpoints in {', '.join(facts.layouts)}"] if facts.layouts else []
    parts += [f"head {facts.head[:12]}"] if facts.head else []
    parts += [f"report of {printable(date)}"] if date else []
    parts.append(
        "secrets and names of users are left out" if redact else "NOT redacted: it may hold keys and names"
    )
    yield "; ".join(parts)[:1].upper() + "; ".join(parts)[1:] + "."


def _key_figures(facts: Facts) -> Iterable[tuple[str, Any, Any]]:
    sessions, commits, totals = facts["sessions"], facts["commits"], facts.totals["agent"]
    linked = commits.loc[commits["resolves"].fillna(False).astype(bool), "commit_sha"].nunique()
    yield (
        "Sessions",
        whole(len(sessions)),
        f"in {len(facts['checkpoints']):,} checkpoints; {linked:,} commits lead to them",
    )
    cost = totals["total_cost_usd"].sum(min_count=1)
    unpriced = int(totals["uncosted_calls"].sum())
    per = f"{usd(cost / linked)} a commit on average; " if linked and cost == cost else ""
    yield (
        "Cost, USD",
        usd(cost),
        per + (f"{unpriced:,} calls without a price" if unpriced else "every call has a price"),
    )
    calls = int((totals["api_calls"] + totals["subagent_api_calls"]).sum())
    tokens = int((totals["total_tokens"].fillna(0) + totals["subagent_total_tokens"].fillna(0)).sum())
    yield "API calls", whole(calls), f"{tokens:,} tokens, cache included"
    hours = float(sessions["active_s"].sum()) / 3600
    yield "Prompts by people", whole(total(sessions["human_prompts"])), f"{hours:,.1f} hours of active time"
    own = facts["tool_calls"]
    own = own[own["inherited_from"].isna()]
    bad = int((own["status"] == "error").sum())
    yield "Tool calls", whole(len(own)), f"{bad:,} errors, {share(bad / len(own))}" if len(own) else "none"
    judged = facts["outcomes"]
    labels = judged.loc[judged["strategy"] == "evidence", "label"]
    known, good = int((labels != "unknown").sum()), int((labels == "success").sum())
    words = f"{good:,} of {known:,} sessions; {len(labels) - known:,} cannot be told"
    yield "Went well", share(good / known) if known else "–", words + " (inferred)"
    lines = facts["attribution"]
    lines = lines[lines["is_representative"].astype(bool) & lines["warning"].isna()]
    agent, people = int(lines["agent_lines"].sum()), int(lines[["human_added", "human_modified"]].sum().sum())
    part = share(agent / (agent + people)) if agent + people else "–"
    yield "Lines by agents", part, f"{agent:,} of {agent + people:,} lines, as stored; odd rows left out"
    own_edges = facts["interactions"]
    yield (
        "Sessions with a team", whole(own_edges["session_id"].nunique()),
        f"{len(own_edges):,} hand-overs between agents",
    )  # fmt: skip
