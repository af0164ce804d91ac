"""Reads what an analyst left in ``output/`` and checks it: every error at once, with file and place.

Files are read once into memory, never through a link, never more than a cap; then checked against their model and
against the input (agents, roles, steps and interactions that they name must exist). A file with an error counts as
not written. What is right stays; filling gaps is for the caller.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from sessionbank.learning import outputs
from sessionbank.learning.filenames import file_stem

M = TypeVar("M", bound=BaseModel)

LARGEST = 16_000_000  # bytes of one output file
MOST = 2_000  # files of one output folder
ALL = 64_000_000  # bytes of all of them


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an output: which file, where in it, and what."""

    file: str
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}{f' at {self.place}' if self.place else ''}: {self.message}"


@dataclass(frozen=True)
class Facts:
    """What outputs may refer to: the agents with their roles, how many steps each has, and the interactions."""

    roles: Mapping[str, str]  # agent_id -> role
    steps: Mapping[str, frozenset[int]]  # agent_id -> numbers of its steps
    interactions: Mapping[str, Mapping[str, Any]]  # interaction_id -> edge as in graph.json


@dataclass
class Outputs:
    """What was read: a value for each file that is right, and what was wrong with the others."""

    agent_credits: outputs.AgentCredits | None = None
    interaction_credits: outputs.InteractionCredits | None = None
    coordination_assessment: outputs.CoordinationAssessment | None = None
    role_lessons: list[outputs.RoleLesson] = field(default_factory=list)
    team_lessons: outputs.TeamLessons | None = None
    meta_observations: outputs.MetaObservations | None = None
    problems: list[Problem] = field(default_factory=list)
    by: dict[str, str] = field(default_factory=dict)  # file -> name of the analyst that wrote it

    @property
    def missing(self) -> list[str]:
        """Output files that are absent or wrong, `role-lessons` among them when no lesson could be read."""
        gone = [name for name in outputs.FILES if getattr(self, attribute(name)) is None]
        return gone if self.role_lessons else [*gone, outputs.ROLE_LESSONS]

    @property
    def is_complete(self) -> bool:
        """Whether every file is there and right."""
        return not self.missing and not self.problems


def attribute(file_name: str) -> str:
    """The attribute of `Outputs` that holds a file of `outputs.FILES`."""
    return file_name.removesuffix(".json").replace("-", "_")


def read_outputs(folder: Path, facts: Facts, *, analyst: str = "unknown") -> Outputs:
    """Reads and checks the folder ``output/`` of a workspace. Never raises for what stands in it."""
    found = Outputs()
    files = read_files(folder, found.problems)
    for name, model in outputs.FILES.items():
        if name not in files:
            found.problems.append(Problem(name, "", "the file was not written"))
            continue
        value = parse(files[name], model, file=name, problems=found.problems)
        if value is None:
            _refuse(found.problems, name, _references_of_broken(files[name], facts))
        elif not _refuse(found.problems, name, _references(value, facts)):
            setattr(found, attribute(name), value)
            found.by[name] = analyst
    lessons = sorted(n for n in files if n.startswith(f"{outputs.ROLE_LESSONS}/") and n.endswith(".json"))
    if not lessons:
        found.problems.append(Problem(outputs.ROLE_LESSONS, "", "no role lesson was written"))
    for name in lessons:
        lesson = parse(files[name], outputs.RoleLesson, file=name, problems=found.problems)
        if lesson is None:
            _refuse(found.problems, name, _references_of_broken(files[name], facts))
        elif not _refuse(found.problems, name, _references(lesson, facts)):
            found.role_lessons.append(lesson)
            found.by[name] = analyst
    return found


def write_outputs(folder: Path, found: Outputs) -> list[str]:
    """Writes the values of `found` as output files, never through a link; returns their names.

    Role lessons are named by agent, encoded.
    """
    from sessionbank.learning.workspace import own_folder
    from sessionbank.sources.locking import write_whole

    written = []
    own_folder(folder)
    own_folder(folder / outputs.ROLE_LESSONS)
    for name in outputs.FILES:
        value = getattr(found, attribute(name))
        if value is not None:
            write_whole(folder / name, dump(value))
            written.append(name)
    for lesson in found.role_lessons:
        name = f"{outputs.ROLE_LESSONS}/{file_stem(lesson.agent_id)}.json"
        write_whole(folder / name, dump(lesson))
        written.append(name)
    return written


def dump(value: BaseModel | Mapping[str, Any]) -> bytes:
    """JSON text for a person: two spaces, stable order, a last newline. Lone surrogates become question marks."""
    data = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace") + b"\n"


def read_files(folder: Path, problems: list[Problem]) -> dict[str, bytes]:
    """Every plain file below `folder`, by its path with ``/``. Links, devices, deep and huge things are only told."""
    found: dict[str, bytes] = {}
    _walk(folder, "", found=found, problems=problems)
    return found


def _walk(folder: Path, prefix: str, *, found: dict[str, bytes], problems: list[Problem]) -> None:
    try:
        if stat.S_ISLNK(folder.lstat().st_mode):
            problems.append(Problem(prefix.rstrip("/") or "output", "", "is a link; links are not followed"))
            return
        names = sorted(p.name for p in folder.iterdir())
    except OSError as error:
        problems.append(Problem(prefix.rstrip("/") or "output", "", f"cannot be listed: {error.strerror}"))
        return
    for name in names:
        label = f"{prefix}{name}".encode("utf-8", "replace").decode()
        if len(found) >= MOST or sum(map(len, found.values())) > ALL:
            problems.append(
                Problem(label, "", f"more than {MOST} files or {ALL:,} bytes; the rest was not read")
            )
            return
        path = folder / name
        try:
            mode = path.lstat().st_mode
        except OSError as error:
            problems.append(Problem(label, "", f"cannot be read: {error.strerror}"))
            continue
        if stat.S_ISDIR(mode) and prefix.count("/") < 3:
            _walk(path, f"{label}/", found=found, problems=problems)
        elif stat.S_ISREG(mode):
            data = _read_plain(path, label, problems)
            if data is not None:
                found[label] = data
        else:
            problems.append(Problem(label, "", "is no plain file; it was not read"))


def _read_plain(path: Path, label: str, problems: list[Problem]) -> bytes | None:
    try:
        # between lstat and open the file may have become a link: open refuses to follow one
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                problems.append(Problem(label, "", "is no plain file; it was not read"))
                return None
            data = stream.read(LARGEST + 1)
    except OSError as error:
        problems.append(Problem(label, "", f"cannot be read: {error.strerror}"))
        return None
    if len(data) > LARGEST:
        problems.append(Problem(label, "", f"is larger than {LARGEST:,} bytes"))
        return None
    return data


def parse(data: bytes, model: type[M], *, file: str, problems: list[Problem]) -> M | None:
    """The bytes as a model, or None with every error added to `problems`."""
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        problems.append(Problem(file, f"line {line}" if line else "", f"is no JSON: {str(error)[:200]}"))
        return None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        told = error.errors(include_url=False, include_context=False, include_input=False)
        problems.extend(Problem(file, ".".join(map(str, item["loc"])), item["msg"]) for item in told)
        return None


def _refuse(problems: list[Problem], file: str, wrong: Iterable[tuple[str, str]]) -> bool:
    added = [Problem(file, place, message) for place, message in wrong]
    problems.extend(added)
    return bool(added)


def _references(value: BaseModel, facts: Facts) -> list[tuple[str, str]]:
    """Places and messages of what a value names and the input does not have."""
    wrong: list[tuple[str, str]] = []
    if isinstance(value, outputs.AgentCredits):
        seen: set[str] = set()
        for i, credit in enumerate(value.credits):
            _agent(credit.agent_id, credit.role, place=f"credits.{i}", facts=facts, wrong=wrong)
            if credit.agent_id in seen:
                wrong.append((f"credits.{i}.agent_id", "this agent has a credit already"))
            seen.add(credit.agent_id)
            for j, step in enumerate(credit.step_attributions):
                place = f"credits.{i}.step_attributions.{j}"
                _step(credit.agent_id, step.step_index, place=place, facts=facts, wrong=wrong)
        wrong.extend(("credits", f"no credit for agent {a!r}") for a in facts.roles if a not in seen)
    elif isinstance(value, outputs.InteractionCredits):
        met: set[str] = set()
        for i, edge in enumerate(value.credits):
            _edges([edge.interaction_id], place=f"credits.{i}.interaction_id", facts=facts, wrong=wrong)
            if edge.interaction_id in met:
                wrong.append((f"credits.{i}.interaction_id", "this interaction has a credit already"))
            met.add(edge.interaction_id)
    elif isinstance(value, outputs.CoordinationAssessment):
        for kind in ("observed_patterns", "observed_anti_patterns"):
            for i, pattern in enumerate(getattr(value, kind)):
                _edges(pattern.interaction_ids, place=f"{kind}.{i}.interaction_ids", facts=facts, wrong=wrong)
                strangers = [r for r in pattern.roles if r not in facts.roles.values()]
                wrong.extend((f"{kind}.{i}.roles", f"no member has the role {r!r}") for r in strangers)
    elif isinstance(value, outputs.RoleLesson):
        _agent(value.agent_id, value.role, place="", facts=facts, wrong=wrong)
        for i, evidence in enumerate(value.evidence):
            _step(value.agent_id, evidence.step_index, place=f"evidence.{i}", facts=facts, wrong=wrong)
    return wrong


def _references_of_broken(data: bytes, facts: Facts) -> list[tuple[str, str]]:
    """The same of a file that does not fit its model, so that its writer hears of all faults at once."""
    wrong: list[tuple[str, str]] = []

    def look(value: Any, place: str, agent: Any) -> None:
        dot = f"{place}." if place else ""
        if isinstance(value, dict):
            agent = value.get("agent_id", agent)
            if isinstance(value.get("agent_id"), str) and isinstance(value.get("role"), str):
                _agent(agent, value["role"], place=place, facts=facts, wrong=wrong)
            if isinstance(agent, str) and type(value.get("step_index")) is int:
                _step(agent, value["step_index"], place=place, facts=facts, wrong=wrong)
            for key in ("interaction_id", "interaction_ids"):
                ids = value.get(key)
                named = [i for i in (ids if isinstance(ids, list) else [ids]) if isinstance(i, str)]
                _edges(named, place=f"{dot}{key}", facts=facts, wrong=wrong)
            for key, inner in value.items():
                look(inner, f"{dot}{key}", agent)
        elif isinstance(value, list):
            for number, inner in enumerate(value):
                look(inner, f"{dot}{number}", agent)

    with suppress(ValueError, RecursionError):
        look(json.loads(data.decode("utf-8-sig")), "", None)
    return wrong


def _agent(agent: str, role: str, *, place: str, facts: Facts, wrong: list[tuple[str, str]]) -> None:
    dot = f"{place}." if place else ""
    if agent not in facts.roles:
        wrong.append((f"{dot}agent_id", f"no member is called {agent!r}"))
    elif facts.roles[agent] != role:
        wrong.append((f"{dot}role", f"{agent!r} has the role {facts.roles[agent]!r}, not {role!r}"))


def _step(agent: str, step: int, *, place: str, facts: Facts, wrong: list[tuple[str, str]]) -> None:
    if agent in facts.roles and step not in facts.steps.get(agent, frozenset()):
        wrong.append((f"{place}.step_index", f"{agent!r} has no step {step}"))


def _edges(ids: Iterable[str], *, place: str, facts: Facts, wrong: list[tuple[str, str]]) -> None:
    wrong.extend((place, f"no interaction is called {i!r}") for i in ids if i not in facts.interactions)
