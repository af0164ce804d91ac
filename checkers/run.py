"""Asks other projects' programs whether they accept what we export: `python checkers/run.py FILES...`, or `--all`.

ATIF is asked of five validators (`ask.py`), chat rows of Hugging Face datasets and of TRL's training templates
(`ask_chat.py`). Each runs in an environment of its own (`environments.py`); none is a dependency of sessionbank. An ATIF
file is one JSON document, or JSONL with one document a line; chat rows are JSONL. `--all` makes the exports of every
sample bank first (`exports.py`); `--write PAGE` writes the table as a page. Prints a table and what was refused.

Exit: 0 all accepted, 1 something was refused, 2 a wrong call, 3 a checker could not be installed.
A checker for which there is no Python is skipped, with the reason, and does not change the exit.
Paths of pictures are not looked up: a document is checked apart from the folder that it came from.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # run as a script, it finds only its own folder

from checkers.environments import (  # noqa: E402
    OLDEST_PYTHON,
    CannotInstallError,
    environment,
    find_python,
    pinned_version,
)
from checkers.exports import Exported, export, sample_banks  # noqa: E402

CANNOT_INSTALL = 3  # exit code
ATIF_CHECKERS = ("harbor", "atif", "nvidia-nat-atif", "agentpile", "atif-scan")
CHAT_CHECKERS = ("datasets", "trl")
GPT_OSS = "gptoss"  # its template takes one call a message and no thinking beside text: chat rows made for it
TIME_LIMIT_S = 1800
SHOWN_FAULTS = 20
SHOWN_LENGTH = 500


@dataclass(frozen=True)
class Document:
    """One document (or chat row) of a file, or the reason why there is none; `place` names it to a person."""

    place: str
    data: bytes
    steps: int
    fault: str | None = None
    is_chat: bool = False


@dataclass(frozen=True)
class Verdict:
    """One row of the table, and what was refused. `unfit`: why a template was not asked; it is then in no table."""

    checker: str
    version: str
    documents: int
    result: str
    faults: tuple[str, ...] = ()
    unfit: str | None = None


def documents(path: Path) -> Iterator[Document]:
    """The documents of a file: the whole of it, or each line, told apart by whether the whole is JSON."""
    data = path.read_bytes()
    try:
        yield _document(str(path), data)
        return
    except ValueError:
        pass
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    if not lines:
        yield Document(str(path), b"", 0, "holds no document")
    for number, line in lines:
        try:
            yield _document(f"{path}:{number}", line)
        except ValueError as error:
            yield Document(f"{path}:{number}", line, 0, f"is not JSON: {error}")


def _document(place: str, data: bytes) -> Document:
    """Raises ValueError where the bytes are no JSON; NaN and Infinity are none, though Python reads them."""
    value = json.loads(data, parse_constant=_refuse)
    if isinstance(value, dict) and "messages" in value and "steps" not in value:
        return Document(place, data, 0, is_chat=True)
    steps = value.get("steps") if isinstance(value, dict) else None
    return Document(place, data, len(steps) if isinstance(steps, list) else 0)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def answers_of(command: Sequence[str]) -> list[dict] | str:
    """What a checker printed, a line of JSON an answer; or why there is none."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", timeout=TIME_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {TIME_LIMIT_S} s"
    if done.returncode:
        return f"the checker did not run: {done.stderr.strip()}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def ask(checker: str, interpreter: Path, asked: Sequence[Document]) -> tuple[str, ...]:
    """What a checker refuses of ATIF documents, each fault with its place; empty when it accepts all."""
    with tempfile.TemporaryDirectory(prefix="sessionbank-checkers-") as folder:
        names = {f"{number:06}.json": document for number, document in enumerate(asked)}
        for name, document in names.items():
            Path(folder, name).write_bytes(document.data)
        said = answers_of([str(interpreter), "-I", "-X", "utf8", str(HERE / "ask.py"), checker, folder])
    if isinstance(said, str):
        return (said,)
    answers = {answer["name"]: answer for answer in said}
    found = []
    for name, document in names.items():
        answer = answers.get(name)
        if answer is None:
            found.append(f"{document.place}: the checker said nothing")
            continue
        found += [f"{document.place}: {fault}" for fault in answer["faults"]]
        # A checker that accepts a document of which it read only a part has not checked it.
        if not answer["faults"] and answer["steps"] != document.steps:
            found.append(
                f"{document.place}: {document.steps} steps were written, {answer['steps']} were read"
            )
    return tuple(found)


def ask_chat(
    checker: str, interpreter: Path, asked: Sequence[Document], *, templates: Sequence[str] = ()
) -> list[Verdict]:
    """What a checker of chat rows says: one verdict, or with trl one a template. All rows go into one file."""
    version = pinned_version(checker)
    with tempfile.TemporaryDirectory(prefix="sessionbank-checkers-") as folder:
        rows = Path(folder, "rows.jsonl")
        # A file may hold one row over many lines; here each has its own.
        rows.write_bytes(b"".join(json.dumps(json.loads(d.data)).encode() + b"\n" for d in asked))
        command = [str(interpreter), "-I", "-X", "utf8", str(HERE / "ask_chat.py"), checker]
        said = answers_of([*command, str(rows), folder, *templates])
    if isinstance(said, str):
        return [Verdict(checker, version, len(asked), "REFUSED", (said,))]
    verdicts = []
    for answer in said:
        name = f"{checker}:{answer['part']}" if answer["part"] else checker
        if answer["unfit"]:
            verdicts.append(Verdict(name, version, 0, "not asked", unfit=answer["unfit"]))
            continue
        faults = []
        for fault in answer["faults"]:
            line, _, why = fault.partition(": ")
            faults.append(f"{asked[int(line) - 1].place}: {why}" if 0 < int(line) <= len(asked) else why)
        if answer["rows"] != len(asked):
            faults.append(f"{len(asked)} rows were written, {answer['rows']} were read")
        verdicts.append(
            Verdict(name, version, len(asked), "REFUSED" if faults else "accepted", tuple(faults))
        )
    if all(v.unfit for v in verdicts):
        verdicts.append(Verdict(checker, version, len(asked), "REFUSED", ("it was asked nothing",)))
    return verdicts


def shown(fault: str) -> str:
    """A fault as one line that is safe in a terminal: it may quote a transcript."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in fault)
    return line if len(line) <= SHOWN_LENGTH else line[:SHOWN_LENGTH] + "…"


def check(checker: str, given: Sequence[Document], *, templates: Sequence[str] = ()) -> list[Verdict]:
    """Ask one checker. Raises `CannotInstallError`."""
    version = pinned_version(checker)
    oldest = OLDEST_PYTHON[checker]
    python = find_python(oldest)
    if python is None:
        wanted = ".".join(map(str, oldest))
        why = f"skipped: no Python >= {wanted} on the path or under pyenv"
        return [Verdict(checker, version, len(given), why)]
    interpreter = environment(checker, python)
    unreadable = tuple(f"{d.place}: {d.fault}" for d in given if d.fault)
    readable = [d for d in given if not d.fault]
    if checker in CHAT_CHECKERS and readable:
        verdicts = ask_chat(checker, interpreter, readable, templates=templates)
        if unreadable:
            verdicts.insert(0, Verdict(checker, version, len(unreadable), "REFUSED", unreadable))
        return verdicts
    faults = unreadable + (ask(checker, interpreter, readable) if readable else ())
    return [Verdict(checker, version, len(given), "REFUSED" if faults else "accepted", faults)]


def check_files(paths: Sequence[Path], only: Sequence[str]) -> list[Verdict]:
    """Ask each checker of the kind that a file is of, or those of `only`. Raises `CannotInstallError`."""
    given = [document for path in paths for document in documents(path)]
    chat = [d for d in given if d.is_chat]
    atif = [d for d in given if not d.is_chat]
    verdicts = []
    for checkers, asked in ((ATIF_CHECKERS, atif), (CHAT_CHECKERS, chat)):
        for checker in checkers:
            if asked and (not only or checker in only):
                verdicts += check(checker, asked)
    return verdicts


def check_exports(made: Sequence[Exported], only: Sequence[str]) -> list[Verdict]:
    """Ask each checker about the exports of banks. Raises `CannotInstallError`."""
    atif = [d for e in made for d in documents(e.atif)]
    chat = [d for e in made for d in documents(e.chat)]
    merged = [d for e in made for d in documents(e.chat_merged)]
    verdicts = []
    for checker in (*ATIF_CHECKERS, *CHAT_CHECKERS):
        if only and checker not in only:
            continue
        if checker == "trl":
            verdicts += check(checker, chat, templates=[f"-{GPT_OSS}"])
            verdicts += check(checker, merged, templates=[GPT_OSS])
        else:
            verdicts += check(checker, chat if checker in CHAT_CHECKERS else atif)
    return verdicts


def table(verdicts: Sequence[Verdict]) -> str:
    """The verdicts as lines of text, in columns; then the templates that were not asked, and why."""
    rows = [("checker", "version", "documents", "result")]
    rows += [(v.checker, v.version, str(v.documents), v.result) for v in verdicts if not v.unfit]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines + [f"not asked: {v.checker}: {shown(v.unfit)}" for v in verdicts if v.unfit])


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(description="Ask other projects' programs whether they accept exports.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="ATIF, or chat rows")
    parser.add_argument(
        "--only", choices=[*ATIF_CHECKERS, *CHAT_CHECKERS], action="append", help="ask this one (repeatable)"
    )
    parser.add_argument("--all", action="store_true", help="export every sample bank, and ask about that")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="with --all: write the table as this page")
    options = parser.parse_args(arguments)
    if options.all == bool(options.files) or (options.write and not options.all):
        parser.error("name files, or --all (which alone goes with --write)")  # exit 2
    for path in options.files:
        if not path.is_file():
            parser.error(f"no such file: {path}")  # exit 2
    only = options.only or []
    try:
        if options.all:
            with tempfile.TemporaryDirectory(prefix="sessionbank-checkers-") as folder:
                made = list(export(sample_banks(), Path(folder)))
                verdicts = check_exports(made, only)
            if options.write:
                from checkers.page import markdown

                options.write.write_text(markdown(made, verdicts), encoding="utf-8")
        else:
            verdicts = check_files(options.files, only)
    except CannotInstallError as error:
        print(f"cannot install {error}", file=sys.stderr)
        return CANNOT_INSTALL
    print(table(verdicts))
    for verdict in verdicts:
        for fault in verdict.faults[:SHOWN_FAULTS]:
            print(f"{verdict.checker}: {shown(fault)}")
        if len(verdict.faults) > SHOWN_FAULTS:
            print(f"{verdict.checker}: and {len(verdict.faults) - SHOWN_FAULTS} more")
    return int(any(verdict.faults for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
