"""The command line: it prints what the tables hold, writes what can be read, and errors are one clear line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sessionbank import cli
from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude

SHOP = "data/shop.bundle"
RUNNER = CliRunner()


def run(*arguments: str, code: int = 0) -> str:
    done = RUNNER.invoke(cli.app, list(arguments))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture
def here(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A repository with one session: 2 prompts, 2 calls, the first on two lines and stored twice."""
    told = Claude()
    told.prompt("one")
    told.reply("thinking", message_id="m1", output=3)
    told.reply("done", message_id="m1", output=10)
    half = told.bytes()
    told.prompt("two")
    told.reply("done", message_id="m2", output=20, model="model-\x1b[31mred")
    repo = CheckpointRepo(tmp_path / "small")
    for number, data in enumerate((half, told.bytes()), 1):
        repo.add_checkpoint(
            f"{number:012x}",
            sessions=[session(told.session_id, data, created_at=f"2026-02-0{number}T00:00:00Z")],
        )
    return repo.path


def test_report_writes_one_file(small: Path, here: Path) -> None:
    told = run("report", str(small), "--out", "out/report.html", "--title", "A <b> & c")
    assert told.startswith("out/report.html: ")
    text = Path("out/report.html").read_text(encoding="utf-8")
    assert "<h1>A &lt;b&gt; &amp; c</h1>" in text
    assert "Mars" in run("report", str(small), "--out", "x.html", "--tz", "Mars", code=1)


def test_summary_counts_by_hand(small: Path) -> None:
    lines = run("summary", str(small)).splitlines()
    assert "checkpoints    2 in 2 records" in lines
    assert "stored         2026-02-01 to 2026-02-02 (UTC)" in lines
    figures = {line[:16].strip(): line[16:].split() for line in lines[lines.index("") + 2 :]}
    assert figures["human prompts"] == ["3", "2", "1.50"]
    assert figures["API calls"] == ["5", "2", "2.50", "0"]
    assert figures["output tokens"] == ["46", "30", "1.53", "0"]  # 3 + 10 twice, and 20
    assert "calls without a price: 1" in "\n".join(lines)


def test_control_characters_of_transcripts_do_not_reach_the_terminal(small: Path) -> None:
    printed = run("summary", str(small))
    assert "\x1b" not in printed
    assert "model-\N{REPLACEMENT CHARACTER}[31mred" in printed


def test_summary_of_the_sample_bank_is_its_truth(root: Path) -> None:
    truth = json.loads((root / "data" / "shop.truth.json").read_text(encoding="utf-8"))
    printed = run("summary", str(root / SHOP))
    figures = {line[:16].strip(): line[16:].replace(",", "").split() for line in printed.splitlines()}
    total = truth["total"]
    assert int(figures["human prompts"][1]) == total["human_prompts"]
    assert int(figures["API calls"][1]) == total["api_calls"]
    assert int(figures["output tokens"][1]) == total["tokens"]["output"]
    assert int(figures["cache read"][1]) == total["tokens"]["cache_read"]
    assert int(figures["tool calls"][1]) == sum(total["tool_status"].values())
    assert re.search(rf"^sessions +{truth['counts']['sessions']} ", printed, re.MULTILINE)
    assert re.search(rf"^checkpoints +{truth['counts']['checkpoints']} in ", printed, re.MULTILINE)


def test_a_repository_without_checkpoints_is_no_error(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert "none: no Entire checkpoints in this repository" in run("summary", str(tmp_path))


@pytest.mark.parametrize(
    "arguments",
    [
        ("summary", "no/such/place"),
        ("tables", "no/such/place", "--out", "x"),
        ("export", "no/such/place", "--out", "x"),
    ],
)
def test_a_wrong_path_is_one_line_and_exit_code_1(here: Path, arguments: tuple[str, ...]) -> None:
    done = RUNNER.invoke(cli.app, list(arguments))
    assert done.exit_code == 1
    assert done.stderr.startswith("error: no/such/place")
    assert done.stderr.count("\n") == 1
    assert not Path("x").exists()


def test_tables_writes_every_table(here: Path, small: Path) -> None:
    import pyarrow.parquet as pq

    printed = run("tables", str(small), "--out", "t").split()
    assert all(name == f"t{os.sep}{Path(name).stem}.parquet" for name in printed)
    assert {"sessions", "messages", "token_usage"} <= {Path(name).stem for name in printed}
    usage = pq.read_table("t/token_usage.parquet").to_pylist()
    assert sorted(row["output_tokens"] for row in usage) == [10, 20]


@pytest.mark.parametrize("format_", ["sessionbank", "atif", "messages"])
def test_export_writes_a_line_a_trajectory(here: Path, small: Path, format_: str) -> None:
    assert run("export", str(small), "--out", "deep/x.jsonl", "--format", format_).startswith(
        f"deep{os.sep}x.jsonl: 1 trajectories, format {format_}, secrets"
    )
    lines = Path("deep/x.jsonl").read_text(encoding="utf-8").splitlines()
    assert len([json.loads(line) for line in lines]) == 1


def test_export_takes_sessions_and_says_when_it_does_not_redact(here: Path, small: Path) -> None:
    sid = Claude().session_id
    assert "NOT redacted" in run("export", str(small), "--out", "x.jsonl", "--session", sid, "--no-redact")
    done = RUNNER.invoke(cli.app, ["export", str(small), "--out", "y.jsonl", "--session", "nope"])
    assert (done.exit_code, done.stderr.split(";")[0]) == (1, "error: no session 'nope' in this bank")
    assert not Path("y.jsonl").exists()


def test_an_unknown_format_is_refused(here: Path, small: Path) -> None:
    assert RUNNER.invoke(cli.app, ["export", str(small), "--out", "x", "--format", "xml"]).exit_code == 2


def test_demo_does_the_main_job_and_says_where(here: Path) -> None:
    printed = run("demo")
    told = re.findall(r"^  (\S+): ", printed, re.MULTILINE)
    assert told[0] == str(Path("out/demo/tables/*.parquet"))
    assert [Path(name).name for name in told[1:]] == [
        "trajectories.sessionbank.jsonl",
        "trajectories.atif.jsonl",
        "overview.png",
    ]
    assert all(Path(name).stat().st_size > 10_000 for name in told[1:])
    assert len(list(Path("out/demo/tables").glob("*.parquet"))) == int(re.search(r"(\d+) tables", printed)[1])
    documents = [json.loads(line) for line in Path(told[2]).read_text(encoding="utf-8").splitlines()]
    assert len(documents) == int(re.search(r"atif\.jsonl: (\d+) trajectories", printed)[1]) > 40
    assert all(d["schema_version"].startswith("ATIF-") for d in documents)
    assert str(here) not in printed
    assert run("demo") == printed  # again into the same folder


def test_demo_without_the_sample_bank_says_so(here: Path, monkeypatch) -> None:
    monkeypatch.setattr(cli, "SAMPLE", here / "missing.bundle")
    done = RUNNER.invoke(cli.app, ["demo"])
    assert done.exit_code == 1
    assert "run demo from a checkout" in done.stderr


def test_help_names_the_commands_and_loads_no_heavy_library() -> None:
    code = (
        "import sys; from sessionbank.cli import app; from typer.testing import CliRunner;"
        "print(CliRunner().invoke(app, ['--help']).output);"
        "print({'pandas', 'pyarrow', 'matplotlib', 'networkx', 'genai_prices'} & set(sys.modules))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert all(f"\n  {name} " in printed for name in ("summary", "tables", "export", "demo"))
    assert printed.strip().endswith("set()")


def test_the_beginning_of_an_id_is_enough_where_one_session_has_it(here: Path, root: Path) -> None:
    shop = str(root / SHOP)
    assert "1 trajectories" in run("export", shop, "--out", "one.jsonl", "--session", "4332729f")
    assert "no session 'zzz'" in run("export", shop, "--out", "x.jsonl", "--session", "zzz", code=1)
    assert "sessions begin with 'e'; write more of it" in run(
        "export", shop, "--out", "x.jsonl", "--session", "e", code=1
    )
    assert not Path("x.jsonl").exists()


def test_a_dash_is_the_standard_output_and_nothing_else_is_there(here: Path, small: Path) -> None:
    command = [sys.executable, "-m", "sessionbank.cli", "export", str(small), "--out", "-", "--cache", "no"]
    done = subprocess.run(command, capture_output=True, check=True, cwd=here)
    assert [json.loads(line)["format"] for line in done.stdout.splitlines()] == ["sessionbank-trajectory"]
    assert b"1 trajectories" in done.stderr
    assert list(here.glob("-*")) == []
    report = subprocess.run([*command[:3], "report", *command[4:]], capture_output=True, check=True, cwd=here)
    assert report.stdout.startswith(b"<!") and report.stdout.rstrip().endswith(b"</html>")


def test_a_reader_who_has_enough_is_no_error(here: Path, small: Path) -> None:
    command = [sys.executable, "-m", "sessionbank.cli", "report", str(small), "--out", "-", "--cache", "no"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=here) as started:
        assert started.stdout is not None and started.stderr is not None
        started.stdout.read(10)
        started.stdout.close()
        said = started.stderr.read()
        started.stderr.close()
    assert b"Traceback" not in said and b"Broken pipe" not in said


def test_the_cache_lies_where_it_is_asked_for(here: Path, small: Path) -> None:
    run("summary", str(small), "--cache", "kept")
    assert any(Path("kept").rglob("manifest.json"))


def test_printing_to_who_has_enough_or_is_full_is_no_traceback(here: Path, small: Path) -> None:
    command = f"'{sys.executable}' -m sessionbank.cli summary '{small}' --cache no"
    piped = subprocess.run(["bash", "-c", f"{command} | true; exit ${{PIPESTATUS[0]}}"], capture_output=True)
    assert (piped.returncode, piped.stderr) == (0, b"")
    if Path("/dev/full").exists():
        full = subprocess.run(["bash", "-c", f"{command} > /dev/full"], capture_output=True)
        assert (full.returncode, full.stderr) == (1, b"error: No space left on device\n")


@pytest.mark.parametrize("command", ["summary", "tables", "export", "report", "lab", "demo"])
def test_help_of_each_command_ends_with_examples(command: str) -> None:
    end = run(command, "--help").partition("Examples:\n")[2].splitlines()
    assert end and end[0].startswith(f"    sessionbank {command}")


def test_the_version_is_printed() -> None:
    import importlib.metadata

    assert run("--version") == f"sessionbank {importlib.metadata.version('sessionbank')}\n"
