"""Playbooks as files that people and agents read: Markdown, YAML, a Claude Code skill, rules for Codex and Cursor.

Texts come from transcripts: each stands on one line, headers are written by a YAML library, file names are encoded.
Rejected and merged lines are left out of what agents read, and are in the YAML with their decisions. What is written
leaves memory, so secrets, addresses and names of users are taken out of it, unless ``redact=False`` says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import yaml

from sessionbank.errors import QueryError
from sessionbank.learning import playbooks as pb
from sessionbank.learning.filenames import file_stem
from sessionbank.learning.guidance import role_text, task_text, team_text
from sessionbank.sources.locking import write_whole

RULES = ("claude", "codex", "cursor")
P = TypeVar("P", bound=pb.Playbook)


def to_markdown(playbook: pb.Playbook, *, redact: bool = True) -> str:
    """A playbook for a person: every line with its standing, support, what contradicts it, and its evidence.

    Example:
        >>> from sessionbank.learning import Line, RolePlaybook, to_markdown
        >>> line = Line(id="line-1", text="Run the tests.")
        >>> tester = RolePlaybook(id="role-tester", name="tester", role="tester", guidance={"responsibilities": [line]})
        >>> print(to_markdown(tester).strip())
        # tester
        <BLANKLINE>
        Version 1.0.0, confidence 0%
        <BLANKLINE>
        ## responsibilities
        <BLANKLINE>
        - Run the tests.
          - claimed, 0%: 0 runs for, 0 against, of 0
    """
    playbook = _left([playbook], redact=redact)[0]
    out = [
        f"# {_flat(playbook.name)}",
        "",
        f"Version {playbook.evolution.version}, confidence {playbook.confidence:.0%}",
        "",
    ]
    last = None
    for section, line in playbook.lines():
        if section != last:
            out += [f"## {_flat(section)}", ""]
            last = section
        mark = "" if line.is_active else f" **({line.decisions[-1].action})**"
        out.append(f"- {_flat(line.text)}{mark}")
        support = line.support
        out.append(
            f"  - {line.standing}, {line.confidence:.0%}: {pb.counted(support.runs_for)} for, "
            f"{support.runs_against} against, of {support.runs}"
        )
        out += [f"  - but: {_flat(text)}" for text in line.contradictions]
        for place in line.evidence[:5]:
            where = [
                f"{k} {v}"
                for k, v in (
                    ("session", place.session_id),
                    ("message", place.message_uuid),
                    ("agent", place.agent_id),
                    ("step", place.step_index),
                )
                if v is not None
            ]
            side = {True: "for", False: "against", None: "neither"}[place.supports]
            out.append(
                f"  - {side}: {_flat(', '.join([f'run {place.run_id}', *where]))}: {_flat(place.note)}"
            )
        out += [
            f"  - {d.action} by {_flat(d.reviewer)}, {d.at:%Y-%m-%d}: {_flat(d.reason)}"
            for d in line.decisions
        ]
    return "\n".join(out) + "\n"


def to_yaml(playbook: pb.Playbook, *, redact: bool = True) -> str:
    """A playbook whole, as YAML; a model reads it back by `model_validate`.

    Example:
        >>> from sessionbank.learning import Line, RolePlaybook, to_yaml
        >>> line = Line(id="line-1", text="Run the tests.")
        >>> tester = RolePlaybook(id="role-tester", name="tester", role="tester", guidance={"responsibilities": [line]})
        >>> to_yaml(tester).splitlines()[:2]
        ['id: role-tester', 'name: tester']
    """
    playbook = _left([playbook], redact=redact)[0]
    return yaml.safe_dump(playbook.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=110)


def to_skill(playbook: pb.Playbook, *, redact: bool = True) -> str:
    """The text of a Claude Code ``SKILL.md``: a header with name and description, then the advice.

    Example:
        >>> from sessionbank.learning import Line, RolePlaybook, to_skill
        >>> line = Line(id="line-1", text="Run the tests.")
        >>> tester = RolePlaybook(id="role-tester", name="tester", role="tester", guidance={"responsibilities": [line]})
        >>> to_skill(tester).splitlines()[:2]
        ['---', 'name: tester']
    """
    playbook = _left([playbook], redact=redact)[0]
    header = yaml.safe_dump(
        {"name": skill_name(playbook), "description": _description(playbook)}, sort_keys=False, width=1000
    )
    return f"---\n{header}---\n\n{_body(playbook)}\n"


def to_rules(playbooks: Sequence[pb.Playbook], *, agent: str, redact: bool = True) -> str:
    """The text of a rules file: for ``claude`` (CLAUDE.md) and ``codex`` (AGENTS.md) plain Markdown, for ``cursor`` an
    ``.mdc`` with its header. Raises `QueryError` for another agent.

    Example:
        >>> from sessionbank.learning import Line, RolePlaybook, to_rules
        >>> line = Line(id="line-1", text="Run the tests.")
        >>> tester = RolePlaybook(id="role-tester", name="tester", role="tester", guidance={"responsibilities": [line]})
        >>> to_rules([tester], agent="codex").splitlines()[0]
        '# Learned from earlier runs'
    """
    if agent not in RULES:
        raise QueryError(f"no rules for {agent!r}; there are {', '.join(RULES)}")
    playbooks = _left(playbooks, redact=redact)
    body = "\n\n".join(["# Learned from earlier runs", *(_body(p) for p in playbooks)]) + "\n"
    if agent != "cursor":
        return body
    header = {
        "description": "; ".join(_description(p) for p in playbooks)[:500],
        "globs": "",
        "alwaysApply": False,
    }
    return f"---\n{yaml.safe_dump(header, sort_keys=False, width=1000)}---\n\n{body}"


def export(
    playbooks: Sequence[pb.Playbook], folder: str | Path, *, format: str, redact: bool = True
) -> list[Path]:
    """Writes playbooks below `folder`; returns the files.

    `format`: ``markdown`` or ``yaml`` (a file each), ``skill`` (``{name}/SKILL.md`` each), ``claude``, ``codex`` or
    ``cursor`` (one rules file for all: CLAUDE.md, AGENTS.md, ``learned.mdc``).
    """
    base = Path(folder)
    playbooks = _left(playbooks, redact=redact)  # all at once: names of files are made of names, too
    if format in RULES:
        name = {"claude": "CLAUDE.md", "codex": "AGENTS.md", "cursor": "learned.mdc"}[format]
        texts = {base / name: to_rules(playbooks, agent=format, redact=False)}
    elif format == "skill":
        texts = {base / skill_name(p) / "SKILL.md": to_skill(p, redact=False) for p in playbooks}
    elif format in ("markdown", "yaml"):
        suffix, write = (".md", to_markdown) if format == "markdown" else (".yaml", to_yaml)
        texts = {base / f"{file_stem(p.id)}{suffix}": write(p, redact=False) for p in playbooks}
    else:
        raise QueryError(f"no format {format!r}; there are markdown, yaml, skill, {', '.join(RULES)}")
    for path, text in texts.items():
        write_whole(path, text.encode("utf-8", "replace"))
    return list(texts)


def _left(playbooks: Sequence[P], *, redact: bool) -> list[P]:
    """The playbooks as they may leave: the same secret has the same placeholder in all of them."""
    if not redact:
        return list(playbooks)
    from sessionbank.trajectory.redact import Redactor

    redactor = Redactor()
    cleaned = []
    for playbook in playbooks:
        held = playbook.model_dump(mode="json")
        done = redactor.json(held, place=playbook.id)
        cleaned.append(playbook if done is held else type(playbook).model_validate(done))
    return cleaned


def skill_name(playbook: pb.Playbook) -> str:
    """A name as Claude Code wants it: lower case letters, digits and hyphens, at most 64."""
    name = re.sub(r"[^a-z0-9]+", "-", playbook.name.lower()).strip("-")[:64].strip("-")
    return name or f"playbook-{file_stem(playbook.id).lower()}"[:64].replace("%", "-")


def _description(playbook: pb.Playbook) -> str:
    if isinstance(playbook, pb.RolePlaybook):
        text = f"How to work as {playbook.role} in a team of agents. Use when you are given the role {playbook.role}."
    elif isinstance(playbook, pb.TeamPlaybook):
        text = "How to compose and coordinate a team of agents. Use when forming a team."
    else:
        text = f"How to work on {getattr(playbook, 'domain', None) or 'any'} tasks. Use at the start of such a task."
    return _flat(text)[:1000]


def _body(playbook: pb.Playbook) -> str:
    if isinstance(playbook, pb.RolePlaybook):
        return role_text(playbook)
    if isinstance(playbook, pb.TeamPlaybook):
        return team_text(playbook)
    if isinstance(playbook, pb.TaskPlaybook):
        return task_text(playbook)
    raise QueryError(f"{type(playbook).__name__} is no playbook that agents are told")


def _flat(text: str) -> str:
    return " ".join(text.split())
