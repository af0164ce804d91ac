"""Log text with markup shows as text in every HTML view; the views are the same each time."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from sessionbank import schema
from tests.makers.banks import opened
from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude, tool

NASTY = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "'); alert(1); ('",
    "</pre></td><iframe src=//x>",
    "&lt;b&gt; & &amp; &#60;",
    "<!--",
    "]]>",
    "<style>*{display:none}</style>",
    "javascript:alert(1)",
    "$\\alert$ {{7*7}} {0} %s",
    "\u202e<b>\x00\x1b[31m",
]
ALLOWED = {"div", "table", "thead", "tbody", "tr", "th", "td", "pre"}


class Tags(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text, self.comments = set(), set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        self.comments.append(data)


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("html")
    repo = CheckpointRepo(folder / "repo")
    for number, text in enumerate(NASTY):
        c = Claude(f"{text}-{number}", cwd=text)
        c.prompt(text)
        c.reply(
            text,
            {"type": "thinking", "thinking": text},
            tool(f"toolu_{text}", text, command=text),
            message_id=f"msg_{number}",
            model=text,
        )
        c.result(f"toolu_{text}", text, is_error=True)
        c.line(text, content=text)
        stored = session(
            c.session_id,
            c.bytes(),
            branch=text,
            agent=text,
            prompt=text,
            strategy=text,
            cli_version=text,
            summary={"intent": text, "outcome": text, "friction": [text]} if number % 2 else None,
        )
        repo.add_checkpoint(f"{number:012x}", sessions=[stored])
    with opened(repo.path, folder) as found:
        yield found


def views(bank):
    yield bank._repr_html_()
    yield bank.discover()._repr_html_()
    for one in bank.discover():
        yield one._repr_html_()
        for message in one.messages:
            yield message._repr_html_()


def test_markup_shows_as_text(bank):
    seen = []
    for html in views(bank):
        parser = Tags()
        parser.feed(html)
        parser.close()
        assert parser.tags <= ALLOWED, parser.tags
        assert parser.attributes <= {"style"}
        assert parser.comments == []
        seen += parser.text
    whole = "\n".join(seen)
    for text in NASTY[:9]:
        assert text in whole


def test_views_are_the_same_each_time(bank):
    assert list(views(bank)) == list(views(bank))


def test_frames_keep_the_text_as_it_is(bank):
    texts = set(bank.messages()["text"].dropna())
    assert set(NASTY) <= texts


def test_nothing_named_by_a_transcript_is_written(bank, tmp_path):
    bank.to_parquet(tmp_path / "out")
    for one in bank.discover():
        bank.mark_processed(one)
    assert {p.stem for p in (tmp_path / "out").iterdir()} <= set(schema.TABLES)
