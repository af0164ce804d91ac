"""Writers of two logs of events: Copilot CLI (`Copilot`), which states input and cache only as sums of a run, and
Factory Droid (`Droid`), which states no tokens at all.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sample_bank.ids import stamp

from .book import Aside, Ask, Records, Reply, Sheet, Step, Use
from .claude import REFUSED


class Copilot:
    """GitHub Copilot CLI."""

    RECORDS = Records(tokens=("input", "cache_creation", "cache_read", "output"))
    NAMES: ClassVar = {"run": "bash", "read": "view", "write": "create"}

    @classmethod
    def write(cls, sheet: Sheet, steps: list[Step]) -> None:
        """Write the steps; after step `run_of` the program ends, and is started again."""
        ids, session = sheet.ids, sheet.session
        parent: str | None = None

        def put(kind: str, **data: Any) -> None:
            nonlocal parent
            own = ids.uuid()
            sheet.line(
                {
                    "type": kind,
                    "data": data,
                    "id": own,
                    "timestamp": stamp(sheet.clock.tick(0.1, 2)),
                    "parentId": parent,
                }
            )
            parent = own

        context = {"cwd": sheet.cwd, "gitRoot": sheet.cwd, "branch": "main", "repository": "harbour/tides"}
        put(
            "session.start",
            sessionId=session.session_id,
            version=1,
            producer="copilot-agent",
            copilotVersion="1.0.20",
            context=context,
        )
        interaction, run = "", []
        for number, step in enumerate(steps):
            if isinstance(step, Ask):
                interaction = ids.uuid()
                put(
                    "user.message",
                    content=step.text,
                    transformedContent=f"<current_datetime/>\n\n{step.text}",
                    attachments=[],
                    interactionId=interaction,
                )
                put("assistant.turn_start", turnId="0", interactionId=interaction)
            elif isinstance(step, Reply):
                run.append(step)
                calls = [("tooluse_" + ids.text(22), u) for u in step.uses]
                asked = [
                    {
                        "toolCallId": c,
                        "name": cls.NAMES[u.what],
                        "arguments": cls.given(u),
                        "type": "function",
                    }
                    for c, u in calls
                ]
                more = {"reasoningOpaque": ids.text(40), "reasoningText": step.think} if step.think else {}
                put(
                    "assistant.message",
                    messageId=ids.uuid(),
                    content=step.text,
                    toolRequests=asked,
                    interactionId=interaction,
                    **more,
                    outputTokens=step.spent.output,
                )
                for call, use in calls:
                    put(
                        "tool.execution_start",
                        toolCallId=call,
                        toolName=cls.NAMES[use.what],
                        arguments=cls.given(use),
                    )
                    ended: dict[str, Any] = {"success": use.status == "ok"}
                    if use.status == "ok":
                        ended["result"] = {"content": use.result, "detailedContent": use.result}
                    elif use.status == "rejected":
                        ended["error"] = {"message": "The user rejected this tool call.", "code": "rejected"}
                    else:
                        ended["error"] = {"message": use.result, "code": "failure"}
                    put(
                        "tool.execution_complete",
                        toolCallId=call,
                        model=session.model,
                        interactionId=interaction,
                        **ended,
                        toolTelemetry={},
                    )
            if number + 1 == session.options["run_of"]:
                put("assistant.turn_end", turnId="0")
                sums = {
                    "inputTokens": sum(r.spent.input + r.spent.cache_read for r in run),
                    "outputTokens": sum(r.spent.output for r in run),
                    "cacheReadTokens": sum(r.spent.cache_read for r in run),
                    "cacheWriteTokens": sum(r.spent.cache_creation for r in run),
                }
                metrics = {session.model: {"requests": {"count": len(run), "cost": 1}, "usage": sums}}
                put(
                    "session.shutdown",
                    shutdownType="routine",
                    totalPremiumRequests=1,
                    modelMetrics=metrics,
                    currentModel=session.model,
                )
                if number + 1 < len(steps):
                    put(
                        "session.resume",
                        resumeTime=stamp(sheet.clock.jump(minutes=20)),
                        selectedModel=session.model,
                        context=context,
                    )

    @staticmethod
    def given(use: Use) -> dict[str, Any]:
        """The input of a tool."""
        if use.what == "run":
            return {"command": use.target, "description": "Run " + use.target.split()[0]}
        return {"path": use.target} | ({"file_text": use.text} if use.what == "write" else {})


class Droid:
    """Factory Droid."""

    RECORDS = Records(tokens=(), models=False)
    NAMES: ClassVar = {"run": "Execute", "read": "Read", "write": "Create"}

    @classmethod
    def write(cls, sheet: Sheet, steps: list[Step]) -> None:
        """Write the steps."""
        ids, session = sheet.ids, sheet.session
        parent: str | None = None

        def put(role: str, content: list[dict[str, Any]]) -> None:
            nonlocal parent
            own = ids.uuid()
            line = {
                "type": "message",
                "id": own,
                "timestamp": stamp(sheet.clock.tick()),
                "message": {"role": role, "content": content},
            }
            sheet.line(line | ({"parentId": parent} if parent else {}))
            parent = own

        sheet.line(
            {
                "type": "session_start",
                "id": session.session_id,
                "title": session.key,
                "sessionTitle": "New Session",
                "owner": session.who,
                "version": 2,
                "cwd": sheet.cwd,
            }
        )
        before: list[dict[str, Any]] = []
        for step in steps:
            if isinstance(step, Aside):
                before = [{"type": "text", "text": f"<system-reminder>{step.text}</system-reminder>"}]
            elif isinstance(step, Ask):
                put("user", [*before, {"type": "text", "text": step.text}])
                before = []
            elif isinstance(step, Reply):
                calls = [(ids.tool(), u) for u in step.uses]
                blocks: list[dict[str, Any]] = []
                if step.think:
                    blocks.append({"type": "thinking", "thinking": step.think, "signature": ids.signature()})
                if step.text:
                    blocks.append({"type": "text", "text": step.text})
                put(
                    "assistant",
                    blocks
                    + [
                        {"type": "tool_use", "id": c, "name": cls.NAMES[u.what], "input": cls.given(u)}
                        for c, u in calls
                    ],
                )
                results = []
                for call, use in calls:
                    text = REFUSED if use.status == "rejected" else use.result
                    block = {"type": "tool_result", "tool_use_id": call, "content": text}
                    results.append(block | ({"is_error": True} if use.status != "ok" else {}))
                if results:
                    put("user", results)

    @staticmethod
    def given(use: Use) -> dict[str, Any]:
        """The input of a tool."""
        if use.what == "run":
            return {"command": use.target, "riskLevel": "low"}
        return {"file_path": use.target} | ({"content": use.text} if use.what == "write" else {})
