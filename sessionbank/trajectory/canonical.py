"""Canonical records of Claude Code transcripts, equal to those of Letta's trajectory normaliser (canonical schema 3).

Each stored line becomes zero or more records, every record with ids and hashes that do not depend on where the file
lies. The rules are those of the facts page on canonical records; values are compared with golden files made by the
original. What is lost here is lost on purpose: usage, images, progress, subagents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sessionbank.errors import FormatError
from sessionbank.trajectory import javascript as js
from sessionbank.trajectory.canonical_bounds import cut_arguments, cut_text
from sessionbank.trajectory.canonical_claude import Event, claude_events

SCHEMA_VERSION = 3
NORMALIZER_VERSION = "0.3.0"
ARGUMENT_LIMIT = 20_000  # code points
RESULT_LIMIT = 2_500
CONFIG: Mapping[str, Any] = {
    "bounds": {
        "toolArguments": {"maxCharacters": ARGUMENT_LIMIT},
        "toolResults": {"maxCharacters": RESULT_LIMIT, "strategy": "head-tail"},
    },
    "filters": {"toolResults": "include", "systemMessages": "omit"},
}
_NOISE = (
    "<local-command-caveat>", "<command-name>", "<command-message>", "<local-command-stdout>",
    "<local-command-stderr>", "<task-notification",
)  # fmt: skip
_FIRST_MS = 1_767_225_600_000  # 2026-01-01: where a transcript without any time begins
_STEP_MS = 15_000


@dataclass(frozen=True, slots=True)
class Canonical:
    """The records (dicts of 19 fields) and what was repaired or left out on the way (code, message, place)."""

    records: tuple[dict[str, Any], ...]
    diagnostics: tuple[dict[str, Any], ...]
    normalizer_version: str = NORMALIZER_VERSION
    canonical_schema_version: int = SCHEMA_VERSION
    config: Mapping[str, Any] = field(default_factory=lambda: CONFIG)


def canonical_records(
    transcript: bytes, *, group: str | None = None, source: str = "claude-code"
) -> Canonical:
    """Canonical records of one stored Claude Code transcript.

    `group` names the session where the lines do not, or name several. Raises `FormatError` with the original's code
    (``missing_user_records``, ``missing_assistant_records``, ``source_group_required``, ``source_group_conflict``)
    where the original refuses, and for other agents' transcripts.
    """
    if source != "claude-code":
        raise FormatError(f"canonical records are made of Claude Code transcripts, not of {source}")
    told: list[dict[str, Any]] = []
    context, events = claude_events(transcript.decode("utf-8", "replace"), told)
    body = list(_records(events, told))
    roles = {record["role"] for _, record, _ in body}
    for role in ("user", "assistant"):
        if role not in roles:
            text = f"Transcript did not contain any normalizable {role} records."
            raise FormatError(f"missing_{role}_records: {text}")
    times = _times([e.ms for e, _, _ in body], told)
    where = _group(context, group)
    meta = _meta(context, events)
    rows = [_row(source, where, None, meta, ("meta", None))]
    for (event, record, key), time in zip(body, times, strict=True):
        rows.append(_row(source, where, event, {**record, "timestamp": time}, (key, time)))
    return Canonical(tuple(rows), tuple(told))


def _group(context: Mapping[str, Any], named: str | None) -> str:
    found = context.get("group")
    if found is None and context.get("is_ambiguous") and named is None:
        raise FormatError("source_group_required: the lines name several sessions; say which with group=")
    if found is not None and named is not None and found != named:
        raise FormatError(f"source_group_conflict: the lines are of {found!r}, not of {named!r}")
    return named or found or "default"


# -- lines to records ------------------------------------------------------------------------------------------


def _records(events: list[Event], told: list[dict[str, Any]]) -> Iterator[tuple[Event, dict[str, Any], str]]:
    """Each event that becomes a record, with the record and the part of its id that tells it within its line."""
    calls = _call_ids(events)
    ordinals = _ordinals(events)
    count = 0
    for number, event in enumerate(events):

        def tell(code: str, message: str, at: Event = event, index: int = count + 1) -> None:
            place = {"inputLine": at.line} if at.line else {}
            told.append({"code": code, "message": message, "recordIndex": index, **place})

        if event.kind == "tool_call":
            record = _call(event, calls, number, tell)
            key = f"tool-call:{record['tool_calls'][0]['id']}"
        elif event.kind == "tool_result":
            result = _result(event, calls, tell)
            if result is None:
                continue
            record, key = result, f"tool-result:{result['tool_call_id']}"
        else:
            if not js.strip(event.text):
                continue
            if event.role == "user" and event.text.lstrip(js.SPACE).startswith(_NOISE):
                tell("noise_record_dropped", "Dropped a harness-noise user record.")
                continue
            record = {"role": "reasoning" if event.kind == "reasoning" else event.role, "content": event.text}
            key = f"{event.kind}:{ordinals[number]}"
        count += 1
        yield event, record, key


class _Calls:
    """Final ids of tool calls, and which of them still wait for a result."""

    def __init__(self) -> None:
        self.final: dict[
            int, tuple[str, str, bool]
        ] = {}  # event -> source id, final id, whether it was made up
        self.open: dict[str, list[list[Any]]] = {}  # source id -> [final id, whether it has its result]


def _call_ids(events: list[Event]) -> _Calls:
    calls = _Calls()
    used: set[str] = set()
    for number, event in enumerate(events):
        if event.kind != "tool_call":
            continue
        source = event.call_id or f"call_{number + 1}"
        final, suffix = source, 2
        while final in used:
            final, suffix = f"{source}__{suffix}", suffix + 1
        used.add(final)
        calls.open.setdefault(source, []).append([final, False])
        calls.final[number] = (source, final, not event.call_id)
    return calls


def _ordinals(events: list[Event]) -> list[int]:
    """How many events of the same kind came before in the same source line."""
    found = []
    line = -1
    seen: dict[tuple[int, str], int] = {}
    for event in events:
        line += event.component == 0
        key = (line, event.kind)
        found.append(seen.get(key, 0))
        seen[key] = found[-1] + 1
    return found


def _call(event: Event, calls: _Calls, number: int, tell: Any) -> dict[str, Any]:
    source, final, made_up = calls.final[number]
    if made_up:
        tell("tool_call_id_synthesized", f"Synthesized tool-call ID {js.quote(source)}.")
    if final != source:
        tell(
            "duplicate_tool_call_id",
            f"Renamed duplicate tool-call ID {js.quote(source)} to {js.quote(final)}.",
        )
    name = event.name or "unknown_tool"
    if not event.name:
        tell("unknown_tool_name", f"Substituted {js.quote(name)} for a missing tool name.")
    args, reshaped, cut = cut_arguments(event.text, ARGUMENT_LIMIT)
    if reshaped:
        tell(
            "tool_arguments_reshaped",
            f"Reshaped arguments for tool call {js.quote(final)} into a JSON object.",
        )
    if cut:
        text = f"Truncated arguments for tool call {js.quote(final)} to at most {ARGUMENT_LIMIT} Unicode code points."
        tell("tool_arguments_truncated", text)
    return {"role": "assistant", "content": None, "tool_calls": [{"id": final, "name": name, "args": args}]}


def _result(event: Event, calls: _Calls, tell: Any) -> dict[str, Any] | None:
    source = event.call_id or ""
    entries = calls.open.get(source, [])
    waiting = next((e for e in entries if not e[1]), None)
    if waiting is None:
        if entries:
            tell("duplicate_tool_result", f"Dropped a duplicate result for tool call {js.quote(source)}.")
        else:
            tell(
                "orphan_tool_result",
                f"Dropped a tool result without a preceding call for {js.quote(source)}.",
            )
        return None
    waiting[1] = True
    text = cut_text(event.text, RESULT_LIMIT)
    if text != event.text:
        limit = f'to at most {RESULT_LIMIT} Unicode code points using the "head-tail" strategy.'
        tell("tool_result_truncated", f"Truncated the result for tool call {js.quote(waiting[0])} {limit}")
    ok = {} if event.ok is None else {"ok": event.ok}
    return {"role": "tool", "tool_call_id": waiting[0], "content": text, **ok}


# -- what every record carries ---------------------------------------------------------------------------------


def _times(anchors: list[int | None], told: list[dict[str, Any]]) -> list[str]:
    """A time for each record: its own, else between its neighbours', else a second apart from the nearest."""
    known = [i for i, ms in enumerate(anchors) if ms is not None]
    if not known:
        text = f"Synthesized timestamps for {len(anchors)} normalized records."
        told.append({"code": "timestamps_synthesized", "message": text, "count": len(anchors)})
        return [js.iso(_FIRST_MS + _STEP_MS * i) for i in range(len(anchors))]
    found: list[str] = []
    for i, own in enumerate(anchors):
        if own is not None:
            found.append(js.iso(own))
            continue
        before = max((k for k in known if k < i), default=None)
        after = min((k for k in known if k > i), default=None)
        left, right = (anchors[k] if k is not None else None for k in (before, after))
        if left is None or before is None:
            assert right is not None and after is not None
            found.append(js.iso(right - (after - i) * 1000))
        elif right is None or after is None:
            found.append(js.iso(left + (i - before) * 1000))
        else:
            found.append(js.iso(left + (right - left) * (i - before) / (after - before)))
    missing = len(anchors) - len(known)
    if missing:
        text = f"Interpolated timestamps for {missing} normalized records."
        told.append({"code": "timestamps_interpolated", "message": text, "count": missing})
    return found


def _meta(context: Mapping[str, Any], events: list[Event]) -> dict[str, Any]:
    counts: dict[str, int] = {}
    for event in events:
        if event.model:
            counts[event.model] = counts.get(event.model, 0) + 1
    model = min(counts, key=lambda m: (-counts[m], m)) if counts else None
    found = {
        "role": "meta",
        "source": "claude-code",
        "cwd": context.get("cwd"),
        "git_branch": context.get("branch"),
        "model": model,
    }
    return {k: v for k, v in found.items() if v}


def _row(
    source: str, group: str, event: Event | None, record: dict[str, Any], place: tuple[str, str | None]
) -> dict[str, Any]:
    key, time = place
    call = (record.get("tool_calls") or [None])[0]
    role = record["role"]
    kind = "assistant-tool-call" if call else role
    stable, identity = _stable(group, event)
    when = "0000-00-00T00:00:00.001Z" if event is None or event.ms is None else js.iso(event.ms)
    order = f"1|{when}|{'0' * 20}|{stable}" if event else f"0|0000-00-00T00:00:00.000Z|{'0' * 20}|meta"
    if kind == "meta":
        meaning: dict[str, Any] = {k: v for k, v in record.items() if k != "role"}
    elif call:
        meaning = {"name": call["name"], "args": call["args"]}
    else:
        meaning = {k: record[k] for k in ("content", "ok") if k in record}
    text = js.stringify(record, sort_keys=True)
    return {
        "source_type": source,
        "source_group_id": group,
        "stable_source_record_id": stable,
        "source_identity_kind": identity,
        "source_order_id": order,
        "component_index": event.component if event else 0,
        "record_type": kind,
        "record_id": _sha(js.stringify([group, stable, key])),
        "record_hash": _sha(text),
        "content_hash": _sha(js.stringify({"type": kind, "content": meaning}, sort_keys=True)),
        "source_timestamp": js.iso(event.ms) if event and event.ms is not None else None,
        "record_timestamp": time,
        "content": record.get("content") if role != "tool" else None,
        "tool_call_id": call["id"] if call else record.get("tool_call_id"),
        "tool_name": call["name"] if call else None,
        "tool_arguments_json": call["args"] if call else None,
        "tool_result_json": record["content"] if role == "tool" else None,
        "tool_result_ok": record.get("ok"),
        "record_json": text,
    }


def _stable(group: str, event: Event | None) -> tuple[str, str]:
    if event is None:
        return "meta", "synthetic"
    if event.uuid is not None:
        return event.uuid, "native"
    return _sha(f"{group}|byte|{event.offset}"), "location"


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
