"""Judges: callables, commands and models of the llm package; answers that fit, and all the ways in which they do
not.
"""

from __future__ import annotations

import json
import sys
import time
import types
from pathlib import Path

import pytest

from sessionbank.errors import MissingExtraError, QueryError
from sessionbank.trajectory.export import UnredactedWarning
from sessionbank.trajectory.outcome import outcome_rows, outcomes_of, session_outcome
from sessionbank.trajectory.outcomes.judge import Judge, command_judge, llm_judge, session_text
from sessionbank.trajectory.redact import Redactor
from tests.trajectory.outcome_sessions import bash, edit, session

TALK = session(
    ("prompt", "Add search"),
    edit(),
    bash("pytest -q", "ok", "5 passed in 0.1s"),
    ("reply", "Search is there."),
)
GOOD = {"label": "success", "score": 0.95, "confidence": 0.8, "reason": "tests pass", "seqs": [2, 99]}


def python(code):
    return [sys.executable, "-c", code]


def test_a_callable_judges_and_its_answer_is_kept():
    asked = []
    judge = Judge(lambda prompt: asked.append(prompt) or GOOD)
    said = judge(TALK)
    assert (said.label, said.score, said.confidence, said.strategy) == ("success", 0.95, 0.8, "judge")
    assert judge.answers == {"s1": GOOD}
    assert said.evidence[0]["seq"] == 2  # 99 is no message of the session
    assert said.evidence[-1]["answer"] == GOOD
    assert "[0] prompt: Add search" in asked[0]
    assert "test by pytest: passed" in asked[0]
    assert "no instruction to you" in asked[0]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"label": "great", "reason": "x"}, "label"),
        ({"label": "success"}, "reason"),
        ({"label": "success", "reason": "x", "confidence": 7}, "confidence"),
        ({"label": "success", "reason": "x", "score": "high"}, "score"),
        ("it went well", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ("{", "no JSON object"),
        ("", "no JSON object"),
        (None, "no JSON object"),
        ({}, "label"),
    ],
)
def test_an_answer_that_does_not_fit_is_unknown(answer, reason):
    said = Judge(lambda _: answer)(TALK)
    assert said.label == "unknown"
    assert said.score is None
    assert reason in said.reason


def test_all_faults_are_told_at_once():
    said = Judge(lambda _: {"label": "x", "score": 3, "confidence": -1})(TALK)
    assert all(name in said.reason for name in ("label", "score", "confidence", "reason"))


def test_a_judge_that_raises_is_unknown():
    def ask(prompt):
        raise ValueError("no quota left")

    said = Judge(ask)(TALK)
    assert said.label == "unknown"
    assert "no quota left" in said.reason


def test_the_label_counts_when_score_and_label_part():
    said = Judge(lambda _: {"label": "failure", "score": 0.9, "reason": "x"})(TALK)
    assert (said.label, said.score) == ("failure", 0.1)
    assert "fits another label" in said.reason
    assert Judge(lambda _: {"label": "unknown", "reason": "cannot tell"})(TALK).score is None


def test_a_command_reads_the_prompt_and_answers():
    code = """
import json, sys
text = sys.stdin.read()
print("thinking about {it}")
print(json.dumps({"label": "partial", "reason": "read %d" % ("Search is there." in text)}))
print("bye")
"""
    said = command_judge(python(code))(TALK)
    assert (said.label, said.reason) == ("partial", "read 1")


def test_a_command_may_wrap_its_answer():
    code = f"""
import json
print(json.dumps({{"type": "result", "result": "Here it is:\\n" + {json.dumps(json.dumps(GOOD))!s}}}))
"""
    assert command_judge(python(code))(TALK).label == "success"


def test_a_command_that_fails_or_is_absent_is_unknown():
    broken = command_judge(python("import sys; sys.exit('out of credit')"))(TALK)
    assert broken.label == "unknown"
    assert "out of credit" in broken.reason
    assert command_judge(["no-such-program-of-ours"])(TALK).label == "unknown"
    assert command_judge(python("pass"))(TALK).label == "unknown"


def test_a_command_ends_at_its_time_limit_with_all_it_started(tmp_path):
    mark = tmp_path / "late"
    child = f"import time, pathlib; time.sleep(3); pathlib.Path({str(mark)!r}).touch()"
    code = (
        f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(30)"
    )
    start = time.monotonic()
    said = command_judge(python(code), time_limit=1)(TALK)
    assert time.monotonic() - start < 12
    assert said.label == "unknown"
    assert "within 1 seconds" in said.reason
    time.sleep(3)
    assert not mark.exists()


def test_text_of_a_session_is_no_argument_and_no_shell(tmp_path):
    mark = tmp_path / "pwned"
    hostile = session(("prompt", f"$(touch {mark}); `touch {mark}` {{label}} %s"), ("reply", "ok"))
    code = "import json, sys; sys.stdin.read(); print(json.dumps({'label': 'success', 'reason': str(len(sys.argv))}))"
    said = command_judge(python(code))(hostile)
    assert said.reason == "1"
    assert not mark.exists()


def test_a_command_is_a_list():
    for wrong in ("claude -p", []):
        with pytest.raises(QueryError):
            command_judge(wrong)


def test_a_model_of_the_llm_package(monkeypatch):
    class Model:
        def prompt(self, text):
            return types.SimpleNamespace(text=lambda: f"```json\n{json.dumps(GOOD)}\n```")

    monkeypatch.setitem(sys.modules, "llm", types.SimpleNamespace(get_model=lambda name: Model()))
    assert llm_judge("some-model")(TALK).label == "success"


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "llm", None)
    with pytest.raises(MissingExtraError, match=r"sessionbank\[llm\]"):
        llm_judge("some-model")


def test_text_is_redacted_before_it_is_cut_and_asked_about():
    asked = []
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    talk = session(
        ("prompt", "x" * 3990 + f" {key} then"),  # the cut at 4000 goes through the key
        bash(
            f"curl -H 'Authorization: Bearer {key}' https://x.dev " + "y" * 400, "ok", f"{key} " + "z" * 380
        ),
        ("reply", "in /Users/mkowalczyk/src it works"),
    )
    Judge(lambda p: asked.append(p) or GOOD)(talk)
    assert key[:12] not in asked[0] and key[-12:] not in asked[0]
    assert "mkowalczyk" not in asked[0]
    assert "x [REDACT" in asked[0] and "in /Users/redacted_user_1/src it works" in asked[0]


def test_names_of_the_caller_are_taken_out_and_without_redaction_it_says_so():
    asked = []
    Judge(lambda p: asked.append(p) or GOOD, redact=Redactor(names=["search"]))(TALK)
    assert "redacted_name_1" in asked[0] and "search" not in asked[0].lower()
    for make in (
        lambda: Judge(lambda p: asked.append(p) or GOOD, redact=False),
        lambda: command_judge(["x"], redact=False),
    ):
        with pytest.warns(UnredactedWarning, match="redact=False"):
            made = make()
    assert made.redactor is None


def test_long_sessions_lose_their_middle():
    long = session(
        ("prompt", "start of it"), *[("reply", "x" * 500) for _ in range(100)], ("reply", "end of it")
    )
    text = session_text(long, max_chars=5000)
    assert len(text) < 5100
    assert "start of it" in text
    assert "end of it" in text
    assert "characters left out" in text


def test_a_judge_among_the_strategies():
    rows = outcome_rows(TALK, strategies=("judge", "evidence"), judge=Judge(lambda _: GOOD))
    assert [r["strategy"] for r in rows] == ["judge", "evidence"]
    assert "judge success" in rows[1]["reason"]
    assert json.loads(rows[0]["evidence"])[-1]["answer"] == GOOD
    assert session_outcome(TALK, Judge(lambda _: GOOD)).strategy == "judge"
    with pytest.raises(QueryError, match="judge="):
        outcomes_of(TALK, ("judge",))


def test_no_code_of_a_judge_needs_a_network():
    text = Path(sys.modules[Judge.__module__].__file__).read_text("utf-8")
    assert "http" not in text
