"""The session's explorer, moved by its traits and buttons as a person would: pages, filters, search, errors, one message."""

from __future__ import annotations

import pytest

from sessionbank.errors import QueryError
from sessionbank.widgets.session_explorer import session_explorer
from tests.trajectory.outcome_sessions import bash
from tests.trajectory.outcome_sessions import session as talk
from tests.widgets.looking import EVIL, assert_plain, control, labels, words
from tests.widgets.talks import bank_of, full, long_talk


def page(box):
    return box.children[4].value


def pane(box):
    return box.children[6].value


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    bank = bank_of(tmp_path_factory.mktemp("explorer"), full())
    yield bank.query()[0]
    bank.close()


def test_pages_of_a_long_session():
    box = session_explorer(long_talk())
    assert page(box).count("<article") == 40
    assert "1 to 40 of 5,000 entries" in labels(box)
    control(box, "Next").click()
    assert "41 to 80 of 5,000 entries" in labels(box)
    assert "step 41" in page(box)
    control(box, "Last").click()
    assert "4,961 to 5,000 of 5,000 entries" in labels(box)
    control(box, "Next").click()
    assert "5,000 to 5,000 of 5,000 entries" in labels(box)
    control(box, "First").click()
    control(box, "Previous").click()
    assert "1 to 40 of 5,000 entries" in labels(box)
    control(box, "From").value = 2500
    assert "2,501 to 2,540 of 5,000 entries" in labels(box)


def test_only_a_page_is_drawn():
    small, large = session_explorer(long_talk(100)), session_explorer(long_talk(5000))
    assert len(page(large)) < 1.1 * len(page(small))


def test_errors_one_after_the_other():
    box = session_explorer(long_talk())
    assert "4 errors" in labels(box)
    seen = []
    for _ in range(5):
        control(box, "Next error").click()
        seen.append(control(box, "Message").value)
    assert seen == [1000, 2000, 3000, 4000, 1000]
    assert "error 1 of 4" in labels(box)
    control(box, "Previous error").click()
    assert control(box, "Message").value == 4000
    assert "make part4000" in page(box)
    assert 'aria-label="message 4000, Reply" aria-current=true' in page(box)
    assert page(box).count("<details open>") == 1, "the chosen call is unfolded"


def test_search():
    box = session_explorer(long_talk())
    control(box, "Search").value = "STEP 499"
    # step 499, and 4991 to 4999 where a step has an odd number
    assert "hit 1 of 6" in labels(box)
    assert control(box, "Message").value == 499
    assert "<mark>step 499</mark>" in page(box)
    control(box, "Next hit").click()
    assert control(box, "Message").value == 4991
    control(box, "Previous hit").click()
    control(box, "Previous hit").click()
    assert control(box, "Message").value == 4999
    control(box, "Search").value = "not there at all"
    assert "0 hits" in labels(box)
    control(box, "Next hit").click()
    control(box, "Search").value = ""
    assert not any("hit" in text for text in labels(box))


def test_filters(session):
    box = session_explorer(session)
    assert control(box, "Other").value is False
    for name in ("Replies", "Tools", "Subagents"):
        control(box, name).value = False
    assert "1 to 1 of 1 entries" in labels(box)
    assert "Mend the cart" in page(box)
    control(box, "Prompts").value = False
    assert "no entries" in labels(box)
    assert "No message passes the filters" in page(box)
    control(box, "Next error").click()  # nothing to go to: nothing happens
    control(box, "Subagents").value = True
    assert "Grep" in page(box)


def test_a_message_in_full_and_where_it_comes_from(session):
    box = session_explorer(session)
    assert pane(box) == ""
    control(box, "Message").value = session.tool_calls[1].result_seq
    view = next(w for w in box.children[5].children if type(w).__name__ == "ToggleButtons")
    view.value = "Message"
    assert "Bash: result (error" in words(pane(box))
    view.value = "Stored line"
    assert '"is_error": true' in words(pane(box))
    view.value = "What the model saw"
    assert "Mend the cart" in words(pane(box))
    part = box.children[5].children[-1]
    assert part.layout.display == "none"
    control(box, "Message").value = session.tool_calls[-1].seq
    view.value = "Message"
    assert part.layout.display is None
    assert part.max == 2
    part.value = 2
    assert "Part 2 of 2" in words(pane(box))
    view.value = "Closed"
    assert pane(box) == ""


def test_a_hidden_message_can_be_read_still(session):
    box = session_explorer(session)
    control(box, "Tools").value = False
    view = next(w for w in box.children[5].children if type(w).__name__ == "ToggleButtons")
    view.value = "Message"
    control(box, "Message").value = session.tool_calls[0].seq
    assert "Edit" in words(pane(box))
    assert "Edit" not in words(page(box))


def test_redaction_is_switched_here():
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    box = session_explorer(talk(("prompt", f"use {key}"), bash("ls", "ok", key)))
    view = next(w for w in box.children[5].children if type(w).__name__ == "ToggleButtons")
    view.value = "Message"
    drawn = (box.children[0], box.children[4], box.children[6])
    assert [key in w.value for w in drawn] == [False] * 3
    control(box, "Redact").value = False
    assert [key in w.value for w in drawn] == [True] * 3
    open_ = session_explorer(talk(("prompt", f"use {key}")), redact=False)
    assert control(open_, "Redact").value is False
    assert key in page(open_)


def test_hostile_text_in_every_pane(tmp_path):
    with bank_of(tmp_path, full(evil=EVIL)) as bank:
        session = bank.query()[0]
        box = session_explorer(session, redact=False)
        control(box, "Other").value = True
        control(box, "Search").value = EVIL
        view = next(w for w in box.children[5].children if type(w).__name__ == "ToggleButtons")
        for name in view.options:
            view.value = name
            for at in (0, 4, 6):
                assert_plain(box.children[at].value)


def test_nothing_to_read():
    box = session_explorer(talk())
    assert "There is no message to read" in words(box.children[0].value)
    view = next(w for w in box.children[5].children if type(w).__name__ == "ToggleButtons")
    view.value = "Message"
    for name in ("Next", "Last", "Next error", "Next hit"):
        control(box, name).click()
    control(box, "Search").value = "x"
    assert "no entries" in labels(box)


def test_every_control_can_be_told_apart(session):
    from tests.widgets.looking import everything

    for widget in everything(session_explorer(session)):
        name = type(widget).__name__
        if name in ("Button", "Checkbox", "Text", "IntSlider", "BoundedIntText"):
            assert widget.description, name
        if name in ("Button", "Checkbox"):
            assert widget.tooltip, widget.description


def test_a_page_of_nothing_is_refused():
    with pytest.raises(QueryError, match="at least 1"):
        session_explorer(talk(), page=0)
