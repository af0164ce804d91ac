"""Lines of Claude Code transcripts, as that program writes them. Each method adds a line and gives it as a dict.

`Claude("session")` is one conversation; `bytes()` is its transcript. A line's uuid follows from the session and its
number, so the same story gives the same bytes.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

NAMESPACE = uuid.UUID("00000000-0000-4000-8000-00000000c0de")
START = datetime(2026, 2, 1, 10, tzinfo=UTC)
MODEL = "claude-opus-4-5-20251101"


def jsonl(lines: Iterable[Any]) -> bytes:
    """Lines as a transcript; without a final newline, as most stored ones are. Bytes pass as they are."""
    return b"\n".join(v if isinstance(v, bytes) else json.dumps(v).encode() for v in lines)


def usage(
    output: int, *, input: int = 3, write: int = 0, read: int = 0, hour: int | None = None
) -> dict[str, Any]:
    """A usage object of a reply."""
    found: dict[str, Any] = {
        "input_tokens": input,
        "cache_creation_input_tokens": write,
        "cache_read_input_tokens": read,
        "output_tokens": output,
    }
    if hour is not None:
        found["cache_creation"] = {
            "ephemeral_1h_input_tokens": hour,
            "ephemeral_5m_input_tokens": write - hour,
        }
    return found


class Claude:
    """One conversation, line after line."""

    def __init__(
        self,
        session_id: str = "11111111-2222-4333-8444-555555555555",
        *,
        start: datetime = START,
        cwd: str = "/srv/shop",
    ) -> None:
        self.session_id, self.start, self.cwd = session_id, start, cwd
        self.lines: list[dict[str, Any]] = []
        self.last: str | None = None

    def bytes(self, begin: int = 0, end: int | None = None) -> bytes:
        """The transcript, or a part of its lines."""
        return jsonl(self.lines[begin:end])

    def line(self, kind: str, **keys: Any) -> dict[str, Any]:
        """A line of any type with the usual keys; given keys win, and None leaves a key out."""
        number = len(self.lines)
        own = str(uuid.uuid5(NAMESPACE, f"{self.session_id}:{number}"))
        when = (self.start + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        base = {
            "parentUuid": self.last,
            "isSidechain": False,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session_id,
            "version": "2.1.37",
            "gitBranch": "main",
            "type": kind,
            "uuid": own,
            "timestamp": when,
        }
        value = {k: v for k, v in {**base, **keys}.items() if v is not None or k == "parentUuid"}
        self.lines.append(value)
        self.last = value.get("uuid", self.last)
        return value

    def prompt(self, text: str = "please", **keys: Any) -> dict[str, Any]:
        """What a person typed."""
        return self.line("user", message={"role": "user", "content": text}, **keys)

    def reply(
        self,
        *blocks: dict[str, Any] | str,
        message_id: str = "msg_1",
        output: int = 10,
        model: str = MODEL,
        stop: str | None = "end_turn",
        tokens: dict[str, Any] | None = None,
        **keys: Any,
    ) -> dict[str, Any]:
        """A line of a model's reply."""
        content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks or ("done",)]
        message = {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": content,
            "stop_reason": stop,
            "usage": usage(output) if tokens is None else tokens,
        }
        return (
            self.line("assistant", message=message, requestId=f"req_{message_id}", **keys)
            if "requestId" not in keys
            else self.line("assistant", message=message, **keys)
        )

    def result(
        self,
        call_id: str,
        content: Any = "fine",
        *,
        is_error: bool | None = None,
        data: Any = None,
        **keys: Any,
    ) -> dict[str, Any]:
        """The result of a tool call."""
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        if is_error is not None:
            block["is_error"] = is_error
        extra = {"toolUseResult": data} if data is not None else {}
        return self.line("user", message={"role": "user", "content": [block]}, **extra, **keys)

    def progress(self, nested: dict[str, Any], *, call_id: str, agent_id: str = "a1b2c3d") -> dict[str, Any]:
        """A progress line that holds a line of a subagent."""
        data = {
            "type": "agent_progress",
            "agentId": agent_id,
            "prompt": "look",
            "message": nested,
            "normalizedMessages": [],
        }
        return self.line("progress", data=data, parentToolUseID=call_id, toolUseID=f"agent_{call_id}")


def tool(call_id: str, name: str = "Bash", **given: Any) -> dict[str, Any]:
    """A tool use block."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def nested_reply(
    key: str, *blocks: dict[str, Any], message_id: str, output: int, model: str = "claude-haiku-4-5-20251001"
) -> dict[str, Any]:
    """A subagent's reply as it stands inside a progress line."""
    message = {
        "id": message_id,
        "role": "assistant",
        "model": model,
        "content": list(blocks) or [{"type": "text", "text": "sub"}],
        "stop_reason": None,
        "usage": usage(output),
    }
    own = str(uuid.uuid5(NAMESPACE, key))
    return {
        "type": "assistant",
        "uuid": own,
        "timestamp": "2026-02-01T10:30:00.000Z",
        "requestId": f"req_{message_id}",
        "message": message,
    }


def nested_result(
    key: str, call_id: str, content: Any = "fine", *, is_error: bool | None = None
) -> dict[str, Any]:
    """A tool result of a subagent as it stands inside a progress line."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content} | (
        {} if is_error is None else {"is_error": is_error}
    )
    own = str(uuid.uuid5(NAMESPACE, key))
    return {
        "type": "user",
        "uuid": own,
        "timestamp": "2026-02-01T10:30:05.000Z",
        "message": {"role": "user", "content": [block]},
    }
