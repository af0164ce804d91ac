"""How a session ends: last words of person and agent, break-offs, refusals. Sessions here have no summary and no
commit.
"""

from __future__ import annotations

import pytest

from sessionbank.trajectory.outcome import outcomes_of
from sessionbank.trajectory.outcomes.prompts import mood
from tests.trajectory.outcome_sessions import bash, edit, session

ASK = ("prompt", "Add a search field to the order list")
DONE = ("reply", "The order list has a search field now; tests pass.")


def ended(*turns):
    return outcomes_of(session(*turns), ("end_state",))["end_state"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("forget it", "gives_up"),
        ("never mind, I'll do it myself", "gives_up"),
        ("stop, this is going nowhere", "gives_up"),
        ("throw it away please", "gives_up"),
        ("ok leave it", "gives_up"),
        ("I'll write it by hand", "gives_up"),
        ("leave it open for now", "half"),
        ("good enough for now, rest tomorrow", "half"),
        ("the mobile part can wait, I'll file a ticket", "half"),
        ("still broken", "complains"),
        ("no, that's wrong", "complains"),
        ("I asked for a list, not a table", "complains"),
        ("you deleted my file??", "complains"),
        ("revert that", "complains"),
        ("the build is failing", "complains"),
        ("thanks, looks good", "thanks"),
        ("perfect", "thanks"),
        ("great, works now", "thanks"),
        ("commit this", "accepts"),
        ("ok push and open a PR", "accepts"),
        ("no, this is fine. commit it", "accepts"),
        ("now the same for invoices", None),
        ("add a test", None),
        ("what does `forget it` do in this file?", None),
        ("stop the server before the migration runs", None),
        ("drop the column in the same migration", None),
        ("x" * 3000, None),
        ("", None),
        (None, None),
    ],
)
def test_mood(text, expected):
    assert mood(text) == expected


@pytest.mark.parametrize(
    ("turns", "label"),
    [
        ([ASK, edit(), DONE], "success"),
        ([ASK, edit(), DONE, ("prompt", "thanks!"), ("reply", "You are welcome.")], "success"),
        ([ASK, edit(), DONE, ("prompt", "thanks!")], "success"),
        (
            [ASK, edit(), DONE, ("prompt", "commit this"), bash("git commit -m x"), ("reply", "Committed.")],
            "success",
        ),
        ([ASK, edit(), bash("git commit -am x", "no_result")], "success"),
        ([("prompt", "Which port does it use?"), ("reply", "8080, set in config.py.")], "success"),
        ([ASK, edit(), ("reply", "The field is there. Sorting is not done yet.")], "partial"),
        ([ASK, edit(), bash("pytest")], "partial"),
        ([ASK, edit(), DONE, ("prompt", "good enough for now"), ("reply", "Fine.")], "partial"),
        ([ASK, edit(), DONE, ("prompt", "now the same for invoices")], "partial"),
        ([ASK, edit(), DONE, ("prompt", "still broken")], "failure"),
        (
            [ASK, edit(), DONE, ("prompt", "forget it, I'll do it myself"), ("reply", "Understood.")],
            "failure",
        ),
        (
            [ASK, bash("pip install x", "error", "no"), ("reply", "I could not install the package.")],
            "failure",
        ),
        ([ASK, edit("rejected"), ("interruption", "[Request interrupted by user]")], "failure"),
        ([ASK, edit(), ("reply", "API Error: 529 overloaded")], "failure"),
    ],
)
def test_ends(turns, label):
    said = ended(*turns)
    assert said.label == label, (said.score, [e["what"] for e in said.evidence])
    assert said.evidence
    assert all(e["session_id"] == "s1" and e["what"] for e in said.evidence)


def test_a_complaint_that_was_answered_weighs_less():
    answered = ended(
        ASK, edit(), DONE, ("prompt", "no, that's wrong"), edit(), ("reply", "Fixed; all tests pass.")
    )
    left = ended(ASK, edit(), DONE, ("prompt", "no, that's wrong"))
    assert left.score < answered.score
    assert left.label == "failure"


def test_words_in_code_and_quotes_are_not_the_agents_own():
    quoted = ended(
        ASK, edit(), ("reply", 'Done. The page says "could not load orders" when the server is down.')
    )
    assert quoted.label == "success"


def test_nobody_says_anything():
    assert ended().label == "unknown"


def test_heuristic_counts_only():
    good = outcomes_of(session(ASK, edit(), bash("ls"), ("reply", "ok")), ("heuristic",))["heuristic"]
    bad = outcomes_of(session(ASK, *[bash("ls", "error")] * 6), ("heuristic",))["heuristic"]
    assert good.label == "success"
    assert bad.label == "failure"
    assert good.confidence <= 0.3
