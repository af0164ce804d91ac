"""A session as the entries that a reader goes through: a message with the tool calls it makes, results folded in.

What is shown of an entry, and how, is decided elsewhere. No line is dropped: each has its place, a result's is that of its
call. Subagents stand under the call that started them, where a call is known; else where their lines are.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sessionbank.records import Message, Session, ToolCall

GROUPS = ("prompts", "replies", "tools", "subagents", "other")
_GROUP = {
    "prompt": "prompts", "command": "prompts", "interruption": "prompts", "reply": "replies", "tool_result": "tools",
}  # fmt: skip
TROUBLE = frozenset({"error", "rejected", "interrupted"})  # statuses that a reader is taken to


@dataclass(frozen=True, slots=True)
class Entry:
    """A message, the calls that it makes, and how deep it stands under the main agent."""

    message: Message
    calls: tuple[ToolCall, ...] = ()
    results: tuple[
        int, ...
    ] = ()  # numbers (seq) of the lines with the calls' results, which are no entries themselves
    depth: int = 0
    agent_type: str | None = None  # of the subagent that acts

    @property
    def seq(self) -> int:
        """The number of its message."""
        return self.message.seq

    @property
    def groups(self) -> frozenset[str]:
        """What the filters call it; a subagent's entries are only that."""
        if self.message.is_subagent:
            return frozenset(("subagents",))
        said = any(b.type in ("text", "thinking", "image") for b in self.message.blocks)
        if not self.calls:
            return frozenset((_GROUP.get(self.message.kind, "other"),))
        return frozenset(("tools", _GROUP.get(self.message.kind, "other"))) if said else frozenset(("tools",))

    @property
    def is_trouble(self) -> bool:
        """Whether a call of it failed, was rejected or interrupted."""
        return any(c.status in TROUBLE for c in self.calls)


class Entries:
    """All entries of a session in reading order.

    Example:
        >>> import sessionbank as sb
        >>> with sb.open_bank("data/shop.bundle", cache=False, progress=False) as bank:
        ...     found = Entries(bank.get_by_session_id("6d52dd5f-87d8-438c-b5ff-ca1b4cb7438f"))
        >>> len(found.session.messages), len(found.all), found.counts["prompts"], found.counts["tools"]
        (32, 22, 1, 10)
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.all = tuple(_ordered(session))
        self.place: dict[int, int] = {}  # number of a message -> position of the entry that shows it
        for at, entry in enumerate(self.all):
            self.place[entry.seq] = at
            for seq in entry.results:
                self.place.setdefault(seq, at)
        self._by_seq = {m.seq: m for m in session.messages}

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many entries each group has; an entry with words and calls counts in two."""
        found = dict.fromkeys(GROUPS, 0)
        for entry in self.all:
            for group in entry.groups:
                found[group] += 1
        return found

    @cached_property
    def troubles(self) -> tuple[int, ...]:
        """Positions of the entries with a call that failed, was rejected or interrupted."""
        return tuple(at for at, entry in enumerate(self.all) if entry.is_trouble)

    def message(self, seq: int) -> Message | None:
        """The message with that number, a result's line too."""
        return self._by_seq.get(seq)

    def chosen(self, groups: Collection[str]) -> list[int]:
        """Positions of the entries of any of these groups, in order."""
        return [at for at, entry in enumerate(self.all) if not entry.groups.isdisjoint(groups)]

    def found(self, text: str) -> list[int]:
        """Positions of the entries in which the text stands, whatever the case: words, thinking, inputs and results."""
        wanted = text.casefold()
        return [at for at, words in enumerate(self._words) if wanted in words] if wanted else []

    @cached_property
    def _words(self) -> list[str]:
        return ["\n".join(_said(entry)).casefold() for entry in self.all]


def strings(value: Any) -> Iterator[str]:
    """Every text and number inside a JSON value, in order."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack.extend(reversed(list(item.values())))
        elif isinstance(item, list):
            stack.extend(reversed(item))
        elif item is not None:
            yield item if isinstance(item, str) else json.dumps(item)


def parsed(text: str | None) -> Any:
    """A tool's input as JSON; the text itself where it is none."""
    try:
        return json.loads(text or "")
    except (ValueError, RecursionError):
        return text


def _said(entry: Entry) -> Iterator[str]:
    for block in entry.message.blocks:
        if block.text and block.type != "tool_use":
            yield block.text
    if not entry.message.blocks and entry.message.text:
        yield entry.message.text
    for call in entry.calls:
        yield call.tool_name
        yield from strings(parsed(call.input))
        yield call.result_text or ""


def _ordered(session: Session) -> Iterator[Entry]:
    """Entries in file order, subagents' under the calls that started them."""
    calls: dict[int, list[ToolCall]] = defaultdict(list)
    answers: dict[int, ToolCall] = {}
    for call in session.tool_calls:
        calls[call.seq].append(call)
        if call.result_seq is not None and call.result_seq != call.seq:
            answers[call.result_seq] = call
    numbers = {m.seq for m in session.messages}
    own = {c.tool_call_id for found in calls.values() for c in found}
    kinds = {(s.agent_id, s.parent_tool_call_id): s.agent_type for s in session.subagents}
    top: list[Entry] = []
    under: dict[str, list[Entry]] = defaultdict(list)
    for message in session.messages:
        answered = answers.get(message.seq)
        if answered is not None and answered.seq in numbers and _is_result_alone(message):
            continue
        mine = tuple(calls.get(message.seq, ()))
        results = tuple(
            dict.fromkeys(
                c.result_seq for c in mine if c.result_seq is not None and c.result_seq != message.seq
            )
        )
        kind = kinds.get((message.agent_id, message.parent_tool_call_id)) if message.is_subagent else None
        entry = Entry(message, mine, results, int(message.is_subagent), kind)
        parent = message.parent_tool_call_id
        if message.is_subagent and parent in own and parent is not None:
            under[parent].append(entry)
        else:
            top.append(entry)
    yield from _unfolded(top, under)
    for rest in list(under.values()):  # a ring of calls that start each other: shown nevertheless
        yield from rest


def _unfolded(top: list[Entry], under: dict[str, list[Entry]]) -> Iterator[Entry]:
    stack = [(entry, entry.depth) for entry in reversed(top)]
    while stack:
        entry, depth = stack.pop()
        yield entry if entry.depth == depth else replace(entry, depth=depth)
        below = [e for call in entry.calls for e in under.pop(call.tool_call_id, ())]
        stack.extend((e, depth + 1) for e in reversed(below))


def _is_result_alone(message: Message) -> bool:
    return message.kind == "tool_result" and all(
        b.type == "tool_result" or not b.text for b in message.blocks
    )
