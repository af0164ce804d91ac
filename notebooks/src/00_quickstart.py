# ruff: noqa: B018, D100
# %% [markdown]
# # 00 Quickstart
#
# One path through the house: open a bank, look at sessions and messages, see where the token figures come from, make a
# trajectory and write it as JSONL, follow a team, compress and score its run, and end at a line of a playbook with the
# evidence that it rests on. Each station is a table with a picture beside it. The bank is an invented web shop; yours
# is `sb.open_bank(".")`.
# %%
import json
import tempfile
from pathlib import Path

import pandas as pd

import sessionbank as sb
from sessionbank import learning
from sessionbank.learning.review import evidence

pd.set_option("display.max_columns", 20, "display.max_colwidth", 60)
pd.set_option("display.float_format", "{:,.2f}".format)

scratch = tempfile.TemporaryDirectory()
bank = sb.open_bank("../data/shop.bundle", cache=False, state_dir=Path(scratch.name, "state"))
bank
# %% [markdown]
# ## Sessions
#
# One row a conversation, however often it was stored.
# %%
sessions = bank.sessions()
columns = [
    "started_at",
    "agent",
    "human_prompts",
    "tool_calls",
    "api_calls",
    "output_tokens",
    "cost_usd",
    "intent",
]
sessions[columns].head(6)
# %%
by_day = bank.totals("day")
sb.plot.tokens_over_time_data(by_day, every="month")
# %%
sb.plot.show(sb.plot.tokens_over_time(by_day))
# %% [markdown]
# ## Messages and tool calls
#
# A session as it was told, and how its calls ended. This one redesigned the checkout with a team of agents.
# %%
session = bank.query(search="agent team")[0]
messages, calls = bank.messages(), bank.tool_calls()
mine, its_calls = (
    messages[messages["session_id"] == session.session_id],
    calls[calls["session_id"] == session.session_id],
)
mine[mine["kind"].isin(["prompt", "reply", "teammate"])][["seq", "kind", "timestamp", "text"]].head(8)
# %%
sb.plot.tools_by_status_data(its_calls, top=6)
# %%
sb.plot.show(sb.plot.tools_by_status(its_calls, top=6))
# %% [markdown]
# ## Tokens
#
# Why is the sum over all stored lines wrong? Each rule has its effect, and the rows behind it. More in
# `02_tokens_and_cost`.
# %%
bridge = bank.explain("output_tokens")
bridge
# %%
sb.plot.show(sb.plot.bridge(bridge, column="output_tokens"))
# %% [markdown]
# ## A trajectory, and JSONL
#
# The session as task, steps and outcome. How it ended is judged by several strategies, with their evidence.
# %%
trajectory = sb.synthesize(session)
print(trajectory.task.description)
print(
    f"{trajectory.outcome.label}, confidence {trajectory.outcome.confidence:.2f}: {trajectory.outcome.reason}"
)
trajectory.steps()[["step", "thought", "action_name", "status", "tokens"]].head(8)
# %%
sb.plot.show(sb.plot.session_timeline(mine, its_calls))
# %% [markdown]
# In the project's own format and in ATIF, with secrets and names of users taken out:
# %%
for form in ("sessionbank", "atif"):
    written = sb.write_jsonl([trajectory], Path(scratch.name, f"{form}.jsonl"), format=form)
    first = json.loads(written.path.read_text().splitlines()[0])
    print(f"{form}: {written.trajectories} line, keys {', '.join(list(first)[:7])} ...")
back = sb.read_jsonl(Path(scratch.name, "sessionbank.jsonl"))
print(f"read back: {len(back[0])} steps")
# %% [markdown]
# ## A team
#
# Who was in it, and who turned to whom?
# %%
team = sb.team.from_session(session)
team.members()[["agent_id", "role", "model", "steps", "tool_calls", "tokens", "outcome"]]
# %%
edges = team.interactions()
edges[["type", "from_agent", "to_agent", "from_step", "to_step", "content", "evidence"]].head(12)
# %%
sb.plot.show(sb.plot.team_graph(edges))
# %% [markdown]
# ## Compression
#
# Steps that touch an interaction stay whole; inner steps between them are folded.
# %%
compressed = sb.team.compress(team)
compressed.entries[["agent_id", "kind", "first_step", "last_step", "tokens", "original_tokens"]].head(8)
# %%
stats = compressed.stats()
print(f"stored  {stats['original_tokens']:>7,} -> {stats['compressed_tokens']:>7,} tokens (estimated)")
print(f"re-read {stats['reread_original_tokens']:>7,} -> {stats['reread_tokens']:>7,}")
fold = compressed.entries[compressed.entries["kind"] == "fold"].iloc[0]
print("\na fold:", fold["text"][:300])
# %%
sb.plot.compression_sizes_data(compressed.agents)
# %%
sb.plot.show(sb.plot.compression_sizes(compressed.agents))
# %% [markdown]
# ## Scores
#
# Which steps decided the run? Each has its reason.
# %%
scores = sb.team.score(team)
scores.critical_steps[
    ["agent_id", "step", "kind", "promise", "progress", "interaction_bonus", "total", "reason"]
].head(6)
# %%
sb.plot.show(sb.plot.score_profile(scores.steps))
# %% [markdown]
# ## A line of a playbook
#
# All sessions are taken in; from those with several agents, lines for roles and teams are distilled by plain rules.
# Every line names its evidence, and waits for a person to accept, edit or reject it.
# %%
atlas = sb.Atlas(
    bank,
    Path(scratch.name, "memory"),
    config={"team_learning": {"enabled": True}, "session_bank": {"outcome_strategy": "evidence"}},
)
taken = atlas.ingest_sessions(limit=len(sessions))
print(f"{len(taken.ingested)} sessions, {len(taken.teams)} runs of several agents")
_ = atlas.run_team_batch()
found = pd.DataFrame(learning.lines(atlas.memory))
lines = found[found["kind"] == "role-playbooks"].sort_values(
    ["confidence", "line_id"], ascending=[False, True]
)
lines[
    ["playbook_id", "text", "direction", "standing", "confidence", "runs_for", "runs_against", "evidence"]
].head(8)
# %%
sb.plot.show(sb.plot.line_support(lines))
# %% [markdown]
# What one line rests on, down to the step and the line of the transcript:
# %%
line = lines[lines["playbook_id"] == "role-lead"].iloc[0]
print(line["text"])
places = pd.DataFrame(evidence(atlas.memory, line["playbook_id"], line["line_id"], bank=bank))
places[["objective", "outcome", "agent_id", "step_index", "supports"]]
# %%
place = places.iloc[0]
where = messages["session_id"].eq(place["session_id"]) & messages["uuid"].eq(place["message_uuid"])
stored = json.loads(bank.raw(messages[where].iloc[0])[0])
use = stored["message"]["content"][0]
print(stored["timestamp"], use["type"], use["name"], Path(use["input"]["file_path"]).name)
# %%
bank.close()
scratch.cleanup()
