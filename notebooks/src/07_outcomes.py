# ruff: noqa: B018, D100
# %% [markdown]
# # 07 Outcomes
#
# Did the session do what was asked? Several strategies answer, each from other evidence: what the stored summary says,
# how the session ends, what the last tests printed, what became of the commits. They disagree; this notebook shows
# where, why, and how far each can be trusted.
# %%
import json
import tempfile
from collections import Counter
from pathlib import Path

import pandas as pd

import sessionbank as sb
from sessionbank import plot
from sessionbank.plot.trajectory import (
    outcome_accuracy,
    outcome_agreement,
    outcome_labels,
    outcome_labels_data,
)
from sessionbank.trajectory.outcome import BASELINES, DEFAULT
from sessionbank.trajectory.outcomes.agreement import accuracy, agreement
from sessionbank.trajectory.outcomes.labels import read_labels, write_label

pd.set_option("display.max_columns", 20, "display.max_colwidth", 90, "display.width", 160)
pd.set_option("display.float_format", "{:,.2f}".format)

bank = sb.open_bank("../data/shop.bundle", cache=False)
outcomes = bank.outcomes([*DEFAULT, *BASELINES])
strategies = outcomes[outcomes["strategy"].isin(DEFAULT)]
print(f"{outcomes['session_id'].nunique()} sessions, {outcomes['strategy'].nunique()} strategies")
# %% [markdown]
# ## What does each strategy say?
#
# `evidence` combines the others. The three baselines are plain rules that other tools use: words such as "fail" in the
# summary, any file touched, and "always a success". Unknown is an answer too: without a summary, `summary` cannot tell.
# %%
outcome_labels_data(outcomes)
# %%
plot.show(outcome_labels(outcomes))
# %% [markdown]
# ## Side by side
# %%
task = {s.session_id: sb.synthesize(s, outcome=None).task.description for s in bank.discover()}
side = strategies.pivot(index="session_id", columns="strategy", values="label")[list(DEFAULT)]
answers = side.drop(columns="evidence").apply(lambda r: len(set(r) - {"unknown"}), axis=1)
side = side.assign(answers=answers, task=pd.Series(task).str[:48])
most = side.sort_values(["answers", "task"], ascending=[False, True])
print("sessions by number of different answers:", dict(sorted(Counter(answers).items())))
most.reset_index(drop=True).head(12)
# %% [markdown]
# ## Why do they disagree?
#
# Take the session about stacking coupons. Its tests passed and its work was committed; later the commit was reverted. No
# reading of the transcript can tell that.
# %%
chosen = bank.query(search="coupon")[0].session_id
print(task[chosen])
one = strategies[strategies["session_id"].eq(chosen)]
one[["strategy", "label", "score", "confidence", "reason"]]
# %% [markdown]
# Each answer names the rows that it rests on:
# %%
told = one.set_index("strategy")["evidence"].drop("evidence").map(json.loads)
pd.DataFrame([{"strategy": s, **row} for s, rows in told.items() for row in rows]).drop(
    columns=["session_id", "tool_call_id", "message_uuid", "commit_sha"], errors="ignore"
)
# %% [markdown]
# The place is a message. What a person typed near the end, where `end_state` read something:
# %%
messages = bank.messages()
ends = strategies[strategies["strategy"].eq("end_state") & strategies["label"].eq("failure")]
read = [
    {"session_id": sid, **row} for sid, rows in zip(ends["session_id"], ends["evidence"].map(json.loads), strict=True)
    for row in rows if row.get("seq") is not None
]  # fmt: skip
read = pd.DataFrame(read).merge(messages[["session_id", "seq", "kind", "text"]], on=["session_id", "seq"])
read[read["kind"].eq("prompt")][["what", "text"]].head(6)
# %% [markdown]
# ## How far do they agree?
#
# Only sessions count of which both know a label. Kappa takes away what chance would give: two strategies that nearly
# always say success agree often, and that proves little.
# %%
pairs = agreement(strategies)
pairs
# %%
plot.show(outcome_agreement(pairs))
# %% [markdown]
# `evidence` agrees with what it is made of, so its row says nothing about who is right.
#
# ## How right are they?
#
# The script that made this bank knows what happened in each session (`data/shop.truth.json`). An answer "unknown" counts
# as wrong; intervals are 95 %. Most sessions went well, so "always a success" looks good until each label is counted alike
# (`balanced`).
#
# **Read with care:** the rules of the strategies were tuned with this truth in view. `evidence` being right throughout
# here says that the rules can express these cases. It does not say how they do on your repository, and the intervals do
# not cover that: they only allow for the small number of sessions. On 31 real sessions without a summary, read by hand and
# not used for tuning, `evidence` was right 28 times, as often as "always a success", and better with each label counted
# alike (0.80 against 0.50; `docs/outcomes.md` has the tables). Label some of your own (below) before you trust a figure.
# %%
truth = json.loads(Path("../data/shop.truth.json").read_text(encoding="utf-8"))["sessions"]
labels = {sid: story["outcome"] for sid, story in truth.items()}
print(dict(sorted(Counter(labels.values()).items())))
right = accuracy(outcomes, labels)
right.drop(columns=["sessions", "partial_right"])
# %%
plot.show(outcome_accuracy(right))
plot.show(outcome_accuracy(right, value="balanced"))
# %% [markdown]
# ## Where is a strategy wrong?
#
# `end_state` reads only how the session ends. What it misses is what the end does not show.
# %%
wrong = strategies[strategies["strategy"].eq("end_state")].assign(
    truth=lambda f: f["session_id"].map(labels),
    story=lambda f: f["session_id"].map({s: v["outcome_reason"] for s, v in truth.items()}),
)
wrong[wrong["label"].ne(wrong["truth"]) & wrong["truth"].ne("unknown")][
    ["label", "truth", "confidence", "story"]
]
# %% [markdown]
# ## Ten labels of your own
#
# `sessionbank.widgets` has a widget that shows a session and writes your label to a file. The same file, by hand: with ten
# labels the intervals are wide, and say so.
# %%
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "labels.jsonl")
    for sid in sorted(s for s, label in labels.items() if label != "unknown")[:10]:
        write_label(path, sid, labels[sid], by="ada", reason=truth[sid]["outcome_reason"])
    mine = read_labels(path)
accuracy(strategies, mine)[["strategy", "sessions", "right", "accuracy", "low", "high"]]


# %% [markdown]
# ## A judge of your own
#
# Any callable that takes a session and gives an `Outcome`; `judge.command_judge` and `judge.llm_judge` ask a program or a
# model. This one only counts failed calls near the end. Its answer goes into `evidence` as well, with the highest weight
# of all times its own confidence: a poor judge makes `evidence` worse, so measure a judge before you rely on it.
# %%
def last_calls(session: sb.Session) -> sb.Outcome:
    """Failure where most of the last five calls did not go well."""
    last = [c for c in session.tool_calls if not c.is_subagent][-5:]
    bad = sum(c.status != "ok" for c in last)
    label = "unknown" if not last else "failure" if bad > 2 else "partial" if bad else "success"
    score = None if not last else 1 - bad / len(last)
    return sb.Outcome(label, score, 0.3, "judge", f"{bad} of the last {len(last)} calls were not ok")


judged = bank.outcomes(["judge", "evidence"], judge=last_calls)
print(
    accuracy(judged, labels)[["strategy", "answered", "right", "accuracy", "low", "high"]].to_string(
        index=False
    )
)
bank.close()
