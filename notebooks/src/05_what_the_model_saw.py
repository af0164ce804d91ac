# ruff: noqa: D100
# %% [markdown]
# # 05 What the model saw
#
# A transcript keeps more than its model was sent. What had the model before it when it answered? The bank is
# `data/agents.bundle`, as in notebook 04. Nothing stored is changed: what was seen is a column and a view.
# %%
import hashlib
import json
import tempfile
from pathlib import Path

import pandas as pd

import sessionbank as sb
from sessionbank import plot
from sessionbank.errors import FormatError, QueryError
from sessionbank.plot.context import context_growth, context_growth_data

pd.set_option("display.max_columns", 20, "display.max_colwidth", 62)

bank = sb.open_bank("../data/agents.bundle", cache=False)
truth = pd.read_json("../data/agents.truth.json", typ="series")
key = {session: stated["key"] for session, stated in truth["sessions"].items()}
named = {name: bank.get_by_session_id(session) for session, name in key.items()}
messages = bank.messages()


def table(name: str) -> pd.DataFrame:
    """The messages of a session that its model could be sent."""
    rows = messages[messages["session_id"].eq(named[name].session_id) & messages["in_context"].notna()]
    return rows[["seq", "kind", "in_context", "context_reason", "text"]].reset_index(drop=True)


# %% [markdown]
# ## Claude Code: a compaction
#
# A line `compact_boundary` ends a context. The next line holds a summary, written under the role of the user, and with
# it a new context begins. What was said before is archived and no longer seen.
# %%
table("first-calculator")
# %%
claude = context_growth_data(named["first-calculator"])
claude[["message", "kind", "said", "seen"]].iloc[18:]
# %%
plot.show(context_growth(claude))
# %% [markdown]
# ## Pi: drafts and compactions
#
# Pi leaves out replies that a person broke off, but keeps what their tools answered. A compaction keeps a tail of the
# messages before it; only the last one counts, and its summary comes first.
# %%
table("moon-phase")
# %%
pi = context_growth_data(named["moon-phase"])
pi[["message", "kind", "said", "seen"]]
# %%
plot.show(context_growth(pi))
# %% [markdown]
# ## What was before the model at one moment?
#
# `context_at(message)` gives the messages in the order in which they were sent, the message itself last. After the
# first compaction a person asked for the source; this is what the model had:
# %%
session = named["moon-phase"]
asked = next(m for m in session.messages if m.text and m.text.startswith("Just say what"))
pd.DataFrame([{"kind": m.kind, "text": m.text} for m in session.context_at(asked)])
# %% [markdown]
# The story of this bank says by hand what was seen at which moment. Are the views the same?
# %%
checked = []
for stated in truth["sessions"].values():
    if "context" in stated:
        one = named[stated["key"]]
        by_id = {m.uuid: m for m in one.messages}
        views = {None: stated["context"]} | stated["views"]
        same = [[m.uuid for m in one.context_at(by_id.get(k))] == v for k, v in views.items()]
        checked.append({"session": stated["key"], "moments": len(same), "same": sum(same)})
pd.DataFrame(checked)
# %% [markdown]
# ## What cannot be told
#
# A Pi session with branches is a tree, of which no one view is the view: it is archived, and the view refused. Codex
# writes down what a compaction keeps, so it is told there. Other agents do not record what their models were sent;
# `in_context` is missing there, never True.
# %%
refused = []
for name in ("two-branches", "tide-table"):
    try:
        named[name].context_at()
    except QueryError as error:
        refused.append({"session": name, "why": str(error)})
pd.DataFrame(refused)
# %% [markdown]
# ## Canonical records
#
# Two people who load the same session should get the same records, down to the hash. `canonical()` gives the records of
# Letta's trajectory normaliser (canonical schema 3) in pure Python.
# %%
canonical = named["first-calculator"].canonical()
rows = pd.DataFrame(canonical.records)
print(
    f"{len(rows)} records of schema {canonical.canonical_schema_version}, {len(canonical.diagnostics)} diagnostics"
)
rows.groupby("record_type", sort=False).agg(
    records=("record_id", "size"), first=("content_hash", lambda s: s.iloc[0][:12])
)
# %% [markdown]
# Each record can be checked with nothing but a hash function:
# %%
record = canonical.records[1]
print(record["record_json"])
text = record["record_json"].encode()
said = {"content": {"content": record["content"]}, "type": "user"}
said = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
print("record_hash:", hashlib.sha256(text).hexdigest() == record["record_hash"])
print("content_hash:", hashlib.sha256(said).hexdigest() == record["content_hash"])
# %% [markdown]
# Some things are lost on purpose: tokens, cost, images, stop reasons. The summary that a compaction wrote is there as a
# line of the user's, for the records know no views. `write_jsonl` writes them, one a line.
# %%
with tempfile.TemporaryDirectory() as folder:
    target = Path(folder, "calculator.jsonl")
    written = sb.write_jsonl([named["first-calculator"]], target, format="canonical", redact=True)
    lines = target.read_text(encoding="utf-8").splitlines()
print(written.rows, "rows;", len({json.loads(line)["record_id"] for line in lines}), "ids")
# %%
try:
    named["moon-phase"].canonical()
except FormatError as error:
    print(error)
