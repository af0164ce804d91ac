"""Writer of Codex rollouts: each text stands twice, and token counts are running totals of the session."""

from __future__ import annotations

import json
from typing import Any

from sample_bank.ids import stamp

from .book import Ask, Records, Reply, Sheet, Spent, Step, Use

RECORDS = Records(tokens=("input", "cache_read", "output", "reasoning"), ids=False)


class Writer:
    """Writes one session."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.total = dict.fromkeys(
            ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens"), 0
        )

    def put(self, kind: str, **payload: Any) -> None:
        """One line."""
        self.sheet.line(
            {"timestamp": stamp(self.sheet.clock.tick(0.05, 0.9)), "type": kind, "payload": payload}
        )

    def said(self, role: str, text: str) -> None:
        """A message as the model is given it."""
        part = "output_text" if role == "assistant" else "input_text"
        self.put("response_item", type="message", role=role, content=[{"type": part, "text": text}])

    def counted(self, spent: Spent) -> None:
        """The running total after a call."""
        last = {
            "input_tokens": spent.input + spent.cache_read,
            "cached_input_tokens": spent.cache_read,
            "output_tokens": spent.output,
            "reasoning_output_tokens": spent.reasoning,
        }
        self.total = {k: v + last[k] for k, v in self.total.items()}
        info = {
            "total_token_usage": self.total
            | {"total_tokens": self.total["input_tokens"] + self.total["output_tokens"]},
            "last_token_usage": last | {"total_tokens": last["input_tokens"] + last["output_tokens"]},
            "model_context_window": 272000,
        }
        self.put("event_msg", type="token_count", info=info, rate_limits={"primary": {"used_percent": 3.0}})

    def use(self, use: Use) -> None:
        """A call, its end and its output."""
        call = "call_" + self.sheet.ids.text(24)
        if use.what == "write":
            lines = "".join(f"+{line}\n" for line in use.text.splitlines())
            patch = f"*** Begin Patch\n*** Add File: {use.target}\n{lines}*** End Patch"
            self.put(
                "response_item",
                type="custom_tool_call",
                status="completed",
                call_id=call,
                name="apply_patch",
                input=patch,
            )
            self.put(
                "event_msg", type="patch_apply_end", call_id=call, stdout=use.result, stderr="", success=True
            )
            output = json.dumps({"output": use.result, "metadata": {"exit_code": 0, "duration_seconds": 0.1}})
            self.put("response_item", type="custom_tool_call_output", call_id=call, output=output)
            return
        arguments = json.dumps({"cmd": use.target, "workdir": self.sheet.cwd})
        self.put(
            "response_item", type="function_call", name="exec_command", arguments=arguments, call_id=call
        )
        code = 0 if use.status == "ok" else 1
        text = f"Chunk ID: {self.sheet.ids.hex(6)}\nWall time: 0.4 seconds\nProcess exited with code {code}\nOutput:\n{use.result}\n"
        if use.status == "rejected":
            text = "exec command rejected by user"
        self.put("response_item", type="function_call_output", call_id=call, output=text)


def write(sheet: Sheet, steps: list[Step]) -> None:
    """Write the steps."""
    writer = Writer(sheet)
    turn = 0
    writer.put("session_meta", id=sheet.session.session_id, timestamp=stamp(sheet.clock.now), cwd=sheet.cwd,
               originator="codex_cli_rs", cli_version="0.114.0", source="cli", model_provider="openai")  # fmt: skip
    writer.said(
        "developer",
        "<permissions instructions>\nAsk before you leave the folder.\n</permissions instructions>",
    )
    writer.said(
        "user",
        f"<environment_context>\n  <cwd>{sheet.cwd}</cwd>\n  <shell>bash</shell>\n</environment_context>",
    )
    for number, step in enumerate(steps):
        if isinstance(step, Ask):
            turn += 1
            sheet.clock.jump(minutes=2)
            writer.put("event_msg", type="task_started", turn_id=f"turn-{turn}")
            writer.put(
                "turn_context",
                turn_id=f"turn-{turn}",
                cwd=sheet.cwd,
                model=sheet.session.model,
                effort="medium",
            )
            writer.said("user", step.text)
            writer.put("event_msg", type="user_message", message=step.text, images=[])
            writer.put(
                "event_msg", type="token_count", info=None, rate_limits={"primary": {"used_percent": 3.0}}
            )
        elif isinstance(step, Reply):
            if step.think:
                writer.put("event_msg", type="agent_reasoning", text=step.think)
                summary = [{"type": "summary_text", "text": step.think}]
                writer.put(
                    "response_item",
                    type="reasoning",
                    summary=summary,
                    content=None,
                    encrypted_content=sheet.ids.text(40),
                )
            if step.text:
                writer.put("event_msg", type="agent_message", message=step.text)
                writer.said("assistant", step.text)
            for use in step.uses:
                writer.use(use)
            writer.counted(step.spent)
            if not isinstance(steps[number + 1] if number + 1 < len(steps) else None, Reply):
                # the same total again, at the end of the turn
                same = json.loads(sheet.lines[-1])["payload"]
                writer.put("event_msg", **same)
                writer.put(
                    "event_msg",
                    type="task_complete",
                    turn_id=f"turn-{turn}",
                    last_agent_message=step.text or None,
                )
