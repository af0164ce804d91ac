"""The page `docs/checkers.md`: which program of others accepts which of our exports. Written by `run.py --all --write`.

It holds no path and no time of day, so it changes only when a version, a bank or a result does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checkers.exports import Exported
    from checkers.run import Verdict

ASKED = {
    "harbor": "its trajectory validator, the models that ATIF is defined by",
    "atif": "`atif.Trajectory`",
    "nvidia-nat-atif": "`nat.atif.Trajectory`",
    "agentpile": "its reader and its validator",
    "atif-scan": "its reader, and its checks of how a document was written; embedded subagents one by one",
    "datasets": '`load_dataset("json", ...)`: each row must come back as it was written',
    "trl": "each training template that renders a probe call: no call lost, said twice or encoded twice",
}
HEAD = """# Who accepts our exports

Written by `python checkers/run.py --all --write docs/checkers.md`. Each program runs in an environment of its own, at
the versions of `checkers/*.txt`; none is a dependency. All sample banks are exported, redacted as by default, and every
document is asked about. `python checkers/run.py FILE...` asks about a file of yours.

ATIF is v1.7, one document a trajectory. Chat rows are `format="messages", arguments="dict"`, one row an agent; the
template of gpt-oss (`trl:gptoss`) takes one call a message and no thinking beside text, so its rows are made with
`thinking="merged"`.
"""


def markdown(made: Sequence[Exported], verdicts: Sequence[Verdict]) -> str:
    """The page: verdicts, what each is asked, what the banks hold, templates that were not asked."""
    lines = [HEAD, "| checker | version | documents | result |", "|---|---|---:|---|"]
    for v in verdicts:
        if not v.unfit:
            refused = f"refused: {len(v.faults)} faults" if v.faults else v.result
            lines.append(f"| {v.checker} | {v.version} | {v.documents} | {refused} |")
    lines += ["", "What each is asked:", ""]
    lines += [f"- {checker}: {what}" for checker, what in ASKED.items()]
    lines += [
        "",
        "What was exported. In sessions left out nothing was said, so the formats have nothing to hold.",
        "",
    ]
    lines += [
        "| bank | sessions | ATIF documents | chat rows | sessions left out of ATIF |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [f"| {e.bank} | {e.sessions} | {e.documents} | {e.rows} | {e.left_out} |" for e in made]
    unfit = [v for v in verdicts if v.unfit]
    if unfit:
        lines += [
            "",
            "Training templates of TRL that do not render a conversation with one call, and are not asked:",
            "",
        ]
        lines += [f"- {v.checker.removeprefix('trl:')}: {v.unfit}" for v in unfit]
    return "\n".join(lines) + "\n"
