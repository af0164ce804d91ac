"""Agent teams of Claude Code as the lead's transcript shows them: creation, spawns, board, messages, end.

Books every edge when it is written. What teammates do inside is not in the transcript.
"""

from __future__ import annotations

import json
from typing import Any

from .claude import ClaudeSession
from .ids import stamp
from .subagents import edge
from .tools import Tool

COLORS = ("blue", "green", "yellow", "purple", "orange")


class Team:
    """A team that one session leads."""

    def __init__(self, session: ClaudeSession, name: str) -> None:
        self.session, self.name = session, name
        self.colors: dict[str, str] = {}
        self.tasks: list[dict] = []

    def text(self, value: dict) -> list[dict]:
        """A result's content: the value as indented JSON."""
        return [{"type": "text", "text": json.dumps(value, indent=2)}]

    def book(self, kind: str, tool: Tool, to: str, **more: Any) -> None:
        """An edge whose evidence is a tool call."""
        edge(
            self.session,
            kind,
            **{
                "from": "team-lead",
                "to": to,
                "ok": tool.status == "ok",
                "tool_use_id": tool.id,
                "uuid": tool.uuid,
                "team": self.session.team,
            }
            | more,
        )

    def create(self, description: str) -> Tool:
        """TeamCreate."""
        value = {
            "team_name": self.name,
            "team_file_path": f"{self.session.cwd}/.claude/teams/{self.name}/config.json",
            "lead_agent_id": f"team-lead@{self.name}",
        }
        tool = Tool(
            "TeamCreate",
            {"team_name": self.name, "description": description},
            content=self.text(value),
            outcome=value,
        )
        # the records carry teamName from the result on
        tool.before = lambda: setattr(self.session, "team", self.name)
        tool.after = lambda: self.book("team_create", tool, self.name, team=None)
        return tool

    def spawn(self, name: str, role: str, prompt: str, *, model: str = "sonnet", named: bool = True) -> Tool:
        """Agent with a name: a teammate. Without `named` the team stands only in the result."""
        self.colors[name] = COLORS[len(self.colors) % len(COLORS)]
        given = {
            "name": name,
            "subagent_type": role,
            "description": f"Spawn {name}",
            "prompt": prompt,
            "run_in_background": True,
            "mode": "acceptEdits",
        }
        if named:
            given["team_name"] = self.name
        ident = f"{name}@{self.name}"
        out = {
            "status": "teammate_spawned",
            "prompt": prompt,
            "teammate_id": ident,
            "agent_id": ident,
            "agent_type": role,
            "model": model,
            "name": name,
            "color": self.colors[name],
            "tmux_session_name": "in-process",
            "tmux_window_name": "in-process",
            "tmux_pane_id": "in-process",
            "team_name": self.name,
            "is_splitpane": False,
            "plan_mode_required": False,
        }
        tool = Tool(
            "Agent",
            given,
            spawn=True,
            outcome=out,
            content=[
                {
                    "type": "text",
                    "text": f"Spawned successfully.\nagent_id: {ident}\nname: {name}\nteam_name: {self.name}\n"
                    "The agent is now "
                    "running and will receive instructions via mailbox.",
                }
            ],
        )
        tool.after = lambda: self.book(
            "spawn", tool, name, status="teammate_spawned", agent_id=ident, subagent_type=role
        )
        return tool

    def send(self, to: str, summary: str, body: str) -> Tool:
        """SendMessage with text, to one teammate or to all ("*")."""
        given = {
            "to": to,
            "message": body,
            "summary": summary,
            "type": "broadcast" if to == "*" else "message",
            "recipient": to,
            "content": body,
        }
        value = {
            "success": True,
            "message": f"Message sent to {to}'s inbox"
            if to != "*"
            else f"Message broadcast to {len(self.colors)} teammate(s)",
            "routing": {"sender": "team-lead", "target": f"@{to}", "summary": summary, "content": body},
        }
        tool = Tool("SendMessage", given, content=self.text(value), outcome=value)
        tool.after = lambda: self.book("broadcast" if to == "*" else "message", tool, to)
        return tool

    def broadcast_shutdown(self) -> Tool:
        """A structured message to all: always refused."""
        message = 'structured messages cannot be broadcast (to: "*")'
        tool = Tool(
            "SendMessage",
            {"to": "*", "message": {"type": "shutdown_request", "reason": "Work complete"}},
            content=message,
            outcome=f"Error: {message}",
            status="error",
            flag=True,
        )
        tool.after = lambda: self.book("broadcast", tool, "*")
        return tool

    def shutdown(self, to: str, reason: str) -> Tool:
        """SendMessage with a shutdown request."""
        request = f"shutdown-{int(self.session.clock.now.timestamp() * 1000)}@{to}"
        value = {
            "success": True,
            "message": f"Shutdown request sent to {to}. Request ID: {request}",
            "request_id": request,
            "target": to,
        }
        tool = Tool(
            "SendMessage",
            {"to": to, "message": {"type": "shutdown_request", "reason": reason}},
            content=self.text(value),
            outcome=value,
        )
        tool.more["request"] = request
        tool.after = lambda: self.book("shutdown_request", tool, to, request_id=request)
        return tool

    def task(self, subject: str, description: str) -> Tool:
        """TaskCreate on the team's board."""
        number = str(len(self.tasks) + 1)
        self.tasks.append({"id": number, "subject": subject, "status": "pending", "blockedBy": []})
        tool = Tool(
            "TaskCreate",
            {"subject": subject, "description": description, "activeForm": subject},
            content=f"Task #{number} created successfully: {subject}",
            outcome={"task": {"id": number, "subject": subject}},
        )
        tool.after = lambda: self.book("task_create", tool, f"task:{number}")
        return tool

    def update(self, number: str, *, status: str | None = None, owner: str | None = None) -> Tool:
        """TaskUpdate; an unknown task fails with success false and no is_error."""
        given = (
            {"taskId": number} | ({"owner": owner} if owner else {}) | ({"status": status} if status else {})
        )
        found = next((t for t in self.tasks if t["id"] == number), None)
        changed = [k for k in ("owner", "status") if k in given]
        if found is None:
            value = {"success": False, "taskId": number, "updatedFields": [], "error": "Task not found"}
            tool = Tool("TaskUpdate", given, content="Task not found", outcome=value, status="error")
        else:
            value = {"success": True, "taskId": number, "updatedFields": changed}
            if status:
                value["statusChange"] = {"from": found["status"], "to": status}
                found["status"] = status
            if owner:
                found["owner"] = owner
            tool = Tool(
                "TaskUpdate", given, content=f"Updated task #{number} {', '.join(changed)}", outcome=value
            )
        more = {"task": number, "status": status, "updated": changed if found else []}
        tool.after = lambda: self.book(
            "task_owner" if owner else "task_update", tool, owner or f"task:{number}", **more
        )
        return tool

    def board(self) -> Tool:
        """TaskList."""
        text = "\n".join(f"#{t['id']} [{t['status']}] {t['subject']}" for t in self.tasks)
        return Tool("TaskList", {}, content=text, outcome={"tasks": [dict(t) for t in self.tasks]})

    def delete(self, active: tuple[str, ...] = ()) -> Tool:
        """TeamDelete; with active members it fails with success false and no is_error."""
        if active:
            value = {
                "success": False,
                "message": f"Cannot cleanup team with {len(active)} active member(s): "
                f"{', '.join(active)}. Use requestShutdown to gracefully terminate teammates first.",
                "team_name": self.name,
            }
        else:
            value = {
                "success": True,
                "message": f'Cleaned up directories for team "{self.name}"',
                "team_name": self.name,
            }
        tool = Tool(
            "TeamDelete", {}, content=self.text(value), outcome=value, status="error" if active else "ok"
        )
        tool.after = lambda: self.book("team_delete", tool, self.name)
        return tool

    def incoming(self, *blocks: tuple[str, str | dict], attachment: bool = False) -> None:
        """What teammates sent, one record with one block or several: (name, text or (structured) body)."""
        s = self.session
        s.clock.tick(15, 90)
        parts = []
        for name, body in blocks:
            head = f'<teammate-message teammate_id="{name}"'
            if name in self.colors:
                head += f' color="{self.colors[name]}"'
            if isinstance(body, tuple):
                head += f' summary="{body[0]}"'
                body = body[1]
            parts.append(
                f"{head}>\n{body if isinstance(body, str) else json.dumps(body)}\n</teammate-message>"
            )
        text = "\n\n".join(parts)
        if attachment:
            s.queued(text, mode="task-notification")
        else:
            s.user_text(text)
        s.pending += len(text) // 4
        for number, (name, body) in enumerate(blocks):
            self.received(name, body, s.parent, block=number, via="attachment" if attachment else None)

    def received(self, name: str, body: Any, uuid: str, *, block: int, via: str | None) -> None:
        """Book the edges of one incoming block."""
        common = {
            "to": "team-lead",
            "ok": None,
            "tool_use_id": None,
            "uuid": uuid,
            "team": self.session.team,
            "block": block,
        } | ({"via": via} if via else {})
        kind = body.get("type") if isinstance(body, dict) else "text"
        if kind == "idle_notification":
            edge(self.session, "idle", **{"from": name} | common)
            summary = body.get("summary", "")
            if summary.startswith("[to "):
                edge(self.session, "peer", **{"from": name} | common | {"to": summary[4:].split("]")[0]})
        elif kind == "teammate_terminated":
            edge(self.session, kind, **{"from": "system"} | common | {"about": body["message"].split()[0]})
        elif kind == "shutdown_approved":
            edge(self.session, kind, **{"from": name} | common | {"request_id": body["requestId"]})
        else:
            edge(self.session, "incoming_text", **{"from": name} | common)

    def idle(self, name: str, summary: str = "") -> tuple[str, dict]:
        """An idle notification; a summary "[to x] …" tells of a message to another teammate."""
        body = {
            "type": "idle_notification",
            "from": name,
            "timestamp": stamp(self.session.clock.now),
            "idleReason": "available",
        }
        return name, body | ({"summary": summary} if summary else {})

    def gone(self, name: str) -> tuple[str, dict]:
        """The system says that a teammate has ended."""
        return "system", {"type": "teammate_terminated", "message": f"{name} has shut down."}

    def approved(self, name: str, tool: Tool) -> tuple[str, dict]:
        """A teammate agrees to shut down."""
        return name, {
            "type": "shutdown_approved",
            "requestId": tool.more["request"],
            "from": name,
            "timestamp": stamp(self.session.clock.now),
            "paneId": "in-process",
            "backendType": "in-process",
        }
