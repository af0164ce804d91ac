"""Writer of Gemini CLI transcripts: one JSON document a session, that grows message by message.

Books the same facts as the Claude writer, by message.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from .books import Line
from .ids import Clock, Ids, fixed_uuid, stamp


class GeminiSession:
    """One session of Gemini CLI."""

    agent = "gemini-cli"
    forked_from = None
    team = None

    def __init__(
        self, world: Any, key: str, *, at: datetime, who: str, branch: str, model: str = "gemini-2.5-pro"
    ) -> None:
        self.world, self.key, self.who, self.branch, self.model = world, key, who, branch, model
        self.ids = Ids(f"gemini/{key}")
        self.clock = Clock(at, self.ids.rng)
        self.started = self.clock.now
        self.session_id = fixed_uuid(f"session/{key}")
        self.cwd = world.home(who)
        self.messages: list[dict] = []
        self.times: list[datetime] = []
        self.lines: list[
            Line
        ] = []  # the facts of each message; text stays empty, the document is made when stored
        self.edited: dict[str, list[int]] = {}
        self.prompts: list[str] = []
        self.outcome = ("unknown", "")
        self.edges: list[dict] = []
        self.context = 11800 + self.ids.rng.randrange(900)
        self.cached = 0

    @property
    def size(self) -> int:
        """How many messages there are: offsets of documents count messages."""
        return len(self.messages)

    @property
    def files(self) -> dict[str, str]:
        """The working tree of the session's branch."""
        return self.world.code.work(self.branch)

    def put(self, message: dict, *facts: tuple) -> None:
        """One more message."""
        ident = self.ids.uuid()
        self.messages.append({"id": ident, "timestamp": stamp(self.clock.now)} | message)
        self.times.append(self.clock.now)
        self.lines.append(Line("", uuid=ident, facts=list(facts)))

    def prompt(self, text: str, *, parts: bool = False) -> None:
        """What a person typed; content is text, or a list of parts in newer versions."""
        self.clock.jump(minutes=1.5)
        self.prompts.append(text)
        self.context += len(text) // 4
        self.put({"type": "user", "content": [{"text": text}] if parts else text}, ("prompt",))

    def note(self, kind: str, text: str) -> None:
        """An info or warning message of the program."""
        self.put({"type": kind, "content": text})

    def reply(self, text: str, *calls: tuple, thought: str = "") -> None:
        """One reply with its tool calls: (name, args, output[, ok])."""
        self.clock.tick(4, 14)
        made, facts = [], []
        for call in calls:
            name, args, output = call[:3]
            ok = len(call) < 4 or call[3]
            ident = f"{name}-{int(self.clock.now.timestamp() * 1000)}-{self.ids.hex(14)}"
            answer = {"output": output} if ok else {"error": output}
            made.append(
                {
                    "id": ident,
                    "name": name,
                    "args": args,
                    "result": [{"functionResponse": {"id": ident, "name": name, "response": answer}}],
                    "status": "success" if ok else "error",
                    "timestamp": stamp(self.clock.now),
                    "resultDisplay": output[:60],
                    "displayName": DISPLAY[name],
                    "renderOutputAsMarkdown": True,
                }
            )
            facts += [("tool", ident, name), ("result", ident, "ok" if ok else "error")]
        output = max(8, (len(text) + sum(len(json.dumps(c[1])) for c in calls)) // 4)
        thoughts = len(thought) // 3 + (20 if thought else 0)
        tokens = {
            "input": self.context,
            "output": output,
            "cached": self.cached,
            "thoughts": thoughts,
            "tool": 0,
            "total": self.context + output + thoughts,
        }
        message: dict = {"type": "gemini", "content": text}
        if made:
            message["toolCalls"] = made
        message["thoughts"] = (
            [
                {
                    "subject": thought.split(".")[0][:60],
                    "description": thought,
                    "timestamp": stamp(self.clock.now),
                }
            ]
            if thought
            else []
        )
        message |= {"tokens": tokens, "model": self.model}
        usage = {"input": self.context - self.cached, "cache_read": self.cached, "output": output + thoughts}
        self.put(message)
        self.lines[-1].facts += [
            ("call", self.messages[-1]["id"], self.model, stamp(self.clock.now)[:10], usage),
            *facts,
        ]
        self.cached = self.context * 9 // 10
        self.context += output + sum(len(c[2]) // 4 for c in calls) + 15

    def change(self, path: str, old: str, new: str) -> tuple:
        """A `replace` call that changes the working tree."""
        text = self.files[path]
        if old not in text:
            raise ValueError(f"{self.key}: {path} has no {old!r}")
        self.files[path] = text.replace(old, new, 1)
        lines = self.edited.setdefault(path, [0, 0])
        lines[0] += new.count("\n") + 1
        lines[1] += old.count("\n") + 1
        return (
            "replace",
            {"file_path": path, "old_string": old, "new_string": new},
            f"Successfully modified file: {self.cwd}/{path} (1 replacements).",
        )

    def create(self, path: str, content: str) -> tuple:
        """A `write_file` call."""
        self.files[path] = content
        self.edited.setdefault(path, [0, 0])[0] += content.count("\n")
        return (
            "write_file",
            {"file_path": path, "content": content},
            f"Successfully created and wrote to new file: {self.cwd}/{path}.",
        )

    def look(self, path: str) -> tuple:
        """A `read_file` call."""
        return (
            "read_file",
            {"file_path": path},
            self.files.get(path, f"File not found: {path}"),
            path in self.files,
        )

    def shell(self, command: str, output: str, ok: bool = True) -> tuple:
        """A `run_shell_command` call."""
        return (
            "run_shell_command",
            {"command": command},
            f"Command: {command}\nDirectory: (root)\nStdout: {output}\nExit Code: {0 if ok else 1}",
            ok,
        )

    def ended(self, label: str, reason: str) -> None:
        """The true outcome of the session, with the reason."""
        self.outcome = (label, reason)

    def document(self, upto: int) -> bytes:
        """The document with the first `upto` messages, pretty-printed as the program writes it."""
        body = {
            "sessionId": self.session_id,
            "projectHash": fixed_uuid("project").replace("-", "") * 2,
            "startTime": stamp(self.started),
            "lastUpdated": stamp(self.times[upto - 1]),
            "messages": self.messages[:upto],
        }
        return json.dumps(body, indent=2, ensure_ascii=False).encode()


DISPLAY = {
    "read_file": "ReadFile",
    "write_file": "WriteFile",
    "replace": "Edit",
    "run_shell_command": "Shell",
    "search_file_content": "SearchText",
    "glob": "FindFiles",
}
