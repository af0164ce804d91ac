"""A playbook's line to be reviewed, as HTML: what it says, how the runs stand to it, what it rests on, what was decided.

Pure functions of what `sessionbank.learning.review` gives; the controls are `review`'s. Text of runs and people is
escaped and shown by `show`, which leaves secrets and names of people out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from sessionbank.html import one_line
from sessionbank.learning.playbooks import Decision, Line, Playbook, counted
from sessionbank.widgets import tones
from sessionbank.widgets.shown_texts import Shown

_LONG, _CELL = 4_000, 300  # characters of a text, and of a cell, that are shown
_SIDES = {True: ("for", "ok"), False: ("against", "error"), None: ("neither", "")}


def header_html(playbook: Playbook, *, undecided: int, show: Shown) -> str:
    """The playbook: name, version, confidence, where it came from and how many lines wait for a decision."""
    lines = [line for _, line in playbook.lines()]
    facts = [
        f"version {playbook.evolution.version}",
        f"confidence {playbook.confidence:.2f}",
        f"from {counted(len(playbook.evolution.created_from))}",
        f"{counted(len(lines), 'line')}, {undecided} undecided",
    ]
    uses = playbook.evolution.uses
    if uses:
        facts.append(
            f"used in {counted(len(uses))}: {playbook.evolution.success_count} well, {playbook.evolution.failure_count} not"
        )
    return tones.pane(
        f"<h3>{escape(show(playbook.name, limit=120))}</h3>",
        f'<div class="r q">{"".join(f"<span>{escape(f)}</span>" for f in facts)}</div>',
        label="playbook",
    )


def list_label(line: Line, section: str, *, show: Shown) -> str:
    """One line in a list; plain text, which a native list does not read as markup."""
    last = line.decisions[-1].action if line.decisions else ""
    mark = {"accept": "✓", "edit": "✎", "reject": "✗", "merge": "⇢"}.get(last, "·")
    way = "" if line.direction == "do" else "avoid: "
    support = f"{line.support.runs_for}:{line.support.runs_against}"
    return f"{mark} {line.confidence:.2f}  {support:>7}  {line.standing:<11} {way}{one_line(show(line.text, limit=160), 110)}"


def line_html(line: Line, section: str, *, show: Shown) -> str:
    """What a line says, its standing and support in figures and as a bar, contradictions, variants and decisions."""
    s = line.support
    share = s.runs_for / (s.runs_for + s.runs_against) if s.runs_for + s.runs_against else 0.0
    badges = [tones.badge(line.standing, line.standing), tones.badge(line.direction), tones.badge(section)]
    parts = [
        f'<div class="r">{"".join(badges)}</div>',
        f"<pre>{escape(show(line.text, limit=_LONG))}</pre>",
        f'<div class="r"><span>{tones.bar(share, "ok")} {counted(s.runs_for)} for, {s.runs_against} against</span>'
        f'<span class="q">of {s.runs_with} that show it and {s.runs} whose outcome is known{_means(line)}</span></div>',
        f'<div class="q">confidence {line.confidence:.2f}: {escape(line.basis or "nothing was measured")}</div>',
    ]
    for title, texts in (("Spoken against", line.contradictions), ("Also said as", line.variants)):
        if texts:
            items = "".join(f"<li>{escape(show(t, limit=_CELL))}</li>" for t in texts)
            parts.append(f"<h4>{title}</h4><ul>{items}</ul>")
    if line.decisions:
        parts.append(
            "<h4>Decided</h4>"
            + _table(("when", "who", "what", "why"), [_decided(d, show) for d in line.decisions])
        )
    return tones.pane(*parts, label="line")


def evidence_html(places: Sequence[Mapping[str, Any]], chosen: int | None, *, show: Shown) -> str:
    """The places that a line rests on, a row each, and the chosen one down to its stored transcript line."""
    if not places:
        return tones.pane('<div class="q">No place is kept for this line.</div>', label="evidence")
    rows = []
    for number, place in enumerate(places, 1):
        side, tone = _SIDES[place["supports"]]
        where = [
            str(place["session_id"] or "")[:8],
            "" if place["seq"] is None else f"message {place['seq']}",
        ]
        rows.append([
            f'<span class="n">{"▸ " if number - 1 == chosen else ""}{number}</span>', tones.badge(side, tone),
            escape(show(place["objective"], limit=_CELL)), escape(place["outcome"] or "unknown"),
            escape(" ".join(w for w in where if w)), escape(show(place["note"], limit=_CELL)),
        ])  # fmt: skip
    parts = [_table(("", "run is", "task", "outcome", "where", "what stands there"), rows, is_html=True)]
    if chosen is not None and 0 <= chosen < len(places):
        parts.append(_place(places[chosen], chosen, show))
    return tones.pane(*parts, label="evidence")


def _place(place: Mapping[str, Any], number: int, show: Shown) -> str:
    title = f"<h4>Place {number + 1}: run {escape(show(place['run_id'], limit=120))}</h4>"
    if place["message"] is None and not place["raw"]:
        why = "no bank is at hand" if place["session_id"] else "it is the run as a whole"
        return f'{title}<div class="q">No transcript line to show: {why}, or the bank does not hold it.</div>'
    out = (
        [title, f"<pre>{escape(show(place['message'], limit=_LONG))}</pre>"] if place["message"] else [title]
    )
    for line in place["raw"] or ():
        text = line.decode("utf-8", "replace")
        out.append(
            f'<div class="q">the stored line, {len(line):,} bytes</div><pre>{escape(show(text, limit=_LONG))}</pre>'
        )
    return "".join(out)


def changes_html(changes: Sequence[str], *, title: str, show: Shown) -> str:
    """What changed between versions, a sentence a line."""
    items = "".join(f"<li>{escape(show(c, limit=_CELL))}</li>" for c in changes)
    return tones.pane(f"<h4>{escape(title)}</h4>", f"<ul>{items}</ul>" if changes else '<div class="q">nothing</div>',
                      label="changes")  # fmt: skip


def told_html(told: Sequence[Mapping[str, Any]], *, show: Shown) -> str:
    """Which recommendations tell a line, and would not without it."""
    if not told:
        return tones.pane(
            '<div class="q">No recommendation for a task in memory tells this line.</div>', label="effect"
        )
    rows = [(show(t["task"], limit=_CELL), t["where"]) for t in told]
    head = f"<h4>{counted(len(told), 'recommendation')} would no longer say it</h4>"
    return tones.pane(head, _table(("task", "where it is told"), rows), label="effect")


def said_html(text: str, *, is_wrong: bool = False) -> str:
    """What happened to a decision, or why it was refused."""
    if not text:
        return ""
    return tones.pane(f"<div>{tones.badge('not done' if is_wrong else 'done', 'error' if is_wrong else 'ok')} {escape(text)}</div>",
                      label="problem" if is_wrong else "done")  # fmt: skip


def _means(line: Line) -> str:
    s = line.support
    if s.mean_with is None:
        return ""
    without = "" if s.mean_without is None else f", {s.mean_without:.2f} without"
    return f"; mean outcome {s.mean_with:.2f} with it{without} (0 failed, 1 succeeded)"


def _decided(decision: Decision, show: Shown) -> tuple[str, ...]:
    what = decision.action + (f" into {decision.into}" if decision.into else "")
    return (
        f"{decision.at:%Y-%m-%d}",
        show(decision.reviewer, limit=80),
        what,
        show(decision.reason, limit=_CELL),
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, is_html: bool = False) -> str:
    cell: Callable[[str], str] = str if is_html else escape
    top = "".join(f"<th>{escape(h)}</th>" for h in head)
    body = "".join("<tr>" + "".join(f"<td>{cell(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
