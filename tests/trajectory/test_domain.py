"""What kind of work files are, by their names."""

from __future__ import annotations

import pytest

from sessionbank.trajectory import domain_of, infer_domain

KINDS = {
    "testing": [
        "tests/test_cart.py",
        "src/cart.test.ts",
        "pkg/store_test.go",
        "spec/cart_spec.rb",
        "src/test/java/CartTest.java",
        "web/__tests__/a.js",
        "conftest.py",
        "cypress/e2e/login.cy.ts",
        "crates/x/tests/run.rs",
        "a\\tests\\b.cs",
    ],
    "docs": ["README.md", "docs/guide.rst", "CHANGELOG", "LICENSE", "notes.adoc"],
    "infrastructure": [
        "Dockerfile",
        ".github/workflows/ci.yml",
        "infra/main.tf",
        "Makefile",
        "k8s/app.yaml",
        "docker-compose.yml",
        "justfile",
    ],
    "data": ["db/migrations/0001_init.py", "report.sql", "explore.ipynb", "data.csv", "models/schema.prisma"],
    "python": ["src/cart.py", "pyproject.toml"],
    "typescript": ["a.tsx"],
    "javascript": ["a.mjs", "package.json"],
    "go": ["main.go", "go.mod"],
    "rust": ["src/lib.rs", "Cargo.toml"],
    "java": ["A.java"],
    "kotlin": ["A.kt"],
    "c++": ["a.cpp"],
    "c#": ["A.cs"],
    "ruby": ["a.rb", "Gemfile"],
    "php": ["a.php"],
    "swift": ["a.swift"],
    "shell": ["run.sh"],
    "web": ["a.css", "index.html"],
    "elixir": ["a.ex"],
    "haskell": ["a.hs"],
    "configuration": ["settings.json", ".editorconfig", "a.yaml"],
    "other": ["logo.png", "bin"],
}


@pytest.mark.parametrize(("kind", "path"), [(k, p) for k, paths in KINDS.items() for p in paths])
def test_a_file_has_a_kind(kind, path):
    assert domain_of(path) == kind


def test_mixed_work_has_shares():
    found = infer_domain(["a.py", "b.py", "README.md", "tests/test_a.py", "a.py"])
    assert found.domain == "python"
    assert found.shares == {"python": 0.5, "docs": 0.25, "testing": 0.25}


def test_a_language_wins_a_tie_and_no_file_is_no_kind():
    assert infer_domain(["x_test.go", "x.go"]).domain == "go"
    assert infer_domain([]).domain is None
