"""Generated histories, with their truth: sessions grow, are stored in parts, forked, finalized, redacted and damaged.

A `Story` is one conversation: lines, and what each line means. A `History` is what checkpoints store of stories. Its
`truth()` is worked out from the meanings of the lines that are stored whole somewhere, never from the bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import strategies as st

from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude, nested_reply, nested_result, tool, usage

MODELS = ("claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "orchid-coder-2")


@dataclass(frozen=True)
class Meaning:
    """What a line says; a line means at most one of each."""

    prompt: bool = False
    spoken: bool = False  # a line of type user or assistant
    call: tuple[str, bool, int, int, int, int] | None = (
        None  # message id, of a subagent, input, write, read, output
    )
    uses: tuple[str, bool] | None = None  # tool call id, of a subagent
    failed: str | None = None  # tool call id whose result is an error


class Story:
    """A conversation and the meaning of each of its lines."""

    def __init__(self, number: int) -> None:
        self.writer = Claude(f"aaaaaaaa-0000-4000-8000-{number:012d}")
        self.number = number
        self.meanings: list[Meaning] = []
        self.copied = 0  # lines at the beginning that stand in another session too

    def tell(self, events: Sequence[tuple[str, int]]) -> None:
        """Adds lines: each event is a kind and a number that varies it."""
        w, say = self.writer, self.meanings.append
        for kind, n in events:
            key = f"{self.number}_{len(w.lines)}"
            if kind == "prompt":
                w.prompt(f"prompt {key}")
                say(Meaning(prompt=True, spoken=True))
            elif kind == "meta":
                w.prompt("<command-name>/clear</command-name>")
                say(Meaning(spoken=True))
            elif kind == "snapshot":
                w.line(
                    "file-history-snapshot",
                    uuid=None,
                    parentUuid=None,
                    timestamp=None,
                    messageId=f"m{n}",
                    snapshot={},
                )
                say(Meaning())
            elif kind == "synthetic":
                w.reply("API Error", message_id=f"syn_{key}", output=0, model="<synthetic>")
                say(Meaning(spoken=True))
            elif kind == "reply":  # as many lines as blocks; output grows, or not
                counts = (3, n % 5 * 100, n % 7 * 1000)
                for at in range(1 + n % 3):
                    out = 5 if n % 2 else 5 + at * n
                    tokens = usage(out, input=counts[0], write=counts[1], read=counts[2])
                    w.reply(f"part {at} {n}", message_id=f"msg_{key}", tokens=tokens, model=MODELS[n % 3])
                    say(Meaning(spoken=True, call=(f"msg_{key}", False, *counts, out)))
            elif kind == "tool":
                call = f"toolu_{key}"
                w.reply(
                    tool(call, "Edit", file_path=f"/srv/shop/{n}.py"),
                    message_id=f"msg_{key}",
                    tokens=usage(n),
                    model=MODELS[0],
                )
                say(Meaning(spoken=True, call=(f"msg_{key}", False, 3, 0, 0, n), uses=(call, False)))
                if n % 4:
                    w.result(call, f"result {n}", is_error=True if n % 4 == 1 else None)
                    say(Meaning(spoken=True, failed=call if n % 4 == 1 else None))
            elif kind == "spawn":
                call, nested = f"toolu_{key}", f"sub_{key}"
                w.reply(
                    tool(call, "Task", prompt="look", subagent_type="explore"),
                    message_id=f"msg_{key}",
                    tokens=usage(n),
                    model=MODELS[1],
                )
                say(Meaning(spoken=True, call=(f"msg_{key}", False, 3, 0, 0, n), uses=(call, False)))
                for again in range(1 + n % 2):  # the same nested line may stand in several progress lines
                    w.progress(
                        nested_reply(nested, tool(f"n{call}"), message_id=f"n{key}", output=n + 1),
                        call_id=call,
                        agent_id=f"a{key}",
                    )
                    say(Meaning(call=(f"n{key}", True, 3, 0, 0, n + 1), uses=(f"n{call}", True)))
                    del again
                w.progress(nested_result(f"r{nested}", f"n{call}"), call_id=call, agent_id=f"a{key}")
                say(Meaning())
                w.result(call, "found it")
                say(Meaning(spoken=True))

    def fork(self, number: int, end: int) -> Story:
        """Another session that begins with this one's first lines, under its own id."""
        other = Story(number)
        for line, meaning in zip(self.writer.lines[:end], self.meanings, strict=False):
            other.writer.lines.append({**line, "sessionId": other.writer.session_id})
            other.meanings.append(meaning)
            other.writer.last = line.get("uuid", other.writer.last)
        other.copied = end
        return other


@dataclass
class Stored:
    """One stored transcript: which lines, and how it was damaged."""

    story: Story
    checkpoint: int
    begin: int
    end: int
    start: int = 0
    redacted: bool = False
    damage: tuple[tuple[str, int], ...] = ()

    def lines(self) -> list[tuple[int, bytes]]:
        """Each line's number and bytes."""
        found = []
        for number in range(self.begin, self.end):
            data = json.dumps(self.story.writer.lines[number]).encode()
            found.append((number, data.replace(b"prompt ", b"REDACTED ") if self.redacted else data))
        return found

    def data(self) -> bytes:
        """The transcript."""
        lines = [data for _, data in self.lines()]
        for kind, at in self.damage:
            if not lines:
                break
            at %= len(lines)
            if kind == "nul":
                lines.insert(at, b"\0" * 64)
            elif kind == "rubbish":
                lines.insert(at, b"Killed")
            elif kind == "glue" and at + 1 < len(lines):
                lines[at : at + 2] = [lines[at] + lines[at + 1]]
        out = b"\n".join(lines)
        return out[:-7] if any(k == "cut" for k, _ in self.damage) and lines else out

    def whole(self) -> set[int]:
        """Numbers of the lines that can be read."""
        numbers = set(range(self.begin, self.end))
        if numbers and any(k == "cut" for k, _ in self.damage):
            numbers.discard(self.end - 1)
        return numbers


@dataclass
class History:
    """What a repository stores, checkpoint after checkpoint."""

    stored: list[Stored] = field(default_factory=list)

    @property
    def checkpoints(self) -> int:
        """How many checkpoints there are."""
        return max((s.checkpoint for s in self.stored), default=-1) + 1

    def write(self, repo: CheckpointRepo, only: int | None = None) -> None:
        """Writes all checkpoints, or one."""
        for number in range(self.checkpoints) if only is None else [only]:
            here = [s for s in self.stored if s.checkpoint == number]
            created = f"2026-03-{1 + number // 24:02d}T{number % 24:02d}:00:00Z"
            sessions = [
                session(s.story.writer.session_id, s.data(), start=s.start, created_at=created) for s in here
            ]
            repo.add_checkpoint(f"{number:012x}", sessions=sessions)

    def make(self, path: Path) -> CheckpointRepo:
        """A repository with all of it."""
        repo = CheckpointRepo(path)
        self.write(repo)
        return repo

    def truth(self) -> dict[str, int]:
        """The sums over all sessions, by the counting rules."""
        stories = list(dict.fromkeys(s.story for s in self.stored))
        present = {
            story: sorted(set().union(*(s.whole() for s in self.stored if s.story is story)))
            for story in stories
        }
        uuids = {
            story: {story.writer.lines[n].get("uuid") for n in present[story]} - {None} for story in stories
        }
        out = dict.fromkeys(
            (
                "human_prompts",
                "message_count",
                "tool_calls",
                "tool_errors",
                "subagent_tool_calls",
                "api_calls",
                "subagent_api_calls",
                *(
                    p + c
                    for p in ("", "subagent_")
                    for c in ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens")
                ),
            ),
            0,
        )
        for at, story in enumerate(stories):
            earlier = set().union(*(uuids[s] for s in stories[:at])) if at else set()
            calls: dict[str, list[tuple[bool, tuple]]] = {}
            uses: dict[str, tuple[bool, bool]] = {}
            failed = set()
            for n in present[story]:
                meaning = story.meanings[n]
                own = story.writer.lines[n].get("uuid") not in earlier
                out["human_prompts"] += own and meaning.prompt
                out["message_count"] += own and meaning.spoken
                if meaning.call:
                    calls.setdefault(meaning.call[0], []).append((own, meaning.call))
                if meaning.uses:
                    uses.setdefault(meaning.uses[0], (own, meaning.uses[1]))
                if meaning.failed:
                    failed.add(meaning.failed)
            for lines in calls.values():  # a call belongs to the session that owns its first line
                if not lines[0][0]:
                    continue
                best = max((c for _, c in lines), key=lambda c: c[5])
                prefix = "subagent_" if best[1] else ""
                out[f"{prefix}api_calls"] += 1
                for name, value in zip(
                    ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens"),
                    best[2:],
                    strict=True,
                ):
                    out[prefix + name] += value
            for call, (own, nested) in uses.items():
                out["subagent_tool_calls" if nested else "tool_calls"] += own
                out["tool_errors"] += own and not nested and call in failed
        return {k: int(v) for k, v in out.items()}


EVENTS = st.tuples(
    st.sampled_from(("prompt", "reply", "reply", "tool", "tool", "meta", "snapshot", "spawn", "synthetic")),
    st.integers(0, 40),
)
DAMAGES = st.lists(
    st.tuples(st.sampled_from(("nul", "rubbish", "glue", "cut")), st.integers(0, 50)), max_size=2
)


@st.composite
def histories(draw: st.DrawFn, *, steps: int = 6) -> History:
    """Histories of up to `steps` checkpoints."""
    history = History()
    stories = [Story(0)]
    stories[0].tell([("prompt", 0)])
    ends: dict[Story, int] = {}  # how far a session was stored
    for checkpoint in range(draw(st.integers(1, steps))):
        what = draw(st.sampled_from(("grow", "grow", "grow", "delta", "fork", "finalize", "new", "again")))
        story = draw(st.sampled_from(stories))
        if what == "new" or (what == "fork" and story not in ends):
            story = Story(len(stories))
            stories.append(story)
            what = "grow"
        elif what == "fork":
            story = story.fork(len(stories), draw(st.integers(1, ends[story])))
            stories.append(story)
            what = "grow"
        if what != "again":
            story.tell(draw(st.lists(EVENTS, min_size=1, max_size=6)))
        size, done = len(story.writer.lines), ends.get(story, 0)
        redacted = draw(st.integers(0, 4)) == 0
        damage = tuple(draw(DAMAGES)) if draw(st.integers(0, 2)) == 0 else ()
        if what == "delta":
            begin = max(done - draw(st.integers(0, 2)), 0)
            start = draw(st.sampled_from((0, done, done + 500)))
            history.stored.append(Stored(story, checkpoint, begin, size, start, redacted, damage))
        elif (
            what == "finalize"
        ):  # all earlier checkpoints of the session are rewritten with the whole transcript
            for old in history.stored:
                if old.story is story:
                    old.begin, old.end, old.damage, old.redacted = 0, size, (), False
            history.stored.append(Stored(story, checkpoint, 0, size, done))
        else:
            start = draw(st.sampled_from((0, done, min(done + 1, size))))
            history.stored.append(Stored(story, checkpoint, 0, size, start, redacted, damage))
        if draw(st.integers(0, 5)) == 0:  # the same session twice in a checkpoint
            history.stored.append(Stored(story, checkpoint, 0, max(size - 1, 1)))
        ends[story] = size
    return history
