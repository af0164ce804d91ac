"""Tool calls of Claude Code: what goes in, what comes back in the result row, and what it does to the working tree.

Does not write lines. Reads and searches show the true content of the story's working tree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
    "the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you "
    "how to proceed."
)
SIBLING = "Sibling tool call errored"


@dataclass
class Tool:
    """One tool call before it is written. `flag` is the explicit is_error, None where the key is absent."""

    name: str
    input: dict
    content: str | list = ""
    outcome: object = None
    status: str = "ok"
    flag: bool | None = None
    spawn: bool = False
    takes: tuple[float, float] = (0.2, 2.0)
    before: Callable[[], None] | None = None
    after: Callable[[], None] | None = None
    id: str = ""
    uuid: str = ""
    result_uuid: str = ""
    more: dict = field(default_factory=dict)

    def block(self, session: Any) -> dict:
        """The tool_use block; the id is drawn here."""
        self.id = self.id or session.ids.tool()
        block = {"type": "tool_use", "id": self.id, "name": self.name, "input": self.input}
        return block | ({"caller": {"type": "direct"}} if session.new_style else {})

    @property
    def weight(self) -> int:
        """About how many tokens the result puts into the context."""
        text = self.content if isinstance(self.content, str) else json.dumps(self.content)
        return len(text) // 4 + 12


def failed(tool: Tool, message: str, *, wrap: bool = True) -> Tool:
    """Turn a call into one that returned an error."""
    tool.content = f"<tool_use_error>{message}</tool_use_error>" if wrap else message
    tool.outcome, tool.status, tool.flag, tool.before, tool.after = (
        f"Error: {message}",
        "error",
        True,
        None,
        None,
    )
    return tool


def rejected(tool: Tool, said: str = "") -> Tool:
    """Turn a call into one that the person refused, with or without words."""
    if said:
        tool.content = REJECTED.split(" STOP")[0] + " To tell you how to proceed, the user said:\n" + said
        tool.outcome = "Error: " + tool.content
    else:
        tool.content, tool.outcome = REJECTED, "User rejected tool use"
    tool.status, tool.flag, tool.before, tool.after = "rejected", True, None, None
    return tool


def sibling(tool: Tool) -> Tool:
    """Turn a call into one that was cancelled because another call of the reply failed."""
    tool.content = f"<tool_use_error>{SIBLING}</tool_use_error>"
    tool.outcome, tool.status, tool.flag, tool.before, tool.after = SIBLING, "interrupted", True, None, None
    return tool


def unanswered(tool: Tool) -> Tool:
    """Turn a call into one whose result was never written."""
    tool.status, tool.before, tool.after = "no_result", None, None
    return tool


class Tools:
    """The tools, as methods of a session (they need its working tree, its folder and its ids)."""

    def path(self, path: str) -> str:
        """A path of the repository as the tools name it."""
        return f"{self.cwd}/{path}"

    @property
    def files(self) -> dict[str, str]:
        """The working tree of the session's branch."""
        return self.world.code.work(self.branch)

    def read(self, path: str, offset: int | None = None, limit: int | None = None) -> Tool:
        """Read a file of the working tree; an error where it does not exist."""
        given = {"file_path": self.path(path)}
        if offset is not None:
            given |= {"offset": offset, "limit": limit}
        tool = Tool("Read", given)
        self.read_files.add(path)
        if path not in self.files:
            return failed(tool, "File does not exist.")
        lines = self.files[path].split("\n")
        start = offset or 1
        part = lines[start - 1 : start - 1 + (limit or len(lines))]
        tool.content = "\n".join(f"{n:>6}→{line}" for n, line in enumerate(part, start))
        tool.outcome = {
            "type": "text",
            "file": {
                "filePath": self.path(path),
                "content": "\n".join(part),
                "numLines": len(part),
                "startLine": start,
                "totalLines": len(lines),
            },
        }
        return tool

    def edit(self, path: str, old: str, new: str, *, apply: bool = True) -> Tool:
        """Replace text in a file. With `apply` the working tree changes at once; the text must stand there."""
        given = {"replace_all": False, "file_path": self.path(path), "old_string": old, "new_string": new}
        tool = Tool("Edit", given, content=f"The file {self.path(path)} has been updated successfully.")
        before = self.files.get(path, "")
        if old not in before:
            raise ValueError(f"{self.key}: {path} has no {old!r}")
        row = before[: before.index(old)].count("\n") + 1
        removed, added = old.split("\n"), new.split("\n")
        patch = [
            {
                "oldStart": row,
                "oldLines": len(removed),
                "newStart": row,
                "newLines": len(added),
                "lines": ["-" + x for x in removed] + ["+" + x for x in added],
            }
        ]
        tool.outcome = {
            "filePath": self.path(path),
            "oldString": old,
            "newString": new,
            "originalFile": before,
            "structuredPatch": patch,
            "userModified": False,
            "replaceAll": False,
        }
        if apply:
            self.files[path] = before.replace(old, new, 1)
            same = sum(1 for x in removed if x in added)
            self.worked(path, len(added) - same, len(removed) - same)
        return tool

    def write(self, path: str, content: str, *, apply: bool = True) -> Tool:
        """Create or replace a file."""
        before = self.files.get(path)
        tool = Tool("Write", {"file_path": self.path(path), "content": content})
        word = "File created successfully at:" if before is None else "The file has been updated:"
        tool.content = f"{word} {self.path(path)}"
        tool.outcome = {
            "type": "create" if before is None else "update",
            "filePath": self.path(path),
            "content": content,
            "structuredPatch": [],
            "originalFile": before,
        }
        if apply:
            self.files[path] = content
            self.worked(path, content.count("\n"), 0 if before is None else before.count("\n"))
        return tool

    def worked(self, path: str, added: int, removed: int) -> None:
        """Book the agent's lines of a file since the last commit."""
        lines = self.edited.setdefault(path, [0, 0])
        lines[0] += max(added, 0)
        lines[1] += max(removed, 0)

    def bash(
        self,
        command: str,
        out: str = "",
        *,
        code: int = 0,
        why: str = "",
        slow: bool = False,
        explicit: bool = True,
    ) -> Tool:
        """A shell command; a code other than 0 is an error."""
        tool = Tool(
            "Bash", {"command": command, "description": why or f"Run {command.split()[0]}"}, content=out
        )
        tool.outcome = {"stdout": out, "stderr": "", "interrupted": False, "isImage": False}
        tool.flag = False if explicit else None
        tool.takes = (0.4, 4.0)
        if code:
            message = f"Exit code {code}\n{out}"
            tool.content, tool.outcome, tool.status, tool.flag = message, f"Error: {message}", "error", True
        if slow:
            tool.takes = (6.0, 20.0)
            tool.before = lambda: self.bash_progress(tool, out)
        return tool

    def bash_progress(self, tool: Tool, out: str) -> None:
        """Progress lines of a slow command."""
        for number in range(2):
            self.clock.tick(1, 2)
            self.row(
                "progress",
                {
                    "data": {
                        "type": "bash_progress",
                        "output": "",
                        "fullOutput": "",
                        "elapsedTimeSeconds": 2 + number,
                        "totalLines": 0,
                        "timeoutMs": 300000,
                    },
                    "toolUseID": f"bash-progress-{number}",
                    "parentToolUseID": tool.id,
                },
            )

    def grep(self, pattern: str, path: str = "", *, mode: str = "content") -> Tool:
        """Search the working tree for a pattern."""
        hits, names = [], []
        for name, text in sorted(self.files.items()):
            if not name.startswith(path):
                continue
            found = [(n, line) for n, line in enumerate(text.split("\n"), 1) if re.search(pattern, line)]
            names += [name] if found else []
            hits += [f"{name}:{n}:{line}" for n, line in found]
        given = {"pattern": pattern, "path": path or ".", "output_mode": mode}
        if mode == "content":
            text = "\n".join(hits[:20]) or "No matches found"
            return Tool(
                "Grep",
                given | {"-n": True},
                content=text,
                outcome={
                    "mode": mode,
                    "numFiles": 0,
                    "filenames": [],
                    "content": text,
                    "numLines": len(hits[:20]),
                },
            )
        word = f"Found {len(names)} file{'s' if len(names) != 1 else ''}\n" if names else "No files found"
        return Tool(
            "Grep",
            given,
            content=word + "\n".join(names),
            outcome={"mode": mode, "filenames": names, "numFiles": len(names)},
        )

    def glob(self, ending: str) -> Tool:
        """Files by ending."""
        names = [self.path(n) for n in sorted(self.files) if n.endswith(ending)][:12]
        return Tool(
            "Glob",
            {"pattern": f"**/*{ending}"},
            content="\n".join(names) or "No files found",
            outcome={"filenames": names, "durationMs": 11, "numFiles": len(names), "truncated": False},
        )

    def todo(self, *items: tuple[str, str]) -> Tool:
        """The to-do list of older versions: (content, status) pairs."""
        todos = [{"content": c, "status": s, "activeForm": c} for c, s in items]
        return Tool(
            "TodoWrite",
            {"todos": todos},
            content="Todos have been modified successfully. Ensure that you "
            "continue to use the todo list to track your progress. Please proceed with the current tasks if "
            "applicable",
            outcome={"oldTodos": [], "newTodos": todos},
        )

    def mcp(self, server: str, tool: str, given: dict, *, answer: dict | str) -> Tool:
        """A call of an MCP server; its result is a list."""
        text = answer if isinstance(answer, str) else json.dumps(answer)
        content = [{"type": "text", "text": text}]
        call = Tool(f"mcp__{server}__{tool}", given, content=content, outcome=content)
        call.before = lambda: self.row(
            "progress",
            {
                "data": {"type": "mcp_progress", "status": "started", "serverName": server, "toolName": tool},
                "toolUseID": call.id,
                "parentToolUseID": call.id,
            },
        )
        return call

    def fetch(self, url: str, question: str, answer: str) -> Tool:
        """Read a page of the web."""
        return Tool(
            "WebFetch",
            {"url": url, "prompt": question},
            content=answer,
            outcome={
                "bytes": 40000 + len(answer),
                "code": 200,
                "codeText": "OK",
                "result": answer,
                "durationMs": 2100,
                "url": url,
            },
        )

    def ask(self, question: str, options: list[str], answer: str) -> Tool:
        """Ask the person to choose."""
        body = [
            {
                "question": question,
                "header": "Choice",
                "multiSelect": False,
                "options": [{"label": o, "description": o} for o in options],
            }
        ]
        return Tool(
            "AskUserQuestion",
            {"questions": body},
            takes=(10, 40),
            content=f'User has answered your questions: "{question}"="{answer}". You can now continue with '
            "the user's answers in mind.",
            outcome={"questions": body, "answers": {question: answer}},
        )

    def plan(self, text: str) -> Tool:
        """Hand in a plan; the person approves."""
        return Tool(
            "ExitPlanMode",
            {"plan": text},
            takes=(15, 60),
            content="User has approved your plan. You can now "
            f"start coding. Start with updating your todo list if applicable\n\n## Approved Plan:\n{text}",
            outcome={"plan": text, "isAgent": False},
        )
