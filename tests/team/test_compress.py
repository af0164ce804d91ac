"""Compression: what must hold on made and real teams, with another reading of identifiers and lines than the code's."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from sessionbank.errors import QueryError
from sessionbank.team.compress import Compressed, CompressionConfig, compress
from sessionbank.team.model import Team, TeamStep
from sessionbank.team.survival import METHODS, frontier, survival, survival_totals
from tests.team.generated import generate, large

PATH = re.compile(
    r"(?:[\w.-]+/)+[\w-]+\.(?:go|py|ts|tsx|js|md|json|yaml)\b|\b[a-z]+(?:_[a-z0-9]+)+\b|\b[a-z]+[A-Z]\w+\b"
)


def step(number: int, name: str, arguments: dict, seen: str = "", **more: object) -> TeamStep:
    return TeamStep(
        None,
        "a",
        number,
        f"t{number}",
        None,
        name,
        json.dumps(arguments),
        seen,
        seq=number,
        **{"status": "ok", **more},
    )


def check_invariants(done: Compressed, source: dict) -> None:
    """Each step in one entry, boundary steps untouched, sums right, budget kept or told."""
    entries, agents = done.entries, done.agents.set_index("agent_id")
    for agent, steps in source.items():
        mine = entries[entries["agent_id"] == agent]
        numbers = [n for row in mine["steps"] for n in json.loads(row)]
        assert numbers == [s.step for s in steps]
        row = agents.loc[agent]
        assert row["kept_steps"] + row["folded_steps"] == row["steps"] == len(steps)
        assert row["tokens"] == mine["tokens"].sum() == sum(-(-len(t) // 4) for t in mine["text"])
        assert row["original_tokens"] == mine["original_tokens"].sum()
        assert row["over_budget"] == (row["tokens"] > row["budget"])
        if row["boundary_tokens"] <= row["budget"]:
            assert not row["over_budget"]
        assert row["reread_tokens"] <= row["reread_original_tokens"]
        edges = mine[mine["kind"] == "boundary"].to_dict("records")
        assert len(edges) == row["boundary_steps"]
        for e in edges:
            (original,) = done.originals(e)
            for text in (original.thought, original.action_input, original.observation):
                assert (text or "") in e["text"]
    folds = entries[entries["kind"].isin(["fold", "summary"])]
    assert folds["step_count"].sum() == done.stats()["steps_folded"]
    for e in folds.to_dict("records"):
        assert [s.step for s in done.originals(e)] == json.loads(e["steps"])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("budget", [60, 400, 5000])
def test_invariants_of_generated_teams(seed: int, budget: int) -> None:
    run, _ = generate(seed, workers=2 + seed)
    config = CompressionConfig(max_tokens_per_agent=budget)
    done = compress(run, config)
    check_invariants(done, run.step_lists)
    again = compress(run, config)
    assert done.entries.equals(again.entries) and done.agents.equals(again.agents)


def test_inner_steps_come_down_to_their_share() -> None:
    run = large(members=5, steps=1000, interactions=60)
    done = compress(run)
    check_invariants(done, run.step_lists)
    big = done.agents[done.agents["inner_original_tokens"] > 300]
    assert len(big) == 5
    assert (big["inner_tokens"] <= 0.2 * big["inner_original_tokens"]).all()


def test_a_long_run_folds_into_one_line_that_says_what_it_did() -> None:
    steps = [step(k, "Read", {"file_path": f"src/f{k}.py"}, "x = 1\n" * 40) for k in range(6)]
    steps.append(step(6, "Bash", {"command": "pytest"}, "1 failed\n" + "noise\n" * 90, status="error"))
    steps.append(step(7, "Respond", {}, ""))
    done = compress(steps)
    (row,) = done.entries.to_dict("records")
    assert row["kind"] == "fold"
    first = row["text"].split("\n")[0]
    assert first.startswith("[steps 0-7: 6 Read, 1 Bash (1 failed), 1 Respond")
    assert done.originals(row) == steps


def test_runs_up_to_the_threshold_are_cut_step_by_step() -> None:
    steps = [step(k, "Read", {"file_path": f"src/f{k}.py"}, "x = 1\n" * 200) for k in range(5)]
    assert compress(steps).entries["kind"].tolist() == ["cut"] * 5
    assert compress(steps, CompressionConfig(fold_threshold=4)).entries["kind"].tolist() == ["fold"]


def test_of_repeated_failures_first_and_last_stay() -> None:
    steps = [step(k, "Read", {"file_path": f"src/f{k}.py"}, "y = 2\n" * 99) for k in range(3)]
    for k in range(3, 9):
        steps.append(
            step(
                k,
                "Bash",
                {"command": "pytest tests"},
                f"E at try {k}\nError: broken {k}\n" + "t\n" * 300,
                status="error",
            )
        )
    done = compress(steps)
    assert [(e["kind"], json.loads(e["steps"])) for e in done.entries.to_dict("records")] == [
        ("fold", [0, 1, 2]),
        ("cut", [3]),
        ("fold", [4, 5, 6, 7]),
        ("cut", [8]),
    ]
    assert "Error: broken 3" in done.text("a") and "Error: broken 8" in done.text("a")


def test_what_is_used_later_stays_in_its_line() -> None:
    code = "\n".join(f"def other{k}(): pass" for k in range(300))
    steps = [
        step(0, "Read", {"file_path": "src/cart.py"}, f"{code}\ndef merge_carts(a, b):  # the one\n{code}"),
        *(step(k, "Read", {"file_path": f"x{k}"}, code) for k in range(1, 8)),
        step(8, "Grep", {"pattern": "merge_carts"}, ""),
    ]
    text = compress(steps).text("a")
    assert "def merge_carts(a, b):  # the one" in text.split("\n")
    assert "other7" not in text


def test_verbose_output_is_stripped() -> None:
    noise = "\x1b[31mred\x1b[0m build_cache ready"
    steps = [step(0, "Bash", {"command": "make"}, f"{noise}\n" + "line\n" * 400)]
    steps += [step(k, "Read", {"file_path": "z"}, "q\n" * 99) for k in range(1, 7)]
    steps.append(step(7, "Bash", {"command": "ls build_cache"}, ""))
    assert "red build_cache ready" in compress(steps).text("a")
    kept = compress(steps, CompressionConfig(strip_patterns=(r"ready",)))
    assert "\x1b[31mred\x1b[0m build_cache" in kept.text("a")


def test_boundaries_over_the_budget_are_told() -> None:
    steps = [
        step(0, "SendMessage", {"message": "m" * 900}, interaction_ids=("i",)),
        step(1, "Read", {"file_path": "f"}, "z\n" * 3000),
    ]
    done = compress(Team("t", step_lists={"a": tuple(steps)}), CompressionConfig(max_tokens_per_agent=100))
    assert done.agents["over_budget"].tolist() == [True]
    assert done.stats()["over_budget"] == ["a"]
    assert "m" * 900 in done.text("a")


def test_summariser_is_asked_last_and_only_where_over_budget() -> None:
    steps = [step(k, "Read", {"file_path": f"src/f{k}.py"}, "word " * 400) for k in range(8)]
    asked: list[int] = []

    def summarise(text: str, tokens: int) -> str:
        asked.append(tokens)
        return "It read eight files."

    roomy = compress(steps, CompressionConfig(summarise=summarise))
    assert asked == [] and not roomy.agents["is_summarised"].any()
    tight = compress(steps, CompressionConfig(max_tokens_per_agent=80, summarise=summarise))
    assert len(asked) == 1
    assert tight.entries["kind"].tolist() == ["summary"]
    assert tight.text("a").endswith("It read eight files.")
    assert tight.agents["tokens"].iloc[0] <= 80
    assert tight.originals(tight.entries.iloc[0]) == steps
    long = compress(
        steps, CompressionConfig(max_tokens_per_agent=80, summarise=lambda text, tokens: "w" * 9999)
    )
    assert long.entries["kind"].tolist() == ["fold"]  # refused: longer than asked for


def test_works_for_a_single_trajectory() -> None:
    from sessionbank.trajectory.model import Step, Task, Trajectory

    fields = {f.name for f in dataclasses.fields(Step)}
    made = [step(k, "Read", {"file_path": f"src/f{k}.py"}, "x = 1\n" * 90) for k in range(9)]
    own = tuple(Step(**{f: getattr(s, f) for f in fields if hasattr(s, f)}) for s in made)
    done = compress(
        Trajectory(
            "entire-x-0", "s", Task("do"), own_steps=tuple(dataclasses.replace(s, agent_id=None) for s in own)
        )
    )
    assert done.entries["agent_id"].tolist() == ["main"]
    assert done.entries["kind"].tolist() == ["fold"]


def test_reread_tokens_on_paper() -> None:
    # 3 steps of 100 tokens: "> Read {}" is 9 characters and a line end, so 390 more; read again 2, 1 and 0 times
    steps = [step(k, "Read", {}, "z" * 390) for k in range(3)]
    row = compress(steps).agents.iloc[0]
    assert row["original_tokens"] == 300
    assert row["reread_original_tokens"] == 100 * 2 + 100 * 1


def test_small_runs_stay_as_they_are() -> None:
    done = compress([step(0, "Read", {"file_path": "a"}, "b"), step(1, "Respond", {}, "c")])
    assert done.entries["kind"].tolist() == ["kept", "kept"]
    assert compress(Team("nobody")).stats()["ratio"] is None


@pytest.mark.parametrize("wrong", [{"max_tokens_per_agent": 0}, {"inner_share": 1.5}, {"fold_threshold": -1}])
def test_wrong_configuration_names_itself(wrong: dict) -> None:
    with pytest.raises(QueryError, match=next(iter(wrong))):
        CompressionConfig(**wrong)


def test_baselines() -> None:
    run = large(members=3, steps=900, interactions=30)
    totals = survival_totals(survival(compress(run))).set_index("method")
    assert list(totals.index) == list(METHODS)
    assert totals["later_used"].nunique() == 1
    # the cheat has nearly every word and nearly no line; random lines of the same size keep less than the chosen
    assert totals.loc["identifier list", "survival_bare"] > 0.5
    assert (
        totals.loc["identifier list", "survival"] < 0.2
    )  # a path that stands alone on a line is its own line
    assert totals.loc["random lines", "tokens"] <= totals.loc["compressed", "tokens"]
    assert totals.loc["compressed", "survival"] > totals.loc["random lines", "survival"] + 0.2
    edge = frontier(run, shares=(0.002, 0.2))
    assert edge["inner_share"].tolist() == [0.002] * 3 + [0.2] * 3
    grown = edge[edge["method"] == "compressed"]["survival"].tolist()
    assert grown[0] < grown[1]


def _values(action_input: str | None) -> str:
    try:
        value = json.loads(action_input or "{}")
    except ValueError:
        return action_input or ""
    return (
        "\n".join(v if isinstance(v, str) else json.dumps(v) for v in value.values())
        if isinstance(value, dict)
        else str(value)
    )


def _outside_count(steps: tuple, compressed: str) -> tuple[int, int]:
    """Later used identifiers of inner steps and how many survive in a line, read without the code under test."""
    last: dict[str, int] = {}
    for at, s in enumerate(steps):
        for word in PATH.findall(f"{s.thought or ''}\n{_values(s.action_input)}"):
            last[word] = at
    used: set[str] = set()
    whole: set[str] = set()
    spawns = ("Agent", "Task")
    for at, s in enumerate(steps):
        if s.interaction_ids or s.action_name in spawns:
            continue
        text = f"{s.thought or ''}\n{_values(s.action_input)}\n{s.observation or ''}"
        used.update(w for w in PATH.findall(text) if last.get(w, -1) > at)
        for line in text.splitlines():
            whole.update([line.strip(), *re.split(r"(?<=[.!?;])\s+", line.strip())])
    there: set[str] = set()
    for line in compressed.splitlines():
        # arguments are written "name: value"; the value is the original line
        for candidate in (line, line.partition(": ")[2]):
            if candidate.strip() in whole:
                there.update(PATH.findall(candidate))
    return len(used), len(used & there)


@pytest.mark.shared
@pytest.mark.parametrize("bundle", ["teams", "go-cli"])
def test_teams_in_the_bundles(
    bundle: str, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], record_property: Callable
) -> None:
    import pandas as pd

    import sessionbank as sb
    from sessionbank.team.build import from_session

    with sb.open_bank(
        shared / "data" / f"{bundle}.bundle", cache=tmp_path / "c", state_dir=tmp_path / "s"
    ) as bank:
        runs = [from_session(session) for session in bank.discover()]
    frames, agents, outside = [], [], []
    for run in runs:
        if not run.step_list:
            continue
        done = compress(run)
        check_invariants(done, run.step_lists)
        frames.append(survival(done))
        agents.append(done.agents)
        inner = done.entries[done.entries["kind"] != "boundary"]
        for agent, steps in run.step_lists.items():
            outside.append(_outside_count(steps, "\n".join(inner.loc[inner["agent_id"] == agent, "text"])))
    totals = survival_totals(pd.concat(frames)).set_index("method")
    sums = pd.concat(agents)[
        [
            "tokens",
            "original_tokens",
            "inner_tokens",
            "inner_original_tokens",
            "reread_tokens",
            "reread_original_tokens",
        ]
    ].sum()
    used, there = (sum(column) for column in zip(*outside, strict=True))
    with capsys.disabled():
        print(
            f"\n{bundle}: inner {sums['inner_tokens'] / sums['inner_original_tokens']:.1%}, "
            f"stored {sums['tokens'] / sums['original_tokens']:.1%}, "
            f"re-read {sums['reread_tokens'] / sums['reread_original_tokens']:.1%} of the original; "
            f"counted from outside {there} of {used} later used identifiers survive ({there / used:.1%})"
        )
        print(totals[["size", "survival", "survival_bare"]].round(3).to_string())
    assert sums["inner_tokens"] <= 0.2 * sums["inner_original_tokens"]
    assert totals.loc["compressed", "survival"] >= 0.9
    assert totals.loc["random lines", "survival"] < 0.6
    assert totals.loc["identifier list", "survival"] < 0.1
    assert there >= 0.9 * used
