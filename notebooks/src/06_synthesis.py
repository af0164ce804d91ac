# ruff: noqa: B018, D100
# %% [markdown]
# # 06 Synthesis
#
# How does a session become a trajectory: a task, steps of thought, action and observation, and an outcome? One session
# is followed step by step, each rule shown where it acts. The bank is `data/shop.bundle`, an invented web shop.
# %%
import json

import pandas as pd

import sessionbank as sb
from sessionbank import plot
from sessionbank.plot.trajectory import (
    step_funnel,
    step_funnel_data,
    trajectory_timeline,
    trajectory_timeline_data,
)
from sessionbank.trajectory import domain_of

pd.set_option("display.max_columns", 20, "display.max_colwidth", 60, "display.width", 160)
pd.set_option("display.float_format", "{:,.2f}".format)

bank = sb.open_bank("../data/shop.bundle", cache=False)
session = bank.query(search="40k products")[0]
print(next(m.text for m in session.messages if m.kind == "prompt"))


def shown(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame without the person's own folder in its texts."""
    return frame.replace({r"/\w+/\w+/dev/shop/": ""}, regex=True)


# %% [markdown]
# ## What is stored?
#
# Lines. A reply of the model is written on several, one a block, and they share a `message_id`. Results of tools come
# back as lines of the role `user`. Here the reply that wrote a migration and changed a file:
# %%
lines = bank.messages()
lines = lines[lines["session_id"].eq(session.session_id) & ~lines["is_subagent"]]
calls = bank.tool_calls()
write = calls[calls["session_id"].eq(session.session_id) & calls["tool_name"].eq("Write")].iloc[0]
blocks = bank.blocks()[lambda b: b["session_id"].eq(session.session_id)]
told = lines[["seq", "role", "kind", "message_id"]].merge(blocks[["seq", "type", "text"]], on="seq")
shown(told[told["seq"].between(write["seq"] - 2, write["seq"] + 3)])
# %% [markdown]
# ## One API call is one thought
#
# Text and thinking of a reply belong to every tool call of it. So the two calls of this reply are two steps that share a
# thought, and the tokens of the reply stand on the first: added up, no call counts twice.
# %%
trajectory = sb.synthesize(session)
steps = trajectory.steps(subagents=False)
number = next(s.reply for s in trajectory.own_steps if s.tool_call_id == write["tool_call_id"])
own = [s.step for s in trajectory.own_steps if s.reply == number]
shown(
    steps.loc[steps["step"].isin(own), ["step", "thought", "action_name", "observation", "status", "tokens"]]
)
# %% [markdown]
# ## What was the task?
#
# The intent of the stored summary, else the first prompt. The domain comes from the files that were touched, with the
# share of each kind of work.
# %%
task = trajectory.task
print(task.description)
print(f"domain {task.domain}; branch {task.context['branch']}")
pd.DataFrame({
    "file": task.context["files"],
    "kind": [domain_of(f) for f in task.context["files"]],
})  # fmt: skip
# %% [markdown]
# ## The steps
#
# A reply without a tool call is a step `respond`. The whole is a frame.
# %%
shown(steps[["step", "thought", "action_name", "observation", "status", "tokens"]].head(15))
# %%
trajectory_timeline_data(trajectory.steps())[
    ["at", "lane", "step", "action_name", "status", "tokens", "started_at"]
].head(8)
# %%
plot.show(trajectory_timeline(trajectory.steps()))
# %% [markdown]
# ## What was said in between?
#
# Prompts and interruptions are kept with the reply that followed them.
# %%
pd.DataFrame(
    [(r.number, turn.kind, turn.text) for r in trajectory.replies for turn in r.before],
    columns=["before reply", "kind", "text"],
)
# %% [markdown]
# ## And the subagent?
#
# A subagent is a trajectory of its own inside its parent's, linked to the call that started it. Its steps and tokens are
# not its parent's.
# %%
(child,) = trajectory.subagents
print(
    f"started by step {[s.step for s in trajectory.own_steps if s.tool_call_id == child.parent_tool_call_id]}"
)
print(f"{child.agent_type}: {child.task.description}")
shown(child.steps()[["step", "action_name", "observation", "status", "tokens"]])
# %% [markdown]
# ## Do the figures agree with the session's row?
# %%
row = bank.sessions().set_index("session_id").loc[session.session_id]
columns = ["api_calls", "tool_calls", "total_tokens", "active_s"]
its_calls = int(steps["tool_call_id"].count())
pd.DataFrame({
    "session": row[columns].astype("float64"),
    "trajectory": [trajectory.llm_calls, its_calls, trajectory.total_tokens, trajectory.active_seconds],
    "steps added up": [len(trajectory.replies), its_calls, steps["tokens"].sum(), None],
})  # fmt: skip
# %% [markdown]
# ## One checkpoint's part of it
#
# A session that was committed four times is four windows. Their sums are the whole.
# %%
windows = [sb.synthesize(session, checkpoint_id=r.checkpoint_id) for r in session.records]
table = pd.DataFrame({
    "checkpoint": [r.checkpoint_id for r in session.records],
    "steps": [len(w) for w in windows],
    "api_calls": [w.llm_calls for w in windows],
    "tokens": [w.total_tokens for w in windows],
    "outcome": [w.outcome.label for w in windows],
})  # fmt: skip
assert table["tokens"].sum() == trajectory.total_tokens
assert table["steps"].sum() == len(trajectory)
table
# %% [markdown]
# ## Back to the bytes
#
# Each step leads to its stored line. The step that failed:
# %%
place = steps[steps["status"].eq("error")].iloc[0]
stored = json.loads(bank.raw(lines[lines["uuid"].eq(place["message_uuid"])].iloc[0])[0])
print(stored["timestamp"], json.dumps(stored["message"]["content"][0]["input"]))
# %% [markdown]
# ## All sessions: what kind of work, and how far did it get?
#
# Few sessions commit themselves: people do, and the commit strategy of `07_outcomes` reads that from git. A session that
# asked a question has nothing to change, so an early end is no failure.
# %%
made = list(sb.trajectories(bank, outcome=None))
pd.DataFrame(
    [(t.task.domain, len(t), t.total_tokens, len(t.subagents)) for t in made],
    columns=["domain", "steps", "tokens", "subagents"],
).groupby("domain", dropna=False).agg(
    sessions=("steps", "size"),
    steps=("steps", "sum"),
    tokens=("tokens", "sum"),
    subagents=("subagents", "sum"),
).sort_values("sessions", ascending=False)
# %%
all_steps = bank.steps()
step_funnel_data(all_steps)
# %%
plot.show(step_funnel(all_steps))
bank.close()
