"""Pictures leave when they are asked for, and not else: of what was typed, of what a tool gave, in each format."""

from __future__ import annotations

import base64
import json
import warnings

import pytest

import sessionbank as sb
from sessionbank.errors import QueryError
from sessionbank.trajectory.export import UnredactedWarning
from tests.makers.banks import opened
from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude, tool

# The smallest PNG and GIF there are, so that a program that looks into them finds pictures.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
URLS = [f"data:image/png;base64,{PNG}", f"data:image/gif;base64,{GIF}"]


def picture(kind: str, data: str) -> dict:
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


@pytest.fixture
def one(tmp_path):
    """A session: a picture pasted with a question, a call, and a picture in its result; and one whose bytes are no base64."""
    c = Claude()
    c.line("user", message={"role": "user", "content": [
        {"type": "text", "text": "what is this?"}, picture("image/png", PNG)]})  # fmt: skip
    c.reply(tool("toolu_1", "Read", file_path="/srv/shop/a.gif"), message_id="m1")
    c.result("toolu_1", [picture("image/gif", GIF)], data={"type": "image", "file": {"base64": GIF}})
    c.reply("A dot.", message_id="m2")
    c.line("user", message={"role": "user", "content": [picture("image/png", "not base64!")]})
    c.reply("Nothing to see.", message_id="m3")
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint("0" * 12, sessions=[session(c.session_id, c.bytes())])
    with opened(repo.path, tmp_path) as bank:
        yield bank.get_by_session_id(c.session_id)


def written(one, path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnredactedWarning)
        made = sb.write_jsonl(one, path, **options)
    assert made.trajectories == 1
    return path.read_text()


@pytest.mark.parametrize("format", ["sessionbank", "atif", "messages", "canonical"])
def test_left_out_unless_asked_for(one, tmp_path, format):
    text = written(one, tmp_path / "out.jsonl", format=format)
    assert PNG not in text and GIF not in text
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith("out")] == ["out.jsonl"]
    if format in ("atif", "messages"):
        assert "[image: image/png]" in text and "[image: image/gif]" in text
    held = sb.synthesize(one, images=True)  # a trajectory that holds them loses them on the way out
    if format != "canonical":
        assert PNG not in written(held, tmp_path / "held.jsonl", format=format)


def test_chat_rows_hold_them_as_data_urls(one, tmp_path):
    row = json.loads(written(one, tmp_path / "out.jsonl", format="messages", images=True))
    asked = row["messages"][0]["content"]
    assert [p["type"] for p in asked] == ["text", "image_url"]
    assert asked[1]["image_url"]["url"] == URLS[0]
    roles = [m["role"] for m in row["messages"]]
    assert roles == ["user", "assistant", "tool", "user", "assistant", "user", "assistant"]
    assert row["messages"][2]["content"] == "[image: image/gif]"  # OpenAI allows a tool's message text alone
    assert row["messages"][3]["content"] == [{"type": "image_url", "image_url": {"url": URLS[1]}}]
    assert row["messages"][5]["content"] == "[image: image/png]"  # whose bytes are none


def test_atif_names_files_beside_it(one, tmp_path):
    document = json.loads(written(one, tmp_path / "out.jsonl", format="atif", images=True))
    parts = document["steps"][0]["message"]
    assert [p["type"] for p in parts] == ["text", "image"]
    shown = document["steps"][1]["observation"]["results"][0]["content"]
    sources = [parts[1]["source"], shown[1]["source"]]
    assert [s["media_type"] for s in sources] == ["image/png", "image/gif"]
    assert [(tmp_path / s["path"]).read_bytes() for s in sources] == [
        base64.b64decode(PNG),
        base64.b64decode(GIF),
    ]
    assert sorted(p.name for p in (tmp_path / "out.jsonl-pictures").iterdir()) == sorted(
        s["path"].partition("/")[2] for s in sources
    )


def test_ours_come_back_with_them(one, tmp_path):
    made = sb.synthesize(one, images=True)
    assert made.replies[0].before[0].images == (URLS[0],)
    assert made.own_steps[0].images == (URLS[1],)
    written(made, tmp_path / "out.jsonl", images=True, redact=False)
    assert sb.read_jsonl(tmp_path / "out.jsonl") == [made]


def test_that_they_leave_is_said_and_canonical_records_have_none(one, tmp_path):
    with pytest.warns(UnredactedWarning, match="not redacted"):
        sb.write_jsonl(one, tmp_path / "a.jsonl", images=True)
    with pytest.raises(QueryError, match="no pictures"):
        sb.write_jsonl(one, tmp_path / "b.jsonl", images=True, format="canonical")
    assert not (tmp_path / "b.jsonl").exists()


def test_the_version_of_the_agent_stands_in_atif(one, tmp_path):
    """The maker of these lines writes version 2.1.37 on each."""
    document = json.loads(written(one, tmp_path / "out.jsonl", format="atif"))
    assert document["agent"]["version"] == "2.1.37"
    assert sb.synthesize(one).metadata["agent_version"] == "2.1.37"
