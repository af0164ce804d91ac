"""What the team explorer's panes say, as HTML text: the team, an interaction, a step, the critical set. Pure functions.

Every text is redacted by `show` (`redaction.shown`, or `unchanged`), cut and then escaped. No figure is worked out here
that the scores do not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Any

from sessionbank.html import one_line
from sessionbank.redaction import shown
from sessionbank.redaction.views import cut
from sessionbank.team.model import Interaction, Team, TeamStep
from sessionbank.team.score import INTERACTION_PARTS, STEP_PARTS, ScoreConfig
from sessionbank.widgets import tones
from sessionbank.widgets.team_svg import label

Show = Callable[..., str]
TEXT = 4000  # characters of one text that a pane shows
CRITICAL_ROWS = 40

# What a part says, and how it goes into the total: as it is, or as what is lacking to 1.
PART_WORDS = {
    "downstream_success": "success downstream", "latency_penalty": "latency penalty", "expected": "expected",
    "information_density": "information density", "promise": "promise", "progress": "progress",
    "interaction_bonus": "interaction bonus",
}  # fmt: skip
INVERTED = frozenset({"downstream_success", "expected"})


@dataclass(frozen=True, slots=True)
class CriticalRow:
    """A critical step or interaction: what it is called, its total and reason, and whether it was critical before."""

    name: str
    total: float
    reason: str
    is_new: bool = False


def unchanged(text: str | None, *, limit: int | None = None) -> str:
    """The text as it is, cut to `limit` characters: what stands for `shown` where nothing is to be redacted."""
    text = text or ""
    return text if limit is None else cut(text, limit)


def header_html(team: Team, *, show: Show = shown) -> str:
    """The team: name, objective, how it ended, and what there is of it."""
    steps = sum(map(len, team.step_lists.values()))
    counts = f"{len(team.member_list)} members, {len(team.interaction_list):,} interactions, {steps:,} steps with a transcript"
    silent = [m for m in team.member_list if not team.step_lists.get(m.agent_id)]
    if silent:
        counts += f"; the steps of {len(silent)} members stand in no transcript"
    badges = [tones.badge(show(team.outcome), {"success": "ok", "failure": "error"}.get(team.outcome, ""))
              if team.outcome else tones.badge("outcome not recorded")]  # fmt: skip
    badges += [tones.badge(f"topology {show(team.topology)}")] if team.topology else []
    badges += [tones.badge("only one checkpoint ties these sessions together")] if team.is_loose else []
    objective = f"<div>{escape(show(team.objective, limit=400))}</div>" if team.objective else ""
    return tones.pane(
        f'<div class="r"><h3>Team {escape(show(team.name or team.id, limit=80))}</h3>{"".join(badges)}</div>',
        objective,
        f'<div class="q">{escape(counts)}</div>',
        label="team",
    )


def list_label(
    place: int,
    edge: Interaction,
    names: Mapping[str, str],
    *,
    total: float | None,
    is_critical: bool,
    show: Show = shown,
) -> str:
    """One interaction on a line of a list; plain text, which a native list does not read as markup."""
    mark = "◆" if is_critical else " "
    when = f"{edge.timestamp:%H:%M:%S}" if edge.timestamp else "no time "
    score = "  –  " if total is None else f"{total:.2f}"
    failed = " [failed]" if edge.ok is False else ""
    who = f"{one_line(label(edge.from_agent, names), 20)} → {one_line(label(edge.to_agent, names), 20)}"
    said = one_line(show(edge.content, limit=90), 70)
    return f"{mark} #{place + 1}  {when}  {score}  {who}  {edge.type}{failed}{': ' + said if said else ''}"


def interaction_html(
    edge: Interaction,
    *,
    place: int,
    names: Mapping[str, str],
    score: Mapping[str, Any] | None = None,
    config: ScoreConfig | None = None,
    sent_by: TeamStep | None = None,
    received_by: TeamStep | None = None,
    raw: str | None = None,
    show: Show = shown,
) -> str:
    """One interaction to read: who to whom, when, on what evidence, what was said, the steps at both ends, the score.

    `score` is its row of `TeamScores.interactions`; `raw` the stored line.
    """
    who = f"{escape(label(edge.from_agent, names))} → {escape(label(edge.to_agent, names))}"
    badges = [tones.badge(edge.type + (f": {show(edge.subtype)}" if edge.subtype else ""), edge.type)]
    if edge.ok is None:
        badges.append(tones.badge("not known whether it went well"))
    else:
        badges.append(tones.badge("arrived well", "ok") if edge.ok else tones.badge("failed", "error"))
    if edge.was_expected is not None:
        badges.append(tones.badge("expected") if edge.was_expected else tones.badge("emergent", "signal"))
    if edge.is_inferred:
        badges.append(tones.badge("inferred", "signal"))
    if edge.is_self:
        badges.append(tones.badge("to itself"))
    facts = [
        ("sent", _when(edge.timestamp)),
        ("latency", _took(edge.latency_ms)),
        ("roles", f"{show(edge.from_role) or 'unknown'} → {show(edge.to_role) or 'unknown'}"),
        ("evidence", edge.evidence + (" (inferred)" if edge.is_inferred else "")),
        ("tokens", None if edge.tokens is None else f"{edge.tokens:,}"),
        ("channel", show(edge.channel) or None),
        ("signal", show(edge.signal) or None),
        ("written as", show(edge.to_raw) if edge.to_raw and edge.to_raw != edge.to_agent else None),
    ]
    parts = [
        f'<div class="r"><h3>#{place + 1} {who}</h3>{"".join(badges)}</div>',
        _facts(facts),
        _text(f"What was said ({edge.type})", edge.content, show=show, missing="no text is recorded"),
    ]
    parts += (
        [_step(f"Sent in step {sent_by.step} of {label(sent_by.agent_id, names)}", sent_by, show=show)]
        if sent_by
        else []
    )
    if received_by:
        title = f"Received in step {received_by.step} of {label(received_by.agent_id, names)}"
        parts.append(_step(title, received_by, show=show))
    if not sent_by and not received_by:
        parts.append(
            '<div class="q">No step of the sender or the receiver that it touches is in a transcript.</div>'
        )
    if score is not None:
        parts.append(score_html(score, config or ScoreConfig(), show=show))
    if raw is not None:
        parts.append(_text("The stored line", raw, show=show))
    return tones.pane(*parts, label="interaction")


def step_html(
    step: TeamStep,
    *,
    names: Mapping[str, str],
    score: Mapping[str, Any] | None = None,
    config: ScoreConfig | None = None,
    raw: str | None = None,
    show: Show = shown,
) -> str:
    """One step to read, with its score (a row of `TeamScores.steps`); `raw` is the stored line."""
    parts = [_step(f"Step {step.step} of {label(step.agent_id, names)}", step, show=show)]
    if score is not None:
        parts.append(score_html(score, config or ScoreConfig(), show=show))
    if raw is not None:
        parts.append(_text("The stored line", raw, show=show))
    return tones.pane(*parts, label="step")


def score_html(row: Mapping[str, Any], config: ScoreConfig, *, show: Show = shown) -> str:
    """How a total comes about: each part, what of it counts, its weight and how far it lifts the total; the reasons."""
    is_step = "promise" in row
    parts, weights = (
        (STEP_PARTS, config.step_weights) if is_step else (INTERACTION_PARTS, config.interaction_weights)
    )
    lines = []
    for part in parts:
        value = _number(row.get(part))
        counts = None if value is None else (1 - value if part in INVERTED else value)
        lift = None if counts is None else counts * weights[part]
        name = PART_WORDS[part] + (" (its lack counts)" if part in INVERTED else "")
        lines.append(
            f"<tr><td>{escape(name)}</td>{_cell(value)}{_cell(weights[part])}{_cell(lift)}<td>{tones.bar(lift or 0)}</td></tr>"
        )
    total, rank = _number(row.get("total")), row.get("rank")
    critical = tones.badge("critical", "critical") if row.get("is_critical") else tones.badge("not critical")
    threshold = config.critical_step_threshold if is_step else config.critical_interaction_threshold
    quality = _number(row.get("quality"))
    said = (
        f"total {_two(total)}, rank {int(rank)}"
        if rank is not None and total is not None
        else f"total {_two(total)}"
    )
    if quality is not None:
        said += f", quality {quality:.2f}"
    return (
        f'<h4>Score</h4><div class="r">{critical}<span>{escape(said)}; threshold {threshold:.2f}</span></div>'
        '<table><thead><tr><th>part</th><th class="n">value</th><th class="n">weight</th><th class="n">lifts by</th>'
        f"<th></th></tr></thead><tbody>{''.join(lines)}</tbody></table>"
        f"<div>{escape(show(str(row.get('reason') or ''), limit=600))}</div>"
        '<div class="q">The total is the chance that at least one part is reason enough: 1 minus the product of what each '
        "leaves.</div>"
    )


def critical_html(
    what: str,
    rows: Sequence[CriticalRow],
    *,
    of: int,
    left: Sequence[str] = (),
    show: Show = shown,
) -> str:
    """The critical set of `what` (steps, interactions): how many of `of`, those that entered and left since the start.

    At most `CRITICAL_ROWS` rows, which stand in order of rank; the rest is counted.
    """
    share = f" ({len(rows) / of:.0%})" if of else ""
    entered = sum(r.is_new for r in rows)
    changed = f"{entered} entered, {len(left)} left since the weights at the start" if entered or left else (
        "as with the weights at the start"
    )  # fmt: skip
    body = "".join(
        f'<tr><td class="n">{n}</td><td>{escape(r.name)} {tones.badge("entered", "entered") if r.is_new else ""}</td>'
        f'<td class="n">{r.total:.2f}</td><td>{escape(show(r.reason, limit=200))}</td></tr>'
        for n, r in enumerate(rows[:CRITICAL_ROWS], 1)
    )
    table = (
        '<table><thead><tr><th class="n">rank</th><th>which</th><th class="n">total</th><th>why</th></tr></thead>'
        f"<tbody>{body}</tbody></table>"
        if rows
        else '<div class="q">None.</div>'
    )
    more = f'<div class="q">… and {len(rows) - CRITICAL_ROWS} more</div>' if len(rows) > CRITICAL_ROWS else ""
    gone = ""
    if left:
        names = ", ".join(f'<span class="del">{escape(n)}</span>' for n in left[:CRITICAL_ROWS])
        rest = f" and {len(left) - CRITICAL_ROWS} more" if len(left) > CRITICAL_ROWS else ""
        gone = f'<div style="margin:2px 0">{tones.badge("left", "left")} {names}{rest}</div>'
    title = f"<h4>Critical {escape(what)}: {len(rows):,} of {of:,}{share}</h4>"
    return f'{title}<div class="q">{changed}</div>{gone}{table}{more}'


# -- parts of panes --------------------------------------------------------------------------------------------------


def _step(title: str, step: TeamStep, *, show: Show) -> str:
    status = tones.badge(step.status, step.status) if step.status else ""
    facts = [
        ("when", _when(step.started_at)),
        ("took", _took(step.duration_ms)),
        ("tokens", None if step.tokens is None else f"{step.tokens:,}"),
        ("line", None if step.seq is None else f"seq {step.seq}"),
    ]
    parts = [
        f'<div class="r"><h4>{escape(title)}: {escape(show(step.action_name, limit=80))}</h4>{status}</div>',
        _facts(facts),
    ]
    for name, text in (
        ("Thought", step.thought),
        ("Request", step.action_input),
        ("Result", step.observation),
    ):
        if text:
            parts.append(_text(name, text, show=show))
    return "".join(parts)


def _text(title: str, text: str | None, *, show: Show, missing: str = "") -> str:
    if not text:
        return f'<div class="q">{escape(title)}: {escape(missing)}</div>' if missing else ""
    cut = f' <span class="q">first {TEXT:,} of {len(text):,} characters</span>' if len(text) > TEXT else ""
    # a pane that scrolls is reached with the keyboard
    return f'<h4>{escape(title)}{cut}</h4><pre tabindex="0">{escape(show(text, limit=TEXT))}</pre>'


def _facts(facts: Sequence[tuple[str, Any]]) -> str:
    known = "".join(
        f'<span><span class="q">{escape(k)}</span> {escape(str(v))}</span>' for k, v in facts if v is not None
    )
    return f'<div class="r">{known}</div>' if known else ""


def _when(time: datetime | None) -> str | None:
    return f"{time:%Y-%m-%d %H:%M:%S} {time.tzname() or ''}".strip() if time else None


def _took(ms: int | None) -> str | None:
    if ms is None:
        return None
    return f"{ms:,} ms" if ms < 1000 else (f"{ms / 1000:.1f} s" if ms < 60_000 else f"{ms / 60_000:.1f} min")


def _number(value: Any) -> float | None:
    """A float, or None for what is missing (None, NaN, NA)."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if number != number else number


def _two(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _cell(value: float | None) -> str:
    return f'<td class="n">{_two(value)}</td>'
