"""The numbers of a report, gathered once: frames of the bank's tables, with the texts in them cleaned.

Outcomes and teams are told of whole sessions. Each session is made once and asked for both. Where there is a second core
another process helps: it takes sessions from the other end, and then jobs of the caller's (pictures), with which this one
begins. What a row means is the schema's part, how it is shown `sections` and `trust`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from sessionbank import schema
from sessionbank.bank import SessionBank
from sessionbank.records import Session
from sessionbank.report.clean import Clean
from sessionbank.selection import WORKED_OUT, Selection
from sessionbank.tables.second import Second, Tokens, has_second_core

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
JUDGED = ("outcomes", "interactions", "members")
COUNTED_BY = ("day", "commit", "branch", "agent", "model", "checkpoint")
# Columns that hold words of people, models or machines. Ids, times, figures and our own words are left as they are.
_WORDS = {
    "sessions": ("intent",), "commits": ("subject",), "diagnostics": ("message", "path"), "outcomes": ("reason",),
    "interactions": ("from_role", "to_role"), "members": ("role",), "checkpoints": ("branch", "strategy", "cli_version"),
    "tool_calls": ("tool_name", "mcp_server"),
}  # fmt: skip
_CALLS = ("session_id", "tool_name", "mcp_server", "status", "is_subagent", "inherited_from", "duration_ms")
Rows = dict[str, list[tuple[Any, ...]]]
Job = Callable[[], str]


@dataclass
class Facts:
    """Frames by table, sums by grouping, and what the bank says of itself."""

    tables: Mapping[str, pd.DataFrame]
    totals: Mapping[str, pd.DataFrame]
    naive: pd.DataFrame  # the bridge of output tokens
    tz: str
    clean: Clean
    is_available: bool
    layouts: tuple[str, ...] = ()
    head: str | None = None
    total: int | None = None  # sessions before a limit, where it is a selection
    judged: dict[str, pd.DataFrame] = field(default_factory=dict)

    def __getitem__(self, name: str) -> pd.DataFrame:
        """A table by name."""
        return self.judged[name] if name in JUDGED else self.tables[name]


def gather(
    bank: SessionBank | Selection,
    *,
    tz: str,
    redact: bool,
    jobs: Callable[[Facts], Sequence[Job]] = lambda facts: (),
) -> tuple[Facts, list[str]]:
    """All that the report tells, and the answers of the jobs that `jobs` makes of what is counted."""
    clean = Clean(redact=redact)
    names = ("sessions", "checkpoints", "commits", "attribution", "diagnostics", "reconcile", "learnings")
    tables = {name: getattr(bank, name)() for name in names}
    tables["tool_calls"] = schema.frame(bank.arrow("tool_calls").select(list(_CALLS)))
    tables["records"] = schema.frame(bank.arrow("records").select(["session_id", "prompt_text"]))
    for name, frame in tables.items():
        _clean_words(name, frame, clean)
    totals = {by: bank.totals(by, tz=tz) for by in COUNTED_BY}
    for by in ("branch", "model"):
        totals[by][by] = clean.column(totals[by][by])
    facts = Facts(tables, totals, bank.explain("output_tokens"), tz, clean, is_available=True)
    if isinstance(bank, SessionBank):
        facts.is_available, facts.layouts, facts.head = bank.is_available, bank.layouts, bank.head
    else:
        facts.total = bank.total
    rows, answers = _judge(list(bank.iter_sessions()), jobs(facts))
    for name in JUDGED:
        facts.judged[name] = schema.frame(schema.arrow_table(name, rows[name]))
        _clean_words(name, facts.judged[name], clean)
    return facts, answers


def _clean_words(name: str, frame: pd.DataFrame, clean: Clean) -> None:
    for column in _WORDS.get(name, ()):
        frame[column] = clean.column(frame[column])


# -- what is told of whole sessions ------------------------------------------------------------------------------


def _judge(sessions: Sequence[Session], jobs: Sequence[Job]) -> tuple[Rows, list[str]]:
    """Rows of the judged tables, sessions in the order given, and the answers of the jobs in theirs."""
    if len(sessions) < 2 or not has_second_core():
        answers = [job() for job in jobs]
        return _rows(sessions, range(len(sessions))), answers
    _ = sessions[0].commit_facts  # asks git, which belongs to this process

    def judged(at: int) -> Rows:
        return _rows(sessions, (at,))

    def work(tick: Callable[[], None]) -> tuple[dict[int, Rows], dict[int, str]]:
        found = _taken(left, judged, reversed(range(len(sessions))), tick)
        return found, _taken(undone, lambda at: jobs[at](), reversed(range(len(jobs))), tick)

    with Tokens(len(sessions)) as left, Tokens(len(jobs)) as undone, Second(work) as second:
        done = _taken(undone, lambda at: jobs[at](), range(len(jobs)))
        found = _taken(left, judged, range(len(sessions)))
        theirs = second.answer(lambda ticks: None) or ({}, {})
    found |= theirs[0]
    done |= theirs[1]
    # what the other process took and did not give back is done here
    every = [found[at] if at in found else judged(at) for at in range(len(sessions))]
    answers = [done[at] if at in done else jobs[at]() for at in range(len(jobs))]
    return {name: [row for rows in every for row in rows[name]] for name in JUDGED}, answers


def _taken(
    tokens: Tokens, do: Callable[[int], T], places: Iterable[int], tick: Callable[[], None] = lambda: None
) -> dict[int, T]:
    """What is done at each place for which there is a token left."""
    found = {}
    for at in places:
        if not tokens.take():
            break
        found[at] = do(at)
        tick()
    return found


def _rows(sessions: Sequence[Session], places: Iterable[int]) -> Rows:
    found: Rows = {name: [] for name in JUDGED}
    for at in places:
        session = replace(sessions[at])  # one of our own, so that its transcript is let go of when it is done
        for name in JUDGED:
            found[name] += WORKED_OUT[name](session)
    return found
