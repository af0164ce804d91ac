"""The bank's explorer: filters agree with `bank.query`, outcomes and transcripts are read only when asked for."""

from __future__ import annotations

import datetime as dt

import pytest

import sessionbank as sb
from sessionbank.errors import QueryError
from sessionbank.widgets.bank_explorer import bank_explorer
from sessionbank.widgets.bank_html import rows_html
from sessionbank.widgets.bank_rows import Row, SessionRows, Walk
from sessionbank.widgets.shown_texts import Shown
from tests.makers.banks import opened
from tests.makers.checkpoints import CheckpointRepo
from tests.widgets.looking import EVIL, assert_plain, control, everything, labels, words
from tests.widgets.talks import bank_of, full

DAY = dt.date(2026, 3, 1)


@pytest.fixture(scope="module")
def shop(root, tmp_path_factory):
    bank = opened(root / "data" / "shop.bundle", tmp_path_factory.mktemp("shop"))
    yield bank
    bank.close()


def table(box):
    return next(w.value for w in everything(box) if 'class="rows"' in str(getattr(w, "value", "")) or "No session passes" in str(
        getattr(w, "value", "")))  # fmt: skip


@pytest.mark.parametrize(
    ("mine", "asked"),
    [
        ({}, {}),
        ({"agent": "gemini-cli"}, {"agent": "gemini-cli"}),
        ({"branch": ["feature/images"]}, {"branch": "feature/images"}),
        ({"since": DAY}, {"since": DAY}),
        ({"until": DAY}, {"before": DAY + dt.timedelta(days=1)}),
        ({"since": DAY, "until": dt.date(2026, 3, 20), "branch": ["main"]}, {"since": DAY, "before": "2026-03-21", "branch": "main"}),
        ({"sort": "oldest"}, {"sort": "oldest"}),
    ],
)  # fmt: skip
def test_filters_agree_with_the_query(shop, mine, asked):
    found = SessionRows(shop).passing(**mine)
    expected = list(shop.query(**asked).session_ids)
    assert sorted(found) == sorted(expected)
    times = {s.session_id: max(r.created_at for r in s.records) for s in shop.discover()}
    assert [times[i] for i in found] == [times[i] for i in expected]


def test_search_agrees_with_the_query(shop):
    rows = SessionRows(shop)
    for text in ("search", "CHECKOUT", "nowhere to be seen", "50%", "a.b", "("):
        assert rows.found(text) == set(shop.query(search=text).session_ids)
    assert rows.found("cart") <= rows.found("cart", everywhere=True)
    assert len(rows.found("cart", everywhere=True)) > len(rows.found("cart"))


def test_of_a_selection(shop):
    rows = SessionRows(shop.query(branch="feature/images"))
    assert len(rows.passing()) == 2
    assert rows.found("search") <= set(rows.passing())
    with pytest.raises(QueryError, match="sorted by one of newest, oldest"):
        rows.passing(sort="colour")
    with pytest.raises(QueryError, match="not Tables"):
        SessionRows(sb.selection.Tables())


def test_the_page_and_its_controls(shop):
    box = bank_explorer(shop)
    assert "of 3: 1 to 25 of 60 sessions" in labels(box)
    assert table(box).count("<tr") == 26
    control(box, "Next").click()
    control(box, "Next").click()
    assert "of 3: 51 to 60 of 60 sessions" in labels(box)
    shown = [
        w
        for w in everything(box)
        if str(getattr(w, "description", "")).startswith("Read ") and w.layout.display != "none"
    ]
    assert len(shown) == 10
    control(box, "Next").click()
    assert control(box, "Page").value == 3
    control(box, "Page").value = 1
    control(box, "Agent").value = "gemini-cli"
    assert "of 1: 1 to 4 of 4 sessions" in labels(box)
    control(box, "Branch").value = "no such branch"
    assert "of 1: no session" in labels(box)
    assert "No session passes the filters" in words(table(box))
    control(box, "Read 1").click()  # no such row: nothing happens
    control(box, "Clear filters").click()
    assert "of 3: 1 to 25 of 60 sessions" in labels(box)
    control(box, "Branch").value = "FEATURE/"
    control(box, "From").value = dt.date(2026, 4, 1)
    expected = {
        s.session_id
        for s in shop.query(since="2026-04-01")
        if any(b.startswith("feature/") for b in s.branches)
    }
    assert f"of 1: 1 to {len(expected)} of {len(expected)} sessions" in labels(box)
    control(box, "To").value = dt.date(2026, 4, 9)
    assert "of 1: 1 to 2 of 2 sessions" in labels(box)


def test_search_in_the_widget(shop):
    box = bank_explorer(shop)
    control(box, "Search").value = "checkout"
    count = shop.count(search="checkout")
    assert any(text.endswith(f"of {count} sessions") for text in labels(box))
    control(box, "in").value = "all messages"
    assert not any(text.endswith(f"of {count} sessions") for text in labels(box))


def test_outcomes_are_worked_out_when_asked(shop):
    truth = shop.outcomes(["evidence"]).set_index("session_id")["label"]
    box = bank_explorer(shop, seconds=60)
    assert "outcome" not in words(table(box))
    control(box, "Outcome").value = "failure"
    count = int((truth == "failure").sum())
    assert f"of 1: 1 to {count} of {count} sessions" in labels(box)
    control(box, "Outcome").value = "any, worked out"
    said = words(table(box))
    assert "outcome" in said
    assert said.count("success") >= 1


def test_a_walk_stops_when_it_has_enough(shop):
    rows = SessionRows(shop)
    ids = rows.passing()
    walk = Walk(rows, ids, "success")
    walk.on(enough=2, seconds=60)
    assert len(walk.found) == 2
    assert len(rows.outcomes) == walk.looked < len(ids)
    walk.on(enough=3, seconds=0)
    assert walk.looked == len(rows.outcomes)
    walk.on(enough=1000, seconds=60)
    assert walk.is_done
    labels_ = shop.outcomes(["evidence"]).set_index("session_id")["label"]
    assert walk.found == [i for i in ids if labels_[i] == "success"]


def test_look_on_goes_further(shop):
    box = bank_explorer(shop, seconds=0)  # one session at a time
    control(box, "Outcome").value = "failure"
    before = next(text for text in labels(box) if "looked at" in text)
    control(box, "Look on").click()
    assert before not in labels(box)
    assert any("looked at" in text for text in labels(box))


def test_a_session_is_picked_and_read(shop):
    box = bank_explorer(shop)
    finder, reader = box.children[3], box.children[4]
    ids = SessionRows(shop).passing()
    control(box, "Read 3").click()
    assert finder.layout.display == "none"
    assert ids[2] in reader.children[0].children[0].value
    assert "3 of 60 sessions" in labels(box)
    opened_ = reader.children[0]
    control(box, "Next session").click()
    assert ids[3] in reader.children[0].children[0].value
    assert opened_.comm is None, "the explorer before is closed"
    control(box, "Previous session").click()
    control(box, "Previous session").click()
    control(box, "Previous session").click()
    control(box, "Previous session").click()
    assert ids[0] in reader.children[0].children[0].value
    control(box, "Back to the sessions").click()
    assert finder.layout.display is None
    assert reader.children == ()
    assert "<tr class=sel" in table(box)


def test_no_transcript_is_read_before_a_session_is_picked(tmp_path, monkeypatch):
    talks = [full(f"11111111-2222-4333-8444-{n:012d}", prompt=f"Task {n}") for n in range(90)]
    bank = bank_of(tmp_path, *talks, prompt=[f"Task {n}" for n in range(90)], agent=["Claude Code"] * 90)
    asked = []
    blobs = type(bank._source).blobs
    monkeypatch.setattr(type(bank._source), "blobs", lambda self, oids: asked.append(1) or blobs(self, oids))
    box = bank_explorer(bank)
    assert not bank._state().is_read
    assert "Transcripts have not been read" in words(box.children[0].value)
    assert "claude-code 90" in words(box.children[0].value), "by the label of the metadata"
    control(box, "Next").click()
    control(box, "Branch").value = "main"
    control(box, "Clear filters").click()
    assert not bank._state().is_read
    assert "lines" not in words(table(box))
    control(box, "Read 1").click()
    assert bank._state().is_read
    assert "Mended the cart" in box.children[4].children[0].children[4].value
    control(box, "Back to the sessions").click()
    assert "have not been read" not in words(box.children[0].value)
    assert "lines" in words(table(box)), "counts are shown once they are known"
    assert "most errors" in control(box, "Sort").options
    bank.close()


def test_long_branches_are_told_apart(tmp_path):
    page = rows_html([Row("s1", "codex", None, "someone/with-a-long-name/mend-the-cart", "")], show=Shown())
    assert "…/mend-the-cart" in words(page) and 'title="someone/with-a-long-name/mend-the-cart"' in page
    assert "feature/cart" in words(rows_html([Row("s1", "codex", None, "feature/cart", "")], show=Shown()))


def test_rows_are_escaped_and_redacted():
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    row = Row(EVIL, EVIL, None, EVIL, f"{key} {EVIL}", 3, 1, 0.5, EVIL)
    html = rows_html([row], show=Shown(), chosen=EVIL, has_outcomes=True)
    assert_plain(html)
    assert key not in html
    assert key in rows_html([row], show=Shown(is_redacted=False))
    unknown = words(rows_html([Row("s", "codex", None, "", "")], show=Shown(), has_outcomes=True))
    assert unknown.endswith("not recorded codex none s – – – – nothing recorded")


def test_hostile_branches_can_be_filtered(tmp_path):
    talks = [full(f"11111111-2222-4333-8444-{n:012d}", evil=EVIL) for n in range(2)]
    with bank_of(tmp_path, *talks, branch=[EVIL, "a[.*(b"]) as bank:
        box = bank_explorer(bank, redact=False)
        for widget in everything(box):
            if type(widget).__name__ == "HTML":
                assert_plain(widget.value)
        control(box, "Branch").value = "[.*("
        assert "of 1: 1 to 1 of 1 sessions" in labels(box)
        control(box, "Search").value = EVIL
        assert_plain(table(box))


def test_what_goes_wrong_is_told(tmp_path):
    bank = bank_of(tmp_path, full())
    box = bank_explorer(bank)
    bank.close()
    control(box, "Search").value = "cart"
    assert "the bank is closed" in words(box.children[1].value)


def test_an_empty_bank(tmp_path):
    with opened(CheckpointRepo(tmp_path / "repo").path, tmp_path) as bank:
        box = bank_explorer(bank)
        assert "0 sessions, no date is stored" in words(box.children[0].value)
        control(box, "Search").value = "x"
        control(box, "Outcome").value = "success"
        control(box, "Next").click()
        assert "of 1: no session" in labels(box)
