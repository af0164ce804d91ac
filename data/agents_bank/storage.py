"""The repository: code commits with trailers and the checkpoint branch, as Entire writes them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sample_bank.ids import Ids, offset_stamp, parse
from sample_bank.objects import Objects

from .book import PEOPLE, Ask, Reply, Session, replies, tokens

CHECKPOINTS = ("Entire", "checkpoints@tides.example")


@dataclass
class Point:
    """A checkpoint: sessions with the number of steps that each had by then, and the commit's subject."""

    subject: str
    who: str
    records: list[tuple[Session, int]]
    at: datetime
    id: str
    commit: str = ""


def dump(value: dict[str, Any]) -> bytes:
    """A metadata file."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def usage(session: Session, since: int, upto: int) -> dict[str, int] | None:
    """Token usage of a window as the metadata state it; Gemini's input with the cache and output without thoughts."""
    records, said = session.writer.RECORDS, replies(session, upto, since)
    sums = tokens(said, records)
    if "run_of" in session.options:  # only what the run that ended states
        sums |= {
            k: v
            for k, v in tokens(replies(session, session.options["run_of"]), records).items()
            if k != "output"
        }
    if sums["input"] is None or session.options.get("compact"):
        return None
    out = {
        "input_tokens": sums["input"] or 0,
        "cache_creation_tokens": sums["cache_creation"] or 0,
        "cache_read_tokens": sums["cache_read"] or 0,
        "output_tokens": sums["output"] or 0,
        "api_call_count": sum(r.spent is not None for r in said),
    }
    if session.agent == "gemini-cli":
        out["input_tokens"] += out["cache_read_tokens"]
        out["output_tokens"] -= sums["reasoning"] or 0
    return out


def directory(
    point: Point, session: Session, since: int, upto: int
) -> tuple[dict[str, bytes], dict[str, int] | None]:
    """The files of one session directory, and its usage."""
    sheet, spent = session.sheet(upto), usage(session, since, upto)
    start = session.sheet(since).units if since else 0
    out: dict[str, Any] = {
        "cli_version": "0.11.2",
        "checkpoint_id": point.id,
        "session_id": session.session_id,
        "strategy": "manual-commit",
        "created_at": offset_stamp(point.at),
        "branch": "main",
        "checkpoints_count": 1,
        "files_touched": sorted(session.files),
    }
    if session.label:
        out["agent"] = session.label
    out["model"] = session.model if session.agent in ("claude-code", "codex") else ""
    if start:
        out["checkpoint_transcript_start"] = start
    if spent:
        out["token_usage"] = spent
    prompts = [s.text for s in session.steps[:upto] if isinstance(s, Ask)]
    files = {"metadata.json": dump(out), "prompt.txt": "\n\n---\n\n".join(prompts).encode()}
    body = sheet.body
    digest = b"sha256:" + hashlib.sha256(body).hexdigest().encode()
    if session.options.get("compact"):
        return files | {"transcript.jsonl": body}, spent
    return files | {"full.jsonl": body, "content_hash.txt": digest}, spent


def checkpoint(point: Point, before: dict[str, int]) -> dict[str, bytes]:
    """The files of one checkpoint, by path below its folder."""
    folder = f"/{point.id[:2]}/{point.id[2:]}"
    files: dict[str, bytes] = {}
    listed, total = [], {}
    for index, (session, upto) in enumerate(point.records):
        made, spent = directory(point, session, before.get(session.key, 0), upto)
        files |= {f"{index}/{name}": body for name, body in made.items()}
        before[session.key] = upto
        base = f"{folder}/{index}"
        listed.append(
            {
                "metadata": f"{base}/metadata.json",
                "transcript": f"{base}/full.jsonl",
                "prompt": f"{base}/prompt.txt",
            }
        )
        if session.options.get("compact"):
            listed[-1]["compact_transcript"] = f"{base}/transcript.jsonl"
        for name, value in (spent or {}).items():
            total[name] = total.get(name, 0) + value
    root = {
        "cli_version": "0.11.2",
        "checkpoint_id": point.id,
        "strategy": "manual-commit",
        "branch": "main",
        "checkpoints_count": len(point.records),
        "files_touched": sorted({f for s, _ in point.records for f in s.files}),
        "sessions": listed,
        "token_usage_version": 2,
    }
    return {"metadata.json": dump(root | ({"token_usage": total} if total else {}))} | files


def build(
    sessions: list[Session], stops: list[tuple[str, str, dict[str, int]]]
) -> tuple[Objects, list[Point]]:
    """The objects, and the checkpoints in order. A stop is (subject, who, session -> steps so far)."""
    objects, ids, by_key = Objects(), Ids("agents/checkpoints"), {s.key: s for s in sessions}
    begun = parse("2026-05-04T07:00")
    tree = {"README.md": b"# tides\n\nWhen is high water? A small calculator for one harbour.\n"}
    code = objects.commit(tree, parents=[], who=PEOPLE["nora"], when=begun, message="Begin")
    branch: dict[str, bytes] = {}
    head = objects.commit({}, parents=[], who=CHECKPOINTS, when=begun, message="Initialize metadata branch")
    points, before = [], {}
    for subject, who, told in stops:
        records = [(by_key[key], upto) for key, upto in told.items()]
        ends = [s.sheet(upto).clock.now for s, upto in records]
        point = Point(subject, who, records, max(ends) + timedelta(seconds=45), ids.hex(12))
        for session, upto in records:
            wrote = {
                u.target
                for r in session.steps[:upto]
                if isinstance(r, Reply)
                for u in r.uses
                if u.what == "write"
            }
            for path, text in session.files.items():
                if upto == len(session.steps) or path in wrote:
                    tree[path] = text.encode()
        message = f"{subject}\n\nEntire-Checkpoint: {point.id}"
        code = point.commit = objects.commit(
            tree, parents=[code], who=PEOPLE[who], when=point.at, message=message
        )
        folder = f"{point.id[:2]}/{point.id[2:]}"
        branch |= {f"{folder}/{path}": body for path, body in checkpoint(point, before).items()}
        trailers = "".join(f"Entire-Session: {s.session_id}\n" for s, _ in records)
        head = objects.commit(
            branch, parents=[head], who=CHECKPOINTS, when=point.at,
            message=f"Checkpoint: {point.id}\n\n{trailers}Entire-Strategy: manual-commit",
        )  # fmt: skip
        points.append(point)
    objects.refs = {"refs/heads/main": code, "refs/heads/entire/checkpoints/v1": head}
    return objects, points
