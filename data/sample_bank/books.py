"""The books: what each written line means, noted when it is written, and the sums over the lines that were stored.

Nothing here reads a transcript: a writer hands in facts, and the sums are taken over facts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

TOKENS = ("input", "cache_creation", "cache_creation_1h", "cache_read", "output")
STATUSES = ("ok", "error", "rejected", "interrupted", "no_result")


@dataclass
class Line:
    """One written record (or a broken piece of one) with the facts about it."""

    text: str
    uuid: str | None = None
    facts: list[tuple] = field(default_factory=list)
    glue: bool = False  # the next record follows on the same physical line
    bad: bool = False  # cannot be read as JSON
    ending: str = "\n"


def no_tokens() -> dict[str, int]:
    """A zero of each token class."""
    return dict.fromkeys(TOKENS, 0)


def add(into: dict[str, int], usage: dict[str, int]) -> None:
    """Add the classes of one usage to a sum."""
    for name in TOKENS:
        into[name] += usage.get(name, 0)


def best_calls(lines: Iterable[Line], kind: str = "call") -> dict[str, tuple]:
    """The fact of each API call whose recorded output is highest; the first of equals."""
    calls: dict[str, tuple] = {}
    for line in lines:
        for fact in line.facts:
            if fact[0] == kind and (fact[1] not in calls or fact[4]["output"] > calls[fact[1]][4]["output"]):
                calls[fact[1]] = fact
    return calls


def tally(lines: Iterable[Line]) -> dict:
    """Sums over the lines of one session that are stored somewhere, each line once."""
    lines = list(lines)
    facts = [fact for line in lines for fact in line.facts]

    def count(name: str) -> int:
        return sum(1 for fact in facts if fact[0] == name)

    def distinct(name: str) -> set[str]:
        return {fact[1] for fact in facts if fact[0] == name}

    tools = distinct("tool")
    results = {fact[1]: fact[2] for fact in facts if fact[0] == "result"}
    status = dict.fromkeys(STATUSES, 0)
    for call in tools:
        status[results.get(call, "no_result")] += 1
    rows: dict[str, int] = {}
    names: dict[str, int] = {}
    for fact in facts:
        if fact[0] == "row":
            rows[fact[1]] = rows.get(fact[1], 0) + 1
        if fact[0] == "tool":
            names[fact[2]] = names.get(fact[2], 0) + 1
    out = {
        "human_prompts": count("prompt") + count("queued"),
        "queued_prompts": count("queued"),
        "rows": sum(rows.values()),
        "rows_by_type": dict(sorted(rows.items())),
        "inherited_rows": count("inherited"),
        "tool_calls": len(tools),
        "tool_names": dict(sorted(names.items())),
        "tool_status": status,
        "results_without_call": len(set(results) - tools),
        "spawns": len(distinct("spawn")),
        "subagent_tool_calls": len(distinct("subtool")),
        "subagent_tool_errors": len(distinct("suberror")),
        "synthetic_rows": count("synthetic"),
        "interruptions": count("interruption"),
        "compactions": count("compaction"),
        "by_model": {},
        "by_day": {},
    }
    for kind, prefix in (("call", ""), ("subcall", "subagent_")):
        calls = best_calls(lines, kind)
        total = no_tokens()
        for _, _, model, day, usage in calls.values():
            add(total, usage)
            for table, key in (("by_model", model), ("by_day", day)):
                cell = out[table].setdefault(key, empty_cell())
                cell[f"{prefix}api_calls"] += 1
                add(cell[f"{prefix}tokens"], usage)
        out[f"{prefix}api_calls"] = len(calls)
        out[f"{prefix}tokens"] = total
    return out


def empty_cell() -> dict:
    """A cell of the tables by model and by day."""
    return {"api_calls": 0, "tokens": no_tokens(), "subagent_api_calls": 0, "subagent_tokens": no_tokens()}


def merge(into: dict, other: dict) -> dict:
    """Add nested sums of numbers; the keys of both are kept, in order of name at the end."""
    for key, value in other.items():
        if isinstance(value, dict):
            merge(into.setdefault(key, {}), value)
        elif isinstance(value, int):
            into[key] = into.get(key, 0) + value
    return into
