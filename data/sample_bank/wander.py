"""How a model looks around before it changes anything: reads and searches with a remark, drawn by the session's seed.

Only the files of the session's working tree are shown; nothing here changes them.
"""

from __future__ import annotations

import re
from typing import Any

READ = (
    "{name} first. I want to see how {symbol} is used before I touch it.",
    "The interesting part should be {symbol}; checking {path}.",
    "I have not seen {path} in this session. If {symbol} already does half of this, the change gets smaller.",
    "Conventions matter here: {path} shows how this project names things.",
    "Does {symbol} have callers with other expectations? {path} is where I'd expect them.",
    "{path} might be affected. Better to know now than after the edit.",
    "I need the exact text of {path} for an edit later.",
    "Two places could hold this. {path} is the more likely one because of {symbol}.",
    "Reading {path} in full; it is short.",
    "If {symbol} raises, who catches it? Let me look at {path}.",
    "The tests will tell what is promised. {path} next.",
    "Before I assume anything about {symbol}, I'll read {path}.",
    "{path} is on the way from the request to the database; {symbol} is the step that I'm not sure of.",
    "A quick look at {path} to rule it out.",
)
SEARCH = (
    "Who else uses `{symbol}`?",
    "Let me find the callers of `{symbol}`.",
    "Is `{symbol}` mentioned anywhere else?",
    "I'll search for `{symbol}` so that nothing is missed.",
    "Checking that `{symbol}` is the only place.",
    "One search for `{symbol}` before I decide.",
    "Where does `{symbol}` come from?",
)
AFTER = (
    "That matches what I expected.",
    "So the change can stay local.",
    "Good, there is only one caller.",
    "Nothing there depends on it.",
    "That part can stay as it is.",
    "This is the place.",
)


def symbols(text: str) -> list[str]:
    """Names that a file defines."""
    return re.findall(r"(?:def|class|function|const|interface|TABLE|INDEX)\s+(\w+)", text) or ["main"]


def wander(session: Any, stops: int) -> None:
    """Some replies that only look: each a read or a search, with a thought, a remark, or neither."""
    rng = session.rng
    paths = [p for p in sorted(session.files) if p not in session.read_files and not p.startswith(".github")]
    rng.shuffle(paths)
    # what shares words with the prompt is looked at first
    words = {w.lower() for w in re.findall(r"[A-Za-z]{4,}", " ".join(session.prompts))}
    paths.sort(key=lambda p: -sum(w in (p + session.files[p]).lower() for w in words))
    for path in paths[:stops]:
        session.read_files.add(path)
        names = {
            "path": path,
            "name": path.split("/")[-1],
            "symbol": rng.choice(symbols(session.files[path])),
        }
        kind = rng.random()
        if kind < 0.45:
            session.reply(session.read(path), think=rng.choice(READ).format(**names))
        elif kind < 0.7:
            session.reply(session.grep(names["symbol"]), say=rng.choice(SEARCH).format(**names))
        elif kind < 0.85:
            session.reply(
                session.read(path),
                session.grep(names["symbol"]),
                think="",
                order="between",
                say=rng.choice(AFTER),
            )
        else:
            session.reply(
                session.bash(f"git log --oneline -3 -- {path}", log(session, path), why=f"History of {path}")
            )


def scouting(session: Any, stops: int) -> list[list]:
    """What a subagent does that only looks: a list of tools for each of its replies, the last read often a miss."""
    rng = session.rng
    paths = sorted(p for p in session.files if not p.startswith("."))
    replies: list[list] = []
    for path in rng.sample(paths, min(stops, len(paths))):
        tools = [session.read(path)]
        if rng.random() < 0.6:
            tools.append(session.grep(rng.choice(symbols(session.files[path]))))
        if rng.random() < 0.25:
            tools.append(session.read(path.replace(".", "_old.")))
        replies.append(tools)
    return replies


def log(session: Any, path: str) -> str:
    """The newest commits that changed a path, as git prints them."""
    code = session.world.code
    made = {c.sha: c.subject for c in code.commits}
    branch = session.branch if session.branch in code.heads else "main"
    out, newer = [], None
    for oid in code.ancestors(branch):
        if newer and code.objects.trees[newer].get(path) != code.objects.trees[oid].get(path):
            out.append(f"{newer[:7]} {made[newer]}")
        newer = oid
    if newer and path in code.objects.trees[newer]:
        out.append(f"{newer[:7]} {made[newer]}")
    return "\n".join(out[:3])
