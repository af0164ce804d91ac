"""Forty and more kinds of secrets, planted all over stored sessions, leave through no exit while redaction is on.

Planted in prompts, replies, thinking, tool inputs and results, subagents' prompts, messages of a team, summaries,
prompt files, commit messages; kinds that tell of themselves (a known prefix) also in branch names, paths, names of tools,
models, agents and members.

Exits that are covered, each with redaction on (nothing of a secret) and off (there is something, so the exit was looked at):

- files: every format of `write_jsonl` and its report table, the report (`write_report`), pictures as SVG and PNG;
- views: ``_repr_html_`` and repr of bank, selection, session, message, team, trajectory; the explorers of bank, session and
  team with every view and pane and the choices in their controls; the labelling page;
- pictures: every function of `sb.plot`, every text in the figure and its alt text;
- words on the terminal: the command line's summary and export, log records at DEBUG, warnings;
- what a judge is asked.

Raw by design, so not covered: data frames, Arrow tables and Parquet; records, messages, trajectories and teams as objects
and the repr of a record's parts (they are the stored truth); `session.raw`; what `redact=False` writes; the compressed
text of a team and the memory, workspaces and playbooks of `sb.learning`, which quote sessions to the agent that works on
them and stay on the machine until a person has reviewed them.
"""

from __future__ import annotations

import hashlib
import html
import json
import logging
import random
import re
import uuid
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import sessionbank as sb
from tests.makers.banks import opened
from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude, nested_reply, nested_result, tool
from tests.team.made import Story, idle
from tests.trajectory.planted import planted

PLANTED = planted()
FIXED = {kind: value for kind, value, _ in planted(8)}  # other values: what both have in common is no secret
# Kinds that are known for what they are wherever they stand.
TELLING = (
    "github classic", "github fine grained", "github app", "gitlab", "aws key id", "anthropic", "openai project",
    "google api", "google oauth secret", "slack bot", "stripe", "sendgrid", "npm", "pypi", "hugging face", "databricks",
    "digitalocean", "telegram bot", "json web token", "azure client secret", "vault", "age", "linear", "groq", "e-mail",
)  # fmt: skip
NAMES = [next(v for k, v, _ in PLANTED if k == kind) for kind in TELLING]
MAIN, TEAM = "11111111-2222-4333-8444-555555555555", "99999999-2222-4333-8444-555555555555"
_PIECE = 16  # so many characters of a long secret are a leak too


def pieces() -> list[tuple[str, str]]:
    """(kind, what must not be seen): whole short secrets, and each part of long ones that two of a kind do not share."""
    found = []
    for kind, value, _ in PLANTED:
        if len(value) < _PIECE:
            found.append((kind, value))
            continue
        parts = {value[at : at + _PIECE] for at in range(0, len(value) - _PIECE + 1, 4)}
        found += [(kind, part) for part in sorted(parts) if part not in FIXED[kind] or value == FIXED[kind]]
    return found


PIECES = pieces()


def seen(text: str) -> list[str]:
    """The kinds of which something stands in a text, as it is, or behind markup, escapes or line breaks."""
    plain = html.unescape(re.sub(r"<[^>]*>", "", text)) if "<" in text else text
    forms = {
        text,
        plain,
        re.sub(r"\s+", "", plain),
        plain.replace("\\/", "/").replace("\\\\", "\\").replace('\\"', '"'),
    }
    whole = "\0".join(forms)
    return list(dict.fromkeys(kind for kind, part in PIECES if part in whole))


# -- sessions that hold them -----------------------------------------------------------------------------------------


def main_talk() -> Claude:
    claude = Claude(MAIN, cwd="/Users/mkowalczyk/src/shop")
    for n, (_, _, text) in enumerate(PLANTED):
        name = NAMES[n % len(NAMES)]
        key, use = f"m{n}", f"toolu_{n:04}"
        claude.prompt(f"Please look at this, then go on:\n{text}\nThank you.")
        claude.reply({"type": "thinking", "thinking": f"It says {text}"}, message_id=key)
        claude.reply(f"What I see:\n{text}", message_id=key)
        claude.reply(tool(use, "Bash", command=text, description=text), message_id=key, stop="tool_use")
        claude.result(use, f"> {text}\nExit code 1\n1 failed", is_error=True)
        path = f"/Users/mkowalczyk/src/{name}/cart.py"
        claude.reply(
            tool(f"{use}e", "Edit", file_path=path, old_string=text, new_string=f"{text}\n"),
            message_id=f"{key}e",
        )
        claude.result(f"{use}e", f"The file {path} has been updated.\n{text}")
        claude.reply(
            tool(f"{use}x", f"mcp__{name}__get", query=text), message_id=f"{key}x", model=f"model-{name}"
        )
        claude.result(f"{use}x", text)
        claude.reply(
            tool(f"{use}s", "Task", subagent_type=name, prompt=text, description=text), message_id=f"{key}s"
        )
        claude.progress(
            nested_reply(f"n{n}", tool(f"sub{n}", "Grep", pattern=text, path=path), message_id=f"sm{n}", output=5),
            call_id=f"{use}s", agent_id=f"a{n:06x}",
        )  # fmt: skip
        claude.progress(nested_result(f"r{n}", f"sub{n}", text), call_id=f"{use}s", agent_id=f"a{n:06x}")
        claude.result(f"{use}s", text)
    claude.line("system", subtype="local_command", content=PLANTED[0][2], level="info")
    claude.reply("All of it is done.", message_id="last")
    return claude


def team_talk() -> Story:
    story = Story(TEAM, cwd="/Users/mkowalczyk/src/shop")
    team = f"crew-{NAMES[0]}"
    story.prompt(f"Make an agent team of this: {PLANTED[5][2]}")
    story.create(team)
    for n, name in enumerate(NAMES[:6]):
        story.mate(
            name, team, kind=NAMES[n + 6], prompt="\n".join(t for _, _, t in PLANTED[n * 9 : n * 9 + 9])
        )
    for n, (_, _, text) in enumerate(PLANTED):
        story.done(
            "SendMessage",
            {"success": True, "message": text, "routing": {"sender": "team-lead", "target": NAMES[n % 6]}},
            type="message", recipient=NAMES[n % 6], content=text, summary=text,
        )  # fmt: skip
        story.hear((NAMES[n % 6], text))
        story.hear((NAMES[n % 6], idle(NAMES[n % 6], text)))
    return story


@pytest.fixture(scope="module")
def bank(tmp_path_factory) -> Iterator[sb.SessionBank]:
    folder = tmp_path_factory.mktemp("planted")
    repo = CheckpointRepo(folder / "repo")
    everything = "\n".join(t for _, _, t in PLANTED)
    summary = {
        "intent": f"Look after {PLANTED[0][2]}", "outcome": f"Tests failed with: {everything}",
        "open_items": [t for _, _, t in PLANTED], "friction": [t for _, _, t in PLANTED],
        "learnings": {
            "repo": [t for _, _, t in PLANTED], "workflow": [t for _, _, t in PLANTED],
            "code": [{"path": f"src/{NAMES[0]}.py", "line": 1, "finding": t} for _, _, t in PLANTED],
        },
    }  # fmt: skip
    for number, talk in enumerate((main_talk(), team_talk())):
        checkpoint = f"{number + 1:012x}"
        stored = session(
            talk.session_id, transcript=talk.bytes(), prompt=everything, branch=f"fix/{NAMES[number]}", agent="Claude Code",
            summary=summary if number == 0 else None, files_touched=[f"src/{n}.py" for n in NAMES],
            initial_attribution={"agent_lines": 5, "human_added": 1, "human_modified": 0, "human_removed": 0, "total_committed": 6,
                                 "agent_percentage": 80.0, "calculated_at": "2026-02-01T10:00:00Z"},
        )  # fmt: skip
        repo.add_checkpoint(checkpoint, sessions=[stored], root={"branch": f"fix/{NAMES[number]}"})
        repo.commit(f"Use {PLANTED[number][2]}\n\nEntire-Checkpoint: {checkpoint}\n")
    made = opened(repo.path, folder)
    yield made
    made.close()


def test_forty_kinds_are_planted_and_stored(bank) -> None:
    kinds = {kind for kind, _, _ in PLANTED}
    assert len(kinds) >= 40
    assert set(TELLING) <= kinds
    raw = bank.blocks()["text"].str.cat(sep="\n") + bank.tool_calls()["input"].map(
        lambda t: json.dumps(json.loads(t), ensure_ascii=False)
    ).str.cat(sep="\n")
    assert set(seen(raw)) == kinds  # tables are the truth


# -- exits: each yields the texts that leave ---------------------------------------------------------------------------


def file_of(form: str) -> Callable[..., str]:
    def leave(bank: sb.SessionBank, folder: Path, *, redact: bool) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = bank.discover() if form == "canonical" else [sb.synthesize(s) for s in bank.discover()]
            made = sb.write_jsonl(given, folder / "out.jsonl", format=form, redact=redact)
        return made.path.read_text("utf-8") + made.report().to_csv() + repr(made) + str(made)

    return leave


def report(bank, folder, *, redact) -> str:
    return sb.write_report(bank, folder / "r.html", redact=redact).read_text("utf-8")


def bank_html(bank, folder, *, redact) -> str:
    return bank._repr_html_() + bank.query()._repr_html_()


def session_html(bank, folder, *, redact) -> str:
    return "".join(s._repr_html_() for s in bank.discover())


def message_html(bank, folder, *, redact) -> str:
    return "".join(m._repr_html_() for s in bank.discover() for m in s.messages)


def every(widget) -> Iterator:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from every(child)


def told_to_page(box) -> Iterator[str]:
    """All that the page in the browser is given of a widget now."""
    for part in every(box):
        for name, value in part.get_state().items():
            if (
                value
                and not name.startswith(("_model", "_view", "_dom"))
                and name not in ("layout", "style", "children")
            ):
                yield from map(str, value if isinstance(value, tuple | list) else (value,))


def moved(box) -> str:
    """What the page is given as a person tries every control of the widget: each choice, number and button."""
    import ipywidgets as w

    found = dict.fromkeys(told_to_page(box))
    for part in list(every(box)):
        if isinstance(part, w.Checkbox) and part.description != "Redact":
            part.value = not part.value
            found |= dict.fromkeys(told_to_page(box))
        elif isinstance(part, w.Select | w.Dropdown | w.ToggleButtons):
            for at in range(min(len(part.options), 60)):
                if at < len(part.options):
                    part.index = at
                    found |= dict.fromkeys(told_to_page(box))
        elif isinstance(part, w.IntSlider | w.BoundedIntText):
            for at in range(part.min, part.max + 1, 35 if isinstance(part, w.IntSlider) else 7):
                part.value = at
                found |= dict.fromkeys(told_to_page(box))
        elif isinstance(part, w.Button) and not part.disabled:
            part.click()
            found |= dict.fromkeys(told_to_page(box))
    return "\n".join(found)


def session_browser(bank, folder, *, redact) -> str:
    from sessionbank.widgets.session_explorer import VIEWS

    found = []
    for one in bank.discover():
        for view in VIEWS:
            box = sb.browse(one, redact=redact)
            next(c for c in every(box) if type(c).__name__ == "ToggleButtons").value = view
            found.append(moved(box))
    return "\n".join(found)


def bank_browser(bank, folder, *, redact) -> str:
    return moved(sb.browse(bank, redact=redact))


def team_browser(bank, folder, *, redact) -> str:
    return moved(sb.browse(sb.team.from_session(bank.get_by_session_id(TEAM)), bank=bank, redact=redact))


def labelling(bank, folder, *, redact) -> str:
    from sessionbank.widgets.labelling import labeller

    box = labeller(list(bank.discover()), folder / "labels.jsonl", show_strategies=True)
    return moved(box)


def _repo(bank) -> Path:
    return Path(re.fullmatch("<SessionBank of (.*)>", repr(bank))[1])


def command_line(bank, folder, *, redact) -> str:
    from typer.testing import CliRunner

    from sessionbank.cli import app

    path = str(folder / "x.jsonl")
    repo = _repo(bank)
    run = CliRunner()
    done = [
        run.invoke(app, words) for words in (["summary", str(repo)], ["export", str(repo), "--out", path])
    ]
    assert [d.exit_code for d in done] == [0, 0]
    return "".join(d.output for d in done)


EXITS = {
    **{f"jsonl {form}": file_of(form) for form in ("sessionbank", "atif", "messages", "canonical")},
    "report": report, "bank html": bank_html, "session html": session_html, "message html": message_html,
    "session browser": session_browser, "bank browser": bank_browser, "team browser": team_browser, "labelling": labelling,
    "command line": command_line,
}  # fmt: skip


@pytest.mark.parametrize("name", EXITS)
def test_nothing_leaves(name, bank, tmp_path, caplog, recwarn) -> None:
    with caplog.at_level(logging.DEBUG):
        told = EXITS[name](bank, tmp_path, redact=True)
    assert len(told) > 100
    n = 0
    for line in told.split("\n"):
        for k, p in PIECES:
            if n < 4 and p in line:
                print("LEAK", name, k, repr(line[max(0, line.index(p) - 150) : line.index(p) + 60]))
                n += 1
                break
    assert seen(told) == []
    assert seen(caplog.text + "\n".join(str(w.message) for w in recwarn)) == []


@pytest.mark.parametrize("name", EXITS)
def test_the_exit_was_looked_at(name, bank, tmp_path) -> None:
    """Without redaction secrets are there: the test above could fail."""
    with sb.redact_views(False):
        assert len(seen(EXITS[name](bank, tmp_path, redact=False))) >= 2
