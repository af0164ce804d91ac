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
- what a judge is asked; the memory of `sb.learning`, the folders that an analyst works in, playbooks in every form,
  guidance for a role, recommendations.

Raw by design, so not covered: data frames (an event log is one), Arrow tables and Parquet; records, messages, trajectories
and teams as objects and the repr of a record's parts (they are the stored truth); `session.raw`; what `redact=False`
writes; the compressed text of a team, which is a frame too.
"""

from __future__ import annotations

import html
import json
import logging
import random
import re
import uuid
import warnings
from collections.abc import Callable, Iterator
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


@pytest.fixture(autouse=True)
def figures_are_closed() -> Iterator[None]:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    with mpl.rc_context({"figure.max_open_warning": 0}):
        yield
    plt.close("all")


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


def objects(bank, folder, *, redact) -> str:
    """What a notebook keeps of an object beside its HTML."""
    made = [sb.synthesize(s) for s in bank.discover()]
    things = [bank, bank.query(), *bank.discover(), *made, sb.team.from_session(bank.get_by_session_id(TEAM))]
    things += [m for s in bank.discover() for m in s.messages if "model-" not in str(m.model)]
    return "\n".join(f(x) for x in things for f in (repr, str))


def asked_of_a_judge(bank, folder, *, redact) -> str:
    from sessionbank.trajectory.outcomes.judge import Judge

    asked = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judge = Judge(lambda prompt: asked.append(prompt) or "no", redact=redact, max_chars=10**9)
    for one in bank.discover():
        judge(one)
    return "\n".join(asked)


@pytest.fixture(scope="module")
def memory(bank, tmp_path_factory):
    from sessionbank.learning import Atlas, Memory

    wanted = {
        "session_bank": {"outcome_strategy": "evidence"},
        "team_learning": {"enabled": True, "min_team_trajectories": 1, "keep_workspaces": True},
    }
    atlas = Atlas(bank, Memory(tmp_path_factory.mktemp("memory")), config=wanted)
    assert atlas.ingest_sessions().failed == {}
    assert atlas.run_team_batch().ready
    return atlas.memory


def test_memory_and_the_folders_that_an_analyst_works_in_hold_none(memory) -> None:
    files = [p for p in memory.path.rglob("*") if p.is_file()]
    told = {str(p.relative_to(memory.path)): p.read_text("utf-8", "replace") for p in files}
    assert any(name.startswith("workspaces/") and "/input/" in name for name in told)
    assert [(name, seen(name + text)) for name, text in told.items() if seen(name + text)] == []
    assert sum("REDACTED" in text for text in told.values()) > 10  # something was there to take out


@pytest.mark.parametrize("form", ["markdown", "yaml", "skill", "claude", "codex", "cursor"])
def test_nothing_leaves_with_a_playbook(form, memory, tmp_path) -> None:
    """One that a person wrote secrets into, say."""
    from sessionbank.learning.publish import export

    named = {"name": "\n".join(t for _, _, t in PLANTED), "id": f"team-{NAMES[0]}"}
    books = [book.model_copy(update=named) for book in memory.all("team-playbooks")]

    def left(redact: bool) -> str:
        files = export(books, tmp_path / str(redact), format=form, redact=redact)
        return "\n".join(f"{f.relative_to(tmp_path)}\n{f.read_text('utf-8')}" for f in files)

    assert seen(left(True)) == []
    assert len(seen(left(False))) >= 40


def test_nothing_leaves_with_guidance_or_a_recommendation(memory) -> None:
    from sessionbank.learning import member_config, recommend_team, role_guidance

    told = [role_guidance(memory, role) for role in ("lead", NAMES[6])]
    told += [member_config(memory, "lead", task="Make an agent team")["system_prompt_additions"]]
    found = recommend_team(memory, "Make an agent team of this")
    assert found.basis
    told += [found.to_markdown(), found.to_team_yaml(), found._repr_markdown_()]
    assert seen("\n".join(told)) == []


# -- pictures ----------------------------------------------------------------------------------------------------------


def pictures(bank) -> dict[str, object]:
    """Each function of `plot` on frames of this bank, or on a frame of its own with secrets for names."""
    import pandas as pd

    from sessionbank import plot
    from sessionbank.plot import learning, trajectory
    from sessionbank.trajectory.outcomes.agreement import accuracy, agreement
    from sessionbank.transcripts.support import Cell

    talk, crew = bank.get_by_session_id(MAIN), sb.team.from_session(bank.get_by_session_id(TEAM))
    run, squeezed = sb.team.metrics(crew), sb.team.compress(crew)
    calls, steps, outcomes = bank.tool_calls(), bank.steps(), bank.outcomes()
    names = outcomes.assign(
        strategy=outcomes["strategy"].map(dict(zip(outcomes["strategy"].unique(), NAMES, strict=False)))
    )
    cells = [Cell("sessions", "branch", NAMES[0], "recorded", "x", True)]
    lines = pd.DataFrame({
        "line_id": NAMES, "text": [t for _, _, t in PLANTED[: len(NAMES)]], "direction": "do", "standing": "tentative",
        "confidence": 0.5, "runs": 3, "runs_for": 2, "runs_against": 1,
    })  # fmt: skip
    credits = pd.DataFrame(
        {"agent_id": NAMES, "role": NAMES[::-1], "contribution_score": 0.4, "role_assessment": "x"}
    )
    options = pd.DataFrame(
        {
            "team": [f"1 {n}" for n in NAMES],
            "topology": NAMES,
            "runs": 2,
            "estimate": 0.5,
            "low": 0.2,
            "high": 0.8,
        }
    )
    forecasts = pd.DataFrame({"run": 1, "forecaster": NAMES, "forecast": 0.5, "base_rate": 0.4, "score": 1.0})
    skill = pd.DataFrame({"forecaster": NAMES, "gain": 0.1, "low": 0.0, "high": 0.2})
    shown = calls.groupby("tool_name").head(1)
    return {
        "attribution_by_commit": plot.attribution_by_commit(bank.attribution(), bank.commits()),
        "cost_by_commit": plot.cost_by_commit(bank.totals("checkpoint"), bank.commits()),
        "compression_sizes": plot.compression_sizes(squeezed.agents),
        "compression_frontier": plot.compression_frontier(sb.team.frontier(crew)),
        "context_growth": plot.context_growth(plot.context_growth_data(bank.get_by_session_id(TEAM))),
        "line_support": plot.line_support(lines, top=60),
        "support_matrix": plot.support_matrix(plot.support_matrix_data(cells, {NAMES[1]: ("sessions", "branch")})),
        "team_graph": plot.team_graph(crew.interactions(), members=list(run.members["agent_id"])),
        "team_timeline": plot.team_timeline(sb.team.member_time(crew), run.interactions),
        "handover_matrix": plot.handover_matrix(run.handover),
        "member_cost": plot.member_cost(run.members),
        "score_profile": plot.score_profile(sb.team.score(crew).steps),
        "session_timeline": plot.session_timeline(bank.messages()[lambda f: f["session_id"].eq(MAIN)], calls[calls["session_id"].eq(MAIN)]),
        "bridge": plot.bridge(bank.explain("output_tokens"), column="output_tokens"),
        "naive_and_true": plot.naive_and_true(plot.naive_and_true_data({"output_tokens": bank.explain("output_tokens")})),
        "reconcile_scopes": plot.reconcile_scopes(bank.reconcile()),
        "cost_by_model": plot.cost_by_model(bank.totals("model")),
        "tokens_over_time": plot.tokens_over_time(bank.totals("day")),
        "tools_by_status": plot.tools_by_status(shown, top=60),
        "messages_by_kind": plot.messages_by_kind(bank.messages()),
        "trajectory_timeline": trajectory.trajectory_timeline(steps[steps["session_id"].eq(talk.session_id)]),
        "step_funnel": trajectory.step_funnel(steps),
        "outcome_labels": trajectory.outcome_labels(names),
        "outcome_agreement": trajectory.outcome_agreement(agreement(names)),
        "outcome_accuracy": trajectory.outcome_accuracy(accuracy(names, {MAIN: "success", TEAM: "failure"})),
        "agent_credits": learning.agent_credits(credits),
        "team_options": learning.team_options(options),
        "forecast_gain": learning.forecast_gain(forecasts),
        "forecast_skill": learning.forecast_skill(skill),
    }  # fmt: skip


def drawn(bank, folder, *, redact) -> str:
    """Every text in the figures, their alt texts, and the files that are saved."""
    from matplotlib.text import Text
    from PIL import Image

    from sessionbank import plot
    from sessionbank.plot.saving import svg

    found = []
    for name, ax in pictures(bank).items():
        figure = ax.get_figure(root=True)
        found += [t.get_text() for t in figure.findobj(Text)]
        found += [plot.alt_text(ax), svg(ax), svg(ax, as_text=True)]
        if name in ("tools_by_status", "team_graph"):
            with Image.open(plot.save(ax, folder / f"{name}.png")) as image:
                found.append(str(image.info))
    return "\n".join(found)


def test_every_picture_is_drawn(bank) -> None:
    import importlib
    import inspect
    import pkgutil

    from sessionbank import plot

    functions = set()
    for module in pkgutil.iter_modules(plot.__path__):
        for name, thing in vars(importlib.import_module(f"sessionbank.plot.{module.name}")).items():
            is_ours = inspect.isfunction(thing) and thing.__module__.startswith("sessionbank.plot.")
            is_plain = module.name in ("style", "saving", "themes") or name.startswith("_")
            if is_ours and not is_plain and "ax" in inspect.signature(thing).parameters:
                functions.add(name)
    assert functions <= set(pictures(bank))


EXITS = {
    **{f"jsonl {form}": file_of(form) for form in ("sessionbank", "atif", "messages", "canonical")},
    "report": report, "bank html": bank_html, "session html": session_html, "message html": message_html,
    "session browser": session_browser, "bank browser": bank_browser, "team browser": team_browser, "labelling": labelling,
    "command line": command_line, "objects": objects, "judge": asked_of_a_judge, "pictures": drawn,
}  # fmt: skip


@pytest.mark.parametrize("name", EXITS)
def test_nothing_leaves(name, bank, tmp_path, caplog, recwarn) -> None:
    with caplog.at_level(logging.DEBUG):
        told = EXITS[name](bank, tmp_path, redact=True)
    assert len(told) > 100
    assert seen(told) == []
    assert seen(caplog.text + "\n".join(str(w.message) for w in recwarn)) == []


@pytest.mark.filterwarnings("ignore:constrained_layout")  # whole keys are long labels
@pytest.mark.parametrize("name", EXITS)
def test_the_exit_was_looked_at(name, bank, tmp_path) -> None:
    """Without redaction secrets are there: the test above could fail."""
    with sb.redact_views(False):
        told = seen(EXITS[name](bank, tmp_path, redact=False))
    assert len(told) >= (0 if name == "objects" else 2)


# -- what only looks like a secret -----------------------------------------------------------------------------------

LOOKALIKES = (
    "commit {sha1}", "index {sha7}..{sha7}", "sha256:{sha256}", "integrity sha512-{base64}", "toolu_{word}", "msg_{word}",
    "req_{word}", "session {uuid}", "sessions/{uuid}.jsonl", "etag W/{sha7}", "image@sha256:{sha256}", "request_id={uuid}",
    "go.sum h1:{base64}", "key: {sha1}", "cache key {sha256}", "trace id {hex32}", "id = {number}", "class A{word}Factory:",
    "def test_{snake}():", "https://x.dev/c/{sha1}", "data-v-{sha7}", "const {camel} = useState()", "CSS #{hex6}", "{ulid}",
)  # fmt: skip


def lookalikes(count: int = 1200) -> list[tuple[str, str]]:
    """(what should stay, the line around it): ids, hashes and names in code, as they stand in transcripts."""
    draw = random.Random(11)

    def some(n: int, letters: str) -> str:
        return "".join(draw.choice(letters) for _ in range(n))

    hexa, word = "0123456789abcdef", "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    parts = (
        "order",
        "total",
        "cart",
        "retry",
        "index",
        "parse",
        "token",
        "user",
        "secret",
        "key",
        "page",
        "state",
    )
    made = []
    for n in range(count):
        values = {
            "sha1": some(40, hexa), "sha7": some(7, hexa), "sha256": some(64, hexa), "hex32": some(32, hexa), "hex6": some(6, hexa),
            "base64": some(43, word + "+/") + "=", "word": "01" + some(22, word), "number": some(12, "123456789"),
            "uuid": str(uuid.UUID(int=draw.getrandbits(128), version=4)), "ulid": "01" + some(24, "0123456789ABCDEFGHJKMNPQRSTVWXYZ"),
            "snake": "_".join(draw.choice(parts) for _ in range(4)),
            "camel": "".join(draw.choice(parts).capitalize() for _ in range(4)),
        }  # fmt: skip
        line = LOOKALIKES[n % len(LOOKALIKES)]
        names = re.findall(r"{(\w+)}", line)
        made.append((values[names[0]], line.format(**values)))
    return made


def test_what_only_looks_random_survives(tmp_path) -> None:
    """Through an export and a view, each in a session of fifty such lines among the planted secrets of one kind."""
    from sessionbank.redaction import shown_all

    given = lookalikes()
    claude = Claude(MAIN)
    for n in range(0, len(given), 50):
        lines = "\n".join(line for _, line in given[n : n + 50])
        claude.prompt(f"Look:\n{lines}\n{PLANTED[n // 50][2]}")
        claude.reply(tool(f"t{n}", "Bash", command="cat log"), message_id=f"m{n}", stop="tool_use")
        claude.result(f"t{n}", lines)
        claude.reply("Seen.", message_id=f"r{n}")
    repo = CheckpointRepo(tmp_path / "repo")
    repo.add_checkpoint("0123456789ab", sessions=[session(MAIN, transcript=claude.bytes())])
    with opened(repo.path, tmp_path) as bank:
        for form in ("sessionbank", "atif", "messages", "canonical"):
            text = sb.write_jsonl(bank.discover(), tmp_path / f"{form}.jsonl", format=form).path.read_text(
                "utf-8"
            )
            kept = [text.count(json.dumps(line)[1:-1]) >= 2 for _, line in given]
            assert sum(kept) / len(kept) >= 0.95, (
                form,
                [x for (_, x), k in zip(given, kept, strict=True) if not k][:5],
            )
    views = shown_all(line for _, line in given)
    assert sum(v == line for v, (_, line) in zip(views, given, strict=True)) / len(given) >= 0.95
