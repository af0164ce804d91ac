"""What happens in a session, told once and without a format: steps. And the facts that follow from them.

Each writer (claude.py, codex.py, …) turns the same kinds of steps into the bytes of its agent. The truth file is summed
up here, from the steps and from what the format can say; no written byte is read back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sample_bank.ids import Clock, Ids

CLASSES = ("input", "cache_creation", "cache_read", "output", "reasoning")


@dataclass(frozen=True)
class Spent:
    """Tokens of one API call: input without cache, output with reasoning."""

    input: int
    cache_creation: int
    cache_read: int
    output: int
    reasoning: int = 0


@dataclass(frozen=True)
class Use:
    """One use of a tool: what is done (run, read, write, task), to what, and how it ends."""

    what: str
    target: str
    result: str | None = None
    status: str = "ok"  # ok | error | rejected | no_result
    text: str = ""  # what is written to the file


@dataclass(frozen=True)
class Ask:
    """A person types something."""

    text: str
    again: bool = False  # Pi: typed in place of the first prompt, so another branch begins


@dataclass(frozen=True)
class Reply:
    """The model answers; each of its uses is answered by the tool."""

    text: str = ""
    think: str = ""
    uses: tuple[Use, ...] = ()
    spent: Spent | None = None
    broken: bool = False  # the person stops it in the middle: nothing of it is reported


@dataclass(frozen=True)
class Compact:
    """The context is summed up and begins anew; what was said from step `keep` on is kept (Pi only)."""

    summary: str
    keep: int | None = None


@dataclass(frozen=True)
class Aside:
    """What the agent's program itself puts in: nobody typed it and the model did not say it."""

    text: str


Step = Ask | Reply | Compact | Aside


@dataclass(frozen=True)
class Records:
    """What a format can say; what it cannot is missing in the truth, not 0."""

    calls: bool = True  # replies are API calls of their own
    tokens: tuple[str, ...] = CLASSES
    results: bool = True
    tools: bool = True
    times: bool = True
    ids: bool = True
    models: bool = True
    cwd: bool = True
    parts: bool = True  # the format is read at all


@dataclass
class Session:
    """One session of the story."""

    key: str
    agent: str  # as its bytes show
    label: str | None  # as the metadata call it
    session_id: str
    writer: Any
    at: datetime
    who: str
    steps: list[Step]
    model: str = ""
    files: dict[str, str] = field(default_factory=dict)
    parent: Session | None = None
    options: dict[str, Any] = field(default_factory=dict)
    # What is in the context at the end, in order, as labels of steps ("3", its results "3r"); None: it cannot be told.
    # Worked out by hand from the rules, as are the views at other moments (when the last record of that label came).
    end: list[str] | None = None
    views: dict[str, list[str]] = field(default_factory=dict)

    def sheet(self, upto: int | None = None) -> Sheet:
        """The session written down to a step (None: to its end)."""
        made = Sheet(self)
        self.writer.write(made, self.steps if upto is None else self.steps[:upto])
        return made


class Sheet:
    """What a writer fills: lines or a document, and which ids its steps got. The same steps give the same bytes."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.ids = Ids(f"agents/{session.key}")
        self.clock = Clock(session.at, self.ids.rng)
        self.lines: list[str] = []
        self.document: dict[str, Any] | None = None
        self.units = 0  # what a start offset counts: lines, or messages of a document
        self.native: dict[str, list[str]] = {}  # label of a step -> ids of its records, in order
        self.cwd = HOMES[session.who]

    def line(self, value: dict[str, Any]) -> None:
        """One line of JSON."""
        self.lines.append(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
        self.units += 1

    def own(self, label: str, native: str) -> None:
        """A record of a step has that id."""
        self.native.setdefault(label, []).append(native)

    @property
    def body(self) -> bytes:
        """The bytes as they are stored."""
        if self.document is not None:
            return (json.dumps(self.document, ensure_ascii=False, indent=2) + "\n").encode()
        return "".join(f"{line}\n" for line in self.lines).encode()


PEOPLE = {"nora": ("Nora Quill", "nora@tides.example"), "ilan": ("Ilan Roth", "ilan@tides.example")}
HOMES = {"nora": "/home/nora/src/tides", "ilan": "/Users/ilan/tides"}


def labels(first: int, last: int, *, asks: tuple[int, ...] = ()) -> list[str]:
    """Labels of the steps from one to another, each reply with its results; `asks` are the steps without any."""
    return [x for n in range(first, last + 1) for x in ([str(n)] if n in asks else [str(n), f"{n}r"])]


def replies(session: Session, upto: int | None = None, since: int = 0) -> list[Reply]:
    """The replies among a session's steps."""
    return [s for s in session.steps[since:upto] if isinstance(s, Reply)]


def tokens(said: list[Reply], records: Records) -> dict[str, int | None]:
    """Sums by class of what the format states; None where no call states any."""
    spent = [r.spent for r in said if r.spent is not None]
    return {
        name: sum(getattr(s, name) for s in spent) if spent and name in records.tokens else None
        for name in CLASSES
    }


def one_session(session: Session) -> dict[str, Any]:
    """The true figures of one session; None is "not recorded"."""
    records: Records = session.writer.RECORDS
    said = replies(session)
    uses = [u for r in said for u in r.uses]
    status: dict[str, int] = {}
    for use in uses:
        ended = use.status if records.results else "no_result"
        status[ended] = status.get(ended, 0) + 1
    out: dict[str, Any] = {
        "agent": session.agent,
        "label": session.label,
        "who": session.who,
        "human_prompts": sum(isinstance(s, Ask) for s in session.steps) if session.parent is None else 0,
        "api_calls": len(said) if records.calls else None,
        "tokens": tokens(said, records),
        "tool_calls": len(uses) if records.tools else None,
        "tool_status": status if records.tools else None,
        "models": [session.model] if records.models and session.model else [],
        "has_times": records.times,
        "has_ids": records.ids,
        "cwd": HOMES[session.who] if records.cwd else None,
        "compactions": sum(isinstance(s, Compact) for s in session.steps),
        "parent": session.parent.session_id if session.parent else None,
    }
    if (
        session.options.get("run_of") is not None
    ):  # Copilot CLI: only the run that ended states input and cache
        run = tokens(replies(session, session.options["run_of"]), records)
        out["tokens"] = {k: v if k == "output" else run[k] for k, v in out["tokens"].items()}
    if not records.parts:
        out |= {"human_prompts": None, "api_calls": None, "tool_calls": None, "tool_status": None}
    if session.end is not None:
        native = session.sheet().native
        out["context"] = [i for label in session.end for i in native[label]]
        out["left_out"] = [i for label in native if label not in session.end for i in native[label]]
        out["views"] = {
            native[moment][-1]: [i for label in labels for i in native[label]]
            for moment, labels in session.views.items()
        }
    return out
