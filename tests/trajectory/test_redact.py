"""Forty and more kinds of secrets do not leave, what only looks random stays, a report says what was replaced where."""

from __future__ import annotations

import hashlib
import json
import logging
import random
import sys
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

import sessionbank as sb
from sessionbank.trajectory import Redactor, Task, synthesize, write_jsonl
from sessionbank.trajectory.canonical import canonical_records
from sessionbank.trajectory.export import FORMATS, UnredactedWarning
from tests.trajectory.made_sessions import Script, small
from tests.trajectory.planted import planted

PLANTED = planted()
FORMS = {
    "as it is": lambda t: t,
    "within lines": lambda t: f"before\n{t}\nafter",
    "in JSON": lambda t: json.dumps({"command": f"first\n{t}"}),
    "in JSON in JSON": lambda t: json.dumps({"x": json.dumps({"command": f"a\n{t}\nb"})}),
}


def forms_of(value):
    """The value, and how JSON writes it."""
    return {value, json.dumps(value)[1:-1]}


def test_there_are_at_least_forty_kinds():
    assert len({kind for kind, _, _ in PLANTED}) == len(PLANTED) >= 40


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("kind", "value", "text"), PLANTED, ids=[p[0] for p in PLANTED])
def test_a_secret_is_found_in_its_usual_place(kind, value, text, form):
    given = FORMS[form](text)
    assert any(v in given for v in forms_of(value)) or "JSON in JSON" in form
    left = Redactor().text(given)
    assert not any(v in left for v in forms_of(value))
    if "JSON" in form:
        assert isinstance(json.loads(left), dict)  # still JSON


@pytest.mark.parametrize("seed", range(100, 130))
def test_other_values_of_the_same_kinds_are_found_too(seed):
    leaked = [k for k, value, text in planted(seed) if value in Redactor().text(text)]
    assert leaked == []


def secretive():
    """A session with every planted secret in a prompt, a thought, an argument and an observation."""
    s = Script()
    for number, (_, _, text) in enumerate(PLANTED):
        s.prompt(f"Please see: {text}")
        s.tool(f"m{number}", f"t{number}", "Bash", json.dumps({"command": text}), output=f"> {text}")
        s.reply(f"n{number}", sb.records.Block("thinking", f"It says {text}"), sb.records.Block("text", text))
    return s.session(intent=PLANTED[0][2])


@pytest.mark.parametrize("form", [f for f in FORMATS if f != "canonical"])
def test_no_secret_leaves_through_a_file(tmp_path, form):
    written = write_jsonl([synthesize(secretive(), outcome=None)], tmp_path / "out.jsonl", format=form)
    text = written.path.read_text("utf-8")
    assert [k for k, value, _ in PLANTED if any(v in text for v in forms_of(value))] == []
    assert written.rows


def test_no_secret_leaves_through_canonical_records(tmp_path):
    turns = []
    for number, (_, _, text) in enumerate(PLANTED):
        asked = {"role": "user", "content": f"Please see: {text}"}
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": text}}
        said = {"role": "assistant", "content": [{"type": "text", "text": text}, call]}
        turns += [("user", asked), ("assistant", said)]
    rows = [
        {
            "type": kind,
            "uuid": f"u{n}",
            "sessionId": "s1",
            "timestamp": f"2026-03-02T09:{n // 60:02}:{n % 60:02}.000Z",
            "message": m,
        }
        for n, (kind, m) in enumerate(turns)
    ]
    stored = "\n".join(map(json.dumps, rows)).encode()

    class Reach:
        def canonical(self, session, record):
            return canonical_records(stored)

    session = replace(secretive(), reach=Reach())
    text = write_jsonl([session], tmp_path / "out.jsonl", format="canonical").path.read_text("utf-8")
    assert len(text.splitlines()) > len(PLANTED)
    assert [k for k, value, _ in PLANTED if any(v in text for v in forms_of(value))] == []


def test_no_secret_leaves_through_the_report_log_or_repr(tmp_path, caplog):
    with caplog.at_level(logging.DEBUG):
        written = write_jsonl([synthesize(secretive(), outcome=None)], tmp_path / "out.jsonl")
    shown = written.report().to_csv() + repr(written) + caplog.text
    assert [k for k, value, _ in PLANTED if value in shown] == []


def test_without_redaction_it_says_so_and_changes_nothing(tmp_path):
    made = synthesize(secretive(), outcome=None)
    with pytest.warns(UnredactedWarning, match="redact=False"):
        written = write_jsonl([made], tmp_path / "out.jsonl", redact=False)
    assert PLANTED[1][1] in written.path.read_text("utf-8")
    assert written.report().empty


def test_one_value_has_one_placeholder_everywhere_and_two_have_two():
    one, two = PLANTED[0], planted(8)[0]
    redactor = Redactor()
    first = redactor.text(f"a {one[1]} b {two[1]} c {one[1]}")
    assert first == "a [REDACTED:github-token:1] b [REDACTED:github-token:2] c [REDACTED:github-token:1]"
    assert redactor.text(two[1]) == "[REDACTED:github-token:2]"


def test_what_was_found_once_is_replaced_where_nothing_tells_what_it_is():
    s = Script()
    s.prompt("What is in .env?")
    s.tool("m1", "t1", "Bash", "{}", output="DB_PASSWORD=kT7vQ2mXw9")
    s.tool(
        "m2", "t2", "Bash", '{"command":"psql"}', output="entered kT7vQ2mXw9, thanks; mkowalczyk logged in"
    )
    done = Redactor().trajectory(synthesize(s.session(), outcome=None))
    assert done.own_steps[0].observation == "DB_PASSWORD=[REDACTED:password:1]"
    assert done.own_steps[1].observation == "entered [REDACTED:password:1], thanks; redacted_user_1 logged in"
    assert done.task.context["cwd"] == "/Users/redacted_user_1/src/shop"


def test_names_of_the_caller_are_taken_out():
    assert Redactor(names=["Acme Corp"]).text("for ACME corp only") == "for redacted_name_1 only"


def test_the_report_says_what_was_replaced_where():
    s = Script()
    s.prompt("Mail lea@studio-nord.eu")
    s.tool("m1", "t1", "Bash", "{}", output="lea@studio-nord.eu, lea@studio-nord.eu and kim@studio-nord.eu")
    made = synthesize(s.session(), outcome=None)
    redactor = Redactor()
    redactor.trajectory(made)
    found = redactor.report()
    mails = found[(found["kind"] == "email") & (found["field"] == "step.observation")]
    assert mails[["placeholder", "count", "first_step"]].values.tolist() == [
        ["[REDACTED:email:1]", 2, 0],
        ["[REDACTED:email:2]", 1, 0],
    ]
    assert set(found["trajectory_id"]) == {made.id}
    assert "turn.text" in set(found["field"])


def test_ids_times_numbers_and_subagents_are_what_they_were():
    made = synthesize(small(), outcome=None)
    done = Redactor().trajectory(made)
    assert [(s.tool_call_id, s.message_uuid, s.tokens, s.started_at) for s in done.own_steps] == [
        (s.tool_call_id, s.message_uuid, s.tokens, s.started_at) for s in made.own_steps
    ]
    clean = replace(made, task=Task("x", "python", {}))
    assert Redactor().trajectory(clean) is clean


# -- what only looks random ----------------------------------------------------------------------------------------


def random_looking(count=2000):
    """Ids and hashes as they stand in transcripts, in words that speak of tokens and keys."""
    draw = random.Random(3)
    frames = [
        "commit {}",
        '"uuid":"{}"',
        "sha256:{}",
        "index {}..{}",
        "toolu_{}",
        "request_id={}",
        "key: {}",
        "the cache key is {}",
        "blob {}",
        "msg_{}",
        "id {} done",
        'etag: "{}"',
        "integrity sha512-{}",
        "image@sha256:{}",
        "https://x.dev/c/{}",
        "sessions/{}.jsonl",
    ]
    for number in range(count):
        seed = str(draw.random()).encode()
        value = [
            hashlib.sha1(seed, usedforsecurity=False).hexdigest(),
            hashlib.sha256(seed).hexdigest(),
            hashlib.sha1(seed, usedforsecurity=False).hexdigest()[:8],
            str(uuid.UUID(bytes=hashlib.sha256(seed).digest()[:16])),
            "01" + hashlib.sha256(seed).hexdigest()[:22].upper(),
        ][number % 5]
        yield value, frames[number % len(frames)].replace("{}", value)


def test_ids_and_hashes_survive():
    kept = [value in Redactor().text(text) for value, text in random_looking()]
    assert sum(kept) / len(kept) >= 0.95


def test_code_survives():
    """Files of the standard library: lines that stay as they are, apart from addresses and names of authors."""
    folder = Path(json.__file__).parent.parent
    files = sorted(folder.glob("*.py"))[::4]
    changed = total = 0
    for file in files:
        text = file.read_text("utf-8", "replace")
        redactor = Redactor()
        redactor.text(text)
        report = redactor.report()
        changed += int(report.loc[~report["kind"].isin(["email", "person"]), "count"].sum())
        total += text.count("\n")
    assert total > 10_000
    assert changed / total < 0.001, sys.version


CODE = [
    "password = getpass.getpass()",
    "token = request.headers['X-Auth-Token']",
    "const apiKey = process.env.OPENAI_API_KEY;",
    "tokens: 183220, cache_read: 91200",
    '{"input_tokens":1234,"output_tokens":98}',
    "export TOKEN=$GITHUB_TOKEN",
    "if token != expectedToken {",
    "password: str | None = None",
    "secret_name = 'shop/database'",
    "SecretKeyRef: shop-config",
    "Author: Claude <noreply@anthropic.com>",
    "git clone git@github.com:shop/api.git",
    "npm i @types/node@18.19.3",
    "logo@2x.png",
    "func (s *Store) Token() string { return s.token }",
    "/home/runner/shop",
    "/Users/<user>/src",
    "go get x.dev/y@v1.2.3",
    'raise ValueError("password must not be empty")',
    "max_tokens=4096, token_budget=200000",
    "authorization: required",
    "bearer token is missing",
    "basic authentication failed",
    "sk-learn and task-runner-for-a-long-long-list",
    "[REDACTED]",
    "PASSWORD_MIN_LENGTH = 12",
    "curl -u $USER:$PASSWORD https://x.dev",
    "http://localhost:8080/a@b",
    "password: REDACTED",
]


@pytest.mark.parametrize("line", CODE)
def test_code_and_prose_that_speak_of_secrets_stay(line):
    assert Redactor().text(line) == line


@pytest.mark.shared
def test_real_sessions_keep_their_ids_and_lose_nothing_but_names(shared, tmp_path):
    """Transcripts that Entire has cleaned already: what is taken out beside names and addresses is next to nothing."""
    with sb.open_bank(
        shared / "data" / "go-cli.bundle", cache=tmp_path, state_dir=tmp_path, progress=False
    ) as bank:
        made = [synthesize(s, outcome=None) for s in bank.discover()]
    redactor = Redactor()
    done = [redactor.trajectory(t) for t in made]
    report = redactor.report()
    other = report[~report["kind"].isin(["email", "user", "person"])]
    assert other["count"].sum() <= 20
    for before, after in zip(made, done, strict=True):
        assert [s.tool_call_id for s in before.own_steps] == [s.tool_call_id for s in after.own_steps]
        assert [s.message_uuid for s in before.own_steps] == [s.message_uuid for s in after.own_steps]
