"""One agent's steps made small: which lines of its inner steps stay, and what a folded run says it did.

Pure text work on the steps of one agent: nothing is measured here, and teams and budgets of several agents are
`compress`'s. Lines are kept whole or not at all, since an identifier outside its sentence says nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heapify, heappop, heapreplace
from typing import NamedTuple

from sessionbank.team.actions import StepLike, failure, same_try, target
from sessionbank.team.identifiers import (
    TOKEN_CHARS,
    estimated_tokens,
    lines,
    plain_input,
    words,
    written,
)

# What tools print at length and nobody needs again.
VERBOSE = (
    r"\x1b\[[0-9;?]*[A-Za-z]",  # colours and cursor moves
    # an opening ends the search of the one before it: many of them take a time in proportion to their number
    r"(?s:<system-reminder>(?:(?!<system-reminder>).)*?</system-reminder>)",
    r"[A-Za-z0-9+/]{200,}={0,2}",  # encoded bytes
    r"[=#━█▓░.\-]{12,}(?: *\d{1,3} ?%)?",  # bars and rules
    r"(?m:^.*\r(?!\n))",  # a line that the next one wrote over
    r"(?m:^(?:npm (?:warn|notice|WARN)|go: downloading|Collecting |Downloading |Requirement already satisfied).*$)",
)
_WORTH = re.compile(r"[Ee]rror|ERROR|FAIL|[Ff]ailed|panic|Traceback|xception|[Ff]atal|not found|denied")
_SUFFIX = re.compile(r"[A-Za-z0-9]{1,5}")
HEAD_CHARS, FOLD_CHARS = 100, 180
FIRST_STEPS, FIRST_LINES = 8, 8
_PART = 1 << 40  # numbers of lines of a step's next text begin here
PLAIN = "respond"


@dataclass(slots=True)
class Entry:
    """A part of a compressed agent: one step (boundary, kept, cut) or a run of steps (fold, summary)."""

    kind: str
    at: list[int]  # places of its steps in the agent's list
    text: str = ""
    head: str = ""
    is_marked: bool = True  # lines stand under the number of their step
    parts: list[tuple[int, int]] = field(
        default_factory=list
    )  # (place of a step, characters of the text from it)
    kept: dict[tuple[int, int], str] = field(default_factory=dict)  # (place of the step, line) -> the line


class Line(NamedTuple):
    """A line of an inner step that may be kept: where it stands, and which later used identifiers it holds."""

    at: int
    number: int
    text: str
    holds: frozenset[str]


class Work:
    """One agent's steps, which of them are boundary steps, what is stripped, and which failed (looked up once)."""

    def __init__(
        self, steps: Sequence[StepLike], boundary: Sequence[bool], patterns: tuple[str, ...]
    ) -> None:
        self.steps, self.boundary, self.patterns = steps, boundary, patterns
        self.inner = [at for at, b in enumerate(boundary) if not b]
        self._failed: dict[int, str | None] = {}

    def failed(self, at: int) -> str | None:
        """How a step failed, as `actions.failure` says."""
        if at not in self._failed:
            self._failed[at] = failure(self.steps[at])
        return self._failed[at]

    def shared_thought(self, at: int) -> bool:
        """Whether the thought of a step is that of the step before it: one reply that called several tools."""
        thought = self.steps[at].thought
        return at > 0 and thought is not None and thought == self.steps[at - 1].thought

    def texts(self, at: int) -> tuple[str, str, str]:
        """The text of a step that lines are kept of: thought (unless shared), arguments, stripped result."""
        step = self.steps[at]
        thought = "" if self.shared_thought(at) else step.thought or ""
        return thought, plain_input(step.action_input), stripped(step.observation, self.patterns)

    def numbered(self, at: int) -> Iterator[tuple[int, str]]:
        """The lines of a step that may be kept, each with a number that grows with its place in the step."""
        for part, text in enumerate(self.texts(at)):
            begin = part * _PART
            for raw in text.split("\n") if text else ():
                for k, line in enumerate(lines(raw)):
                    yield begin + k, line
                begin += len(raw) + 1

    def lines(self, at: int) -> Iterator[str]:
        """The lines of a step that may be kept."""
        return (line for _, line in self.numbered(at))


def whole(step: StepLike, *, with_thought: bool = True) -> str:
    """A step as text, nothing left out: thought, ``> action arguments``, observation."""
    parts = [step.thought] if step.thought and with_thought else []
    if step.action_input or step.action_name != PLAIN:
        parts.append(f"> {step.action_name} {step.action_input or ''}".rstrip())
    if step.observation:
        parts.append(step.observation)
    return "\n".join(parts)


# Text without this cannot match the pattern, and is not searched.
_NEEDS = {VERBOSE[0]: "\x1b", VERBOSE[1]: "</system-reminder>", VERBOSE[4]: "\r"}


@lru_cache(maxsize=16)
def _verbose(patterns: tuple[str, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((_NEEDS.get(p, ""), re.compile(p)) for p in patterns)


def stripped(text: str | None, patterns: tuple[str, ...]) -> str:
    """A text without what the patterns match, one after the other."""
    for needs, pattern in _verbose(patterns) if text else ():
        if text and needs in text:
            text = pattern.sub("", text)
    return text or ""


def used_later(work: Work) -> dict[int, set[str]]:
    """For each inner step (by place) the identifiers that it holds and that a later step uses.

    Used is what the agent itself writes: a thought or arguments. Steps that hold none are left out.
    """
    own = [written(s.thought, s.action_input) for s in work.steps]
    last: dict[str, int] = {}
    for at, found in enumerate(own):
        for i in found:
            last[i] = at
    held: dict[int, set[str]] = {}
    used = set(last)
    for at in work.inner:
        here = {i for i in (own[at] | words(work.steps[at].observation)) & used if last[i] > at}
        if here:
            held[at] = here
    return held


def candidates(work: Work, held: dict[int, set[str]]) -> list[Line]:
    """Lines that hold what is used later. An identifier is looked for in the first `FIRST_STEPS` steps that hold it,
    which is where it came from; of equal lines the earliest is taken.
    """
    found: list[Line] = []
    seen: set[str] = set()
    looked: Counter[str] = Counter()
    for at, all_wanted in held.items():
        wanted = {w for w in all_wanted if looked[w] < FIRST_STEPS}
        looked.update(wanted)
        for part, text in enumerate(work.texts(at) if wanted else ()):
            for number, line in _lines_with(text, wanted):
                if line not in seen and (holds := words(line) & wanted):
                    seen.add(line)
                    found.append(Line(at, part * _PART + number, line, frozenset(holds)))
    return found


def _lines_with(text: str, wanted: set[str]) -> Iterator[tuple[int, str]]:
    """The first `FIRST_LINES` lines of a text with each of the words (also inside a longer one), with their numbers.

    Looking for few words is quicker than reading all lines.
    """
    places: set[tuple[int, int]] = set()
    for word in wanted if text else ():
        at = text.find(word)
        for _ in range(FIRST_LINES):
            if at < 0:
                break
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            places.add((text.rfind("\n", 0, at) + 1, end))
            at = text.find(word, end)
    for begin, end in sorted(places):
        for k, line in enumerate(lines(text[begin:end])):
            yield begin + k, line


def chosen(found: Sequence[Line], covered: set[str], *, room: int, mark: int) -> tuple[list[Line], set[str]]:
    """Of candidates those to keep, the most new identifiers for the fewest characters first, until `room` is full.

    `room` is in characters, `mark` what naming the step of a line takes; `covered` is what stands elsewhere. Gives
    the lines, and what is covered with them.
    """
    heap = [(-len(c.holds) / (len(c.text) + 1), k) for k, c in enumerate(found)]
    heapify(heap)
    covered = set(covered)
    marked: set[int] = set()
    taken: list[Line] = []
    while heap:
        rank, k = heap[0]
        line = found[k]
        gain = len(line.holds - covered)
        length = len(line.text) + 1
        full = length + (0 if line.at in marked else mark)
        if not gain or full > room:
            heappop(heap)
        elif -gain / length > rank:  # others were taken meanwhile that hold some of its identifiers
            heapreplace(heap, (-gain / length, k))
        else:
            heappop(heap)
            taken.append(line)
            covered |= line.holds
            marked.add(line.at)
            room -= full
    return taken, covered


def telling_lines(work: Work) -> Iterator[Line]:
    """Lines to fill the room that is left: what failed, then how each thought begins, then how each result ends."""
    late: list[Line] = []
    ends: list[Line] = []
    for at in work.inner:
        text = list(work.numbered(at)) if work.failed(at) else []
        for number, line in text:
            if _WORTH.search(line):
                yield Line(at, number, line, frozenset())
                break
        thought = None if work.shared_thought(at) else work.steps[at].thought
        first = next(lines(thought), None) if thought else None
        if first is not None:
            late.append(Line(at, 0, first, frozenset()))
        if text:
            ends.append(Line(at, *text[-1], frozenset()))
    yield from late
    yield from ends


def repeated_failures(work: Work, run: Sequence[int]) -> set[int]:
    """Of each thing that was tried and failed more than once in a run: the places of the first and the last failure."""
    tries: dict[str, list[int]] = {}
    for at in run:
        if work.failed(at):
            tries.setdefault(same_try(work.steps[at]), []).append(at)
    return {at for failed in tries.values() if len(failed) > 1 for at in (failed[0], failed[-1])}


def head_line(work: Work, at: int) -> str:
    """One line that says what an inner step did and how it ended."""
    step = work.steps[at]
    what = target(step)
    if len(what) > HEAD_CHARS:
        what = what[: HEAD_CHARS - 1] + "…"
    failed = work.failed(at)
    ended = f" [{'failed' if failed == 'silent' else failed}]" if failed else ""
    return f"> {step.action_name} {what}".rstrip() + ended


def fold_line(work: Work, run: Sequence[int], *, short: bool = False) -> str:
    """One line that says what a run of steps did: how often each tool, how many failed, which files."""
    steps = work.steps
    first, last = steps[run[0]].step, steps[run[-1]].step
    span = f"step {first}" if len(run) == 1 else f"steps {first}-{last}"
    if short:
        return f"[{span}]"
    names = Counter(steps[at].action_name for at in run)
    failed = Counter(steps[at].action_name for at in run if work.failed(at))
    did = [
        f"{n} {name}" + (f" ({failed[name]} failed)" if failed[name] else "")
        for name, n in names.most_common(6)
    ]
    files = Counter(name for at in run if (name := _file_in(target(steps[at]))))
    text = f"[{span}: {', '.join(did)}"
    named = ", ".join(name for name, _ in files.most_common(3))
    text += f"; {named}" if named else ""
    return (text if len(text) < FOLD_CHARS else text[: FOLD_CHARS - 1] + "…") + "]"


def _file_in(what: str) -> str:
    """The name of the file that a target ends with, without its folders; empty where it ends with none."""
    name = what.rpartition(" ")[2].rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    return name if stem and _SUFFIX.fullmatch(suffix) else ""


def mark_chars(work: Work) -> int:
    """Characters of the line ``#step`` above the lines of a step in a fold, at most."""
    return len(str(work.steps[-1].step)) + 2 if work.steps else 0


def joined(entry: Entry, steps: Sequence[StepLike]) -> tuple[str, list[tuple[int, int]]]:
    """The text of an entry: its head, then the lines kept of it in their order, in a fold each step's under ``#step``.

    With it, (place of the step, characters) of each part, which says where in the run the text stands.
    """
    out = [entry.head] if entry.head else []
    parts = [(entry.at[0], len(entry.head) + 1)] if entry.head else []
    last = entry.at[0] if len(entry.at) == 1 else -1
    for at, number in sorted(entry.kept):
        if at != last and entry.is_marked:
            out.append(f"#{steps[at].step}")
            parts.append((at, len(out[-1]) + 1))
            last = at
        out.append(entry.kept[at, number])
        parts.append((at, len(out[-1]) + 1))
    return "\n".join(out), parts


def cost(entries: Sequence[Entry]) -> int:
    """Estimated tokens of entries as they stand, each rounded up."""
    return sum(estimated_tokens(e.text or e.head) for e in entries)


def room_after(entries: Sequence[Entry], allowed: int) -> int:
    """Characters left for lines when `allowed` tokens are given: rounding of each entry is paid in advance."""
    return (allowed - cost(entries) - len(entries)) * TOKEN_CHARS
