"""What people and the program itself write into a Claude Code transcript: prompts, queues, commands, interruptions.

A mixin of the session in claude.py, which has the rows, the clock and the context.
"""

from __future__ import annotations

from typing import Any

from .ids import stamp

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Person:
    """The lines that no model wrote. The attributes that it uses are the session's."""

    lines: list
    prompts: list[str]
    session_id: str
    version: str
    new_style: bool
    parent: str | None
    pending: int
    context: int
    ids: Any
    clock: Any
    row: Any
    bare: Any

    def start(self) -> None:
        """The lines that open a session: a hook; newer versions write a mode and an attachment too."""
        if self.new_style:
            self.bare({"type": "permission-mode", "permissionMode": "default", "sessionId": self.session_id})
        self.hook("SessionStart:startup", self.ids.uuid())
        if self.version > "2.1.8":
            self.row(
                "attachment",
                {
                    "attachment": {
                        "type": "deferred_tools_delta",
                        "addedNames": ["WebFetch", "WebSearch"],
                        "addedLines": ["WebFetch", "WebSearch"],
                        "removedNames": [],
                    }
                },
            )

    def hook(self, name: str, call: str) -> None:
        """A hook of the person's settings ran."""
        self.row(
            "progress",
            {
                "data": {
                    "type": "hook_progress",
                    "hookEvent": name.split(":")[0],
                    "hookName": name,
                    "command": f"entire hooks claude-code {name.split(':')[0].lower()}",
                },
                "parentToolUseID": call,
                "toolUseID": call,
            },
        )

    def snapshot_line(self) -> None:
        """A file history snapshot (no uuid, no session id)."""
        ident = self.ids.uuid()
        self.bare(
            {
                "type": "file-history-snapshot",
                "messageId": ident,
                "snapshot": {
                    "messageId": ident,
                    "trackedFileBackups": {},
                    "timestamp": stamp(self.clock.now),
                },
                "isSnapshotUpdate": False,
            }
        )

    def prompt(self, text: str, *, image: bool = False, as_list: bool = False, pause: float = 2.0) -> str:
        """What a person typed."""
        if not self.lines:
            self.start()
        elif self.parent:
            self.clock.jump(minutes=pause)
        self.clock.tick(0.2, 2)
        self.snapshot_line()
        self.turn_started = self.clock.now
        content: str | list = text
        if image:
            content = [
                {"type": "text", "text": text},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
            ]
        elif as_list:
            content = [{"type": "text", "text": text}]
        self.prompts.append(text)
        self.pending += len(text) // 4 + 20
        extra = (
            {"promptId": self.ids.uuid()}
            if self.new_style
            else {"thinkingMetadata": {"maxThinkingTokens": 31999}, "todos": [], "permissionMode": "default"}
        )
        return self.row("user", {"message": {"role": "user", "content": content}}, ("prompt",), **extra)

    def enqueue(self, text: str) -> None:
        """A prompt typed while a tool runs enters the queue."""
        self.bare(
            {
                "type": "queue-operation",
                "operation": "enqueue",
                "timestamp": stamp(self.clock.now),
                "sessionId": self.session_id,
                "content": text,
            }
        )

    def dequeue(self, operation: str = "remove", text: str | None = None) -> None:
        """A queued prompt leaves the queue: delivered, taken back or dropped."""
        record = {
            "type": "queue-operation",
            "operation": operation,
            "timestamp": stamp(self.clock.now),
            "sessionId": self.session_id,
        }
        self.bare(record | ({"content": text} if text else {}))

    def queued(self, text: str, *, mode: str = "prompt") -> None:
        """A queued prompt arrives in mid-turn, as an attachment and nowhere else."""
        self.enqueue(text)
        self.clock.tick(1, 3)
        self.dequeue()
        facts = [("queued",)] if mode == "prompt" else []
        if mode == "prompt":
            self.prompts.append(text)
        self.row(
            "attachment",
            {"attachment": {"type": "queued_command", "prompt": text, "commandMode": mode}},
            *facts,
        )

    def command(self, name: str, *, args: str = "", out: str = "") -> None:
        """A slash command of the program, with its output."""
        self.clock.jump(minutes=0.5)
        self.meta(
            "<local-command-caveat>Caveat: The messages below were generated by the user while running local "
            "commands. DO NOT respond to these messages or otherwise consider them in your response unless the "
            "user explicitly asks you to.</local-command-caveat>"
        )
        self.user_text(
            f"<command-name>/{name}</command-name>\n            <command-message>{name}</command-message>\n"
            f"            <command-args>{args}</command-args>"
        )
        self.user_text(f"<local-command-stdout>{out}</local-command-stdout>")

    def custom_command(self, name: str, body: str) -> None:
        """A slash command of the project: its name, then its text as a meta row."""
        self.clock.jump(minutes=1)
        self.turn_started = self.clock.now
        self.user_text(f"<command-message>{name}</command-message>\n<command-name>/{name}</command-name>")
        self.row(
            "user", {"message": {"role": "user", "content": [{"type": "text", "text": body}]}, "isMeta": True}
        )

    def bash_io(self, command: str, out: str) -> None:
        """A shell line that the person ran inside the program."""
        self.clock.jump(minutes=0.4)
        early = self.clock.now
        self.clock.tick(0.1, 0.3)
        self.meta(
            "<local-command-caveat>Caveat: The messages below were generated by the user while running local "
            "commands. DO NOT respond to these messages or otherwise consider them in your response unless the "
            "user explicitly asks you to.</local-command-caveat>"
        )
        self.row(
            "user",
            {"message": {"role": "user", "content": f"<bash-input>{command}</bash-input>"}},
            when=early,
        )
        self.user_text(f"<bash-stdout>{out}</bash-stdout><bash-stderr></bash-stderr>")

    def user_text(self, text: str, *facts: tuple) -> str:
        """A user row that no person typed."""
        return self.row("user", {"message": {"role": "user", "content": text}}, *facts)

    def meta(self, text: str) -> str:
        """A user row marked as meta."""
        return self.row("user", {"message": {"role": "user", "content": text}, "isMeta": True})

    def interrupt(self, *, tool: bool = False) -> None:
        """The person pressed escape."""
        self.clock.tick(1, 4)
        text = "[Request interrupted by user for tool use]" if tool else "[Request interrupted by user]"
        self.row(
            "user",
            {"message": {"role": "user", "content": [{"type": "text", "text": text}]}},
            ("interruption",),
        )

    def notification(self, task: str, summary: str, *, status: str = "completed", result: str = "") -> None:
        """A background task has ended; written as user text."""
        self.clock.tick(2, 9)
        body = (
            f"<task-notification>\n<task-id>{task}</task-id>\n<status>{status}</status>\n"
            f"<summary>{summary}</summary>\n"
            + (f"<result>{result}</result>\n" if result else "")
            + "</task-notification>"
        )
        self.user_text(body)
        self.pending += len(body) // 4

    def compact(self, summary: str, *, trigger: str = "auto") -> None:
        """The conversation is compacted: a boundary without parent, then the summary as user text."""
        self.clock.tick(8, 20)
        if trigger == "manual":
            self.command("compact", out="Compacted")
        self.row(
            "system",
            {
                "subtype": "compact_boundary",
                "content": "Conversation compacted",
                "isMeta": False,
                "level": "info",
                "compactMetadata": {"trigger": trigger, "preTokens": self.context},
            },
            ("compaction",),
            parent=None,
            logical_parent=self.parent,
        )
        self.row(
            "user",
            {
                "message": {
                    "role": "user",
                    "content": "This session is being continued from a previous conversation that ran out of context. "
                    "The summary "
                    f"below covers the earlier portion of the conversation.\n\n{summary}",
                },
                "isVisibleInTranscriptOnly": True,
                "isCompactSummary": True,
            },
        )
        self.context, self.cached, self.pending = 17000, 0, len(summary) // 4

    def synthetic(self, text: str) -> None:
        """A row that the program wrote in the model's place: no call."""
        self.clock.tick(1, 3)
        usage = {
            "input_tokens": 0,
            "output_tokens": 0,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": None,
            "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
        }
        self.row(
            "assistant",
            {
                "message": {
                    "id": self.ids.uuid(),
                    "container": None,
                    "model": "<synthetic>",
                    "role": "assistant",
                    "stop_reason": "stop_sequence",
                    "stop_sequence": "",
                    "type": "message",
                    "usage": usage,
                    "content": [{"type": "text", "text": text}],
                    "context_management": None,
                }
            },
            ("synthetic",),
            isApiErrorMessage=True,
        )
