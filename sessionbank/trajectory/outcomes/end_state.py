"""Strategy ``end_state``: how the conversation ends. It needs no summary, no commit and no test.

What it looks at, with the points each gives (from 0.2, the worth of a session that just ends): the person's last words,
what came after them, the agent's last words, the last tool calls, an interruption or a break-off. Points above
0.25 are a success, below -0.35 a failure; the score is their sum moved to [0, 1].
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from sessionbank.records import SPAWN_TOOLS, Message, Session, ToolCall
from sessionbank.trajectory.model import Outcome
from sessionbank.trajectory.outcomes import wording
from sessionbank.trajectory.outcomes.checks import EDITS
from sessionbank.trajectory.outcomes.prompts import mood
from sessionbank.trajectory.outcomes.verdict import FAILURE_TO, SUCCESS_FROM, outcome, row, unknown

NAME = "end_state"
POINTS = {
    "finished": 0.2,  # the last request has a reply in words
    "reply_done": 0.35,
    "reply_plain": 0.15,  # words that neither praise nor regret
    "reply_analysed": 0.15,
    "reply_findings": 0.15,  # what is wrong with the thing that was looked at is the answer, not how the work went
    "reply_open": -0.35,
    "reply_failed": -0.6,
    "asks_back": -0.35,  # work was asked for, nothing was changed for it, and it ends with a question
    "handed_over": -0.35,  # another agent was sent off for the last request, and nothing came back
    "thanks": 0.35,
    "accepts": 0.3,
    "half": -0.3,
    "complains": -0.3,
    "complains_unanswered": -0.75,
    "gives_up": -1.2,
    "complained_before": -0.1,  # the prompt before the last
    "interrupted": -0.55,  # nothing but this after the last work
    "rejected_last": -0.35,
    "broken_off": -0.3,  # the last request has work, but no reply in words
    "unanswered": -0.3,  # nothing came after the last request
    "cut_at_commit": 0.25,  # the record ends at the agent's own commit, which is when it was stored
    "api_error": -0.7,
    "errors_last": -0.25,  # most of the last five calls failed
    "rejections": -0.2,  # two or more in the last request
}
_SPOILT = frozenset({"gives_up", "complains", "complains_unanswered", "complained_before", "api_error"})
_OPEN = -0.25  # points of partial work
LAST_CALLS = 5
_COMMITS = re.compile(r"\bgit\b(?:(?!\bgit\b)[^|;&])*?\b(?:commit|push|merge)\b")
_API_ERROR = re.compile(
    r"^(?:API Error|Claude (?:AI )?usage limit reached|You['’]ve (?:hit|reached) your|"
    r"\W*(?:usage|rate|5-hour|weekly|session) limit reached|"
    r"Credit balance is too low|Prompt is too long|Request timed out|Internal server error|Overloaded)",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"\?\s*$|^\W*(?:what|why|how|where|which|who|when|is|are|does|do|did|has|have|can|could|should)\b|"
    r"\b(?:review|explain|check|look (?:at|into)|investigate|analy[sz]e|summari[sz]e|compare|find out|describe|audit|assess|read)\b",
    re.IGNORECASE,
)
_NOUN = re.compile(  # "review the last commit" asks for no commit
    r"\b(?:the|an?|this|that|these|those|my|our|your|each|every|any|last|latest|current|previous)\s+(?:\w+\s+)?"
    r"(?:commit|build|merge|push|update|fix|move|port|support|limit|split|extract|set ?up|store|release)(?:e?s)?\b",
    re.IGNORECASE,
)
_UNABLE = re.compile(
    r"\b(?:I|we)\b[^.;]{0,20}(?:\b(?:could|can)(?: ?not|n['’]t)\b|\b(?:not|un)\s?able\b|\bfailed to\b|\bg[ai]ve up\b)|\bgave up\b",
    re.IGNORECASE,
)
_SHORT = 40  # characters; fewer are no finding
_READS = frozenset({
    "Read", "Grep", "Glob", "LS", "WebSearch", "WebFetch", "TodoWrite", "ToolSearch", "Skill", "AskUserQuestion", "read_file",
    "read", "grep", "glob", "list", "list_directory", "search_file_content", "fs_read", "ask_user", "view",
})  # fmt: skip
_SENT = re.compile(r"^\W*(?:Spawned successfully|Async agent launched)", re.IGNORECASE)
_CLOSING = " \n\t*_`)\"'🙂😊👍🚀"
_TAIL = 1200  # characters of the last reply that are read; the result stands at its start or end


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing seen near the end, its points, and where it stands."""

    name: str
    points: float
    what: str
    seq: int | None = None


def of_session(session: Session) -> Outcome:
    """The outcome by how the conversation ends; unknown without a transcript."""
    main = [m for m in session.messages if not m.is_subagent and m.inherited_from is None]
    if not any(m.kind in ("prompt", "reply") for m in main):
        return unknown(NAME, "no transcript, or nobody says anything in it")
    calls = [c for c in session.tool_calls if not c.is_subagent]
    signs = list(_signs(main, calls))
    points = sum(s.points for s in signs)
    if points < _OPEN and not _SPOILT.intersection(s.name for s in signs):
        met = _earlier_met(main, calls)
        if met is not None:  # what was done before stands: part of the work, unless the person is not content
            signs.append(Sign("earlier_met", _OPEN - points, f"was met: {met.text}", met.seq))
            points = _OPEN
    ended = any(s.name == "gives_up" for s in signs)
    rows = [
        row(session.session_id, f"{s.name.replace('_', ' ')} ({s.points:+.2f}): {s.what}", seq=s.seq)
        for s in signs
    ]
    heavy = sorted(signs, key=lambda s: -abs(s.points))[:3]
    return outcome(  # only giving up is surer than 0.8: `evidence` tells it by that
        NAME,
        _score(points),
        confidence=0.85 if ended else min(0.4 + 0.35 * abs(points), 0.8),
        reason="how it ends: " + ", ".join(s.name.replace("_", " ") for s in heavy),
        evidence=rows,
    )


def _score(points: float) -> float:
    """Points to a score, so that 0.25 is where success starts and -0.35 where failure ends."""
    low, high = -0.35, 0.25
    if points >= high:
        return SUCCESS_FROM + (1 - SUCCESS_FROM) * min((points - high) / 0.75, 1)
    if points <= low:
        return FAILURE_TO * (1 - min((low - points) / 0.85, 1))
    return FAILURE_TO + 0.01 + (SUCCESS_FROM - FAILURE_TO - 0.02) * (points - low) / (high - low)


def _signs(main: list[Message], calls: list[ToolCall]) -> Iterator[Sign]:
    prompts = [m for m in main if m.kind == "prompt" and (m.text or "").strip()]
    last = prompts[-1] if prompts else None
    start = last.seq if last else -1
    after = [m for m in main if m.seq > start]
    late = [c for c in calls if c.seq > start]
    words = [m for m in after if m.kind == "reply" and (m.text or "").strip()]
    acts = [m for m in after if m.kind in ("reply", "tool_result")]
    said = mood(last.text) if last and len(prompts) > 1 else None
    yield from _ending(last, words, acts, late, main, said)
    if said and last:
        name = "complains_unanswered" if said == "complains" and not acts else said
        yield Sign(name, POINTS[name], last.text or "", last.seq)
    if len(prompts) > 2 and mood(prompts[-2].text) == "complains" and said not in ("thanks", "accepts"):
        yield Sign("complained_before", POINTS["complained_before"], prompts[-2].text or "", prompts[-2].seq)
    if not acts:  # the last word is the person's: what the agent had reported before it still stands
        words = [m for m in main if m.seq < start and m.kind == "reply" and (m.text or "").strip()]
    if words and said != "gives_up":
        yield from _last_words(
            words[-1],
            following=said,
            broken=bool(acts) and any(c.seq > words[-1].seq for c in late),
            is_answer=_asks_for_an_answer(prompts, calls),
        )
    yield from _last_calls(calls, late)
    yield from _left_open(last, words, late, after)


def _ending(last: Message | None, words: list[Message], acts: list[Message], *rest: object) -> Iterator[Sign]:
    late, main, said = rest
    assert isinstance(late, list)
    assert isinstance(main, list)
    stop = _interruption(main)
    final = acts[-1] if acts else None
    if stop is not None:
        yield Sign("interrupted", POINTS["interrupted"], stop.text or "the person interrupted", stop.seq)
    elif final is None:
        if last is not None and said not in ("thanks", "gives_up"):
            yield Sign("unanswered", POINTS["unanswered"], last.text or "", last.seq)
        elif said == "thanks":
            yield Sign(
                "finished", POINTS["finished"], "the person's thanks end it", last.seq if last else None
            )
    elif words and words[-1].seq >= max((c.seq for c in late), default=-1):
        yield Sign("finished", POINTS["finished"], "the last request has a reply", words[-1].seq)
    elif late and _COMMITS.search(late[-1].command or ""):
        yield Sign("cut_at_commit", POINTS["cut_at_commit"], f"ends at: {late[-1].command}", late[-1].seq)
    else:
        yield Sign(
            "broken_off", POINTS["broken_off"], "the last request has work but no closing reply", final.seq
        )


def _interruption(main: list[Message]) -> Message | None:
    """An interruption after which neither the person nor the agent said anything."""
    for message in reversed(main):
        if message.kind == "interruption":
            return message
        if message.kind in ("prompt", "reply"):
            return None
    return None


def _last_words(message: Message, *, following: str | None, broken: bool, is_answer: bool) -> Iterator[Sign]:
    # words before the last calls of a broken-off session announce work, they do not report it
    text = (message.text or "").strip()
    if _API_ERROR.search(text):
        yield Sign("api_error", POINTS["api_error"], text, message.seq)
        return
    if len(text) > 2 * _TAIL:
        text = text[:_TAIL] + "\n" + text[-_TAIL:]
    cues = wording.read(_prose(text))
    kinds = ["done" if c.kind == "acted" else c.kind for c in cues]
    if is_answer and len(text) > _SHORT and not any(_UNABLE.search(c.clause) for c in cues):
        yield Sign("reply_findings", POINTS["reply_findings"], text, message.seq)
        return
    bad = next((c for c in reversed(cues) if c.kind in ("failed", "given_up")), None)
    hanging = next((c for c in reversed(cues) if c.kind in ("open", "unmade")), None)
    result = next((c for c in cues if c.kind == "done"), None)
    good = result or next((c for c in cues if c.kind == "acted"), None)
    if bad and not (good and kinds.count("done") > 2 * (kinds.count("failed") + kinds.count("given_up"))):
        yield Sign("reply_failed", POINTS["reply_failed"] * (0.6 if result else 1), bad.clause, message.seq)
    elif hanging and not (good and kinds.count("done") > 3 * (kinds.count("open") + kinds.count("unmade"))):
        yield Sign("reply_open", POINTS["reply_open"], hanging.clause, message.seq)
    elif good:
        yield Sign("reply_done", POINTS["reply_done"], good.clause, message.seq)
    elif "analysed" in kinds:
        yield Sign("reply_analysed", POINTS["reply_analysed"], text, message.seq)
    elif following != "complains" and not broken:
        yield Sign("reply_plain", POINTS["reply_plain"], text, message.seq)


def _asks_for_an_answer(prompts: list[Message], calls: list[ToolCall]) -> bool:
    """A review or a question was the task, and nothing was made: the last request asks for none, and no call changed
    a file or ended in an error. A review agent's own record may hold no request at all.
    """
    if any(c.tool_name in EDITS and c.status == "ok" for c in calls):
        return False
    if any(c.status in ("error", "rejected", "interrupted") for c in calls[-LAST_CALLS:]):
        return False
    if not prompts:
        return bool(calls)
    asked = _NOUN.sub(" ", prompts[-1].text or "")
    return not wording.wants_work(asked) and bool(_QUESTION.search(asked))


def _left_open(
    last: Message | None, words: list[Message], late: list[ToolCall], after: list[Message]
) -> Iterator[Sign]:
    """Work that was asked for last and only talked of, or given to another agent that has not come back."""
    if last is None or not words:
        return
    final = words[-1]
    if any(c.seq > final.seq for c in late):
        return
    sent = [c for c in late if c.tool_name in SPAWN_TOOLS and _SENT.search((c.result_text or "")[:400])]
    if sent and not any(m.kind in ("teammate", "notification") and m.seq > sent[-1].seq for m in after):
        yield Sign(
            "handed_over",
            POINTS["handed_over"],
            f"{sent[-1].tool_name} started, nothing came back",
            sent[-1].seq,
        )
    elif (
        wording.wants_work(last.text)
        and all(c.tool_name in _READS for c in late)
        and (final.text or "").rstrip(_CLOSING)[-1:] == "?"
    ):
        yield Sign("asks_back", POINTS["asks_back"], (final.text or "")[-200:], final.seq)


def _earlier_met(main: list[Message], calls: list[ToolCall]) -> Message | None:
    """The latest request before the last that led to edits and a reply that says it is done, if nobody complained."""
    prompts = [m for m in main if m.kind == "prompt" and (m.text or "").strip()]
    edits = [c.seq for c in calls if c.tool_name in EDITS and c.status == "ok"]
    for asked, following in reversed(list(pairwise(prompts))):
        within = range(asked.seq + 1, following.seq)
        if not any(e in within for e in edits) or mood(following.text) in ("complains", "gives_up"):
            continue
        said = [m for m in main if m.seq in within and m.kind == "reply" and (m.text or "").strip()]
        signs = _last_words(said[-1], following=None, broken=False, is_answer=False) if said else ()
        if any(s.name == "reply_done" for s in signs):
            return asked
    return None


def _last_calls(calls: list[ToolCall], late: list[ToolCall]) -> Iterator[Sign]:
    if not calls:
        return
    end = calls[-1]
    if end.status == "rejected":
        yield Sign("rejected_last", POINTS["rejected_last"], f"{end.tool_name} was refused", end.seq)
    refused = [c for c in late if c.status == "rejected"]
    if len(refused) > 1:
        yield Sign(
            "rejections",
            POINTS["rejections"],
            f"{len(refused)} calls of the last request were refused",
            refused[-1].seq,
        )
    tail = calls[-LAST_CALLS:]
    bad = [c for c in tail if c.status in ("error", "interrupted")]
    if len(bad) * 2 > len(tail) and len(tail) > 1:
        yield Sign(
            "errors_last",
            POINTS["errors_last"],
            f"{len(bad)} of the last {len(tail)} calls failed",
            bad[-1].seq,
        )


def _prose(text: str) -> str:
    """Without code blocks, tables and headings."""
    text = re.sub(r"```.*?(?:```|$)", " ", text, flags=re.DOTALL)
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(("|", "#", ">")))
