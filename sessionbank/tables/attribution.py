"""The attribution table: one row a record that states one, one of them a checkpoint to add up, and what is implausible.

Entire stores one attribution a session and repeats it; adding all up counts a commit many times. Two formulas are in
use. Nothing is corrected here: rows that cannot be right carry a warning that says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sessionbank.records import Attribution, SessionRecord
from sessionbank.sources.store import Checkpoint, record_order

Row = tuple[Any, ...]


def attribution_rows(
    checkpoints: Iterable[Checkpoint], edits: Mapping[tuple[str, str], int] | None
) -> list[Row]:
    """Rows in schema order. `edits` counts the calls that changed files, by (checkpoint, session); None: not known.

    The row to add up is the checkpoint's combined attribution where its root metadata has one, else its last record's.
    """
    rows: list[Row] = []
    for checkpoint in checkpoints:
        stated = [r for r in checkpoint.records if r.attribution is not None]
        combined = checkpoint.root.combined_attribution if checkpoint.root else None
        last = max(stated, key=record_order, default=None)
        times = Counter(_numbers(r.attribution) for r in stated)
        for r in stated:
            count = edits.get((r.checkpoint_id, r.session_id), 0) if edits is not None else None
            chosen = r is last and combined is None
            rows.append(
                _row(
                    r,
                    r.attribution,
                    chosen,
                    False,
                    _warning(r.attribution, count, times[_numbers(r.attribution)]),
                )
            )
        if combined is not None and checkpoint.records:
            home = last or max(checkpoint.records, key=record_order)
            rows.append(_row(home, combined, True, True, _warning(combined, None, 1)))
    return rows


def _numbers(a: Attribution | None) -> tuple[Any, ...]:
    return (a.agent_lines, a.human_added, a.human_modified, a.human_removed, a.total_committed) if a else ()


def _row(r: SessionRecord, a: Attribution | None, chosen: bool, combined: bool, warning: str | None) -> Row:
    assert a is not None
    return (
        r.checkpoint_id, r.session_index, r.session_id, a.calculated_at, a.agent_lines, a.human_added, a.human_modified,
        a.human_removed, a.total_committed, a.agent_percentage, a.agent_contribution, a.metric_version, a.agent_removed,
        a.total_lines_changed, chosen, combined, warning,
    )  # fmt: skip


def _warning(a: Attribution | None, edits: int | None, repeats: int) -> str | None:
    assert a is not None
    found = []
    share = a.agent_percentage
    if share is not None and not 0 <= share <= 100:
        found.append(f"agent_percentage {share:g} is outside 0 to 100")
    if a.agent_lines == 0 and edits:
        found.append(f"no agent lines, though the session changed files in {edits} calls")
    expected = _formula(a)
    if expected is not None and share is not None and abs(expected - share) > 0.5:
        found.append(f"agent_percentage {share:.4g} does not follow from its own counts ({expected:.4g})")
    if (
        a.agent_lines is not None
        and a.total_committed is not None
        and a.agent_lines > a.total_committed
        and a.metric_version is None
    ):
        found.append("more agent lines than committed lines")
    if (
        a.human_added is not None
        and a.agent_lines is not None
        and a.human_added > 1000
        and a.human_added > 10 * max(a.agent_lines, 1)
    ):
        found.append(f"{a.human_added} human lines added: likely a merge or a branch switch, not typing")
    if repeats > 1:
        found.append(f"the same numbers stand in {repeats} records of the checkpoint")
    return "; ".join(found) or None


def _formula(a: Attribution) -> float | None:
    if (a.metric_version or 1) >= 2:
        if a.agent_lines is None or not a.total_lines_changed:
            return None
        return 100 * (a.agent_lines + (a.agent_removed or 0)) / a.total_lines_changed
    if a.agent_lines is None or not a.total_committed:
        return None
    return 100 * a.agent_lines / a.total_committed
