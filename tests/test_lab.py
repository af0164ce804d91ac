"""`sessionbank lab`: a notebook that runs on a repository of one's own, guided ones beside it, a JupyterLab that answers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from typer.testing import CliRunner

from sessionbank import cli, lab
from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude, tool

RUNNER = CliRunner()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository whose name holds a quote, with one session."""
    told = Claude()
    told.prompt("add it")
    told.reply(tool("toolu_1", command="ls"), message_id="m1")
    told.result("toolu_1")
    made = CheckpointRepo(tmp_path / "our 'shop'")
    made.add_checkpoint("0" * 12, sessions=[session(told.session_id, told.bytes())])
    return made.path


def write(repo: Path, folder: Path) -> str:
    done = RUNNER.invoke(cli.app, ["lab", str(repo), "--dir", str(folder), "--only-write"])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_first_notebook_runs_on_the_repository(repo: Path, tmp_path: Path) -> None:
    write(repo, tmp_path / "books")
    book = nbformat.read(tmp_path / "books" / lab.FIRST, as_version=4)
    nbformat.validate(book)
    NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path / "books")}}).execute()
    assert (tmp_path / "books" / "report.html").stat().st_size > 10_000
    shown = json.dumps(book)
    assert "SessionBank of" in shown and "image/png" in shown


def test_what_stands_there_is_kept(repo: Path, tmp_path: Path) -> None:
    books = tmp_path / "books"
    assert "guide/notebooks holds" in write(repo, books)
    assert (books / "guide" / "notebooks" / "00_quickstart.ipynb").is_file()
    assert (books / "guide" / "data" / "shop.bundle").is_file()  # they open ../data/shop.bundle
    (books / lab.FIRST).write_text("mine")
    assert "stands there already and is kept" in write(repo, books)
    assert (books / lab.FIRST).read_text() == "mine"


def test_without_jupyterlab_or_a_bank_nothing_is_written(repo: Path, tmp_path: Path, monkeypatch) -> None:
    done = RUNNER.invoke(cli.app, ["lab", str(tmp_path / "nowhere"), "--dir", str(tmp_path / "books")])
    assert done.exit_code == 1 and not (tmp_path / "books").exists()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = RUNNER.invoke(cli.app, ["lab", str(repo), "--dir", str(tmp_path / "books")])
    assert done.exit_code == 1 and "sessionbank[lab]" in done.output
    assert not (tmp_path / "books").exists()


def test_jupyterlab_answers_on_it(repo: Path, tmp_path: Path) -> None:
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed: pip install 'sessionbank[lab]'")
    write(repo, tmp_path / "books")
    options = [
        "--allow-root",
        "--ip=127.0.0.1",
        "--port=0",
        "--IdentityProvider.token=",
        "--ServerApp.password=",
    ]
    log = tmp_path / "log"
    with log.open("wb") as out:
        started = subprocess.Popen(
            [*lab.command(tmp_path / "books", browser=False), *options], stdout=out, stderr=out, cwd=tmp_path
        )
    try:
        address = None
        until = time.monotonic() + 60
        while address is None and time.monotonic() < until and started.poll() is None:
            found = re.search(r"http://127\.0\.0\.1:\d+/", log.read_text("utf-8", "replace"))
            address = found[0] if found else None
            time.sleep(0.1)
        assert address, log.read_text("utf-8", "replace")[-2000:]
        with urllib.request.urlopen(f"{address}api/contents/{lab.FIRST}?content=0") as answer:
            assert json.load(answer)["name"] == lab.FIRST
    finally:
        started.terminate()
        started.wait(20)


def test_the_command_is_this_python(tmp_path: Path) -> None:
    assert lab.command(tmp_path, browser=True)[:3] == [sys.executable, "-m", "jupyterlab"]
