# ruff: noqa: B018, D100
# %% [markdown]
# # 02 Tokens and cost
#
# Why do tools that read the same files give different token counts, and which count is right? First the plain way, with
# nothing of sessionbank in it; then the true figures and the way from one to the other.
# %%
import json
import subprocess
import tempfile

import pandas as pd

import sessionbank as sb
from sessionbank import plot

pd.set_option("display.max_columns", 20, "display.max_colwidth", 90)
pd.set_option("display.float_format", "{:,.2f}".format)

bank = sb.open_bank("../data/shop.bundle", cache=False)
claude = bank.query(agent="claude-code", sort="oldest")
# %% [markdown]
# ## What does a plain script count?
#
# Take every stored Claude Code transcript out of git, read it line by line as JSON, keep the lines that state usage.
# %%
stored = claude.records()
stored = stored[stored["transcript_state"].eq("present")]
lines = []
with tempfile.TemporaryDirectory() as folder:
    subprocess.run(["git", "clone", "--quiet", "--mirror", "../data/shop.bundle", folder], check=True)
    for record in stored.itertuples():
        blob = f"{record.ref}:{record.path}/{record.transcript_name}"
        text = subprocess.run(
            ["git", "-C", folder, "cat-file", "blob", blob], capture_output=True, check=True
        ).stdout
        for line in text.split(b"\n"):
            try:
                found = json.loads(line)
            except ValueError:
                continue
            usage = found.get("type") == "assistant" and found["message"].get("usage")
            if usage:
                lines.append((
                    blob, record.session_id, found["uuid"], found["message"]["id"], found.get("requestId"),
                    usage["output_tokens"], usage.get("cache_read_input_tokens", 0),
                ))  # fmt: skip
lines = pd.DataFrame(lines, columns=["file", "session", "uuid", "message", "request", "output", "cache_read"])
print(f"{len(lines)} lines with usage in {lines['file'].nunique()} files")
# %% [markdown]
# ## Five ways to add them up
#
# Each is how some tool does it. All differ, and none is right.
# %%
once = lines.drop_duplicates(["session", "uuid"])
sizes = lines.groupby(["session", "file"], as_index=False).size().sort_values(["size", "file"])
largest = lines[lines["file"].isin(sizes.drop_duplicates("session", keep="last")["file"])]
ways = {
    "every line of every file": lines,
    "each line once": once,
    "each reply once, its first line": once.drop_duplicates(["session", "message"]),
    "each reply once, by message and request id; lines without a request id all": pd.concat(
        [once[once["request"].notna()].drop_duplicates(["message", "request"]), once[once["request"].isna()]]
    ),
    "largest file of a session, each reply once, its last line": largest.drop_duplicates(
        ["session", "message"], keep="last"
    ),
}
true = claude.sessions()[["output_tokens", "cache_read_tokens"]].sum()
table = pd.DataFrame({name: rows[["output", "cache_read"]].sum() for name, rows in ways.items()}).T.astype(
    int
)
table.loc["sessionbank, main agent"] = true.to_numpy()
table.assign(output_times=table["output"] / true.iloc[0], cache_read_times=table["cache_read"] / true.iloc[1])
# %% [markdown]
# ## From the naive sum to the true figure
#
# `explain` goes the way rule by rule, and has the rows behind each step. The rules are in `docs/counting-rules.md`. Its
# naive sum may be a little above the plain script's: a line on which two records were glued together is no JSON for the
# script; sessionbank reads both and says so in `diagnostics()`.
# %%
bridge = claude.explain("output_tokens")
bridge
# %%
plot.show(plot.bridge(bridge, column="output_tokens"))
# %%
glued = claude.diagnostics()
glued[glued["code"].eq("glued_objects")][["checkpoint_id", "line_index", "message"]]
# %% [markdown]
# The rows behind a step, here the lines that rule 3 takes out, and what the first of them says in the stored bytes:
# %%
repeats = claude.explain("output_tokens", rows_of=2)
print(json.loads(bank.raw(repeats.iloc[0])[0])["message"]["usage"])
repeats.head(4)
# %% [markdown]
# ## How wrong are naive sums, column by column?
# %%
columns = [
    "input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens",
    "api_calls", "tool_calls", "tool_errors", "human_prompts",
]  # fmt: skip
wrong = plot.naive_and_true_data({c: bank.explain(c) for c in columns})
wrong
# %%
plot.show(plot.naive_and_true(wrong))
# %% [markdown]
# ## Do the figures agree with each other?
#
# Sums over any grouping are the same, because each call belongs to one session, one checkpoint, one day and one model.
# %%
sums = {
    by: bank.totals(by).select_dtypes("number").sum()
    for by in ("session", "checkpoint", "day", "model", "agent")
}
agreement = (
    pd.DataFrame(sums)
    .loc[["api_calls", "output_tokens", "subagent_api_calls", "subagent_output_tokens"]]
    .astype(int)
)
assert (agreement.nunique(axis=1) == 1).all()
agreement
# %% [markdown]
# A day is a day in the zone that you name. The same calls in three zones
# (a day without calls is missing):
# %%
days = pd.DataFrame({
    zone: bank.totals("day", tz=zone).set_index("day")["output_tokens"]
    for zone in ("UTC", "America/Los_Angeles", "Asia/Tokyo")
})  # fmt: skip
days.head(6)
# %% [markdown]
# ## When were the tokens spent?
# %%
by_day = bank.totals("day")
plot.tokens_over_time_data(by_day, every="month")
# %%
plot.show(plot.tokens_over_time(by_day))
# %% [markdown]
# Cache reads hide the rest. Without them:
# %%
plot.show(plot.tokens_over_time(by_day, classes=["input_tokens", "cache_creation_tokens", "output_tokens"]))
# %% [markdown]
# ## What did it cost?
#
# Prices are those of genai-prices at the date of each call, cache writes for an hour apart. A model without a known
# price has no cost, which is not a cost of 0.
# %%
plot.cost_by_model_data(bank.totals("model"))
# %%
plot.show(plot.cost_by_model(bank.totals("model")))
# %%
dearest = bank.sessions().assign(cost=lambda s: s[["cost_usd", "subagent_cost_usd"]].sum(axis=1, min_count=1))
dearest.nlargest(5, "cost")[
    ["started_at", "human_prompts", "api_calls", "total_tokens", "cost", "uncosted_calls", "intent"]
]
# %% [markdown]
# ## Do the stored counts agree?
#
# Entire states token counts in the metadata of each record. They are another witness: some cover the record's own part
# of the session, some the whole transcript, some an earlier state of it, some nothing.
# %%
reconcile = bank.reconcile()
plot.reconcile_scopes_data(reconcile)
# %%
plot.show(plot.reconcile_scopes(reconcile))
# %% [markdown]
# Records whose stored counts fit neither their part nor the whole:
# %%
odd = reconcile[reconcile["scope"].isin(["stale", "zero", "unknown"])]
odd[
    [
        "checkpoint_id",
        "session_index",
        "stored_output_tokens",
        "window_output_tokens",
        "whole_output_tokens",
        "scope",
    ]
]
# %% [markdown]
# So the sum of the stored counts is not the sum of the work:
# %%
print(f"stored in the metadata, added up: {int(reconcile['stored_output_tokens'].sum()):>7,}")
print(f"true, main agents:                {int(bank.sessions()['output_tokens'].sum()):>7,}")
