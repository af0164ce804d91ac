"""Sessions for tests of the explorers: one with everything in it, in a real repository; a long one in memory."""

from __future__ import annotations

from tests.makers.banks import opened
from tests.makers.checkpoints import CheckpointRepo, session
from tests.makers.claude import Claude, nested_reply, nested_result, tool
from tests.trajectory.outcome_sessions import bash
from tests.trajectory.outcome_sessions import session as talk

LONG = "line of output\n" * 2000  # 30,000 characters


def full(session_id="11111111-2222-4333-8444-555555555555", *, evil="", prompt="Mend the cart"):
    """A conversation with a diff, a command, an error, a subagent, thinking, code, and a long result."""
    claude = Claude(session_id)
    claude.prompt(prompt + evil)
    claude.reply({"type": "thinking", "thinking": f"Prices are floats.{evil}"}, message_id="m1")
    claude.reply(f"I look first.{evil}\n```diff\n-old line\n+new line\n```\nThen `more`.", message_id="m1")
    claude.reply(
        tool(
            "t1",
            "Edit",
            file_path=f"/srv/shop/cart.py{evil}",
            old_string=f"a = 1{evil}\nkept\n",
            new_string="a = 2\nkept\n",
        ),
        message_id="m2",
    )
    claude.result("t1", f"updated{evil}")
    claude.reply(tool("t2", "Bash", command=f"pytest -q{evil}", description="Run the tests"), message_id="m3")
    claude.result("t2", f"1 failed{evil}", is_error=True)
    claude.reply(
        tool("t3", "Task", subagent_type=f"Explore{evil}", prompt=f"look around{evil}"), message_id="m4"
    )
    claude.progress(
        nested_reply("n1", tool("s1", "Grep", pattern="cart", path="."), message_id="sm1", output=5),
        call_id="t3",
    )
    claude.progress(nested_result("n2", "s1", f"cart.py:3{evil}"), call_id="t3")
    claude.result("t3", "All in cart.py")
    claude.reply(tool("t4", "Bash", command="cat big.log"), message_id="m5")
    claude.result("t4", LONG + evil)
    claude.reply(f"Mended the cart.{evil}", message_id="m6")
    return claude


def bank_of(tmp_path, *talks, **stated):
    """A bank of these conversations, one checkpoint each."""
    repo = CheckpointRepo(tmp_path / "repo")
    for number, claude in enumerate(talks):
        given = {key: value[number] for key, value in stated.items()}
        repo.add_checkpoint(
            f"{number:012x}", sessions=[session(claude.session_id, transcript=claude.bytes(), **given)]
        )
    return opened(repo.path, tmp_path)


def long_talk(lines=5000):
    """A session in memory: a prompt, then replies and commands in turn, of which every thousandth fails."""
    turns = [("prompt", "Do it")]
    for number in range(1, lines):
        failed = "error" if number % 1000 == 0 else "ok"
        turns.append(
            ("reply", f"step {number}")
            if number % 2
            else bash(f"make part{number}", failed, f"made {number}")
        )
    return talk(*turns)
