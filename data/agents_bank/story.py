"""The story: a small tide calculator, and who asked which agent for what. What the model saw in `compacted`'s sessions
is told there; of all others it is not recorded.
"""

from __future__ import annotations

from sample_bank.ids import fixed_uuid, parse

from . import codex, compacted, gemini, opencode
from .book import Aside, Ask, Reply, Session, Spent, Use
from .events import Copilot, Droid
from .plain import Compact, Cursor, Kiro, Plugin, Unknown

CLI = "import sys\n\nfrom tides import high_water\n\nprint(high_water(int(sys.argv[1]), int(sys.argv[2])))\n"
LOW = '"""Low water: half a tide after high water."""\n\n\ndef low_water(high: int) -> int:\n    return (high + 372) % 1440\n'
NOTES = "# Notes\n\nThe harbour clock keeps UTC all year.\n"
WARN = '"""Warnings."""\n\n\ndef is_storm_surge(height: int) -> bool:\n    return height > 650\n'
HARBOUR = "name: Saltholm\nlag_minutes: 50\n"
TABLE = "| day | high water |\n|---|---|\n| 1 | 00:30 |\n| 2 | 01:20 |\n"
GUIDE = "# Guide\n\n`python cli.py FIRST DAY` prints minutes after midnight.\n"
CONTRIBUTE = "# Contributing\n\nOne idea a commit.\n"
CHANGES = "# Changes\n\n- low water\n- storm surge warning\n"


def sessions() -> list[Session]:
    """All sessions."""
    parent = Session(
        "storm-surge", "opencode", "OpenCode", "ses_2b71c0ffee01saltHolmTideA1b2", opencode, parse("2026-05-06T09:00"),
        "nora",
        [
            Ask("Warn of storm surges, and have the change reviewed."),
            Reply("I write the rule.", "One threshold.", (Use("write", "warn.py", "Wrote file successfully.", text=WARN), Use("run", "python -c 'import warn'", "")), Spent(5100, 0, 0, 190, 64)),
            Reply("", "A second pair of eyes.", (Use("task", "review warn.py", "No faults; name the unit.", text="Review warn.py and say what is wrong."),), Spent(640, 0, 5100, 88, 30)),
            Reply("", "", (Use("run", "git push", None, "rejected"),), Spent(220, 0, 5740, 25, 0)),
            Reply("warn.py is written and reviewed; nothing was pushed.", "", (), Spent(130, 0, 5960, 31, 0)),
        ],
        "gpt-5.2-codex", {"warn.py": WARN},
        options={"redacted": True, "title": "Storm surge warning", "child": "ses_2b71c0ffee02saltHolmTideB3c4"},
    )  # fmt: skip
    child = Session(
        "storm-surge-review", "opencode", "OpenCode", "ses_2b71c0ffee02saltHolmTideB3c4", opencode,
        parse("2026-05-06T09:01"), "nora",
        [
            Ask("Review warn.py and say what is wrong."),
            Reply("", "", (Use("read", "warn.py", WARN), Use("read", "surge.py", "File not found: surge.py", "error")), Spent(2300, 0, 0, 71, 20)),
            Reply("No faults; name the unit.", "", (), Spent(410, 0, 2300, 18, 0)),
        ],
        "gpt-5.2-codex", {}, parent=parent, options={"title": "review warn.py (@general subagent)"},
    )  # fmt: skip
    return [
        compacted.compacted(),
        compacted.mislabelled(),
        Session(
            "command-line", "codex", "Codex", "019e0f52-7d31-7a60-b1c4-93f0e2a4d715", codex, parse("2026-05-05T10:00"),
            "ilan",
            [
                Ask("Add a command line: first high water and day in, minutes out."),
                Reply("I read the function, then write cli.py.", "**Planning a small script**", (Use("run", "cat tides.py", compacted.CLOCK),), Spent(5200, 0, 2048, 146, 64)),
                Reply("", "**Writing it**", (Use("write", "cli.py", "Success. Updated the following files:\nA cli.py\n", text=CLI), Use("run", "python cli.py 30", "IndexError: list index out of range", "error")), Spent(760, 0, 7168, 203, 0)),
                Reply("cli.py works with two numbers.", "", (Use("run", "python cli.py 30 1", "80"),), Spent(390, 0, 7936, 88, 0)),
                Ask("Remove the tests, they are slow."),
                Reply("They take a hundredth of a second; I would keep them.", "", (Use("run", "rm test_tides.py", None, "rejected"),), Spent(280, 0, 8320, 97, 32)),
                Reply("Kept.", "", (), Spent(95, 0, 8576, 9, 0)),
            ],
            "gpt-5.1-codex", {"cli.py": CLI},
        ),
        parent,
        child,
        Session(
            "low-water", "gemini-cli", "Gemini CLI", fixed_uuid("agents/low-water"), gemini, parse("2026-05-07T08:00"), "ilan",
            [
                Ask("Add low water."),
                Reply("I read tides.py first.", "Half a tide is about 372 minutes.", (Use("read", "tides.py", compacted.CLOCK),), Spent(6100, 0, 0, 74, 41)),
                Reply("", "", (Use("write", "low.py", "Successfully created low.py", text=LOW), Use("run", "python low.py --check", "unknown option --check", "error")), Spent(900, 0, 5800, 130, 22)),
                Aside("Request took 4 s."),
                Reply("low.py is there.", "", (), Spent(350, 0, 6700, 15, 0)),
            ],
            "gemini-2.5-pro", {"low.py": LOW},
        ),
        Session(
            "low-water-notes", "gemini-cli", "Gemini CLI", fixed_uuid("agents/low-water-notes"), gemini.Log,
            parse("2026-05-07T13:00"), "ilan",
            [
                Ask("Which zone does the harbour clock keep? Note it."),
                Reply("UTC, I assume; I note it.", "No zone is named anywhere.", (Use("write", "NOTES.md", "Successfully created NOTES.md", text=NOTES),), Spent(6400, 0, 0, 96, 55)),
                Reply("Noted.", "", (), Spent(280, 0, 6200, 4, 0)),
                Ask("Throw away low.py."),
                Reply("", "", (Use("run", "rm low.py", None, "rejected"),), Spent(310, 0, 6500, 12, 0)),
            ],
            "gemini-2.5-flash", {"NOTES.md": NOTES},
        ),
        Session(
            "harbour-file", "copilot-cli", "Copilot CLI", fixed_uuid("agents/harbour-file"), Copilot, parse("2026-05-07T16:00"),
            "nora",
            [
                Ask("Move the lag into a file harbour.yaml."),
                Reply("", "A file with two keys.", (Use("write", "harbour.yaml", "Created file harbour.yaml", text=HARBOUR), Use("run", "rm tides.py", None, "rejected")), Spent(7200, 40, 0, 165)),
                Reply("harbour.yaml is there; tides.py stays as it is.", "", (Use("read", "harbor.yaml", "No such file: harbor.yaml", "error"),), Spent(430, 0, 7240, 57)),
                Ask("Thanks. What does lag mean?"),
                Reply("How much later high water comes each day.", "", (), Spent(390, 0, 7670, 22)),
            ],
            "claude-sonnet-4.6", {"harbour.yaml": HARBOUR}, options={"run_of": 3},
        ),
        Session(
            "tide-table", "cursor", "Cursor", fixed_uuid("agents/tide-table"), Cursor, parse("2026-05-08T08:30"), "nora",
            [
                Ask("Make a table for two days."),
                Reply("I compute both days and write the table.", "", (Use("run", "python cli.py 30 1"), Use("write", "TABLE.md", text=TABLE))),
                Reply("TABLE.md has two days.", ""),
                Ask("Is it right?"),
                Reply("It follows cli.py.", ""),
            ],
            "", {"TABLE.md": TABLE},
        ),
        Session(
            "user-guide", "factory-droid", "Factory AI Droid", fixed_uuid("agents/user-guide"), Droid, parse("2026-05-08T10:00"),
            "ilan",
            [
                Aside("Today is Friday."),
                Ask("Write a short guide."),
                Reply("I look at the command line.", "Only two arguments.", (Use("read", "cli.py", CLI), Use("read", "guide.md", "no such file", "error"))),
                Reply("", "", (Use("write", "GUIDE.md", "Created GUIDE.md", text=GUIDE),)),
                Reply("GUIDE.md is written.", ""),
            ],
            "", {"GUIDE.md": GUIDE},
        ),
        Session(
            "contributing", "kiro", "Kiro", fixed_uuid("agents/contributing"), Kiro, parse("2026-05-08T12:00"), "nora",
            [
                Ask("Add a CONTRIBUTING file."),
                Reply("On it.", "", (Use("write", "CONTRIBUTING.md", "written", text=CONTRIBUTE), Use("run", "mdlint .", "mdlint: not found", "error"))),
                Reply("CONTRIBUTING.md is there, unchecked.", ""),
                Ask("Fine."),
                Reply("Good.", ""),
            ],
            "", {"CONTRIBUTING.md": CONTRIBUTE},
        ),
        compacted.drafts(),
        compacted.branched(),
        Session(
            "change-list", "claude-code", "Claude Code", fixed_uuid("agents/change-list"), Compact, parse("2026-05-10T09:00"), "nora",
            [
                Ask("Start a change list."),
                Reply("From the commits.", "", (Use("run", "git log --oneline", "8 lines"), Use("read", "CHANGES", "No such file", "error")), Spent(11, 0, 0, 83)),
                Reply("", "", (Use("write", "CHANGES.md", "File created", text=CHANGES),), Spent(6, 0, 0, 91)),
                Reply("Two entries so far.", "", (), Spent(4, 0, 0, 15)),
            ],
            "claude-opus-4-6", {"CHANGES.md": CHANGES}, options={"compact": True},
        ),
        Session(
            "gull-talk", "plugin", "Gull Agent", fixed_uuid("agents/gull-talk"), Plugin, parse("2026-05-10T11:00"), "ilan",
            [
                Ask("Is the table printed?"),
                Reply("It hangs at the harbour office."),
                Ask("Good."),
                Reply("Anything else?"),
            ],
            "", {},
        ),
        Session(
            "lighthouse", "unknown", "Lighthouse", fixed_uuid("agents/lighthouse"), Unknown, parse("2026-05-10T12:00"), "ilan",
            [Ask("Blink."), Reply("Blinking."), Aside("Lamp at 40 %.")], "", {},
        ),
    ]  # fmt: skip


# (subject of the commit, who commits, sessions of its checkpoint with the steps that they had by then)
STOPS: list[tuple[str, str, dict[str, int]]] = [
    ("High water by day", "nora", {"first-calculator": 5}),
    ("Tests of high water", "nora", {"first-calculator": 14}),
    ("Say how to run the tests", "nora", {"readme-tests": 3}),
    ("Command line", "ilan", {"command-line": 4}),
    ("Command line takes two numbers", "ilan", {"command-line": 7}),
    ("Warn of storm surges", "nora", {"storm-surge": 5, "storm-surge-review": 3}),
    ("Low water", "ilan", {"low-water": 5}),
    ("Note the zone", "ilan", {"low-water-notes": 5}),
    ("Harbour in a file", "nora", {"harbour-file": 5}),
    ("Table of two days", "nora", {"tide-table": 5}),
    ("Guide", "ilan", {"user-guide": 5}),
    ("How to contribute", "nora", {"contributing": 5}),
    ("Heights of tides", "ilan", {"moon-phase": 16, "two-branches": 4}),
    ("List of changes", "nora", {"change-list": 4}),
    ("Printed", "ilan", {"gull-talk": 4, "lighthouse": 3}),
]
