"""The command line: ``sessionbank summary | tables | export | report | lab | demo``. It prints what tables hold and counts nothing.

What is printed may hold names out of transcripts, so control characters are taken out of every word before it reaches
the terminal.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sessionbank.bank import SessionBank, open_bank
from sessionbank.errors import SessionBankError
from sessionbank.records import Session

if TYPE_CHECKING:
    import pandas as pd

app = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="True tables and trajectories from work with coding agents that Entire captured in git.",
)  # fmt: skip

STDOUT = Path("-")
SAMPLE = Path(__file__).resolve().parent.parent / "data" / "shop.bundle"
COLUMNS = {
    "human_prompts": "human prompts",
    "api_calls": "API calls",
    "tool_calls": "tool calls",
    "tool_errors": "tool errors",
    "input_tokens": "input tokens",
    "cache_creation_tokens": "cache written",
    "cache_read_tokens": "cache read",
    "output_tokens": "output tokens",
}


class Format(StrEnum):
    """Formats of exported trajectories."""

    sessionbank = "sessionbank"
    atif = "atif"
    messages = "messages"
    canonical = "canonical"


def _examples(*lines: str) -> str:
    """The end of a command's help; the sign in front keeps its lines as they are."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def _version(wanted: bool) -> None:
    if wanted:
        from sessionbank import __version__

        typer.echo(f"sessionbank {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version and end")
    ] = False,
) -> None:
    pass


PathArgument = Annotated[
    str, typer.Argument(metavar="PATH", help="a git repository, a .bundle file, or a folder of transcripts")
]
CacheOption = Annotated[
    str | None,
    typer.Option("--cache", metavar="DIR", help="folder for what is kept between runs; 'no' keeps nothing"),
]


def _clear(function: Callable[..., None]) -> Callable[..., None]:
    """Turns a `SessionBankError` into one line on stderr and exit code 1."""

    @wraps(function)
    def run(*args: Any, **named: Any) -> None:
        try:
            function(*args, **named)
        except SessionBankError as error:
            typer.echo(f"error: {printable(str(error))}", err=True)
            raise typer.Exit(1) from None
        except BrokenPipeError:  # whoever read has enough (`| head`)
            _let_go_of_stdout()
        except OSError as error:
            where = "" if error.filename is None else f"{printable(str(error.filename))}: "
            typer.echo(f"error: {where}{error.strerror or error}", err=True)
            if error.filename is None:
                _let_go_of_stdout()  # what is left to print would fail once more at the end
            raise typer.Exit(1) from None

    return run


@app.command(epilog=_examples("sessionbank summary .", "sessionbank summary ~/.claude/projects"))
@_clear
def summary(path: PathArgument, cache: CacheOption = None) -> None:
    """Print what a bank holds: sessions, calls, tokens (naive sums beside the true ones), cost, diagnostics."""
    with _bank(path, cache) as bank:
        _say(summary_lines(bank, shown(path)))


@app.command(
    epilog=_examples("sessionbank tables . --out tables", "duckdb -c \"from 'tables/sessions.parquet'\"")
)
@_clear
def tables(
    path: PathArgument,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="folder for the Parquet files; made if absent")
    ],
    cache: CacheOption = None,
) -> None:
    """Write every table as DIR/<table>.parquet."""
    with _bank(path, cache) as bank:
        for written in bank.to_parquet(out):
            typer.echo(shown(written))


@app.command(
    epilog=_examples(
        "sessionbank export . --out sessions.jsonl",
        "sessionbank export . --out - --format atif --session 4332729f | jq .steps[0]",
    )
)
@_clear
def export(
    path: PathArgument,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="JSONL file to write; - for the standard output")
    ],
    format_: Annotated[Format, typer.Option("--format", help="layout of a line")] = Format.sessionbank,
    session: Annotated[
        list[str] | None,
        typer.Option(
            "--session",
            metavar="ID",
            help="only this session, by its id or the beginning of it; may be repeated",
        ),
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact/--no-redact", help="take out secrets and names of users")
    ] = True,
    cache: CacheOption = None,
) -> None:
    """Write the sessions as trajectories, one a line; secrets are taken out unless told otherwise."""
    with _bank(path, cache) as bank, _target(out) as file:
        told = _export(bank, file, format_.value, only=session or [], redact=redact)
        typer.echo(f"{shown(out)}: {told}", err=out == STDOUT)


@app.command(epilog=_examples("sessionbank report . --out report.html --tz Europe/Oslo"))
@_clear
def report(
    path: PathArgument,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="HTML file to write; - for the standard output")
    ],
    title: Annotated[str, typer.Option("--title", help="its heading")] = "Work with coding agents",
    tz: Annotated[
        str, typer.Option("--tz", metavar="ZONE", help="time zone of the days, as Europe/Oslo")
    ] = "UTC",
    redact: Annotated[
        bool, typer.Option("--redact/--no-redact", help="take out secrets and names of users")
    ] = True,
    cache: CacheOption = None,
) -> None:
    """Write one HTML file to send round: activity, cost, tools, outcomes, teams, and how far figures can be trusted."""
    from sessionbank.report import write_report

    with _bank(path, cache) as bank, _target(out) as file:
        written = write_report(bank, file, title=title, tz=tz, redact=redact)
        typer.echo(f"{shown(out)}: {written.stat().st_size:,} bytes", err=out == STDOUT)


@app.command(epilog=_examples("sessionbank lab ~/work/shop --dir ~/notebooks/shop"))
@_clear
def lab(
    path: Annotated[
        str,
        typer.Argument(metavar="[PATH]", help="a git repository, a .bundle file, or a folder of transcripts"),
    ] = ".",
    dir_: Annotated[
        Path, typer.Option("--dir", metavar="DIR", help="folder for the notebooks; made if absent")
    ] = Path("sessionbank-notebooks"),
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="open a browser window")] = True,
    only_write: Annotated[
        bool, typer.Option("--only-write", help="write the notebooks and start nothing")
    ] = False,
) -> None:
    """Open JupyterLab on notebooks for a repository: one that is made for it, and the guided ones."""
    import subprocess

    from sessionbank.lab import command, prepare

    open_bank(path).close()  # says what is wrong with the path before anything is written
    start = None if only_write else command(dir_, browser=browser)
    for told in prepare(path, dir_):
        typer.echo(f"{shown(dir_)}: {printable(told)}")
    if start is not None:
        raise typer.Exit(subprocess.run(start, check=False).returncode)


@app.command(epilog=_examples("sessionbank demo --out out/demo"))
@_clear
def demo(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="where to write")] = Path("out/demo"),
) -> None:
    """Do the main job on the sample bank: a summary, tables, trajectories and a picture."""
    from sessionbank import plot

    if not SAMPLE.is_file():
        raise SessionBankError(
            "the sample bank data/shop.bundle is not here; run demo from a checkout of sessionbank"
        )
    with open_bank(SAMPLE, cache=False, progress=False) as bank:
        _say(summary_lines(bank, "data/shop.bundle, the invented web shop"))
        typer.echo("\nwritten:")
        files = bank.to_parquet(out / "tables")
        typer.echo(f"  {shown(out / 'tables')}{os.sep}*.parquet: {len(files)} tables")
        for format_ in (Format.sessionbank, Format.atif):
            target = out / f"trajectories.{format_.value}.jsonl"
            typer.echo(f"  {shown(target)}: {_export(bank, target, format_.value, only=[], redact=True)}")
        picture = plot.save(overview(bank), out / "overview.png")
        typer.echo(f"  {shown(picture)}: tokens over time and the way to the true sum")


def overview(bank: SessionBank) -> Any:
    """One figure of two parts: tokens a week by class, and the bridge of output tokens; gives the first axes."""
    import matplotlib

    from sessionbank import plot

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(13.5, 3.9), layout="constrained")
    plot.bridge(bank.explain("output_tokens"), ax=right, column="output_tokens")
    plot.tokens_over_time(bank.totals("day"), ax=left)
    plt.close(figure)
    return left


# -- words of the summary --------------------------------------------------------------------------------------


def summary_lines(bank: SessionBank, name: str) -> Iterator[str]:
    """What a bank holds, as lines of text; every figure is a sum of a table's rows."""
    from sessionbank import redaction

    for label, text in _facts(bank, name):
        said = (
            text if label == "bank" else redaction.shown(text)
        )  # names out of transcripts; a path is the caller's
        yield from textwrap.wrap(
            said, 100, initial_indent=f"{label:<14} ", subsequent_indent=" " * 15, break_on_hyphens=False
        )
    if bank.is_available:
        yield ""
        yield from _naive_and_true(bank, bank.sessions())


def _facts(bank: SessionBank, name: str) -> Iterator[tuple[str, str]]:
    yield "bank", name
    if not bank.is_available:
        yield (
            "checkpoints",
            (
                "none: no Entire checkpoints in this repository. A clone may have left them behind; to bring them: "
                "git fetch origin 'refs/heads/entire/*:refs/heads/entire/*' 'refs/entire/*:refs/entire/*'"
            ),
        )
        return
    sessions, checkpoints, commits = bank.sessions(), bank.checkpoints(), bank.commits()
    linked = commits[commits["resolves"].astype(bool)]
    on_main = linked.loc[linked["on_default_branch"].fillna(False).astype(bool), "commit_sha"].nunique()
    is_there = sessions["transcript_state"] == "present"
    rest = _counted(sessions.loc[~is_there, "transcript_state"])
    yield "layouts", ", ".join(bank.layouts)
    yield "stored", _span(checkpoints["created_at"])
    yield "checkpoints", f"{len(checkpoints):,} in {int(checkpoints['record_count'].sum()):,} records"
    yield "commits", f"{linked['commit_sha'].nunique():,} lead to them, {on_main:,} on the default branch"
    yield "sessions", f"{len(sessions):,}" + (f" (without transcript: {rest})" if rest else "")
    yield "agents", _counted(sessions.loc[is_there, "agent"])
    yield "models", _models(bank)
    yield "tool calls", _statuses(bank)
    yield "cost", _cost(sessions)
    yield "diagnostics", _counted(bank.diagnostics()["code"]) or "none"


def _naive_and_true(bank: SessionBank, sessions: pd.DataFrame) -> Iterator[str]:
    yield f"{'main agent':<16}{'naive sum':>14}{'true':>14}{'times':>8}   {'subagents, apart':>16}"
    for column, words in COLUMNS.items():
        naive, true = int(bank.explain(column)["value"].iloc[0]), int(sessions[column].fillna(0).sum())
        times = f"{naive / true:.2f}" if true else ""
        sub = f"subagent_{column}"
        apart = f"{int(sessions[sub].fillna(0).sum()):,}" if sub in sessions else ""
        yield f"{words:<16}{naive:>14,}{true:>14,}{times:>8}   {apart:>16}".rstrip()


def _span(times: pd.Series) -> str:
    known = times.dropna()
    return f"{known.min():%Y-%m-%d} to {known.max():%Y-%m-%d} (UTC)" if len(known) else "no date"


def _counted(values: pd.Series) -> str:
    counts = values.dropna().value_counts()
    ordered = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
    return ", ".join(f"{name} {n:,}" for name, n in ordered)


def _models(bank: SessionBank) -> str:
    totals = bank.totals("model")
    calls = dict(zip(totals["model"], totals["api_calls"] + totals["subagent_api_calls"], strict=True))
    ordered = sorted(calls.items(), key=lambda item: (-item[1], str(item[0])))
    return (
        ", ".join(f"{m if isinstance(m, str) else 'not recorded'} {n:,}" for m, n in ordered) + " (API calls)"
    )


def _statuses(bank: SessionBank) -> str:
    calls = bank.tool_calls()
    return _counted(calls.loc[calls["inherited_from"].isna(), "status"]) + " (subagents included)"


def _cost(sessions: pd.DataFrame) -> str:
    costs, unpriced = (
        sessions[["cost_usd", "subagent_cost_usd"]],
        int(sessions["uncosted_calls"].fillna(0).sum()),
    )
    known = costs.notna().to_numpy().any()
    words = f"{costs.sum().sum():,.2f} USD, subagents included" if known else "not known: no call has a price"
    return words + (f"; calls without a price: {unpriced:,}" if unpriced else "")


# -- what commands share ---------------------------------------------------------------------------------------


def _bank(path: str, cache: str | None) -> SessionBank:
    return open_bank(path, cache=True if cache is None else False if cache == "no" else cache)


@contextmanager
def _target(out: Path) -> Iterator[Path]:
    """The file to write; for the standard output one of our own, which is passed on when it is whole."""
    if out != STDOUT:
        yield out
        return
    import shutil
    import sys
    import tempfile

    with tempfile.TemporaryDirectory(prefix="sessionbank-") as folder:
        file = Path(folder, "out")
        yield file
        with file.open("rb") as made:
            shutil.copyfileobj(made, sys.stdout.buffer)
            sys.stdout.flush()


def _let_go_of_stdout() -> None:
    """Sends the rest of the standard output nowhere, so that Python does not complain about it at its end."""
    import sys

    try:
        place = sys.stdout.fileno()
    except (OSError, ValueError):  # not a stream of the system's
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, place)
    os.close(nowhere)


def _session(bank: SessionBank, asked: str) -> Session:
    """The session of that id, or the one whose id begins so."""
    from sessionbank.errors import NotFoundError

    found = bank.get_by_session_id(asked)
    if found is not None:
        return found
    alike = [s for s in bank.discover() if asked and s.session_id.startswith(asked)]
    if len(alike) == 1:
        return alike[0]
    what = (
        f"{len(alike)} sessions begin with {asked!r}; write more of it"
        if alike
        else f"no session {asked!r} in this bank"
    )
    raise NotFoundError(f"{what}; the sessions table lists them")


def _export(bank: SessionBank, out: Path, format_: str, *, only: list[str], redact: bool) -> str:
    """Writes the sessions and says in words what was written and what was left out."""
    import warnings

    from sessionbank.trajectory.export import UnredactedWarning, write_jsonl

    wanted = [_session(bank, asked) for asked in only] or list(bank.query(sort="oldest"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnredactedWarning)  # said in the line below
        made = write_jsonl(wanted, out, format=format_, redact=redact)
    words = f"{made.trajectories} trajectories, format {format_}, "
    words += "secrets and names of users taken out" if redact else "NOT redacted: it may hold keys and names"
    return words + (f"; left out, nothing was said in them: {len(made.skipped)}" if made.skipped else "")


def printable(text: str) -> str:
    """The text without control and direction characters, which could move the cursor or hide words."""
    return "".join(c if c.isprintable() or c == " " else "\N{REPLACEMENT CHARACTER}" for c in text)


def shown(path: str | Path) -> str:
    """A path as the user would type it from here: relative where it lies below this folder."""
    try:
        return str(Path(path).absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _say(lines: Iterator[str]) -> None:
    for line in lines:
        typer.echo(printable(line))


if __name__ == "__main__":
    app()
