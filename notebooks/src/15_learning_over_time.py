# ruff: noqa: B018, D100
# %% [markdown]
# # 15 Learning over time
#
# Does knowing earlier runs tell how the next one will end, better than the base rate does? Sessions are taken in order of time.
# Each is forecast from those before it alone, then its outcome is added to what is known. If knowledge is worth nothing, this
# page must be able to say so.
# %%
import datetime as dt
import json
import random
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import sessionbank as sb
from sessionbank import plot
from sessionbank.learning import Atlas, Memory
from sessionbank.learning.confidence import rate
from sessionbank.learning.distill import distill
from sessionbank.learning.experience import SCORES, Practice, RunRow
from sessionbank.learning.individual import routing_strategies
from sessionbank.learning.playbooks import Evidence
from sessionbank.learning.similarity import similarity
from sessionbank.plot.learning import forecast_gain, forecast_gain_data, forecast_skill

pd.set_option("display.max_columns", 20, "display.max_colwidth", 80, "display.width", 170)
pd.set_option("display.float_format", "{:,.3f}".format)

day = dt.datetime(2026, 5, 1, tzinfo=dt.UTC)
with tempfile.TemporaryDirectory() as folder:
    with sb.open_bank("../data/shop.bundle", cache=False, state_dir=Path(folder, "state")) as bank:
        atlas = Atlas(bank, Memory(Path(folder, "memory"), clock=lambda: day),
                      config={"session_bank": {"outcome_strategy": "evidence"}})  # fmt: skip
        atlas.ingest_sessions(limit=100)
    seen = [e for e in atlas.memory.all("experiences") if e.score is not None]
runs = sorted((e.row for e in seen), key=lambda r: (r.timestamp, r.run_id))
truth = json.loads(Path("../data/shop.truth.json").read_text())[
    "sessions"
]  # by the script that made the bank
right = sum(truth[e.session_id]["outcome"] == e.outcome for e in seen)
by_month = pd.DataFrame([(f"{r.timestamp:%Y-%m}", r.outcome) for r in runs], columns=["month", "outcome"])
print(
    f"{len(runs)} runs of known outcome; mean score (failure 0, partial 0.5, success 1): {np.mean([r.score for r in runs]):.2f}"
)
print(f"outcomes that were judged as the script that made the bank meant them: {right} of {len(seen)}")
by_month.value_counts().unstack(fill_value=0)[["success", "partial", "failure"]]


# %% [markdown]
# ## Who forecasts?
#
# - **base rate**: the posterior mean of the scores so far. All others are held against it.
# - **routing**: the share of successes that memory keeps for the domain and the agent (`meta-strategies`); where it keeps none,
#   the base rate. The domain is read off the files that were touched, so someone must guess it before the run.
# - **similar tasks**: scores of earlier tasks, weighed by how alike their words are, as `recommend_team` weighs teams.
# - **playbook lines**: each line moves the base rate by its confidence times the mean score of runs with (or without) the
#   practice. This one is told what the run did, which is known only afterwards: an upper bound, not a forecast.
# %%
def forecasts(rows: list[RunRow], *, first: int = 10, every: int = 1) -> pd.DataFrame:
    """One row a run and forecaster, each made from the runs before; playbooks are distilled anew every `every` runs."""
    made = []
    for number in range(first, len(rows)):
        past, run = rows[:number], rows[number]
        good = sum(r.score for r in past)
        base = rate(good, number - good).mean
        if (number - first) % every == 0:
            found = distill(past)
            known = {s.id: s.success_rate for s in routing_strategies(past, at=day)}
        routed = [known[i] for a in run.roles if (i := f"routing-{run.domain or 'any'}-{a}") in known]
        alike = [(w, r.score) for r in past if (w := similarity(run.objective, r.objective)) >= 0.05]
        lines = base
        for line in found.lines.values():
            has = any(p.name == line.practice for p in run.practices)
            seen = line.support.mean_with if has else line.support.mean_without
            lines += line.confidence * ((base if seen is None else seen) - base)
        told = {
            "routing": routed[0] if routed else base,
            "similar tasks": (sum(w * s for w, s in alike) + 2 * base) / (sum(w for w, _ in alike) + 2),
            "playbook lines (hindsight)": min(0.98, max(0.02, lines)),
        }
        made += [(number + 1, name, value, base, run.score, len(found.lines)) for name, value in told.items()]
    return pd.DataFrame(made, columns=["run", "forecaster", "forecast", "base_rate", "score", "lines"])


def skill(frame: pd.DataFrame, *, block: int = 4, draws: int = 2000) -> pd.DataFrame:
    """Brier score, gain on the base rate with a 95 % interval (blocks of neighbouring runs drawn anew), balanced accuracy."""
    out = []
    for name, mine in frame.groupby("forecaster", sort=False):
        gain = ((mine["base_rate"] - mine["score"]) ** 2 - (mine["forecast"] - mine["score"]) ** 2).to_numpy()
        start = np.random.default_rng(0).integers(0, len(gain) - block + 1, (draws, -(-len(gain) // block)))
        means = gain[(start[:, :, None] + np.arange(block)).reshape(draws, -1)[:, : len(gain)]].mean(axis=1)
        low, high = np.quantile(means, [0.025, 0.975])
        call = (
            np.sign((mine["forecast"] - mine["base_rate"]).round(9)) / 2 + 0.5
        )  # 1: better than usual, 0.5: no call
        good = mine["score"].eq(1)
        balanced = (call[good].mean() + (1 - call[~good]).mean()) / 2
        brier = ((mine["forecast"] - mine["score"]) ** 2).mean()
        out.append((name, len(mine), brier, brier + gain.mean(), gain.mean(), low, high, balanced))
    names = ["forecaster", "runs", "brier", "brier_base_rate", "gain", "low", "high", "balanced_accuracy"]
    return pd.DataFrame(out, columns=names)


told = forecasts(runs)
result = skill(told)
result
# %% [markdown]
# `brier` is the mean squared error (lower is better), `gain` what is saved on the base rate, `low` and `high` hold it with 95 %.
# `balanced_accuracy` counts "better than usual" against success; 0.5 is a coin, and a forecaster that always says the base rate.
# %%
plot.show(forecast_skill(result))
# %%
for row in result.itertuples():
    verdict = "better than" if row.low > 0 else "worse than" if row.high < 0 else "not told apart from"
    print(f"{row.forecaster}: {verdict} the base rate ({row.gain:+.3f}, {row.low:+.3f} to {row.high:+.3f})")
# %% [markdown]
# ## The answer
#
# No. On the 48 runs of this bank that could be forecast, nothing that was learned is shown to beat the base rate. Routing comes
# nearest, but its interval reaches below zero, and all of its gain comes from one run (below, run 52). Whoever picks a
# forecaster after seeing this table must test it on other runs.
# %%
pages = forecast_gain_data(told)
pages[pages["run"].isin([20, 30, 40, 50, 58])].pivot(index="run", columns="forecaster", values="total")
# %%
plot.show(forecast_gain(told))
# %% [markdown]
# Why are playbook lines flat from run 30 on? From there on a line must be established, and none was: silence costs nothing.
# %%
told.groupby("run")["lines"].first().rename("lines told").groupby(
    lambda n: f"runs {10 * ((n - 1) // 10) + 1:02d} on"
).agg(["min", "max"])


# %% [markdown]
# ## Could this page have said yes?
#
# A test that never finds anything proves nothing. So: 12 games of 60 runs each in which, of seven practices, one helps by a level,
# one harms by one and five do nothing; and 12 in which outcomes fall as they like.
# %%
def game(seed: int, *, planted: bool) -> list[RunRow]:
    """Sixty runs with seven practices, each there in half of them."""
    chance, made = random.Random(seed), []
    for number in range(60):
        flags = [chance.random() < 0.5 for _ in range(7)]
        level = 1 + flags[0] - flags[1] if planted else chance.choice((0, 1, 1, 2))
        if chance.random() < 0.1:
            level = max(0, min(2, level + chance.choice((-1, 1))))
        label, name = ("failure", "partial", "success")[level], f"run-{number:02d}"
        seen = [
            Practice(name=f"practice-{i}", source="pattern", evidence=[Evidence(run_id=name)])
            for i, f in enumerate(flags)
            if f
        ]
        made.append(RunRow(run_id=name, revision="", outcome=label, score=SCORES[label], practices=seen))
    return made


found = []
for planted in (True, False):
    for seed in range(12):
        table = skill(forecasts(game(seed, planted=planted), every=10)).set_index("forecaster")
        row = table.loc["playbook lines (hindsight)"]
        found.append(
            (
                "one helps, one harms" if planted else "nothing matters",
                row["gain"],
                row["low"] > 0,
                row["high"] < 0,
            )
        )
games = pd.DataFrame(found, columns=["games", "gain", "better", "worse"])
games.groupby("games", sort=False).agg(
    games_played=("gain", "size"),
    mean_gain=("gain", "mean"),
    said_better=("better", "sum"),
    said_worse=("worse", "sum"),
)
# %% [markdown]
# Where two practices truly matter, sixty runs are enough for the page to say so. Where nothing does, it never says that
# knowledge helps; in some games it says that it harms, for lines from few runs rest on chance. The gain that the games show
# lies far outside the interval of the playbook lines above: in this bank no practice is as strong as that.
#
# ## How many runs would settle it?
#
# If the gain of each forecaster were truly the size seen here, so many runs would show it in four cases of five (normal
# approximation; a gain seen by chance looks larger than it is, so take these as least numbers).
# %%
spread = (result["high"] - result["low"]) / (2 * 1.96) * np.sqrt(result["runs"])
needed = np.ceil((2.8 * spread / result["gain"].where(result["gain"] > 0)) ** 2)
pd.DataFrame(
    {"forecaster": result["forecaster"], "gain": result["gain"], "runs needed": needed.astype("Int64")}
)
