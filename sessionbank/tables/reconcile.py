"""Stored token counts beside ours: which part of a transcript the metadata's `token_usage` counts.

It is another witness, not the truth: sometimes of the checkpoint's window, sometimes of the whole session, sometimes
taken before the transcript was complete. Subagents' usage is in neither.
"""

from __future__ import annotations

from collections import defaultdict
from operator import itemgetter
from typing import Any

from sessionbank.records import SessionRecord
from sessionbank.tables.state import State

Counts = tuple[int, int, int, int, int]  # calls, input, cache creation, cache read, output
_Line = tuple[int, str, int, int, int, int]  # line, call, input, cache creation, cache read, output


def reconcile_rows(state: State) -> list[tuple[Any, ...]]:
    """Rows in schema order, one a record."""
    lines = _lines(state)
    rows = []
    for sid, records in state.sessions.items():
        for record in records:
            shot = state.snapshots.get((record.checkpoint_id, record.session_index, sid))
            window = whole = None
            scope = "absent"
            stored = _stored(record)
            if shot and shot["chain"] is not None:
                chain = lines.get((sid, shot["chain"]), [])
                here = [x for x in chain if x[0] < shot["lines"]]
                start = record.start_offset or 0
                begin = (
                    start if 0 < start <= shot["lines"] else 0
                )  # at the end: nothing since; beyond it: already cut
                if chain:  # else no line of it states usage: nothing can be counted
                    whole = count(here)
                    window = count([x for x in here if x[0] >= begin]) if begin else whole
                if stored is not None and whole is not None and window is not None:
                    scope = _scope(stored, window, whole, here, begin)
            if stored is not None and whole is None:
                scope = "unknown" if any(v or 0 for v in stored) else "zero"
            columns = zip(stored or (None,) * 5, window or (None,) * 5, whole or (None,) * 5, strict=True)
            rows.append(
                (record.checkpoint_id, record.session_index, sid, *(v for c in columns for v in c), scope)
            )
    return sorted(rows, key=lambda r: (r[0], r[1]))


def count(lines: list[_Line]) -> Counts:
    """Calls and tokens of the replies on these lines, each by its line with most output."""
    best: dict[str, _Line] = {}
    for line in lines:
        old = best.get(line[1])
        if old is None or line[5] > old[5]:
            best[line[1]] = line
    a = b = c = d = 0
    for _, _, fresh, created, read, out in best.values():
        a, b, c, d = a + fresh, b + created, c + read, d + out
    return len(best), a, b, c, d


def _scope(
    stored: tuple[int | None, ...], window: Counts, whole: Counts, lines: list[_Line], begin: int
) -> str:
    fits_window, fits_whole = _fits(stored, window), _fits(stored, whole)
    if fits_window and fits_whole:
        return "both"
    if fits_window or fits_whole:
        return "window" if fits_window else "whole"
    if not any(v or 0 for v in stored):
        return "zero"
    return (
        "stale"
        if any(_is_a_beginning(stored, [x for x in lines if x[0] >= b]) for b in {0, begin})
        else "unknown"
    )


def _fits(stored: tuple[int | None, ...], counted: Counts) -> bool:
    """Whether all stated token counts equal ours; one that is not stated says nothing.

    Calls are not compared: Entire counts lines of usage for some agents, not calls.
    """
    return all(s is None or s == c for s, c in zip(stored[1:], counted[1:], strict=True))


def _is_a_beginning(stored: tuple[int | None, ...], lines: list[_Line]) -> bool:
    """Whether the figures fit the transcript as it stood some lines earlier."""
    best: dict[str, _Line] = {}
    calls = a = b = c = d = 0
    for line in lines:
        _, call, fresh, created, read, out = line
        old = best.get(call)
        if old is not None:
            if out <= old[5]:
                continue
            a, b, c, d = a - old[2], b - old[3], c - old[4], d - old[5]
        else:
            calls += 1
        best[call] = line
        a, b, c, d = a + fresh, b + created, c + read, d + out
        if _fits(stored, (calls, a, b, c, d)):
            return True
    return False


def _stored(record: SessionRecord) -> tuple[int | None, ...] | None:
    u = record.stored_usage
    if u is None:
        return None
    return u.api_call_count, u.input_tokens, u.cache_creation_tokens, u.cache_read_tokens, u.output_tokens


def _lines(state: State) -> dict[tuple[str, int], list[_Line]]:
    """Lines with usage of the main agent, by session and chain, in file order."""
    import pyarrow.compute as pc

    table = state.spoken("usage_lines")
    states = pc.or_(pc.is_valid(table["input_tokens"]), pc.is_valid(table["output_tokens"]))
    table = table.filter(pc.and_(pc.invert(table["is_subagent"]), states))
    numbers = ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens", "chain", "line")
    fresh, created, read, out, chain, at = (table[n].fill_null(0).to_numpy().tolist() for n in numbers)
    keys = zip(table["session_id"].to_pylist(), chain, strict=True)
    values = zip(at, table["call"].to_pylist(), fresh, created, read, out, strict=True)
    found: dict[tuple[str, int], list[_Line]] = defaultdict(list)
    for key, line in zip(keys, values, strict=True):
        found[key].append(line)
    for rows in found.values():
        rows.sort(key=itemgetter(0))
    return found
