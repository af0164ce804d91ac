"""Writers of the formats that say least: Cursor, Kiro, a plugin whose message is a plain string, Entire's own compact
transcript of a Claude Code session, and an agent that nobody knows.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sample_bank.ids import stamp

from . import claude
from .book import Aside, Ask, Records, Reply, Sheet, Step, Use


class Cursor:
    """No ids, no times, no results, no usage."""

    RECORDS = Records(calls=False, tokens=(), results=False, times=False, ids=False, models=False, cwd=False)
    NAMES: ClassVar = {"run": "Shell", "read": "Read", "write": "Write"}

    @classmethod
    def write(cls, sheet: Sheet, steps: list[Step]) -> None:
        """Write the steps."""
        for step in steps:
            if isinstance(step, Ask):
                text = f"<open_files>\ntides.py\n</open_files>\n<user_query>\n{step.text}\n</user_query>"
                sheet.line({"role": "user", "message": {"content": [{"type": "text", "text": text}]}})
            elif isinstance(step, Reply):
                uses = [
                    {"type": "tool_use", "name": cls.NAMES[u.what], "input": cls.given(u)} for u in step.uses
                ]
                sheet.line(
                    {
                        "role": "assistant",
                        "message": {"content": [{"type": "text", "text": step.text}, *uses]},
                    }
                )

    @staticmethod
    def given(use: Use) -> dict[str, Any]:
        """The input of a tool."""
        if use.what == "run":
            return {"command": use.target}
        return {"path": use.target} | ({"contents": use.text} if use.what == "write" else {})


class Kiro:
    """Empty ids, no times, no tokens; results stand on the user's side of the next turn."""

    RECORDS = Records(tokens=(), times=False, ids=False, models=False, cwd=False)
    NAMES: ClassVar = {"run": "execute_bash", "read": "fs_read", "write": "fs_write"}

    @classmethod
    def write(cls, sheet: Sheet, steps: list[Step]) -> None:
        """Write the steps."""
        history: list[dict[str, Any]] = []
        waiting: dict[str, Any] | None = None
        for step in steps:
            if isinstance(step, Ask):
                waiting = {"Prompt": {"prompt": step.text}}
            elif isinstance(step, Reply):
                uses = [{"id": "", "name": cls.NAMES[u.what], "args": cls.given(u)} for u in step.uses]
                said: dict[str, Any] = {"message_id": "", "content": step.text}
                answer = {"ToolUse": said | {"tool_uses": uses}} if uses else {"Response": said}
                history.append({"user": {"content": waiting}, "assistant": answer})
                results = [
                    {
                        "tool_use_id": "",
                        "content": [{"Text": u.result}],
                        "status": "Success" if u.status == "ok" else "Error",
                    }
                    for u in step.uses
                ]
                waiting = {"ToolUseResults": {"tool_use_results": results}} if results else None
        sheet.document, sheet.units = {"conversation_id": "", "history": history}, len(history)

    @staticmethod
    def given(use: Use) -> dict[str, Any]:
        """The input of a tool."""
        if use.what == "run":
            return {"command": use.target}
        return {"path": use.target} | (
            {"command": "create", "file_text": use.text} if use.what == "write" else {}
        )


class Plugin:
    """Text and times."""

    RECORDS = Records(calls=False, tokens=(), tools=False, models=False, cwd=False)

    @staticmethod
    def write(sheet: Sheet, steps: list[Step]) -> None:
        """Write the steps."""
        for step in steps:
            who = "user" if isinstance(step, Ask) else "assistant"
            assert isinstance(step, Ask | Reply)
            sheet.line(
                {
                    "type": who,
                    "message": step.text,
                    "timestamp": stamp(sheet.clock.tick()),
                    "id": sheet.ids.uuid(),
                }
            )


class Compact:
    """Entire's compact `transcript.jsonl` of a Claude Code session whose full transcript was not stored."""

    RECORDS = Records(tokens=("input", "output"), ids=False, models=False, cwd=False)

    @staticmethod
    def write(sheet: Sheet, steps: list[Step]) -> None:
        """Write the steps: a reply is one line, its results are inside its calls, its thoughts are dropped."""
        head = {"v": 1, "agent": "claude-code", "cli_version": "0.9.2"}
        for step in steps:
            when = stamp(sheet.clock.tick())
            if isinstance(step, Ask):
                sheet.line(
                    head
                    | {"type": "user", "ts": when, "content": [{"id": sheet.ids.uuid(), "text": step.text}]}
                )
            elif isinstance(step, Reply):
                spent = step.spent
                content: list[dict[str, Any]] = [{"type": "text", "text": step.text}] if step.text else []
                for use in step.uses:
                    result = {"output": use.result, "status": "success" if use.status == "ok" else "error"}
                    content.append(
                        {
                            "type": "tool_use",
                            "id": sheet.ids.tool(),
                            "name": claude.NAMES[use.what],
                            "input": claude.given(use),
                            "result": result,
                        }
                    )
                counts = {"input_tokens": spent.input, "output_tokens": spent.output}
                sheet.line(
                    head
                    | {
                        "type": "assistant",
                        "ts": when,
                        "id": sheet.ids.message(),
                        **counts,
                        "content": content,
                    }
                )


class Unknown:
    """A format that no reader knows."""

    RECORDS = Records(calls=False, tokens=(), tools=False, parts=False, ids=False, models=False, cwd=False)

    @staticmethod
    def write(sheet: Sheet, steps: list[Step]) -> None:
        """Write the steps."""
        for step in steps:
            assert isinstance(step, Ask | Reply | Aside)
            what = {"Ask": "heard", "Reply": "spoken", "Aside": "noted"}[type(step).__name__]
            sheet.line({"op": what, "ts": stamp(sheet.clock.tick()), "words": step.text})
