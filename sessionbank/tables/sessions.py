"""The sessions table: what transcripts show of a session beside what its records state.

Sums over transcripts come from `stats` by way of the cache; nothing is counted here but records and commits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from sessionbank import schema
from sessionbank.records import SessionRecord
from sessionbank.transcripts.rows import as_json

_STATES = ("present", "empty", "missing_blob", "absent")
_TOKENS = ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens")


def session_rows(
    sessions: Mapping[str, list[SessionRecord]], facts: Mapping[str, Mapping[str, Any]],
    states: Mapping[tuple[str, int, str], str], commits: Iterable[tuple[Any, ...]],
) -> list[tuple[Any, ...]]:  # fmt: skip
    """Rows in schema order. `facts` are rows of the cache's table of that name; `states` what reading showed."""
    named: dict[str, set[str]] = defaultdict(set)
    for row in commits:
        named[row[1]].add(row[0])
    columns = schema.table("sessions").columns
    rows = []
    for sid, records in sessions.items():
        values = dict(facts.get(sid) or {})
        seen = {states.get((r.checkpoint_id, r.session_index, sid), r.transcript_state) for r in records}
        touched = {f for r in records for f in r.files_touched or ()}
        summary = next((r.summary for r in reversed(records) if r.summary), None)
        share = next(
            (
                r.attribution.agent_percentage
                for r in reversed(records)
                if r.attribution and r.attribution.agent_percentage is not None
            ),
            None,
        )
        branches = list(dict.fromkeys(r.branch for r in records if r.branch))
        started, ended = values.get("started_at"), values.get("ended_at")
        tokens = [v for v in map(values.get, _TOKENS) if v is not None]
        values.update(
            session_id=sid,
            agent=values.get("agent") or "unknown",
            branches=as_json(branches) if branches else None,
            span_s=(ended - started).total_seconds() if started and ended else None,
            record_count=len(records),
            checkpoint_count=len({r.checkpoint_id for r in records}),
            commit_count=len(set().union(*(named[r.checkpoint_id] for r in records))),
            total_tokens=sum(tokens) if tokens else None,
            files_touched=len(touched) if any(r.files_touched is not None for r in records) else None,
            agent_percentage=share,
            intent=summary.intent if summary else None,
            outcome_text=summary.outcome if summary else None,
            transcript_state=next(s for s in _STATES if s in seen),
        )
        rows.append(tuple(values.get(c) for c in columns))
    return rows
