"""Chat rows are loaded and rendered by other projects' programs without a lost or twice encoded call.

Two halves: what is looked for (`checkers/ask_chat.py`) finds a loss in texts made by hand; and datasets and TRL's
templates, in their own environments, take the sample bank. The whole of it is `python checkers/run.py --all`, whose
page is `docs/checkers.md`.
"""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sessionbank as sb
from checkers import ask_chat, environments
from checkers import run as checkers

ROW: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "Write", "arguments": {"text": 'say "x"\n'}},
                },
                {
                    "id": "b",
                    "type": "function",
                    "function": {"name": "Read", "arguments": {"path": "p.py", "n": 3}},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "a", "name": "Write", "content": "ok"},
        {"role": "tool", "tool_call_id": "b", "name": "Read", "content": "3"},
    ],
    "tools": [],
}

# One of each way to write a call; `run.py --all` asks all of them.
TEMPLATES = ("deepseekv3", "glm4moe", "lfm2_v2", "nemotron_3_super", "qwen2_5", "qwen3", "qwen3_5_think")


def rendered(row: dict[str, Any], *, calls: int = 2, twice: bool = False, swapped: bool = False) -> str:
    """What a template would write: calls as JSON, then answers. It can forget calls, encode twice, or swap arguments."""
    given = ask_chat.calls_of(row)[:calls]
    arguments = [f["arguments"] for f in given]
    if swapped:
        arguments.reverse()
    if twice:
        arguments = [json.dumps(a) for a in arguments]
    said = [json.dumps({"name": f["name"], "arguments": a}) for f, a in zip(given, arguments, strict=True)]
    return "\n".join([*said, *(m["content"] for m in row["messages"] if m["role"] == "tool")])


def fault(**how: Any) -> str | None:
    return ask_chat.fault_of(ROW, lambda row: rendered(row, **how))


def test_a_faithful_rendering_has_no_fault() -> None:
    assert fault() is None


def test_a_lost_call_is_found() -> None:
    assert fault(calls=1) == "call 2 (Read) is lost"


def test_arguments_of_another_call_are_found() -> None:
    assert fault(swapped=True) == "a value of call 1 does not stand at its call" or "lost a value" in str(
        fault(swapped=True)
    )


def test_arguments_encoded_twice_are_found() -> None:
    assert "{\\" in rendered(ROW, twice=True)  # the text that is looked for
    plain = copy.deepcopy(ROW)
    del plain["messages"][1]["tool_calls"][0]["function"]["arguments"][
        "text"
    ]  # of which JSON escapes nothing
    assert ask_chat.fault_of(plain, lambda row: rendered(row, twice=True)) == "arguments are encoded twice"
    assert (
        fault(twice=True) == "call 1 (Write) lost a value"
    )  # a quote escaped twice is no longer what was written


def test_a_call_said_twice_is_found() -> None:
    found = ask_chat.fault_of(ROW, lambda row: rendered(row) + rendered(row))
    assert found is not None
    assert "stands 2 times" in found


def test_text_that_looks_encoded_twice_is_no_fault() -> None:
    """JSON inside a call's text, or said by the user, is the session's own."""
    row = copy.deepcopy(ROW)
    row["messages"][1]["tool_calls"][0]["function"]["arguments"]["text"] = '{"a": "{\\"b\\": 1}"}'
    row["messages"][2]["content"] = '"{\\"c\\": 2}"'
    assert ask_chat.fault_of(row, rendered) is None


def test_a_template_that_leaves_calls_out_is_not_asked() -> None:
    assert ask_chat.why_unfit(lambda row: "hello") == "leaves the call out"
    assert ask_chat.why_unfit(rendered) is None


def test_the_page_names_each_checker_at_its_version(root: Path) -> None:
    page = (root / "docs" / "checkers.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w-]+)(?::\w+)? \| (\S+) \| (\d+) \| ([^|]+) \|$", page, re.MULTILINE)
    assert {name for name, *_ in rows} == {*checkers.ATIF_CHECKERS, *checkers.CHAT_CHECKERS}
    for name, version, documents, result in rows:
        assert version == environments.pinned_version(name), name
        assert int(documents) > 0, name
        assert result == "accepted", name
    banks = re.findall(r"^\| ([\w-]+) \| \d+ \| \d+ \| \d+ \| \d+ \|$", page, re.MULTILINE)
    assert {path.stem for path in (root / "data").glob("*.bundle")} <= set(banks)


@pytest.mark.slow
def test_sample_bank_is_loaded_and_rendered(root: Path, tmp_path: Path) -> None:
    """The template of gpt-oss is asked about rows made for it."""
    chat, merged = tmp_path / "chat.jsonl", tmp_path / "merged.jsonl"
    with sb.open_bank(str(root / "data" / "shop.bundle"), cache=False) as bank:
        sessions = list(bank.discover())
        count = sb.write_jsonl(sessions, chat, format="messages", arguments="dict").rows
        sb.write_jsonl(sessions, merged, format="messages", arguments="dict", thinking="merged")
    rows = list(checkers.documents(chat))
    for_gpt_oss = list(checkers.documents(merged))
    assert len(rows) == len(for_gpt_oss) == count > 60
    try:
        verdicts = checkers.check("datasets", rows)
        verdicts += checkers.check("trl", rows, templates=TEMPLATES)
        verdicts += checkers.check("trl", for_gpt_oss, templates=[checkers.GPT_OSS])
    except checkers.CannotInstallError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"a checker cannot be installed: {error}")
    asked = [v for v in verdicts if not v.unfit]
    expected = {"datasets", "trl:gptoss", *(f"trl:{name}" for name in TEMPLATES)}
    assert {v.checker for v in asked} == expected
    assert [(v.checker, v.faults[:3]) for v in asked if v.result != "accepted"] == []
    assert {v.documents for v in asked} == {count}


@pytest.mark.slow
def test_rows_that_a_template_encodes_twice_are_refused(tmp_path: Path) -> None:
    """Arguments as text are for OpenAI: Qwen 2.5's template encodes them again, GLM's cannot take them apart."""
    row = copy.deepcopy(ROW)
    for function in ask_chat.calls_of(row):
        function["arguments"] = json.dumps(function["arguments"])
    path = tmp_path / "openai.jsonl"
    path.write_text(2 * (json.dumps(row) + "\n"), encoding="utf-8")
    command = [sys.executable, str(checkers.__file__), "--only", "trl", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == checkers.CANNOT_INSTALL and not os.environ.get("CI"):
        pytest.skip("a checker cannot be installed")
    assert done.returncode == 1, done.stdout + done.stderr
    for template in ("qwen2_5", "glm4moe"):
        assert re.search(rf"^trl:{template} +\S+ +2 +REFUSED$", done.stdout, re.MULTILINE)
        assert f"trl:{template}: {path}:1: " in done.stdout
    assert re.search(r"^trl:qwen3 +\S+ +2 +accepted$", done.stdout, re.MULTILINE)
