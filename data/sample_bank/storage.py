"""How checkpoints are stored: session directories, their metadata, both layouts. Turns the story's records into trees.

Each deviation that real banks show is an option of a record or a checkpoint; the plain form needs none.

Options of a record: `usage` (whole, window, stale, zero, absent), `label` (None leaves the agent out), `dated` (session
id with a date before it), `zone` and `digits` (of created_at), `old_keys` (names before 2026-02), `hash` (good, early,
none), `prompt` (False leaves prompt.txt out), `files_null`, `transcript` (False leaves it out, "empty" is 0 bytes),
`turn` (a turn id), `summary`, `attribution` ((human_added, human_modified, human_removed), or a whole dict, or None),
`crlf`, `cut` (characters kept of the last line), `listed` (False: not named in the root's list).
Options of a checkpoint: `doubled` (wrong paths in the root), `usage_version`, `combined` (combined attribution),
`cli`, `strategy`.
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime

from .books import TOKENS, add, best_calls, no_tokens
from .ids import offset_stamp, parse
from .world import PEOPLE, ZONES, Checkpoint, Record, World

NEW_KEYS = parse("2026-02-20T00:00")
NEW_FORMULA = parse("2026-03-20T00:00")


def dump(value: dict) -> bytes:
    """Metadata files: indented, with a final newline."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def transcript(record: Record) -> bytes | None:
    """The bytes of a record's transcript."""
    kept = record.options.get("transcript", True)
    if kept is False:
        return None
    if kept == "empty":
        return b""
    if record.session.agent == "gemini-cli":
        return record.session.document(record.hi)
    text = "".join(x.text + ("" if x.glue else "\n") for x in record.session.lines[record.lo : record.hi])
    if record.options.get("crlf"):
        text = text.replace("\n", "\r\n")
    if "cut" in record.options:
        text = text[: text.rindex("\n", 0, -1) + 1 + record.options["cut"]]
    return text.encode()


def stored_lines(record: Record) -> list:
    """The lines that a reader can find in a record: none without transcript, not the one that was cut."""
    if record.options.get("transcript", True) is not True:
        return []
    return record.session.lines[record.lo : record.hi - (1 if "cut" in record.options else 0)]


def usage_of(lines: list) -> dict:
    """Token usage as the metadata write it: the calls of some lines."""
    total = no_tokens()
    calls = best_calls(lines)
    for fact in calls.values():
        add(total, fact[4])
    names = dict(
        zip(
            TOKENS,
            ("input_tokens", "cache_creation_tokens", "", "cache_read_tokens", "output_tokens"),
            strict=True,
        )
    )
    return {names[k]: total[k] for k in TOKENS if names[k]} | {"api_call_count": len(calls)}


def usage(record: Record, when: datetime) -> dict | None:
    """The stored token usage, by the scope that the record has."""
    scope = record.options.get("usage", "whole" if when < NEW_KEYS else "window")
    lines = record.session.lines
    if scope == "absent":
        return None
    if scope == "zero":
        return dict.fromkeys(
            ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens", "api_call_count"),
            0,
        )
    if scope == "stale":
        return usage_of(lines[record.start : record.options["stale_at"]])
    return usage_of(lines[record.lo if scope == "whole" else record.start : record.hi])


def attribution(record: Record, when: datetime) -> dict | None:
    """The attribution of a record: the agent's lines since the commit before, and what people changed."""
    given = record.options.get("attribution", (0, 0, 0))
    if given is None:
        return None
    if isinstance(given, dict):
        return {"calculated_at": offset_stamp(when)} | given
    added, removed = record.lines
    human_added, human_modified, human_removed = given
    out = {
        "calculated_at": offset_stamp(when),
        "agent_lines": added,
        "human_added": human_added,
        "human_modified": human_modified,
        "human_removed": human_removed,
    }
    committed = added + human_added + human_modified
    if when < NEW_FORMULA:
        return out | {"total_committed": committed, "agent_percentage": percent(added, committed)}
    changed = added + removed + human_added + human_modified + human_removed
    return {
        "calculated_at": out.pop("calculated_at"),
        "agent_lines": out.pop("agent_lines"),
        "agent_removed": removed,
        **out,
        "total_committed": committed,
        "total_lines_changed": changed,
        "agent_percentage": percent(added + removed, changed),
        "metric_version": 2,
    }


def percent(part: int, whole: int) -> float:
    """A share on the scale 0 to 100; whole numbers stay whole, as Go's encoder writes them."""
    value = part / whole * 100 if whole else 0
    return int(value) if value == int(value) else value


def session_metadata(point: Checkpoint, record: Record) -> dict:
    """metadata.json of a session directory."""
    session, options, when = record.session, record.options, record.at
    zone = options.get("zone", ZONES[point.who] if when < parse("2026-03-01T00:00") else 0)
    ident = session.session_id
    if options.get("dated"):
        ident = (
            f"{session.clock.now:%Y-%m-%d}-{ident}"
            if options["dated"] is True
            else f"{options['dated']}-{ident}"
        )
    out: dict = {}
    if "cli" in point.options:
        out["cli_version"] = point.options["cli"]
    out |= {
        "checkpoint_id": point.id,
        "session_id": ident,
        "strategy": point.options.get("strategy", "manual-commit"),
        "created_at": offset_stamp(when, hours=zone, digits=options.get("digits", 6)),
    }
    if point.branch:
        out["branch"] = point.branch
    out["checkpoints_count"] = max(1, len(record.files or []))
    out["files_touched"] = None if options.get("files_null") else record.files
    label = options.get("label", "Claude Code" if session.agent == "claude-code" else None)
    if label:
        out["agent"] = label
    if when >= parse("2026-04-01T00:00"):
        out["model"] = getattr(session, "model", "")
    if options.get("turn"):
        out["turn_id"] = options["turn"]
    if record.start:
        old = options.get("old_keys", when < NEW_KEYS)
        before = [line.uuid for line in session.lines[: record.start] if line.uuid]
        out["transcript_uuid_at_start" if old and record.index else "transcript_identifier_at_start"] = (
            before[-1]
        )
        out["transcript_lines_at_start" if old else "checkpoint_transcript_start"] = record.start
    used = usage(record, when)
    if used is not None:
        out["token_usage"] = used
    if options.get("summary"):
        out["summary"] = options["summary"]
    share = attribution(record, when)
    if share:
        out["initial_attribution"] = share
    return out


def directory(point: Checkpoint, record: Record) -> dict[str, bytes]:
    """The files of one session directory."""
    out = {"metadata.json": dump(session_metadata(point, record))}
    body = transcript(record)
    if body is None:
        return out
    out["full.jsonl"] = body
    kind = record.options.get("hash", "good")
    if kind != "none":
        # before redaction: the hash is of bytes that nobody has any more
        seen = body if kind == "good" else body + b"\nbefore redaction"
        out["content_hash.txt"] = b"sha256:" + hashlib.sha256(seen).hexdigest().encode()
    if record.options.get("prompt", True) and record.prompts:
        out["prompt.txt"] = "\n\n---\n\n".join(record.session.prompts[: record.prompts]).encode(
            "utf-8", "replace"
        )
    return out


def root_metadata(point: Checkpoint, prefix: str) -> dict:
    """metadata.json of a checkpoint: a sum over its directories and a list of paths."""
    sessions, total = [], {}
    for record in point.records:
        used = usage(record, record.at)
        for key, value in (used or {}).items():
            total[key] = total.get(key, 0) + value
        if not record.options.get("listed", True):
            continue
        names = directory(point, record)
        base = f"{prefix}{prefix if point.options.get('doubled') else ''}/{record.index}"
        # transcript and hash are named even when no file was written
        sessions.append(
            {
                "metadata": f"{base}/metadata.json",
                "transcript": f"{base}/full.jsonl",
                "content_hash": f"{base}/content_hash.txt",
                "prompt": f"{base}/prompt.txt" if "prompt.txt" in names else "",
            }
        )
    touched = sorted({f for r in point.records for f in r.files or []})
    out: dict = {"cli_version": point.options["cli"]} if "cli" in point.options else {}
    out |= {
        "checkpoint_id": point.id,
        "strategy": point.options.get("strategy", "manual-commit"),
        "branch": point.branch or "",
        "checkpoints_count": sum(max(1, len(r.files or [])) for r in point.records),
        "files_touched": touched or None,
        "sessions": sessions,
    }
    if "usage_version" in point.options:
        out["token_usage_version"] = point.options["usage_version"]
    if total:
        out["token_usage"] = total
    if "combined" in point.options:
        out["combined_attribution"] = point.options["combined"]
    return out


def checkpoint_files(point: Checkpoint, prefix: str) -> dict[str, bytes]:
    """All files of a checkpoint, by path below its folder; `prefix` is the folder as the root metadata name it."""
    out = {"metadata.json": dump(root_metadata(point, prefix))}
    for record in point.records:
        for name, body in directory(point, record).items():
            out[f"{record.index}/{name}"] = body
    return out


def write_checkpoints(world: World) -> None:
    """The branch with its commits, and one ref for each checkpoint of the newer layout."""
    branch: dict[str, bytes] = {}
    who = ("Entire", "checkpoints@shop.example")
    head = world.objects.commit(
        {}, parents=[], who=who, when=parse("2026-02-01T09:00"), message="Initialize metadata branch"
    )
    for point in sorted(world.checkpoints, key=lambda p: p.at):
        for record in point.records:
            if record.hi is None:
                record.hi = record.session.size
        trailers = "".join(f"Entire-Session: {r.session.session_id}\n" for r in point.records)
        message = (
            f"Checkpoint: {point.id}\n\n{trailers}Entire-Strategy: "
            f"{point.options.get('strategy', 'manual-commit')}\nEntire-Agent: Claude Code"
        )
        if "branch-v1" in point.layouts:
            folder = f"{point.id[:2]}/{point.id[2:]}"
            for path, body in checkpoint_files(point, f"/{folder}").items():
                branch[f"{folder}/{path}"] = body
            head = world.objects.commit(branch, parents=[head], who=who, when=point.at, message=message)
        if "refs-v1" in point.layouts:
            oid = world.objects.commit(
                checkpoint_files(point, ""), parents=[], who=who, when=point.at, message=message
            )
            world.objects.refs[f"refs/entire/checkpoints/{point.id[-2:]}/{point.id}"] = oid
    world.objects.refs["refs/heads/entire/checkpoints/v1"] = head
    for name, oid in world.code.heads.items():
        world.objects.refs[f"refs/heads/{name}"] = oid


def people() -> dict:
    """Who appears, for the truth file."""
    return {key: value[0] for key, value in sorted(PEOPLE.items())}
