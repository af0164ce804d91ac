# ruff: noqa: B018, D100
# %% [markdown]
# # 16 Gallery
#
# Which pictures are there, and which numbers stand behind each? First the frame, then the picture of it. A picture takes a
# frame, and `ax=` where it should stand on axes of yours; it gives the axes. `plot.alt_text(ax)` says in words what it
# shows, `plot.save(ax, path)` writes it as PNG, SVG or PDF with these words inside.
# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import sessionbank as sb
from sessionbank import plot, team

pd.set_option("display.max_columns", 12, "display.max_colwidth", 60, "display.width", 170)
pd.set_option("display.float_format", "{:,.2f}".format)

bank = sb.open_bank("../data/shop.bundle", cache=False)
calls, messages, commits = bank.tool_calls(), bank.messages(), bank.commits()
# %% [markdown]
# ## Tokens over time
# %%
plot.tokens_over_time_data(bank.totals("day"), every="month")
# %%
plot.show(plot.tokens_over_time(bank.totals("day")))
# %% [markdown]
# ## From the naive sum to the true figure
# %%
bridge = bank.explain("output_tokens")
bridge
# %%
plot.show(plot.bridge(bridge, column="output_tokens"))
# %% [markdown]
# ## How wrong naive sums are
# %%
columns = [
    "input_tokens",
    "cache_creation_tokens",
    "cache_read_tokens",
    "output_tokens",
    "tool_calls",
    "human_prompts",
]
wrong = plot.naive_and_true_data({c: bank.explain(c) for c in columns})
wrong
# %%
plot.show(plot.naive_and_true(wrong))
# %% [markdown]
# ## Cost by model
# %%
plot.cost_by_model_data(bank.totals("model"))
# %%
plot.show(plot.cost_by_model(bank.totals("model")))
# %% [markdown]
# ## Cost by commit
# %%
cost = plot.cost_by_commit_data(bank.totals("checkpoint"), commits)
cost[["subject", "on_default_branch", "checkpoints", "api_calls", "tokens", "cost_usd"]].head(6)
# %%
plot.show(plot.cost_by_commit(bank.totals("checkpoint"), commits))
# %% [markdown]
# ## Lines by commit
# %%
lines = plot.attribution_by_commit_data(bank.attribution(), commits)
lines[["authored_at", "subject", "agent_lines", "human_added", "human_modified", "agent_percentage"]].head(6)
# %%
plot.show(plot.attribution_by_commit(bank.attribution(), commits))
# %% [markdown]
# ## What stored token counts cover
# %%
plot.reconcile_scopes_data(bank.reconcile())
# %%
plot.show(plot.reconcile_scopes(bank.reconcile()))
# %% [markdown]
# ## Tools and how their calls ended
# %%
plot.tools_by_status_data(calls, top=8)
# %%
plot.show(plot.tools_by_status(calls, top=8))
# %% [markdown]
# ## What lines of a role are
# %%
plot.messages_by_kind_data(messages).head(8)
# %%
plot.show(plot.messages_by_kind(messages))
# %% [markdown]
# ## A session along its time
#
# The session of an agent team; pauses are cut out.
# %%
session = bank.query(search="agent team")[0]
mine, its_calls = (f[f["session_id"].eq(session.session_id)] for f in (messages, calls))
events = plot.session_timeline_data(mine, its_calls)
events[["lane", "what", "status", "minutes", "at_min", "end_min"]].head(6)
# %%
plot.show(plot.session_timeline(mine, its_calls))
# %% [markdown]
# ## What the model still saw
#
# In the bank of many agents there is a session that was compacted.
# %%
with sb.open_bank("../data/agents.bundle", cache=False) as many:
    compacted = (
        many.messages().query("kind == 'compact_summary' and session_id.notna()")["session_id"].iloc[0]
    )
    grown = plot.context_growth_data(many.get_by_session_id(compacted))
grown[["message", "kind", "said", "seen"]].tail(5)
# %%
plot.show(plot.context_growth(grown))
# %% [markdown]
# ## What the agents' transcripts record
# %%
from sessionbank.transcripts.support import support  # noqa: E402

questions = {
    "Who said what?": ("messages", "text"), "When?": ("messages", "timestamp"), "By which model?": ("messages", "model"),
    "Did the tool work?": ("tool_calls", "status"), "How many tokens?": ("token_usage", "output_tokens"),
}  # fmt: skip
matrix = plot.support_matrix_data(support(), questions)
matrix
# %%
plot.show(plot.support_matrix(matrix))
# %% [markdown]
# ## Who reaches whom
# %%
run = team.from_session(session)
edges = run.interactions()
plot.team_graph_data(edges).head(6)
# %%
plot.show(plot.team_graph(edges))
# %% [markdown]
# ## Hand-overs as a matrix
# %%
hands = team.handover_matrix(run)
hands
# %%
plot.show(plot.handover_matrix(hands))
# %% [markdown]
# ## A team along its time
# %%
wave = team.from_input("../data/team-runs/wave.json")
time, measured = team.member_time(wave), team.metrics(wave)
drawn = plot.team_timeline_data(time, measured.interactions)
drawn["pieces"][["agent_id", "kind", "begin_min", "end_min"]].head(6)
# %%
plot.show(plot.team_timeline(time, measured.interactions))
# %% [markdown]
# ## Tokens by member
# %%
plot.member_cost_data(team.metrics(run).members)
# %%
plot.show(plot.member_cost(team.metrics(run).members))
# %% [markdown]
# ## What compression leaves
# %%
small = team.compress(run)
plot.compression_sizes_data(small.agents)
# %%
plot.show(plot.compression_sizes(small.agents))
# %% [markdown]
# ## What survives compression
# %%
frontier = team.frontier(run)
frontier.head(6)
# %%
plot.show(plot.compression_frontier(frontier))
# %% [markdown]
# ## Scores along a run
# %%
scores = team.score(run)
steps = plot.score_profile_data(scores.steps)
steps[["agent_id", "step", "what", "total"]].head(6)
# %%
plot.show(plot.score_profile(scores.steps, threshold=scores.config.critical_step_threshold))
# %% [markdown]
# ## The steps of a trajectory
# %%
from sessionbank.plot import trajectory as of_trajectories  # noqa: E402

taken = sb.synthesize(session).steps()
of_trajectories.trajectory_timeline_data(taken)[["at", "lane", "status", "tokens"]].head(6)
# %%
plot.show(of_trajectories.trajectory_timeline(taken))
# %% [markdown]
# ## How far trajectories get
# %%
of_trajectories.step_funnel_data(bank.steps())
# %%
plot.show(of_trajectories.step_funnel(bank.steps()))
# %% [markdown]
# ## Outcomes by strategy
# %%
outcomes = bank.outcomes()
of_trajectories.outcome_labels_data(outcomes)
# %%
plot.show(of_trajectories.outcome_labels(outcomes))
# %% [markdown]
# ## What lines of playbooks rest on
#
# An atlas learns from the first sessions; a line names the runs for and against it.
# %%
with (
    tempfile.TemporaryDirectory() as folder,
    sb.open_bank("../data/shop.bundle", cache=False, state_dir=folder) as again,
):
    memory = sb.learning.Memory(Path(folder, "memory"))
    atlas = sb.Atlas(again, memory, config={"session_bank": {"outcome_strategy": "evidence"}})
    atlas.ingest_sessions(limit=29)
    atlas.run_batch()
    told = pd.DataFrame(sb.learning.lines(memory))
plot.line_support_data(told, top=6)
# %%
plot.show(plot.line_support(told, top=6))
# %% [markdown]
# Agents' credits, teams to choose from, and forecasts are drawn in the notebooks [12](12_analysis_workspace.ipynb),
# [14](14_recommending_a_team.ipynb) and [15](15_learning_over_time.ipynb).
#
# ## Colours
#
# The same thing has the same colour in every picture. `colour` gives one, `colours` one each for several names of an open
# set (tools, models, roles), that differ while there are colours left.
# %%
[plot.colour("status", s) for s in ("ok", "error", "rejected")], plot.colours("model", ["model-a", "model-b"])
# %% [markdown]
# ## On a dark page
#
# What is drawn within `theme("dark")` is for a dark page: the same colours, other words and lines; what would be too dark
# to be seen has an outline. Without `with`, the theme stays until it is changed back.
# %%
with plot.theme("dark"):
    plot.show(plot.tools_by_status(calls, top=8))
# %%
with plot.theme("dark"):
    plot.show(plot.handover_matrix(hands))
# %% [markdown]
# ## As a file, with its words
# %%
with tempfile.TemporaryDirectory() as folder:
    ax = plot.tools_by_status(calls, top=4)
    written = [plot.save(ax, Path(folder, f"tools.{kind}")) for kind in ("svg", "png", "pdf")]
    other = plot.tools_by_status(calls, top=4)
    again = plot.save(other, Path(folder, "again.svg"))
    plt.close(other.figure)
    print(all(p.stat().st_size > 5000 for p in written), again.read_bytes() == written[0].read_bytes())
print(plot.alt_text(ax))
plot.show(ax)
