"""Writer of Claude Code transcripts: a line a block of a reply, results as lines of the user, a boundary where the
context is compacted. Usage stands on every line of a reply; the first ones state less than the last.
"""

from __future__ import annotations

from typing import Any

from sample_bank.ids import stamp

from .book import Aside, Ask, Compact, Records, Reply, Sheet, Step, Use

# What a model thinks is inside its output; no figure of its own is recorded.
RECORDS = Records(tokens=("input", "cache_creation", "cache_read", "output"))
NAMES = {"run": "Bash", "read": "Read", "write": "Write", "task": "Task"}
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
)


def given(use: Use) -> dict[str, Any]:
    """The input of a tool."""
    if use.what == "run":
        return {"command": use.target, "description": "Run " + use.target.split()[0]}
    if use.what == "read":
        return {"file_path": use.target}
    return {"file_path": use.target, "content": use.text}


class Writer:
    """Writes one session."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet, self.parent = sheet, None

    def row(self, label: str, kind: str, **body: Any) -> str:
        """A line with a uuid, chained to the one before."""
        sheet, uuid = self.sheet, self.sheet.ids.uuid()
        sheet.line(
            {
                "parentUuid": body.pop("parentUuid", self.parent),
                **{k: body.pop(k) for k in ("logicalParentUuid",) if k in body},
                "isSidechain": False,
                "userType": "external",
                "cwd": sheet.cwd,
                "sessionId": sheet.session.session_id,
                "version": "2.1.70",
                "gitBranch": "main",
                "type": kind,
                **body,
                "uuid": uuid,
                "timestamp": stamp(sheet.clock.now),
            }
        )
        self.parent = uuid
        if kind != "system":
            sheet.own(label, uuid)
        return uuid

    def reply(self, step: int, said: Reply) -> None:
        """The lines of one reply, then those of its results."""
        ids, spent = self.sheet.ids, said.spent
        message_id, request = ids.message(), ids.request()
        blocks: list[dict[str, Any]] = []
        if said.think:
            blocks.append({"type": "thinking", "thinking": said.think, "signature": ids.signature()})
        if said.text:
            blocks.append({"type": "text", "text": said.text})
        calls = [(ids.tool(), use) for use in said.uses]
        blocks += [{"type": "tool_use", "id": c, "name": NAMES[u.what], "input": given(u)} for c, u in calls]
        for at, block in enumerate(blocks):
            self.sheet.clock.tick()
            is_last = at == len(blocks) - 1
            usage = {
                "input_tokens": spent.input,
                "cache_creation_input_tokens": spent.cache_creation,
                "cache_read_input_tokens": spent.cache_read,
                "output_tokens": spent.output if is_last else 1,
                "service_tier": "standard",
            }
            message = {
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "model": self.sheet.session.model,
                "content": [block],
                "stop_reason": ("tool_use" if calls else "end_turn") if is_last else None,
                "usage": usage,
            }
            self.row(str(step), "assistant", message=message, requestId=request)
        for call, use in calls:
            self.sheet.clock.tick()
            if use.status == "no_result":
                continue
            text = REFUSED if use.status == "rejected" else use.result
            block = {"type": "tool_result", "tool_use_id": call, "content": text}
            if use.status != "ok":
                block["is_error"] = True
            self.row(f"{step}r", "user", message={"role": "user", "content": [block]})


def write(sheet: Sheet, steps: list[Step]) -> None:
    """Write the steps."""
    writer = Writer(sheet)
    for number, step in enumerate(steps):
        sheet.clock.tick()
        if isinstance(step, Ask):
            writer.row(str(number), "user", message={"role": "user", "content": step.text})
        elif isinstance(step, Aside):
            text = f"<system-reminder>\n{step.text}\n</system-reminder>"
            writer.row(str(number), "user", message={"role": "user", "content": text}, isMeta=True)
        elif isinstance(step, Compact):
            last = writer.parent
            writer.row(
                str(number),
                "system",
                parentUuid=None,
                logicalParentUuid=last,
                subtype="compact_boundary",
                content="Conversation compacted",
                isMeta=False,
                level="info",
                compactMetadata={"trigger": "manual", "preTokens": 41200},
            )
            text = (
                "This session is being continued from a previous conversation that ran out of context.\n"
                + step.summary
            )
            writer.row(
                str(number),
                "user",
                message={"role": "user", "content": text},
                isCompactSummary=True,
                isVisibleInTranscriptOnly=True,
            )
        else:
            writer.reply(number, step)
