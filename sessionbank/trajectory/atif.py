"""The Agent Trajectory Interchange Format, ATIF v1.7, as it is written. One document a trajectory.

Subagents are embedded in ``subagent_trajectories`` and pointed at from the result of the call that started them. What
the format has no field for stands in ``extra``, so that most of a trajectory comes back from its document; what every
reader may rely on is the format's own fields.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sessionbank.trajectory.conversation import Exchange, arguments_of, conversation, with_pictures
from sessionbank.trajectory.jsonl import compact, plain, written_time
from sessionbank.trajectory.model import Reply, Step, Trajectory
from sessionbank.trajectory.pictures import data_urls, media_type

VERSION = "ATIF-v1.7"
Put = Callable[[str], str]  # a picture as a data URL -> the path where it was stored


def to_atif(
    trajectory: Trajectory, *, is_live: bool = False, version: str | None = None, put: Put | None = None
) -> dict[str, Any] | None:
    """The document; None where nothing was said at all, since the format wants at least one step.

    `version` is the agent's, where the trajectory does not tell it (a subagent's does not). `put` stores a picture (a
    data URL) and gives its path; without it a note stands in place of each picture.
    """
    version = trajectory.metadata.get("agent_version") or version
    steps: list[dict[str, Any]] = []
    below = {}
    for child in trajectory.subagents:
        made = to_atif(child, is_live=is_live, version=version, put=put)
        if made is not None:
            below[child.id] = (child, made)
    refs: dict[str, list[dict[str, Any]]] = {}
    for child, _ in below.values():
        if child.parent_tool_call_id:
            refs.setdefault(child.parent_tool_call_id, []).append(
                {"trajectory_id": child.id, "session_id": child.session_id}
            )
    for part in conversation(trajectory, is_live=is_live):
        number = len(steps) + 1
        steps.append(_said(part, number, put) if part.turn else _replied(part, number, refs, put=put))
    if not steps:
        return None
    models = Counter(r.model for r in trajectory.replies if r.model)
    document = {
        "schema_version": VERSION,
        "session_id": trajectory.session_id,
        "trajectory_id": trajectory.id,
        "agent": compact({
            "name": trajectory.agent, "version": version or "unknown",
            "model_name": models.most_common(1)[0][0] if models else None,
            "extra": compact({"agent_id": trajectory.agent_id, "agent_type": trajectory.agent_type}),
        }),
        "steps": steps,
        "final_metrics": _final(trajectory, len(steps)),
        "subagent_trajectories": [d for _, d in below.values()],
        "extra": {"sessionbank": _rest(trajectory)},
    }  # fmt: skip
    return compact(document)


def _said(part: Exchange, number: int, put: Put | None) -> dict[str, Any]:
    turn = part.turn
    if turn is None:
        raise ValueError("an exchange without a turn")
    return compact({
        "step_id": number,
        "timestamp": written_time(turn.timestamp),
        "source": "user" if turn.role == "user" else "system",
        "message": _content(turn.text, turn.images, put) or "",
        "extra": compact({
            "kind": turn.kind, "role": turn.role, "message_uuid": turn.message_uuid,
            "checkpoint_id": turn.checkpoint_id,
            "seq": turn.seq, "in_context": turn.in_context, "is_inferred": part.is_inferred or None,
        }),
    })  # fmt: skip


def _replied(
    part: Exchange, number: int, refs: Mapping[str, list[dict[str, Any]]], *, put: Put | None
) -> dict[str, Any]:
    reply = part.reply
    if reply is None:
        raise ValueError("an exchange without a reply")
    calls = [s for s in part.steps if s.tool_call_id is not None]
    results = []
    for step in calls:
        shown = _content(step.observation, step.images, put)
        ref = refs.get(step.tool_call_id or "")
        if shown is not None or ref or step.status != "no_result":
            results.append(compact({
                "source_call_id": step.tool_call_id, "content": shown if shown is not None or ref else "",
                "subagent_trajectory_ref": ref,
            }))  # fmt: skip
    return compact({
        "step_id": number,
        "timestamp": written_time(reply.timestamp),
        "source": "agent",
        "model_name": reply.model,
        "message": reply.text or "",
        "reasoning_content": reply.thinking,
        "tool_calls": [_call(s) for s in calls],
        "observation": {"results": results} if results else None,
        "metrics": _metrics(reply),
        "llm_call_count": 1 if reply.message_id else None,
        "extra": compact({
            "message_id": reply.message_id, "message_uuid": reply.message_uuid, "checkpoint_id": reply.checkpoint_id,
            "seq": reply.seq, "in_context": reply.in_context, "is_partial": reply.is_partial or None,
            "is_thinking_withheld": reply.is_thinking_withheld or None,
        }),
    })  # fmt: skip


def _content(text: str | None, images: tuple[str, ...], put: Put | None) -> str | list[dict[str, Any]] | None:
    """Text with a note for each picture, or parts where pictures are stored."""
    said, urls = with_pictures(text, images), data_urls(images) if put else []
    if put is None or not urls:
        return said
    pictures = [{"media_type": media_type(url), "path": put(url)} for url in urls]
    return [{"type": "text", "text": said}, *({"type": "image", "source": p} for p in pictures)]


def _call(step: Step) -> dict[str, Any]:
    return {
        "tool_call_id": step.tool_call_id,
        "function_name": step.tool_name,
        "arguments": arguments_of(step),
        "extra": compact({
            "status": step.status, "duration_ms": step.duration_ms, "called_at": written_time(step.started_at),
            "checkpoint_id": step.checkpoint_id, "message_uuid": step.message_uuid, "seq": step.seq,
            "result_seq": step.result_seq, "mcp_server": step.mcp_server,
        }),
    }  # fmt: skip


def _prompt_tokens(reply: Reply) -> int | None:
    """Of ATIF: cached tokens are part of the prompt."""
    parts = (reply.input_tokens, reply.cache_read_tokens, reply.cache_creation_tokens)
    return None if all(p is None for p in parts) else sum(p or 0 for p in parts)


def _metrics(reply: Reply) -> dict[str, Any] | None:
    if reply.total_tokens is None:
        return None
    return compact({
        "prompt_tokens": _prompt_tokens(reply), "completion_tokens": reply.output_tokens,
        "cached_tokens": reply.cache_read_tokens, "cost_usd": reply.cost_usd,
        "extra": compact({
            "input_tokens": reply.input_tokens, "cache_creation_tokens": reply.cache_creation_tokens,
            "cache_creation_1h_tokens": reply.cache_creation_1h_tokens, "reasoning_tokens": reply.reasoning_tokens,
        }),
    })  # fmt: skip


def _total(values: Sequence[int | None]) -> int | None:
    known = [v for v in values if v is not None]
    return sum(known) if known else None


def _final(trajectory: Trajectory, steps: int) -> dict[str, Any]:
    replies = trajectory.replies
    return compact({
        "total_prompt_tokens": _total([_prompt_tokens(r) for r in replies]),
        "total_completion_tokens": _total([r.output_tokens for r in replies]),
        "total_cached_tokens": _total([r.cache_read_tokens for r in replies]),
        "total_cost_usd": trajectory.cost_usd,
        "total_steps": steps,
        "extra": compact({"llm_calls": trajectory.llm_calls, "total_tokens": trajectory.total_tokens}),
    })  # fmt: skip


def _rest(trajectory: Trajectory) -> dict[str, Any]:
    return compact({
        "version": trajectory.version, "task": plain(trajectory.task), "outcome": plain(trajectory.outcome),
        "timestamp": written_time(trajectory.timestamp), "wall_seconds": trajectory.wall_seconds,
        "active_seconds": trajectory.active_seconds, "metadata": dict(trajectory.metadata),
        "parent_tool_call_id": trajectory.parent_tool_call_id,
    })  # fmt: skip
