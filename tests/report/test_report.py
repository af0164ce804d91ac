"""The report: one file that asks for nothing, the same each time, whose key figures are those of the sample bank's truth."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

import sessionbank as sb
from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude

VOID = {"meta", "br", "hr", "img", "link", "input", "col", "wbr"}
SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA1b"


class Balanced(HTMLParser):
    """Notes every tag, and those that do not close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.wrong: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def report(place, folder, **options) -> str:
    with sb.open_bank(place, cache=folder / "cache", state_dir=folder, progress=False) as bank:
        return sb.write_report(bank, folder / "report.html", **options).read_text(encoding="utf-8")


def sound(text: str) -> None:
    seen = Balanced()
    seen.feed(text)
    assert not seen.wrong and not seen.open
    assert not seen.tags & {"script", "iframe", "object", "embed", "link"}
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#|data:)""", text)
    assert not re.search(r"@import|url\((?!['\"]?(?:#|data:))", text)
    assert not seen.handlers


@pytest.fixture(scope="module")
def shop(root, tmp_path_factory) -> str:
    return report(root / "data" / "shop.bundle", tmp_path_factory.mktemp("shop"))


def test_it_is_one_sound_file_without_script_or_address(shop):
    sound(shop)
    assert len(shop) < 10_000_000


def test_the_same_bank_gives_the_same_bytes(root, tmp_path, shop):
    assert report(root / "data" / "shop.bundle", tmp_path) == shop


def test_its_key_figures_are_the_truth_of_the_sample(root, shop):
    truth = json.loads((root / "data" / "shop.truth.json").read_text())
    whole = truth["total"]
    tokens = sum(
        whole[who][name]
        for who in ("tokens", "subagent_tokens")
        for name in ("input", "output", "cache_creation", "cache_read")
    )
    words = " ".join(re.sub(r"<style.*?</style>|<[^>]+>", " ", shop, flags=re.DOTALL).split())
    assert f"Sessions {truth['counts']['sessions']} in {truth['counts']['checkpoints']} checkpoints" in words
    assert f"API calls {whole['api_calls'] + whole['subagent_api_calls']} {tokens:,} tokens" in words
    assert f"Prompts by people {whole['human_prompts']} " in words
    assert f"Tool calls {whole['tool_calls'] + whole['subagent_tool_calls']} " in words


def hostile(tmp_path, words: str):
    told = Claude()
    told.prompt(words)
    told.reply(words, message_id="m1", output=7)
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint("0" * 12, sessions=[session(told.session_id, told.bytes(), branch=words)])
    return repo.path


def test_text_with_markup_shows_as_text(tmp_path):
    text = report(hostile(tmp_path, "<script>alert(1)</script><img src=x onerror=y>"), tmp_path)
    sound(text)


def test_a_secret_is_left_out_unless_asked_for(tmp_path):
    place = hostile(tmp_path, f"use {SECRET}")
    assert SECRET not in report(place, tmp_path)


def test_a_bank_that_holds_nothing_has_a_report(tmp_path):
    sound(report(CheckpointRepo(tmp_path / "empty").path, tmp_path))


def test_what_is_no_bank_is_refused(tmp_path):
    with pytest.raises(sb.SessionBankError, match="a bank or a selection"):
        sb.write_report("data/shop.bundle", tmp_path / "x.html")


def test_an_unknown_zone_is_refused(root, tmp_path):
    with pytest.raises(sb.SessionBankError):
        report(root / "data" / "shop.bundle", tmp_path, tz="Mars/Base")
