"""From a row back to the stored bytes: the exact lines of the transcript that it rests on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sessionbank.errors import NotFoundError, QueryError
from sessionbank.tables import cache
from sessionbank.tables.state import State
from sessionbank.transcripts.jsonl import untold
from sessionbank.transcripts.sniff import sniff


def raw_lines(state: State, row: Mapping[str, Any]) -> list[bytes]:
    """The stored lines of a row of messages, blocks, tool_calls or token_usage, in file order.

    A tool call stands on the line of its use and that of its result; a reply's usage on every line of the reply. Of a
    transcript that is one document, the bytes of the message.
    """
    session_id = _text(row, "session_id")
    if session_id not in state.manifest.sessions:
        raise NotFoundError(f"no session {session_id!r} in this bank")
    messages = _messages(state, session_id)
    behind = sorted(_behind(row, messages), key=lambda m: m["seq"])
    lines = dict.fromkeys((m["blob_oid"], m["line_index"], m["byte_offset"] is None) for m in behind)
    files: dict[str, tuple[bytes, int]] = {}
    found = []
    for blob, line, is_document in lines:
        if blob not in files:
            files[blob] = _transcript(state, (session_id, blob), is_document=is_document)
        data, start = files[blob]
        found.append(_document_part(data, line - start) if is_document else data.split(b"\n")[line - start])
    return found


def _behind(row: Mapping[str, Any], messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if _has(row, "line_index") and _has(row, "blob_oid"):
        return [m for m in messages if m["seq"] == int(row["seq"])]
    if _has(row, "tool_name"):
        seqs = {int(row[k]) for k in ("seq", "result_seq") if _has(row, k)}
        return [m for m in messages if m["seq"] in seqs]
    if _has(row, "message_id"):
        agent = row["agent_id"] if _has(row, "agent_id") else None
        same = [m for m in messages if m["message_id"] == row["message_id"] and m["agent_id"] == agent]
        return same or [m for m in messages if m["seq"] == int(row["seq"])]
    if _has(row, "seq"):
        return [m for m in messages if m["seq"] == int(row["seq"])]
    raise QueryError(
        "raw() takes a row of messages, blocks, tool_calls or token_usage (with its session_id and seq)"
    )


def _has(row: Mapping[str, Any], key: str) -> bool:
    value = row.get(key)
    return value is not None and value == value and str(value) != "<NA>"


def _text(row: Mapping[str, Any], key: str) -> str:
    if hasattr(row, "columns"):
        raise QueryError("raw() takes one row: frame.iloc[0], or a row of frame.iterrows()")
    if not hasattr(row, "get") or not _has(row, key):
        raise QueryError(
            f"the row has no {key}; raw() takes a row of messages, blocks, tool_calls or token_usage"
        )
    return str(row[key])


def _messages(state: State, session_id: str) -> list[dict[str, Any]]:
    one = cache.Manifest("", {session_id: state.manifest.sessions[session_id]})
    columns = ["seq", "message_id", "agent_id", "blob_oid", "line_index", "byte_offset"]
    return list(cache.assemble(state.cache, one, "messages").select(columns).to_pylist())


def _transcript(state: State, place: tuple[str, str], *, is_document: bool) -> tuple[bytes, int]:
    """The chunk that is this session's blob, and the number of its first line (message) in the transcript."""
    session_id, blob = place
    for record in state.sessions[session_id]:
        files = [record.transcript_blobs, *((f.blob,) for f in record.agent_files)]
        for oids in files:
            if blob not in oids:
                continue
            start = 0
            for oid, data in state.source.blobs(oids):
                if data is None:
                    continue
                if oid == blob:
                    return data, start
                start += len(sniff(data).split(data, untold)) if is_document else data.count(b"\n") + 1
    raise NotFoundError(f"the object {blob} is not in this clone")


def _document_part(data: bytes, number: int) -> bytes:
    """The bytes of the message with that number in a JSON document; all of a document that no reader knows."""
    text = data.decode("utf-8", "surrogateescape")
    decoder = json.JSONDecoder()
    at = next((found for key in ('"messages"', '"history"') if (found := text.find(key)) >= 0), -1)
    at = text.find("[", at) + 1 if at >= 0 else 0
    passed = -1
    while at:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        begin = at
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        passed += isinstance(value, dict)  # what is no object is no message
        if passed == number:
            return text[begin:at].encode("utf-8", "surrogateescape")
    return data
