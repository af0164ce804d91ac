"""Rules of the house that no linter knows: names and length of modules, their docstrings, no path of this machine.

Run by `make lint`; prints each fault and exits 1 if there is one. What imports what is import-linter's part.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CODE = ("sessionbank", "tests", "scripts", "checkers", "benchmarks", "data")
MAX_LINES = 450
MAX_TEST_LINES = 700  # a test module is a list of cases, which may be long and still one idea
# A name that says nothing gathers what has no place.
FORBIDDEN = frozenset(
    {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers", "stuff", "lib"}
)


def modules(root: Path) -> Iterator[Path]:
    """Every Python file of the house under `root`, sorted."""
    for folder in CODE:
        yield from sorted((root / folder).rglob("*.py"))
    yield from sorted(root.glob("*.py"))


def module_faults(path: Path, name: str) -> Iterator[str]:
    """What is wrong with one module; `name` is how it is called in the message."""
    said_nothing = FORBIDDEN.intersection([path.stem.strip("_"), path.parent.name.strip("_")])
    if said_nothing:
        yield f"{name}: {', '.join(sorted(said_nothing))} is no name for a module, it does not say what is in it"
    source = path.read_text(encoding="utf-8")
    lines = source.count("\n")
    limit = MAX_TEST_LINES if name.startswith("tests/") else MAX_LINES
    if lines > limit:
        yield f"{name}: {lines} lines, more than {limit}: it holds two ideas"
    try:
        documented = ast.get_docstring(ast.parse(source))
    except SyntaxError as error:
        yield f"{name}: line {error.lineno}: {error.msg}"
    else:
        if not documented:
            yield f"{name}: no docstring that says what it holds"


def bare_folders(root: Path) -> Iterator[str]:
    """Each folder of modules in the package without `__init__.py`: no install brings it, no contract looks into it."""
    for folder in sorted({path.parent for path in (root / "sessionbank").rglob("*.py")}):
        if not (folder / "__init__.py").is_file():
            yield f"{folder.relative_to(root).as_posix()}: no __init__.py"


def machine_paths(root: Path, names: Iterable[str]) -> Iterator[str]:
    """Each of the files `names` under `root` that holds the path of the checkout itself, or of `shared` beside it."""
    paths = [str(root).encode(), str(root.parent / "shared").encode()]
    for name in names:
        path = root / name
        if path.is_file() and any(p in path.read_bytes() for p in paths):
            yield f"{name}: holds a path of this machine"


def files_of_the_house(root: Path) -> list[str]:
    """Files that git tracks or would add, as paths under `root`; empty where there is no repository."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, check=False)
    return sorted(name for name in listed.stdout.decode("utf-8", "surrogateescape").split("\0") if name)


def faults(root: Path) -> list[str]:
    """All faults under `root`, one line each."""
    found = [f for path in modules(root) for f in module_faults(path, path.relative_to(root).as_posix())]
    return found + list(bare_folders(root)) + list(machine_paths(root, files_of_the_house(root)))


def main() -> int:
    """Print the faults of this checkout; 1 if there is one."""
    found = faults(ROOT)
    print("\n".join(found) if found else "house: names, lengths, docstrings and paths are in order")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
