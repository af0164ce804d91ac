# ruff: noqa: B018, D100
# %% [markdown]
# # 04 Many agents
#
# One repository, many agents: what does each of them record, and what can nobody know? The bank is
# `data/agents.bundle`: an invented tide calculator on which two people worked with eleven agents. What is true of it
# stands in `data/agents.truth.json`, written by the script that made it.
# %%
import json

import pandas as pd

import sessionbank as sb
from sessionbank import plot
from sessionbank.plot.support import support_matrix, support_matrix_data
from sessionbank.transcripts.support import support

pd.set_option("display.max_columns", 20, "display.max_colwidth", 70)
pd.set_option("display.float_format", "{:,.4f}".format)

bank = sb.open_bank("../data/agents.bundle", cache=False)
truth = pd.read_json("../data/agents.truth.json", typ="series")
key = {session: stated["key"] for session, stated in truth["sessions"].items()}
bank
# %% [markdown]
# ## Who worked here?
#
# The agent is told by the bytes of the transcript. The label in the metadata is only a label: here one session of
# Claude Code carries another agent's name. One session has no full transcript but Entire's compact one; one is of an
# agent that no reader knows.
# %%
records = bank.records(transcripts=True).drop_duplicates("session_id", keep="last")
who = records.assign(session=records["session_id"].map(key))
who = who.sort_values("created_at")[["session", "agent_label", "agent", "format", "transcript_name"]]
who.reset_index(drop=True)
# %% [markdown]
# ## What can be asked of whom?
#
# Each question is answered by a column. *Recorded*: a field says it. *Inferred*: a rule works it out. *Unseen*: it is
# read, but no transcript that we have holds it. *Absent*: the format does not say, and the column is missing. All
# columns of all tables are in `docs/support-matrix.md`.
# %%
questions = {
    "Who said what?": ("messages", "text"),
    "Which line is it?": ("messages", "uuid"),
    "When?": ("messages", "timestamp"),
    "By which model?": ("messages", "model"),
    "With which tool?": ("tool_calls", "tool_name"),
    "Did the tool work?": ("tool_calls", "status"),
    "What did the tool answer?": ("tool_calls", "result_text"),
    "Which lines are one call of the model?": ("token_usage", "message_id"),
    "How much fresh input?": ("token_usage", "input_tokens"),
    "How much was written to a cache?": ("token_usage", "cache_creation_tokens"),
    "How much output?": ("token_usage", "output_tokens"),
    "How much of it was reasoning?": ("token_usage", "reasoning_tokens"),
    "What did it cost?": ("token_usage", "cost_usd"),
    "What did the model still see?": ("messages", "in_context"),
    "In which folder?": ("sessions", "cwd"),
}
matrix = support_matrix_data(support(), questions)
matrix
# %%
plot.show(support_matrix(matrix))
# %% [markdown]
# An inferred answer may be a poor one. Whether Cursor's tools worked is "inferred" in that all of its calls are
# `no_result`; the model of Codex's replies is that of the turn they stand in.
# %% [markdown]
# ## The same, in numbers
#
# Sums over what is recorded. `<NA>` is not 0: Cursor used tokens like any other, but nothing says how many.
# %%
agent = bank.sessions().set_index("session_id")["agent"]
classes = ["input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens", "reasoning_tokens"]
usage = bank.token_usage()
by_agent = usage.groupby(usage["session_id"].map(agent).rename("agent"))
numbers = by_agent[classes].sum(min_count=1)
numbers.insert(0, "calls", by_agent.size())
numbers = numbers.reindex(sorted(agent.unique())).astype("Int64")
numbers
# %% [markdown]
# Are these the true sums? The truth file has them session by session, with null where a format is silent.
# %%
names = ["input", "cache_creation", "cache_read", "output", "reasoning"]
stated = pd.DataFrame({s: {"agent": f["agent"]} | f["tokens"] for s, f in truth["sessions"].items()}).T
stated = stated.groupby("agent")[names].agg(lambda s: s.dropna().sum() if s.notna().any() else pd.NA)
agrees = stated.astype("Int64").set_axis(classes, axis=1).equals(numbers[classes])
print("equal to the truth file" if agrees else "NOT equal to the truth file")
# %% [markdown]
# ## Did the tools work?
#
# `no_result` is what can be said where a format keeps no results (Cursor). It is not a failure.
# %%
calls = bank.tool_calls()
pd.crosstab(calls["session_id"].map(agent).rename("agent"), calls["status"].rename(None))
# %%
plot.show(plot.tools_by_status(calls, top=None))
# %% [markdown]
# ## Traps of the formats
#
# ### Codex: a running total
#
# `token_count` states what the *session* used so far, and says it again at the end of a turn. Adding these up is wrong;
# the growth from one to the next is a call. Its input includes what came from the cache.
# %%
codex = bank.query(agent="codex")
lines = codex.messages()
counted = lines[lines["line_type"].eq("event_msg/token_count")]
infos = [json.loads(bank.raw(row)[0])["payload"]["info"] for row in counted.to_dict("records")]
totals = pd.DataFrame([i["total_token_usage"] for i in infos if i])
totals
# %%
own = codex.token_usage()[["input_tokens", "cache_read_tokens", "output_tokens"]]
print("output added up:", totals["output_tokens"].sum())
print("output of the calls:", own["output_tokens"].sum())
own
# %% [markdown]
# ### Codex: every text twice
#
# What is said stands as an item and again as an event. The echo is kept as a line of kind `other` and counts nowhere.
# %%
lines.groupby(["line_type", "kind"], as_index=False).size()
# %% [markdown]
# ### Gemini CLI: the cache inside the input, thoughts outside the output
#
# Entire's own metadata take the file's input as it stands and drop the thoughts. `reconcile()` sets what is stored
# beside what the transcript says, and finds that neither fits.
# %%
gemini = bank.query(agent="gemini-cli").reconcile()
gemini[[
    "stored_input_tokens", "window_input_tokens", "window_cache_read_tokens",
    "stored_output_tokens", "window_output_tokens", "scope",
]]  # fmt: skip
# %% [markdown]
# ### OpenCode: redacted call ids, and a session that another one started
#
# A redactor took the ids of the calls for secrets. A call and its result are one part, so they are paired all the same,
# by the part's id. The child session names its parent; the prompt in it was written by an agent.
# %%
opencode = bank.query(agent="opencode")
parts = opencode.tool_calls()
parts.assign(session=parts["session_id"].map(key))[["session", "tool_call_id", "tool_name", "status"]]
# %%
edges = bank.lineage()
edges.assign(**{c: edges[c].map(key) for c in ("from_session", "to_session")})
# %% [markdown]
# ### Copilot CLI: input only as a sum of a run
#
# A reply states its output. Input and cache stand in the line that ends a run; the sum is put on the run's last call,
# and a diagnostics row says so. The third reply is of a run that has not ended: its input is missing.
# %%
bank.query(agent="copilot-cli").token_usage()[["message_id", *classes]].assign(
    message_id=lambda f: f["message_id"].str[:8]
)
# %% [markdown]
# ## What was found wanting?
#
# Nothing is dropped in silence. A transcript that no reader knows keeps its lines as they are.
# %%
found = bank.diagnostics()
found.assign(session=found["session_id"].map(key))[["severity", "code", "session", "message"]]
# %%
unread = bank.query(agent="unknown").messages()
unread[["kind", "timestamp", "extra"]]
# %% [markdown]
# ## What cannot be known
#
# - Cursor: when, by which model, whether a tool worked, what it cost.
# - Kiro and Factory Droid: what it cost; Kiro also when, and by which model.
# - Codex and Gemini CLI: what was written to a cache.
# - Copilot CLI: the input of one reply, and anything of a run that never ended.
# - All but Claude Code, Codex and Pi: what the model still saw (notebook 05).
# - A compact transcript: what was thought, and what came from the cache.
