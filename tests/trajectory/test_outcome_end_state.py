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


# -- kinds of ends that readings of real sessions showed ---------------------------------------------------------------

REPORT = "High: the deploy step fails when the token is missing, and the retry crashes. The queue is not handled yet."


@pytest.mark.parametrize(
    ("turns", "label"),
    [
        # a review was asked for: faults of the thing are the answer
        ([("prompt", "Can you review the last commit?"), bash("git show"), ("reply", REPORT)], "success"),
        ([bash("git diff"), ("reply", REPORT)], "success"),  # the record of a review agent, without its request
        ([("prompt", "Why does the export crash?"), ("reply", "It crashes because the file is closed too early.")], "success"),
        # not where work was asked for, something was changed, a call failed, or the agent was unable
        ([("prompt", "Fix the deploy step"), bash("git show"), ("reply", REPORT)], "failure"),
        ([("prompt", "Can you review the last commit?"), bash("git show", "error"), ("reply", REPORT)], "failure"),
        (
            [("prompt", "Can you check the logs?"), bash("ls"), ("reply", "I could not open the logs, access is denied to me.")],
            "failure",
        ),
        # work was asked for, and only a question came back
        ([ASK, edit(), DONE, ("prompt", "Make the warning shorter"), ("reply", "Two ways: A or B. Which do you prefer?")], "partial"),
        ([ASK, edit(), ("reply", "Done, tests pass. Shall I commit it?")], "success"),
        ([("prompt", "What is the timeout?"), ("reply", "It is 30 s. Do you want to know why?")], "success"),
        # the last request was refused or stopped, what came before was met
        ([ASK, edit(), DONE, ("prompt", "Now plan the second part"), edit("rejected"), ("interruption", "[stopped]")], "partial"),
        ([ASK, edit(), DONE, ("prompt", "no, that's wrong"), edit("rejected"), ("interruption", "[stopped]")], "failure"),
        ([ASK, ("prompt", "Now plan the second part"), edit("rejected"), ("interruption", "[stopped]")], "failure"),
    ],
)  # fmt: skip
def test_kinds_of_ends_that_readings_showed(turns, label):
    said = ended(*turns)
    assert said.label == label, (said.score, [e["what"] for e in said.evidence])


@pytest.mark.parametrize(("comes_back", "label"), [(False, "partial"), (True, "success")])
def test_what_was_handed_over_is_done_when_something_comes_back(comes_back, label):
    sent = ("call", "Agent", None, "ok", "Spawned successfully. agent_id: dev@crew")
    back = [("teammate", "All done, request opened.")] if comes_back else []
    said = ended(ASK, sent, *back, ("reply", "The developer works on the search field, I supervise."))
    assert said.label == label, (said.score, [e["what"] for e in said.evidence])


def test_to_use_that_method_is_no_thanks():
    assert mood("I do need to use that method when we restore the logs") is None
    assert mood("ok, I'll use that") == "thanks"
