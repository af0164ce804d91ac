"""The true totals of the bank, from the books alone: no written byte is read back.

`data/README.md` says what each figure counts.
"""

from __future__ import annotations

from typing import Any

from .books import Line, merge, tally
from .ids import stamp
from .storage import attribution, people, stored_lines, transcript, usage, usage_of
from .world import Checkpoint, Record, Session, World

DOCUMENTS = ("gemini-cli",)


def session_lines(world: World) -> dict[str, list]:
    """The lines of each session that some checkpoint holds, each once, in order."""
    kept: dict[str, dict[int, object]] = {}
    for point in world.checkpoints:
        for record in point.records:
            lines = kept.setdefault(record.session.key, {})
            for number, line in enumerate(stored_lines(record), record.lo):
                lines[number] = line
    return {key: [lines[n] for n in sorted(lines)] for key, lines in kept.items()}


def build(world: World) -> dict:
    """The truth file."""
    lines = session_lines(world)
    stored = [s for s in world.sessions if s.key in lines]
    records = [(p, r) for p in world.checkpoints for r in p.records]
    sessions = {s.session_id: one_session(s, lines[s.key], records) for s in stored}
    agents: dict[str, dict] = {}
    total: dict = {}
    for session in stored:
        sums = {k: v for k, v in sessions[session.session_id].items() if k in SUMMED}
        merge(agents.setdefault(session.agent, {"sessions": 0}), sums | {"sessions": 1})
        merge(total, sums)
    main = reachable(world, "main")
    ids = {p.id for p in world.checkpoints}
    pairs = [
        {"commit_sha": c.sha, "checkpoint_id": t, "resolves": t in ids}
        for c in world.code.commits
        for t in dict.fromkeys(c.trailers)
    ]
    named = {p["checkpoint_id"] for p in pairs}
    physical = [physical_lines(r) for _, r in records]
    return {
        "about": "Made by make_sample_bank.py from its own books; see README.md in this folder.",
        "refs": dict(sorted(world.objects.refs.items())),
        "people": people(),
        "counts": {
            "checkpoints": len(world.checkpoints),
            "session_dirs": len(records),
            "sessions": len(stored),
            "checkpoints_in_both_layouts": sum(len(p.layouts) == 2 for p in world.checkpoints),
            "checkpoints_refs_v1": sum("refs-v1" in p.layouts for p in world.checkpoints),
            "checkpoints_branch_v1": sum("branch-v1" in p.layouts for p in world.checkpoints),
            "no_transcript": sum(r.options.get("transcript", True) is False for _, r in records),
            "empty_transcript": sum(r.options.get("transcript", True) == "empty" for _, r in records),
            "documents": sum(
                r.session.agent in DOCUMENTS and r.options.get("transcript", True) is True for _, r in records
            ),
            "jsonl": sum(
                r.session.agent not in DOCUMENTS and r.options.get("transcript", True) is True
                for _, r in records
            ),
            "lines": sum(p[0] for p in physical),
            "glued_lines": sum(p[1] for p in physical),
            "bad_lines": sum(p[2] for p in physical),
            "commits": len(world.code.commits),
            "commits_with_trailer": sum(bool(c.trailers) for c in world.code.commits),
            "commit_checkpoint_pairs": len(pairs),
        },
        "total": ordered(total),
        "by_agent": {k: ordered(v) for k, v in sorted(agents.items())},
        "outcomes": {
            label: sum(s.outcome[0] == label for s in stored)
            for label in ("success", "partial", "failure", "unknown")
        },
        "sessions": sessions,
        "records": [one_record(p, r) for p, r in records],
        "attribution": {p.id: representative(p) for p in world.checkpoints if representative(p)},
        "commits": [
            {
                "sha": c.sha,
                "subject": c.subject,
                "branch": c.branch,
                "trailers": c.trailers,
                "authored_at": stamp(c.when.replace(microsecond=0)),
                "on_main": c.sha in main,
            }
            for c in world.code.commits
        ],
        "commit_checkpoints": pairs,
        "dangling": sorted({p["checkpoint_id"] for p in pairs if not p["resolves"]}),
        "checkpoints_without_commit": sorted(ids - named),
    }


def reachable(world: World, branch: str) -> set[str]:
    """All commits that a branch holds, by any parent."""
    found: set[str] = set()
    waiting = [world.code.heads[branch]]
    while waiting:
        oid = waiting.pop()
        if oid not in found:
            found.add(oid)
            waiting += world.code.parents(oid)
    return found


SUMMED = (
    "human_prompts",
    "queued_prompts",
    "rows",
    "rows_by_type",
    "inherited_rows",
    "tool_calls",
    "tool_names",
    "tool_status",
    "results_without_call",
    "spawns",
    "subagent_tool_calls",
    "subagent_tool_errors",
    "synthetic_rows",
    "interruptions",
    "compactions",
    "api_calls",
    "tokens",
    "subagent_api_calls",
    "subagent_tokens",
    "by_model",
    "by_day",
)


def ordered(value: Any) -> Any:
    """Names in order at every depth, so that the file does not depend on the order of the story."""
    return {k: ordered(v) for k, v in sorted(value.items())} if isinstance(value, dict) else value


def one_session(session: Session, lines: list[Line], records: list[tuple[Checkpoint, Record]]) -> dict:
    """The truth of one session."""
    mine = [(p, r) for p, r in records if r.session is session]
    out = {
        "key": session.key,
        "agent": session.agent,
        "person": session.who,
        "checkpoints": list(dict.fromkeys(p.id for p, _ in mine)),
        "record_count": len(mine),
        "outcome": session.outcome[0],
        "outcome_reason": session.outcome[1],
        "has_summary": any(r.options.get("summary") for _, r in mine),
    }
    if session.forked_from:
        out["forked_from"] = next(
            r.session.session_id for _, r in records if r.session.key == session.forked_from
        )
    sums = tally(lines)
    if session.agent in DOCUMENTS:
        # rows are a matter of line formats: a document has messages
        sums |= {"rows": 0, "rows_by_type": {}}
        out["messages"] = len(lines)
    out |= ordered({k: sums[k] for k in SUMMED})
    if session.edges:
        kept = {line.uuid for line in lines}
        out["edges"] = [e for e in session.edges if e["uuid"] in kept]
    return out


def one_record(point: Checkpoint, record: Record) -> dict:
    """Where a session's lines lie in a checkpoint, and what scope its stored token usage has."""
    scope = record.options.get("usage")
    kept = record.options.get("transcript", True)
    if usage(record, record.at) is None:
        scope = "absent"
    elif scope not in ("zero", "stale"):
        scope = "whole" if usage(record, record.at) == usage_of_whole(record) else "window"
        if usage_of_window(record) == usage_of_whole(record):
            scope = "both"
    return {
        "checkpoint_id": point.id,
        "session_index": record.index,
        "session_id": record.session.session_id,
        "start_offset": record.start,
        "first_line": record.lo,
        "end_line": record.hi,
        "transcript": {True: "present", False: "absent", "empty": "empty"}[kept],
        "usage_scope": scope,
        "layouts": list(point.layouts),
    }


def usage_of_whole(record: Record) -> dict:
    """Token usage of all lines of a record."""
    return usage_of(record.session.lines[record.lo : record.hi])


def usage_of_window(record: Record) -> dict:
    """Token usage of a record's lines from its start on."""
    return usage_of(record.session.lines[record.start : record.hi])


def physical_lines(record: Record) -> tuple[int, int, int]:
    """Physical lines that are not empty, glued ones and unreadable ones of one stored transcript, from the books."""
    if record.session.agent in DOCUMENTS or not transcript(record):
        return 0, 0, 0
    lines = record.session.lines[record.lo : record.hi]
    glued = sum(line.glue for line in lines)
    bad = sum(line.bad for line in lines) + ("cut" in record.options)
    return len(lines) - glued, glued, bad


def representative(point: Checkpoint) -> dict | None:
    """The attribution to add up for a checkpoint: the combined one, else that of its last session that has one."""
    if "combined" in point.options:
        return {"session_index": None} | point.options["combined"]
    rows = [(r, attribution(r, r.at)) for r in point.records]
    rows = [(r, a) for r, a in rows if a]
    if not rows:
        return None
    record, share = max(rows, key=lambda pair: pair[0].index)
    return {"session_index": record.index, "session_id": record.session.session_id} | {
        k: v for k, v in share.items() if k != "calculated_at"
    }
