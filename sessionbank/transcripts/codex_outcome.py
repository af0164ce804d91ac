"""How a Codex tool call ended: from its own end event, the exit code in its output, or what the output says.

The output is a string, a JSON text with metadata, an object, or a list of parts.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from sessionbank.transcripts.rows import as_json, joined, string

_EXIT = re.compile(r"(?:Process exited with code|Exit code:?) (-?\d+)")
_HEAD = 400  # the exit code stands above the output itself, which may quote another one
_REJECTED = (
    "exec command rejected by user",
    "patch rejected by user",
    "rejected by user",
    "user rejected",
    "user cancelled MCP tool call",
)
_ABORTED = ("aborted by user", "aborted", "command was interrupted", "The user interrupted")
_FAILED = (
    "failed to parse function arguments", "exec_command failed", "apply_patch verification failed", "unsupported call",
    "failed in sandbox", "write_stdin failed", "execution error", "err: ",
)  # fmt: skip


def from_event(payload: dict[str, Any]) -> tuple[bool | None, str | None]:
    """(is an error or not said, status) of an event that ends a call, as ``exec_command_end`` does."""
    code = payload.get("exit_code")
    if type(code) is int:
        return code != 0, None
    if type(payload.get("success")) is bool:
        return not payload["success"], None
    result = payload.get("result")
    if type(result) is dict and ("Ok" in result or "Err" in result):
        inner = result.get("Ok")
        return "Err" in result or (
            type(inner) is dict and (inner.get("is_error") or inner.get("isError")) is True
        ), None
    return None, None


def output_text(output: Any) -> str | None:
    """The text of an output, as the model saw it."""
    if type(output) is str:
        held = _decoded(output)
        return string(held.get("output")) or output if held is not None else output
    if type(output) is dict:
        return joined(output.get("content")) or string(output.get("text")) or as_json(output)
    return joined(output)


def outcome(
    output: Any, text: str | None, event: tuple[bool | None, str | None] | None
) -> tuple[bool | None, str | None]:
    """(is an error or not said, status where it is more than that) of a call with this output."""
    start = (text or "").lstrip()[:_HEAD]
    if start.startswith(_REJECTED) or start.removeprefix("err: ").startswith(_REJECTED):
        return True, "rejected"
    if start.startswith(_ABORTED):
        return None, "interrupted"
    if event is not None and event[0] is not None:
        return event
    held = _decoded(output) if type(output) is str else output
    if type(held) is dict:
        about = held.get("metadata")
        if type(about) is dict and type(about.get("exit_code")) is int:
            return about["exit_code"] != 0, None
        if type(held.get("success")) is bool:
            return not held["success"], None
    code = _EXIT.search(start.split("\nOutput:", 1)[0])
    if code:
        return int(code[1]) != 0, None
    return (None, "error") if start.startswith(_FAILED) else (None, None)


def _decoded(text: str) -> dict[str, Any] | None:
    """The object in an output that is JSON with a text and metadata, as shell tools wrote it until 2025."""
    if not text.startswith("{") or '"metadata"' not in text:
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if type(value) is dict and type(value.get("output")) is str else None
