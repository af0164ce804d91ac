# ruff: noqa: D100
# %% [markdown]
# # 11 Scoring
#
# Which steps and hand-overs decided how a run went, and how much does the answer depend on the weights? No model is asked:
# each part is a column between 0 and 1, and each critical row says why in words.
# %%
import dataclasses

import pandas as pd

import sessionbank as sb
from sessionbank import plot, team
from sessionbank.team import ScoreConfig, score, sensitivity

pd.set_option("display.max_columns", 20, "display.max_colwidth", 90, "display.width", 170)
pd.set_option("display.float_format", "{:,.2f}".format)

bank = sb.open_bank("../data/shop.bundle", cache=False)
run = team.from_session(bank.query(search="agent team")[0])
scores = score(run)
print(run)
print(f"critical: {len(scores.critical_steps)} of {len(scores.steps)} steps, {scores.critical_ratio:.0%}")
# %% [markdown]
# ## Which steps?
#
# `promise` is nearness to start or end and what is used later, `progress` what the action moved or broke,
# `interaction_bonus` that an interaction touches it. The total is the chance that one of them is reason enough.
# %%
scores.critical_steps[
    ["rank", "agent_id", "step", "kind", "promise", "progress", "interaction_bonus", "total", "reason"]
].head(10)
# %%
plot.score_profile_data(scores.steps).groupby("what").agg(
    steps=("step", "size"), lowest=("total", "min"), median=("total", "median"), highest=("total", "max")
)
# %%
plot.show(plot.score_profile(scores.steps, threshold=scores.config.critical_step_threshold))
# %% [markdown]
# What were these steps?
# %%
steps = run.steps()
top = scores.critical_steps.head(4)[["agent_id", "step", "reason"]]
top.merge(steps[["agent_id", "step", "action_name", "status", "observation"]], on=["agent_id", "step"])
# %% [markdown]
# ## Which hand-overs?
#
# The parts are how well it went on downstream, how long it took against what is usual here, whether a template expects it,
# and how much it says. `quality` says how well it went, `total` how much it matters.
# %%
scores.critical_interactions[
    ["type", "from_agent", "to_agent", "downstream_success", "latency_penalty", "quality", "total", "reason"]
].head(10)
# %% [markdown]
# ## Would other weights choose others?
#
# Each weight is taken away, halved, and raised by half. `overlap` is 1 where the same rows stay critical.
# %%
moved = sensitivity(run)
changes = moved.changes[moved.changes["of"].eq("steps")]
changes.pivot(index="weight", columns="factor", values="overlap").sort_values(0.0)
# %% [markdown]
# Steps that are critical under nearly all settings are safe to read first; those around one half are a matter of taste.
# %%
safe = moved.steps[moved.steps["stability"] > 0].sort_values(["stability", "rank"], ascending=[False, True])
safe[["agent_id", "step", "kind", "total", "is_critical", "stability", "reason"]].iloc[
    [*range(5), *range(-5, 0)]
]
# %% [markdown]
# ## Weights of your own
#
# Someone who looks for work that broke, and not for talk:
# %%
mine = ScoreConfig(
    step_weights={"promise": 0.1, "progress": 1.0, "interaction_bonus": 0.0}, max_critical_ratio=0.1
)
score(run, mine).critical_steps[["agent_id", "step", "kind", "progress", "total", "reason"]]
# %% [markdown]
# ## A run file
#
# Runs that no transcript holds come from a file (`data/team-runs/README.md`). In this one an executor escalates past its
# own lead, which nothing declares.
# %%
custom = team.from_input("../data/team-runs/custom.yaml")
told = score(custom)
print(custom, "enforcement:", custom.enforcement)
told.interactions.sort_values("rank")[
    ["type", "from_agent", "to_agent", "expected", "quality", "total", "is_critical", "reason"]
]
# %%
told.steps.sort_values("rank")[["agent_id", "step", "kind", "total", "is_critical", "reason"]]
# %%
plot.show(plot.score_profile(told.steps, threshold=told.config.critical_step_threshold))
# %% [markdown]
# ## If it had gone wrong
#
# The same run, with one message that never arrived. Does the score find it?
# %%
messages = [e for e in run.interaction_list if e.type == "message" and e.from_agent == "team-lead" and e.ok]
lost = messages[1]
broken = dataclasses.replace(
    run, interaction_list=tuple(
        dataclasses.replace(e, ok=False, to_step=None) if e is lost else e for e in run.interaction_list
    )
)  # fmt: skip
before, after = (
    s.interactions.set_index("interaction_id").loc[lost.interaction_id] for s in (scores, score(broken))
)
pd.DataFrame({"as it was": before, "lost": after}).loc[
    ["type", "from_agent", "to_agent", "quality", "total", "rank", "is_critical", "reason"]
]
# %% [markdown]
# One planted fault proves little; `tests/team/test_planted.py` plants five kinds into generated runs and holds how often
# the critical rows contain them, beside what chance would give.
# %%
bank.close()
