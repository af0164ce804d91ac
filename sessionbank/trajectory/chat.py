"""Chat rows: ``messages`` and ``tools`` as OpenAI, TRL and Hugging Face datasets name them. One row an agent.

Thinking stands in ``reasoning_content``. A call without a result stays open: no answer is made up, and its id stands in
``open_calls``. What the harness wrote in a model's name (API errors) is no reply and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from sessionbank.trajectory.conversation import arguments_of, conversation, tool_definitions, with_pictures
from sessionbank.trajectory.model import Step, Trajectory
from sessionbank.trajectory.pictures import data_urls

ARGUMENTS = ("string", "dict")
THINKING = ("apart", "merged", "none")


def chat_rows(
    trajectory: Trajectory, *, arguments: str = "string", thinking: str = "apart", is_live: bool = False
) -> Iterator[dict[str, Any]]:
    """A row for the main agent, then one for each subagent; agents that never spoke have none.

    `arguments` says whether a call's arguments are JSON text (OpenAI) or an object (templates of TRL).
    `thinking` says whether thinking stands apart from text, merged with it in replies that call tools, or nowhere.
    ``merged`` also gives each call a message of its own, its answer behind it: the template of gpt-oss shows only the
    first call of a message.
    """
    for agent in trajectory.walk():
        row = _row(agent, (arguments, thinking), is_live)
        if row is not None:
            yield row


def _row(trajectory: Trajectory, style: tuple[str, str], is_live: bool) -> dict[str, Any] | None:
    arguments, thinking = style
    messages: list[dict[str, Any]] = []
    left_open: list[str] = []
    for part in conversation(trajectory, is_live=is_live):
        if part.turn is not None:
            if part.turn.role == "user":
                messages.append({"role": "user", "content": _content(part.turn.text, part.turn.images)})
            continue
        reply = part.reply
        if reply is None:
            continue
        calls = [s for s in part.steps if s.tool_call_id is not None]
        said: dict[str, Any] = {"role": "assistant", "content": reply.text or ""}
        if reply.thinking and thinking != "none":
            said["reasoning_content"] = reply.thinking
            if calls and thinking == "merged":
                said.update(content="", reasoning_content=reply.thought)
        is_single = thinking == "merged"
        if calls:
            said["tool_calls"] = [_call(s, arguments) for s in (calls[:1] if is_single else calls)]
        messages.append(said)
        for place, step in enumerate(calls):
            if place and is_single:
                messages.append({"role": "assistant", "content": "", "tool_calls": [_call(step, arguments)]})
            told = with_pictures(step.observation, step.images)
            if told is None and step.status == "no_result":
                left_open.append(str(step.tool_call_id))
            else:
                messages.append(
                    {
                        "role": "tool",
                        "tool_call_id": step.tool_call_id,
                        "name": step.tool_name,
                        "content": told or "",
                    }
                )
        shown = [url for step in calls for url in data_urls(step.images)]
        if shown:  # a tool's message holds text alone, so its pictures follow as the user's
            messages.append({"role": "user", "content": [_picture(url) for url in shown]})
    if all(m["role"] != "assistant" for m in messages):
        return None
    outcome = trajectory.outcome
    return {
        "id": trajectory.id,
        "session_id": trajectory.session_id,
        "agent": trajectory.agent,
        "agent_id": trajectory.agent_id,
        "parent_tool_call_id": trajectory.parent_tool_call_id,
        "domain": trajectory.task.domain,
        "outcome": outcome.label if outcome else None,
        "score": outcome.score if outcome else None,
        "messages": messages,
        "tools": tool_definitions(trajectory),
        "open_calls": left_open,
    }


def _content(text: str | None, images: tuple[str, ...]) -> str | list[dict[str, Any]]:
    """Text with a note for each picture, or, where pictures are asked for, parts."""
    said, urls = with_pictures(text, images) or "", data_urls(images)
    return [{"type": "text", "text": said}, *map(_picture, urls)] if urls else said


def _picture(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def _call(step: Step, arguments: str) -> dict[str, Any]:
    given = arguments_of(step)
    return {
        "id": step.tool_call_id,
        "type": "function",
        "function": {
            "name": step.tool_name,
            "arguments": orjson.dumps(given).decode() if arguments == "string" else given,
        },
    }
