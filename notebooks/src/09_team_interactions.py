# ruff: noqa: D100
# %% [markdown]
# # 09 Team interactions
#
# Several agents worked on one task. Who was in it, who turned to whom, who waited for whom, and was that how the team
# was meant to work? First a team from an ordinary transcript, then a run file that is held against its template.
# %%
import pandas as pd
import yaml

import sessionbank as sb
from sessionbank import plot, team
from sessionbank.team.activity import member_time

pd.set_option("display.max_columns", 20, "display.max_colwidth", 56, "display.width", 170)
pd.set_option("display.float_format", "{:,.2f}".format)

bank = sb.open_bank("../data/shop.bundle", cache=False)
# %% [markdown]
# ## Which sessions had other agents in them?
# %%
edges = bank.interactions()
names = {sid: team.from_session(bank.get_by_session_id(sid)) for sid in dict.fromkeys(edges["session_id"])}
found = edges.groupby("session_id", sort=False).agg(
    interactions=("type", "size"), types=("type", lambda t: ", ".join(sorted(set(t))))
)
found.insert(0, "members", [len(t.member_list) for t in names.values()])
found.insert(0, "objective", [t.objective for t in names.values()])
found.reset_index(drop=True)
# %% [markdown]
# ## Who was in it?
#
# The transcript is the lead's. Teammates wrote elsewhere, so their steps and tokens are unknown, which is not 0.
# %%
checkout = next(t for t in names.values() if t.name == "checkout-steps")
print(f"{checkout.objective}\n{checkout.outcome_reason}")
checkout.members()[["agent_id", "role", "agent_type", "model", "steps", "tool_calls", "tokens", "outcome"]]
# %% [markdown]
# ## Who turned to whom?
#
# Every spawn, message, result and entry of the task board is an edge exactly once, with the evidence that it rests on.
# `*` is everyone. What a teammate said to another is known only from the lead's notices: inferred.
# %%
mine = checkout.interactions()
mine[
    [
        "type",
        "subtype",
        "from_agent",
        "to_agent",
        "from_step",
        "to_step",
        "content",
        "evidence",
        "is_inferred",
    ]
].iloc[7:27]
# %%
plot.team_graph_data(mine).head(12)
# %%
plot.show(plot.team_graph(mine))
# %% [markdown]
# ## How often did each hand over to each?
#
# `types=["message", "result_return"]` would leave the task board and idle notices out.
# %%
team.handover_matrix(checkout)
# %%
plot.show(plot.handover_matrix(team.handover_matrix(checkout)))
# %% [markdown]
# ## When? Who waited for whom?
#
# The time of agents whose steps are known is cut into work, waiting (for whom) and idling.
# %%
time = member_time(checkout)
time.assign(waited_for=time["waited_for"].fillna("")).groupby(["agent_id", "kind", "waited_for"]).agg(
    minutes=("ms", lambda ms: ms.sum() / 60_000), pieces=("ms", "size")
)
# %%
columns = [
    "agent_id",
    "sent",
    "received",
    "partners",
    "betweenness",
    "inbound_share",
    "is_bottleneck",
    "bottleneck_reason",
]
team.metrics(checkout).members[columns]
# %% [markdown]
# ## What went wrong between them?
#
# Interactions that failed; `team.validate` also says where the graph itself is odd.
# %%
for problem in team.validate(checkout):
    print(f"{problem.severity}: {problem.code}: {problem.message}")
mine[mine["ok"].eq(False).fillna(False)][["type", "subtype", "from_agent", "to_agent", "content", "evidence"]]
# %% [markdown]
# ## Expected or emergent?
#
# A template (`team.yaml`) says which roles there are, who may start whom, and who may write to whom. `data/team-runs/wave.json`
# names one: an interaction that it allows is expected, any other is emergent.
# %%
wave = team.apply_template(team.from_input("../data/team-runs/wave.json"), "../data/team-runs/wave.team.yaml")
print(wave, "topology:", wave.topology)
team.conformance(wave)[["status", "rule", "from_role", "to_role", "signal", "uses"]]
# %%
plot.show(plot.team_timeline(member_time(wave), team.metrics(wave).interactions))
# %% [markdown]
# All that happened was declared; four of the declared ways were not used. And a template made from what one team did can
# judge another. Did the fraud team work as the checkout team had? The
# dashed arrow is a message past the lead that the first team never sent.
# %%
fraud = next(t for t in names.values() if t.name == "fraud-rules")
held = team.apply_template(fraud, yaml.safe_load(team.to_team_yaml(checkout)))
team.conformance(held)[lambda f: f["uses"] > 0][["status", "rule", "type", "from_role", "to_role", "uses"]]
# %%
plot.show(plot.team_graph(held.interactions(), members=[m.agent_id for m in held.member_list]))
bank.close()
