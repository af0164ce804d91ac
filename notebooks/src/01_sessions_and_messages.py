# ruff: noqa: B018, D100
# %% [markdown]
# # 01 Sessions and messages
#
# Who worked on what, who said what, and which tools did it take? The bank is `data/shop.bundle`: an invented web shop,
# three months of work with Claude Code and Gemini CLI.
# %%
import json

import pandas as pd
from IPython.display import HTML

import sessionbank as sb
from sessionbank import plot

pd.set_option("display.max_columns", 20, "display.max_colwidth", 60)
pd.set_option("display.float_format", "{:,.2f}".format)

bank = sb.open_bank("../data/shop.bundle", cache=False)
bank
# %% [markdown]
# ## What is a session?
#
# One conversation. Entire stores it again at each commit, so a session has one or more *records*; `sessions()` has the
# union of them as one row. Counts without the prefix `subagent_` are the main agent's alone.
# %%
sessions = bank.sessions()
sessions.loc[
    sessions["record_count"] > 1,
    [
        "started_at",
        "agent",
        "record_count",
        "checkpoint_count",
        "human_prompts",
        "tool_calls",
        "api_calls",
        "active_s",
        "intent",
    ],
].head(8)
# %% [markdown]
# Not every session has a transcript. Unknown is missing here, never 0: a session without transcript has no count of
# prompts.
# %%
sessions.groupby(["agent", "transcript_state"]).agg(
    sessions=("session_id", "size"),
    prompts=("human_prompts", lambda s: s.sum(min_count=1)),
    tool_calls=("tool_calls", lambda s: s.sum(min_count=1)),
    active_h=("active_s", lambda s: s.sum(min_count=1) / 3600),
)
# %% [markdown]
# ## Which sessions are about payments, and which of February ended without a summary?
#
# `query` selects whole sessions. `total` counts before the limit.
# %%
found = bank.query(search="payment", sort="oldest", limit=5)
print(f"{len(found)} of {found.total} sessions")
found.sessions()[["started_at", "agent", "human_prompts", "tool_calls", "intent"]]
# %%
print("February, no summary:", bank.count(since="2026-02-01", before="2026-03-01", has_summary=False))
print("Gemini CLI:          ", bank.count(agent="gemini-cli"))
# %% [markdown]
# ## What did people really type?
#
# In a transcript, tool results, texts of programs, commands and messages of other agents all carry the role `user`. The
# kind of a message says what it is.
# %%
messages = bank.messages()
kinds = plot.messages_by_kind_data(messages)
kinds[kinds["role"].isin(["user", "assistant"])]
# %%
plot.show(plot.messages_by_kind(messages))
# %% [markdown]
# ## How does one session run?
#
# The session with the most prompts. Long pauses are cut out of the picture; the frame behind it holds the true times.
# %%
chosen = sessions.sort_values(["human_prompts", "started_at"], ascending=[False, True])["session_id"].iloc[0]
session = bank.get_by_session_id(chosen)
HTML(session._repr_html_())  # a cell that ends with `session` shows the same
# %%
mine, calls = messages[messages["session_id"] == chosen], bank.tool_calls()
events = plot.session_timeline_data(mine, calls[calls["session_id"] == chosen])
events[events["what"].eq("prompt") | events["status"].eq("error")][
    ["lane", "what", "status", "start", "minutes"]
]
# %%
plot.show(plot.session_timeline(mine, calls[calls["session_id"] == chosen]))
# %% [markdown]
# ## Which tools were used, and how did the calls end?
#
# A call that a person refused (`rejected`) or that was cancelled (`interrupted`) is not an error of the tool.
# %%
plot.tools_by_status_data(calls, top=10)
# %%
plot.show(plot.tools_by_status(calls))
# %% [markdown]
# Which shell commands fail most?
# %%
shell = calls[calls["command"].notna() & calls["inherited_from"].isna()]
failed = shell.assign(program=shell["command"].str.split().str[0], failed=shell["status"].eq("error"))
failed.groupby("program").agg(
    calls=("failed", "size"), errors=("failed", "sum"), median_ms=("duration_ms", "median")
).sort_values(["errors", "calls", "median_ms"], ascending=False).head(6)
# %% [markdown]
# ## Which sessions had subagents?
# %%
had = sessions[sessions["subagent_api_calls"].fillna(0) > 0]
had[
    [
        "started_at",
        "tool_calls",
        "subagent_tool_calls",
        "api_calls",
        "subagent_api_calls",
        "subagent_output_tokens",
    ]
]
# %% [markdown]
# ## Is that really what is stored?
#
# Every row leads back to the bytes. Here a failed call, the line of its use and the line of its result:
# %%
row = calls[calls["status"].eq("error")].iloc[0]
for line in bank.raw(row):
    part = json.loads(line)["message"]["content"][0]
    print(len(line), "bytes:", json.dumps(part)[:150], "…")
# %% [markdown]
# ## What could not be read?
#
# Nothing is dropped without a row here.
# %%
bank.diagnostics()[["severity", "code", "checkpoint_id", "line_index", "message"]]
