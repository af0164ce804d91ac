"""The verdict of a check, from what it printed: counts of passed and failed, the words of its runner, exit codes.

One line of the tables a runner. A runner behind ``make`` or ``npm`` is not known by name, so every table is tried; the
patterns are narrow enough not to meet. Which commands are checks is `check_commands`.
"""

# ruff: noqa: E501 - a pattern or a table row is read as one line

from __future__ import annotations

import re
from dataclasses import dataclass

TAIL = 60_000  # characters; verdicts stand at the end, and a log may be of any size
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Reading:
    """What an output says: passed, failed, timeout or not_run; counts where it gives them."""

    verdict: str
    passed: int | None = None
    failed: int | None = None
    words: str = ""  # the line it was read from


def _m(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def _line(pattern: str) -> re.Pattern[str]:
    """Tried at the start of each line only: an alternation whose ways begin with ^ is tried at each character."""
    return re.compile(f"^(?:{pattern})", re.MULTILINE)


# Summaries with counts. Groups: pass/fail (err adds to fail), total when passed is total minus failed. Per runner the
# last match counts, or the sum of all (True) where a runner prints one for each package. Last, what must stand there.
_COUNTS: tuple[tuple[str, str, bool, str], ...] = (
    # jest, vitest
    (r"^[ \t]*Tests:?\s+(?=.*(?:total|\(\d+\)))(?:(?P<fail>\d+) failed\b[ ,|]*)?(?:\d+ (?:skipped|todo|pending|expected fail)[ ,|]*)*(?:(?P<pass>\d+) passed)?.*$", "jest/vitest", True, "Tests"),
    # pytest, loud and quiet
    (r"^(?:=+ )?(?=.*\d+ (?:passed|failed|errors?|skipped|xfailed|deselected))(?:(?P<fail>\d+) failed(?:, )?)?(?:(?P<pass>\d+) passed(?:, )?)?(?:\d+ (?:skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests passed)(?:, )?)*(?:(?P<err>\d+) errors?)? in [\d.]+s.*$", "pytest", False, " in "),
    # unittest; the number of tests stands in a line of its own
    (r"^FAILED \((?:failures=(?P<fail>\d+))?(?:, )?(?:errors=(?P<err>\d+))?.*\)$", "unittest", False, "FAILED ("),
    # gotestsum
    (r"^DONE (?P<total>\d+) tests?(?:, \d+ skipped)?(?:, (?P<fail>\d+) failures?)?(?:, (?P<err>\d+) errors?)? in [\d.]+s$", "gotestsum", False, "DONE "),
    # cargo test, one line a binary; cargo nextest
    (r"^test result: (?:ok|FAILED)\. (?P<pass>\d+) passed; (?P<fail>\d+) failed;.*$", "cargo test", True, "test result: "),
    (r"^[ \t]*Summary \[.*\] +\d+(?:/\d+)? tests? run: (?P<pass>\d+) passed(?:.*?, (?P<fail>\d+) failed)?.*$", "nextest", False, "Summary ["),
    # mocha: two lines; node --test and TAP: two lines; bun: two lines
    (r"^[ \t]*(?P<pass>\d+) passing\b.*$(?:(?:\n.*)?\n[ \t]*\d+ pending)?(?:\n[ \t]*(?P<fail>\d+) failing)?", "mocha", False, " passing"),
    (r"^(?:#|ℹ) pass (?P<pass>\d+)[ \t]*$\n(?:#|ℹ) fail (?P<fail>\d+)", "node --test", False, "pass "),
    (r"^[ \t]*(?P<pass>\d+) pass[ \t]*$(?:\n[ \t]*\d+ (?:skip|todo)[ \t]*$)*\n[ \t]*(?P<fail>\d+) fail[ \t]*$", "bun test", False, " pass"),
    # deno
    (r"^(?:ok|FAILED) \| (?P<pass>\d+) passed.*? \| (?P<fail>\d+) failed.*$", "deno test", False, " | "),
    # playwright
    (r"^[ \t]+(?P<fail>\d+) failed[ \t]*$(?:\n.*){0,200}?\n[ \t]+(?P<pass>\d+) passed \(.*$", "playwright", False, " passed ("),
    (r"^[ \t]+(?P<pass>\d+) passed \([\d.]+m?s\)[ \t]*$", "playwright", False, " passed ("),
    # maven/surefire, and JUnit's console
    (r"^(?:\[\w+\] )?Tests run: (?P<total>\d+), Failures: (?P<fail>\d+), Errors: (?P<err>\d+)(?:, Skipped: \d+)?[ \t]*$", "maven", False, "Tests run: "),
    (r"^OK \((?P<pass>\d+) tests?\)[ \t]*$", "junit", False, "OK ("),
    (r"^Tests run: (?P<total>\d+),  ?Failures: (?P<fail>\d+)[ \t]*$", "junit", False, "Tests run: "),
    (r"^\[\s+(?P<pass>\d+) tests successful\s+\][ \t]*$\n\[\s+(?P<fail>\d+) tests failed", "junit", False, "tests successful"),
    # gradle
    (r"^(?P<total>\d+) tests? completed, (?P<fail>\d+) failed.*$", "gradle", False, " completed, "),
    # dotnet, one line an assembly
    (r"^(?:Passed|Failed)!\s+- Failed:\s+(?P<fail>\d+), Passed:\s+(?P<pass>\d+),.*$", "dotnet", True, "- Failed:"),
    # rspec, minitest, ExUnit
    (r"^(?:\d+ (?:doctests?|properties|property), )*(?P<total>\d+) (?:examples?|tests?), (?P<fail>\d+) failures?(?:, (?P<err>\d+) errors?)?.*$", "rspec/exunit", True, " failure"),
    (r"^(?P<total>\d+) (?:runs|tests), \d+ assertions, (?P<fail>\d+) failures, (?P<err>\d+) errors.*$", "minitest", False, " assertions, "),
    # phpunit, pest
    (r"^OK \((?P<pass>\d+) tests?, \d+ assertions?\)", "phpunit", False, "OK ("),
    (r"^Tests: (?P<total>\d+), Assertions: \d+(?:, Errors: (?P<err>\d+))?(?:, Failures: (?P<fail>\d+))?.*$", "phpunit", False, "Tests: "),
    (r"^[ \t]*Tests:\s+(?:(?P<fail>\d+) failed, )?(?:\d+ \w+, )*?(?P<pass>\d+) passed \(\d+ assertions\)", "pest", False, "Tests:"),
    # ctest, bazel, swift, googletest, dart/flutter
    (r"^\d+% tests passed, (?P<fail>\d+) tests? failed out of (?P<total>\d+)[ \t]*$", "ctest", False, " tests passed, "),
    (r"^Executed \d+ out of (?P<total>\d+) tests?: \d+ tests? pass(?:es)?(?:.*?(?P<fail>\d+) fails?\b)?.*$", "bazel", False, "Executed "),
    (r"^[ \t]*Executed (?P<total>\d+) tests?, with (?:\d+ tests? skipped and )?(?P<fail>\d+) failures?.*$", "xctest", False, "Executed "),
    (r"^\[  PASSED  \] (?P<pass>\d+) tests?\.[ \t]*$(?:\n\[  FAILED  \] (?P<fail>\d+) tests?)?", "googletest", False, "  PASSED  "),
    (r"^\S+ \+(?P<pass>\d+)(?: ~\d+)?(?: -(?P<fail>\d+))?: (?:All tests passed!|Some tests failed\.)[ \t]*$", "dart test", False, " tests "),
    # ava
    (r"^[ \t]*(?P<pass>\d+) tests? passed[ \t]*$", "ava", False, " passed"),
    (r"^[ \t]*(?P<fail>\d+) tests? failed[ \t]*$", "ava", False, " failed"),
)  # fmt: skip
_COUNTED = tuple((_m(p), add, word) for p, _, add, word in _COUNTS)

_RAN = _m(r"^Ran (\d+) tests? in [\d.]+s[ \t]*$")
_GO_OK = _m(r"^(?:\[[\w:\-]+\] )?ok\s+\t?\S+.*$")
_GO_FAIL = _m(r"^(?:\[[\w:\-]+\] )?(?:FAIL(?:[ \t]+\S+.*)?|--- FAIL: .*|panic: .*)$")
_GO_TEST = _m(r"^[ \t]*--- (PASS|FAIL): (\S+)")

# Words that say that it failed, and words that say that it passed. Failing is looked for first.
_FAILED = _line(
    r".*?error TS\d+: .*|Found \d+ errors? in (?:\d+ files?|the same file).*|Found [1-9]\d* errors?\b(?! \(\d+ fixed, 0 remaining\)).*|"  # tsc, mypy, ruff, biome
    r"\S+\.(?:py|pyi):\d+(?::\d+)?: (?:[A-Z]{1,4}\d{2,4}|error:|\[[A-Z]\d{4}).*|"  # flake8, ruff, mypy, pylint
    r"✖ \d+ problems? \([1-9]\d* errors?.*|[1-9]\d* errors?, \d+ warnings?.*|"  # eslint, pyright
    r"(?:\[[\w:\-]+\] )?[1-9]\d* issues?:.*|\d+ files? inspected, [1-9]\d* offenses? detected.*|"  # golangci-lint, rubocop
    r"\[warn\] Code style issues? found.*|.*?Code style issues found in .*|(?:\d+ files? |would reformat ).*would be reformatted.*|would reformat .*|"  # prettier, black
    r" ?\[ERROR\] Found \d+ errors?.*|In \S+ line \d+:$|error(?:\[E\d+\])?: .*|\S+:\d+:\d+: (?:fatal )?error: .*|"  # phpstan, shellcheck, rustc, gcc
    r"\S+\.go:\d+(?::\d+)?: .*|# \S+/\S+$|.*\[build failed\].*|.*\[setup failed\].*|"  # go vet, go build
    r"(?:\[\w+\] )?BUILD (?:FAILURE|FAILED).*|FAILURE: Build failed.*|Build FAILED\.?|\*\* (?:TEST|BUILD) FAILED \*\*|"  # maven, gradle, dotnet, xcode
    r"(?:g?make)(?:\[\d+\])?: \*\*\* (?!No rule).* Error \d+.*|ninja: build stopped.*|ERROR: Build (?:did NOT|failed).*|"  # make, ninja, bazel
    r"npm (?:ERR!|error) (?:Test failed|code ELIFECYCLE|Lifecycle script).*|.*? ELIFECYCLE .*|error Command failed with exit code [1-9]\d*.*|error: script \".*\" exited with code [1-9].*|"
    r".*\bERROR:? task failed.*|Failed to compile\.?.*|(?:Build failed|Compilation failed).*|FAILED \S+::.*|ERROR \S+\.py.*|"  # mise, next, webpack, pytest
    r"Broken contracts?:?.*|Contracts: .*, [1-9]\d* broken\..*|[ \t]*✗ .*| FAIL  .*|FAIL \S+.*|svelte-check found [1-9]\d* errors?.*|Oh no! .*|"
    r".{0,3}Test run with \d+ tests?(?: in \d+ suites?)? failed .*|Failed:\s+\S+#\S+.*|.*ERROR  run failed: .*|[ \t]*✖ +\d+/\d+ targets? failed.*|[^\n.]{2,80}\.{3,}Failed$"  # swift, turbo, nx, pre-commit
)  # fmt: skip
_PASSED = _line(
    r"All checks passed!.*|Success: no issues found.*|0 errors, \d+ warnings.*|(?:\[[\w:\-]+\] )?0 issues\.?$|\d+ files? inspected, no offenses detected.*|"
    r"All matched files use Prettier code style!.*|All done! .*|\d+ files? (?:would be left unchanged|already formatted).*| ?\[OK\] No errors.*|"
    r"Your code has been rated at 10.*|(?:\[\w+\] )?BUILD SUCCESS(?:FUL)?\b.*|Build succeeded\.?|\*\* (?:TEST|BUILD) SUCCEEDED \*\*|"
    r"[ \t]*Finished `?\w+`? (?:profile )?.*target\(s\) in.*|INFO: Build completed successfully.*|Build complete!.*|✓ built in .*|.*[Cc]ompiled successfully.*|"
    r"Checked \d+ files? in .*(?:No fixes applied|no errors).*|✔ No ESLint warnings or errors.*|svelte-check found 0 errors.*|No issues found!.*|"
    r"Found \d+ errors? \(\d+ fixed, 0 remaining\).*|.*?Found 0 errors\..*|✖ \d+ problems? \(0 errors.*|[^\n.]{2,80}\.{3,}Passed$|"  # ruff, tsc, eslint, pre-commit
    r"[ \t]*Tasks:\s+(?P<tasks>\d+) successful, (?P=tasks) total.*|.*NX   Successfully ran target.*|"
    r".{0,3}Test run with \d+ tests?(?: in \d+ suites?)? passed .*|Contracts: .*, 0 broken\..*|PASS$|OK$|OK \(skipped=\d+\)$|The configuration is valid.*|Success! The configuration is valid.*"
)  # fmt: skip
_NOT_RUN = _line(
    r".*: (?:command )?not found$|.*: No such file or directory$|(?:npm (?:ERR!|error) )?Missing script:.*|error Command \".*\" not found\..*|"
    r"ERROR: file or directory not found:.*|.*error: unrecognized arguments:.*|ERROR: unrecognized arguments.*|g?make: \*\*\* No rule to make target.*|"
    r".*No module named '?(?:pytest|mypy|ruff|flake8|tox|unittest)\b.*|error: no such (?:command|subcommand).*|no tests ran in .*|collected 0 items.*|"
    r"=+ no tests ran in .*|No tests found.*|mise ERROR no task.*|error: Script not found.*|error: Justfile does not contain recipe.*|"
    r".*npm (?:ERR!|error) could not determine executable to run.*|Could not locate Gemfile.*|usage: .*"
)  # fmt: skip
_SUITE = _m(r"^[ \t]*Test (?:Suites:|Files)\s+[1-9]\d* failed\b.*$")  # jest, vitest
_TIMEOUT = _m(
    r"^.*(?:[Cc]ommand timed out|timed out after \d+|Timeout: .* exceeded|test timed out after|Exceeded timeout of).*$"
)
_EXIT = _m(
    r"^(?:Error: )?(?:Exit code:?|exit status|Process exited with code|Command exited with(?: code)?|exited with code) (\d+)\.?"
)


def read_output(text: str | None) -> Reading | None:
    """The verdict that the text of a check shows, or None where it shows none (a silent tool that passed, say)."""
    if not text:
        return None
    text = _ANSI.sub("", text[-TAIL:]).replace("\r\n", "\n").replace("\r", "\n")
    # one line of any length must not cost its square
    text = "\n".join(line if len(line) <= 600 else f"{line[:300]} {line[-300:]}" for line in text.split("\n"))
    counted = _counted(text)
    failing = _FAILED.search(text)
    if counted is not None:
        suite = _SUITE.search(text) if counted.verdict == "passed" else None
        if suite:  # a file of tests that could not be loaded has no tests to count
            return Reading("failed", counted.passed, counted.failed, suite.group(0).strip()[:200])
        if counted.verdict == "passed" and failing and _hard(failing.group(0)):
            return Reading("failed", counted.passed, counted.failed, failing.group(0).strip()[:200])
        return counted
    late = _TIMEOUT.search(text)
    if late:
        return Reading("timeout", words=late.group(0).strip()[:200])
    go = _go(text)
    if go is not None and go.verdict == "failed":
        return go
    absent = _NOT_RUN.search(text)
    if absent and not (failing and _hard(failing.group(0))):
        return Reading("not_run", words=absent.group(0).strip()[:200])
    if failing:
        return Reading("failed", words=failing.group(0).strip()[:200])
    if go is not None:
        return go
    passed = _PASSED.search(text)
    if passed:
        ran = _RAN.search(text)
        return Reading(
            "passed", int(ran[1]) if ran else None, 0 if ran else None, passed.group(0).strip()[:200]
        )
    code = exit_code(text)
    if code:
        return Reading(
            "timeout" if code == 124 else "not_run" if code == 127 else "failed", words=f"exit code {code}"
        )
    return None


_HINTS = (
    ("lint", _m(r"^\[lint")),
    ("test", _m(r"^\[test")),
    ("build", _m(r"^\[build")),  # mise names its task
    ("test", _m(r"^(?:--- FAIL|FAILED \S+::|FAIL\b|Tests?\b|[ \t]*FAIL )(?!.*\[build failed\])")),
    ("types", _m(r"error TS\d+|errors? in \d+ files?|\.pyi?:\d+(?::\d+)?: error:|errors?, \d+ warnings?")),
    (
        "lint",
        _m(r"\b(?:issues?|problems?|offenses)\b|: [A-Z]{1,4}\d{2,4}\b|^Found \d+ errors?\.|\((?:\w+)\)$"),
    ),
    ("format", _m(r"Code style issue|reformat")),
    (
        "build",
        _m(r"^# \S+/|^error\[E|could not compile|\[build failed\]|BUILD FAIL|syntax error|\.go:\d+:\d+: "),
    ),
)


def kind_of_failure(words: str) -> str | None:
    """The kind of check that fails with such words, or None; to tell which of several commands it was."""
    return next((kind for kind, pattern in _HINTS if pattern.search(words)), None)


def exit_code(text: str | None) -> int | None:
    """The exit code that the text names, or None."""
    found = _EXIT.search(text or "")
    return int(found[1]) if found else None


def _hard(line: str) -> bool:
    """Failures of another check in the same output, beside tests that passed."""
    return not line.lstrip().startswith(("FAIL", "ERROR", "FAILED", "✗", "#"))


def _counted(text: str) -> Reading | None:
    """The last runner that printed counts decides; one that prints a line a package is summed."""
    best: tuple[int, Reading] | None = None
    for pattern, add, word in _COUNTED:
        if word not in text:
            continue
        matches = [m for m in pattern.finditer(text) if any(v is not None for v in m.groupdict().values())]
        if not matches:
            continue
        used = matches if add else matches[-1:]
        passed, failed = _sums(used)
        reading = Reading("failed" if failed else "passed", passed, failed, used[-1].group(0).strip()[:200])
        if pattern.groupindex.keys() == {"fail", "err"}:
            ran = _RAN.search(text)
            passed = int(ran[1]) - (failed or 0) if ran else None
            reading = Reading("failed", passed, failed, reading.words)
        if not (passed or failed) and passed is not None:
            reading = Reading("not_run", 0, 0, reading.words)
        if (
            best is None
            or used[-1].end() > best[0]
            or (used[-1].end() == best[0] and _fuller(reading, best[1]))
        ):
            best = (used[-1].end(), reading)
    if best is None:
        return None
    return best[1]


def _fuller(a: Reading, b: Reading) -> bool:
    return (a.passed is not None) + (a.failed is not None) > (b.passed is not None) + (b.failed is not None)


def _sums(matches: list[re.Match[str]]) -> tuple[int | None, int]:
    passed: int | None = None
    failed = 0
    for m in matches:
        groups = {k: int(v) for k, v in m.groupdict().items() if v is not None}
        bad = groups.get("fail", 0) + groups.get("err", 0)
        good = groups["pass"] if "pass" in groups else groups["total"] - bad if "total" in groups else None
        failed += bad
        if good is not None:
            passed = (passed or 0) + good
    return passed, failed


def _go(text: str) -> Reading | None:
    """``go test`` prints a line a package, and with -v a line a test."""
    lines = [m for m in _GO_OK.finditer(text) if re.search(r"\t|\d+s|\(cached\)", m.group(0))]
    ok = [m for m in lines if "[no tests to run]" not in m.group(0)]
    bad = list(_GO_FAIL.finditer(text))
    tests = _GO_TEST.findall(text)
    passed = sum(r == "PASS" for r, _ in tests) if tests else None
    failed = sum(r == "FAIL" for r, _ in tests) if tests else None
    if bad:
        worst = next((m for m in bad if m.group(0) != "FAIL"), bad[0])
        return Reading(
            "failed", passed, failed or None, worst.group(0).strip()[:200]
        )  # a tail may not show which
    if ok or passed:
        return Reading("passed", passed, failed, (ok[-1].group(0) if ok else "--- PASS").strip()[:200])
    return Reading("not_run", words="no tests to run") if lines else None
