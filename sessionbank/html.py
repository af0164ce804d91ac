"""How a bank, a session and a message look in a notebook: small HTML, everything escaped, no script, no random id.

Objects are handed in; what they hold is worked out elsewhere. Text from transcripts is hostile, so every value passes
through `escape`; it may hold secrets, so it passes through `redaction.shown` before (`sb.redact_views` is the switch).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from sessionbank.redaction import shown, shown_all
from sessionbank.redaction.views import cut

if TYPE_CHECKING:
    from sessionbank.records import Message, Session

_BOX = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.45;max-width:62em"
_WHITE = 8  # characters of a text for each that is shown of it: lines are joined and blanks are lost
_CELL = "text-align:left;padding:2px 10px 2px 0;vertical-align:top"


def one_line(text: str | None, length: int) -> str:
    """The text on one line, cut to `length` characters with an ellipsis; neither redacted nor escaped.

    Example:
        >>> one_line("a  b c d", 6)
        'a b c…'
    """
    return cut(" ".join((text or "").split()), length)


def shortened(text: str | None, length: int = 160) -> str:
    """The text as a view may show it, on one line, cut to `length` characters; not escaped."""
    return one_line(shown(text, limit=length * _WHITE), length)


def table_html(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A plain table; every cell as a view may show it, escaped."""
    top = "".join(f'<th style="{_CELL}">{escape(str(h))}</th>' for h in head)
    cells = [["" if v is None else str(v) for v in row] for row in rows]
    clean = iter(shown_all(c for row in cells for c in row))
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{escape(next(clean))}</td>' for _ in row) + "</tr>"
        for row in cells
    )
    return (
        f'<table style="border-collapse:collapse"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'
    )


def box(title: str, *parts: str) -> str:
    """A titled block; the title is escaped, the parts are HTML."""
    top = f'<div style="font-weight:600;margin-bottom:4px">{escape(shown(title))}</div>'
    return f'<div style="{_BOX}">{top}{"".join(parts)}</div>'


def bank_html(title: str, counts: Sequence[tuple[str, Any]], latest: Iterable[Sequence[Any]]) -> str:
    """A bank or selection: what it holds, and of its latest sessions id, time, branch and (last) what was said."""
    parts = [table_html(("", ""), counts)]
    rows = [(*start, shortened(said, 90)) for *start, said in latest]
    if rows:
        parts.append('<div style="margin-top:6px">latest sessions</div>')
        parts.append(table_html(("session", "created", "branch", "intent or first words"), rows))
    return box(title, *parts)


def session_html(session: Session) -> str:
    """A session: where it stands, and its first messages by people and models."""
    t = session.transcript
    own = [u for u in t.usage if not u.is_subagent and u.inherited_from is None]
    facts = [
        ("agent", t.agent),
        (
            "records",
            f"{len(session.records)} in {len({r.checkpoint_id for r in session.records})} checkpoints",
        ),
        ("branches", ", ".join(session.branches) or "not recorded"),
        ("intent", shortened(session.summary.intent, 300) if session.summary else "no summary"),
        ("messages", len(t.messages)),
        ("tool calls", sum(not c.is_subagent for c in t.tool_calls)),
        ("API calls", len(own)),
        ("output tokens", sum(u.output_tokens or 0 for u in own)),
    ]
    said = [m for m in t.messages if m.kind in ("prompt", "reply") and m.text and not m.is_subagent]
    # together, so that what one message gives away is taken out of all
    texts = shown_all((m.text for m in said[:12]), limit=160 * _WHITE)
    lines = [(m.seq, m.kind, one_line(text, 160)) for m, text in zip(said, texts, strict=False)]
    more = f'<div style="opacity:.7">… and {len(said) - 12} more</div>' if len(said) > 12 else ""
    return box(
        f"Session {session.session_id}",
        table_html(("", ""), facts),
        table_html(("seq", "kind", "text"), lines),
        more,
    )


def message_html(message: Message) -> str:
    """A message: its place, and its blocks as text."""
    where = (
        f"{message.kind} {message.seq} · {message.timestamp or 'no time'} · {message.model or message.role}"
    )
    texts = shown_all(b.text for b in message.blocks)
    parts = [
        f'<div style="opacity:.7">{escape(b.type)}</div><pre style="white-space:pre-wrap;margin:0 0 6px">{escape(text)}</pre>'
        for b, text in zip(message.blocks, texts, strict=True)
    ]
    return box(where, *parts)
