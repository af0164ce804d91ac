"""Which commands are checks: tests, linters, type checks, formats that are only checked, builds. A table of programs.

What they print is read in `check_output`.
"""

# ruff: noqa: E501 - a pattern or a table row is read as one line

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sessionbank.trajectory.outcomes.shell import Command, commands

CHECK_KINDS = ("test", "types", "build", "lint", "format")


@dataclass(frozen=True, slots=True)
class Check:
    """A command that checks the work: what kind (one of CHECK_KINDS), by which program."""

    kind: str
    runner: str
    command: Command


# Programs that are a check whatever stands behind them.
_ALWAYS = {
    "pytest": "test", "py.test": "test", "unittest": "test", "nosetests": "test", "nose2": "test", "tox": "test", "nox": "test",
    "jest": "test", "vitest": "test", "mocha": "test", "ava": "test", "jasmine": "test", "karma": "test", "tap": "test", "wtr": "test",
    "rspec": "test", "phpunit": "test", "pest": "test", "ctest": "test", "busted": "test", "bats": "test", "gotestsum": "test",
    "doctest": "test", "behave": "test", "cucumber": "test", "minitest": "test", "shellspec": "test", "xctest": "test", "kaocha": "test",
    "eslint": "lint", "oxlint": "lint", "stylelint": "lint", "flake8": "lint", "pylint": "lint", "pycodestyle": "lint", "pydocstyle": "lint",
    "pyflakes": "lint", "bandit": "lint", "vulture": "lint", "shellcheck": "lint", "hadolint": "lint", "yamllint": "lint", "actionlint": "lint",
    "markdownlint": "lint", "markdownlint-cli2": "lint", "rubocop": "lint", "standardrb": "lint", "staticcheck": "lint", "clang-tidy": "lint",
    "cppcheck": "lint", "ktlint": "lint", "detekt": "lint", "swiftlint": "lint", "tflint": "lint", "ansible-lint": "lint", "cpplint": "lint",
    "lint-imports": "lint", "codespell": "lint", "checkstyle": "lint", "jshint": "lint", "standard": "lint", "htmlhint": "lint", "sqlfluff": "lint",
    "mypy": "types", "dmypy": "types", "pyright": "types", "basedpyright": "types", "pytype": "types", "pyre": "types", "tsc": "types",
    "vue-tsc": "types", "svelte-check": "types", "phpstan": "types", "psalm": "types", "flow": "types", "sorbet": "types", "srb": "types",
    "ninja": "build", "gcc": "build", "g++": "build", "clang": "build", "clang++": "build", "javac": "build", "rustc": "build", "kotlinc": "build",
    "webpack": "build", "rollup": "build", "esbuild": "build", "py_compile": "build", "compileall": "build", "msbuild": "build", "xcodebuild": "build",
}  # fmt: skip

# program -> {sub-command: kind}
_SUB = {
    "go": {"test": "test", "vet": "lint", "build": "build", "install": "build"},
    "golangci-lint": {"run": "lint"},
    "cargo": {"test": "test", "nextest": "test", "t": "test", "check": "build", "c": "build", "build": "build", "b": "build", "clippy": "lint", "miri": "test", "deny": "lint", "audit": "lint"},
    "deno": {"test": "test", "lint": "lint", "check": "types"},
    "ruff": {"check": "lint"}, "biome": {"check": "lint", "lint": "lint", "ci": "lint"}, "ty": {"check": "types"}, "pyrefly": {"check": "types"},
    "cypress": {"run": "test"}, "playwright": {"test": "test"}, "ng": {"test": "test", "lint": "lint", "build": "build"}, "react-scripts": {"test": "test", "build": "build"},
    "vite": {"build": "build"}, "next": {"build": "build", "lint": "lint"}, "astro": {"check": "types", "build": "build"}, "nuxt": {"build": "build", "typecheck": "types"},
    "tsup": {"": "build"}, "parcel": {"build": "build"},
    "dotnet": {"test": "test", "build": "build", "publish": "build"},
    "swift": {"test": "test", "build": "build"}, "mix": {"test": "test", "compile": "build", "credo": "lint", "dialyzer": "types"},
    "rebar3": {"ct": "test", "eunit": "test", "compile": "build", "dialyzer": "types"}, "lein": {"test": "test", "compile": "build"},
    "sbt": {"test": "test", "compile": "build"}, "mill": {"test": "test", "compile": "build"}, "cabal": {"test": "test", "build": "build"}, "stack": {"test": "test", "build": "build"},
    "dune": {"test": "test", "runtest": "test", "build": "build"}, "zig": {"test": "test", "build": "build"}, "meson": {"test": "test", "compile": "build"},
    "bazel": {"test": "test", "build": "build"}, "bazelisk": {"test": "test", "build": "build"}, "buck2": {"test": "test", "build": "build"}, "pants": {"test": "test", "lint": "lint", "check": "types"},
    "rails": {"test": "test"}, "django-admin": {"test": "test", "check": "lint"}, "manage.py": {"test": "test", "check": "lint"}, "artisan": {"test": "test"}, "flutter": {"test": "test", "analyze": "lint", "build": "build"},
    "dart": {"test": "test", "analyze": "lint", "compile": "build"}, "forge": {"test": "test", "build": "build"}, "hardhat": {"test": "test", "compile": "build"}, "anchor": {"test": "test", "build": "build"},
    "terraform": {"validate": "lint"}, "tofu": {"validate": "lint"}, "helm": {"lint": "lint"}, "pre-commit": {"run": "lint"}, "trunk": {"check": "lint"}, "buf": {"lint": "lint", "build": "build"},
    "julia": {}, "crystal": {"spec": "test", "build": "build"}, "elm-test": {"": "test"}, "gleam": {"test": "test", "build": "build", "check": "types"}, "hatch": {"test": "test"}, "maturin": {"develop": "build", "build": "build"},
}  # fmt: skip

# Programs that run what the project named: the name of the target tells the kind.
_TARGETS = {"make", "gmake", "just", "task", "mise", "rake", "invoke", "inv", "npm", "pnpm", "yarn", "bun", "composer", "turbo", "nx", "lerna", "rush",
            "moon", "poe", "doit", "mage", "mvn", "mvnw", "gradle", "gradlew", "ant", "grunt", "gulp", "wireit", "hatch", "pdm", "rye", "pixi", "earthly", "dagger", "deno"}  # fmt: skip
_TARGET_VALUES = {
    "-C",
    "-f",
    "--prefix",
    "--filter",
    "-F",
    "--cwd",
    "--dir",
    "-w",
    "--workspace",
    "-p",
    "--project-dir",
    "-pl",
    "--file",
    "--directory",
    "-j",
    "-k",
    "--jobs",
}
_RUN_WORDS = {
    "run",
    "run-script",
    "r",
    "exec",
    "workspace",
    "workspaces",
    "foreach",
    "run-many",
    "affected",
    "--",
}
_TARGET_KINDS = (
    ("format", r"(?:fmt|format|prettier)[:_\-.]?(?:check|verify|ci)|check[:_\-.]?(?:fmt|format(?:ting)?)|spotlessCheck"),
    ("types", r"(?:type[s_\-:]?check|check[:_\-]?types?|types|tsc|mypy|pyright|typing|ts:check)(?:[:_\-.]\w+)*"),
    ("lint", r"(?:\w+[:_\-.])?(?:lint(?:ing)?|eslint|clippy|vet|ruff|flake8|rubocop|detekt|ktlintCheck|checkstyle\w*|pmd\w*|spotbugs\w*|golangci|stan|phpstan|cs)(?:[:_\-.][\w\-]+)*"),
    ("test", r"(?:\w+[:_\-.])?(?:tests?|spec|specs|e2e|unit|integration|check|checks|verify|validate|ci|t|tst|test\w*|jest|vitest|pytest|coverage|cov)(?:[:_\-.][\w\-:]+)*|\w+[tT]est|connectedAndroidTest|\w+[:_\-](?:tests?|e2e)"),
    ("build", r"(?:\w+[:_\-.])?(?:build|compile\w*|bundle|assemble\w*|package|dist|install|all|\w*Classes)(?:[:_\-.][\w\-]+)*"),
)  # fmt: skip
_NOT_A_CHECK = {"npm": {"install", "i", "ci", "add"}, "pnpm": {"install", "i", "add"}, "yarn": {"install", "add"}, "bun": {"install", "add", "i"},
                "composer": {"install", "require", "update"}, "make": {"install"}, "gmake": {"install"}, "just": {"install"}, "mise": {"install"}}  # fmt: skip


_FLAGGED = ("prettier", "dprint", "black", "isort", "yapf", "autopep8", "nixfmt", "taplo", "csharpier", "gofmt", "goimports", "gofumpt",
            "shfmt", "rustfmt", "cmake", "docker", "podman", "buildah", "clang-format", "php-cs-fixer", "node", "php", "ruby", "sh", "bash", "zsh")  # fmt: skip
_MAY_CHECK = re.compile(
    r"(?<![\w-])(?:"
    + "|".join(re.escape(n) for n in sorted({*_ALWAYS, *_SUB, *_TARGETS, *_FLAGGED}))
    + r")(?![\w-])|test|check|lint|\.sh\b"
)


def checks_of(line: str) -> list[Check]:
    """The checks that a shell line runs, in order."""
    if not _MAY_CHECK.search(line):  # most commands name no such program, and need not be taken apart
        return []
    return [c for command in commands(line) if (c := _check(command)) is not None]


def _check(command: Command) -> Check | None:
    words = list(command.words)
    name = re.sub(r"(?:\.(?:exe|cmd|bat|phar|js|mjs))$", "", command.name)
    rest = words[1:]
    if {
        "--version",
        "-V",
        "--help",
        "-h",
        "--list",
        "--showConfig",
        "--collect-only",
        "--listTests",
        "--init",
    } & set(rest):
        return None
    if name in ("node", "php", "python", "python3", "ruby") and rest:
        return _interpreted(name, rest, command)
    kind = _ALWAYS.get(name) or _flagged(name, rest)
    if kind:
        return Check(kind, name, command)
    if name in _SUB:
        first = next((w for w in rest if not w.startswith(("-", "+"))), "")
        if first == "run" and name == "deno":
            return None
        found = _SUB[name].get(first) or _SUB[name].get("")
        if name == "cargo" and first in ("xtask", "make"):
            found = _target(rest[rest.index(first) + 1 :])
        if found:
            return Check(found, f"{name} {first}".strip(), command)
    if name in _TARGETS:
        return _by_target(name, rest, command)
    script = re.fullmatch(r"(?:run[_-]?)?(tests?|lint|check|build|typecheck)(?:[_-]\w+)?\.(?:sh|py)", name)
    if script or (name in ("bash", "sh", "zsh") and rest):
        return _script(name, rest, command)
    return None


def _flagged(name: str, rest: Sequence[str]) -> str | None:
    """Formatters that only check, compilers asked for syntax alone."""
    flags = set(rest)
    if name in ("prettier", "dprint", "black", "isort", "yapf", "autopep8", "nixfmt", "taplo", "csharpier"):
        return (
            "format"
            if flags & {"--check", "-c", "--list-different", "-l", "--diff", "--check-only", "check"}
            else None
        )
    if name in ("gofmt", "goimports", "gofumpt", "shfmt"):
        return "format" if flags & {"-l", "-d"} and "-w" not in flags else None
    if (
        name in ("ruff", "cargo", "deno", "dotnet", "mix", "terraform", "rustfmt", "biome", "zig", "buf")
        and {"fmt", "format", "--check"} & flags
    ):
        asked = flags & {"--check", "--verify-no-changes", "--check-formatted", "-check", "--diff"}
        return "format" if asked and ({"fmt", "format"} & flags or name == "rustfmt") else None
    if name in ("cmake",):
        return "build" if "--build" in flags else None
    if name in ("docker", "podman", "buildah"):
        return "build" if "build" in rest[:2] else None
    if name in ("clang-format",):
        return "format" if flags & {"--dry-run", "-n"} else None
    if name == "php-cs-fixer":
        return "lint" if "--dry-run" in flags else None
    if name in ("bash", "sh") and "-n" in flags:
        return "lint"
    return None


def _interpreted(name: str, rest: list[str], command: Command) -> Check | None:
    script = next((w for w in rest if not w.startswith("-")), "")
    base = script.rsplit("/", 1)[-1]
    if name == "node" and "--test" in rest:
        return Check("test", "node --test", command)
    if name == "node" and "--check" in rest:
        return Check("lint", "node --check", command)
    if name == "php" and "-l" in rest:
        return Check("lint", "php -l", command)
    if name == "ruby" and (re.search(r"(?:^|/)(?:test|spec)/|_(?:test|spec)\.rb$", script)):
        return Check("test", "ruby test", command)
    if base in ("manage.py", "artisan"):
        sub = next((w for w in rest[rest.index(script) + 1 :] if not w.startswith("-")), "")
        kind = _SUB[base].get(sub)
        return Check(kind, f"{base} {sub}", command) if kind else None
    if base in _ALWAYS or base.removesuffix(".js") in _ALWAYS:
        return Check(_ALWAYS.get(base) or _ALWAYS[base.removesuffix(".js")], base, command)
    if re.fullmatch(r"(?:run[_-]?)?tests?\.\w+|test_\w+\.py|\w+[._-]test\.\w+", base):
        return Check("test", base, command)
    return None


def _by_target(name: str, rest: list[str], command: Command) -> Check | None:
    if name in ("make", "gmake") and {"-n", "--dry-run", "-q"} & set(rest):
        return None
    words = list(rest)
    targets: list[str] = []
    while words:
        word = words.pop(0)
        if word == "--" and targets:
            break
        if word in _TARGET_VALUES:
            if words:
                words.pop(0)
        elif word.startswith("-") or re.match(r"^[A-Za-z_]\w*=", word):
            if word.startswith("--target="):
                targets.append(word.partition("=")[2])
            if word in ("-t", "--target", "--targets") and words:
                targets.append(words.pop(0))
        elif word not in _RUN_WORDS:
            targets.append(word)
    ran = set(rest[:3]) & {"run", "run-script"}
    if not targets:
        return Check("build", name, command) if name in ("make", "gmake", "ninja") else None
    if not ran and targets[0] in _NOT_A_CHECK.get(name, set()):
        return None
    if name in ("mvn", "mvnw"):
        targets = [t for t in targets if t != "clean"]
    kinds = [
        k
        for t in targets[:3]
        if (k := _target([t.rsplit(":", 1)[-1] if name in ("gradle", "gradlew", "nx") else t]))
    ]
    if (
        name in ("npm", "pnpm", "yarn", "bun", "composer")
        and kinds
        and _target(targets[:1]) is None
        and not (ran or "workspace" in rest)
    ):
        # "yarn add jest": the first word is the command, unless a workspace's name stands before it
        direct = _ALWAYS.get(targets[0]) or _SUB.get(targets[0], {}).get(
            targets[1] if len(targets) > 1 else ""
        )
        return Check(direct, targets[0], command) if direct else None
    if not kinds:
        direct = _ALWAYS.get(targets[0]) or _flagged(
            targets[0], targets[1:] + [w for w in rest if w.startswith("-")]
        )
        return Check(direct, targets[0], command) if direct else None
    if (
        name in ("mvn", "mvnw")
        and {"verify", "package", "install", "test"} & set(targets)
        and "-DskipTests" not in rest
    ):
        kinds = ["test"]
    kind = next(k for k in ("test", "types", "build", "lint", "format") if k in kinds)
    return Check(kind, f"{name} {targets[0]}", command)


def _target(words: Sequence[str]) -> str | None:
    if not words:
        return None
    return next((kind for kind, pattern in _TARGET_KINDS if re.fullmatch(pattern, words[0])), None)


def _script(name: str, rest: list[str], command: Command) -> Check | None:
    path = name if name not in ("bash", "sh", "zsh") else next((w for w in rest if not w.startswith("-")), "")
    base = path.rsplit("/", 1)[-1]
    found = re.fullmatch(
        r"(?:run[_-]?)?(tests?|lint|check|build|typecheck|ci)(?:[_-]\w+)?\.(?:sh|py|bash)", base
    )
    if not found:
        return None
    return Check(
        {"lint": "lint", "build": "build", "typecheck": "types"}.get(found.group(1), "test"), base, command
    )
