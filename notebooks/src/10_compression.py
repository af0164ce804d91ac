# ruff: noqa: B018, D100
# %% [markdown]
# # 10 Compression
#
# A run is long; what of it must one read? Steps at which agents meet stay whole, what lies between is folded. What is
# kept, what is folded, and does what is used later survive?
# %%
import json
import re

import pandas as pd

import sessionbank as sb
from sessionbank import plot
from sessionbank.team import CompressionConfig, compress, from_session, frontier, survival
from sessionbank.team.survival import survival_totals

pd.set_option("display.max_columns", 20, "display.max_colwidth", 80, "display.width", 170)
pd.set_option("display.float_format", "{:,.2f}".format)

bank = sb.open_bank("../data/shop.bundle", cache=False)
run = from_session(bank.query(search="agent team")[0])
small = compress(run)
run
# %% [markdown]
# ## How small did it get?
#
# Tokens are estimated at four characters each. *Stored* is the text once; *re-read* counts it as often as an agent that
# goes on would read it again. This lead spends most of its steps on its team: they are boundary steps, and stay.
# %%
pd.Series(small.stats(), name="value").drop("over_budget").astype("float64").to_frame()
# %%
columns = ["agent_id", "steps", "boundary_steps", "folded_steps", "original_tokens", "tokens", "boundary_tokens",
           "inner_original_tokens", "inner_tokens", "over_budget"]  # fmt: skip
small.agents[columns]
# %%
plot.compression_sizes_data(small.agents)
# %%
plot.show(plot.compression_sizes(small.agents))
# %% [markdown]
# ## What is kept, what is folded?
#
# `boundary` steps are whole; a `fold` is a run of inner steps, `cut` one of which some lines stay, `kept` one that was
# small.
# %%
small.entries.groupby("kind").agg(
    entries=("kind", "size"),
    steps=("step_count", "sum"),
    tokens=("tokens", "sum"),
    before=("original_tokens", "sum"),
)
# %% [markdown]
# A session without other agents has no boundary, so nearly all of it folds. This one failed: the first and last of its
# failed test runs stay.
# %%
refund = from_session(bank.query(search="refund")[0])
folded = compress(refund)
folded.entries[["kind", "first_step", "last_step", "tokens", "original_tokens", "text"]]
# %%
print(re.sub(r"/\w+/\w+/dev/shop/", "", folded.text("main")))  # without the person's own folder
# %% [markdown]
# ## What was folded away?
#
# Each entry leads back to its steps, whole.
# %%
row = folded.entries.iloc[0]
steps = folded.originals(row)
print(f"steps {json.loads(row['steps'])}: {row['original_tokens']} tokens became {row['tokens']}")
pd.DataFrame(
    [(s.step, s.action_name, len(s.observation or "")) for s in steps],
    columns=["step", "action", "characters"],
)
# %% [markdown]
# ## Does what is used later survive?
#
# An identifier (path, symbol, error, id) of an inner step counts when the agent writes it again later, and survives when it
# still stands in a line of its own. Two baselines have the same size: a bare list of the words, which reads well as a
# figure and tells nobody anything, and lines drawn at random. All sessions of the bank together:
# %%
runs = [from_session(session) for session in bank.discover() if session.messages]
each = pd.concat([survival(compress(one)) for one in runs])
survival_totals(each)[
    ["method", "tokens", "original_tokens", "size", "later_used", "surviving", "survival", "survival_bare"]
]
# %% [markdown]
# All survive, because sessions of a sample bank are short. How small may it be? The eight with the most steps:
# %%
rich = sorted(range(len(runs)), key=lambda k: -sum(len(s) for s in runs[k].step_lists.values()))[:8]
shares = (0.01, 0.02, 0.05, 0.1, 0.2)
parts = pd.concat([frontier(runs[k], shares=shares) for k in rich])
sums = parts.groupby(["inner_share", "method"], sort=False)[
    ["tokens", "original_tokens", "later_used", "surviving", "surviving_bare"]
].sum().reset_index()  # fmt: skip
line = sums.assign(
    size=sums["tokens"] / sums["original_tokens"],
    survival=sums["surviving"] / sums["later_used"],
    survival_bare=sums["surviving_bare"] / sums["later_used"],
).astype({"size": "float64", "survival": "float64", "survival_bare": "float64"})
line.pivot(index="inner_share", columns="method", values=["size", "survival"])
# %%
plot.show(plot.compression_frontier(line))
# %% [markdown]
# ## A budget that cannot be kept
#
# Boundary steps are never cut. Where they alone exceed the budget, `over_budget` says so.
# %%
tight = [
    compress(run, CompressionConfig(max_tokens_per_agent=budget)).agents.assign(budget=budget)
    for budget in (5000, 2000, 500)
]
pd.concat(tight)[
    ["budget", "agent_id", "tokens", "boundary_tokens", "inner_tokens", "over_budget"]
].reset_index(drop=True)
# %% [markdown]
# ## A summary of your own
#
# Only where an agent is still over its budget, and only if you hand one in, a summariser is asked. No model is asked by
# default; this one stands in for it.
# %%
config = CompressionConfig(
    max_tokens_per_agent=120,
    inner_share=0.5,
    summarise=lambda text, room: f"{len(text):,} characters about refunds.",
)
short = compress(refund, config)
short.entries[["kind", "first_step", "last_step", "tokens", "text"]]
# %%
bank.close()
