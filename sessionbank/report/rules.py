"""The counting rules, as a report carries them: the text of ``docs/counting-rules.md``, which a test compares with this.

The page is not in an installed package, and a report must stand alone.
"""

from __future__ import annotations

import re
from html import escape

from sessionbank.report.markup import Markup

RULES = (
    "**A line counts once.** A line of a session is known by its `uuid` (without one: by its "
    "content). A session is the union of all its stored transcripts, whether they are growing "
    "snapshots or parts.",
    "**A line belongs to one checkpoint and one session.** To the checkpoint whose window holds it: "
    "from the record's start offset to the next one's; where offsets are absent or impossible, to the "
    "checkpoint where it appears first. A line that a fork or a resumed session copied belongs to the "
    "session that had it first; the copy has `inherited_from` and is in no total.",
    "**An API call is one reply of a real model**, that is one `message.id` of a session. Its usage "
    "is that of the line with the most output, because earlier lines hold the counts of a moment in "
    "mid-stream. `<synthetic>` is no model. Where only a mid-stream count was recorded, it is given "
    "as it is, and `is_partial` says so.",
    "**Four classes of tokens that do not overlap.** `input` is without cache; `cache_creation` and "
    "`cache_read` are apart; `output` includes reasoning. What other agents record is converted: "
    "Gemini's input includes the cached part and its output excludes thoughts; Codex counts from the "
    "start of the session, its input includes the cached part.",
    "**Main agent and subagents are told apart** on every row, and a total says whose it is. In "
    "`sessions()`, columns without the prefix `subagent_` are the main agent's. A subagent's work "
    "counts once, wherever it was written.",
    "**A human prompt is what a person typed.** Not tool results, texts that a program put in, "
    "commands and their output, notes of an interruption, summaries of a compaction, notifications, "
    "messages of other agents: all these carry the role `user` too. A prompt that was queued while "
    "the agent worked counts once.",
    "**A tool call is a use with its result**, and ends in one of five ways: ok, error, rejected (a "
    "person said no), interrupted (also a call cancelled with its sibling), no_result. No `is_error` "
    "means ok. `Task` and `Agent` both start a subagent. `mcp__server__tool` is a tool of a server.",
    "**Unknown is not zero.** A model without a price has no cost. A line without a timestamp has no "
    "time. A transcript that was never written, is empty, or is not in this clone, is three different "
    "things.",
    "**Time is UTC** until you name a zone; a day is a day in that zone. The order of lines is their "
    "order in the file. `span_s` is from first to last; `active_s` adds up the gaps between lines, "
    "each at most 300 seconds.",
    "**The token counts in the metadata are another witness**, not the truth. `reconcile()` puts our "
    "count beside each and says what it covers: the record's own window, the whole transcript, both, "
    "an earlier snapshot, zero, or nothing.",
)
# What the key figures and the columns of the report are, and the rules they follow: name, words, rules.
NUMBERS = (
    ("sessions", "conversations with a stored record, each once, whatever checkpoints it stands in", (1, 2)),
    ("cost", "USD by the dated prices of genai-prices, subagents included; a call of a model without a price has none", (3, 4, 8)),
    ("API calls", "replies of a real model, main agent and subagents; each once", (3, 5)),
    ("tokens", "input, cache written, cache read and output of these calls, added up", (3, 4)),
    ("prompts", "what a person typed", (6,)),
    ("tool calls", "a use with its result, by how it ended; subagents included, inherited calls left out", (2, 5, 7)),
    ("cost of a commit", "a checkpoint's calls count once: at its earliest commit on the default branch, else its earliest", (2,)),
    ("cost of a branch", "by the branch that the record names, which is that of the work, not where it was merged", (2,)),
    ("days and periods", "by the time of each call, in the zone named above", (9,)),
    ("active time", "gaps between lines of a session, each at most 300 seconds, added up", (9,)),
    ("lines", "as the tool that stored the checkpoint states them; one row a checkpoint is added up, none is corrected", (10,)),
    ("outcomes", "labels of the strategy evidence, which weighs what the others say; inferred, never stated by anyone", ()),
    ("hand-overs", "edges between agents that the transcripts show; inferred ones are marked in the table interactions", (5,)),
)  # fmt: skip


def rule_html(text: str) -> Markup:
    """A rule as HTML: code and bold words are shown as such."""
    marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
    return Markup(re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", marked))
