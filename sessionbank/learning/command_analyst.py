"""An analyst that is any program on the command line: ``claude -p``, ``codex exec``, a script.

It runs in the workspace, under `supervise`, with a time limit, a cap on what it prints, and the environment that the
caller chose; nothing that it started is left running. What it printed is kept in the workspace and made a trajectory.
Its results are read by `readback`. What a program does beyond its folder we cannot hinder: that takes a container.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from sessionbank.errors import QueryError
from sessionbank.learning.analyst import AnalystRun
from sessionbank.learning.workspace import Workspace, own_folder
from sessionbank.sources.locking import write_whole
from sessionbank.trajectory.model import RESPOND, Step, Task, Trajectory

PASSED_ON = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "USER",
    "SHELL",
    "TERM",
)  # of our environment, by default
LIMIT = 300.0  # seconds, where neither the caller nor a configuration says otherwise
GRACE = 10.0  # seconds that the supervisor has to end what is left


class CommandAnalyst:
    """Runs `command` in the workspace.

    In `command`, ``{prompt}`` as a whole argument stands for the task in words; without it the task comes on standard
    input. `env` is the whole environment of the program (None: a few names of ours, such as PATH and HOME, and no
    others). `timeout` is in seconds (None: the configuration's, 300 without one), `output_cap` in bytes for each of
    standard output and error: what is printed beyond is read and thrown away.

    Example:
        >>> import sys
        >>> program = "import pathlib; pathlib.Path('output/team-lessons.json').write_text('{}')"
        >>> worker = sb.learning.CommandAnalyst([sys.executable, "-c", program], name="mine", timeout=60)
        >>> session = bank.get_by_session_id("4332729f-137e-43ea-a08c-759d9252c91d")
        >>> atlas = sb.Atlas(bank, "memory", config={"session_bank": {"outcome_strategy": "evidence"}})
        >>> result = atlas.process_team(atlas.team_of(session), analyst=worker)
        >>> result.run.status, result.experience.written_by["team-lessons.json"], len(result.filled) > 0
        ('done', 'mine', True)
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        output_cap: int = 5_000_000,
    ) -> None:
        if isinstance(command, str) or not command:
            raise QueryError("command is a list of arguments, the program first; a shell is never asked")
        if (timeout is not None and timeout <= 0) or output_cap < 0:
            raise QueryError("timeout must be above 0 and output_cap at least 0")
        self.command = tuple(command)
        self.name = name or Path(command[0]).name
        self.env = dict(env) if env is not None else {k: os.environ[k] for k in PASSED_ON if k in os.environ}
        self.timeout: float | None = timeout
        self.output_cap = output_cap

    @property
    def limit(self) -> float:
        """The time limit in seconds."""
        return LIMIT if self.timeout is None else self.timeout

    def work(self, workspace: Workspace, *, knowledge: Mapping[str, str]) -> AnalystRun:
        """Runs the program to its end or its limit; never raises for what it does."""
        prompt = _prompt(workspace, knowledge)
        command = [prompt if part == "{prompt}" else part for part in self.command]
        said = None if "{prompt}" in self.command else prompt.encode()
        start = time.monotonic()
        report, printed, is_late = self._run(command, workspace.path, said)
        seconds = time.monotonic() - start
        own_folder(workspace.notes)  # the program may have put something else in its place
        for name, (data, _) in printed.items():
            write_whole(workspace.notes / f"{name}.txt", data)
        run = AnalystRun(
            self.name, "done", seconds=round(seconds, 3), exit_status=report.get("status"),
            is_truncated=any(more for _, more in printed.values()), left_processes=int(report.get("left") or 0),
        )  # fmt: skip
        if "error" in report:
            return replace(run, status="not_started", message=f"it could not be started: {report['error']}")
        output, _ = printed["stdout"]
        run = replace(run, **_trajectory(output, workspace, prompt, self.name))
        if is_late:
            return replace(
                run, status="timeout", message=f"it did not end within {self.limit:g} s and was ended"
            )
        if run.exit_status != 0:
            told = _last_line(printed["stderr"][0])
            return replace(
                run, status="failed", message=f"exit status {run.exit_status}{f': {told}' if told else ''}"
            )
        return run

    def _run(
        self, command: list[str], folder: Path, said: bytes | None
    ) -> tuple[dict[str, Any], dict[str, tuple[bytes, bool]], bool]:
        reading, writing = os.pipe()
        script = Path(__file__).with_name("supervise.py")
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(script), str(writing), *command],
            cwd=folder, env={**self.env, "SESSIONBANK_WORKSPACE": str(folder)}, pass_fds=(writing,),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        os.close(writing)
        kept: dict[str, tuple[bytes, bool]] = {"stdout": (b"", False), "stderr": (b"", False)}
        assert process.stdin and process.stdout and process.stderr
        threads = [
            threading.Thread(
                target=_read, args=(process.stdout, "stdout", kept, self.output_cap), daemon=True
            ),
            threading.Thread(
                target=_read, args=(process.stderr, "stderr", kept, self.output_cap), daemon=True
            ),
            threading.Thread(target=_say, args=(process.stdin, said), daemon=True),
        ]
        for thread in threads:
            thread.start()
        is_late = False
        try:
            try:
                process.wait(self.limit)
            except subprocess.TimeoutExpired:
                is_late = True
        finally:
            _end(process)
            for thread in threads:
                thread.join(GRACE)
            with os.fdopen(reading, "rb") as stream:
                text = stream.read(65536)
        for pipe in (process.stdout, process.stderr):
            pipe.close()
        try:
            report = json.loads(text)
        except ValueError:
            report = {"status": process.returncode}  # the supervisor itself was killed
        return report, kept, is_late


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the supervisor, and with it all below it; a supervisor that was killed cannot, so its group is ended too."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _read(stream: IO[bytes], name: str, kept: dict[str, tuple[bytes, bool]], cap: int) -> None:
    parts, size = [], 0
    more = False
    while chunk := stream.read1(65536):  # type: ignore[attr-defined]
        if size < cap:
            parts.append(chunk[: cap - size])
        more = more or size + len(chunk) > cap
        size += len(chunk)
    kept[name] = (b"".join(parts), more)


def _say(stream: IO[bytes], said: bytes | None) -> None:
    try:
        if said:
            stream.write(said)
        stream.close()
    except OSError:
        pass  # a program need not read what it is told


def _prompt(workspace: Workspace, knowledge: Mapping[str, str]) -> str:
    """The task in words, with what memory knows; the same is written below ``knowledge/``."""
    task = (workspace.path / "TASK.md").read_text()
    if not knowledge:
        return task
    own_folder(workspace.path / "knowledge")
    for name, text in knowledge.items():
        write_whole(workspace.path / "knowledge" / name, text.encode("utf-8", "replace"))
    return "\n\n".join([task, "## Atlas Knowledge", *knowledge.values()]).encode("utf-8", "replace").decode()


def _last_line(data: bytes) -> str:
    lines = data.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else ""


# ---- what it printed, as a trajectory -------------------------------------------------------------------------------


def _trajectory(printed: bytes, workspace: Workspace, prompt: str, name: str) -> dict[str, Any]:
    """Fields of `AnalystRun`: trajectory, tool_calls and tokens of what the program printed.

    Claude Code's ``--output-format stream-json`` gives its steps; other output is one step with the text.
    """
    lines = [v for line in printed.splitlines() if line.startswith(b"{") and (v := _json(line)) is not None]
    steps = _stream_steps(lines)
    tokens = _tokens(lines)
    calls: int | None = sum(s.tool_call_id is not None for s in steps) if steps else None
    if not steps:
        text = printed.decode("utf-8", "replace")
        steps = [_step(0, None, text[-20_000:] or None, RESPOND)]
    session = next(
        (str(v["session_id"]) for v in lines if isinstance(v.get("session_id"), str)), workspace.id
    )
    made = Trajectory(
        id=f"analysis-{workspace.id}", session_id=session, agent="claude-code" if calls is not None else "unknown",
        task=Task(prompt.strip().splitlines()[0].lstrip("# "), domain=workspace.task), own_steps=tuple(steps),
        total_tokens=tokens, timestamp=datetime.now(UTC), metadata={"analyst": name},
    )  # fmt: skip
    return {"trajectory": made, "tool_calls": calls, "tokens": tokens}


def _json(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _blocks(line: Mapping[str, Any]) -> list[dict[str, Any]]:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def _stream_steps(lines: list[dict[str, Any]]) -> list[Step]:
    results = {
        str(b.get("tool_use_id")): b
        for line in lines
        if line.get("type") == "user"
        for b in _blocks(line)
        if b.get("type") == "tool_result"
    }
    steps: list[Step] = []
    for line in lines:
        if line.get("type") != "assistant":
            continue
        blocks = _blocks(line)
        thought = (
            "\n\n".join(str(b["text"]) for b in blocks if b.get("type") == "text" and b.get("text")) or None
        )
        uses = [b for b in blocks if b.get("type") == "tool_use"]
        for use in uses:
            result = results.get(str(use.get("id")))
            content = result.get("content") if result else None
            text = (
                content if isinstance(content, str) else json.dumps(content) if content is not None else None
            )
            status = "no_result" if result is None else "error" if result.get("is_error") else "ok"
            steps.append(_step(
                len(steps), str(use.get("id")), thought, str(use.get("name") or "unknown"), status=status,
                observation=text, action_input=json.dumps(use.get("input")),
            ))  # fmt: skip
        if not uses and thought:
            steps.append(_step(len(steps), None, thought, RESPOND))
    return steps


def _step(
    number: int, call: str | None, thought: str | None, action: str, *,
    status: str | None = None, observation: str | None = None, action_input: str | None = None,
) -> Step:  # fmt: skip
    return Step(
        step=number, tool_call_id=call, thought=thought, action_name=action, action_input=action_input,
        observation=observation, status=status, started_at=None, duration_ms=None, tokens=None,
    )  # fmt: skip


def _tokens(lines: list[dict[str, Any]]) -> int | None:
    for line in reversed(lines):
        usage = line.get("usage")
        if line.get("type") == "result" and isinstance(usage, dict):
            counts = [v for k, v in usage.items() if k.endswith("_tokens") and isinstance(v, int)]
            return sum(counts) if counts else None
    return None
