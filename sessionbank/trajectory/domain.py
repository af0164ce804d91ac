"""What kind of work a set of files is: tests, docs, infrastructure, data, or a language; with the share of each.

Names of files alone decide: no content is read. A file counts once, for the first kind of the table that it fits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

LANGUAGES: dict[str, str] = {
    "py": "python", "pyi": "python", "pyx": "python", "ts": "typescript", "tsx": "typescript", "mts": "typescript",
    "cts": "typescript", "js": "javascript", "jsx": "javascript", "mjs": "javascript", "cjs": "javascript",
    "vue": "vue",
    "svelte": "svelte",
    "astro": "astro", "go": "go", "rs": "rust", "java": "java", "kt": "kotlin", "kts": "kotlin",
    "scala": "scala", "sbt": "scala", "groovy": "groovy", "clj": "clojure", "cljs": "clojure", "c": "c", "h": "c",
    "cc": "c++", "cpp": "c++", "cxx": "c++", "hh": "c++", "hpp": "c++", "hxx": "c++", "cu": "cuda", "cs": "c#",
    "fs": "f#", "fsx": "f#", "vb": "visual-basic", "swift": "swift", "m": "objective-c", "mm": "objective-c",
    "rb": "ruby", "rake": "ruby", "gemspec": "ruby", "erb": "ruby", "php": "php", "blade": "php", "pl": "perl",
    "pm": "perl", "lua": "lua", "r": "r", "jl": "julia", "ex": "elixir", "exs": "elixir", "heex": "elixir",
    "erl": "erlang", "hrl": "erlang", "hs": "haskell", "ml": "ocaml", "mli": "ocaml", "elm": "elm", "dart": "dart",
    "zig": "zig", "nim": "nim", "cr": "crystal", "d": "d",
    "v": "verilog", "sv": "verilog", "vhd": "vhdl", "sol": "solidity",
    "move": "move", "cairo": "cairo", "f90": "fortran", "f": "fortran", "asm": "assembly", "s": "assembly",
    "sh": "shell", "bash": "shell", "zsh": "shell", "fish": "shell", "ps1": "powershell", "psm1": "powershell",
    "bat": "batch", "html": "web", "htm": "web", "css": "web", "scss": "web", "sass": "web", "less": "web",
    "gd": "godot", "tscn": "godot", "el": "emacs-lisp", "lisp": "lisp", "rkt": "racket", "vim": "vim",
    "proto": "schema", "graphql": "schema", "gql": "schema", "thrift": "schema", "avsc": "schema",
}  # fmt: skip
_DATA = frozenset({
    "sql", "ipynb", "csv", "tsv", "parquet", "feather", "arrow", "avro", "jsonl", "ndjson", "xlsx", "db", "sqlite",
    "dbml", "prisma", "npz", "npy", "h5", "rmd", "qmd",
})  # fmt: skip
_DOCS = frozenset({"md", "mdx", "rst", "adoc", "asciidoc", "txt", "tex", "org", "pod", "rdoc", "1", "man"})
_INFRASTRUCTURE = frozenset(
    {"tf", "tfvars", "hcl", "bicep", "nix", "jsonnet", "libsonnet", "rego", "cue", "pp", "service"}
)
_CONFIGURATION = frozenset({
    "json", "jsonc", "json5", "yaml", "yml", "toml", "ini", "cfg", "conf", "lock", "sum", "mod", "xml", "env",
    "properties",
    "plist", "gradle", "csproj", "cabal",
})  # fmt: skip

_TEST = re.compile(
    r"(^|/)(tests?|__tests__|spec|specs|testdata|e2e|cypress|__snapshots__|fixtures)/"
    r"|(^|/)(test_[^/]*|conftest)\.py$|_test\.(py|go|cc|cpp|exs|dart|rb|clj)$|_spec\.rb$|_tests?\.rs$"
    r"|\.(test|spec|e2e|cy|stories)\.[a-z]+$|\.snap$|[a-z0-9](Test|Tests|IT|Spec)\.(java|kt|scala|groovy|cs|fs|swift|php)$"
    r"|(^|/)test[-_.][^/]*\.(js|ts|sh|r|jl)$"
)
_DOCS_PLACE = re.compile(
    r"(^|/)(docs?|documentation|man)/"
    r"|(^|/)(readme|changelog|contributing|license|authors|notice|code_of_conduct|security)(\.[a-z]+)?$",
    re.IGNORECASE,
)
_INFRASTRUCTURE_PLACE = re.compile(
    r"(^|/)(\.github|\.gitlab|\.circleci|\.buildkite|\.ci|ansible|terraform|helm|charts|k8s|kubernetes|deploy|deployment)/"
    r"|(^|/)(dockerfile[^/]*|[^/]*\.dockerfile|containerfile|docker-compose[^/]*|compose\.ya?ml|makefile|gnumakefile|justfile"
    r"|procfile|jenkinsfile|vagrantfile|\.gitlab-ci\.yml|\.travis\.yml|azure-pipelines\.yml|cloudbuild\.yaml|taskfile\.ya?ml"
    r"|mise\.toml|\.goreleaser\.ya?ml|chart\.yaml|kustomization\.ya?ml|serverless\.ya?ml|pulumi\.ya?ml|nginx\.conf"
    r"|cmakelists\.txt|build\.bazel|workspace|\.pre-commit-config\.yaml)$",
    re.IGNORECASE,
)
_DATA_PLACE = re.compile(r"(^|/)(migrations?|alembic|dbt|datasets?|notebooks)/", re.IGNORECASE)
_NAMED = {
    "gemfile": "ruby", "rakefile": "ruby", "go.mod": "go", "go.sum": "go", "cargo.toml": "rust", "cargo.lock": "rust",
    "pyproject.toml": "python", "setup.py": "python", "requirements.txt": "python", "package.json": "javascript",
    "tsconfig.json": "typescript",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Domain:
    """The kind of most files, None where there is no file; and the share of every kind, largest first."""

    domain: str | None
    shares: dict[str, float] = field(default_factory=dict)


def domain_of(path: str) -> str:
    """The kind of one file: testing, docs, infrastructure, data, a language, configuration, or other.

    `path` may have backslashes. The path is only looked at as text.
    """
    clean = path.replace("\\", "/")
    name = clean.rsplit("/", 1)[-1]
    extension = name.rsplit(".", 1)[-1].lower() if "." in name[1:] else ""
    if _TEST.search(clean):
        return "testing"
    if _INFRASTRUCTURE_PLACE.search(clean) or extension in _INFRASTRUCTURE:
        return "infrastructure"
    if name.lower() in _NAMED:
        return _NAMED[name.lower()]
    if extension in _DATA or (_DATA_PLACE.search(clean) and extension not in _DOCS):
        return "data"
    if extension in LANGUAGES:
        return LANGUAGES[extension]
    if extension in _DOCS or _DOCS_PLACE.search(clean):
        return "docs"
    return "configuration" if extension in _CONFIGURATION or name.startswith(".") else "other"


def infer_domain(paths: Iterable[str]) -> Domain:
    """The kind of most of the files and each kind's share (0 to 1); of kinds with as many files a language wins."""
    counts = Counter(domain_of(p) for p in dict.fromkeys(paths))
    if not counts:
        return Domain(None)
    languages = set(LANGUAGES.values())
    order = sorted(counts, key=lambda k: (-counts[k], k not in languages, k))
    total = counts.total()
    return Domain(order[0], {k: round(counts[k] / total, 4) for k in order})
