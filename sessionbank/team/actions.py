"""What a step did, read off its action and its result: the kind of action, its target, whether it failed.

Scores and folds build on this. Nothing is weighed here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Protocol

from sessionbank.team.identifiers import arguments

KINDS = ("write", "commit", "check", "run", "read", "coordinate", "respond", "other")


class StepLike(Protocol):
    """What this room asks of a step; a `TeamStep` and a step of a trajectory both have it."""

    @property
    def step(self) -> int: ...  # noqa: D102
    @property
    def thought(self) -> str | None: ...  # noqa: D102
    @property
    def action_name(self) -> str: ...  # noqa: D102
    @property
    def action_input(self) -> str | None: ...  # noqa: D102
    @property
    def observation(self) -> str | None: ...  # noqa: D102
    @property
    def status(self) -> str | None: ...  # noqa: D102


_BY_NAME = (
    ("respond", re.compile(r"respond|final|answer|finish|submit", re.I)),
    ("coordinate", re.compile(r"task|agent|message|team|spawn|delegat|escalat|signal|broadcast|emit|hand.?over", re.I)),
    ("write", re.compile(r"edit|write|patch|create|replace|insert|delete|save|update", re.I)),
    ("read", re.compile(r"read|view|grep|glob|search|^ls$|list|find|fetch|open|^cat$|look", re.I)),
    ("commit", re.compile(r"commit|merge|push", re.I)),
    ("check", re.compile(r"test|build|lint|compile|check|verif|valid|review", re.I)),
    ("run", re.compile(r"bash|shell|exec|run|command|terminal|code_interpreter", re.I)),
)  # fmt: skip
_COMMIT = re.compile(r"\bgit (?:commit|merge|push|tag)\b")
_CHECK = re.compile(
    r"\b(?:pytest|tox|jest|vitest|tsc|eslint|ruff|mypy|go (?:test|build|vet)|cargo (?:test|build|check|clippy))\b"
)
_RUNNER, _GOAL = (
    re.compile(r"\b(?:npm|pnpm|yarn|make|mix|gradle|mvn)\b"),
    re.compile(r"\b(?:test|build|lint|check)\b"),
)
_PART = re.compile(r"[|;&\n]")
_LOOK = re.compile(
    r"^\s*(?:cd [^&;]+&& *)?(?:cat|ls|head|tail|grep|rg|find|sed -n|git (?:log|diff|status|show)|wc)\b"
)
# Words of failure in what a command printed, and the ways in which the same words say that all is well.
_FAILURE = re.compile(
    r"\b(?:[1-9]\d* (?:failed|failures?|errors?)|FAIL(?:ED|URE)?|Traceback|panic:|[Ee]xception|[Ff]atal|"
    r"[Ee]rror:|ERROR|[A-Z]\w+Error|exit (?:code|status):? [1-9]|[Nn]o tests (?:ran|found|collected)|"
    r"command not found|No such file|[Pp]ermission denied|[Tt]imed out|undefined: )"
)
# One of these stands in whatever the pattern finds; most text holds none and is not searched.
_HINTS = (
    "ail", "FAIL", "rror", "ERROR", "Trace", "panic", "xception", "atal", "exit ", " tests ", " not found", "No such",
    "denied", "imed out", "undefined",
)  # fmt: skip
_TARGETS = ("file_path", "path", "notebook_path", "command", "cmd", "pattern", "query", "url", "to")
_HEAD, _TAIL = 400, 1600  # characters of a result that are searched: what went wrong is told first or last


def action_kind(step: StepLike) -> str:
    """The kind of a step's action, one of `KINDS`, by the name of the tool and, for a shell, by its command."""
    kind = _kind_of_name(step.action_name)
    if kind == "run" and step.action_input:
        command = (arguments(step.action_input) or {}).get("command", step.action_input)
        if _COMMIT.search(command):
            return "commit"
        if _CHECK.search(command) or _asks_runner(command):
            return "check"
        if _LOOK.match(command):
            return "read"
    return kind


def _asks_runner(command: str) -> bool:
    """Whether a part of a command asks a runner (npm, make) for a check; each is read once, however long it is."""
    if not _RUNNER.search(command):
        return False
    for part in _PART.split(command):
        found = _RUNNER.search(part)
        if found and _GOAL.search(part, found.end()):
            return True
    return False


@lru_cache(maxsize=4096)
def _kind_of_name(name: str) -> str:
    return next((kind for kind, pattern in _BY_NAME if pattern.search(name)), "other")


def target(step: StepLike) -> str:
    """What the action was done to: its path, command or first text argument, on one line; empty without one."""
    named = arguments(step.action_input)
    if named is None:
        return " ".join((step.action_input or "").split())
    found = next((named[key] for key in _TARGETS if key in named), None)
    return " ".join((found if found is not None else next(iter(named.values()), "")).split())


def same_try(step: StepLike) -> str:
    """A key that tries of the same thing share: the tool, and its path or the first two words of its command."""
    return f"{step.action_name} {' '.join(target(step).split(' ', 2)[:2])}"


def failure(step: StepLike, *, kind: str | None = None) -> str | None:
    """How a step failed, or None: its status says so ("error", ...), or only what it printed does ("silent").

    Silent failure is looked for where a command was run or checked, not in what was read, since files and pages are
    full of the word.
    """
    if step.status in ("error", "rejected", "interrupted", "no_result"):
        return step.status
    text = step.observation
    if text and (kind or action_kind(step)) in ("check", "run", "commit", "other"):
        if len(text) > _HEAD + _TAIL:
            text = f"{text[:_HEAD]}\n{text[-_TAIL:]}"
        if any(hint in text for hint in _HINTS) and _FAILURE.search(text):
            return "silent"
    return None
