"""The usual course of a session, so that a story says only what is particular: ask, look, change, check, commit."""

from __future__ import annotations

from typing import Any

from .claude import ClaudeSession
from .ids import ulid
from .subagents import spawn
from .tools import Tool
from .wander import scouting
from .world import World

REFS = {"layouts": ("refs-v1",), "root": {"cli": "0.11.2", "usage_version": 2}}


def refs(s: ClaudeSession, number: int = 0) -> dict:
    """Options of a commit whose checkpoint has its own ref and a ULID."""
    return REFS | {"ident": ulid(f"{s.key}/{number}", s.clock.now)}


def edits(session: ClaudeSession, changes: tuple) -> list[Tool]:
    """Calls that change files: (path, old, new) replaces, (path, content) writes."""
    return [session.edit(*c) if len(c) == 3 else session.write(*c) for c in changes]


def session(
    w: World,
    key: str,
    at: str,
    *,
    who: str,
    ask: str,
    think: str | None = None,
    look: tuple = (),
    find: tuple[str, str] | None = None,
    say: str = "",
    change: tuple = (),
    checks: tuple = (),
    fix: tuple = (),
    done: str,
    subject: str = "",
    outcome: tuple[str, str],
    branch: str = "main",
    after: tuple[str, str] | None = None,
    commit: dict | None = None,
    agent: bool = False,
    order: str = "after",
    own_ref: bool = False,
    scout: tuple[str, str, str, int] | None = None,
    **more: Any,
) -> ClaudeSession:
    """Tell one session of Claude Code and return it.

    `look` are files to read, `find` is (pattern, folder), `change` and `fix` are edits (fix after the first check),
    `checks` are (command, output, exit code), `after` is a last (prompt, answer), `subject` commits (the agent does it
    inside the turn with `agent`), `commit` are options of the checkpoint, which has its own ref with `own_ref`,
    `scout` is a subagent that looks first: (description, prompt, answer, replies).
    """
    s = w.claude(key, at, who, branch=branch, **more)
    s.prompt(ask)
    calls = [s.read(p) for p in look]
    if find:
        calls.append(s.grep(*find))
    s.reply(*calls, think=think, say=say, order=order) if calls else None
    if scout:
        description, request, answer, stops = scout
        s.reply(
            spawn(
                s, "Explore", description, prompt=request, answer=answer, steps=scouting(s, stops), repeats=1
            )
        )
    for number in range(0, len(change), 2):
        s.reply(*edits(s, change[number : number + 2]))
    for number, (command, out, code) in enumerate(checks):
        s.reply(s.bash(command, out, code=code, slow=number == len(checks) - 1), think="" if code else None)
        if number == 0 and fix:
            s.reply(*edits(s, fix), say="One thing is missing; fixing it.")
    if subject and agent:
        s.reply(w.agent_commit(s, subject, **((refs(s) if own_ref else {}) | (commit or {}))))
    s.reply(say=done)
    if subject and agent:
        w.finalize(s)
    if after:
        s.prompt(after[0], pause=6)
        s.reply(say=after[1])
    if subject and not agent:
        w.commit(s, subject, **((refs(s) if own_ref else {}) | (commit or {})))
    s.ended(*outcome)
    return s
