"""Texts made to make a reader hang, and names made to leave a folder or a page: read in a time in proportion to them."""

from __future__ import annotations

import time

import pytest

from sessionbank.team import compress, from_input, metrics, score, survival, to_networkx, validate
from sessionbank.team.actions import action_kind
from sessionbank.team.model import TeamStep
from sessionbank.team.subagents import _fields, _inside

N = 200_000
# each took minutes, or would have, while a pattern looked at all that follows from each of its beginnings
COMMANDS = [
    "npm " * (N // 4),
    "A" * N,
    "a." * (N // 2),
    "cd " + "a" * N,
    "git " * (N // 4),
    "make;" * (N // 5),
]
OUTPUTS = [
    "<system-reminder>" * (N // 17), "a.b/" * (N // 4), "=" * 11 + " " * N + "=" * N, "\r\n" * N + "\r" * N,
    "." + " " * N + "x", "error: " * (N // 7), "0a-" * (N // 3), "A" * 199 + " " + "A" * N, "_" * N, ". " * N,
]  # fmt: skip


def run(**step: object) -> dict:
    steps = [{"action_name": "Bash", **step}, *({"action_name": "Read"},) * 8]
    return {"objective": "x", "members": [{"agent_id": "a", "role": "a", "steps": steps}]}


@pytest.mark.parametrize(
    "step",
    [*({"action_input": {"command": c}} for c in COMMANDS), *({"observation": o} for o in OUTPUTS)],
    ids=[f"command {n}" for n in range(len(COMMANDS))] + [f"output {n}" for n in range(len(OUTPUTS))],
)
def test_no_text_hangs(step: dict) -> None:
    team = from_input(run(**step))
    begin = time.process_time()
    score(team)
    survival(compress(team))
    assert time.process_time() - begin < 3


def test_notifications_without_an_end_do_not_hang() -> None:
    begin = time.process_time()
    assert list(_inside("<task-notification>" * N, "task-notification")) == []
    assert _fields("<result>" * N + "<status>" * N) == {}
    assert time.process_time() - begin < 3


def test_fields_of_a_notification() -> None:
    text = (
        "<task-notification><task-id> a1 </task-id><result>see <status>x</status></result><summary>no end"
        "</task-notification> <task-notification><task-id>b2</task-id></task-notification>"
    )
    assert [_fields(p) for p in _inside(text, "task-notification")] == [
        {"task-id": "a1", "result": "see <status>x</status>"},
        {"task-id": "b2"},
    ]


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("npm --prefix web run test", "check"), ("cd web && pnpm build", "check"), ("make -j4 lint", "check"),
        ("npm install; echo test", "run"), ("cmake x", "run"), ("echo check | make", "run"), ("go vet ./...", "check"),
        ("npm ci && npm run lint", "check"), ("test -f x && make", "run"), ("npm run latest", "run"),
    ],
)  # fmt: skip
def test_what_a_command_asks_of_a_runner(command: str, kind: str) -> None:
    assert action_kind(TeamStep(None, "a", 0, action_name="Bash", action_input=command)) == kind


def test_names_are_only_names() -> None:
    tag = {"interaction_id": "<i>", "interaction_type": "message"}
    names = ("../x", "{0}%s<script>")
    team = from_input(
        {
            "objective": "<script>alert(1)</script>",
            "members": [
                {"agent_id": mine, "role": "../../etc", "steps": [
                    {"action_name": "<b>", "observation": "\x1b[31m",
                     "interactions": [{**tag, "counterpart": other, "step_role": side}]}]}
                for mine, other, side in ((*names, "source"), (*names[::-1], "target"))
            ],
        }
    )  # fmt: skip
    assert validate(team) == ()
    assert list(to_networkx(team).edges(keys=True)) == [(*names, "<i>")]
    assert metrics(team).handover.loc[names[0], names[1]] == 1
