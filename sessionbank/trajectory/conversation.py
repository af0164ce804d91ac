"""A trajectory as a conversation: what was said, call by call, in order. What chat rows and ATIF steps are made from.

Nothing is added but one thing: where no prompt stands before the first reply, the task's description is given as one,
marked as inferred. No format is written here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sessionbank.trajectory.model import Reply, Step, Trajectory, Turn
from sessionbank.trajectory.pictures import media_type


@dataclass(frozen=True, slots=True)
class Exchange:
    """A reply with its steps, or (when `reply` is None) one thing that was said to the agent."""

    turn: Turn | None
    reply: Reply | None
    steps: tuple[Step, ...] = ()
    is_inferred: bool = False


def conversation(trajectory: Trajectory, *, is_live: bool = False) -> Iterator[Exchange]:
    """Turns and replies in order; with `is_live` only what the model still saw at the end, where the format tells."""
    by_reply: dict[int, list[Step]] = {}
    for step in trajectory.own_steps:
        by_reply.setdefault(step.reply, []).append(step)
    first = next(iter(trajectory.replies), None)
    before = first.before if first else trajectory.after
    if trajectory.task.description and not any(t.role == "user" for t in before):
        yield Exchange(Turn("prompt", "user", trajectory.task.description), None, is_inferred=True)
    for reply in trajectory.replies:
        yield from (Exchange(t, None) for t in reply.before if not (is_live and t.in_context is False))
        if not (is_live and reply.in_context is False):
            yield Exchange(None, reply, tuple(by_reply.get(reply.number, ())))
    yield from (Exchange(t, None) for t in trajectory.after if not (is_live and t.in_context is False))


def arguments_of(step: Step) -> dict[str, Any]:
    """The call's arguments as an object; what is no JSON object stands under ``input``."""
    if step.action_input is None:
        return {}
    try:
        value = json.loads(step.action_input)
    except ValueError:
        value = step.action_input
    return value if isinstance(value, dict) else {"input": value}


def with_pictures(text: str | None, images: tuple[str, ...]) -> str | None:
    """The text, with a note for each picture that stands there."""
    if not images:
        return text
    notes = "\n".join(f"[image: {media_type(image)}]" for image in images)
    return f"{text}\n{notes}" if text else notes


def tool_definitions(trajectory: Trajectory) -> list[dict[str, Any]]:
    """The tools that were called, as OpenAI function schemas, sorted by name.

    Inferred: transcripts do not hold the definitions, so a schema says what the calls gave. An argument that every call
    gave counts as required.
    """
    given: dict[str, list[Mapping[str, Any]]] = {}
    for step in trajectory.own_steps:
        if step.tool_name is not None:
            given.setdefault(step.tool_name, []).append(arguments_of(step))
    return [
        {
            "type": "function",
            "function": {"name": name, "description": "", "parameters": _object(given[name], 0)},
        }
        for name in sorted(given)
    ]


_DEEPEST = 3


def _object(values: list[Mapping[str, Any]], depth: int) -> dict[str, Any]:
    keys = dict.fromkeys(k for v in values for k in v)
    found: dict[str, Any] = {
        "type": "object",
        "properties": {k: _schema([v[k] for v in values if k in v], depth + 1) for k in keys},
    }
    required = [k for k in keys if all(k in v for v in values)]
    return found | {"required": required} if required else found


def _schema(values: list[Any], depth: int) -> dict[str, Any]:
    kinds = sorted({_kind(v) for v in values})
    if kinds == ["integer", "number"]:
        kinds = ["number"]
    if len(kinds) != 1:
        return {"type": kinds}
    kind = kinds[0]
    if kind == "object" and depth < _DEEPEST:
        return _object(values, depth)
    if kind == "array":
        items = [i for v in values for i in v]
        return {"type": "array", "items": _schema(items, depth + 1) if items and depth < _DEEPEST else {}}
    return {"type": kind}


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"
