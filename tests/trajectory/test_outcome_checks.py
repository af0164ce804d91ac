"""Checks: which commands are checks, what their output says, and what the last of each kind means for the outcome."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from sessionbank.trajectory.outcome import check_runs, check_table, outcomes_of
from sessionbank.trajectory.outcomes.check_commands import checks_of
from sessionbank.trajectory.outcomes.check_output import read_output
from sessionbank.trajectory.outcomes.shell import commands
from tests.trajectory.outcome_sessions import bash, edit, session

CASES = yaml.safe_load((Path(__file__).parents[1] / "data/outcomes/check_outputs.yaml").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[c["command"][:40] for c in CASES])
def test_command_and_output(case):
    made = session(("prompt", "check it"), bash(case["command"], case.get("status", "ok"), case["output"]))
    found = [[r.kind, r.verdict, r.passed, r.failed] for r in check_runs(made)]
    assert found == case["checks"]


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("cd web && npx tsc --noEmit && npx eslint . ; cd ..", ["types", "lint"]),
        ("FOO=1 BAR='a b' poetry run pytest -q", ["test"]),
        ("sudo -u app env A=1 python3.12 -m pytest", ["test"]),
        ("cat <<'EOF' > run.sh\npytest -q\nEOF\nsh run.sh", []),
        ('git commit -m "make test pass && cargo test"', []),
        ("echo pytest", []),
        ("grep -rn 'pytest' .", []),
        ("pip install pytest mypy", []),
        ("npm install jest --save-dev", []),
        ("yarn add eslint", []),
        ("npm ci", []),
        ("pytest --version", []),
        ("make -n test", []),
        ("make", ["build"]),
        ("make dev", []),
        ("just check", ["test"]),
        ("npm run dev", []),
        ("npm run build:prod", ["build"]),
        ("yarn workspace web lint", ["lint"]),
        ("pnpm -r test", ["test"]),
        ("gofmt -l . && gofmt -w .", ["format"]),
        ("prettier --write src", []),
        ("cargo fmt --check", ["format"]),
        ("cargo fmt", []),
        ("ruff format .", []),
        ("python manage.py test shop", ["test"]),
        ("python manage.py migrate", []),
        ("for i in $(seq 30); do pytest -q || break; done", ["test"]),
        ("docker build -t shop .", ["build"]),
        ("pytest 2>&1 | tee out.txt", ["test"]),
        ("true # pytest", []),
        ("bazelisk build //...", ["build"]),
        ("./scripts/run_tests.sh", ["test"]),
        ("terraform validate", ["lint"]),
        ("unclosed 'quote pytest", []),
        ("", []),
    ],
)
def test_which_commands_are_checks(command, kinds):
    assert [c.kind for c in checks_of(command)] == kinds


def test_a_line_is_cut_as_a_shell_would():
    found = commands("A=1 cd x && (pytest -k 'a && b' | tail -3) || echo \"no; really\" > log 2>&1")
    assert [(c.words, c.then) for c in found] == [
        (("cd", "x"), "&&"),
        (("pytest", "-k", "a && b"), "|"),
        (("tail", "-3"), "||"),
        (("echo", "no; really"), ""),
    ]


def test_silence_behind_a_pipe_is_no_verdict_for_tests():
    runs = check_runs(session(("prompt", "x"), bash("pytest -q | grep ERROR", output="")))
    assert [r.verdict for r in runs] == ["unknown"]


def test_colours_do_not_hide_the_verdict():
    reading = read_output("\x1b[32m\x1b[1m16 passed\x1b[0m\x1b[32m in 0.41s\x1b[0m")
    assert (reading.verdict, reading.passed) == ("passed", 16)


def test_the_last_run_of_each_kind_decides():
    red = bash("pytest -q", "error", "Exit code 1\n2 failed, 3 passed in 0.1s")
    green = bash("pytest -q", "ok", "5 passed in 0.1s")
    asked = ("prompt", "fix the tests")
    mended = outcomes_of(session(asked, red, edit(), green, ("reply", "done")), ("checks",))["checks"]
    broken = outcomes_of(session(asked, green, edit(), red, ("reply", "done")), ("checks",))["checks"]
    assert (mended.label, broken.label) == ("success", "failure")
    assert mended.evidence[0]["seq"] == 3
    assert "2 failed, 3 passed" in broken.reason


def test_edits_after_the_last_run_weaken_it():
    green = bash("pytest -q", "ok", "5 passed in 0.1s")
    fresh = outcomes_of(session(("prompt", "x"), edit(), green), ("checks",))["checks"]
    stale = outcomes_of(session(("prompt", "x"), green, edit()), ("checks",))["checks"]
    assert stale.label == fresh.label == "success"
    assert stale.confidence < fresh.confidence
    assert "1 edits came after" in stale.reason


def test_lint_alone_is_no_failure_of_the_work():
    runs = [
        bash("pytest -q", "ok", "5 passed in 0.1s"),
        bash("ruff check .", "error", "Exit code 1\nFound 2 errors."),
    ]
    assert outcomes_of(session(("prompt", "x"), *runs), ("checks",))["checks"].label == "partial"


def test_without_checks_it_is_unknown():
    said = outcomes_of(session(("prompt", "x"), bash("ls"), ("reply", "done")), ("checks",))["checks"]
    assert (said.label, said.score, said.confidence) == ("unknown", None, 0.0)


def test_table_of_checks():
    made = session(
        ("prompt", "x"), bash("pytest -q && ruff check .", "ok", "5 passed in 0.1s\nAll checks passed!")
    )
    frame = check_table(made)
    assert frame[["kind", "verdict"]].values.tolist() == [["test", "passed"], ["lint", "passed"]]
    assert str(frame["passed"].dtype) == "Int64"
    assert frame["passed"].isna().tolist() == [False, True]
    assert check_table(session(("prompt", "x"))).empty


MORE = yaml.safe_load(
    (Path(__file__).parents[1] / "data/outcomes/check_outputs_more.yaml").read_text("utf-8")
)


@pytest.mark.parametrize("case", MORE, ids=[c["name"] for c in MORE])
def test_outputs_written_before_the_patterns_were_looked_at_again(case):
    said = read_output(case["output"])
    want = None if case["want"] == "none" else tuple(case["want"])
    assert (None if said is None else (said.verdict, said.passed, said.failed)) == want


@pytest.mark.parametrize("case", [c for c in MORE if c["want"] != "none"], ids=lambda c: c["name"])
def test_a_long_log_before_it_changes_nothing(case):
    log = "".join(f"2026-01-01 step {n}: copied a file of the shop\n" for n in range(2000))
    said = read_output(log + case["output"])
    assert (said.verdict, said.passed, said.failed) == tuple(case["want"])
