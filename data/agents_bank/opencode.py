"""Writer of OpenCode transcripts: one JSON document; a call and its result are one part.

Ids of calls of the session with the option `redacted` are all `REDACTED`, as a redactor by entropy leaves them.
"""

from __future__ import annotations

from typing import Any

from .book import Ask, Records, Reply, Sheet, Step, Use

RECORDS = Records()
NAMES = {"run": "bash", "read": "read", "write": "write", "task": "task"}


def given(use: Use) -> dict[str, Any]:
    """The input of a tool."""
    if use.what == "run":
        return {"command": use.target, "description": "Run " + use.target.split()[0]}
    if use.what == "task":
        return {"description": use.target, "prompt": use.text, "subagent_type": "general"}
    return {"filePath": use.target} | ({"content": use.text} if use.what == "write" else {})


def write(sheet: Sheet, steps: list[Step]) -> None:
    """Write the steps."""
    session, ids, clock = sheet.session, sheet.ids, sheet.clock
    messages: list[dict[str, Any]] = []
    asked = ""

    def ms() -> int:
        return int(clock.tick().timestamp() * 1000)

    def native(kind: str) -> str:
        return f"{kind}_{ids.hex(12)}001{ids.text(13)}"

    info: dict[str, Any] = {"id": session.session_id, "slug": session.key, "directory": sheet.cwd}
    if session.parent is not None:
        info["parentID"] = session.parent.session_id
    begun = ms()
    for step in steps:
        own = native("msg")
        common = {"id": own, "sessionID": session.session_id}
        if isinstance(step, Ask):
            asked = own
            part = {
                "id": native("prt"),
                "sessionID": session.session_id,
                "messageID": own,
                "type": "text",
                "text": step.text,
            }
            messages.append(
                {
                    "info": common | {"role": "user", "agent": "build", "time": {"created": ms()}},
                    "parts": [part],
                }
            )
        elif isinstance(step, Reply):
            spent, created = step.spent, ms()
            counts = {
                "total": spent.input + spent.output + spent.cache_read + spent.cache_creation,
                "input": spent.input,
                "output": spent.output,
                "reasoning": spent.reasoning,
                "cache": {"read": spent.cache_read, "write": spent.cache_creation},
            }
            parts: list[dict[str, Any]] = [{"type": "step-start"}]
            if step.think:
                parts.append(
                    {"type": "reasoning", "text": step.think, "time": {"start": created, "end": ms()}}
                )
            if step.text:
                parts.append({"type": "text", "text": step.text})
            for use in step.uses:
                call = "REDACTED" if session.options.get("redacted") else "call_" + ids.text(24)
                state: dict[str, Any] = {
                    "status": "completed" if use.status == "ok" else "error",
                    "input": given(use),
                }
                if use.status == "rejected":
                    state["error"] = "The user rejected permission to use this specific tool call."
                elif use.status == "error":
                    state["error"] = use.result
                else:
                    state |= {
                        "output": use.result,
                        "title": use.target,
                        "metadata": {"exit": 0} if use.what == "run" else {},
                    }
                    if use.what == "task":
                        state["metadata"] = {"sessionId": session.options["child"]}
                parts.append(
                    {
                        "type": "tool",
                        "tool": NAMES[use.what],
                        "callID": call,
                        "state": state | {"time": {"start": ms(), "end": ms()}},
                    }
                )
            finish = "tool-calls" if step.uses else "stop"
            parts.append({"type": "step-finish", "reason": finish, "tokens": counts, "cost": 0})
            parts = [
                {"id": native("prt"), "sessionID": session.session_id, "messageID": own} | p for p in parts
            ]
            about = common | {
                "role": "assistant", "parentID": asked, "modelID": session.model, "providerID": "opencode", "mode": "build",
                "path": {"cwd": sheet.cwd, "root": sheet.cwd}, "cost": 0, "tokens": counts, "finish": finish,
                "time": {"created": created, "completed": ms()},
            }  # fmt: skip
            messages.append({"info": about, "parts": parts})
    info |= {
        "title": session.options.get("title", session.key),
        "version": "1.2.24",
        "time": {"created": begun, "updated": ms()},
    }
    sheet.document, sheet.units = {"info": info, "messages": messages}, len(messages)
