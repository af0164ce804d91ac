# ruff: noqa: B018, D100
# %% [markdown]
# # 03 Attribution and commits
#
# What of the agents' work reached `main`, what did it cost, and how far can the stored attribution be trusted?
# %%
import pandas as pd

import sessionbank as sb
from sessionbank import plot

pd.set_option("display.max_columns", 20, "display.max_colwidth", 60)
pd.set_option("display.float_format", "{:,.3f}".format)

bank = sb.open_bank("../data/shop.bundle", cache=False)
commits, checkpoints = bank.commits(), bank.checkpoints()
# %% [markdown]
# ## What reached main?
#
# A commit names checkpoints in its `Entire-Checkpoint` trailers. A squash merge names several; a cherry-picked commit
# names one that another commit names too; a trailer may name a checkpoint that is not there.
# %%
on_main = set(commits.loc[commits["on_default_branch"].fillna(False).astype(bool), "checkpoint_id"])
named = set(commits["checkpoint_id"])
place = checkpoints["checkpoint_id"].map(
    lambda c: "main" if c in on_main else "another branch only" if c in named else "no commit"
)
checkpoints.groupby(place.rename("reached"))[["checkpoint_id", "record_count"]].agg(
    {"checkpoint_id": "size", "record_count": "sum"}
).rename(columns={"checkpoint_id": "checkpoints", "record_count": "records"})
# %% [markdown]
# The unusual ones: commits with several checkpoints, checkpoints at several commits, and trailers that lead nowhere.
# %%
several = commits["commit_sha"].duplicated(keep=False) | commits["checkpoint_id"].duplicated(keep=False)
unusual = commits[several | ~commits["resolves"].astype(bool)]
unusual.assign(commit=unusual["commit_sha"].str[:10])[
    ["commit", "checkpoint_id", "resolves", "on_default_branch", "carries_cost", "subject"]
].sort_values(["checkpoint_id", "commit"])
# %% [markdown]
# ## What did each commit cost?
#
# A checkpoint's cost counts once: at its earliest commit on the default branch, else at its earliest (`carries_cost`).
# What no commit names is one row without a commit, so the sum is the whole cost.
# %%
by_checkpoint = bank.totals("checkpoint")
cost = plot.cost_by_commit_data(by_checkpoint, commits)
whole = bank.sessions()[["cost_usd", "subagent_cost_usd"]].sum().sum()
assert abs(cost["cost_usd"].sum() - whole) < 1e-9
print(f"all commits together {cost['cost_usd'].sum():.2f} USD, all sessions together {whole:.2f} USD")
cost[
    ["subject", "on_default_branch", "checkpoints", "api_calls", "tokens", "cost_usd", "uncosted_calls"]
].head(10)
# %%
plot.show(plot.cost_by_commit(by_checkpoint, commits))
# %% [markdown]
# ## What was spent on work that did not reach main?
# %%
reached = (
    cost["on_default_branch"]
    .map({True: "main", False: "another branch only"})
    .fillna("no commit")
    .rename("reached")
)
share = cost.groupby(reached)[["api_calls", "tokens", "cost_usd"]].sum()
share.assign(share=share["cost_usd"] / share["cost_usd"].sum())
# %% [markdown]
# ## What did each session cost per commit?
#
# Sessions with more than one commit, or with work that no commit names:
# %%
per_session = plot.cost_by_commit_data(bank.totals(["session", "checkpoint"]), commits)
per_session["session"] = per_session["session_id"].str[:8]
split = per_session["session_id"].duplicated(keep=False)
per_session[split].sort_values(["session", "authored_at"], na_position="last")[
    ["session", "subject", "on_default_branch", "api_calls", "tokens", "cost_usd"]
].head(16)
# %% [markdown]
# ## Who wrote the lines?
#
# Entire states for each record how many committed lines the agent wrote. Two formulas are in use (`metric_version`),
# and a checkpoint with several records repeats its figures: only rows with `is_representative` may be added up.
# %%
attribution = bank.attribution()
attribution.groupby(["metric_version", "is_combined", "is_representative"], dropna=False).agg(
    rows=("checkpoint_id", "size"), agent_lines=("agent_lines", "sum"), committed=("total_committed", "sum")
)
# %%
lines = plot.attribution_by_commit_data(attribution, commits)
lines[["authored_at", "subject", "agent_lines", "human_added", "human_modified", "agent_percentage"]].tail(8)
# %%
plot.show(plot.attribution_by_commit(attribution, commits))
# %% [markdown]
# ## Which values are implausible, and why?
# %%
odd = attribution[attribution["warning"].notna()]
odd[
    [
        "checkpoint_id",
        "session_index",
        "agent_lines",
        "human_added",
        "total_committed",
        "agent_percentage",
        "warning",
    ]
]


# %% [markdown]
# Few rows, but they decide the result. The share of lines that agents wrote, three ways:
# %%
representative = attribution[attribution["is_representative"].astype(bool)]
choices = {
    "all rows": attribution,
    "representative rows": representative,
    "representative and plausible rows": representative[representative["warning"].isna()],
}
shares = pd.DataFrame({"rows added": choices.keys(), "rows": [len(rows) for rows in choices.values()]})
shares["mean of percentages"] = [rows["agent_percentage"].mean() for rows in choices.values()]
shares["100 × agent lines / committed lines"] = [
    100 * rows["agent_lines"].sum() / rows["total_committed"].sum() for rows in choices.values()
]
shares
