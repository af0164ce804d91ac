"""Asks other projects' validators whether they accept our ATIF files: `python checkers/run.py FILES...`.

Each checker gets an environment of its own at the versions of `checkers/NAME.txt`, made when first needed, in the
user's cache folder or in CHECKERS_HOME; none of them is a dependency of sessionbank. A file is one JSON document, or
JSONL with one document a line. Prints a table and what was refused. What each checker is asked is in `ask.py`.

Exit: 0 all accepted, 1 something was refused, 2 a wrong call, 3 a checker could not be installed.
A checker for which there is no Python is skipped, with the reason, and does not change the exit.
Paths of pictures are not looked up: a document is checked apart from the folder that it came from.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
CANNOT_INSTALL = 3  # exit code
OLDEST_PYTHON = {"atif": (3, 11), "agentpile": (3, 11), "harbor": (3, 12)}
TIME_LIMIT_S = 600
SHOWN_FAULTS = 20
SHOWN_LENGTH = 500


class CannotInstallError(Exception):
    """pip could not bring a checker; the message is what it said."""


@dataclass(frozen=True)
class Document:
    """One document of a file, or the reason why there is none; `place` names it to a person."""

    place: str
    data: bytes
    steps: int
    fault: str | None = None


@dataclass(frozen=True)
class Verdict:
    """One row of the table, and what was refused."""

    checker: str
    version: str
    documents: int
    result: str
    faults: tuple[str, ...] = ()


def cache_folder() -> Path:
    """Where the environments are kept; never inside the checkout by default."""
    if os.environ.get("CHECKERS_HOME"):
        return Path(os.environ["CHECKERS_HOME"])
    if sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "sessionbank-checkers"


def python_version(command: str) -> tuple[int, int] | None:
    """(major, minor) of a Python, or None where it does not start: a launcher may be there for a Python that is not."""
    code = "import sys, venv, ensurepip; print(*sys.version_info[:2])"
    try:
        done = subprocess.run([command, "-c", code], capture_output=True, text=True, timeout=30, check=True)
        major, minor = done.stdout.split()
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return int(major), int(minor)


def pythons() -> Iterator[str]:
    """Pythons to try: this one, those on the path, those of pyenv."""
    yield sys.executable
    for minor in (13, 12, 14, 11):
        found = shutil.which(f"python3.{minor}")
        if found:
            yield found
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from sorted((str(p) for p in versions.glob("3.1[1-9]*/bin/python")), reverse=True)


def find_python(oldest: tuple[int, int]) -> str | None:
    """A Python that is new enough and starts, or None."""
    return next((p for p in pythons() if (python_version(p) or (0, 0)) >= oldest), None)


def environment(checker: str, python: str) -> Path:
    """The interpreter of the checker's environment, which is made where it is not there yet.

    It is made under a temporary name and moved into place, so that two runs at once do no harm and one that was broken
    off leaves nothing half made. Raises `CannotInstallError`.
    """
    lock = HERE / f"{checker}.txt"
    key = hashlib.sha256(lock.read_bytes() + repr(python_version(python)).encode()).hexdigest()[:12]
    home = cache_folder()
    ready = home / f"{checker}-{key}"
    if not ready.is_dir():
        home.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix=f"making-{checker}-", dir=home))
        try:
            subprocess.run([python, "-m", "venv", str(making)], check=True, capture_output=True, text=True)
            # --no-deps: exactly what the lock names, and for Harbor no more than its validator needs
            pip = [
                str(making / "bin" / "python"),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ]
            subprocess.run([*pip, "--no-deps", "-r", str(lock)], check=True, capture_output=True, text=True)
            try:
                making.rename(ready)
            except OSError:
                if not ready.is_dir():  # else another run was first, and its environment serves as well
                    raise
        except subprocess.CalledProcessError as error:
            raise CannotInstallError(f"{checker}: {error.stderr.strip() or error}") from error
        finally:
            shutil.rmtree(making, ignore_errors=True)
    return ready / "bin" / "python"


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
    steps = value.get("steps") if isinstance(value, dict) else None
    return Document(place, data, len(steps) if isinstance(steps, list) else 0)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def ask(checker: str, interpreter: Path, asked: Sequence[Document]) -> tuple[str, ...]:
    """What a checker refuses of the documents, each fault with its place; empty when it accepts all."""
    with tempfile.TemporaryDirectory(prefix="sessionbank-checkers-") as folder:
        names = {f"{number:06}.json": document for number, document in enumerate(asked)}
        for name, document in names.items():
            Path(folder, name).write_bytes(document.data)
        command = [str(interpreter), "-I", "-X", "utf8", str(HERE / "ask.py"), checker, folder]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, encoding="utf-8", timeout=TIME_LIMIT_S
            )
        except subprocess.TimeoutExpired:
            return (f"no answer within {TIME_LIMIT_S} s",)
    if done.returncode:
        return (f"the checker did not run: {done.stderr.strip()}",)
    answers = {answer["name"]: answer for answer in map(json.loads, done.stdout.splitlines())}
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


def shown(fault: str) -> str:
    """A fault as one line that is safe in a terminal: it may quote a transcript."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in fault)
    return line if len(line) <= SHOWN_LENGTH else line[:SHOWN_LENGTH] + "…"


def pinned_version(checker: str) -> str:
    """The version that the lock names."""
    match = re.search(
        rf"^{re.escape(checker)}==(\S+)$", (HERE / f"{checker}.txt").read_text("utf-8"), re.MULTILINE
    )
    if match is None:
        raise ValueError(f"checkers/{checker}.txt does not pin {checker}")
    return match[1]


def check(checker: str, given: Sequence[Document]) -> Verdict:
    """Ask one checker. Raises `CannotInstallError`."""
    version = pinned_version(checker)
    oldest = OLDEST_PYTHON[checker]
    python = find_python(oldest)
    if python is None:
        wanted = ".".join(map(str, oldest))
        return Verdict(
            checker, version, len(given), f"skipped: no Python >= {wanted} on the path or under pyenv"
        )
    interpreter = environment(checker, python)
    unreadable = tuple(f"{d.place}: {d.fault}" for d in given if d.fault)
    readable = [d for d in given if not d.fault]
    faults = unreadable + (ask(checker, interpreter, readable) if readable else ())
    return Verdict(checker, version, len(given), "REFUSED" if faults else "accepted", faults)


def table(verdicts: Sequence[Verdict]) -> str:
    """The verdicts as lines of text, in columns."""
    rows = [("checker", "version", "documents", "result")]
    rows += [(v.checker, v.version, str(v.documents), v.result) for v in verdicts]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(
        description="Ask other projects' validators whether they accept ATIF files."
    )
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="ATIF: one JSON document, or JSONL"
    )
    parser.add_argument(
        "--only", choices=sorted(OLDEST_PYTHON), action="append", help="ask this checker (repeatable)"
    )
    options = parser.parse_args(arguments)
    for path in options.files:
        if not path.is_file():
            parser.error(f"no such file: {path}")  # exit 2
    given = [document for path in options.files for document in documents(path)]
    try:
        verdicts = [check(checker, given) for checker in options.only or OLDEST_PYTHON]
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
