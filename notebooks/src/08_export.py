# ruff: noqa: D100
# %% [markdown]
# # 08 Export
#
# How do sessions reach another program, without what should not leave? Select, look at what redaction takes out, write
# four formats, read back, and open the files in pandas, as plain JSON and as chat rows.
# %%
import json
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import pandas as pd

import sessionbank as sb
from sessionbank import plot
from sessionbank.plot.trajectory import trajectory_timeline, trajectory_timeline_data
from sessionbank.trajectory import Redactor, agent_share, sample, to_event_log

pd.set_option("display.max_columns", 20, "display.max_colwidth", 70, "display.width", 160)
pd.set_option("display.float_format", "{:,.2f}".format)

bank = sb.open_bank("../data/shop.bundle", cache=False)
scratch = tempfile.TemporaryDirectory()
out = Path(scratch.name)
# %% [markdown]
# ## Select
#
# One trajectory a session, however many snapshots of it are stored, so no history comes twice. Filters work as the
# sessions are read; nothing is held.
# %%
every = list(sb.trajectories(bank))
kept = {
    "all with a step": every,
    "judged a success": list(sb.trajectories(bank, success_only=True)),
    "success, 8 to 20 steps": list(sb.trajectories(bank, success_only=True, min_steps=8, max_steps=20)),
    "the same, agent wrote 80 % or more": list(
        sb.trajectories(bank, success_only=True, min_steps=8, max_steps=20, min_agent_share=0.8)
    ),
}
pd.DataFrame([
    (name, len(found), sum(map(len, found)), sum(t.total_tokens for t in found)) for name, found in kept.items()
], columns=["filter", "trajectories", "steps", "tokens"])  # fmt: skip
# %% [markdown]
# A judged success is a judgement: see `07_outcomes` for how far to trust it. Or draw some, in proportion to the share of
# lines that the agent wrote; the same seed draws the same:
# %%
chosen = sample(kept["judged a success"], 6, seed=7)
pd.DataFrame(
    [(t.task.description, t.task.domain, len(t), agent_share(t)) for t in chosen],
    columns=["task", "domain", "steps", "agent share"],
)
# %% [markdown]
# ## What does redaction take out?
#
# Keys, passwords, addresses, home folders and user names become placeholders; the same value has the same one everywhere,
# so structure survives. Numbers, ids and hashes stay. (The key is put together here so that no scanner takes this notebook
# for a leak.)
# %%
redactor = Redactor(names=["Bluebird Ltd"])
key = "ghp_" + "a1B2c3D4e5" * 4
print(redactor.text(f"mail ada@example.org, then export GITHUB_TOKEN={key[:40]}"))
print(
    redactor.text(
        "Bluebird Ltd asks again (ada@example.org); commit 9dc6760a101bf4e83e5ad2973d130813f1a095f2"
    )
)
# %% [markdown]
# Redaction is on by default. The report says what was replaced where, never with what it was. Read it, and the file, before
# the file leaves: no rule finds everything.
# %%
written = sb.write_jsonl(chosen, out / "chosen.jsonl")
report = written.report()
print(
    f"{report['count'].sum()} places, {report['placeholder'].nunique()} different values, by kind and field:"
)
print(report.groupby(["kind", "field"])["count"].sum().to_string())
report.assign(trajectory=report["trajectory_id"].str[:20] + "…")[
    ["trajectory", "field", "kind", "placeholder", "count", "first_step"]
].head(10)
# %% [markdown]
# ## Write
#
# `sessionbank` is read back without loss, `atif` is ATIF v1.7 with subagents embedded, `messages` are chat rows with tools
# (a row an agent), `canonical` are records of the stored lines, and so made of sessions.
# %%
files = {
    form: sb.write_jsonl(chosen, out / f"{form}.jsonl", format=form)
    for form in ("sessionbank", "atif", "messages")
}
sessions = [bank.get_by_session_id(t.session_id) for t in chosen]
files["canonical"] = sb.write_jsonl(sessions, out / "canonical.jsonl", format="canonical")
pd.DataFrame(
    [(f.format, f.trajectories, f.rows, f.bytes, len(f.skipped)) for f in files.values()],
    columns=["format", "trajectories", "lines", "bytes", "skipped"],
)
# %% [markdown]
# Are they accepted elsewhere? `python checkers/run.py FILES` asks other projects' validators, each in an environment of
# its own, about ATIF files. `CONTRIBUTING.md` says how.
#
# ## Read back
#
# What was written redacted comes back redacted, and equal to what was redacted. Without redaction the way there and back
# loses nothing, and the writer says loudly what that means:
# %%
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    sb.write_jsonl(every, out / "plain.jsonl", redact=False)
print(f"{heard[0].category.__name__}: {heard[0].message}")
back = sb.read_jsonl(out / "plain.jsonl")
print("equal to what was written:", back == every)
print(
    "ATIF reads back with as many steps:",
    [len(t) for t in sb.read_jsonl(out / "atif.jsonl")] == [len(t) for t in chosen],
)
# %% [markdown]
# A trajectory from a file is drawn as one from the bank:
# %%
longest = max(sb.read_jsonl(out / "sessionbank.jsonl"), key=len)
trajectory_timeline_data(longest.steps())[["at", "lane", "status", "tokens"]].head(6)
# %%
plot.show(trajectory_timeline(longest.steps()))
# %% [markdown]
# ## In pandas
# %%
frame = pd.read_json(out / "sessionbank.jsonl", lines=True)
print(", ".join(frame.columns))
steps = frame.explode("steps", ignore_index=True)["steps"].apply(pd.Series)
steps.groupby("action_name").agg(
    steps=("step", "size"), errors=("status", lambda s: s.eq("error").sum()), tokens=("tokens", "sum")
).sort_values(["steps", "errors"], ascending=False).head(6)
# %% [markdown]
# ## As plain JSON
#
# ATIF with nothing but the standard library:
# %%
first = json.loads((out / "atif.jsonl").read_text(encoding="utf-8").splitlines()[0])
print(first["schema_version"], first["agent"])
for step in first["steps"][:6]:
    called = [call["function_name"] for call in step.get("tool_calls", [])]
    print(step["step_id"], step["source"], called, repr((step["message"] or "")[:60]))
print(first["final_metrics"])
# %% [markdown]
# ## As chat rows
#
# For training and evaluation. Arguments are text as OpenAI has them, or objects as the chat templates of TRL want them.
# %%
row = json.loads((out / "messages.jsonl").read_text(encoding="utf-8").splitlines()[0])
print({name: type(value).__name__ for name, value in row.items()})
print(dict(Counter(m["role"] for m in row["messages"])))
_ = sb.write_jsonl(chosen, out / "trl.jsonl", format="messages", arguments="dict")
for name in ("messages.jsonl", "trl.jsonl"):
    found = json.loads((out / name).read_text(encoding="utf-8").splitlines()[0])
    call = next(m for m in found["messages"] if m.get("tool_calls"))["tool_calls"][0]["function"]
    print(f"{name}: {call['name']}, arguments are {type(call['arguments']).__name__}")
pd.DataFrame(row["messages"]).fillna("").astype("str")[["role", "content", "tool_calls"]].head(5)
# %% [markdown]
# ## For process mining
#
# `to_event_log` gives steps the column names of XES logs.
# %%
log = to_event_log(longest.steps())
bank.close()
scratch.cleanup()
log[["concept:name", "org:resource", "start_timestamp", "time:timestamp"]].head(4)
