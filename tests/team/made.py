"""Sessions told line by line for tests of teams: stored in a real repository, read back through a bank."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sessionbank.records import Session
from tests.makers.banks import opened
from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude


class Story(Claude):
    """A conversation in which agents meet."""

    calls = 0

    def call(self, tool_name: str, /, **given: Any) -> str:
        """A tool call; gives its id."""
        self.calls += 1
        call_id = f"toolu_{self.session_id[:4]}_{self.calls}"
        block = {"type": "tool_use", "id": call_id, "name": tool_name, "input": given}
        self.reply(block, message_id=f"msg_{self.session_id[:4]}_{self.calls}", stop="tool_use")
        return call_id

    def done(self, tool_name: str, data: dict[str, Any], /, **given: Any) -> str:
        """A tool call with its structured result."""
        call_id = self.call(tool_name, **given)
        self.result(call_id, json.dumps(data), data=data)
        return call_id

    def create(self, team: str) -> str:
        return self.done(
            "TeamCreate", {"team_name": team, "lead_agent_id": f"team-lead@{team}"}, team_name=team
        )

    def mate(self, name: str, team: str, kind: str = "engineer", prompt: str = "work") -> str:
        data = {
            "status": "teammate_spawned", "teammate_id": f"{name}@{team}", "agent_id": f"{name}@{team}", "name": name,
            "agent_type": kind, "model": "sonnet", "team_name": team, "prompt": prompt,
        }  # fmt: skip
        return self.done("Agent", data, name=name, subagent_type=kind, description="d", prompt=prompt)

    def hear(self, *blocks: tuple[str, str | dict[str, Any]], **keys: Any) -> dict[str, Any]:
        """A user line with teammate-message blocks."""
        return self.prompt(heard(*blocks), **keys)

    def queued(self, text: str, mode: str = "prompt") -> dict[str, Any]:
        """An attachment that delivered a text in mid-turn."""
        return self.line(
            "attachment", attachment={"type": "queued_command", "prompt": text, "commandMode": mode}
        )


def heard(*blocks: tuple[str, str | dict[str, Any]]) -> str:
    """The text of teammate-message blocks."""
    parts = []
    for who, body in blocks:
        inner = body if isinstance(body, str) else json.dumps(body)
        parts.append(f'<teammate-message teammate_id="{who}" color="blue">\n{inner}\n</teammate-message>')
    return "\n\n".join(parts)


def idle(who: str, summary: str | None = None) -> dict[str, Any]:
    value = {
        "type": "idle_notification",
        "from": who,
        "timestamp": "2026-02-01T09:59:00.000Z",
        "idleReason": "available",
    }
    return value if summary is None else {**value, "summary": summary}


def sessions_of(folder: Path, *stories: Claude, apart: bool = True) -> list[Session]:
    """The sessions of some stories, in their order; each in a checkpoint of its own, or all in one."""
    repo = CheckpointRepo(folder / "repo")
    stored = [session(s.session_id, transcript=s.bytes()) for s in stories]
    if apart:
        for number, one in enumerate(stored):
            repo.add_checkpoint(f"{number + 1:012x}", sessions=[one])
    else:
        repo.add_checkpoint("0123456789ab", sessions=stored)
    bank = opened(repo.path, folder)
    found = [bank.get_by_session_id(s.session_id) for s in stories]
    for one in found:
        assert one.messages  # read while the bank is open
    bank.close()
    return found
