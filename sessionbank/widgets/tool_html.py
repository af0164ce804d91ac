"""A tool call as HTML: one line, and folded under it what was asked and what came back; edits as diffs. Pure functions.

What a call changes is read from its input's usual names (`old_string`, `content`, a patch), whatever agent made it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sessionbank.html import one_line
from sessionbank.records import ToolCall
from sessionbank.widgets import session_look as look
from sessionbank.widgets.session_entries import parsed
from sessionbank.widgets.shown_texts import Shown, left
from sessionbank.widgets.text_html import MORE, Line, change, code_html, diff_html, marked, patch, rest_html

_OLD = ("old_string", "oldString", "old_str", "oldText", "old_text")
_NEW = ("new_string", "newString", "new_str", "newText", "new_text", "insert_text")
_WRITTEN = ("content", "file_text", "new_source", "contents")
_PATCH = ("patch", "input", "patchText", "patch_text")
_WRITERS = frozenset(
    {"Write", "write_file", "write", "create", "Create", "NotebookEdit", "fs_write", "create_file"}
)
_TELLING = (
    "file_path",
    "filePath",
    "path",
    "pattern",
    "query",
    "url",
    "description",
    "subject",
    "prompt",
    "message",
)


def texts_of(call: ToolCall) -> Iterator[str]:
    """Every text that the call's HTML may show, to be redacted together."""
    yield from _strings(parsed(call.input))
    yield from (t for t in (call.command, call.file_path, call.result_text) if t)


def call_html(
    call: ToolCall, *, show: Shown, needle: str = "", is_open: bool = False, seq: int, below: int = 0, root: str | None = None
) -> str:  # fmt: skip
    """A call: name, what it is about, status and time on the line that unfolds it; `below` messages of its subagent.

    `seq` is the message to read for what is cut off, `root` the folder from which paths are told on the line.
    """
    about = one_line(_about(call, show, root), 120)
    took = "" if call.duration_ms is None else f'<span class="quiet">{duration(call.duration_ms)}</span>'
    status = look.badge(call.status, "status") if call.status != "ok" else ""
    told = f'<span class="quiet">{below:,} messages of its subagent</span>' if below else ""
    body = asked_html(call, show=show, needle=needle, seq=seq) + answer_html(
        call, show=show, needle=needle, seq=seq
    )
    return (
        f"<details{' open' if is_open else ''}><summary>{look.dot('tool', call.tool_name)}<b>{marked(call.tool_name, needle)}</b> "
        f'<code>{marked(about, needle)}</code> {status} {took} {told}</summary><div class="in">{body}</div></details>'
    )


def asked_html(call: ToolCall, *, show: Shown, needle: str = "", seq: int) -> str:
    """What the call asked for: a diff, a command, or its inputs by name."""
    value = parsed(call.input)
    changes, used = changed(call, show=show)
    parts = [diff_html(lines, needle=needle) for lines in changes]
    rest = sum(left(t, MORE) for t in _of(value, used))
    parts.append(rest_html(rest, seq))
    if call.command and not changes:
        parts.append(code_html(call.command, show=show, needle=needle, seq=seq))
        used = {"command", "cmd"}
    others = _others(value, used, show)
    parts += [
        f'<div class="t"><span class="quiet">{marked(k, needle)}:</span> {marked(v, needle)}</div>'
        for k, v in others
    ]
    return "".join(parts)


def answer_html(call: ToolCall, *, show: Shown, needle: str = "", seq: int) -> str:
    """What came back; that nothing did, where so."""
    if call.result_text:
        return '<div class="h">Result</div>' + code_html(call.result_text, show=show, needle=needle, seq=seq)
    word = "no result is recorded" if call.result_seq is None else "the result holds no text"
    return f'<div class="quiet">{word}</div>'


def changed(call: ToolCall, *, show: Shown) -> tuple[list[list[Line]], set[str]]:
    """The changes that a call makes as lines of diffs, and the names of the inputs that they were read from."""
    value = parsed(call.input)
    if isinstance(value, str):
        lines = patch(show(value, limit=MORE))
        return ([lines], set()) if lines else ([], set())
    if not isinstance(value, dict):
        return [], set()
    found, used = [], set()
    edits = value.get("edits")
    for edit in [value, *(edits if isinstance(edits, list) else [])]:
        if not isinstance(edit, dict):
            continue
        old, new = _first(edit, _OLD), _first(edit, _NEW)
        if old or new:
            texts = [show(edit[k], limit=MORE) if k else "" for k in (old, new)]
            found.append(change(texts[0], texts[1]))
            used |= {k for k in (old, new) if k} | ({"edits"} if edit is not value else set())
    written = _first(value, _WRITTEN)
    if not found and written and call.tool_name in _WRITERS:
        found.append([("+", t) for t in show(value[written], limit=MORE).splitlines()])
        used.add(written)
    name = _first(value, _PATCH)
    if not found and name and (lines := patch(show(value[name], limit=MORE))):
        found.append(lines)
        used.add(name)
    return found, used


def duration(ms: int) -> str:
    """Milliseconds in words.

    Example:
        >>> [duration(n) for n in (80, 2500, 75_000, 7_260_000)]
        ['80 ms', '2.5 s', '1 min 15 s', '2 h 1 min']
    """
    if ms < 1000:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    minutes, seconds = divmod(ms // 1000, 60)
    return f"{minutes} min {seconds} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _about(call: ToolCall, show: Shown, root: str | None) -> str:
    """What the call is about, for its line: command, what is looked for and where, file, or the first words it was given."""
    value, path = parsed(call.input), show(_below(call.file_path, root))
    if call.command or not isinstance(value, dict):
        return show(call.command or (value if isinstance(value, str) else ""), limit=400)
    looked_for = _first(value, ("pattern", "query"))
    if looked_for:
        words = show(value[looked_for], limit=200)
        return f"{words} in {path}" if path else words
    name = _first(value, _TELLING)
    first = value[name] if name else next((v for v in value.values() if isinstance(v, str)), "")
    return path or show(first, limit=400)


def _below(path: str | None, root: str | None) -> str:
    """A path as seen from the session's folder, where it lies in it."""
    if path and root and len(root) > 1 and path.startswith(f"{root.rstrip('/')}/"):
        return path[len(root.rstrip("/")) + 1 :]
    return path or ""


def _others(value: Any, used: set[str], show: Shown) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [(str(k), _cut(v, show)) for k, v in value.items() if k not in used]
    return (
        []
        if value in (None, "") or (isinstance(value, str) and patch(value))
        else [("input", _cut(value, show))]
    )


def _cut(value: Any, show: Shown) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    more = left(text, MORE)
    return show(text, limit=MORE) + (f" … {more:,} characters more" if more else "")


def _of(value: Any, names: set[str]) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (v for k, v in value.items() if k in names and isinstance(v, str))


def _first(value: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((n for n in names if isinstance(value.get(n), str)), None)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
        edits = value.get("edits")
        for edit in edits if isinstance(edits, list) else []:
            yield from (v for v in (edit.values() if isinstance(edit, dict) else ()) if isinstance(v, str))
    elif value is not None:
        yield json.dumps(value, ensure_ascii=False)
