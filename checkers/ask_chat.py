"""Runs inside an environment of its own: loads chat rows by Hugging Face datasets, or renders them by TRL's templates.

`python ask_chat.py CHECKER FILE FOLDER [TEMPLATE...]` reads one JSONL file of chat rows; FOLDER is for what the checker
itself writes. Prints a line of JSON a question: {"part": template, or "", "rows": how many were read, "faults": [what
was refused, as "LINE: why"], "unfit": why the template was not asked, or null}.

- datasets: each row must come back as it was written, key by key: nothing lost, nothing turned into null.
- trl: a template is asked when it renders a conversation with one call (name, key and value appear). Each row is then
  rendered twice: as it is (each name and each value of a call must stand in the text, plain or as JSON, in order), and
  with marks in place of all text, so that nothing else can be taken for a call: each value must stand exactly once,
  after its call's name and before the next call's, and no brace may come with an escaped quote, which would be an
  object encoded twice.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
SUFFIX = "_training"
ENCODED_TWICE = '{\\"'
PROBE: list[Row] = [
    {"role": "user", "content": "look"},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {
                "id": "probe0001",
                "type": "function",
                "function": {"name": "probe_name", "arguments": {"probe_key": "probe_value"}},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "probe0001", "name": "probe_name", "content": "seen"},
    {"role": "assistant", "content": "Done."},
]


def calls_of(row: Row) -> list[Row]:
    """The function part (name, arguments) of each call of a row, in order."""
    return [call["function"] for message in row["messages"] for call in message.get("tool_calls") or ()]


def arguments_of(function: Row) -> Any:
    """The arguments as an object, whether they were written as one or as JSON text."""
    given = function["arguments"]
    return json.loads(given) if isinstance(given, str) else given


def leaves(value: Any) -> Iterator[Any]:
    """The values at the ends of an object, depth first."""
    if isinstance(value, dict):
        for part in value.values():
            yield from leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part)
    else:
        yield value


def forms(value: Any) -> list[str]:
    """How a value may stand in a text without loss: plain, as JSON, or in single quotes."""
    if isinstance(value, str):
        # as lfm2 writes a string in single quotes
        quoted = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
        return [value, json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1], quoted]
    return [json.dumps(value), str(value)]


def lost(row: Row, rendered: str) -> str | None:
    """The first call whose name or one of whose values is missing in the text, looked for in order; or None."""
    place = 0
    for number, function in enumerate(calls_of(row), 1):
        place = rendered.find(function["name"], place)
        if place < 0:
            return f"call {number} ({function['name']}) is lost"
        for value in leaves(arguments_of(function)):
            if not any(rendered.find(form, place) >= 0 for form in forms(value)):
                return f"call {number} ({function['name']}) lost a value"
        place += len(function["name"])
    return None


def marked(row: Row) -> tuple[Row, list[tuple[str, list[str]]]]:
    """A copy with marks for all text, and (mark of the name, marks of its values) of each call."""
    copied = copy.deepcopy({"messages": row["messages"], "tools": None})
    marks: list[tuple[str, list[str]]] = []
    names: dict[str, str] = {}
    for message in copied["messages"]:
        message["content"] = "said" if message.get("content") else ""
        if message.get("reasoning_content"):
            message["reasoning_content"] = "thought"
        for call in message.get("tool_calls") or ():
            function = call["function"]
            name = f"call{len(marks)}name"
            values: list[str] = []
            made = _mark(arguments_of(function), (len(marks), values))
            function["arguments"] = json.dumps(made) if isinstance(function["arguments"], str) else made
            function["name"] = names[call["id"]] = name
            marks.append((name, values))
        if message["role"] == "tool" and "name" in message:
            message["name"] = names.get(message["tool_call_id"], "other")
    return copied, marks


def _mark(value: Any, into: tuple[int, list[str]]) -> Any:
    """Each end of an object as a mark; the marks are noted in `into`."""
    number, marks = into
    if isinstance(value, dict):
        return {key: _mark(part, into) for key, part in value.items()}
    if isinstance(value, list):
        return [_mark(part, into) for part in value]
    marks.append(f"mark{number}of{len(marks)}end")
    return marks[-1]


def misplaced(marks: Sequence[tuple[str, list[str]]], rendered: str) -> str | None:
    """What is wrong with the text of a marked row: a call lost, said twice, out of place, or encoded twice; or None."""
    starts = [rendered.find(name) for name, _ in marks]
    for number, ((_, values), start) in enumerate(zip(marks, starts, strict=True), 1):
        if start < 0:
            return f"call {number} of {len(marks)} is lost"
        end = starts[number] if number < len(starts) else len(rendered)
        if end < 0:
            return f"call {number + 1} of {len(marks)} is lost"
        for value in values:
            found = rendered.count(value)
            if found != 1:
                return f"a value of call {number} stands {found} times"
            if not start < rendered.find(value) < end:
                return f"a value of call {number} does not stand at its call"
    return "arguments are encoded twice" if ENCODED_TWICE in rendered else None


def rows_of(path: Path) -> list[Row]:
    """The rows of a file."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]


def with_datasets(path: Path, folder: Path, chosen: Sequence[str]) -> Iterator[Row]:
    """What `load_dataset` makes of the file, held against what was written."""
    import datasets

    datasets.disable_progress_bars()
    written = rows_of(path)
    loaded = datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=str(folder))
    faults = []
    for number, (ours, theirs) in enumerate(zip(written, loaded, strict=False), 1):
        changed = sorted(key for key in {*ours, *theirs} if ours.get(key) != theirs.get(key))
        if changed:
            faults.append(f"{number}: comes back changed in {', '.join(changed)}")
    if len(loaded) != len(written):
        faults.append(f"{len(loaded)}: {len(written)} rows were written, {len(loaded)} were read")
    yield {"part": "", "rows": len(loaded), "faults": faults, "unfit": None}


def with_templates(path: Path, folder: Path, chosen: Sequence[str]) -> Iterator[Row]:
    """What each of TRL's training templates makes of the rows; `chosen` names some, or with ``-`` those to leave out."""
    from transformers.utils.chat_template_utils import render_jinja_template

    spec = importlib.util.find_spec("trl")  # importing it would ask for PyTorch
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("trl is not installed")
    rows = rows_of(path)
    home = Path(spec.submodule_search_locations[0], "chat_templates")
    for template in sorted(home.glob(f"*{SUFFIX}.jinja")):
        name = template.stem.removesuffix(SUFFIX)
        wanted = {c for c in chosen if not c.startswith("-")}
        if f"-{name}" in chosen or (wanted and name not in wanted):
            continue
        source = template.read_text(encoding="utf-8")

        def render(row: Row, source: str = source) -> str:
            return render_jinja_template([row["messages"]], tools=row.get("tools"), chat_template=source)[0][
                0
            ]

        unfit = why_unfit(render)
        if unfit is not None:
            yield {"part": name, "rows": 0, "faults": [], "unfit": unfit}
            continue
        faults = [f"{n}: {fault}" for n, row in enumerate(rows, 1) if (fault := fault_of(row, render))]
        yield {"part": name, "rows": len(rows), "faults": faults, "unfit": None}


def why_unfit(render: Any) -> str | None:
    """Why a template cannot render a conversation with one call; None when it can."""
    try:
        text = render({"messages": PROBE})
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    missing = [word for word in ("probe_name", "probe_key", "probe_value") if word not in text]
    return "leaves the call out" if missing else None


def fault_of(row: Row, render: Any) -> str | None:
    """What is wrong with how a template renders a row, or None."""
    try:
        fault = lost(row, render(row))
        if fault is None:
            copied, marks = marked(row)
            fault = misplaced(marks, render(copied))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return fault


CHECKERS = {"datasets": with_datasets, "trl": with_templates}


def main(checker: str, file: str, folder: str, *chosen: str) -> None:
    """Print one line of JSON a question."""
    os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_HOME=folder)
    for answer in CHECKERS[checker](Path(file), Path(folder), chosen):
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
