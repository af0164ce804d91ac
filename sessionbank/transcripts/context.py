"""What a model still saw: which lines of a session were in its context, at the end or at any point.

A view is worked out, never stored: the archive keeps everything. Claude Code starts a new context at a compaction.
Codex does too, and writes down which of the earlier messages it keeps; where an old version did not, it is not known. Pi
leaves out interrupted drafts and, after a compaction, all but a summary and a retained range; a file that is no plain
chain of entries is archived, but its view is refused with the reason. Other agents do not record enough: unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from sessionbank.transcripts.rows import joined

_SPOKEN = frozenset({
    "prompt", "reply", "tool_result", "meta", "command", "command_output", "interruption", "compact_summary",
    "notification", "teammate",
})  # fmt: skip
_BROKEN_OFF = frozenset({"aborted", "error"})  # stop reasons of drafts that Pi does not send again
_PI_SILENT = frozenset({"session", "model_change", "thinking_level_change", "label", "session_info"})


class Line(Protocol):
    """What is asked of a message: a row while it is read, or a `Message`."""

    @property
    def uuid(self) -> str | None: ...  # noqa: D102
    @property
    def parent_uuid(self) -> str | None: ...  # noqa: D102
    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def text(self) -> str | None: ...  # noqa: D102
    @property
    def role(self) -> str: ...  # noqa: D102
    @property
    def is_subagent(self) -> bool: ...  # noqa: D102
    @property
    def line_type(self) -> str | None: ...  # noqa: D102
    @property
    def extra(self) -> str | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class View:
    """Which lines were seen, in the order in which they were sent, and why; `refused` where it cannot be told."""

    order: tuple[int, ...] = ()  # numbers of the lines
    refused: str | None = None
    reasons: tuple[str | None, ...] = ()  # one a line


def view(agent: str, lines: Sequence[Line], *, images: frozenset[int] = frozenset()) -> View:
    """What the main agent's model would have been sent after the last of these lines.

    `images` are the numbers of lines that hold an image.
    """
    if agent == "claude-code":
        return _claude(lines)
    if agent == "codex":
        return _codex(lines)
    if agent == "pi":
        return _pi(lines, images)
    return View(refused=f"{agent} does not record what its model saw")


def columns(
    agent: str, lines: Sequence[Line], *, images: frozenset[int] = frozenset()
) -> tuple[list[bool | None], list[str | None]]:
    """`in_context` and `context_reason` of each line, at the session's end; missing where it cannot be told."""
    found = view(agent, lines, images=images)
    if found.refused is not None:
        reason = found.refused if agent == "pi" else None
        return [None] * len(lines), [reason] * len(lines)
    seen = set(found.order)
    spoken = [r is not None for r in found.reasons]
    return [(n in seen) if spoken[n] else None for n in range(len(lines))], list(found.reasons)


def _claude(lines: Sequence[Line]) -> View:
    last, why = 0, ""
    for number, line in enumerate(lines):
        if _is_claude_boundary(line):
            last, why = number, "compaction"
    order: list[int] = []
    reasons: list[str | None] = []
    for number, line in enumerate(lines):
        if line.is_subagent or line.kind not in _SPOKEN:
            reasons.append(None)  # never sent to the main agent's model
        elif number < last:
            reasons.append(f"before the last {why}")
        else:
            order.append(number)
            reasons.append(f"since the last {why}" if why else "nothing was left out")
    return View(tuple(order), None, tuple(reasons))


def _is_claude_boundary(line: Line) -> bool:
    if line.line_type != "system" or line.is_subagent or not line.extra:
        return False
    return '"compact_boundary"' in line.extra and _extra(line).get("subtype") == "compact_boundary"


def _codex(lines: Sequence[Line]) -> View:
    """After a compaction the model is sent what ``replacement_history`` holds: earlier messages, by their text."""
    last = max((n for n, line in enumerate(lines) if line.line_type == "compacted"), default=-1)
    history = _extra(lines[last]).get("replacement_history") if last >= 0 else None
    kept = Counter(
        (str(m.get("role")), joined(m.get("content")) or "") for m in history or () if isinstance(m, dict)
    )
    seen: dict[int, str] = {}
    for number in range(last - 1, -1, -1):  # of equal texts the later ones were kept
        line = lines[number]
        if _is_sent(line) and kept[line.role, line.text or ""] > 0:
            kept[line.role, line.text or ""] -= 1
            seen[number] = "kept by the latest compaction"
    reasons: list[str | None] = []
    for number, line in enumerate(lines):
        if not _is_sent(line):
            reasons.append(None)  # an event, or how the session runs
        elif number > last:
            seen[number] = "nothing was left out" if last < 0 else "since the last compaction"
            reasons.append(seen[number])
        elif number == last:
            seen[number] = "summary of the latest compaction"
            reasons.append(seen[number])
        elif number in seen:
            reasons.append(seen[number])
        else:
            is_told = isinstance(history, list) or line.role == "assistant"
            reasons.append("before the last compaction" if is_told else None)
    return View(tuple(sorted(seen)), None, tuple(reasons))


def _is_sent(line: Line) -> bool:
    """Whether a Codex line was part of what the model is sent. An interruption is told by an event alone."""
    return line.kind in _SPOKEN and line.kind != "interruption"


def _extra(line: Line) -> dict[str, Any]:
    try:
        found = orjson.loads(line.extra or "{}")
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _pi(lines: Sequence[Line], images: frozenset[int]) -> View:
    refused = _not_plain(lines, images)
    if refused is not None:
        return View(refused=refused)
    places = {line.uuid: n for n, line in enumerate(lines) if line.uuid}
    compactions = [n for n, line in enumerate(lines) if line.line_type == "compaction"]
    latest = compactions[-1] if compactions else None
    first = 0
    if latest is not None:
        anchor = _extra(lines[latest]).get("firstKeptEntryId")
        first = places.get(anchor, -1) if isinstance(anchor, str) else -1
        if not 0 <= first < latest:
            return View(refused="the latest compaction keeps from an entry that is not before it")
    order = [] if latest is None else [latest]
    reasons: list[str | None] = []
    for number, line in enumerate(lines):
        if line.kind not in _SPOKEN:
            reasons.append(None)
        elif number == latest:
            reasons.append("summary of the latest compaction")
        elif number < first:
            reasons.append("before what the latest compaction kept")
        elif line.role == "assistant" and _extra(line).get("stopReason") in _BROKEN_OFF:
            reasons.append("a draft that was broken off")
        else:
            order.append(number)
            reasons.append(
                "kept by the latest compaction"
                if latest is not None and number < latest
                else "as it was said"
            )
    return View(tuple(order), None, tuple(reasons))


def _not_plain(lines: Sequence[Line], images: frozenset[int]) -> str | None:
    """Why a Pi file is not one plain chain of ordinary entries; None where it is."""
    if images:
        return "the session holds images"
    seen: set[str] = set()
    previous: str | None = None
    for line in lines:
        if line.line_type == "session":
            continue
        if line.uuid is None:
            return "an entry has no id"
        if line.uuid in seen:
            return "two entries have the same id"
        seen.add(line.uuid)
        if line.parent_uuid != previous:
            return (
                "the session has branches"
                if line.parent_uuid in seen or line.parent_uuid is None
                else "an entry follows one that is not there"
            )
        previous = line.uuid
        if line.line_type in _PI_SILENT or line.line_type == "compaction":
            continue
        if line.line_type != "message":
            return f"the session holds an entry of type {line.line_type!r}"
        if line.role not in ("user", "assistant", "toolResult", "tool"):
            return f"the session holds a message of role {line.role!r}"
    return None
