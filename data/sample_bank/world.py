"""The world of the story: people, the code repository with its branches, sessions and checkpoints.

Holds who did what when; how checkpoints look on disk is in storage.py, sums are in truth.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from .claude import OPUS, ClaudeSession
from .gemini import GeminiSession
from .ids import Clock, Ids, fixed_uuid, parse
from .objects import Objects
from .tools import Tool

PEOPLE = {
    "ada": ("Ada Lindqvist", "ada@shop.example"),
    "bruno": ("Bruno Okafor", "bruno@shop.example"),
    "chen": ("Chen Moreau", "chen@shop.example"),
    "dora": ("Dora Velasquez", "dora@shop.example"),
}
HOMES = {
    "ada": "/home/ada/code/shop",
    "bruno": "/Users/bruno/src/shop",
    "chen": "/Users/chen/dev/shop",
    "dora": "/home/dora/shop",
}
ZONES = {"ada": 1.0, "bruno": -8.0, "chen": 11.0, "dora": 9.5}


@dataclass
class Commit:
    """One code commit as the truth file lists it."""

    sha: str
    subject: str
    branch: str
    when: datetime
    trailers: list[str]


class Code:
    """Branches with their working trees and commits."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.heads: dict[str, str] = {}
        self.trees: dict[str, dict[str, str]] = {"main": {}}
        self.commits: list[Commit] = []

    def work(self, branch: str) -> dict[str, str]:
        """The working tree of a branch; a detached HEAD works on main."""
        return self.trees[branch if branch in self.trees else "main"]

    def branch(self, name: str, base: str = "main") -> None:
        """Start a branch."""
        self.trees[name] = dict(self.trees[base])
        self.heads[name] = self.heads[base]

    def commit(
        self,
        branch: str,
        who: str,
        when: datetime,
        *,
        message: str,
        only: list[str] | None = None,
        extra_parents: tuple[str, ...] = (),
        trailers: list[str] | None = None,
    ) -> Commit:
        """Commit the working tree of a branch (or only some of its files)."""
        files = self.trees[branch]
        parents = [self.heads[branch]] if branch in self.heads else []
        if only is not None and parents:
            files = {p: t.decode() for p, t in self.objects.trees[parents[0]].items()}
            files |= {p: self.trees[branch][p] for p in only if p in self.trees[branch]}
        zone = ZONES[who]
        sign, minutes = ("+" if zone >= 0 else "-"), round(abs(zone) * 60)
        oid = self.objects.commit(
            {p: t.encode() for p, t in files.items()},
            parents=[*parents, *extra_parents],
            who=PEOPLE[who],
            when=when,
            message=message,
            zone=f"{sign}{minutes // 60:02d}{minutes % 60:02d}",
        )
        self.heads[branch] = oid
        found = trailers if trailers is not None else []
        made = Commit(oid, message.split("\n")[0], branch, when, found)
        self.commits.append(made)
        return made

    def restore(self, branch: str) -> list[str]:
        """Throw away what is not committed; returns the paths that changed."""
        head = {p: t.decode() for p, t in self.objects.trees[self.heads[branch]].items()}
        changed = sorted(p for p in self.trees[branch] | head if self.trees[branch].get(p) != head.get(p))
        self.trees[branch] = head
        return changed

    def merge(self, branch: str, into: str = "main") -> None:
        """Bring the files that a branch changed since it left into another working tree."""
        base = self.base(branch, into)
        for path in sorted(set(self.trees[branch]) | set(base)):
            if self.trees[branch].get(path) != base.get(path):
                if path in self.trees[branch]:
                    self.trees[into][path] = self.trees[branch][path]
                else:
                    self.trees[into].pop(path, None)

    def base(self, branch: str, into: str) -> dict[str, str]:
        """The tree where a branch left another."""
        line = set(self.ancestors(into))
        for oid in self.ancestors(branch):
            if oid in line:
                return {p: t.decode() for p, t in self.objects.trees[oid].items()}
        return {}

    def ancestors(self, branch: str) -> list[str]:
        """First parents of a branch, newest first."""
        out, oid = [], self.heads[branch]
        while oid:
            out.append(oid)
            found = self.parents(oid)
            oid = found[0] if found else ""
        return out

    def parents(self, oid: str) -> list[str]:
        """The parents of a commit."""
        head = self.objects.data[oid][1].decode().split("\n\n")[0]
        return [row[7:] for row in head.split("\n") if row.startswith("parent ")]


@dataclass
class Record:
    """One session directory of a checkpoint: which lines it holds, and how its metadata differ from the plain form."""

    session: Session
    lo: int
    hi: int | None
    start: int
    at: datetime
    files: list[str] | None = None
    lines: tuple[int, int] = (0, 0)  # the agent's lines added and removed since the commit before
    index: int = 0
    prompts: int = 0
    options: dict = field(default_factory=dict)


@dataclass
class Checkpoint:
    """One checkpoint with its records."""

    id: str
    at: datetime
    branch: str | None
    who: str
    records: list[Record] = field(default_factory=list)
    layouts: tuple[str, ...] = ("branch-v1",)
    options: dict = field(default_factory=dict)


class Ghost:
    """A session of which only metadata were ever stored: nothing says which agent it was."""

    agent, forked_from, edges, lines, prompts, size = "unknown", None, (), (), (), 0
    outcome = ("unknown", "No transcript was stored.")

    def __init__(self, key: str, at: datetime, who: str) -> None:
        self.key, self.who, self.session_id, self.edited = key, who, fixed_uuid(f"session/{key}"), {}
        self.clock = Clock(at, Ids(f"ghost/{key}").rng)


Session = ClaudeSession | GeminiSession | Ghost


class World:
    """Everything that exists in the story."""

    def __init__(self) -> None:
        self.objects = Objects()
        self.code = Code(self.objects)
        self.sessions: list[Session] = []
        self.checkpoints: list[Checkpoint] = []
        self.ids = Ids("world")
        self.open: dict[str, list[Checkpoint]] = {}

    def home(self, who: str) -> str:
        """The folder a person works in."""
        return HOMES[who]

    def claude(self, key: str, at: str, who: str, *, branch: str = "main", **more: Any) -> ClaudeSession:
        """A new session of Claude Code."""
        session = ClaudeSession(self, key, at=parse(at), who=who, branch=branch, **({"model": OPUS} | more))
        self.sessions.append(session)
        return session

    def fork(self, session: ClaudeSession, key: str, at: str, *, upto: int | None = None) -> ClaudeSession:
        """A session that begins with a copy of another's lines."""
        other = session.fork(key, at=parse(at), upto=upto)
        self.sessions.append(other)
        return other

    def gemini(self, key: str, at: str, who: str, *, branch: str = "main", **more: Any) -> GeminiSession:
        """A new session of Gemini CLI."""
        session = GeminiSession(self, key, at=parse(at), who=who, branch=branch, **more)
        self.sessions.append(session)
        return session

    def ghost(self, key: str, at: str, who: str) -> Ghost:
        """A session without transcript."""
        session = Ghost(key, parse(at), who)
        self.sessions.append(session)
        return session

    def checkpoint(
        self,
        at: datetime,
        branch: str | None,
        who: str,
        *,
        ident: str | None = None,
        layouts: tuple[str, ...] = ("branch-v1",),
        **options: Any,
    ) -> Checkpoint:
        """A new checkpoint without records."""
        made = Checkpoint(ident or self.ids.hex(12), at, branch, who, layouts=layouts, options=options)
        self.checkpoints.append(made)
        return made

    def store(
        self,
        point: Checkpoint,
        session: Session,
        *,
        lo: int = 0,
        hi: int | None = -1,
        start: int | None = None,
        index: int | None = None,
        files: list[str] | None = None,
        after: float = 0.0,
        **options: Any,
    ) -> Record:
        """Put a session's lines so far (hi -1), or its lines up to its end (hi None), into a checkpoint."""
        if hi == -1:
            hi = session.size
        earlier = [r for p in self.checkpoints for r in p.records if r.session is session]
        if start is None:
            start = earlier[-1].hi if earlier and earlier[-1].hi is not None else 0
        added = sum(v[0] for v in session.edited.values())
        removed = sum(v[1] for v in session.edited.values())
        touched = sorted(session.edited) if files is None else files
        record = Record(
            session,
            lo,
            hi,
            start,
            point.at + timedelta(seconds=after),
            files=touched,
            lines=(added, removed),
            index=len(point.records) if index is None else index,
            prompts=len(session.prompts),
            options=options,
        )
        point.records.append(record)
        return record

    def commit(
        self,
        session: Session,
        subject: str,
        *,
        body: str = "",
        after: float = 40.0,
        also: tuple = (),
        keep_edits: bool = False,
        only: list[str] | None = None,
        layouts: tuple[str, ...] = ("branch-v1",),
        ident: str | None = None,
        root: dict | None = None,
        branch: str | None = None,
        **options: Any,
    ) -> Checkpoint:
        """A person or the agent commits: a code commit with trailer, a checkpoint with the session's lines so far."""
        when = session.clock.now + timedelta(seconds=after)
        point = self.checkpoint(
            when,
            session.branch if session.branch in self.code.trees else None,
            session.who,
            ident=ident,
            layouts=layouts,
            **(root or {}),
        )
        self.store(point, session, **options)
        for other in also:
            self.store(point, other, files=[])
        message = subject + ("\n\n" + body if body else "") + f"\n\nEntire-Checkpoint: {point.id}"
        where = branch or (session.branch if session.branch in self.code.trees else "main")
        self.code.commit(
            where,
            session.who,
            when,
            message=message,
            trailers=[point.id],
            only=sorted(session.edited) if only is None and session.edited else only,
        )
        if not keep_edits:
            session.edited = {}
        return point

    def agent_commit(self, session: ClaudeSession, subject: str, *, cut: bool = False, **more: Any) -> Tool:
        """The agent commits inside a turn. The checkpoint sees the lines up to the call (`cut`), else `finalize` adds
        the rest of the turn.
        """
        tool = session.bash(
            f'git add -A && git commit -q -m "{subject}" && git log --oneline -1', why="Commit the change"
        )

        def run() -> None:
            point = self.commit(session, subject, after=0.4, **more)
            if not cut:
                self.open.setdefault(session.key, []).append(point)
            text = f"{self.code.commits[-1].sha[:7]} {subject}"
            tool.content, tool.outcome = text, dict(tool.outcome, stdout=text)

        tool.before = run
        return tool

    def finalize(self, session: ClaudeSession) -> None:
        """The turn ends: every checkpoint of the turn gets the same full transcript; starts stay."""
        points = self.open.pop(session.key, [])
        turn = Ids(f"turn/{session.key}/{len(session.lines)}").hex(12)
        for record in (r for p in points for r in p.records if r.session is session):
            if record.options.get("usage") == "stale":
                record.options["stale_at"] = record.hi
            record.hi = session.size
            record.options["turn"] = turn

    def loose(
        self, session: Session, *, after: float = 90.0, root: dict | None = None, **options: Any
    ) -> Checkpoint:
        """A checkpoint that no commit names: the session ended without one."""
        when = session.clock.now + timedelta(seconds=after)
        point = self.checkpoint(
            when, session.branch if session.branch in self.code.trees else None, session.who, **(root or {})
        )
        self.store(point, session, **({"attribution": None} | options))
        return point

    def give_up(self, session: Session) -> None:
        """What the session edited is thrown away."""
        self.code.restore(session.branch if session.branch in self.code.trees else "main")
        session.edited = {}


def summary(
    intent: str,
    outcome: str,
    *,
    repo: tuple = (),
    code: tuple = (),
    workflow: tuple = (),
    friction: tuple = (),
    todo: tuple = (),
) -> dict:
    """A stored summary; `code` holds (path, line, end line, finding), lines may be None."""
    found = []
    for path, line, end, finding in code:
        entry: dict = {"path": path}
        if line:
            entry["line"] = line
        if end:
            entry["end_line"] = end
        found.append(entry | {"finding": finding})
    return {
        "intent": intent,
        "outcome": outcome,
        "learnings": {"repo": list(repo), "code": found, "workflow": list(workflow)},
        "friction": list(friction),
        "open_items": list(todo),
    }
