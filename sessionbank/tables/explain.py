"""The bridge from the naive sum to the true figure: one row a counting rule, with its effect and the rows behind it.

The naive reader adds up every stored line of every transcript. Each rule takes away (or adds) what that counts wrongly;
the last value is the sum of the sessions table. The rules are written out in the counting rules of the documentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sessionbank import schema
from sessionbank.errors import QueryError
from sessionbank.tables.state import State

if TYPE_CHECKING:
    import pandas as pd

TOKENS = ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens", "total_tokens")
_CLASSES = TOKENS[:-1]
COLUMNS = (
    *TOKENS, *(f"subagent_{t}" for t in _CLASSES), "api_calls", "subagent_api_calls", "human_prompts", "tool_calls",
    "tool_errors", "message_count",
)  # fmt: skip
_KINDS = {
    "tool_result": "tool results carry the role user",
    "meta": "text that a program put in: skills, caveats, reminders",
    "command": "slash and shell commands",
    "command_output": "output of commands",
    "interruption": "notes of an interruption",
    "compact_summary": "summaries that a compaction wrote",
    "notification": "notifications of background tasks",
    "teammate": "messages of other agents",
    "other": "lines without a typed word",
}
Step = tuple[str, "pd.Series", "pd.DataFrame"]  # rule, effect of each row, the rows


def explain(
    state: State, ids: frozenset[str] | None, column: str, *, rows_of: int | None = None
) -> pd.DataFrame:
    """The steps as a frame (step, rule, effect, value, rows), or with `rows_of` the rows behind that step."""
    import pandas as pd

    if column not in COLUMNS:
        raise QueryError(f"cannot explain {column!r}; these are counted: {', '.join(COLUMNS)}")
    steps = list(_steps(state, ids, column))
    if rows_of is not None:
        if not 0 <= rows_of < len(steps):
            raise QueryError(f"step {rows_of} does not exist; steps run from 0 to {len(steps) - 1}")
        _, effect, rows = steps[rows_of]
        touched = rows.assign(effect=effect.astype("Int64"))[effect.fillna(0) != 0]
        return touched[["session_id", "seq", "effect"]].reset_index(drop=True)
    found, value = [], 0
    for number, (rule, effect, _) in enumerate(steps):
        change = int(effect.fillna(0).sum())
        value += change
        found.append((number, rule, change, value, int((effect.fillna(0) != 0).sum())))
    found.append((len(steps), "the true figure", 0, value, found[-1][4] if found else 0))
    frame = pd.DataFrame(found, columns=["step", "rule", "effect", "value", "rows"])
    return frame.astype(
        {"step": "Int64", "rule": "str", "effect": "Int64", "value": "Int64", "rows": "Int64"}
    )


def _steps(state: State, ids: frozenset[str] | None, column: str) -> Iterator[Step]:
    if column.removeprefix("subagent_") in TOKENS:
        yield from _tokens(state, ids, column)
    elif column in ("api_calls", "subagent_api_calls"):
        yield from _calls(state, ids, sub=column.startswith("subagent_"))
    elif column in ("human_prompts", "message_count"):
        yield from _lines(state, ids, column)
    else:
        yield from _tools(state, ids, column)


def _read(state: State, ids: frozenset[str] | None, table: str, columns: list[str]) -> pd.DataFrame:
    rows = schema.frame(state.spoken(table).select(columns))
    return rows if ids is None else rows[rows["session_id"].isin(ids)].reset_index(drop=True)


def _messages(state: State, ids: frozenset[str] | None) -> pd.DataFrame:
    columns = [
        "session_id",
        "seq",
        "role",
        "kind",
        "message_id",
        "agent_id",
        "is_subagent",
        "is_queued",
        "inherited_from",
        "stored_copies",
    ]
    return _read(state, ids, "messages", columns)


def _usage_lines(state: State, ids: frozenset[str] | None) -> pd.DataFrame:
    lines = _read(
        state, ids, "usage_lines", ["session_id", "seq", "call", *_CLASSES, "is_subagent", "is_kept"]
    )
    lines = lines[lines["is_kept"].notna()]
    facts = _messages(state, ids)[["session_id", "seq", "agent_id", "stored_copies"]]
    calls = _read(state, ids, "token_usage", ["session_id", "message_id", "agent_id", "inherited_from"])
    lines = lines.merge(facts, on=["session_id", "seq"], how="left")
    lines["agent_id"], calls["agent_id"] = lines["agent_id"].fillna(""), calls["agent_id"].fillna("")
    calls = calls.rename(columns={"message_id": "call"})
    return lines.merge(calls, on=["session_id", "call", "agent_id"], how="left").reset_index(drop=True)


def _tokens(state: State, ids: frozenset[str] | None, column: str) -> Iterator[Step]:
    lines = _usage_lines(state, ids)
    sub = column.startswith("subagent_")
    lines = lines[lines["is_subagent"].astype(bool) == sub].reset_index(drop=True)
    name = column.removeprefix("subagent_")
    value = lines[list(_CLASSES)].fillna(0).sum(axis=1) if name == "total_tokens" else lines[name].fillna(0)
    where = "nested lines of subagents" if sub else "lines of replies"
    yield f"naive: usage of all {where}, in every stored transcript", value * lines["stored_copies"], lines
    yield (
        "rule 1: a session is stored again as it grows; each line counts once",
        -value * (lines["stored_copies"] - 1),
        lines,
    )
    kept = lines["is_kept"].astype(bool)
    yield (
        "rule 3: a reply repeats its usage on each of its lines; the line with most output counts",
        -value.where(~kept, 0),
        lines,
    )
    copied = lines["inherited_from"].notna() & kept
    yield (
        "rule 2: what a forked or resumed session copied belongs to the first",
        -value.where(copied, 0),
        lines,
    )


def _calls(state: State, ids: frozenset[str] | None, *, sub: bool) -> Iterator[Step]:
    import pandas as pd

    m = _messages(state, ids)
    m = m[(m["role"] == "assistant") & (m["is_subagent"].astype(bool) == sub)].reset_index(drop=True)
    one = m["stored_copies"] * 0 + 1
    yield "naive: every assistant line in every stored transcript", m["stored_copies"], m
    yield "rule 1: a session is stored again as it grows; each line counts once", -(m["stored_copies"] - 1), m
    synthetic = m["kind"] == "system"
    yield "rule 3: lines of the model <synthetic> are no calls", -one.where(synthetic, 0), m
    lines = _usage_lines(state, ids)
    lines = lines[lines["is_subagent"].astype(bool) == sub]
    kept = set(
        zip(*(lines.loc[lines["is_kept"].astype(bool), c] for c in ("session_id", "seq")), strict=True)
    )
    is_kept = pd.Series(
        [pair in kept for pair in zip(m["session_id"], m["seq"], strict=True)], index=m.index, dtype=bool
    )
    yield "rule 3: the lines of one reply are one call", -one.where(~synthetic & ~is_kept, 0), m
    spoken = set(zip(m["session_id"], m["seq"], strict=True))
    elsewhere = [
        bool(k) and (s, q) not in spoken
        for s, q, k in zip(lines["session_id"], lines["seq"], lines["is_kept"], strict=True)
    ]
    apart = lines[pd.Series(elsewhere, index=lines.index, dtype=bool)].reset_index(drop=True)
    yield "rule 3: calls whose usage stands on lines of their own", apart["stored_copies"] * 0 + 1, apart
    copied = lines[lines["is_kept"].astype(bool) & lines["inherited_from"].notna()].reset_index(drop=True)
    yield (
        "rule 2: what a forked or resumed session copied belongs to the first",
        copied["stored_copies"] * 0 - 1,
        copied,
    )


def _lines(state: State, ids: frozenset[str] | None, column: str) -> Iterator[Step]:
    m = _messages(state, ids)
    m = m[~m["is_subagent"].astype(bool)].reset_index(drop=True)
    roles = ["user"] if column == "human_prompts" else ["user", "assistant"]
    lines = m[m["role"].isin(roles)].reset_index(drop=True)
    one = lines["stored_copies"] * 0 + 1
    yield f"naive: every {' and '.join(roles)} line in every stored transcript", lines["stored_copies"], lines
    yield (
        "rule 1: a session is stored again as it grows; each line counts once",
        -(lines["stored_copies"] - 1),
        lines,
    )
    own = lines["inherited_from"].isna()
    yield "rule 2: what a forked or resumed session copied belongs to the first", -one.where(~own, 0), lines
    if column == "message_count":
        return
    for kind, why in _KINDS.items():
        yield f"rule 6: {why}", -one.where(own & (lines["kind"] == kind), 0), lines
    rest = own & ~lines["kind"].isin([*_KINDS, "prompt"])
    yield "rule 6: what a program says under the role user", -one.where(rest, 0), lines
    queued = m[(m["kind"] == "prompt") & ~m["role"].isin(roles) & m["inherited_from"].isna()].reset_index(
        drop=True
    )
    yield (
        "rule 6: prompts typed while the agent worked stand in other lines",
        queued["stored_copies"] * 0 + 1,
        queued,
    )


def _tools(state: State, ids: frozenset[str] | None, column: str) -> Iterator[Step]:
    calls = _read(
        state,
        ids,
        "tool_calls",
        ["session_id", "seq", "status", "is_error_explicit", "is_subagent", "inherited_from"],
    )
    calls = calls[~calls["is_subagent"].astype(bool)].reset_index(drop=True)
    own = calls["inherited_from"].isna()
    one = calls["seq"] * 0 + 1
    if column == "tool_calls":
        m = _messages(state, ids)[["session_id", "seq", "is_subagent", "stored_copies"]]
        blocks = _read(state, ids, "blocks", ["session_id", "seq", "type"])
        blocks = blocks[blocks["type"] == "tool_use"].merge(m, on=["session_id", "seq"], how="left")
        blocks = blocks[~blocks["is_subagent"].astype(bool)].reset_index(drop=True)
        yield "naive: every tool use in every stored transcript", blocks["stored_copies"], blocks
        yield (
            "rule 1: a session is stored again as it grows; each line counts once",
            -(blocks["stored_copies"] - 1),
            blocks,
        )
        uses = blocks.groupby(["session_id", "seq"], as_index=False).size()
        made = calls.groupby(["session_id", "seq"], as_index=False).size().rename(columns={"size": "made"})
        uses = uses.merge(made, on=["session_id", "seq"], how="left").fillna({"made": 0})
        yield (
            "rule 7: a call written on several lines is one",
            (uses["made"] - uses["size"]).astype("Int64"),
            uses,
        )
        yield (
            "rule 2: what a forked or resumed session copied belongs to the first",
            -one.where(~own, 0),
            calls,
        )
        return
    flagged = calls["status"].isin(["error", "rejected", "interrupted"]) & calls["is_error_explicit"].astype(
        bool
    )
    yield "naive: every result that says is_error", one.where(flagged, 0), calls
    yield (
        "rule 2: what a forked or resumed session copied belongs to the first",
        -one.where(flagged & ~own, 0),
        calls,
    )
    yield "rule 7: a person said no", -one.where(flagged & own & (calls["status"] == "rejected"), 0), calls
    yield (
        "rule 7: interrupted, or cancelled with a sibling",
        -one.where(flagged & own & (calls["status"] == "interrupted"), 0),
        calls,
    )
    silent = ~calls["is_error_explicit"].astype(bool) & own & (calls["status"] == "error")
    yield "rule 7: results that say success: false without is_error", one.where(silent, 0), calls
