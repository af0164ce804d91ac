# ruff: noqa: D100
# %% [markdown]
# # 12 Analysis workspace
#
# A run is over. What did each agent do for it, which hand-overs were worth their while, and could someone else check that?
# An analysis happens in a folder: facts that nobody may change, results that are checked against them. Whoever fills it (the
# built-in rules, an agent, a person) is held to the same. Here no model is asked.
# %%
import json
import tempfile
from pathlib import Path

import pandas as pd

from sessionbank import plot, team
from sessionbank.learning import Atlas, Memory, Person, RuleAnalyst
from sessionbank.learning.team_learning import check_outputs
from sessionbank.plot.learning import agent_credits, agent_credits_data

pd.set_option("display.max_columns", 20, "display.max_colwidth", 110, "display.width", 190)
pd.set_option("display.float_format", "{:,.2f}".format)

folder = tempfile.TemporaryDirectory()
run = team.apply_template(team.from_input("../data/team-runs/wave.json"), "../data/team-runs/wave.team.yaml")
atlas = Atlas(None, Memory(Path(folder.name, "memory")), config={"team_learning": {"keep_workspaces": True}})
print(run, "outcome:", run.outcome)
print(run.objective)
# %% [markdown]
# ## What does an analyst get?
#
# The run, scored and compressed, as files. `input/` is read-only, and the manifest holds a hash of each file.
# %%
workspace = atlas.team_workspace(run)
WHAT = {
    "objective.md": "what the team was to do", "team-config.json": "members, topology, expected patterns",
    "outcome.json": "how it ended", "structural-metrics.json": "figures of the graph",
    "critical-moments.json": "steps and hand-overs with their scores", "compression.json": "how small the run became",
    "detected-practices.json": "patterns and anti-patterns, with places", "interactions/graph.json": "who told whom what",
    "interactions/timeline.json": "the same in order of time",
}  # fmt: skip
inputs = sorted(p.relative_to(workspace.input).as_posix() for p in workspace.input.rglob("*") if p.is_file())
pd.DataFrame(
    [
        (name, WHAT.get(name, "the compressed steps of one agent"), f"input/{name}" in workspace.hashes)
        for name in inputs
    ],
    columns=["input", "what it holds", "hash in manifest"],
)
# %%
moments = json.loads((workspace.input / "critical-moments.json").read_text())
pd.DataFrame(moments["critical_steps"]).assign(total=lambda f: [s["total"] for s in f["scores"]])[
    ["agent_id", "role", "step_index", "total", "reason"]
]
# %% [markdown]
# The task itself is one text, the same for each analyst, with a JSON Schema for every file that is asked for.
# %%
task = (workspace.path / "TASK.md").read_text()
print(task[task.index("## What to do") :])
print(sorted(p.name for p in (workspace.path / "schemas").iterdir()))
# %% [markdown]
# ## What do the rules say?
#
# `RuleAnalyst` writes the output files. Each credit is a sum of stated parts, told in `assessment`: it starts at 0.5, and what
# an agent sent, its share of the critical steps, and its failed steps move it.
# %%
done = RuleAnalyst().work(workspace, knowledge={})
found = check_outputs(workspace)
print(done.status, "- problems:", len(found.problems), "- missing files:", len(found.missing))
credits = pd.DataFrame([c.model_dump() for c in found.agent_credits.credits])
credits[["agent_id", "role", "contribution_score", "role_assessment", "assessment"]]
# %%
agent_credits_data(credits)
# %%
plot.show(agent_credits(credits))
# %% [markdown]
# A credit says where to look, not who is good: a scout that looks and answers has no critical step.
#
# ## Which hand-overs were worth it?
# %%
edges = pd.DataFrame([c.model_dump() for c in found.interaction_credits.credits])
edges[["interaction_id", "type", "from_role", "to_role", "value", "credit_score", "necessity", "reasoning"]]
# %%
seen = found.coordination_assessment
print(f"quality: {seen.quality}\n{seen.narrative}\n")
pd.DataFrame([p.model_dump() for p in seen.observed_patterns + seen.observed_anti_patterns])[
    ["name", "description", "roles", "interaction_ids"]
]
# %% [markdown]
# ## What if the analyst writes nonsense?
#
# The same results with six faults, as an agent in a hurry makes them: a score beyond 1, an interaction that never was, half a
# file, a file not written, a wrong role, a step that does not exist. All are told at once, with file and place; a file with a
# fault counts as not written.
# %%
output = workspace.output
value = json.loads((output / "agent-credits.json").read_text())
value["credits"][0]["contribution_score"] = 1.7
(output / "agent-credits.json").write_text(json.dumps(value))
value = json.loads((output / "interaction-credits.json").read_text())
value["credits"][2]["interaction_id"] = "w99"
(output / "interaction-credits.json").write_text(json.dumps(value))
text = (output / "team-lessons.json").read_text()
(output / "team-lessons.json").write_text(text[: len(text) // 2])
(output / "meta-observations.json").unlink()
lesson = sorted((output / "role-lessons").iterdir())[0]
value = json.loads(lesson.read_text())
value["role"], value["evidence"] = "boss", [{"step_index": 40, "description": "it did it all"}]
lesson.write_text(json.dumps(value))
pd.DataFrame(
    [(p.file, p.place, p.message) for p in check_outputs(workspace).problems],
    columns=["file", "place", "message"],
)
# %% [markdown]
# Whom a file names is checked once its fields are right. The first file, mended halfway: the score is possible now, but it
# praises someone who was not there.
# %%
value = json.loads((output / "agent-credits.json").read_text())
value["credits"][0].update(contribution_score=0.7, agent_id="nobody")
(output / "agent-credits.json").write_text(json.dumps(value))
[str(p) for p in check_outputs(workspace).problems if p.file == "agent-credits.json"]
# %% [markdown]
# ## Is anything lost then?
#
# No: what is right stays, the rules fill what is missing, and each file says who wrote it. A person or an agent is taken in by
# the same call; here a person, whose files are those above.
# %%
result = atlas.process_team(run, analyst=Person())
print(
    "stored:",
    result.stored,
    "- filled by rule:",
    len(result.filled),
    "- problems kept with it:",
    len(result.experience.problems),
)
pd.Series(result.experience.written_by, name="written by").sort_index().to_frame()
# %% [markdown]
# ## And if someone changes the facts?
#
# The hashes tell, and the next call writes them anew.
# %%
outcome = workspace.input / "outcome.json"
outcome.chmod(0o644)
outcome.write_text('{"label": "failure"}')
before = [str(p) for p in workspace.changed()]
again = atlas.team_workspace(run)
print("before:", before)
print("after:", again.changed(), "- same workspace:", again.id == workspace.id)
# %%
folder.cleanup()
