"""Writers of Gemini CLI transcripts: one JSON document, and the later log (`Log`) in which a message is written again
whenever it grew. `cached` is inside `input`, `thoughts` is outside `output`.
"""

from __future__ import annotations

import hashlib
from typing import Any

from sample_bank.ids import stamp

from .book import Aside, Ask, Records, Reply, Sheet, Step, Use

RECORDS = Records(tokens=("input", "cache_read", "output", "reasoning"), cwd=False)
NAMES = {"run": "run_shell_command", "read": "read_file", "write": "write_file"}
STATUS = {"ok": "success", "error": "error", "rejected": "cancelled"}


def call(sheet: Sheet, use: Use) -> dict[str, Any]:
    """A tool call with its result."""
    name = NAMES[use.what]
    args = {"command": use.target} if use.what == "run" else {"file_path": use.target}
    if use.what == "write":
        args["content"] = use.text
    own = f"{name}-{int(sheet.clock.now.timestamp() * 1000)}-{sheet.ids.hex(12)}"
    text = use.result if use.status != "rejected" else "User cancelled the operation."
    response = {
        "functionResponse": {
            "id": own,
            "name": name,
            "response": {"error" if use.status != "ok" else "output": text},
        }
    }
    return {
        "id": own,
        "name": name,
        "args": args,
        "result": [response],
        "status": STATUS[use.status],
        "timestamp": stamp(sheet.clock.tick()),
        "displayName": name,
    }


def message(sheet: Sheet, step: Step) -> dict[str, Any]:
    """One message."""
    base = {"id": sheet.ids.uuid(), "timestamp": stamp(sheet.clock.tick())}
    if isinstance(step, Ask):
        return base | {"type": "user", "content": step.text}
    if isinstance(step, Aside):
        return base | {"type": "info", "content": step.text}
    assert isinstance(step, Reply)
    spent = step.spent
    counts = {
        "input": spent.input + spent.cache_read,
        "output": spent.output - spent.reasoning,
        "cached": spent.cache_read,
        "thoughts": spent.reasoning,
        "tool": 0,
    }
    thoughts = (
        [{"subject": "Thinking", "description": step.think, "timestamp": base["timestamp"]}]
        if step.think
        else []
    )
    out = base | {"type": "gemini", "content": step.text, "thoughts": thoughts, "model": sheet.session.model}
    out["tokens"] = counts | {"total": spent.input + spent.cache_read + spent.output}
    if step.uses:
        out["toolCalls"] = [call(sheet, u) for u in step.uses]
    return out


def header(sheet: Sheet) -> dict[str, Any]:
    """What both forms begin with."""
    begun = stamp(sheet.clock.now)
    folder = hashlib.sha256(sheet.cwd.encode()).hexdigest()
    return {
        "sessionId": sheet.session.session_id,
        "projectHash": folder,
        "startTime": begun,
        "lastUpdated": begun,
    }


def write(sheet: Sheet, steps: list[Step]) -> None:
    """Write the steps as one document."""
    head = header(sheet)
    messages = [message(sheet, s) for s in steps]
    sheet.document, sheet.units = (
        head | {"lastUpdated": stamp(sheet.clock.now), "messages": messages},
        len(messages),
    )


class Log:
    """The later form."""

    RECORDS = Records(tokens=("input", "cache_read", "output", "reasoning"))

    @staticmethod
    def write(sheet: Sheet, steps: list[Step]) -> None:
        """Write the steps as a log: a reply with tools stands there twice, first without its counts' end."""
        sheet.line(header(sheet) | {"kind": "main", "directories": [sheet.cwd]})
        for step in steps:
            made = message(sheet, step)
            if isinstance(step, Ask):
                made["content"] = [{"text": step.text}]
            if "toolCalls" in made:
                early = {k: v for k, v in made.items() if k != "toolCalls"}
                early["tokens"] = made["tokens"] | {"output": 1, "thoughts": 0}
                sheet.line(early)
            sheet.line(made)
            sheet.line({"$set": {"lastUpdated": stamp(sheet.clock.now)}})
