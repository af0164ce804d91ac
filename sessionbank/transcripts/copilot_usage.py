"""Usage of Copilot CLI replies: output tokens a reply, input and cache tokens a run.

``session.shutdown`` sums a run by model; its input includes what was read from the cache. The sum stands on the last
call of that model in the run, as a reply's tokens stand on its first step: sums over the session are right, the
place inside it is ours, and a diagnostics row says so.
"""

from __future__ import annotations

from typing import Any

from sessionbank.transcripts.rows import Place, SessionRows, UsageRow, number

_KEYS = ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")


class Runs:
    """Collects the replies of each run, and gives them what its end states."""

    def __init__(self, rows: SessionRows) -> None:
        self.rows = rows
        self.open: list[tuple[int, str, int | None]] = []  # replies of the run: seq, call, output tokens
        self.runs: list[
            tuple[list[tuple[int, str, int | None]], dict[str, dict[str, int | None]], Place]
        ] = []
        self.before: dict[str, dict[str, int | None]] = {}

    def replied(self, seq: int, call: str, output: Any) -> None:
        """A reply was added as that message."""
        self.open.append((seq, call, number(output)))

    def ended(self, data: dict[str, Any], place: Place) -> None:
        """The run ended with these sums."""
        self.runs.append((self.open, _by_model(data.get("modelMetrics")), place))
        self.open = []

    def only_model(self) -> str | None:
        """The model of the session, where its runs name one alone."""
        names = {name for _, sums, _ in self.runs for name in sums}
        return names.pop() if len(names) == 1 else None

    def finish(self) -> None:
        """Adds the usage rows, once the models of all replies are known."""
        for replies, sums, place in self.runs:
            self._place(replies, sums, place)
        for seq, call, output in self.open:
            self.rows.usage.append(UsageRow(seq, call, None, None, None, None, output, None, True))

    def _place(
        self, replies: list[tuple[int, str, int | None]], sums: dict[str, dict[str, int | None]], place: Place
    ) -> None:
        last = {self.rows.messages[seq].model: at for at, (seq, _, _) in enumerate(replies)}
        for at, (seq, call, output) in enumerate(replies):
            model = self.rows.messages[seq].model
            run = sums.get(model or "") if last.get(model) == at else None
            if run is None:
                self.rows.usage.append(UsageRow(seq, call, None, None, None, None, output, None, True))
                continue
            run = self._of_this_run(model or "", run, replies)
            whole, read = run["inputTokens"], run["cacheReadTokens"]
            fresh = None if whole is None else max(whole - (read or 0), 0)
            self.rows.usage.append(
                UsageRow(seq, call, fresh, run["cacheWriteTokens"], None, read, output, None, True)
            )
            if len(replies) > 1:
                text = "input and cache tokens are recorded as a sum of the run; it stands on the model's last call"
                self.rows.problem("info", "usage_of_run", text, self.rows.messages[seq].line, place)
        for model in sums.keys() - {m for m in last if m is not None}:
            told = ", ".join(f"{k} {v}" for k, v in sums[model].items() if v)
            text = f"the run used {model[:60]} in calls that the transcript does not hold ({told or 'no tokens'})"
            self.rows.problem("warning", "usage_without_call", text, place=place)

    def _of_this_run(
        self, model: str, run: dict[str, int | None], replies: list[tuple[int, str, int | None]]
    ) -> dict[str, int | None]:
        """The run's own sums: where they go on from the run before (its output tells), the difference."""
        before, self.before[model] = self.before.get(model), run
        own = sum(out or 0 for seq, _, out in replies if self.rows.messages[seq].model == model)
        if before is None or run["outputTokens"] is None or run["outputTokens"] == own:
            return run
        if run["outputTokens"] - (before["outputTokens"] or 0) != own:
            return run
        return {k: None if v is None else max(v - (before[k] or 0), 0) for k, v in run.items()}


def _by_model(metrics: Any) -> dict[str, dict[str, int | None]]:
    found: dict[str, dict[str, int | None]] = {}
    for model, about in metrics.items() if type(metrics) is dict else ():
        usage = about.get("usage") if type(about) is dict else None
        if type(usage) is dict:
            found[model] = {k: number(usage.get(k)) for k in _KEYS}
    return found
