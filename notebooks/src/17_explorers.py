# ruff: noqa: D100
# %% [markdown]
# # 17 Explorers
#
# Read instead of count: look for a session in a bank, go through it message by message, review what was learned. The
# explorers are widgets; run this notebook in JupyterLab, Notebook, VS Code or Voilà to use them. Below each one the same is
# shown without a widget, so the page has something to say where none is running.
# %%
import datetime as dt
import json
import tempfile
from pathlib import Path

import pandas as pd
from IPython.display import HTML

import sessionbank as sb
from sessionbank import plot
from sessionbank.learning import Atlas, Memory
from sessionbank.widgets import session_look as look
from sessionbank.widgets.bank_html import rows_html
from sessionbank.widgets.bank_rows import SessionRows
from sessionbank.widgets.message_html import page_html
from sessionbank.widgets.review_html import line_html
from sessionbank.widgets.session_entries import Entries
from sessionbank.widgets.shown_texts import Shown
from sessionbank.widgets.text_html import diff_html
from sessionbank.widgets.tool_html import changed

pd.set_option("display.max_columns", 20, "display.max_colwidth", 70, "display.width", 170)
pd.set_option("display.float_format", "{:,.2f}".format)
folder = tempfile.TemporaryDirectory()  # for what is marked and learned below
bank = sb.open_bank("../data/shop.bundle", cache=False, state_dir=Path(folder.name, "state"))
# %% [markdown]
# ## Which session was that?
#
# `sb.browse(bank)` filters by agent, branch, day, words and outcome, all at once. A page holds 25 sessions. *Read 1* opens the
# first session of the page in place of the table, *Back to the sessions* returns to it. Words are looked for in what people
# typed, or in all messages. The last day counts in full; days are in UTC.
#
# Outcomes are worked out when asked for, row by row: where that takes longer than a second and a half, the explorer says how
# far it came, and *Look on* goes further. Transcripts are read when a session, a search or an outcome needs them, not before.
# %%
sb.browse(bank)
# %% [markdown]
# What it shows is made by functions that can be called. The sessions stored in the first ten days of April on a feature branch:
# %%
rows = SessionRows(bank)
april = rows.passing(branch="feature/", since=dt.date(2026, 4, 1), until=dt.date(2026, 4, 10))
HTML(rows_html(rows.rows(april), show=Shown()))
# %% [markdown]
# And those in whose prompts the word "checkout" stands, with how they ended by the evidence:
# %%
words = rows.found("checkout")
found = rows.passing(among=words, sort="oldest")
pd.DataFrame([(sid[:8], rows.outcome(sid)) for sid in found], columns=["session", "outcome"])
# %% [markdown]
# ## What happened in it?
#
# `sb.browse(session)` shows 40 entries at a time. An entry is a message; a tool call and its result are one entry, folded
# to a line that says what it was about, and unfolds with a click or with Enter. An edit unfolds to a diff, a command to what
# it printed. What a subagent did stands indented under the call that started it. The bar at the left has the colour of who
# speaks, the dot that of the tool, as in all pictures.
#
# *Next error* goes to the next call that failed, was rejected or interrupted. *Search* goes through words, thinking, tool
# inputs and results. A number in *Message* goes to that message, and the buttons beside it show it in full, what the model
# had in its context when it came, or the stored line. Long texts come in parts, and say how many characters are left.
# %%
session = bank.get_by_session_id("15c626f5-cdab-4e3d-a66e-6f3001ea1ae8")
sb.browse(session)
# %% [markdown]
# What was said in that session, without tools and subagents:
# %%
entries = Entries(session)
said = [entries.all[at] for at in entries.chosen(["prompts", "replies"])]
HTML(page_html(said, show=Shown(), root=session.cwd))
# %% [markdown]
# The first call that failed, where *Next error* leads:
# %%
failed = entries.all[entries.troubles[0]]
HTML(page_html([failed], show=Shown(), chosen=failed.seq, root=session.cwd))
# %% [markdown]
# And an edit of another session (float money, rounded), as it unfolds:
# %%
cart = bank.get_by_session_id("6d52dd5f-87d8-438c-b5ff-ca1b4cb7438f")
edits = [changed(call, show=Shown())[0] for call in cart.tool_calls if call.tool_name == "Edit"]
lines = next(lines for (lines,) in edits if any(sign == "-" for sign, _ in lines))
HTML(look.pane(diff_html(lines)))
# %% [markdown]
# What of the session there is to filter by (an entry with words and calls counts in two groups):
# %%
pd.Series(entries.counts, name="entries").to_frame()
# %% [markdown]
# The same session from afar, in the same colours: where to look closer.
# %%
one = bank.query(search="guest logs in")
plot.show(plot.session_timeline(one.messages(), one.tool_calls()))
# %% [markdown]
# ## What did the model see, and what is stored?
#
# Both can be asked without the explorer. The last message of the session that was compacted, and how much of what was said
# the model still had; then the stored line of its first prompt.
# %%
compacted = next(s for s in bank.discover() if any(m.kind == "compact_summary" for m in s.messages))
spoken = [m for m in compacted.messages if m.in_context is not None]
seen = compacted.context_at(compacted.messages[-1])
print(
    f"session {compacted.session_id[:8]}: of {len(spoken)} lines ever sent, {len(seen)} are in the context at the end"
)
print(f"the first of them: {seen[0].kind}: {seen[0].text[:80]}…")
# %%
prompt = next(m for m in session.messages if m.kind == "prompt")
(line,) = session.raw(prompt)
stored = json.loads(line)
print(f"{len(line):,} bytes, with the keys {', '.join(stored)}")
print(stored["message"])
# %% [markdown]
# ## What should agents be told?
#
# `sb.review(memory, bank=bank, reviewer="ada")` goes through playbooks line by line: how the runs stand to a line, what it
# rests on down to the stored line of the transcript, and *Accept*, *Save the text*, *Reject* or *Merge*, each with a reason.
# Every decision makes a version; what changed since any of them stands at the end. Notebook 13 does the same in code.
# %%
memory = Memory(Path(folder.name), clock=lambda: dt.datetime(2026, 3, 12, tzinfo=dt.UTC))
atlas = Atlas(bank, memory, config={"session_bank": {"outcome_strategy": "evidence"}})
taken = atlas.ingest_sessions(limit=29)
print(atlas.run_batch().message)
sb.review(memory, bank=bank, reviewer="ada")
# %% [markdown]
# The first line of the playbook for work in Python, as the widget shows it:
# %%
section, line = next(memory.get("playbooks", "task-python").lines())
HTML(line_html(line, section, show=Shown()))
# %% [markdown]
# ## What is not shown?
#
# Keys, passwords, addresses and names of people are replaced before anything is drawn; the box *Redact* switches that for one
# explorer, `sb.redact_views(False)` for all views. Whatever a transcript holds is text: it is escaped, and the explorers have
# no script. A team can be looked at in the same way:
# `sb.browse(team)`, with a team of notebook 09. Anything else is refused:
# %%
try:
    sb.browse("../data/shop.bundle")
except sb.SessionBankError as error:
    print(f"{type(error).__name__}: {error}")
# %% [markdown]
# The bank and the memory are left open here: the explorers above ask them whenever something is pressed.
