"""API calls of a Codex session: which lines are one reply, and what each call used.

``token_count`` states the session's running total, again and again; a call's usage is what the total grew by. Input
there includes what was read from the cache, output includes reasoning; writes to a cache are not recorded.
"""

from __future__ import annotations

from typing import Any

from sessionbank.transcripts.filling import Filler
from sessionbank.transcripts.rows import Place, UsageRow, number

_KEYS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
Counts = tuple[int | None, ...]


class Calls:
    """Gives each line of a reply its call, and each call its usage.

    The count of a call follows its lines. Older writers put it before them: where the first count that says anything
    comes before any reply, counts open a call instead of closing it. Where tokens are never counted, a reply ends
    when its tools have answered; such calls have no tokens. No call reaches over the end of a turn.
    """

    def __init__(self, fill: Filler, counts: bool) -> None:
        self.fill = fill
        self.counts = counts
        self.total: Counts | None = None
        self.leads: bool | None = None  # whether counts come before the lines that they count
        self.open: str | None = None  # call of the reply that is being read
        self.ended: str | None = None  # the call that ended last without a count, until another one begins
        self.first: int | None = None  # its first line
        self.is_counted = False
        self.has_answers = False
        self.made = 0
        self.seen: set[str] = set()
        self.waiting: tuple[str, Counts] | None = None  # usage whose line is being added

    def of(self, native: str | None) -> str:
        """The call that a line of a reply belongs to; `native` is the line's own id."""
        if self.open is not None and not self.counts and self.has_answers:
            self.end_turn()
        if self.open is None:
            self.open = self._name(native)
        return self.open

    def took(self, seq: int) -> None:
        """The reply's line was added as that message."""
        if self.first is None:
            self.first = seq
        if self.leads is None:
            self.leads = False

    def answered(self) -> None:
        """A tool gave its output."""
        self.has_answers = True

    def end_turn(self) -> None:
        """Nothing that follows belongs to the reply that is open."""
        if self.open is not None and not self.is_counted and self.first is not None:
            self.fill.unmeasured(self.first, self.open, is_final=False)
            self.ended = self.open
        self._close()

    def counted(self, info: Any, place: Place) -> str | None:
        """Takes the info of a ``token_count``; gives the call that it counts, None where it repeats the last."""
        if type(info) is not dict:
            return None
        used = self._used(info, place)
        if used is None:
            return None
        if self.leads is None:
            self.leads = True
        if self.leads:
            self.end_turn()
        call = self.open or self.ended or self._name(None)  # a count may come after the turn's end
        self.ended = None
        self.waiting = (call, used)
        if self.leads:
            self.open, self.is_counted = call, True
        else:
            self._close()
        return call

    def placed(self, seq: int) -> None:
        """The line that was counted last was added as that message."""
        if self.waiting is not None:
            call, (whole, cached, out, reasoning) = self.waiting
            fresh = None if whole is None else max(whole - (cached or 0), 0)
            self.fill.rows.usage.append(UsageRow(seq, call, fresh, None, None, cached, out, reasoning, True))
            self.waiting = None

    def _used(self, info: dict[str, Any], place: Place) -> Counts | None:
        """What the total grew by; None where it did not."""
        total, last = _counts(info.get("total_token_usage")), _counts(info.get("last_token_usage"))
        if total is None:
            return last
        before, self.total = self.total, total
        if total == before:
            return None
        if before is None:  # a transcript that begins in the middle: what came before is not its own
            return last or total
        grown = tuple(
            None if now is None else now - (then or 0) for now, then in zip(total, before, strict=True)
        )
        if any(g is not None and g < 0 for g in grown):  # the counter began anew
            return last or total
        if last is not None and sum(g or 0 for g in grown) > sum(v or 0 for v in last):
            text = "the total grew by more than the last call used: calls whose count is not stored are in the next one"
            self.fill.rows.problem("info", "uncounted_calls", text, place=place)
        return grown

    def _name(self, native: str | None) -> str:
        self.made += 1
        call = (
            native
            if native is not None and native not in self.seen
            else f"{self.fill.rows.session_id}:call-{self.made}"
        )
        self.seen.add(call)
        self.ended = None
        return call

    def _close(self) -> None:
        self.open, self.first, self.is_counted, self.has_answers = None, None, False, False


def _counts(value: Any) -> Counts | None:
    return tuple(number(value.get(k)) for k in _KEYS) if type(value) is dict else None
