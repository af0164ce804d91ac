"""Writer of Pi sessions: a header, then entries that name the entry before them. A reply that was stopped stays there
as a draft; a compaction names the first entry that is kept.
"""

from __future__ import annotations

from typing import Any

from sample_bank.ids import stamp

from .book import Ask, Compact, Records, Reply, Sheet, Step, Use

RECORDS = Records(tokens=("input", "cache_creation", "cache_read", "output"))
NAMES = {"run": "bash", "read": "read", "write": "write"}


def given(use: Use) -> dict[str, Any]:
    """The arguments of a tool."""
    if use.what == "run":
        return {"command": use.target}
    return {"path": use.target} | ({"content": use.text} if use.what == "write" else {})


class Writer:
    """Writes one session."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.parent: str | None = None

    def put(self, kind: str, label: str | None = None, **body: Any) -> str:
        """One entry."""
        own = self.sheet.ids.hex(8)
        now = self.sheet.clock.tick()
        if "message" in body:
            body["message"]["timestamp"] = int(now.timestamp() * 1000)
        self.sheet.line({"type": kind, "id": own, "parentId": self.parent, "timestamp": stamp(now), **body})
        self.parent = own
        if label is not None:
            self.sheet.own(label, own)
        return own

    def reply(self, step: int, said: Reply) -> None:
        """A reply and the results of its calls."""
        sheet, spent = self.sheet, said.spent
        content: list[dict[str, Any]] = []
        if said.think:
            content.append(
                {"type": "thinking", "thinking": said.think, "thinkingSignature": sheet.ids.signature()}
            )
        if said.text:
            content.append({"type": "text", "text": said.text})
        calls = [(sheet.ids.tool(), u) for u in said.uses]
        content += [
            {"type": "toolCall", "id": c, "name": NAMES[u.what], "arguments": given(u)} for c, u in calls
        ]
        counts = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
        if spent is not None:
            counts = {
                "input": spent.input,
                "output": spent.output,
                "cacheRead": spent.cache_read,
                "cacheWrite": spent.cache_creation,
            }
        message = {
            "role": "assistant", "content": content, "api": "anthropic-messages", "provider": "anthropic",
            "model": sheet.session.model, "usage": counts | {"totalTokens": sum(counts.values())},
            "stopReason": "aborted" if said.broken else "toolUse" if calls else "stop",
        }  # fmt: skip
        if said.broken:
            message["errorMessage"] = "Operation aborted"
        else:
            message["responseId"] = sheet.ids.message()
        self.put("message", str(step), message=message)
        for call, use in calls:
            if use.status == "no_result":
                continue
            result = {
                "role": "toolResult", "toolCallId": call, "toolName": NAMES[use.what],
                "content": [{"type": "text", "text": use.result}], "isError": use.status == "error",
            }  # fmt: skip
            self.put("message", f"{step}r", message=result)


def write(sheet: Sheet, steps: list[Step]) -> None:
    """Write the steps."""
    writer = Writer(sheet)
    sheet.line(
        {
            "type": "session",
            "version": 3,
            "id": sheet.session.session_id,
            "timestamp": stamp(sheet.clock.now),
            "cwd": sheet.cwd,
        }
    )
    start = writer.put("model_change", provider="anthropic", modelId=sheet.session.model)
    for number, step in enumerate(steps):
        if isinstance(step, Ask):
            if step.again:
                writer.parent = start
            writer.put(
                "message",
                str(number),
                message={"role": "user", "content": [{"type": "text", "text": step.text}]},
            )
        elif isinstance(step, Compact):
            kept = sheet.native[str(step.keep)][0]
            writer.put(
                "compaction", str(number), summary=step.summary, firstKeptEntryId=kept, tokensBefore=9100
            )
        elif isinstance(step, Reply):
            writer.reply(number, step)
