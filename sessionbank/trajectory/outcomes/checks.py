"""Strategy ``checks``: the tests, linters, type checks and builds that were run, and what the last of each kind said.

A check that passed before the last edit says less than one after it. That all checks pass does not prove that what was
asked was done, so the confidence stays below that of a summary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessionbank.records import Session, ToolCall
from sessionbank.trajectory.model import Outcome
from sessionbank.trajectory.outcomes.check_commands import CHECK_KINDS, Check, checks_of
from sessionbank.trajectory.outcomes.check_output import Reading, kind_of_failure, read_output
from sessionbank.trajectory.outcomes.verdict import outcome, row, shortened, unknown

if TYPE_CHECKING:
    import pandas as pd

NAME = "checks"
EDITS = frozenset(
    {
        "Edit",
        "Write",
        "MultiEdit",
        "NotebookEdit",
        "write_file",
        "replace",
        "edit",
        "write",
        "apply_patch",
        "patch",
        "create",
        "Create",
        "ApplyPatch",
        "StrReplace",
        "str_replace",
        "search_replace",
        "edit_file",
        "fs_write",
    }
)
_SILENT = {"types", "lint", "format", "build"}  # kinds whose programs print nothing when all is well
_WEIGHT = {"test": 1.0, "build": 0.8, "types": 0.7, "lint": 0.4, "format": 0.3}


@dataclass(frozen=True, slots=True)
class CheckRun:
    """One run of one check: verdict is passed, failed, timeout, not_run or unknown."""

    session_id: str
    seq: int  # of the message that holds the call
    tool_call_id: str
    kind: str  # one of CHECK_KINDS
    runner: str
    verdict: str
    passed: int | None  # tests; missing where the output does not count
    failed: int | None
    words: str  # of the output, that the verdict rests on
    command: str
    edits_after: int  # edits between this run and the next of its kind, or the end
    is_subagent: bool


def check_runs(session: Session) -> list[CheckRun]:
    """Every check of the session, subagents' too, in file order.

    Example:
        >>> from sessionbank.trajectory.outcome import check_runs
        >>> [(r.kind, r.verdict, r.passed) for r in check_runs(bank.get_by_session_id("6d52dd5f-87d8-438c-b5ff-ca1b4cb7438f"))]
        [('test', 'passed', 3)]
    """
    edits = sorted(c.seq for c in session.tool_calls if c.tool_name in EDITS and c.status == "ok")
    found = [(call, check, reading) for call in session.tool_calls for check, reading in _of_call(call)]
    following: dict[str, int] = {}
    runs: list[CheckRun] = []
    for call, check, reading in reversed(found):
        until = following.get(check.kind)
        after = sum(call.seq < e and (until is None or e < until) for e in edits)
        following[check.kind] = call.seq
        runs.append(CheckRun(
            session.session_id, call.seq, call.tool_call_id, check.kind, check.runner, reading.verdict, reading.passed,
            reading.failed, reading.words, call.command or "", after, call.is_subagent,
        ))  # fmt: skip
    return runs[::-1]


def check_table(session: Session) -> pd.DataFrame:
    """A frame, one row a check run: the fields of `CheckRun`. Counts are tests (whole numbers), missing when not
    told.

    Example:
        >>> from sessionbank.trajectory.outcome import check_table
        >>> check_table(bank.get_by_session_id("6d52dd5f-87d8-438c-b5ff-ca1b4cb7438f"))["runner"].tolist()
        ['pytest']
    """
    import pandas as pd

    names = list(CheckRun.__dataclass_fields__)
    frame = pd.DataFrame([{n: getattr(r, n) for n in names} for r in check_runs(session)], columns=names)
    whole = dict.fromkeys(("seq", "passed", "failed", "edits_after"), "Int64")
    text = dict.fromkeys(
        ("session_id", "tool_call_id", "kind", "runner", "verdict", "words", "command"), "str"
    )
    return frame.astype({**whole, **text, "is_subagent": "boolean"})


def of_session(session: Session) -> Outcome:
    """The outcome by the last check of each kind that came to a verdict; unknown where none did."""
    runs = check_runs(session)
    if not runs:
        return unknown(NAME, "no test, linter, type check or build was run")
    last = {r.kind: r for r in runs if r.verdict in ("passed", "failed", "timeout")}
    tested = last.get("test")
    if (
        "build" in last
        and tested is not None
        and tested.verdict == "passed"
        and tested.seq > last["build"].seq
    ):
        del last["build"]  # what passes its tests was built
    rows = [_row(r) for r in last.values()]
    if not last:
        return unknown(NAME, "checks were run, none came to a verdict", [_row(r) for r in runs[-3:]])
    bad = {k: r for k, r in last.items() if r.verdict != "passed"}
    told = ", ".join(f"{k} {last[k].verdict}{_counts(last[k])}" for k in CHECK_KINDS if k in last)
    heaviest = max(_WEIGHT[k] for k in last)
    if not bad:
        stale = sum(r.edits_after for r in last.values() if _WEIGHT[r.kind] == heaviest)
        confidence = 0.35 + 0.3 * heaviest - (0.15 if stale else 0)
        note = f"; {stale} edits came after" if stale else ""
        return outcome(NAME, 0.85, confidence=confidence, reason=f"last checks: {told}{note}", evidence=rows)
    worst = max(bad.values(), key=lambda r: _WEIGHT[r.kind])
    weight = _WEIGHT[worst.kind]
    share = _failed_share(worst)
    score = 0.5 if weight < 0.5 else 0.4 if share is not None and share < 0.1 else 0.12
    confidence = 0.3 + 0.5 * weight
    note = ""
    if worst.verdict == "timeout":
        score, confidence = 0.4, 0.35
    if worst.edits_after:  # mended, perhaps, and not run again
        score, confidence = max(score, 0.4), min(confidence, 0.4)
        note = f"; {worst.edits_after} edits came after, without another run"
    return outcome(NAME, score, confidence=confidence, reason=f"last checks: {told}{note}", evidence=rows)


def _of_call(call: ToolCall) -> Iterator[tuple[Check, Reading]]:
    checks = checks_of(call.command) if call.command else []
    if not checks:
        return
    if call.status in ("rejected", "interrupted", "no_result"):
        for check in checks:
            yield check, Reading("not_run", words=call.status)
        return
    read = read_output(call.result_text)
    for at, check in enumerate(checks):
        yield check, _verdict(call, checks, at, read=read)


def _verdict(call: ToolCall, checks: list[Check], at: int, *, read: Reading | None) -> Reading:
    """Of one check among those of a line: what was printed, then the exit status where nothing hides it."""
    check, is_last = checks[at], at == len(checks) - 1
    hidden = check.command.then in ("|", "|&", "||", ";", "\n", "&") or not is_last
    if len(checks) == 1 and read is not None:
        if read.verdict == "passed" and call.status == "error" and not hidden:
            return Reading("failed", read.passed, read.failed, read.words)
        return read
    if read is not None and read.verdict == "failed":
        culprit = _culprit(checks, read)
        if at == culprit:
            return read
        if checks[min(at, culprit)].command.then == "&&":  # the shell stops at the first that fails
            return (
                Reading("passed", words="the next command ran")
                if at < culprit
                else Reading("not_run", words="one before it failed")
            )
        return Reading("unknown", words="another check of the line failed")
    if read is not None and read.verdict in ("timeout", "not_run"):
        return read
    if read is not None and call.status == "ok":
        counts = (read.passed, read.failed) if check.kind == "test" else (None, None)
        return Reading("passed", *counts, read.words)
    if call.status == "error":
        return (
            Reading("failed", words=shortened(call.result_text or "error", 120))
            if is_last
            else Reading("unknown")
        )
    if not hidden or (check.command.then == "&&" and call.status == "ok"):
        return Reading("passed", words="ended without complaint")
    if check.kind in _SILENT and not (call.result_text or "").strip():
        return Reading("passed", words="printed nothing")
    return Reading("unknown", words="its output shows no verdict")


def _culprit(checks: list[Check], read: Reading) -> int:
    """Which of the checks of a line printed the failure: by its words, else the last."""
    kind = "test" if read.passed or read.failed else kind_of_failure(read.words)
    return next((i for i, c in enumerate(checks) if c.kind == kind), len(checks) - 1)


def _counts(run: CheckRun) -> str:
    if run.failed:
        return f" ({run.failed} failed, {run.passed if run.passed is not None else '?'} passed)"
    return f" ({run.passed} passed)" if run.passed else ""


def _failed_share(run: CheckRun) -> float | None:
    if run.failed is None or run.passed is None or not run.failed + run.passed:
        return None
    return run.failed / (run.failed + run.passed)


def _row(run: CheckRun) -> dict[str, object]:
    return row(
        run.session_id,
        f"{run.kind} by {run.runner}: {run.verdict}{_counts(run)}; {run.words}",
        seq=run.seq,
        tool_call_id=run.tool_call_id,
    )
