"""Messages as HTML: nothing of a transcript becomes markup, diffs and code are shown as such, long texts say what is left."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessionbank.redaction import redact_views
from sessionbank.widgets import message_detail as detail
from sessionbank.widgets.message_html import header_html, page_html
from sessionbank.widgets.session_entries import Entries
from sessionbank.widgets.shown_texts import Shown
from sessionbank.widgets.text_html import FIRST, MORE, change, diff_html, marked, patch, words_html
from sessionbank.widgets.tool_html import call_html, changed
from tests.makers.claude import Claude
from tests.trajectory.outcome_sessions import bash
from tests.trajectory.outcome_sessions import session as talk
from tests.widgets.looking import EVIL, Page, assert_plain, words
from tests.widgets.talks import LONG, bank_of, full

AS_IT_IS = Shown(is_redacted=False)


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    bank = bank_of(tmp_path_factory.mktemp("evil"), full(evil=EVIL), branch=[EVIL])
    yield bank.query()[0]
    bank.close()


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    bank = bank_of(tmp_path_factory.mktemp("plain"), full())
    yield bank.query()[0]
    bank.close()


def test_hostile_text_stays_text(evil):
    entries = Entries(evil)
    for show in (AS_IT_IS, Shown()):
        for needle in ("", "<script>", "'", "&amp;", "{0}"):
            page = page_html(entries.all, show=show, needle=needle, chosen=entries.all[3].seq)
            assert_plain(page)
        assert_plain(header_html(evil, entries, show=show))
        for message in evil.messages:
            calls = [c for c in evil.tool_calls if message.seq in (c.seq, c.result_seq)]
            assert_plain(detail.message_html(message, calls, show=show, needle="<")[0])
            assert_plain(detail.context_html(evil, message, show=show)[0])
            assert_plain(detail.stored_html(message, evil.raw, show=show)[0])
    assert words(page_html(entries.all, show=AS_IT_IS)).count("<script>alert(1)</script>") >= 10


def test_the_same_twice(plain):
    entries = Entries(plain)
    first = page_html(entries.all, show=Shown(), needle="cart")
    assert first == page_html(entries.all, show=Shown(), needle="cart")


def test_a_page_shows_who_says_what(plain):
    page = page_html(Entries(plain).all, show=AS_IT_IS, below={"t3": 2})
    said = words(page)
    for wanted in (
        "Prompt",
        "Mend the cart",
        "Thinking, 18 characters",
        "I look first.",
        "Bash",
        "pytest -q",
        "error",
        "Explore",
    ):
        assert wanted in said, wanted
    assert "```" not in said
    assert said.count("claude-opus-4-5-20251101") == 1, "the model is named where it begins to speak"
    assert "2 messages of its subagent" in said
    assert "margin-left:22px" in page


def test_an_edit_is_a_diff(plain):
    call = next(c for c in plain.tool_calls if c.tool_name == "Edit")
    assert changed(call, show=AS_IT_IS)[0] == [[("-", "a = 1"), ("+", "a = 2"), (" ", "kept")]]
    html = call_html(call, show=AS_IT_IS, seq=3)
    assert '<span class="m">- a = 1</span><span class="p">+ a = 2</span><span class="s">  kept</span>' in html
    assert "old_string" not in html


@pytest.mark.parametrize(
    ("name", "given", "lines"),
    [
        ("Write", '{"file_path":"a","content":"x\\ny"}', [("+", "x"), ("+", "y")]),
        ("write_file", '{"file_path":"a","content":"x"}', [("+", "x")]),
        ("replace", '{"old_string":"x","new_string":"y"}', [("-", "x"), ("+", "y")]),
        ("edit", '{"oldString":"x","newString":"y"}', [("-", "x"), ("+", "y")]),
        ("MultiEdit", '{"edits":[{"old_string":"x","new_string":"y"}]}', [("-", "x"), ("+", "y")]),
        ("apply_patch", '{"input":"*** Begin Patch\\n*** Update File: a\\n@@\\n-x\\n+y\\n z\\n*** End Patch"}',
         [("@", "*** Begin Patch"), ("@", "*** Update File: a"), ("@", "@@"), ("-", "x"), ("+", "y"), (" ", "z"),
          ("@", "*** End Patch")]),
    ],
)  # fmt: skip
def test_edits_of_all_agents(name, given, lines):
    call = replace(talk(bash("x")).tool_calls[0], tool_name=name, input=given, command=None)
    assert changed(call, show=AS_IT_IS)[0] == [lines]


@pytest.mark.parametrize(
    "given", [None, "", "[1, 2]", '"text"', "{", '{"edits": 3, "old_string": 4}', "9" * 5000, "[" * 20000]
)
def test_odd_inputs_are_shown(given):
    call = replace(
        talk(bash("x")).tool_calls[0], tool_name="Edit", input=given, command=None, result_text=None
    )
    assert changed(call, show=AS_IT_IS)[0] == []
    assert_plain(call_html(call, show=AS_IT_IS, seq=0))
    assert "no result is recorded" in call_html(call, show=AS_IT_IS, seq=0)


def test_change_and_patch():
    assert change("", "a") == [("+", "a")]
    assert change("same", "same") == []
    far = [str(n) for n in range(40)]
    lines = change("\n".join(far), "\n".join([*far[:5], "new", *far[5:35], "newer", *far[35:]]))
    assert ("@", "⋯") in lines
    assert [t for s, t in lines if s == "+"] == ["new", "newer"]
    assert ("+", "x") in patch("@@ -1 +1 @@\n+x")
    assert patch("a - b\n+ c") == []
    assert Page(diff_html([("+", "<b>")])).tags == ["pre", "span"]


def test_long_texts_are_cut_and_say_so():
    html = words_html(LONG, show=AS_IT_IS, seq=7)
    said = words(html)
    assert f"{len(LONG) - MORE:,} characters more: read message 7 below" in said
    assert html.count("<details>") == 1
    short = words_html("x" * FIRST, show=AS_IT_IS, seq=7)
    assert "details" not in short
    assert "more" not in short


def test_a_hit_in_the_folded_part_unfolds_it():
    text = "a" * 3000 + " needle"
    assert "<details open>" in words_html(text, show=AS_IT_IS, needle="NEEDLE", seq=1)
    assert "<details>" in words_html(text, show=AS_IT_IS, needle="other", seq=1)


def test_marks():
    assert marked("A.b a.B", "a.b") == "<mark>A.b</mark> <mark>a.B</mark>"
    assert marked("axb", "a.b") == "axb"
    assert marked("<mark>", "mark") == "&lt;<mark>mark</mark>&gt;"


def test_a_message_in_full_comes_in_parts(plain):
    message = next(
        m for m in plain.messages if any((b.text or "").startswith("line of output") for b in m.blocks)
    )
    calls = [c for c in plain.tool_calls if message.seq in (c.seq, c.result_seq)]
    texts = []
    for part in range(1, 10):
        html, parts = detail.message_html(message, calls, show=AS_IT_IS, part=part)
        texts.append(words(html))
        if part == parts:
            break
    assert parts == 2  # 30,000 characters and the command
    assert sum(t.count("line of output") for t in texts) >= 1999  # one may be cut in two
    assert "part 9" not in texts[-1]
    assert detail.message_html(message, calls, show=AS_IT_IS, part=99)[0].count("Part 2 of 2") == 1
    assert detail.message_html(message, calls, show=AS_IT_IS, part=-1)[0].count("Part 1 of 2") == 1


def test_what_the_model_saw(tmp_path):
    claude = full()
    claude.line(
        "system",
        subtype="compact_boundary",
        content="Conversation compacted",
        compactMetadata={"trigger": "auto"},
    )
    claude.prompt("This session is being continued", isCompactSummary=True)
    claude.prompt("and on")
    with bank_of(tmp_path, claude) as bank:
        talk_ = bank.query()[0]
        last = talk_.messages[-1]
        said = words(detail.context_html(talk_, last, show=AS_IT_IS)[0])
        assert "This session is being continued" in said
        assert "Mend the cart" not in said
        early = next(m for m in talk_.messages if m.kind == "reply")
        assert "Mend the cart" in words(detail.context_html(talk_, early, show=AS_IT_IS)[0])
        inner = next(m for m in talk_.messages if m.is_subagent)
        assert "not recorded apart" in words(detail.context_html(talk_, inner, show=AS_IT_IS)[0])
        entries = Entries(talk_)
        assert "not in context at the end" in page_html(entries.all, show=AS_IT_IS)


def test_the_stored_line(plain):
    message = plain.messages[0]
    html, parts = detail.stored_html(message, plain.raw, show=AS_IT_IS)
    said = words(html)
    assert parts == 1
    assert '"type": "user"' in said
    assert f'"uuid": "{message.uuid}"' in said
    assert "line 0 of the transcript" in said
    alone = talk(("prompt", "x"))
    assert "No stored line is at hand" in words(
        detail.stored_html(alone.messages[0], alone.raw, show=AS_IT_IS)[0]
    )
    bytes_ = detail.stored_html(message, lambda _: [b"\xff{not json"], show=AS_IT_IS)[0]
    assert "{not json" in words(bytes_)


def test_views_are_redacted_unless_told(plain):
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    secretive = talk(("prompt", f"use {key}"), bash(f"curl -H {key}", "ok", f"sent {key}"))
    entries = Entries(secretive)
    message, calls = secretive.messages[1], secretive.tool_calls
    for show, is_there in ((Shown(), False), (AS_IT_IS, True)):
        pages = [
            page_html(entries.all, show=show), header_html(secretive, entries, show=show),
            detail.message_html(message, calls, show=show)[0],
            detail.stored_html(message, lambda _: [key.encode()], show=show)[0],
        ]  # fmt: skip
        assert [key in p for p in pages] == [is_there] * 4
    with redact_views(False):
        assert key in page_html(entries.all, show=Shown())


def test_the_folder_tells_whose_branch_it_is(tmp_path):
    claude = Claude(cwd="/Users/mkowalczyk/shop")
    claude.prompt("Mend the cart")
    with bank_of(tmp_path, claude, branch=["mkowalczyk/cart"]) as bank:
        mine = bank.query()[0]
        entries = Entries(mine)
        told = header_html(mine, entries, show=Shown())
        assert "/cart" in told and "kowalczyk" not in told
        assert "mkowalczyk/cart" in header_html(mine, entries, show=AS_IT_IS)


def test_a_key_across_the_cut_is_not_half_shown():
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for at in (MORE - 10, FIRST - 10):
        text = "x" * at + " " + key + " " + "y" * 3000
        assert key[:12] not in words_html(text, show=Shown(), seq=1)
        assert key[:12] not in words_html(text, show=Shown().prepare([text], limit=MORE), seq=1)


def test_nothing_to_read():
    empty = talk()
    assert "The stored transcript is" not in header_html(
        talk(("prompt", "x")), Entries(talk(("prompt", "x"))), show=AS_IT_IS
    )
    nothing = header_html(empty, Entries(empty), show=AS_IT_IS)
    assert "There is no message to read" in nothing
    assert "tool calls" not in nothing, "what cannot be counted is not told as 0"
    assert "No message passes the filters" in page_html([], show=AS_IT_IS)
