"""Compression: a run of a million tokens made readable in five thousand an agent.

Boundary steps (an interaction starts or ends there) stay whole. Between them structure works first: verbose output is
stripped, runs of inner steps beyond the threshold fold into one line that says what they did, of repeated failures
the first and the last stay, and of file contents and long traces the lines that hold what is used later. A summary by
a model comes last, only where an agent is still over its budget, and only if the caller hands one in. What survives is
measured in `survival`, how lines are chosen stands in `fold`.

How much of the inner steps may stay: `inner_share` of their tokens, and no more than the budget leaves beside the
boundary steps. Where boundary steps alone exceed the budget it cannot be kept and `over_budget` says so; the inner
steps of such an agent keep their fold lines and lines that are used later, and nothing to fill up with.

An estimated token is four characters. Each step stands in exactly one entry, so folded + kept = original.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sessionbank.errors import QueryError
from sessionbank.sources.no_gc import no_gc
from sessionbank.team import fold
from sessionbank.team.fold import Entry, Work
from sessionbank.team.identifiers import TOKEN_CHARS, estimated_tokens

if TYPE_CHECKING:
    import pandas as pd

    from sessionbank.team.actions import StepLike
Summariser = Callable[[str, int], str]  # (text of the folded steps, tokens that it may take) -> summary

ENTRY_COLUMNS = {
    "agent_id": "str", "entry": "Int64", "kind": "str", "first_step": "Int64", "last_step": "Int64", "steps": "str",
    "step_count": "Int64", "text": "str", "tokens": "Int64", "original_tokens": "Int64",
}  # fmt: skip
AGENT_COLUMNS = {
    "agent_id": "str", "steps": "Int64", "boundary_steps": "Int64", "kept_steps": "Int64", "folded_steps": "Int64",
    "original_tokens": "Int64", "tokens": "Int64", "boundary_tokens": "Int64", "inner_original_tokens": "Int64",
    "inner_tokens": "Int64", "inner_share": "float64", "reread_original_tokens": "Int64", "reread_tokens": "Int64",
    "budget": "Int64", "over_budget": "boolean", "is_summarised": "boolean",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CompressionConfig:
    """How far to compress; the defaults are those of the design.

    `max_tokens_per_agent`: budget. `fold_threshold`: runs of more inner steps than this fold. `inner_share`: the part
    of the inner steps' tokens that may stay. `small_tokens`: inner steps of an agent that come to no more than this
    stay as they are. `strip_patterns`: regular expressions; what they match in results of inner steps goes.
    `preserve_interaction_boundaries`: False treats boundary steps as inner ones. `summarise`: a caller's own
    summariser, asked last.

    Raises `QueryError` for values out of range.

    Example:
        >>> sb.team.CompressionConfig(max_tokens_per_agent=800).fold_threshold
        5
        >>> sb.team.CompressionConfig(inner_share=2)
        Traceback (most recent call last):
            ...
        sessionbank.errors.QueryError: inner_share is 2; it must lie between 0 and 1
    """

    max_tokens_per_agent: int = 5000
    fold_threshold: int = 5
    inner_share: float = 0.2
    small_tokens: int = 50
    strip_patterns: tuple[str, ...] = fold.VERBOSE
    preserve_interaction_boundaries: bool = True
    summarise: Summariser | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name, least in (("max_tokens_per_agent", 1), ("fold_threshold", 0), ("small_tokens", 0)):
            if getattr(self, name) < least:
                raise QueryError(f"{name} is {getattr(self, name)}; it must be at least {least}")
        if not 0 <= self.inner_share <= 1:
            raise QueryError(f"inner_share is {self.inner_share}; it must lie between 0 and 1")


@dataclass(frozen=True)
class Compressed:
    """What `compress` gives.

    `entries`: one row a part of an agent's compressed run, in order: kind (boundary, kept, cut, fold, summary),
    first_step and last_step, steps (numbers of its steps, JSON), text, tokens and original_tokens (estimated).
    `agents`: one row an agent, with stored tokens and tokens re-read over the run before and after, and over_budget.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> small = sb.team.compress(run, sb.team.CompressionConfig(max_tokens_per_agent=800))
        >>> small.entries["kind"].value_counts().to_dict()
        {'boundary': 38, 'cut': 9, 'fold': 2}
        >>> fold = small.entries[small.entries["kind"] == "fold"].iloc[0]
        >>> int(fold["step_count"]), len(small.originals(fold))
        (8, 8)
    """

    entries: pd.DataFrame
    agents: pd.DataFrame
    config: CompressionConfig
    steps: Mapping[str, Sequence[StepLike]] = field(repr=False)

    def text(self, agent_id: str) -> str:
        """The compressed run of one agent as text."""
        mine = self.entries[self.entries["agent_id"] == agent_id]
        return "\n\n".join(t for t in mine["text"] if t)

    def originals(self, row: Mapping[str, Any] | pd.Series) -> list[StepLike]:
        """The steps behind a row of `entries`, whole and in order."""
        import json

        numbers = set(json.loads(row["steps"]))
        return [s for s in self.steps[row["agent_id"]] if s.step in numbers]

    def stats(self) -> dict[str, Any]:
        """Figures of the whole: original_tokens, compressed_tokens, ratio, inner_ratio, re-read tokens, steps."""
        total = self.agents[[c for c, kind in AGENT_COLUMNS.items() if kind == "Int64"]].sum()
        inner, original = int(total["inner_original_tokens"]), int(total["original_tokens"])
        reread = int(total["reread_original_tokens"])
        return {
            "original_tokens": original,
            "compressed_tokens": int(total["tokens"]),
            "ratio": int(total["tokens"]) / original if original else None,
            "inner_ratio": int(total["inner_tokens"]) / inner if inner else None,
            "reread_original_tokens": reread,
            "reread_tokens": int(total["reread_tokens"]),
            "reread_ratio": int(total["reread_tokens"]) / reread if reread else None,
            "steps_preserved": int(total["kept_steps"]),
            "steps_folded": int(total["folded_steps"]),
            "over_budget": list(self.agents.loc[self.agents["over_budget"], "agent_id"]),
        }


@no_gc()
def compress(source: Any, config: CompressionConfig | None = None) -> Compressed:
    """Compress a team (`Team`), a trajectory (with its subagents), or a plain list of steps.

    A team's boundary steps are those that an interaction touches (`TeamStep.is_boundary`). A trajectory has none but
    steps that start another agent. Tokens re-read are counted as if every step read all that stood before it: stored
    text as it was, or its compressed form. Same input, same output.

    Example:
        >>> run = sb.team.from_session(bank.query(search="agent team")[0])
        >>> stats = sb.team.compress(run).stats()
        >>> stats["original_tokens"], stats["compressed_tokens"], stats["over_budget"]
        (4344, 3176, [])
    """
    config = config or CompressionConfig()
    by_agent = agents_of(source)
    entry_rows: list[tuple[Any, ...]] = []
    agent_rows: list[tuple[Any, ...]] = []
    for agent, steps in by_agent.items():
        entries, sizes = _agent(steps, config)
        entry_rows.extend(_entry_rows(agent, steps, entries, sizes))
        agent_rows.append(_agent_row(agent, entries, sizes, config=config))
    from sessionbank.team.metrics import typed_frame

    return Compressed(
        typed_frame(entry_rows, ENTRY_COLUMNS), typed_frame(agent_rows, AGENT_COLUMNS), config, by_agent
    )


def agents_of(source: Any) -> dict[str, Sequence[StepLike]]:
    """The steps of each agent of a team, a trajectory or a list of steps; the main agent of a trajectory is "main"."""
    if hasattr(source, "step_lists"):
        return dict(source.step_lists)
    if hasattr(source, "own_steps"):
        return {t.agent_id or t.parent_tool_call_id or "main": t.own_steps for t in source.walk()}
    found: dict[str, list[StepLike]] = {}
    for step in source:
        found.setdefault(getattr(step, "agent_id", None) or "main", []).append(step)
    return dict(found)


def is_boundary(step: StepLike) -> bool:
    """Whether a step is a boundary step: an interaction touches it, or it starts another agent."""
    from sessionbank.records import SPAWN_TOOLS

    return bool(getattr(step, "interaction_ids", ())) or step.action_name in SPAWN_TOOLS


@dataclass(slots=True)
class _Sizes:
    """Estimated tokens of each step of an agent as stored; whether it is a boundary step; whether it was summarised."""

    stored: list[int]
    boundary: list[bool]
    is_summarised: bool = False


def _agent(steps: Sequence[StepLike], config: CompressionConfig) -> tuple[list[Entry], _Sizes]:
    boundary = [config.preserve_interaction_boundaries and is_boundary(s) for s in steps]
    work = Work(steps, boundary, config.strip_patterns)
    # A thought that several steps share is counted once among inner steps; a boundary step is whole, with its thought.
    texts = [
        fold.whole(s, with_thought=boundary[at] or not work.shared_thought(at)) for at, s in enumerate(steps)
    ]
    sizes = _Sizes([estimated_tokens(t) for t in texts], boundary)
    inner_tokens = sum(sizes.stored[at] for at in work.inner)
    boundary_tokens = sum(sizes.stored) - inner_tokens
    left = config.max_tokens_per_agent - boundary_tokens
    if inner_tokens <= min(config.small_tokens, max(left, 0)) or (
        config.inner_share == 1 and inner_tokens <= left
    ):
        return [
            Entry("boundary" if boundary[at] else "kept", [at], texts[at]) for at in range(len(steps))
        ], sizes
    share = int(config.inner_share * inner_tokens)
    allowed = share if left < 0 else min(share, left)
    entries, room = _fitted(work, texts, allowed=allowed, threshold=config.fold_threshold)
    small = [e for e in entries if e.kind != "boundary"]
    if left >= 0:
        _pad(work, small, room=room)
    for e in small:
        if e.kind != "kept":
            e.text, e.parts = fold.joined(e, steps)
    if config.summarise is not None and left >= 0 and share > left:
        sizes.is_summarised = _summarised(steps, small, config.summarise, left=left)
    return entries, sizes


def _runs(boundary: Sequence[bool]) -> Iterator[tuple[bool, list[int]]]:
    """Boundary steps one by one, and the runs of inner steps between them."""
    run: list[int] = []
    for at, here in enumerate(boundary):
        if here:
            if run:
                yield False, run
                run = []
            yield True, [at]
        else:
            run.append(at)
    if run:
        yield False, run


def _fitted(work: Work, texts: Sequence[str], *, allowed: int, threshold: int) -> tuple[list[Entry], int]:
    """The entries with the lines that are used later, in the fullest of four forms that has room for all of these.

    Where none has, the form that holds the most of them. With it the characters that are left.
    """
    held = fold.used_later(work)
    found = fold.candidates(work, held)
    wanted = len(set().union(*held.values())) if held else 0
    mark = fold.mark_chars(work)
    best: tuple[int, list[Entry], list[fold.Line], int] | None = None
    for level in range(4):
        entries = list(_skeleton(work, texts, level=level, threshold=threshold))
        small = [e for e in entries if e.kind != "boundary"]
        room = fold.room_after(small, allowed)
        if room < 0 and level < 3:
            continue
        kept = set().union(*(held.get(e.at[0], ()) for e in small if e.kind == "kept"))
        open_lines = [c for c in found if not c.holds <= kept] if kept else found
        lines, covered = fold.chosen(open_lines, kept, room=max(room, 0), mark=0 if level == 3 else mark)
        if best is None or len(covered) > best[0]:
            best = (len(covered), entries, lines, max(room, 0))
        if len(covered) >= wanted:
            break
    assert best is not None  # the last form is always tried, or an earlier one had room for all
    _, entries, lines, room = best
    owner = {at: e for e in entries for at in e.at}
    mark = mark if all(e.is_marked for e in entries) else 0
    marked: set[int] = set()
    for line in lines:
        owner[line.at].kept[line.at, line.number] = line.text
        room -= len(line.text) + 1 + (0 if line.at in marked else mark)
        marked.add(line.at)
    return entries, room


def _skeleton(work: Work, texts: Sequence[str], *, level: int, threshold: int) -> Iterator[Entry]:
    """The entries with their heads alone.

    In form 0 runs up to the threshold are cut step by step and longer ones fold but for their repeated failures; in 1
    each run is one fold, in 2 with a short line, in 3 without a line and without the numbers
    of steps.
    """
    for is_edge, run in _runs(work.boundary):
        if is_edge:
            yield Entry("boundary", run, texts[run[0]])
        elif level:
            head = fold.fold_line(work, run, short=level == 2) if level < 3 else ""
            yield Entry("fold", run, head=head, is_marked=level < 3)
        else:
            yield from _run_entries(work, texts, run, threshold=threshold)


def _run_entries(work: Work, texts: Sequence[str], run: list[int], *, threshold: int) -> Iterator[Entry]:
    apart = set(run) if len(run) <= threshold else fold.repeated_failures(work, run)
    part: list[int] = []
    for at in run:
        if at not in apart:
            part.append(at)
            continue
        if part:
            yield Entry("fold", part, head=fold.fold_line(work, part))
            part = []
        head = fold.head_line(work, at)
        yield Entry("kept", [at], texts[at]) if len(texts[at]) <= len(head) else Entry("cut", [at], head=head)
    if part:
        yield Entry("fold", part, head=fold.fold_line(work, part))


def _pad(work: Work, small: list[Entry], *, room: int) -> None:
    """Put the lines that tell most into entries that are not whole, while there is room (characters)."""
    owner = {at: e for e in small for at in e.at}
    for line in fold.telling_lines(work):
        if room < 20:
            return
        entry, full = owner[line.at], len(line.text) + 1 + fold.mark_chars(work)
        if entry.kind != "kept" and (line.at, line.number) not in entry.kept and full <= room:
            entry.kept[line.at, line.number] = line.text
            room -= full


def _summarised(steps: Sequence[StepLike], small: list[Entry], summarise: Summariser, *, left: int) -> bool:
    """Ask the caller's summariser for each fold, the share of the room that its size earns; a longer one is refused."""
    folds = [e for e in small if e.kind == "fold"]
    others = sum(estimated_tokens(e.text) for e in small if e.kind != "fold")
    originals = ["\n\n".join(fold.whole(steps[at]) for at in e.at) for e in folds]
    total = sum(map(len, originals)) or 1
    done = False
    for entry, original in zip(folds, originals, strict=True):
        room = int((left - others) * len(original) / total) - estimated_tokens(entry.head) - 1
        summary = summarise(original, room).strip() if room > 0 else ""
        if summary and estimated_tokens(summary) <= room:
            entry.kind, entry.text, entry.parts, done = (
                "summary",
                f"{entry.head}\n{summary}".strip(),
                [],
                True,
            )
    return done


def _entry_rows(
    agent: str, steps: Sequence[StepLike], entries: list[Entry], sizes: _Sizes
) -> Iterator[tuple[Any, ...]]:
    for number, e in enumerate(entries):
        at = [steps[k].step for k in e.at]
        yield (
            agent, number, e.kind, at[0], at[-1], str(at), len(at), e.text, estimated_tokens(e.text),
            sum(sizes.stored[k] for k in e.at),
        )  # fmt: skip


def _agent_row(
    agent: str, entries: list[Entry], sizes: _Sizes, *, config: CompressionConfig
) -> tuple[Any, ...]:
    n = len(sizes.stored)
    stored = sum(sizes.stored)
    edge = sum(t for t, b in zip(sizes.stored, sizes.boundary, strict=True) if b)
    after = sum(estimated_tokens(e.text) for e in entries)
    folded = sum(len(e.at) for e in entries if e.kind in ("fold", "summary"))
    reread = sum(t * (n - 1 - at) for at, t in enumerate(sizes.stored))
    small = sum(
        chars * (n - 1 - at) for e in entries for at, chars in e.parts or [(e.at[0], len(e.text))]
    ) // TOKEN_CHARS  # fmt: skip
    inner = stored - edge
    return (
        agent, n, sum(sizes.boundary), n - folded, folded, stored, after, edge, inner, after - edge,
        (after - edge) / inner if inner else None, reread, small, config.max_tokens_per_agent,
        after > config.max_tokens_per_agent, sizes.is_summarised,
    )  # fmt: skip
