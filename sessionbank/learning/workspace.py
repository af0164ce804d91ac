"""The analysis workspace: a folder with ``input/`` (facts, read only), ``workspace/`` (notes), ``output/`` (results).

Any task that an agent, a program or a person does on files works in one: a manifest names the task and holds a hash of
every input, so a workspace can be resumed, its input checked, and old ones removed. What the inputs of a team's
analysis are is told in `inputs`; nothing here knows of teams.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sessionbank.errors import FormatError, QueryError
from sessionbank.learning.filenames import digest, file_stem
from sessionbank.learning.readback import Problem, read_files
from sessionbank.sources.locking import write_whole

MANIFEST = "manifest.json"
FORMAT = "sessionbank-workspace/1"
FOLDERS = ("input", "workspace", "output", "schemas")


@dataclass(frozen=True)
class TaskTemplate:
    """What is asked of whoever works in a workspace.

    `name` is the domain of the worker's own trajectory (``team-analysis``); `prompt` is the task in words; `schemas`
    are JSON Schemas of the output files by name; `folders` are folders of ``output/`` that the task fills.

    Example:
        >>> task = sb.learning.TaskTemplate("judge", "Read input/, write output/verdict.json.", schemas={})
        >>> sb.learning.Workspace.create("work", task, subject="run-1", files={"run.json": b"{}"}).task
        'judge'
    """

    name: str
    prompt: str
    schemas: Mapping[str, Mapping[str, Any]]
    folders: tuple[str, ...] = ()


@dataclass(frozen=True)
class Workspace:
    """A workspace on disk. `hashes` are the inputs' SHA-256 as made, by path below the folder.

    Example:
        >>> task = sb.learning.TaskTemplate("judge", "Read input/, write output/verdict.json.", schemas={})
        >>> workspace = sb.learning.Workspace.create("work", task, subject="run-1", files={"run.json": b"{}"})
        >>> (workspace.input / "run.json").read_text(), workspace.changed()
        ('{}', [])
        >>> workspace.remove()
    """

    path: Path
    id: str
    task: str
    hashes: Mapping[str, str]
    created_at: datetime

    @property
    def input(self) -> Path:
        """Facts, read only."""
        return self.path / "input"

    @property
    def notes(self) -> Path:
        """The worker's scratch space."""
        return self.path / "workspace"

    @property
    def output(self) -> Path:
        """Where results are written."""
        return self.path / "output"

    @classmethod
    def create(
        cls,
        parent: str | os.PathLike[str],
        template: TaskTemplate,
        *,
        subject: str,
        files: Mapping[str, bytes],
        clock: datetime | None = None,
    ) -> Workspace:
        """Makes a workspace below `parent`, or resumes the one that was made of the same task, subject and input.

        `files` maps a path below ``input/`` (parts joined by ``/``, already plain) to content. The folder appears whole
        or not at all. A resumed workspace keeps its notes and outputs; input that was changed since is written anew.
        """
        wanted = {f"input/{name}": data for name, data in files.items()}
        wanted["TASK.md"] = template.prompt.encode()
        for name, schema in template.schemas.items():
            wanted[f"schemas/{name}"] = (json.dumps(schema, indent=2) + "\n").encode()
        for name in wanted:
            if any(part in ("", ".", "..") for part in name.split("/")) or "\\" in name:
                raise QueryError(f"{name!r} is no path below a workspace")
        hashes = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(wanted.items())}
        identifier = f"{template.name}-{digest(subject + json.dumps(hashes), 16)}"
        home = Path(parent).absolute() / file_stem(identifier)
        if home.exists():
            try:
                found = cls.open(home)
            except FormatError:
                home.rename(_free(home.with_name(f"damaged-{home.name}")))  # kept, and made anew
            else:
                found.restore(wanted)
                return found
        made = cls(home, identifier, template.name, hashes, clock or datetime.now(UTC))
        home.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".making-", dir=home.parent))
        try:
            for folder in (*FOLDERS, *(f"output/{f}" for f in template.folders)):
                (draft / folder).mkdir(parents=True, exist_ok=True)
            for name, data in wanted.items():
                target = draft / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            manifest = {
                "format": FORMAT, "id": identifier, "task": template.name, "subject": subject,
                "created_at": made.created_at.isoformat(), "files": hashes,
            }  # fmt: skip
            (draft / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
            try:
                Path(draft).rename(home)
            except OSError:
                if not home.exists():
                    raise
                return cls.open(home)  # another process made the same one meanwhile
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        made._protect(True)
        return made

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Workspace:
        """A workspace that stands on disk. Raises `FormatError` when there is no manifest of ours."""
        home = Path(path).absolute()
        try:
            value = json.loads((home / MANIFEST).read_bytes())
            if value["format"] != FORMAT:
                raise ValueError(f"format {value['format']!r}")
            created = datetime.fromisoformat(value["created_at"])
            return cls(home, str(value["id"]), str(value["task"]), dict(value["files"]), created)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FormatError(f"{home.name} is no workspace of ours: {error}") from None

    def changed(self) -> list[Problem]:
        """What of the input, the task and the schemas is not as it was made: changed, gone, or added."""
        problems: list[Problem] = []
        present = {f"input/{n}": d for n, d in read_files(self.input, problems).items()}
        for name, wanted in self.hashes.items():
            data = present.pop(name, None)
            if data is None and not name.startswith("input/"):
                data = _plain(self.path / name)
            if data is None:
                problems.append(Problem(name, "", "is gone"))
            elif hashlib.sha256(data).hexdigest() != wanted:
                problems.append(Problem(name, "", "was changed"))
        problems.extend(Problem(name, "", "was added") for name in sorted(present))
        return problems

    def restore(self, files: Mapping[str, bytes]) -> None:
        """Writes input, task and schemas anew where they are not as they were made."""
        wrong = {p.file for p in self.changed()}
        if wrong:
            self._protect(False)
            own_folder(self.input)
            for name in wrong:
                if name in files:
                    for folder in reversed((self.path / name).relative_to(self.path).parents[:-1]):
                        own_folder(self.path / folder)
                    write_whole(self.path / name, files[name])
                elif name.startswith("input/"):
                    with suppress(OSError):
                        (self.path / name).unlink()
            self._protect(True)

    def remove(self) -> None:
        """Deletes the workspace; what its links point to stays."""
        self._protect(False)
        # out of the way first: killed in between, what is left is not taken for a workspace
        gone = _free(self.path.with_name(f".removing-{self.path.name}"))
        self.path.rename(gone)
        shutil.rmtree(gone)

    def _protect(self, on: bool) -> None:
        """Takes away (or gives back) the right to write below ``input/``; a hint, the hashes are the proof."""
        for folder, folders, names in os.walk(self.input):  # follows no links
            for name in names:
                place = Path(folder, name)
                if not place.is_symlink():
                    place.chmod(0o444 if on else 0o644)
            folders.sort()
            Path(folder).chmod(0o555 if on else 0o755)

    def __repr__(self) -> str:
        return f"<Workspace {self.id}: {len(self.hashes)} inputs>"


def own_folder(path: Path) -> None:
    """Makes `path` a real folder: a link or file that a worker put in its place is removed, not followed."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        path.mkdir(parents=True)
        return
    if not stat.S_ISDIR(mode):
        path.unlink()
        path.mkdir()


def prune(parent: str | os.PathLike[str], *, older_than: timedelta, now: datetime | None = None) -> list[str]:
    """Removes workspaces below `parent` that were made longer ago than `older_than`; returns their ids.

    Only folders with a manifest of ours go, and drafts of a workspace that was never finished.

    Example:
        >>> from datetime import timedelta
        >>> task = sb.learning.TaskTemplate("judge", "Read input/, write output/verdict.json.", schemas={})
        >>> workspace = sb.learning.Workspace.create("work", task, subject="run-1", files={"run.json": b"{}"})
        >>> sb.learning.prune("work", older_than=timedelta(days=1))
        []
        >>> sb.learning.prune("work", older_than=timedelta(0)) == [workspace.id]
        True
    """
    limit = (now or datetime.now(UTC)) - older_than
    gone = []
    for folder in sorted(Path(parent).iterdir()) if Path(parent).is_dir() else ():
        if folder.is_symlink() or not folder.is_dir():
            continue
        if folder.name.startswith((".making-", ".removing-")):
            if datetime.fromtimestamp(folder.stat().st_mtime, UTC) < limit:
                shutil.rmtree(folder)
            continue
        with suppress(FormatError):
            found = Workspace.open(folder)
            if found.created_at < limit:
                found.remove()
                gone.append(found.id)
    return gone


def _free(path: Path) -> Path:
    """The path, or with a number where something stands there."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free


def _plain(path: Path) -> bytes | None:
    try:
        return path.read_bytes() if stat.S_ISREG(path.lstat().st_mode) else None
    except OSError:
        return None
