"""Sessions of which it can be told what the model saw: Claude Code and Pi. `end` and `views` were worked out by hand
from the rules of those agents, step by step as the comments say.
"""

from __future__ import annotations

from sample_bank.ids import fixed_uuid, parse

from . import claude, pi
from .book import Aside, Ask, Compact, Reply, Session, Spent, Use, labels

OPUS = "claude-opus-4-6"
TABLE = '"""Heights of high water, in centimetres over chart datum."""\n\nHEIGHTS = {"spring": 612, "neap": 448}\n'
CLOCK = (
    '"""When high water comes: each day 50 minutes later than the day before."""\n\nLAG_MINUTES = 50\n\n\n'
    "def high_water(first: int, day: int) -> int:\n    return (first + day * LAG_MINUTES) % 1440\n"
)
CHECK = (
    "from tides import high_water\n\n\ndef test_each_day_is_later():\n    assert high_water(30, 1) == 80\n\n\n"
    "def test_midnight():\n    assert high_water(1420, 1) == 30\n"
)


def compacted() -> Session:
    """Claude Code: two prompts, a compaction that a person asked for, then one more prompt."""
    session = Session(
        "first-calculator", "claude-code", "Claude Code", fixed_uuid("agents/first-calculator"), claude,
        parse("2026-05-04T08:00"), "nora", [], OPUS, {"tides.py": CLOCK, "test_tides.py": CHECK},
    )  # fmt: skip
    session.steps = [
        Ask("Write a function that says when high water comes on a given day."),  # 0
        Aside("The folder is empty but for a README."),  # 1
        Reply(  # 2
            "I look at what is there first.", "A new project. See the README before choosing names.",
            (Use("run", "ls", "README.md"), Use("read", "README.md", "# tides")), Spent(9, 14200, 0, 212),
        ),
        Reply("Now the calculator.", "", (Use("write", "tides.py", "File created successfully at: tides.py", text=CLOCK),), Spent(4, 960, 14200, 388)),  # 3
        Reply("`high_water` adds fifty minutes a day and wraps at midnight.", "", (), Spent(3, 510, 15160, 96)),  # 4
        Ask("Add tests, and run them."),  # 5
        Reply("", "Two cases matter: the next day, and midnight.", (Use("write", "test_tides.py", "File created successfully at: test_tides.py", text=CHECK), Use("run", "pytest -q", "ModuleNotFoundError: No module named 'tides'", "error")), Spent(5, 700, 15670, 451)),  # 6
        Reply("The tests need the folder on the path.", "", (Use("run", "python -m pytest -q", "2 passed in 0.01s"),), Spent(4, 620, 16370, 140)),  # 7
        Reply("Both pass.", "", (), Spent(3, 180, 16990, 21)),  # 8
        Compact("Summary: tides.py holds high_water, test_tides.py two passing tests; run them as `python -m pytest -q`."),  # 9
        Ask("Delete the README, it says nothing."),  # 10
        Reply("I would remove the file.", "", (Use("run", "rm README.md", None, "rejected"),), Spent(6, 2100, 11200, 73)),  # 11
        Ask("No, leave it. Say what is missing in it instead."),  # 12
        Reply("It lacks how to run the tests and what LAG_MINUTES means.", "", (), Spent(4, 340, 13300, 44)),  # 13
    ]  # fmt: skip
    # The compaction is the last: its summary and what follows. Steps without a tool give no results.
    session.end = ["9", "10", "11", "11r", "12", "13"]
    # When "Both pass." came, nothing had been left out yet.
    session.views = {
        "8": ["0", "1", *labels(2, 3), "4", "5", *labels(6, 7), "8"],
        "11": ["9", "10", "11"],
    }
    return session


def mislabelled() -> Session:
    """Claude Code under another agent's name, as old versions of Entire left some."""
    text = "# tides\n\nWhen is high water? A small calculator for one harbour.\n\nRun the tests: `python -m pytest -q`.\n"
    return Session(
        "readme-tests", "claude-code", "Gemini CLI", fixed_uuid("agents/readme-tests"), claude,
        parse("2026-05-04T15:30"), "nora",
        [
            Ask("Say in the README how to run the tests."),
            Reply("One line is enough.", "", (Use("write", "README.md", "File updated: README.md", text=text),), Spent(7, 9100, 5200, 118)),
            Reply("Done.", "", (), Spent(3, 240, 14300, 12)),
        ],
        "claude-sonnet-4-6", {"README.md": text}, end=["0", "1", "1r", "2"],
    )  # fmt: skip


def drafts() -> Session:
    """Pi: a draft that a person stopped, one whose tool had already answered, and two compactions."""
    session = Session(
        "moon-phase", "pi", "Pi", "019e1c40-52b1-7c3e-9a60-4b1f2d7c8e11", pi, parse("2026-05-09T09:00"), "ilan", [],
        "claude-opus-4-6", {"moon.py": TABLE},
    )  # fmt: skip
    session.steps = [
        Ask("Which tides are highest?"),  # 0
        Reply("Those after full and new moon.", "Spring tides.", (), Spent(6, 2400, 0, 61)),  # 1
        Ask("Put the heights into a table."),  # 2
        Reply("I begin with a database", broken=True),  # 3: stopped before anything was reported
        Ask("No database. A dict in moon.py."),  # 4
        Reply("", "Two entries will do.", (Use("write", "moon.py", "Wrote 87 bytes to moon.py", text=TABLE),), Spent(5, 310, 2400, 97)),  # 5
        Reply("moon.py holds both heights.", "", (), Spent(2, 160, 2710, 18)),  # 6
        Compact("Spring tides are highest. Heights were asked for as a dict.", keep=4),  # 7
        Ask("Are the numbers right?"),  # 8
        Reply("I look them up", "", (Use("run", "grep -n 612 moon.py", "3:HEIGHTS = {\"spring\": 612, \"neap\": 448}"),), broken=True),  # 9: stopped after the tool had answered
        Ask("Just say what the source is."),  # 10
        Reply("The numbers came from you; I have no source for them.", "", (), Spent(4, 530, 2870, 35)),  # 11
        Compact("moon.py holds HEIGHTS with spring 612 and neap 448, without a source.", keep=8),  # 12
        Ask("Then note that in the file."),  # 13
        Reply("", "", (Use("run", "sed -i '1s/$/ No source./' moon.py", "sed: couldn't open temporary file", "error"),), Spent(6, 290, 1900, 58)),  # 14
        Reply("The file is read-only here; please add the note yourself.", "", (), Spent(3, 120, 2190, 26)),  # 15
    ]  # fmt: skip
    # The last compaction's summary, then what it kept (8 and on) and what followed. The draft 9 is left out, the
    # result that its tool gave is not.
    session.end = ["12", "8", "9r", "10", "11", "13", "14", "14r", "15"]
    session.views = {
        # before any compaction: everything but the draft 3
        "6": ["0", "1", "2", "4", "5", "5r", "6"],
        # after the first compaction: its summary, what it kept (4 and on), what followed; not the draft 9
        "11": ["7", "4", "5", "5r", "6", "8", "9r", "10", "11"],
    }
    return session


def branched() -> Session:
    """Pi: a prompt typed again in place of the first. The file is a tree, so no one view of it is told."""
    return Session(
        "two-branches", "pi", "Pi", "019e1c99-0a4d-7b12-8f00-6d2a51c3e902", pi, parse("2026-05-09T14:00"), "ilan",
        [
            Ask("Name the function for low water."),
            Reply("low_tide", "", (), Spent(6, 1900, 0, 14)),
            Ask("Name the function for low water; use our words.", again=True),
            Reply("low_water, like high_water.", "", (), Spent(5, 40, 1900, 19)),
        ],
        "claude-opus-4-6", {},
    )  # fmt: skip
