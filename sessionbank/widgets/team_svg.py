"""A team's run as SVG text: who reaches whom on a circle, and a lane a member along the run. Pure, no script, no ids.

The same input gives the same text. Names are redacted and escaped; colours are variables of `tones`, so one picture
suits light and dark pages. Larger teams draw less: what is left out is told beneath the picture.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from sessionbank.html import shortened
from sessionbank.team.model import EVERYONE, NOT_AGENTS, SYSTEM, TYPES, UNKNOWN, Interaction
from sessionbank.widgets import tones

MAX_ARROWS = 300  # pairs in the graph and hand-overs in the lanes; more hide each other
FEW = 12  # members up to which names stand level around the circle
WIDTH = 960.0  # of the lanes
ROUND = 700.0  # of the graph, beside which the list of edges stands
_WORDS = {EVERYONE: "everyone (*)", SYSTEM: "the harness", UNKNOWN: "not started (?)"}


@dataclass(frozen=True, slots=True)
class Pair:
    """All interactions from one agent to another: `places` are theirs in the team's list, `types` counts by type."""

    sender: str
    receiver: str
    places: tuple[int, ...]
    types: tuple[tuple[str, int], ...]  # most frequent first
    failed: int
    emergent: int


@dataclass(frozen=True, slots=True)
class Handover:
    """One interaction in the lanes: minutes since the start; `received` is None where it was not seen to arrive."""

    place: int
    sender: str
    receiver: str
    type: str
    sent: float
    received: float | None


def pairs(interactions: Sequence[Interaction]) -> dict[tuple[str, str], Pair]:
    """The interactions by sender and receiver, in order of the first of each pair."""
    found: dict[tuple[str, str], list[int]] = {}
    for place, edge in enumerate(interactions):
        found.setdefault((edge.from_agent, edge.to_agent), []).append(place)
    return {key: _pair(key, places, interactions) for key, places in found.items()}


def _pair(key: tuple[str, str], places: list[int], interactions: Sequence[Interaction]) -> Pair:
    edges = [interactions[p] for p in places]
    counts = {t: n for t in TYPES if (n := sum(e.type == t for e in edges))}
    return Pair(
        *key,
        tuple(places),
        tuple(sorted(counts.items(), key=lambda item: -item[1])),
        sum(e.ok is False for e in edges),
        sum(e.was_expected is False for e in edges),
    )


def label(name: str, names: Mapping[str, str]) -> str:
    """How an agent is called: its shown name, or what the sign for no agent means; not escaped."""
    return _WORDS.get(name) or names.get(name, name)


def told(pair: Pair, names: Mapping[str, str]) -> str:
    """A pair in words: ``lead to worker: 12 interactions (8 delegation, 4 message), 1 failed``; not escaped."""
    kinds = ", ".join(f"{n} {t}" for t, n in pair.types)
    count = len(pair.places)
    rest = "".join(f", {n} {word}" for n, word in ((pair.failed, "failed"), (pair.emergent, "emergent")) if n)
    who = f"{label(pair.sender, names)} to {label(pair.receiver, names)}"
    return f"{who}: {count} interaction{'s' * (count != 1)} ({kinds}){rest}"


def legend_html(types: Iterable[str], *more: str) -> str:
    """Swatches of the types of interaction that occur; `more` is HTML that follows."""
    used = set(types)
    return f'<div class="r">{"".join(tones.swatch(t, t) for t in TYPES if t in used)}{"".join(more)}</div>'


# -- graph -----------------------------------------------------------------------------------------------------------


def graph_html(
    agents: Sequence[str],
    by_pair: Mapping[tuple[str, str], Pair],
    *,
    names: Mapping[str, str] | None = None,
    chosen: tuple[str, str] | None = None,
    critical: Collection[int] = (),
) -> str:
    """Agents on a circle with an arrow for each ordered pair: width how many, colour the most frequent type.

    Dashed: all of them emergent. `chosen` stands out and the rest steps back; a diamond says that one of the
    interactions of the pair is critical (`critical`: places in the team's list). `names` are those shown.
    """
    names = names or {}
    if not agents:
        return '<div class="q">This team has no members.</div>'
    many = len(agents) > FEW
    height, radius = (730.0, 212.0) if many else (400.0, 145.0)
    middle = (ROUND / 2, height / 2)
    turn = {a: math.pi / 2 - 2 * math.pi * k / len(agents) for k, a in enumerate(agents)}
    at = {
        a: (middle[0] + radius * (1.0 if many else 1.4) * math.cos(t), middle[1] - radius * math.sin(t))
        for a, t in turn.items()
    }
    drawn = [p for p in by_pair.values() if p.sender != p.receiver]
    drawn.sort(key=lambda p: -len(p.places))
    hidden = drawn[MAX_ARROWS:]
    drawn = drawn[:MAX_ARROWS]
    picked = by_pair.get(chosen) if chosen is not None else None
    if picked is not None and picked in hidden:
        drawn.append(picked)
    most = max((len(p.places) for p in drawn), default=1)
    gap = 6.0 if many else 10.0
    held = set(critical)
    marks, arrows = [], []
    for pair in sorted(drawn, key=lambda p: ((p.sender, p.receiver) == chosen, -len(p.places))):
        is_chosen = (pair.sender, pair.receiver) == chosen
        words = escape(told(pair, names))
        width = 1.0 + (4.5 if not many else 2.5) * math.sqrt(len(pair.places) / most)
        kind = pair.types[0][0] if pair.types else "message"
        path, head, centre = _arrow(at[pair.sender], at[pair.receiver], gap=gap, size=width)
        faint = 1.0 if is_chosen else (0.45 if chosen in by_pair else (0.85 if not many else 0.55))
        dash = ' stroke-dasharray="6 4"' if pair.emergent == len(pair.places) else ""
        halo = f'<path d="{path}" fill="none" stroke="{tones.css("chosen")}" stroke-width="{width + 7:.1f}" opacity=".3"/>'
        arrows.append(
            f'<g opacity="{faint:g}"><title>{words}</title>{halo if is_chosen else ""}'
            f'<path d="{path}" fill="none" stroke="{tones.css(kind)}" stroke-width="{width:.1f}"{dash}/>'
            f'<polygon points="{head}" fill="{tones.css(kind)}"/></g>'
        )
        count = sum(p in held for p in pair.places)
        if count:
            marks.append(
                f"<g><title>{count} critical: {words}</title>{_diamond(*centre, 3.5 if many else 5.0)}</g>"
            )
    nodes = [_node(a, at[a], turn[a], text=label(a, names), is_level=not many) for a in agents]
    around = len(by_pair) - sum(p.sender != p.receiver for p in by_pair.values())
    total = sum(len(p.places) for p in by_pair.values())
    words = f"Graph of {len(agents)} agents and {total} interactions in {len(by_pair)} ordered pairs"
    if picked is not None:
        words += f"; chosen: {told(picked, names)}"
    notes = [
        "Arrow: all interactions from one agent to another; its width says how many, dashed: all emergent."
    ]
    if hidden:
        notes.append(f"The {len(hidden)} pairs with fewest interactions are not drawn.")
    if around:
        who = "1 agent wrote to itself" if around == 1 else f"{around} agents wrote to themselves"
        notes.append(f"{who}: see hand-overs.")
    critical_mark = '<span style="white-space:nowrap"><svg width="12" height="12" viewBox="0 0 12 12" '
    critical_mark += f'style="display:inline;width:12px" aria-hidden="true">{_diamond(6, 6)}</svg> holds a critical one</span>'
    return (
        legend_html((p.types[0][0] for p in drawn if p.types), critical_mark)
        + f'<svg viewBox="0 0 {ROUND:g} {height:g}" role="img" aria-label="{escape(words)}" '
        f'style="max-width:{ROUND:g}px">{"".join(arrows)}{"".join(marks)}{"".join(nodes)}</svg>'
        f'<div class="q">{" ".join(notes)}</div>'
    )


def _arrow(
    start: tuple[float, float], end: tuple[float, float], *, gap: float, size: float
) -> tuple[str, str, tuple[float, float]]:
    """A bent arrow between two places: its path, the corners of its head, and the place of a mark."""
    (x0, y0), (x1, y1) = start, end
    length = math.hypot(x1 - x0, y1 - y0) or 1.0
    # bent to the left of its way, so that there and back lie apart
    bend = 0.09 * length + 8
    cx, cy = (x0 + x1) / 2 + (y1 - y0) / length * bend, (y0 + y1) / 2 - (x1 - x0) / length * bend
    out, back = math.hypot(cx - x0, cy - y0) or 1.0, math.hypot(x1 - cx, y1 - cy) or 1.0
    ux, uy = (x1 - cx) / back, (y1 - cy) / back
    reach = 5 + 1.6 * size
    ax, ay = x0 + (cx - x0) / out * gap, y0 + (cy - y0) / out * gap
    tip = (x1 - ux * gap, y1 - uy * gap)
    neck = (tip[0] - ux * reach, tip[1] - uy * reach)
    half = 2.6 + 0.75 * size
    corners = (tip, (neck[0] - uy * half, neck[1] + ux * half), (neck[0] + uy * half, neck[1] - ux * half))
    path = f"M{ax:.1f} {ay:.1f}Q{cx:.1f} {cy:.1f} {neck[0]:.1f} {neck[1]:.1f}"
    # a bit before the middle, where the arrows of a circle would all meet
    centre = (0.36 * ax + 0.48 * cx + 0.16 * neck[0], 0.36 * ay + 0.48 * cy + 0.16 * neck[1])
    return path, " ".join(f"{x:.1f},{y:.1f}" for x, y in corners), centre


def _diamond(x: float, y: float, size: float = 5.0) -> str:
    corners = ((x, y - size), (x + size, y), (x, y + size), (x - size, y))
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
    return f'<polygon points="{points}" fill="{tones.css("critical")}" stroke="{tones.css("page")}"/>'


def _node(name: str, at: tuple[float, float], turn: float, *, text: str, is_level: bool) -> str:
    x, y = at
    size = 7 if is_level else 4.5
    look = 'fill="currentColor"'
    if name in NOT_AGENTS:  # no agent: hollow
        look = f'fill="{tones.css("page")}" stroke="currentColor" stroke-width="1.5"'
    across, up = math.cos(turn), math.sin(turn)
    short = escape(shortened(text, 24))
    if is_level:
        side = "middle" if abs(across) < 0.2 else ("start" if across > 0 else "end")
        tx, ty = x + (0 if side == "middle" else 14 * math.copysign(1, across)), y + 4
        if side == "middle":
            ty = y - 14 if up > 0 else y + 24
        place = f'x="{tx:.1f}" y="{ty:.1f}" text-anchor="{side}"'
    else:
        degrees = -math.degrees(turn)
        is_left = across < -0.01
        tx, ty = x + 10 * across, y - 10 * up
        place = (
            f'text-anchor="{"end" if is_left else "start"}" dominant-baseline="central" '
            f'transform="translate({tx:.1f} {ty:.1f}) rotate({degrees + (180 if is_left else 0):.1f})"'
        )
    title = f"<title>{escape(text)}</title>"
    return (
        f'<g>{title}<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}" {look}/><text {place}>{short}</text></g>'
    )


# -- lanes -----------------------------------------------------------------------------------------------------------


def timeline_html(
    lanes: Sequence[str],
    pieces: Mapping[tuple[str, str], Sequence[tuple[float, float]]],
    handovers: Sequence[Handover],
    *,
    span: tuple[float, float],
    names: Mapping[str, str] | None = None,
    chosen: int | None = None,
    critical: Collection[int] = (),
    totals: Sequence[float] = (),
    critical_steps: Sequence[tuple[str, float]] = (),
    untimed: int = 0,
) -> str:
    """A lane an agent over the minutes of `span`, with a line for each hand-over that is sent or arrives in them.

    `pieces`: begin and end of (agent, ``work``, ``waiting`` or ``idle``). A cross ends what was not seen to arrive,
    a hollow end what goes to no agent.
    Critical hand-overs are bold; the `chosen` one (a place in the team's list) has a halo. Where there are too many, those
    of the highest `totals` (by place) are drawn. `critical_steps` are agents and minutes, by rank. `untimed`:
    interactions without a time, which are told.
    """
    names = names or {}
    begin, end = span
    if not lanes:
        return '<div class="q">Nothing in this team has a time.</div>'
    step = 34.0 if len(lanes) <= FEW else 19.0
    left, right, top = 150.0, WIDTH - 14, 8.0
    bottom = top + step * len(lanes)
    scale = (right - left) / max(end - begin, 1e-9)
    row = {agent: top + step * (k + 0.5) for k, agent in enumerate(lanes)}

    def x(minute: float) -> float:
        return left + (min(max(minute, begin), end) - begin) * scale

    seen = [h for h in handovers if h.sent <= end and (h.sent if h.received is None else h.received) >= begin]
    held = set(critical)
    order = sorted(seen, key=lambda h: (h.place != chosen, -totals[h.place] if totals else 0.0, h.place))
    drawn = sorted(order[:MAX_ARROWS], key=lambda h: (h.place == chosen, h.place in held, h.sent, h.place))
    parts = [_axis(begin, end, x=x, top=top, bottom=bottom)]
    for agent in lanes:
        name = label(agent, names)
        parts.append(
            f'<line x1="{left:g}" x2="{right:g}" y1="{row[agent]:.1f}" y2="{row[agent]:.1f}" stroke="{tones.css("faint")}"/>'
            f'<text x="{left - 8:g}" y="{row[agent] + 4:.1f}" text-anchor="end"><title>{escape(name)}</title>'
            f"{escape(shortened(name, 21))}</text>"
        )
    for (agent, kind), times in pieces.items():
        if agent in row:
            height = step * (0.3 if kind == "idle" else 0.56)
            shape = _bars([(x(a), x(b)) for a, b in times if b >= begin and a <= end], row[agent])
            if shape:
                parts.append(f'<path d="{shape}" stroke="{tones.css(kind)}" stroke-width="{height:.1f}"/>')
    parts += [_line(h, names, x=x, row=row, is_chosen=h.place == chosen, is_critical=h.place in held)
              for h in drawn if h.sender in row and h.receiver in row]  # fmt: skip
    steps = [(agent, minute) for agent, minute in critical_steps if agent in row and begin <= minute <= end]
    size = 3.6 if len(lanes) <= FEW else 2.8
    parts += [_diamond(x(minute), row[agent] - step * 0.36, size) for agent, minute in steps[:MAX_ARROWS]]
    words = f"Lanes of {len(lanes)} agents over {end - begin:.3g} minutes, {len(drawn)} of {len(seen)} hand-overs drawn"
    notes = [
        "Diamond: critical step. Bold line: critical hand-over. Cross: not seen to arrive. Hollow end: sent to no agent."
    ]
    if len(seen) > len(drawn):
        notes.append(
            f"{len(seen) - len(drawn)} of {len(seen)} hand-overs are not drawn: narrow the minutes to see them."
        )
    if len(steps) > MAX_ARROWS:
        notes.append(f"Of {len(steps)} critical steps the first {MAX_ARROWS} by rank are marked.")
    if untimed:
        notes.append(f"{untimed} interactions have no time.")
    kinds = dict.fromkeys(k for _, k in pieces)
    states = "".join(tones.swatch(s, s) for s in tones.STATES if s in kinds)
    return (
        legend_html((h.type for h in drawn), states)
        + f'<svg viewBox="0 0 {WIDTH:g} {bottom + 38:.0f}" role="img" aria-label="{escape(words)}" '
        f'style="max-width:{WIDTH:g}px">{"".join(parts)}</svg><div class="q">{" ".join(notes)}</div>'
    )


def _axis(begin: float, end: float, *, x: Callable[[float], float], top: float, bottom: float) -> str:
    """Grid lines and their minutes."""
    size = max(end - begin, 1e-9)
    unit = 10 ** math.floor(math.log10(size / 8))
    step = next(unit * m for m in (1, 2, 5, 10) if size / (unit * m) <= 9)
    first, last = math.ceil(begin / step - 1e-9), math.floor(end / step + 1e-9)
    parts = []
    for k in range(first, last + 1):
        at = x(k * step)
        parts.append(
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{top:g}" y2="{bottom + 4:g}" stroke="{tones.css("faint")}"/>'
            f'<text x="{at:.1f}" y="{bottom + 17:g}" text-anchor="middle">{k * step:.6g}</text>'
        )
    middle = (x(begin) + x(end)) / 2
    parts.append(
        f'<text x="{middle:.1f}" y="{bottom + 33:g}" text-anchor="middle">minutes since the start</text>'
    )
    return "".join(parts)


def _bars(spans: Sequence[tuple[float, float]], middle: float) -> str:
    """Spans as one path to be stroked; those less than a pixel apart are joined."""
    joined: list[list[float]] = []
    for a, b in sorted(spans):
        if joined and a - joined[-1][1] < 1:
            joined[-1][1] = max(joined[-1][1], b)
        else:
            joined.append([a, max(b, a + 0.5)])
    return "".join(f"M{a:.1f} {middle:.1f}h{b - a:.1f}" for a, b in joined)


def _line(
    hand: Handover,
    names: Mapping[str, str],
    *,
    x: Callable[[float], float],
    row: Mapping[str, float],
    is_chosen: bool,
    is_critical: bool,
) -> str:
    x0, y0 = x(hand.sent), row[hand.sender]
    x1, y1 = x(hand.sent if hand.received is None else hand.received), row[hand.receiver]
    tone = tones.css(hand.type)
    width = 2.4 if is_critical or is_chosen else 1.2
    who = f"{label(hand.sender, names)} to {label(hand.receiver, names)}"
    when = (
        "not seen to arrive" if hand.received is None else f"{hand.received - hand.sent:.2f} min on its way"
    )
    halo = ""
    if is_chosen:
        halo = (
            f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" stroke="{tones.css("chosen")}" stroke-width="9" '
        )
        halo += f'stroke-linecap="round" opacity=".3"/><circle cx="{x1:.1f}" cy="{y1:.1f}" r="7" fill="none" '
        halo += f'stroke="{tones.css("chosen")}" stroke-width="2"/>'
    if hand.received is None and hand.receiver in NOT_AGENTS:
        mark = f'<circle cx="{x1:.1f}" cy="{y1:.1f}" r="2.6" fill="{tones.css("page")}" stroke="{tone}" stroke-width="1.4"/>'
        when = "no agent receives it"
    elif hand.received is None:
        mark = f'<path d="M{x1 - 4:.1f} {y1 - 4:.1f}l8 8m0-8l-8 8" stroke="{tone}" stroke-width="2.2"/>'
    else:
        mark = f'<circle cx="{x1:.1f}" cy="{y1:.1f}" r="{3.2 if width > 2 else 2.4:g}" fill="{tone}"/>'
    title = escape(f"#{hand.place + 1} {hand.type}, {who}, minute {hand.sent:.2f}, {when}")
    return (
        f"<g><title>{title}</title>{halo}"
        f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" stroke="{tone}" stroke-width="{width:g}"/>{mark}</g>'
    )
