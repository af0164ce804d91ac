"""Words, code and diffs of a message as HTML: escaped, hits marked, long texts cut with a told rest. Pure functions."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from html import escape

from sessionbank.widgets.shown_texts import Shown, left

FIRST, MORE = 1200, 8000  # characters of a text that are seen at once, and that a page holds at all
CONTEXT = 3  # lines around a change
_FENCE = re.compile(r"^```([\w+-]*)[^\n]*\n(.*?)(?:^```[ \t]*$\n?|\Z)", re.MULTILINE | re.DOTALL)
_PATCH = re.compile(r"^(\*\*\* (Begin|Update|Add|Delete) |diff --git |@@ |--- |\+\+\+ )", re.MULTILINE)

Line = tuple[str, str]  # "+", "-", " " or "@" (a place), and the words


def marked(text: str, needle: str = "") -> str:
    """The text escaped, with each place where `needle` stands marked, whatever the case.

    Example:
        >>> marked("a < B", "b")
        'a &lt; <mark>B</mark>'
    """
    if not needle:
        return escape(text)
    parts = re.split(f"({re.escape(needle)})", text, flags=re.IGNORECASE)
    return "".join(f"<mark>{escape(p)}</mark>" if n % 2 else escape(p) for n, p in enumerate(parts))


def words_html(text: str | None, *, show: Shown, needle: str = "", seq: int) -> str:
    """What was said, with fenced code as code; beyond `FIRST` characters folded, beyond `MORE` told (message `seq`)."""
    return _folded(text, show=show, seq=seq, draw=lambda part: _prose(part, needle), needle=needle)


def code_html(text: str | None, *, show: Shown, needle: str = "", seq: int) -> str:
    """A text as code: what a command printed, what a file holds."""
    return _folded(
        text,
        show=show,
        seq=seq,
        draw=lambda part: f"<pre>{marked(part, needle)}</pre>" if part else "",
        needle=needle,
    )


def diff_html(lines: Iterable[Line], *, needle: str = "") -> str:
    """Lines of a change, added ones and taken away ones in their colours and with their sign."""
    kinds = {"+": "p", "-": "m", "@": "k", " ": "s"}
    return (
        '<pre class="d">'
        + "".join(
            f'<span class="{kinds[sign]}">{"" if sign == "@" else sign + " "}{marked(text, needle)}</span>'
            for sign, text in lines
        )
        + "</pre>"
    )


def change(old: str, new: str) -> list[Line]:
    r"""The lines of a change from one text to another, unchanged ones only near changes.

    Example:
        >>> change("a\nb", "a\nc")
        [(' ', 'a'), ('-', 'b'), ('+', 'c')]
    """
    before, after = old.splitlines(), new.splitlines()
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=True)
    found: list[Line] = []
    for number, group in enumerate(matcher.get_grouped_opcodes(CONTEXT)):
        if number:
            found.append(("@", "⋯"))
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                found += [(" ", t) for t in before[i1:i2]]
            else:
                found += [*(("-", t) for t in before[i1:i2]), *(("+", t) for t in after[j1:j2])]
    return found


def patch(text: str) -> list[Line]:
    """The lines of a patch as it is written; an empty list where the text is none."""
    if not _PATCH.search(text[:4000]):
        return []
    return list(_patch_lines(text))


def _patch_lines(text: str) -> Iterator[Line]:
    for line in text.splitlines():
        if line.startswith(("+++", "---", "***", "@@", "diff ", "index ")):
            yield "@", line
        elif line[:1] in ("+", "-"):
            yield line[0], line[1:]
        else:
            yield " ", line[1:] if line.startswith(" ") else line


def rest_html(number: int, seq: int) -> str:
    """Says how much of a text a page does not hold, and where it is read."""
    return (
        f'<div class="quiet">… {number:,} characters more: read message {seq} below</div>' if number else ""
    )


def _folded(text: str | None, *, show: Shown, seq: int, draw: Callable[[str], str], needle: str) -> str:
    held = show(text, limit=MORE)
    if len(held) <= FIRST + FIRST // 4:  # no fold for a few words
        return draw(held) + rest_html(left(text, MORE), seq)
    at = held.rfind("\n", FIRST // 2, FIRST) + 1 or FIRST
    rest = held[at:]
    is_open = " open" if needle and needle.casefold() in rest.casefold() else ""
    more = f"<details{is_open}><summary>{len(rest):,} characters more</summary>{draw(rest)}{rest_html(left(text, MORE), seq)}</details>"
    return draw(held[:at]) + more


def _prose(text: str, needle: str) -> str:
    parts, at = [], 0
    for found in _FENCE.finditer(text):
        parts.append(_plain(text[at : found.start()], needle))
        body = found.group(2).rstrip("\n")
        is_diff = found.group(1) in ("diff", "patch")
        parts.append(
            diff_html(_patch_lines(body), needle=needle) if is_diff else f"<pre>{marked(body, needle)}</pre>"
        )
        at = found.end()
    return "".join((*parts, _plain(text[at:], needle)))


def _plain(text: str, needle: str) -> str:
    text = text.strip("\n")
    return f'<div class="t">{marked(text, needle)}</div>' if text else ""
