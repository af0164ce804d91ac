"""Writer of Claude Code transcripts: each method writes the lines that the real program writes, and books their facts.

Holds rows, replies, results and usage. What people do is in person.py, tool calls are built in tools.py, subagents in
subagents.py, agent teams in team.py; where lines are stored is not known here.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from .books import Line
from .ids import Clock, Ids, fixed_uuid, stamp
from .person import Person
from .tools import REJECTED, Tool, Tools
from .wander import wander

OPUS = "claude-opus-4-5-20251101"
SONNET = "claude-sonnet-4-5-20250929"
HAIKU = "claude-haiku-4-5-20251001"


def encode(record: dict) -> str:
    """One record as one line; escapes only what UTF-8 cannot hold (lone surrogates)."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(record, separators=(",", ":"))
    return text


class ClaudeSession(Person, Tools):
    """One session of Claude Code: the lines of its transcript so far."""

    agent = "claude-code"

    def __init__(
        self,
        world: Any,
        key: str,
        *,
        at: datetime,
        who: str,
        branch: str,
        model: str = OPUS,
        version: str = "2.1.29",
        cache: str = "1h",
        stops: int | None = None,
    ) -> None:
        self.world, self.key, self.who, self.branch = world, key, who, branch
        self.model, self.version, self.cache = model, version, cache
        self.ids = Ids(f"claude/{key}")
        self.rng = self.ids.rng
        self.session_id = fixed_uuid(f"session/{key}")
        self.clock = Clock(at, self.rng)
        self.cwd = world.home(who)
        self.lines: list[Line] = []
        self.parent: str | None = None
        self.team: str | None = None
        self.slug: str | None = None
        self.context = 16200 + self.rng.randrange(900)
        self.cached = 0
        self.pending = 60
        self.outcome: tuple[str, str] = ("unknown", "")
        self.edges: list[dict] = []
        self.prompts: list[str] = []
        self.edited: dict[str, list[int]] = {}
        self.turn_started = self.clock.now
        self.read_files: set[str] = set()
        self.forked_from: str | None = None
        self.slug_name = (
            self.ids.rng.choice(WORDS[0]) + "-" + self.rng.choice(WORDS[1]) + "-" + self.rng.choice(WORDS[2])
        )
        self.gateway = model.startswith("orchid")
        # how many replies look around after the first one with tools; None: by the seed
        self.stops = self.rng.randrange(3, 9) if stops is None else stops

    # lines

    @property
    def size(self) -> int:
        """How many records there are: offsets of this agent count lines."""
        return len(self.lines)

    @property
    def new_style(self) -> bool:
        """From 2.1.60 on records carry other keys and stop reasons are recorded."""
        return tuple(int(p) for p in self.version.split(".")) >= (2, 1, 60)

    def raw(self, text: str, *, bad: bool = False, glue: bool = False) -> None:
        """A line that is no record of ours (broken bytes)."""
        self.lines.append(Line(text, bad=bad, glue=glue))

    def bare(self, record: dict, *facts: tuple) -> None:
        """A record without uuid (snapshots, queue operations, summaries)."""
        self.lines.append(Line(encode(record), facts=list(facts)))

    def row(self, kind: str, body: dict, *facts: tuple, when: datetime | None = None, **more: Any) -> str:
        """A record with a uuid, chained to the one before; returns the uuid."""
        uuid = self.ids.uuid()
        when = when or self.clock.now
        common = {
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session_id,
            "version": self.version,
            "gitBranch": self.branch,
        }
        if self.new_style:
            common = {"userType": "external", "entrypoint": "cli"} | {
                k: common[k] for k in ("cwd", "sessionId", "version", "gitBranch")
            }
        if self.slug:
            common["slug"] = self.slug
        head = {"parentUuid": more.pop("parent", self.parent)}
        if "logical_parent" in more:
            head["logicalParentUuid"] = more.pop("logical_parent")
        head["isSidechain"] = False
        if self.team:
            head["teamName"] = self.team
        tail = {"uuid": uuid, "timestamp": stamp(when)}
        record = (
            (head | {"type": kind} | body | more | tail | common)
            if self.new_style
            else (head | common | {"type": kind} | body | more | tail)
        )
        self.lines.append(Line(encode(record), uuid=uuid, facts=[("row", kind), *facts]))
        self.parent = uuid
        return uuid

    def glue_next(self) -> None:
        """The record just written lost its newline: the next one stands on the same physical line."""
        self.lines[-1].glue = True

    # what the model does

    def usage(self, output: int, tail: bool = False) -> tuple[dict, dict]:
        """The usage of a reply: as written (a stub output, unless `tail`), and as booked."""
        if self.gateway:
            written = {"input_tokens": self.context + self.pending, "output_tokens": output}
            return written, {"input": self.context + self.pending, "output": output}
        fresh = 2 + self.rng.randrange(9)
        creation = self.context - self.cached + self.pending if self.cached else self.context + self.pending
        hour = {"1h": creation, "5m": 0, "both": creation * 2 // 5}[self.cache]
        booked = {
            "input": fresh,
            "cache_creation": creation,
            "cache_creation_1h": hour,
            "cache_read": self.cached,
            "output": output,
        }
        written = {
            "input_tokens": fresh,
            "cache_creation_input_tokens": creation,
            "cache_read_input_tokens": self.cached,
            "cache_creation": {
                "ephemeral_5m_input_tokens": creation - hour,
                "ephemeral_1h_input_tokens": hour,
            },
            "output_tokens": output,
            "service_tier": "standard",
        }
        if self.new_style:
            written["inference_geo"] = "not_available"
        return written, booked

    def reply(
        self,
        *tools: Tool,
        say: str = "",
        think: str | None = None,
        order: str = "after",
        end: bool | None = None,
        stub: bool = False,
        model: str | None = None,
    ) -> None:
        """One API call: its thinking, text and tool uses, one row a block, then the results.

        `order` "between" writes each result before the next block of the same reply. `stub` leaves only mid-stream
        counts. `think` "" is a thinking block whose text was withheld.
        """
        blocks: list[tuple[dict, Tool | None]] = []
        if think is not None:
            blocks.append(({"type": "thinking", "thinking": think, "signature": self.ids.signature()}, None))
        if say:
            blocks.append(({"type": "text", "text": say}, None))
        blocks += [(tool.block(self), tool) for tool in tools]
        message, request, name = self.ids.message(), self.ids.request(), model or self.model
        size = len(say) + len(think or "x" * 240) + sum(len(json.dumps(t.input)) for t in tools)
        final = 1 if stub else max(9, int(size / 3.6)) + self.rng.randrange(30)
        self.clock.tick(2, 8)
        written, booked = self.usage(final)
        stop = "tool_use" if tools else "end_turn"
        waiting: list[tuple[Tool, str]] = []
        for number, (block, tool) in enumerate(blocks):
            last = number == len(blocks) - 1
            # streamed rows carry a stub of the output; only the last row has the full count, and input side repeats
            output = final if last else min(final, 1 + self.rng.randrange(8))
            usage = dict(written, output_tokens=output)
            body = {
                "model": name,
                "id": message,
                "type": "message",
                "role": "assistant",
                "content": [block],
                "stop_reason": stop if last and self.new_style and not stub else None,
                "stop_sequence": None,
                "usage": usage,
            }
            fact = ("call", message, name, stamp(self.clock.now)[:10], dict(booked, output=output))
            facts = [fact]
            if tool:
                facts.append(("tool", tool.id, tool.name))
                if tool.spawn:
                    facts.append(("spawn", tool.id))
            extra = {} if self.gateway else {"requestId": request}
            uuid = self.row("assistant", {"message": body}, *facts, **extra)
            if tool:
                tool.uuid = uuid
                if order == "between":
                    self.result(tool, uuid)
                else:
                    waiting.append((tool, uuid))
            self.clock.tick(0.3, 1.5)
        for tool, uuid in waiting:
            self.result(tool, uuid)
        if not self.slug and tools:
            self.slug = self.slug_name
        if not self.gateway:
            self.cached = self.context = self.context + self.pending
            self.pending = 0
        else:
            self.context += self.pending
            self.pending = 0
        self.pending += final + 30 + sum(tool.weight for tool in tools)
        if tools and self.stops:
            stops, self.stops = self.stops, 0
            wander(self, stops)
        if end if end is not None else not tools:
            self.end_turn()

    def result(self, tool: Tool, uuid: str) -> None:
        """The result of a tool use, after what happened while it ran."""
        if tool.before:
            tool.before()
        if tool.status == "no_result":
            return
        self.clock.tick(*tool.takes)
        block = {"tool_use_id": tool.id, "type": "tool_result", "content": tool.content}
        if tool.flag is not None:
            block["is_error"] = tool.flag
        body = {"message": {"role": "user", "content": [block]}}
        extra = {} if tool.outcome is None else {"toolUseResult": tool.outcome}
        if self.version >= "2.1.20":
            extra["sourceToolAssistantUUID"] = uuid
        tool.result_uuid = self.row("user", body, ("result", tool.id, tool.status), **extra)
        if tool.name in ("Edit", "Write") and tool.status == "ok" and self.rng.random() < 0.4:
            self.hook(f"PostToolUse:{tool.name}", tool.id)
        if tool.after:
            tool.after()
        if tool.status == "rejected" and tool.content == REJECTED:
            self.interrupt(tool=True)

    def end_turn(self) -> None:
        """The lines that close a turn: hooks and duration."""
        call = self.ids.uuid()
        self.row(
            "system",
            {
                "subtype": "stop_hook_summary",
                "hookCount": 1,
                "hookInfos": [{"command": "entire hooks claude-code stop"}],
                "hookErrors": [],
                "preventedContinuation": False,
                "stopReason": "",
                "hasOutput": False,
                "level": "suggestion",
            },
            toolUseID=call,
        )
        span = int((self.clock.now - self.turn_started).total_seconds() * 1000)
        self.row("system", {"subtype": "turn_duration", "durationMs": span, "isMeta": False})

    def summary_line(self, text: str) -> None:
        """A title of an earlier conversation (no uuid, no time)."""
        self.bare({"type": "summary", "summary": text, "leafUuid": self.ids.uuid()})

    # how it ended

    def ended(self, label: str, reason: str) -> None:
        """The true outcome of the session, with the reason."""
        assert label in ("success", "partial", "failure")
        self.outcome = (label, reason)

    def fork(self, key: str, *, at: datetime, upto: int | None = None) -> ClaudeSession:
        """A session that copied this one's lines: same uuids and message ids, its own session id."""
        other = ClaudeSession(
            self.world,
            key,
            at=at,
            who=self.who,
            branch=self.branch,
            model=self.model,
            version=self.version,
            cache=self.cache,
        )
        other.forked_from = self.key
        for line in self.lines[:upto]:
            text = line.text.replace(self.session_id, other.session_id)
            facts = [("inherited",)] if line.uuid else []
            other.lines.append(Line(text, uuid=line.uuid, facts=facts))
            if line.uuid:
                other.parent = line.uuid
        other.slug, other.context, other.cached, other.stops = self.slug, self.context, 0, 0
        return other


WORDS = (
    ("brisk", "quiet", "amber", "hollow", "sunny", "crisp", "mellow", "copper", "gentle", "rapid"),
    ("folding", "drifting", "stacking", "humming", "pacing", "gliding", "sorting", "weaving", "turning"),
    ("otter", "lantern", "kestrel", "maple", "harbor", "cobalt", "thistle", "walnut", "beacon", "puffin"),
)
