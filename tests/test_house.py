"""The house stands as DESIGN says: floors, names, docstrings, a light import, and commands that exist."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from scripts import house

HEAVY = {
    "genai_prices",
    "IPython",
    "ipywidgets",
    "matplotlib",
    "networkx",
    "numpy",
    "pandas",
    "pyarrow",
    "sklearn",
}


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_rooms_import_only_from_below(root: Path) -> None:
    done = lint_imports(root)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("records.py", "from sessionbank import bank"),  # up
        ("plot/extra.py", "import sessionbank.bank"),  # across
        ("errors.py", "def f():\n    from sessionbank.tables import x"),  # up, inside a function
        ("newroom.py", "x = 1"),  # a room without a floor
    ],
)
def test_contract_refuses(root: Path, tmp_path: Path, module: str, line: str) -> None:
    shutil.copy(root / "pyproject.toml", tmp_path)
    for name in ("errors", "schema", "records", "tables", "bank", "plot"):
        (tmp_path / "sessionbank" / name).mkdir(parents=True)
        (tmp_path / "sessionbank" / name / "__init__.py").touch()
    (tmp_path / "sessionbank" / "__init__.py").touch()
    (tmp_path / "sessionbank" / "tables" / "x.py").touch()
    assert lint_imports(tmp_path).returncode == 0
    path = tmp_path / "sessionbank" / module
    if path.with_suffix("").is_dir():
        path = path.with_suffix("") / "__init__.py"
    path.write_text(line + "\n", encoding="utf-8")
    assert lint_imports(tmp_path).returncode == 1


def test_house_rules_hold(root: Path) -> None:
    assert len(list(house.modules(root))) > 5
    assert house.faults(root) == []


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("sessionbank/utils.py", '"""Doc."""\n', "utils is no name"),
        ("sessionbank/common/x.py", '"""Doc."""\n', "common is no name"),
        ("sessionbank/_helpers.py", '"""Doc."""\n', "helpers is no name"),
        ("tests/x.py", "x = 1\n", "no docstring"),
        ("sessionbank/long.py", '"""Doc."""\n' + "x = 1\n" * 450, "451 lines"),
        ("scripts/broken.py", "def (:\n", "line 1"),
    ],
)
def test_house_rules_refuse(tmp_path: Path, name: str, text: str, fault: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / name).with_name("__init__.py").write_text('"""Doc."""\n', encoding="utf-8")
    assert any(fault in found for found in house.faults(tmp_path))


def test_house_rules_refuse_a_room_that_is_no_package(tmp_path: Path) -> None:
    (tmp_path / "sessionbank" / "tables").mkdir(parents=True)
    for name in ("__init__.py", "tables/x.py"):
        (tmp_path / "sessionbank" / name).write_text('"""Doc."""\n', encoding="utf-8")
    assert house.faults(tmp_path) == ["sessionbank/tables: no __init__.py"]


def test_house_rules_refuse_a_path_of_the_machine(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "page.md").write_text(f"see {tmp_path}/data\n", encoding="utf-8")
    (tmp_path / "other.md").write_text("see data/\n", encoding="utf-8")
    assert house.faults(tmp_path) == ["page.md: holds a path of this machine"]


def test_import_is_light() -> None:
    code = "import sys, sessionbank; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "sessionbank" in loaded
    assert HEAVY.intersection(loaded) == set()


def test_lock_is_complete_and_portable(root: Path) -> None:
    lines = [line for line in (root / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pinned = [re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!]+)", line) for line in lines]
    assert all(pinned), "a line that is not name==version"
    names = {re.sub(r"[-_.]+", "-", match[1]).lower() for match in pinned if match}
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(w for extra in project["optional-dependencies"].values() for w in extra),
    ]
    missing = {re.sub(r"[-_.]+", "-", re.split(r"[\[><=!~; ]", want)[0]).lower() for want in wanted} - names
    assert missing == {"sessionbank"}  # its own extra


def test_version_is_told_once_and_logged(root: Path) -> None:
    version = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f"## {version}" in (root / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("target", ["demo", "test", "lint", "docs", "bench", "lab", "lock", "clean"])
def test_make_knows_its_targets(root: Path, tmp_path: Path, target: str) -> None:
    # -n says what would be done and does none of it; from another folder, since any must do
    command = ["make", "-n", "-f", str(root / "Makefile"), target]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_commands_of_the_pages_exist(root: Path) -> None:
    """Each `make X` of README and CONTRIBUTING is a target."""
    targets = set(re.findall(r"^([a-z]+):", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in ("README.md", "CONTRIBUTING.md"):
        path = root / page
        assert path.is_file(), f"{page} is missing"
        said = set(re.findall(r"(?:^|`)make ([a-z]+)", path.read_text(encoding="utf-8"), re.MULTILINE))
        assert said, f"{page} names no command"
        assert said <= targets, f"{page} names commands that the Makefile does not have"
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme
