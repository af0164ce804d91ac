"""Calls, tokens and cost summed by any grouping; the sums over every grouping agree.

All come from the rows of token_usage, each of which belongs to one session, checkpoint, day and model. Inherited rows
are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionbank import schema
from sessionbank.errors import QueryError
from sessionbank.tables.select import zone
from sessionbank.tables.state import State
from sessionbank.tables.stored import linked

if TYPE_CHECKING:
    import pandas as pd

GROUPINGS = ("session", "checkpoint", "commit", "day", "model", "agent", "branch")
_TOKENS = ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens", "total_tokens")


def totals(state: State, ids: frozenset[str] | None, by: list[str], *, tz: str) -> pd.DataFrame:
    """One row a group, keys first; groups whose key is not known are one row with a missing key."""
    import pandas as pd

    unknown = [b for b in by if b not in GROUPINGS]
    if unknown or not by:
        raise QueryError(
            f"cannot sum by {', '.join(map(repr, unknown)) or 'nothing'}; sum by: {', '.join(GROUPINGS)}"
        )
    if len(set(by)) < len(by):
        raise QueryError("a grouping is named twice")
    here = zone(tz)
    usage = schema.frame(state.spoken("token_usage"))
    usage = usage[usage["inherited_from"].isna()]
    if ids is not None:
        usage = usage[usage["session_id"].isin(ids)]
    keys = []
    for name in by:
        if name == "day":
            usage = usage.assign(
                day=usage["timestamp"].dt.tz_convert(here).dt.strftime("%Y-%m-%d").astype("str")
            )
        elif name == "commit":  # the one that carries the checkpoint's cost
            commits = linked(state.commit_rows)
            usage = usage.assign(commit_sha=usage["checkpoint_id"].map(commits).astype("str"))
        elif name == "agent":
            usage = usage.assign(
                agent=usage["session_id"].map({s: f["agent"] for s, f in state.facts.items()}).astype("str")
            )
        elif name == "branch":
            branches = {(r.session_id, r.checkpoint_id): r.branch for r in state.store.records}
            pairs = zip(usage["session_id"], usage["checkpoint_id"], strict=True)
            usage = usage.assign(
                branch=pd.Series([branches.get(p) for p in pairs], index=usage.index, dtype="str")
            )
        keys.append(
            {"session": "session_id", "checkpoint": "checkpoint_id", "commit": "commit_sha"}.get(name, name)
        )
    sub = usage["is_subagent"].astype(bool)
    columns: dict[str, pd.Series] = {}
    for prefix, mask in (("", ~sub), ("subagent_", sub)):
        columns[f"{prefix}api_calls"] = mask.astype("Int64")
        for name in _TOKENS:
            columns[f"{prefix}{name}"] = usage[name].where(mask).astype("Int64")
        columns[f"{prefix}cost_usd"] = usage["cost_usd"].where(mask)
    columns["total_cost_usd"] = usage["cost_usd"]
    columns["uncosted_calls"] = usage["cost_usd"].isna().astype("Int64")
    values = pd.concat([usage[keys], pd.DataFrame(columns, index=usage.index)], axis=1)
    grouped = values.groupby(keys, dropna=False, sort=True)
    summed = grouped.sum(min_count=1)  # where no call states a figure, it is not known; a cost least of all
    for prefix in ("", "subagent_"):
        for name in _TOKENS:  # where there is no call, there are no tokens
            summed[f"{prefix}{name}"] = summed[f"{prefix}{name}"].mask(summed[f"{prefix}api_calls"] == 0, 0)
    return summed.reset_index()
