# ruff: noqa: D100
# %% [markdown]
# # 13 Playbook review
#
# What did our runs teach, and what of it may agents be told? Lines are distilled by counting; a person decides. Each line
# shows what it rests on, down to the line of the transcript, and each decision keeps who, when and why.
# %%
import datetime as dt
import json
import tempfile
from pathlib import Path

import pandas as pd

import sessionbank as sb
from sessionbank import plot
from sessionbank.learning import (
    Atlas,
    Memory,
    accept,
    compare,
    edit,
    lines,
    merge,
    reject,
    to_markdown,
    to_rules,
)
from sessionbank.learning.publish import export
from sessionbank.learning.review import evidence

pd.set_option("display.max_columns", 20, "display.max_colwidth", 80, "display.width", 190)
pd.set_option("display.float_format", "{:,.2f}".format)

folder = tempfile.TemporaryDirectory()
today = [dt.datetime(2026, 3, 12, tzinfo=dt.UTC)]  # the day on which this is told to happen
bank = sb.open_bank("../data/shop.bundle", cache=False, state_dir=Path(folder.name, "state"))
memory = Memory(Path(folder.name, "memory"), clock=lambda: today[0])
atlas = Atlas(bank, memory, config={"session_bank": {"outcome_strategy": "evidence"}})
# %% [markdown]
# ## What was learned by mid March?
#
# The first 29 sessions of the sample bank, one after the other as they happened. A task playbook is made for each domain.
# %%
taken = atlas.ingest_sessions(limit=29)
batch = atlas.run_batch()
print(f"{len(taken.ingested)} sessions taken in, {len(taken.failed)} failed\n{batch.message}")
table = pd.DataFrame(lines(memory))
table.groupby(["text", "standing", "confidence", "runs_for", "runs_against"], sort=False)["playbook_id"].agg(
    ", ".join
).reset_index()
# %% [markdown]
# *Tentative*: seen with success more often than not; no claim that it is the cause. Confidence says what it is a probability of:
# %%
mine = table[table["playbook_id"].eq("task-python")]
for row in mine.itertuples():
    print(f"{row.confidence:.2f}  {row.text}\n      {row.basis}")
# %%
plot.line_support_data(mine)
# %%
plot.show(plot.line_support(mine))
# %% [markdown]
# ## What does a line rest on?
#
# The runs for and against it, each with the step that shows it.
# %%
tests_each, reads, tests_last = mine["line_id"]
places = pd.DataFrame(evidence(memory, "task-python", tests_each, bank=bank))
places = places.assign(session=places["session_id"].str[:8], message_uuid=places["message_uuid"].str[:8])
places[["objective", "outcome", "supports", "session", "step_index", "note", "message_uuid"]]
# %% [markdown]
# And down to the stored line of the transcript:
# %%
place = evidence(memory, "task-python", tests_each, bank=bank)[0]
message = bank.get_by_session_id(place["session_id"]).message(place["message_uuid"])
stored = bank.raw({"session_id": message.session_id, "seq": message.seq})
shown = json.loads(stored[0])
print(
    f"line {message.line_index} of the transcript in checkpoint {message.checkpoint_id}, {len(stored[0]):,} bytes"
)
print(shown["uuid"], shown["timestamp"], shown["message"]["content"])
# %% [markdown]
# ## Decide
#
# The reviewer knows what counting cannot: Ada's agent refuses to edit a file that it has not read, so that line says nothing;
# two lines are about the same thing.
# %%
edit(memory, "task-python", tests_each, text="Run pytest after each part, and once more after the last edit.",
     reviewer="ada", reason="Say which command; the last edit counts too.")  # fmt: skip
merge(
    memory,
    "task-python",
    tests_last,
    into=tests_each,
    reviewer="ada",
    reason="One line about testing is enough.",
)
reject(memory, "task-python", reads, reviewer="ada", reason="The agent's own tool refuses anything else.")
accept(memory, "task-testing", tests_each, reviewer="ben", reason="It caught the flaky test early.")
decided = pd.DataFrame(lines(memory)).query("decision.notna()")
decided[["playbook_id", "version", "text", "decision", "reviewer", "standing"]]
# %% [markdown]
# A decision without a reason is refused, and so is a line that does not exist:
# %%
for wrong in ({"line_id": reads, "reason": " "}, {"line_id": "line-0", "reason": "x"}):
    try:
        reject(memory, "task-python", wrong["line_id"], reviewer="ada", reason=wrong["reason"])
    except sb.SessionBankError as error:
        print(f"{type(error).__name__}: {error}")
# %% [markdown]
# ## What changed?
#
# Every decision made a version. From the distilled one to the present one:
# %%
playbook = memory.get("playbooks", "task-python")
for change in compare(memory, "task-python", "1.0.0"):
    print("-", change)
pd.DataFrame(
    [(r.version, f"{r.at:%Y-%m-%d}", r.reason) for r in playbook.evolution.refinements],
    columns=["version", "on", "why"],
)
# %% [markdown]
# ## Do decisions outlive new data?
#
# Seven weeks later 31 more sessions have come together. With 60 runs, what the data do not establish is not named any more:
# the lines that nobody decided about go, and those that a person decided about stay.
# %%
today[0] = dt.datetime(2026, 5, 1, tzinfo=dt.UTC)
atlas.ingest_sessions(limit=100)
later = atlas.run_batch()
print(later.message)
pd.DataFrame(lines(memory))[["playbook_id", "version", "text", "standing", "decision", "reviewer"]]
# %%
pd.DataFrame(later.undecided)[
    ["practice", "runs_with", "runs_without", "mean_with", "mean_without", "probability"]
].sort_values(["probability", "practice"], ascending=[False, True])
# %% [markdown]
# `probability` is that of mattering at all, other practices accounted for. None reaches the 0.75 that a line needs: these 60
# runs alone would not have told anyone to test after each part. That line is Ada's word now, not the data's.
#
# ## Hand it on
#
# For people as Markdown, with all decisions; for agents as a rules file, without what was rejected or merged.
# %%
print(to_markdown(memory.get("playbooks", "task-python")).partition("  - for: run")[0])
print("...")
print(to_rules([memory.get("playbooks", n) for n in ("task-python", "task-testing")], agent="claude"))
# %%
books = [memory.get("playbooks", n) for n in ("task-python", "task-testing")]
made = [
    p
    for f in ("claude", "codex", "cursor", "skill", "yaml")
    for p in export(books, Path(folder.name, "out", f), format=f)
]
pd.DataFrame(
    [(p.relative_to(Path(folder.name, "out")).as_posix(), len(p.read_text())) for p in made],
    columns=["file", "characters"],
)
# %%
bank.close()
folder.cleanup()
