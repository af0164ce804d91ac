"""One message in full as HTML: its words and calls, what the model saw when it came, the stored line. Pure functions.

What is long comes in parts of `PART` characters (`ROWS` rows); each function gives the HTML and how many parts there are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html import escape

from sessionbank.errors import SessionBankError
from sessionbank.html import one_line
from sessionbank.records import Message, Session, ToolCall
from sessionbank.widgets import session_look as look
from sessionbank.widgets.message_html import WHO
from sessionbank.widgets.session_entries import parsed
from sessionbank.widgets.shown_texts import Shown
from sessionbank.widgets.text_html import MORE, diff_html, marked
from sessionbank.widgets.tool_html import changed, texts_of

PART, ROWS = 20_000, 100
Section = tuple[str, str]  # a title, and a text to be shown in full


def message_html(
    message: Message, calls: Sequence[ToolCall] = (), *, show: Shown, part: int = 1, needle: str = ""
) -> tuple[str, int]:
    """All words of a message, and of the calls that it makes (or whose result it is), unshortened."""
    sections = [
        (_title(b.type), b.text)
        for b in message.blocks
        if b.text and b.type not in ("tool_use", "tool_result")
    ]
    if not message.blocks and message.text:
        sections.append((WHO.get(message.kind, message.kind), message.text))
    diffs = []
    show.prepare((t for call in calls for t in texts_of(call)), limit=MORE)
    for call in calls:
        took = "" if call.duration_ms is None else f", {call.duration_ms:,} ms"
        lines, used = changed(call, show=show)
        diffs += [diff_html(change, needle=needle) for change in lines]
        sections += [(f"{call.tool_name}: {name}", text) for name, text in _inputs(call) if name not in used]
        sections.append((f"{call.tool_name}: result ({call.status}{took})", call.result_text or ""))
    if message.extra and not sections:
        sections.append(("What else the line holds", _pretty(message.extra)))
    body, parts = sections_html(sections, show=show, part=part, needle=needle)
    facts = _facts_html(message, show)
    return look.pane(
        _head(message), facts, *(diffs if part == 1 else ()), body, label="message in full"
    ), parts


def sections_html(
    sections: Sequence[Section], *, show: Shown, part: int = 1, needle: str = ""
) -> tuple[str, int]:
    """Titled texts, redacted together; of all their characters the part asked for, and the number of parts."""
    show.prepare((text for _, text in sections), limit=max((len(t) for _, t in sections), default=0))
    texts = [(title, show(text, limit=len(text) * 2 + 200)) for title, text in sections]
    total = sum(len(text) for _, text in texts)
    parts = max(1, -(-total // PART))
    begin = (min(max(part, 1), parts) - 1) * PART
    end, at, found = begin + PART, 0, []
    for title, text in texts:
        piece = text[max(begin - at, 0) : max(end - at, 0)]
        if piece or (not text and begin <= at < end) or (not text and total == 0):
            words = f"<pre>{marked(piece, needle)}</pre>" if piece else '<div class="quiet">no text</div>'
            found.append(f"<h4>{escape(title)}</h4>{words}")
        at += len(text)
    told = (
        ""
        if parts == 1
        else f'<div class="quiet">Part {begin // PART + 1} of {parts}, {total:,} characters in all</div>'
    )
    return told + "".join(found), parts


def context_html(session: Session, message: Message, *, show: Shown, part: int = 1) -> tuple[str, int]:
    """What stood in the main agent's context when the message came, in the order sent; or why that is not known."""
    seen, why = _context(session, message)
    if not seen:
        words = f'<div class="t">{escape(show(why))}</div>'
        return look.pane(_head(message), words, label="what the model saw"), 1
    before = sum(not m.is_subagent for m in session.messages if m.seq <= message.seq)
    size = sum(len(_words(m)) for m in seen)
    told = (
        f"Of the {before:,} lines of the main agent's transcript up to this one, {len(seen):,} with {size:,} characters stood in "
        "the model's context. The others are never sent (such as progress lines), or a compaction had left them out."
    )
    parts = max(1, -(-len(seen) // ROWS))
    begin = (min(max(part, 1), parts) - 1) * ROWS
    page = seen[begin : begin + ROWS]
    show.prepare((_words(m) for m in page), limit=400)
    rows = "".join(
        f'<tr><td class="n">{m.seq}</td><td>{escape(WHO.get(m.kind, m.kind))}</td><td class="n">{len(_words(m)):,}</td>'
        f"<td>{escape(one_line(show(_words(m), limit=400), 110))}</td></tr>"
        for m in page
    )
    where = f'<div class="quiet">Lines {begin + 1:,} to {begin + len(page):,} of {len(seen):,}</div>'
    table = (
        '<table><thead><tr><th class="n">message</th><th>what</th><th class="n">characters</th><th>begins</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )
    words = f'<div class="t">{told}</div>'
    return look.pane(
        _head(message), words, where if parts > 1 else "", table, label="what the model saw"
    ), parts


def _context(session: Session, message: Message) -> tuple[Sequence[Message], str]:
    """What stood in the context; where nothing did, why."""
    if message.is_subagent:
        return (), "What a subagent's model saw is not recorded apart; this is a subagent's message."
    try:
        return session.context_at(message), "Nothing that was sent to the model is known up to here."
    except SessionBankError as error:
        return (), str(error)


def stored_html(
    message: Message, fetch: Callable[[Message], Sequence[bytes]], *, show: Shown, part: int = 1
) -> tuple[str, int]:
    """The stored lines behind a message, laid out where they are JSON; `fetch` reads their bytes."""
    place = (
        f"line {message.line_index} of the transcript in checkpoint {message.checkpoint_id or 'unknown'}"
        if message.line_index is not None
        else "place not known"
    )
    try:
        lines = fetch(message)
    except SessionBankError as error:
        body, parts = f'<div class="t">{escape(show(str(error)))}</div>', 1
    else:
        titled = [(f"{len(raw):,} bytes, as stored, laid out as JSON" if laid else f"{len(raw):,} bytes, as stored", text)
                  for raw in lines for text, laid in [_laid_out(raw)]]  # fmt: skip
        body, parts = sections_html(titled, show=show, part=part)
        body = (
            body
            or '<div class="t">No stored line is at hand: no repository stands behind this session.</div>'
        )
    return look.pane(
        _head(message), f'<div class="quiet">{escape(place)}</div>', body, label="stored line"
    ), parts


def _head(message: Message) -> str:
    who = WHO.get(message.kind, message.kind)
    return f"<h3>Message {message.seq}: {escape(who)}</h3>"


def _facts_html(message: Message, show: Shown) -> str:
    facts = [
        ("time", f"{message.timestamp:%Y-%m-%d %H:%M:%S} UTC" if message.timestamp else None),
        ("model", show(message.model, limit=80)),
        ("agent", message.agent_id),
        ("uuid", message.uuid),
        ("API call", message.message_id),
        (
            "in context at the end",
            {True: "yes", False: "no"}.get(message.in_context) if message.in_context is not None else None,
        ),
    ]
    told = "".join(f'<span><span class="quiet">{k}</span> {escape(v)}</span>' for k, v in facts if v)
    return f'<div class="r">{told}</div>'


def _inputs(call: ToolCall) -> list[Section]:
    value = parsed(call.input)
    if isinstance(value, dict):
        return [
            (str(k), v if isinstance(v, str) else json.dumps(v, ensure_ascii=False, indent=2))
            for k, v in value.items()
        ]
    return (
        [("input", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))]
        if value
        else []
    )


def _pretty(text: str) -> str:
    value = parsed(text)
    return text if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _laid_out(raw: bytes) -> tuple[str, bool]:
    text = raw.decode("utf-8", "replace")
    value = parsed(text)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, indent=2), True
    return text, False


def _words(message: Message) -> str:
    return message.text or "\n".join(b.text for b in message.blocks if b.text)


def _title(kind: str) -> str:
    return {"text": "Text", "thinking": "Thinking"}.get(kind, kind)
