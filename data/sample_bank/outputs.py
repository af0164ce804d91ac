"""What test runners, linters and compilers print, passing and failing. Text only."""

from __future__ import annotations


def pytest_ok(count: int, seconds: float = 0.41) -> str:
    """A quiet pytest run that passes."""
    dots = "." * count
    return f"{dots}{' ' * max(1, 72 - count)}[100%]\n{count} passed in {seconds:.2f}s"


def pytest_fail(passed: int, *failures: tuple[str, str]) -> str:
    """A quiet pytest run with failures: (test id, last line of the error)."""
    marks = "." * passed + "F" * len(failures)
    out = [
        f"{marks}{' ' * max(1, 72 - len(marks))}[100%]",
        "=================================== FAILURES ===================================",
    ]
    for test, error in failures:
        name = test.split("::")[-1]
        out += [
            f"______________________________ {name} ______________________________",
            "",
            f"    def {name}(shop):",
            f">       {error.split(' :: ')[0]}",
            f"E       {error.split(' :: ')[-1]}",
            "",
        ]
    out.append("=========================== short test summary info ============================")
    out += [f"FAILED {test} - {error.split(' :: ')[-1]}" for test, error in failures]
    out.append(f"{len(failures)} failed, {passed} passed in 0.87s")
    return "\n".join(out)


def npm_ok(count: int, suites: int = 3) -> str:
    """A passing run of the front end's tests."""
    return (
        f"\n> shop-web@1.4.0 test\n> vitest run\n\n Test Files  {suites} passed ({suites})\n      Tests  {count} "
        f"passed ({count})\n   Duration  1.32s"
    )


def npm_fail(passed: int, *failures: tuple[str, str]) -> str:
    """A failing run of the front end's tests: (test name, error)."""
    body = "\n".join(f" FAIL  {name}\nAssertionError: {error}" for name, error in failures)
    return (
        f"\n> shop-web@1.4.0 test\n> vitest run\n\n{body}\n\n Test Files  1 failed | 2 passed (3)\n      Tests  "
        f"{len(failures)} failed | {passed} passed ({passed + len(failures)})"
    )


def ruff_fail(*rows: tuple[str, str, str]) -> str:
    """Findings of the linter: (place, code, text)."""
    body = "\n".join(f"{place}: {code} {text}" for place, code, text in rows)
    return f"{body}\nFound {len(rows)} error{'s' if len(rows) != 1 else ''}."


RUFF_OK = "All checks passed!"
TSC_OK = ""


def tsc_fail(*rows: tuple[str, str, str]) -> str:
    """Findings of the TypeScript compiler: (place, code, text)."""
    body = "\n".join(f"{place} - error {code}: {text}" for place, code, text in rows)
    return f"{body}\n\nFound {len(rows)} error{'s' if len(rows) != 1 else ''}."
