"""One agent's messages as replies with what was said before each: the reading that synthesis builds on.

A reply is one API call: text and thinking of all its lines, on whatever lines they stand. What a person, a command or
the harness said between replies is kept as turns. No steps and no sums here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sessionbank.records import Message, TokenUsage, ToolCall
from sessionbank.trajectory.model import Reply, Turn

# What a model was told. Progress lines, file snapshots and the like were never part of the conversation.
TOLD = frozenset({
    "prompt", "meta", "command", "command_output", "interruption", "compact_summary", "notification", "teammate",
})  # fmt: skip


@dataclass(slots=True)
class Draft:
    """A reply while its lines are gathered."""

    first: Message
    lines: list[Message] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    before: list[Turn] = field(default_factory=list)


def gather(messages: Sequence[Message], calls: Iterable[ToolCall]) -> tuple[list[Draft], list[Turn]]:
    """The replies of one agent in the order of their first lines, and the turns after the last of them.

    Rows that were copied from an earlier session are left out. A tool call belongs to the reply on whose line it
    stands; where that line is no reply of a model, it is taken as one, so that no call is lost.
    """
    own = [m for m in messages if m.inherited_from is None]
    calling: dict[int, list[ToolCall]] = {}
    for call in calls:
        if call.inherited_from is None:
            calling.setdefault(call.seq, []).append(call)
    drafts: dict[tuple[str, str | int], Draft] = {}
    waiting: list[Turn] = []
    for message in own:
        here = calling.get(message.seq, [])
        if message.kind != "reply" and not here:
            waiting += _turns(message)
            continue
        key = ("id", message.message_id) if message.message_id else ("seq", message.seq)
        draft = drafts.get(key)
        if draft is None:
            draft = drafts[key] = Draft(message, before=waiting)
            waiting = []
        draft.lines.append(message)
        draft.calls += here
    return list(drafts.values()), waiting


def _turns(message: Message) -> list[Turn]:
    if message.kind == "tool_result":  # beside results, a line may hold what the user typed when refusing
        texts = [b.text for b in message.blocks if b.type == "text" and b.text]
        images: tuple[str, ...] = ()  # a result's pictures are its step's
    elif (
        message.kind in TOLD
        or message.kind == "other"
        or (message.role == "assistant" and message.kind == "system")
    ):
        texts = [message.text] if message.text else []
        images = tuple(b.media_type or "image" for b in message.blocks if b.type == "image")
    else:
        return []
    if message.kind == "other" and message.role != "user":
        return []
    if not texts and not images:
        return []
    return [
        Turn(
            message.kind, message.role, "\n".join(texts), message.timestamp, message.uuid, message.checkpoint_id,
            message.seq, message.in_context, images,
        )
    ]  # fmt: skip


def reply_of(draft: Draft, number: int, usage: TokenUsage | None) -> Reply:
    """The reply that a draft has become."""
    blocks = [b for m in draft.lines for b in m.blocks]
    thinking = [b.text for b in blocks if b.type == "thinking" and b.text]
    texts = [b.text for b in blocks if b.type == "text" and b.text]
    if not texts and not any(m.blocks for m in draft.lines):  # a format that keeps no blocks
        texts = [m.text for m in draft.lines if m.text]
    first = draft.first
    return Reply(
        number=number,
        message_id=first.message_id,
        model=usage.model if usage and usage.model else first.model,
        timestamp=first.timestamp,
        text="\n\n".join(texts) or None,
        thinking="\n\n".join(thinking) or None,
        is_thinking_withheld=any(b.type == "thinking" and b.is_redacted for b in blocks),
        before=tuple(draft.before),
        input_tokens=usage.input_tokens if usage else None,
        cache_creation_tokens=usage.cache_creation_tokens if usage else None,
        cache_creation_1h_tokens=usage.cache_creation_1h_tokens if usage else None,
        cache_read_tokens=usage.cache_read_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        reasoning_tokens=usage.reasoning_tokens if usage else None,
        total_tokens=usage.total_tokens if usage else None,
        cost_usd=usage.cost_usd if usage else None,
        is_partial=bool(usage and usage.is_partial),
        message_uuid=first.uuid,
        checkpoint_id=first.checkpoint_id,
        seq=first.seq,
        in_context=first.in_context,
    )
