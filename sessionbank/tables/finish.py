"""Pairs what belongs together in a session's rows: uses with results, a reply's lines with its one usage.

It works on the rows of one session, as a format module filled them, and gives columns ready for a batch. The rules are
the same for every agent. Sums over a session are `stats`' business.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from sessionbank.transcripts import context
from sessionbank.transcripts.rows import ResultRow, SessionRows, UsageRow, UseRow, as_json, string

Columns = list[Sequence[Any]]
_PATH_KEYS = ("file_path", "path", "notebook_path", "filePath", "absolute_path", "target_file", "filename")
_PATCHES = frozenset({"apply_patch", "patch"})
_PATCH_FILE = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)
_SHELLS = frozenset({
    "Bash", "bash", "run_shell_command", "shell", "exec_command", "local_shell", "execute_bash", "Execute",
    "run_terminal_cmd", "Shell", "run_command", "execute_command", "terminal",
})  # fmt: skip


def message_columns(rows: SessionRows, inherited: Mapping[str, str]) -> Columns:
    """The columns of `messages`, in schema order."""
    n = len(rows.messages)
    if not n:
        return []
    (uuid, parent, role, kind, text, model, message_id, request, time, agent, call, is_sub, queued, line_type, extra,
     line, offset, place) = zip(*rows.messages, strict=True)  # fmt: skip
    checkpoint, index, blob, copies, _ = zip(*place, strict=True)
    images = frozenset(b.seq for b in rows.blocks if b.type == "image") if rows.agent == "pi" else frozenset()
    in_context, reason = context.columns(rows.agent, rows.messages, images=images)
    owner = [inherited.get(u) for u in uuid] if inherited else [None] * n
    return [
        [rows.session_id] * n, list(range(n)), uuid, parent, role, kind, text, model, message_id, request, time, agent,
        call, is_sub, in_context, reason, checkpoint, index, blob, line,
        [o if o >= 0 else None for o in offset], queued, owner, line_type, copies, extra,
    ]  # fmt: skip


def block_columns(rows: SessionRows) -> Columns:
    """The columns of `blocks`, in schema order."""
    n = len(rows.blocks)
    if not n:
        return []
    seq, block, kind, text, call, media, size, redacted = zip(*rows.blocks, strict=True)
    messages = rows.messages
    uuid = [messages[s].uuid for s in seq]
    checkpoint = [messages[s].place.checkpoint_id for s in seq]
    return [[rows.session_id] * n, uuid, seq, block, kind, text, call, media, size, redacted, checkpoint]


def tool_call_columns(rows: SessionRows, inherited: Mapping[str, str]) -> Columns:
    """The columns of `tool_calls`, in schema order: each id once, with its first result."""
    if not rows.uses and not rows.results:
        return []
    results = _results(rows)
    found: list[tuple[Any, ...]] = []
    seen: set[str] = set()
    for number, use in enumerate(rows.uses):
        call_id = (
            use.tool_call_id
            or f"{use.message_id or rows.messages[use.seq].uuid or rows.session_id}:call-{number}"
        )
        if call_id in seen:
            continue  # the same call on another line: a reply that was written twice
        seen.add(call_id)
        result = results.pop(use.tool_call_id, None) if use.tool_call_id else None
        found.append(_call(rows, use, call_id, result, inherited))
    for orphan, result in results.items():
        if orphan in seen:
            continue
        message = rows.messages[result.seq]
        text = f"a result of call {str(orphan)[:80]!r}, whose use is not in the session"
        rows.problem("info", "result_without_call", text, message.line, message.place)
    return [list(c) for c in zip(*found, strict=True)] if found else []


def _results(rows: SessionRows) -> dict[str | None, ResultRow]:
    first: dict[str | None, ResultRow] = {}
    for result in rows.results:
        if result.tool_call_id in first:
            continue
        first[result.tool_call_id] = result
    return first


def _call(
    rows: SessionRows, use: UseRow, call_id: str, result: ResultRow | None, inherited: Mapping[str, str]
) -> tuple[Any, ...]:
    message = rows.messages[use.seq]
    name, server = use.name, None
    if name.startswith("mcp__"):
        parts = name.split("__", 2)
        if len(parts) == 3 and parts[2]:
            server, name = parts[1], parts[2]
    given = use.input
    path = command = None
    if type(given) is dict:
        path = next((given[k] for k in _PATH_KEYS if type(given.get(k)) is str and given[k]), None)
        if use.name in _SHELLS:
            command = _command(given)
    elif type(given) is str and use.name in _SHELLS:
        command = given or None
    if path is None and use.name in _PATCHES:
        path = _patched(given)
    answer = rows.messages[result.seq] if result else None
    returned = (result.returned_at or (answer.timestamp if answer else None)) if result else None
    status = "no_result"
    if result is not None:
        status = result.status or ("error" if result.is_error else "ok")
    return (
        rows.session_id, call_id, use.seq, name, server, given if type(given) is str else as_json(given), status,
        result is not None and result.is_error is not None, result.text if result else None, message.timestamp, returned,
        None, path, command, message.agent_id, message.parent_tool_call_id, message.is_subagent, message.uuid,
        answer.uuid if answer else None, message.place.checkpoint_id, use.message_id, result.seq if result else None,
        as_json(result.data) if result else None, inherited.get(message.uuid or "") if inherited else None,
    )  # fmt: skip


def _patched(given: Any) -> str | None:
    """The first file that a patch changes."""
    text = (
        given
        if type(given) is str
        else next((v for v in given.values() if type(v) is str), "")
        if type(given) is dict
        else ""
    )
    found = _PATCH_FILE.search(text)
    return found[1] if found else None


def _command(given: dict[str, Any]) -> str | None:
    value = given.get("command", given.get("cmd"))
    if type(value) is list and all(type(v) is str for v in value):
        return shlex.join(value) or None
    return string(value)


def usage_columns(rows: SessionRows, inherited: Mapping[str, str]) -> tuple[Columns, Columns]:
    """The columns of `token_usage` and of the lines behind it (see `schema.behind`).

    A reply's usage is that of its line with most output tokens, the first of these where several tie.
    """
    best: dict[tuple[str | None, str], UsageRow] = {}
    first: dict[tuple[str | None, str], int] = {}
    final: set[tuple[str | None, str]] = set()
    messages = rows.messages
    for line in rows.usage:
        key = (messages[line.seq].agent_id, line.call)
        old = best.get(key)
        if old is None:
            best[key], first[key] = line, line.seq
        elif (line.output_tokens or 0) > (old.output_tokens or 0):
            best[key] = line
        if line.is_final:
            final.add(key)
    found = []
    for key, line in best.items():
        chosen, begin = messages[line.seq], messages[first[key]]
        parts = (line.input_tokens, line.cache_creation_tokens, line.cache_read_tokens, line.output_tokens)
        known = [p for p in parts if p is not None]
        found.append((
            rows.session_id, line.call, chosen.model, chosen.timestamp, line.input_tokens, line.cache_creation_tokens,
            line.cache_creation_1h_tokens, line.cache_read_tokens, line.output_tokens, line.reasoning_tokens,
            sum(known) if known else None, None, key not in final, chosen.is_subagent, chosen.agent_id,
            begin.place.checkpoint_id, line.seq, chosen.uuid, inherited.get(begin.uuid or "") if inherited else None,
        ))  # fmt: skip
    kept = {id(line) for line in best.values()}
    behind = [
        _behind(rows, line, messages[line.seq].place.chain, messages[line.seq].line, id(line) in kept)
        for line in rows.usage
    ]
    if rows.repeats:
        here: dict[tuple[int, int], list[UsageRow]] = {}
        for line in rows.usage:
            here.setdefault((messages[line.seq].place.chain, messages[line.seq].line), []).append(line)
        for chain, at, old_chain, old_at in rows.repeats:
            behind += [_behind(rows, line, chain, at, None) for line in here.get((old_chain, old_at), ())]
    return [list(c) for c in zip(*found, strict=True)], [list(c) for c in zip(*behind, strict=True)]


def _behind(rows: SessionRows, line: UsageRow, chain: int, at: int, is_kept: bool | None) -> tuple[Any, ...]:
    """A line with usage, as `reconcile` and `explain` need it; `is_kept` is missing for a repeat in a later chain."""
    return (
        rows.session_id, line.seq, line.call, line.input_tokens, line.cache_creation_tokens, line.cache_read_tokens,
        line.output_tokens, rows.messages[line.seq].is_subagent, chain, at, is_kept,
    )  # fmt: skip
