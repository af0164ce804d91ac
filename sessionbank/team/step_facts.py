"""What scores need to know of each step, worked out once a team: its kind, whether it failed, whether that was mended.

Read off actions and results (`actions`), and off which identifiers come back later (`identifiers`). No weights here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from sessionbank.team.actions import action_kind, failure, same_try
from sessionbank.team.identifiers import words, written
from sessionbank.team.model import Team, TeamStep

MENDED, OPEN = "mended", "open"
# A failed look at a file is part of looking; these failures are of the work itself.
WORK_KINDS = frozenset({"write", "commit", "check", "run", "other", "coordinate"})


@dataclass(slots=True)
class AgentFacts:
    """Facts of one agent's steps; each list has an item a step, in order."""

    steps: Sequence[TeamStep]
    kinds: list[str]
    failures: list[str | None]  # how it failed, as `actions.failure` says
    ends: list[str | None]  # of a failed step MENDED or OPEN: whether a later try of the same went well
    mends: list[bool]  # whether it is the first that went well after failures of the same
    introduced: list[int]  # identifiers that first stand here and that the agent writes again later
    own: list[set[str]]  # identifiers that the agent wrote here
    last_use: dict[str, int]  # identifier -> the last step that writes it
    open_before: list[
        int
    ]  # how many failures of work that stayed open lie before each step; one item more than steps
    failed_before: list[int]  # the same for all failures of work
    seqs: list[int]  # place in the session of each step, -1 where it has none

    def open_in(self, first: int, end: int) -> int:
        """Failures of work that stayed open, from step `first` on and before `end`."""
        return self.open_before[min(end, len(self.steps))] - self.open_before[min(first, len(self.steps))]

    def failed_in(self, first: int, end: int) -> int:
        """Failures of work, mended or not, from step `first` on and before `end`."""
        return self.failed_before[min(end, len(self.steps))] - self.failed_before[min(first, len(self.steps))]

    def at_seq(self, seq: int) -> int | None:
        """Place of the first step at or after a place in the session; None when there is none or no step has one."""
        at = bisect_left(self.seqs, seq)
        return at if at < len(self.seqs) else None


def facts(team: Team) -> dict[str, AgentFacts]:
    """Facts of every agent's steps."""
    return {agent: _agent(steps) for agent, steps in team.step_lists.items()}


def _agent(steps: Sequence[TeamStep]) -> AgentFacts:
    kinds = [action_kind(s) for s in steps]
    failures = [failure(s, kind=k) for s, k in zip(steps, kinds, strict=True)]
    ends, mends = _mended(steps, kinds, failures)
    own = [written(s.thought, s.action_input) for s in steps]
    last_use: dict[str, int] = {}
    for at, found in enumerate(own):
        for i in found:
            last_use[i] = at
    seen: set[str] = set()
    used = set(last_use)
    introduced = []
    for at, step in enumerate(steps):
        found = own[at] | words(step.observation)
        new = {i for i in (found & used) - seen if last_use[i] > at}
        seen |= new
        introduced.append(len(new))
    at_work = [f is not None and k in WORK_KINDS for f, k in zip(failures, kinds, strict=True)]
    stays = [w and e == OPEN for w, e in zip(at_work, ends, strict=True)]
    return AgentFacts(
        steps, kinds, failures, ends, mends, introduced, own, last_use,
        list(accumulate(stays, initial=0)), list(accumulate(at_work, initial=0)),
        [s.seq if s.seq is not None else -1 for s in steps],
    )  # fmt: skip


def _mended(
    steps: Sequence[TeamStep], kinds: Sequence[str], failures: Sequence[str | None]
) -> tuple[list[str | None], list[bool]]:
    """Of each failed step whether it was mended, and which steps mended something; read from the end.

    A later try of the same (tool and path, or tool and first words of the command) that went well mends it.
    """
    ends: list[str | None] = [None] * len(steps)
    mends = [False] * len(steps)
    good: dict[str, int] = {}
    for at in range(len(steps) - 1, -1, -1):
        if kinds[at] == "respond":
            continue
        key = same_try(steps[at])
        if failures[at] is None:
            good[key] = at
        elif key in good:
            ends[at] = MENDED
            mends[good[key]] = True
        else:
            ends[at] = OPEN
    return ends, mends
