"""A page of a session's entries as HTML, and its head: who speaks, what was said, tools folded. Pure functions.

Texts go through a `Shown` first, are then cut, and escaped last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from html import escape

from sessionbank.html import one_line
from sessionbank.records import Block, Message, Session
from sessionbank.widgets import session_look as look
from sessionbank.widgets.session_entries import Entries, Entry
from sessionbank.widgets.shown_texts import Shown
from sessionbank.widgets.text_html import MORE, code_html, words_html
from sessionbank.widgets.tool_html import call_html, duration, texts_of

_INDENT, _DEEPEST = 22, 5  # pixels a level; deeper ones stand as deep as this
WHO = {
    "prompt": "Prompt", "reply": "Reply", "tool_result": "Result", "meta": "Told by the program", "command": "Command",
    "command_output": "Output of a command", "interruption": "Interrupted", "compact_summary": "Summary of what was left out",
    "notification": "Notification", "teammate": "From a teammate", "system": "System", "progress": "Progress",
    "summary": "Title", "other": "Other line",
}  # fmt: skip


def header_html(session: Session, entries: Entries, *, show: Shown) -> str:
    """The session: what it was about, where it stands, and how much of what there is. Prepares `show`."""
    transcript, counts = session.transcript, entries.counts
    times = [m.timestamp for m in transcript.messages if m.timestamp is not None]
    models = dict.fromkeys(u.model for u in transcript.usage if u.model and not u.is_subagent)
    failed = len(entries.troubles)
    about = session.summary.intent if session.summary and session.summary.intent else _first_prompt(session)
    show.prepare(
        (session.cwd, *session.branches, *models, about), limit=600
    )  # the folder tells whose branch it is
    branches = ", ".join(show(b, limit=80) for b in session.branches)
    facts = [
        ("branch", branches or "not recorded"),
        ("time", span(min(times), max(times)) if times else "not recorded"),
        ("model", ", ".join(show(m, limit=80) for m in models) or "not recorded"),
    ]
    if transcript.messages or session.subagents:  # else nothing can be counted
        hold = "entry holds" if failed == 1 else "entries hold"
        of = f" with {counts['subagents']:,} entries" if session.subagents else ""
        facts += [
            ("lines", f"{len(transcript.messages):,} in {len(entries.all):,} entries"),
            (
                "tool calls",
                f"{len(transcript.tool_calls):,}; {failed:,} {hold} one that failed or was stopped",
            ),
            ("subagents", f"{len(session.subagents):,}{of}"),
        ]
    kind = "" if session.summary and session.summary.intent else "First prompt: "
    words = (
        f'<div class="t"><span class="quiet">{kind}</span>{escape(one_line(show(about, limit=600), 400))}</div>'
        if about
        else ""
    )
    told = "".join(f'<span><span class="quiet">{escape(k)}</span> {escape(v)}</span>' for k, v in facts)
    if not transcript.messages:
        states = ", ".join(dict.fromkeys(r.transcript_state for r in session.records)) or "unknown"
        words += (
            f'<div class="t">There is no message to read: the stored transcript is {escape(states)}.</div>'
        )
    return look.pane(
        f'<div class="r"><h3>Session {escape(session.session_id)}</h3>{look.badge(transcript.agent, "agent")}</div>',
        words,
        f'<div class="r facts">{told}</div>',
        label="session",
    )


def page_html(
    entries: Sequence[Entry],
    *,
    show: Shown,
    needle: str = "",
    chosen: int | None = None,
    below: Mapping[str, int] | None = None,
    root: str | None = None,
) -> str:
    """A page of entries in a box that scrolls; `chosen` is the number of the message that stands out.

    `below` says how many messages the subagent of a call has, `root` is the session's folder. Prepares `show` for the texts of the page.
    """
    if not entries:
        return look.pane('<div class="q">No message passes the filters.</div>', label="messages")
    show.prepare((root, *(t for e in entries for t in _texts(e))), limit=MORE)
    parts, model = [], None
    for entry in entries:  # a model is named where it begins to speak
        own = None if entry.message.is_subagent else entry.message.model
        named, model = (show(own, limit=80) if own != model else None), own or model
        parts.append(
            entry_html(entry, show=show, needle=needle, chosen=chosen, below=below, root=root, model=named)
        )
    return look.pane(f'<div class="scroll" tabindex="0">{"".join(parts)}</div>', label="messages")


def entry_html(
    entry: Entry, *, show: Shown, needle: str = "", chosen: int | None = None, below: Mapping[str, int] | None = None,
    root: str | None = None, model: str | None = None,
) -> str:  # fmt: skip
    """An entry: number and time beside who speaks (and by which `model`, if given), the words, and the calls folded."""
    message = entry.message
    is_chosen = chosen is not None and chosen in (entry.seq, *entry.results)
    parts = [_block(b, message, show=show, needle=needle) for b in message.blocks]
    if not message.blocks and message.text:
        parts.append(words_html(message.text, show=show, needle=needle, seq=message.seq))
    for call in entry.calls:
        hit = bool(needle) and needle.casefold() in "\n".join(texts_of(call)).casefold()
        is_open, count = is_chosen or hit, (below or {}).get(call.tool_call_id, 0)
        parts.append(
            call_html(call, show=show, needle=needle, is_open=is_open, seq=entry.seq, below=count, root=root)
        )
    who = _who(entry, show)
    said = "".join(parts) or '<div class="quiet">no words</div>'
    tone = look.tone("kind", _kind(entry), indent=min(entry.depth, _DEEPEST) * _INDENT)
    return (
        f'<article class="e tn{" sel" if is_chosen else ""}" {tone} aria-label="message {entry.seq}, {escape(who)}"'
        f"{' aria-current=true' if is_chosen else ''}>{_gutter(entry)}<div>{_line(entry, model, who)}{said}</div></article>"
    )


def _kind(entry: Entry) -> str:
    """What gives an entry its colour."""
    if entry.message.is_subagent:
        return "subagent"
    if entry.message.kind == "reply":
        return "reply" if "replies" in entry.groups else "tool_call"
    return "prompt" if entry.message.kind == "prompt" else "other"


def _gutter(entry: Entry) -> str:
    time = f"<span>{entry.message.timestamp:%H:%M:%S}</span>" if entry.message.timestamp else ""
    results = ", ".join(map(str, entry.results[:2])) + (", …" if len(entry.results) > 2 else "")
    arrow = f"<i> → {results}</i>" if results else ""
    return f'<div class="g"><b>#{entry.seq}{arrow}</b>{time}</div>'


def _line(entry: Entry, model: str | None, who: str) -> str:
    """Who speaks, and what is to be known of it; nothing over a plain tool call."""
    message = entry.message
    notes = [f'<span class="quiet">{escape(model)}</span>'] if model and not message.is_subagent else []
    if message.in_context is False:
        notes.append(look.badge("not in context at the end", "status", "no_result"))
    if message.inherited_from:
        notes.append('<span class="quiet">from another session</span>')
    if message.is_queued:
        notes.append('<span class="quiet">typed while the agent worked</span>')
    if _kind(entry) == "tool_call" and not notes:
        return ""
    return f'<div class="w"><b>{escape(who)}</b>{"".join(notes)}</div>'


def span(first: datetime, last: datetime) -> str:
    """Two times in UTC and what lies between them."""
    took = duration(int((last - first).total_seconds() * 1000))
    end = f"{last:%H:%M}" if first.date() == last.date() else f"{last:%Y-%m-%d %H:%M}"
    return f"{first:%Y-%m-%d %H:%M} to {end} UTC ({took})"


def _texts(entry: Entry) -> Iterator[str]:
    yield from (b.text for b in entry.message.blocks if b.text)
    yield entry.message.text or ""
    for call in entry.calls:
        yield from texts_of(call)


def _block(block: Block, message: Message, *, show: Shown, needle: str) -> str:
    if block.type == "tool_use":
        return ""  # shown as a call
    if block.type == "image":
        size = f", {block.bytes:,} bytes" if block.bytes is not None else ""
        return f'<div class="quiet">[image {escape(block.media_type or "of unknown type")}{size}]</div>'
    if block.type == "tool_result":
        return code_html(block.text, show=show, needle=needle, seq=message.seq)
    words = words_html(block.text, show=show, needle=needle, seq=message.seq)
    if block.type != "thinking":
        return words
    if not block.text:
        return '<div class="quiet">Thinking, not stored</div>'
    is_open = " open" if needle and needle.casefold() in block.text.casefold() else ""
    return (
        f'<details{is_open}><summary class="quiet">Thinking, {len(block.text):,} characters</summary>'
        f'<div class="in quiet">{words}</div></details>'
    )


def _who(entry: Entry, show: Shown) -> str:
    message = entry.message
    word = WHO.get(message.kind, message.kind)
    if message.kind in ("other", "system") and message.line_type not in (None, "system"):
        word = f"{word}: {message.line_type}"
    if not message.is_subagent:
        return word
    name = show(entry.agent_type, limit=60) or "Subagent"
    word = "calls a tool" if entry.calls and not _has_words(message) else word
    return (
        f"{name} {one_line(show(message.agent_id), 12)}: {word.lower()}"
        if message.agent_id
        else f"{name}: {word.lower()}"
    )


def _has_words(message: Message) -> bool:
    return any(b.text and b.type in ("text", "thinking") for b in message.blocks)


def _first_prompt(session: Session) -> str | None:
    return next(
        (m.text for m in session.messages if m.kind == "prompt" and m.text and not m.is_subagent), None
    )
