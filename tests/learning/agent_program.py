"""A real command-line agent for tests: reads a workspace, writes its results, and misbehaves as it is told.

Usage: ``agent_program.py MODE``, in the workspace. It imports nothing of sessionbank.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

OUT = Path("output")


def read(name: str):
    return json.loads(Path("input", name).read_text())


def results() -> dict[str, object]:
    """Right results, of what the input says."""
    config, graph = read("team-config.json"), read("interactions/graph.json")["interactions"]
    steps = {m["agent_id"]: read(m["trajectory"])["step_numbers"] for m in config["members"]}
    made: dict[str, object] = {
        "agent-credits.json": {
            "credits": [
                {
                    "agent_id": m["agent_id"],
                    "role": m["role"],
                    "contribution_score": 0.5,
                    "assessment": "took part",
                    "role_assessment": "helpful",
                    "step_attributions": [
                        {
                            "step_index": steps[m["agent_id"]][0],
                            "attribution": 0.25,
                            "reasoning": "it began here",
                        }
                    ],
                }
                for m in config["members"]
            ]
        },
        "interaction-credits.json": {
            "credits": [
                {
                    "interaction_id": e["id"],
                    "type": e["type"],
                    "from_role": e["from"]["role"],
                    "to_role": e["to"]["role"],
                    "value": "helpful",
                    "credit_score": 0.5,
                    "reasoning": "it was used",
                    "necessity": "useful",
                    "content_quality": 0.5,
                }
                for e in graph[:3]
            ]
        },
        "coordination-assessment.json": {
            "quality": "good",
            "narrative": "They worked together.",
            "observed_patterns": [
                {
                    "name": "Quiet hand-over",
                    "description": "Work goes over without questions.",
                    "roles": [config["members"][0]["role"]],
                    "interaction_ids": [graph[0]["id"]],
                    "correlated_with_success": True,
                }
            ],
        },
        "team-lessons.json": {
            "coordination_lessons": [
                {
                    "category": "communication",
                    "lesson": "Say which tests ran.",
                    "evidence": graph[0]["id"],
                    "confidence": 0.5,
                }
            ]
        },
        "meta-observations.json": {
            "formation": {"was_effective": True, "reasoning": "all roles worked"},
            "composition": {"role_utilization": {}, "team_size_assessment": "right-sized"},
            "coordination": {"topology_assessment": "effective", "enforcement_assessment": "appropriate"},
        },
    }
    for number, m in enumerate(config["members"]):
        made[f"role-lessons/{number}.json"] = {
            "role": m["role"],
            "agent_id": m["agent_id"],
            "strengths": ["Says what was done."],
            "improvements": [],
            "role_assessment": "helpful",
            "evidence": [{"step_index": steps[m["agent_id"]][0], "description": "first step"}],
        }
    return made


def write(made: dict[str, object]) -> None:
    for name, value in made.items():
        path = OUT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))


def stream() -> None:
    """Print the work as Claude Code's stream-json does."""
    say = lambda value: print(json.dumps(value), flush=True)  # noqa: E731
    say({"type": "system", "session_id": "11111111-2222-3333-4444-555555555555"})
    for number, path in enumerate(("input/structural-metrics.json", "input/trajectories/lead.json")):
        use = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": path}}
        say({"type": "assistant", "message": {"content": [{"type": "text", "text": "I read."}, use]}})
        say(
            {
                "type": "user",
                "message": {
                    "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": "..."}]
                },
            }
        )
    say({"type": "result", "usage": {"input_tokens": 100, "output_tokens": 20}})


SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)", "sessionbank-test-sleeper"]


def main(mode: str) -> int:
    told = sys.stdin.read()
    if mode == "well":
        if "## Workspace" not in told:
            return 3
        stream()
        write(results())
    elif mode == "hangs":
        write(results())
        time.sleep(600)
    elif (
        mode == "forks"
    ):  # leaves children: in its group, in a session of its own, and with no environment at all
        write(results())
        subprocess.Popen(SLEEPER)
        subprocess.Popen(
            SLEEPER,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execve(sys.executable, SLEEPER, {})
            os._exit(0)
        time.sleep(0.3)
    elif mode == "floods":
        write(results())
        line = b"x" * 65536
        for _ in range(400):
            os.write(1, line)
            os.write(2, line)
    elif mode == "broken":
        write({**results(), "agent-credits.json": '{"credits": [', "team-lessons.json": "\x00\xff not json"})
    elif mode == "partial":
        made = results()
        write({k: made[k] for k in list(made)[:2]})
    elif mode == "wrong-references":
        text = json.dumps(results()).replace('"lead"', '"nobody"').replace('"e0"', '"e999"')
        write(json.loads(text))
    elif mode == "wrong-values":
        made = results()
        made["agent-credits.json"]["credits"][0]["contribution_score"] = 7  # type: ignore[index]
        made["agent-credits.json"]["credits"][1]["role_assessment"] = "great"  # type: ignore[index]
        made["coordination-assessment.json"] = {"narrative": 3}
        write(made)
    elif mode == "links":  # results that are links to elsewhere, and folders that are
        secret = Path(os.environ["OUTSIDE"])
        made = results()
        write({k: v for k, v in made.items() if not k.startswith("role-lessons")})
        (OUT / "team-lessons.json").unlink()
        (OUT / "team-lessons.json").symlink_to(secret / "secret.json")
        (OUT / "role-lessons").rmdir()
        (OUT / "role-lessons").symlink_to(secret)
        Path("workspace").rename("moved")
        Path("workspace").symlink_to(secret)
    elif mode == "path-tricks":
        made = results()
        lesson = next(v for k, v in made.items() if k.startswith("role-lessons"))
        for role in ("../../../escaped", "/escaped/x", "x" * 300):
            write({f"role-lessons/{len(role)}.json": dict(lesson, role=role, agent_id=role)})  # type: ignore[call-overload]
        write(made)
    elif mode == "exits-1":
        write(results())
        print("something went wrong at the end", file=sys.stderr)
        return 1
    elif mode == "changes-input":
        write(results())
        for path in (Path("input/outcome.json"), Path("input/added.json")):
            Path("input").chmod(0o755)
            if path.exists():
                path.chmod(0o644)
            path.write_text('{"label": "success"}')
    elif mode == "writes-on":  # goes on writing while results are read
        write(results())
        code = (
            "import time\nwhile True:\n open('output/agent-credits.json', 'w').write('{')\n time.sleep(0.001)"
        )
        subprocess.Popen([sys.executable, "-c", code, "sessionbank-test-sleeper"], start_new_session=True)
        time.sleep(0.2)
        write(results())
        time.sleep(0.05)
    elif mode == "kills-its-group":
        write(results())
        os.kill(0, 9)
    else:
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
