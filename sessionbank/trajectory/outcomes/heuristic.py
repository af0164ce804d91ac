"""Strategy ``heuristic``: counts alone, no text read: edits, failed and refused calls, a closing reply.

Quick and weak; it is what is left where a transcript is in no language that the other strategies read.
"""

from __future__ import annotations

from sessionbank.records import Session
from sessionbank.trajectory.model import Outcome
from sessionbank.trajectory.outcomes.checks import EDITS
from sessionbank.trajectory.outcomes.verdict import outcome, row, unknown

NAME = "heuristic"
LAST = 10  # calls that count as the end


def of_session(session: Session) -> Outcome:
    """The outcome by counts; unknown without transcript and files."""
    main = [m for m in session.messages if not m.is_subagent]
    if not any(m.kind in ("prompt", "reply") for m in main):
        return unknown(NAME, "no transcript, or nobody says anything in it")
    calls = [c for c in session.tool_calls if not c.is_subagent]
    tail = calls[-LAST:]
    bad = [c for c in tail if c.status in ("error", "rejected", "interrupted")]
    edits = [c for c in calls if c.tool_name in EDITS and c.status == "ok"]
    closing = next(
        (m for m in reversed(main) if m.kind in ("reply", "prompt", "tool_result", "interruption")), None
    )
    closes = closing is not None and closing.kind == "reply" and bool((closing.text or "").strip())
    parts = {
        f"{len(edits)} edits": 0.15 if edits or not calls else 0.0,
        f"{len(bad)} of the last {len(tail)} calls failed or were refused": 0.2 - 0.7 * len(bad) / len(tail)
        if tail
        else 0.1,
        "it ends with a reply" if closes else "it does not end with a reply": 0.15 if closes else -0.15,
    }
    rows = [
        row(session.session_id, f"{c.tool_name}: {c.status}", seq=c.seq, tool_call_id=c.tool_call_id)
        for c in bad
    ]
    if closing is not None:
        rows.append(row(session.session_id, f"last: {closing.kind}", seq=closing.seq))
    return outcome(NAME, 0.4 + sum(parts.values()), confidence=0.3, reason="; ".join(parts), evidence=rows)
