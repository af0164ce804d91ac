"""Subagents of Claude Code: a Task or Agent call whose work stands inside progress records of the session.

Teammates (which leave no inner work here) are in team.py.
"""

from __future__ import annotations

from typing import Any

from .claude import HAIKU, ClaudeSession
from .ids import stamp
from .tools import Tool


class Subagent:
    """One run of a subagent: writes its progress records and books them as the subagent's, not the session's."""

    def __init__(
        self, session: ClaudeSession, call: Tool, agent_id: str, *, prompt: str, model: str, message_id: str
    ) -> None:
        self.session, self.call, self.agent_id, self.prompt, self.model = (
            session,
            call,
            agent_id,
            prompt,
            model,
        )
        self.tool_use = f"agent_{message_id}"
        self.first = True
        self.context = 9800 + session.rng.randrange(3000)
        self.cached = 0
        self.pending = len(prompt) // 4
        self.calls = self.tools = 0
        self.total = 0

    def line(self, message: dict, *facts: tuple) -> None:
        """One progress record around one record of the subagent."""
        data = {
            "message": message,
            "type": "agent_progress",
            "prompt": self.prompt if self.first else "",
            "agentId": self.agent_id,
        }
        if not self.session.new_style:
            data = {
                "message": message,
                "normalizedMessages": [],
                "type": "agent_progress",
                "prompt": self.prompt,
                "agentId": self.agent_id,
            }
        self.first = False
        self.session.clock.tick(0.1, 1)
        self.session.row(
            "progress", {"data": data, "toolUseID": self.tool_use, "parentToolUseID": self.call.id}, *facts
        )

    def user(self, content: list, *facts: tuple) -> None:
        """A user record of the subagent: its task, or a tool's result."""
        self.line(
            {
                "type": "user",
                "message": {"role": "user", "content": content},
                "uuid": self.session.ids.uuid(),
                "timestamp": stamp(self.session.clock.now),
            },
            *facts,
        )

    def reply(self, *tools: Tool, say: str = "", repeats: int = 0) -> None:
        """One API call of the subagent; `repeats` writes its last record again in further progress lines."""
        s = self.session
        message, request = s.ids.message(), s.ids.request()
        fresh, creation = 2 + s.rng.randrange(4), self.context - self.cached + self.pending
        final = max(12, (len(say) + sum(len(str(t.input)) for t in tools)) // 4)
        blocks = ([({"type": "text", "text": say}, None)] if say else []) + [(t.block(s), t) for t in tools]
        for number, (block, tool) in enumerate(blocks):
            output = final if number == len(blocks) - 1 else 1 + s.rng.randrange(3)
            usage = {
                "input_tokens": fresh,
                "cache_creation_input_tokens": creation,
                "cache_read_input_tokens": self.cached,
                "cache_creation": {"ephemeral_5m_input_tokens": creation, "ephemeral_1h_input_tokens": 0},
                "output_tokens": output,
                "service_tier": "standard",
            }
            record = {
                "type": "assistant",
                "timestamp": stamp(s.clock.now),
                "message": {
                    "model": self.model,
                    "id": message,
                    "type": "message",
                    "role": "assistant",
                    "content": [block],
                    "stop_reason": None,
                    "stop_sequence": None,
                    "usage": usage,
                },
                "requestId": request,
                "uuid": s.ids.uuid(),
            }
            booked = {
                "input": fresh,
                "cache_creation": creation,
                "cache_creation_1h": 0,
                "cache_read": self.cached,
                "output": output,
            }
            facts = [("subcall", message, self.model, stamp(s.clock.now)[:10], booked)]
            if tool:
                facts.append(("subtool", tool.id))
            self.line(record, *facts)
        for _ in range(repeats):
            self.line(record, *facts)
        self.calls += 1
        self.tools += len(tools)
        self.context, self.cached, self.pending = self.context + self.pending, self.context + self.pending, 0
        self.total = self.context + final
        self.pending = final + sum(t.weight for t in tools)
        for tool in tools:
            block = {"tool_use_id": tool.id, "type": "tool_result", "content": tool.content}
            if tool.flag is not None:
                block["is_error"] = tool.flag
            self.user([block], *([("suberror", tool.id)] if tool.status == "error" else []))

    def usage(self) -> dict:
        """What the session's own result says of the run's last call."""
        return {
            "input_tokens": 3,
            "cache_creation_input_tokens": self.pending,
            "cache_read_input_tokens": self.cached,
            "cache_creation": {"ephemeral_5m_input_tokens": self.pending, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 1,
            "service_tier": "standard",
        }


def edge(session: ClaudeSession, kind: str, **more: Any) -> None:
    """Book one edge between agents of a session."""
    session.edges.append({"seq": len(session.edges) + 1, "kind": kind} | more)


def spawn(
    session: ClaudeSession,
    kind: str,
    description: str,
    *,
    prompt: str,
    steps: list[list[Tool]],
    answer: str,
    name: str | None = None,
    model: str = HAIKU,
    background: bool = False,
    repeats: int = 0,
) -> Tool:
    """A call that starts a subagent. `steps` are lists of tools, one list a reply, made before the call is written.

    In the background the answer comes later: call `finish(session, tool)` where it arrives.
    """
    name = name or ("Agent" if session.new_style else "Task")
    agent_id = "a" + session.ids.hex(16 if session.new_style else 6)
    given = {"subagent_type": kind, "prompt": prompt, "description": description}
    if background:
        given["run_in_background"] = True
    tool = Tool(name, given, spawn=True)
    tool.more = {"agent_id": agent_id, "answer": answer, "description": description, "prompt": prompt}
    me = "team-lead" if session.team else "main"

    def work() -> None:
        run = Subagent(session, tool, agent_id, prompt=prompt, model=model, message_id=session.ids.message())
        run.user([{"type": "text", "text": prompt}])
        for number, tools in enumerate(steps):
            run.reply(
                *tools,
                say="" if number else "I'll look through the code.",
                repeats=repeats if not number else 0,
            )
        tool.outcome = {
            "status": "completed",
            "prompt": prompt,
            "agentId": agent_id,
            **({"agentType": kind} if session.new_style else {}),
            "content": [{"type": "text", "text": answer}],
            "totalDurationMs": 9000 + run.total // 4,
            "totalTokens": run.total,
            "totalToolUseCount": run.tools,
            "usage": run.usage(),
        }

    def booked(status: str) -> None:
        edge(
            session,
            "spawn",
            **{
                "from": me,
                "to": agent_id,
                "ok": True,
                "tool_use_id": tool.id,
                "uuid": tool.uuid,
                "team": session.team,
                "status": status,
                "agent_id": agent_id,
                "subagent_type": kind,
            },
        )

    if background:
        tool.content = [
            {
                "type": "text",
                "text": f"Async agent launched successfully.\nagentId: {agent_id} (internal ID "
                "- do not mention to user. Use to resume later if needed.)",
            }
        ]
        tool.outcome = {
            "isAsync": True,
            "status": "async_launched",
            "agentId": agent_id,
            "description": description,
            "prompt": prompt,
            "outputFile": f"{session.cwd}/.agents/{agent_id}.output",
        }
        tool.after = lambda: (booked("async_launched"), work_in_background())
    else:
        tool.content = [
            {"type": "text", "text": answer},
            {
                "type": "text",
                "text": f"agentId: {agent_id} (for resuming to continue this agent's work if needed)",
            },
        ]
        tool.before = work
        tool.after = lambda: (
            booked("completed"),
            edge(
                session,
                "result",
                **{
                    "from": agent_id,
                    "to": me,
                    "ok": True,
                    "tool_use_id": tool.id,
                    "uuid": tool.result_uuid,
                    "team": session.team,
                    "agent_id": agent_id,
                },
            ),
        )

    def work_in_background() -> None:
        if steps:
            kept = tool.outcome
            work()
            tool.outcome = kept

    return tool


def finish(session: ClaudeSession, tool: Tool, *, status: str = "completed", queued: bool = False) -> None:
    """The answer of a background subagent arrives as a notification."""
    me = "team-lead" if session.team else "main"
    summary = f'Agent "{tool.more["description"]}" {status}'
    if queued:
        body = (
            f"<task-notification>\n<task-id>{tool.more['agent_id']}</task-id>\n<status>{status}</status>\n"
            f"<summary>{summary}</summary>\n<result>{tool.more['answer']}</result>\n</task-notification>"
        )
        session.queued(body, mode="task-notification")
    else:
        session.notification(tool.more["agent_id"], summary, status=status, result=tool.more["answer"])
    edge(
        session,
        "result",
        **{
            "from": tool.more["agent_id"],
            "to": me,
            "ok": status == "completed",
            "tool_use_id": tool.id,
            "uuid": session.parent,
            "team": session.team,
            "agent_id": tool.more["agent_id"],
        },
    )
