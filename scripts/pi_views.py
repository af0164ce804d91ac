"""Makes generated Pi sessions and asks Pi's own code what a provider would be sent: the expected views of a test.

    npm install --ignore-scripts --prefix FOLDER @earendil-works/pi-coding-agent@0.84.4
    python scripts/pi_views.py FOLDER            # writes tests/data/pi/views.json

Nothing of Pi is a dependency: the answers are kept, and the test compares ours with them. Each entry's text is unique, so
a view is the list of texts in the order sent. Results that Pi makes up for dangling calls are left out of it.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "tests" / "data" / "pi" / "views.json"
REFERENCE = """
import { readFileSync } from "node:fs";
const root = process.argv[2] + "/node_modules/@earendil-works/";
const { buildSessionContext } = await import(root + "pi-coding-agent/dist/core/session-manager.js");
const { convertToLlm } = await import(root + "pi-coding-agent/dist/core/messages.js");
const { transformMessages } = await import(root + "pi-ai/dist/api/transform-messages.js");
const model = { provider: "p", api: "a", id: "m", input: ["text"] };
const text = (m) => (typeof m.content === "string" ? m.content : m.content.filter((b) => b.type === "text").map((b) => b.text).join("\\n"));
const bare = (t) => t.replace(/^The conversation history before[\\s\\S]*<summary>\\n/, "").replace(/\\n<\\/summary>$/, "");
const out = JSON.parse(readFileSync(0, "utf8")).map((lines) => {
  const entries = lines.filter((e) => e.type !== "session");
  const { messages } = buildSessionContext(entries);
  return transformMessages(convertToLlm(messages), model).map((m) => bare(text(m))).filter((t) => t !== "No result provided");
});
console.log(JSON.stringify(out));
"""


def session(seed: int) -> list[dict[str, Any]]:
    """One linear session with drafts, calls, results and compactions, from a seed."""
    chance = random.Random(seed)
    lines: list[dict[str, Any]] = [
        {
            "type": "session",
            "version": 3,
            "id": f"s-{seed}",
            "timestamp": "2026-02-01T10:00:00.000Z",
            "cwd": "/w",
        }
    ]
    kept: list[str] = []

    def add(value: dict[str, Any]) -> None:
        number = len(lines)
        parent = lines[-1]["id"] if number > 1 else None
        when = f"2026-02-01T10:{number // 60:02d}:{number % 60:02d}.000Z"
        lines.append({**value, "id": f"{seed:02x}{number:06x}", "parentId": parent, "timestamp": when})
        kept.append(lines[-1]["id"])

    def message(role: str, content: list[dict[str, Any]], **more: Any) -> None:
        add(
            {
                "type": "message",
                "message": {
                    "role": role,
                    "content": content,
                    "timestamp": 1770000000000 + len(lines),
                    **more,
                },
            }
        )

    for turn in range(chance.randint(2, 9)):
        message("user", [{"type": "text", "text": f"request {seed}.{turn}"}])
        for reply in range(chance.randint(1, 3)):
            stop = chance.choice(["stop", "stop", "toolUse", "aborted", "error"])
            calls = [f"c{seed}-{turn}-{reply}-{n}" for n in range(chance.randint(0, 2))]
            content = [{"type": "text", "text": f"reply {seed}.{turn}.{reply}"}]
            content += [
                {"type": "toolCall", "id": c, "name": "bash", "arguments": {"command": "ls"}} for c in calls
            ]
            usage = {"input": 5, "output": 7, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 12}
            message("assistant", content, stopReason=stop, provider="p", api="a", model="m", usage=usage)
            for call in calls:
                if chance.random() < 0.8:
                    said = [{"type": "text", "text": f"result of {call}"}]
                    message("toolResult", said, toolCallId=call, toolName="bash", isError=False)
        if chance.random() < 0.3:
            anchor = chance.choice(kept)
            add(
                {
                    "type": "compaction",
                    "summary": f"summary {seed}.{turn}",
                    "firstKeptEntryId": anchor,
                    "tokensBefore": 100,
                }
            )
        if chance.random() < 0.2:
            add({"type": "model_change", "provider": "p", "modelId": "m"})
    return lines


def main() -> None:
    """Writes sessions and views."""
    sessions = [session(seed) for seed in range(60)]
    script = TARGET.parent / "reference.tmp.mjs"
    script.write_text(REFERENCE)
    try:
        done = subprocess.run(
            ["node", str(script), str(Path(sys.argv[1]).resolve())],
            input=json.dumps(sessions),
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        script.unlink()
    about = "made by scripts/pi_views.py with @earendil-works/pi-coding-agent 0.84.4 and pi-ai 0.84.4"
    value = {"about": about, "sessions": sessions, "views": json.loads(done.stdout)}
    TARGET.write_text(json.dumps(value, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
