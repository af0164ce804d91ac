"""The documentation site builds without a warning, and every link on it leads somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest


class Links(HTMLParser):
    """Addresses that a page names, and the ids on it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.named: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids |= {v for k, v in attrs if k in ("id", "name") and v}
        self.named += [found[k] for k in ("href", "src") if found.get(k)]


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install 'sessionbank[docs]'")
    target = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(target)],
        cwd=root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not re.search(r"^(WARNING|ERROR)", done.stderr, re.MULTILINE), done.stderr
    return target


def test_every_link_inside_resolves(site):
    pages = {p: Links(p.read_text(encoding="utf-8")) for p in site.rglob("*.html")}
    assert len(pages) > 25
    broken = []
    for page, links in pages.items():
        for link in links.named:
            if re.match(r"[a-z][a-z0-9+.-]*:|//", link):
                continue
            path, _, anchor = unquote(link.split("?")[0]).partition("#")
            target = (
                site / path.lstrip("/")
                if path.startswith("/")
                else (page.parent / path).resolve()
                if path
                else page
            )
            if target.is_dir():
                target /= "index.html"
            known = pages.get(target)
            if not target.exists() or (anchor and known is not None and anchor not in known.ids):
                broken.append(f"{page.relative_to(site)}: {link}")
    assert not broken, "\n".join(broken[:40])


def test_notebooks_and_reference_are_pages(site, root):
    names = {p.stem for p in site.rglob("*.html")}
    assert {p.stem for p in (root / "notebooks").glob("*.ipynb")} <= names
    assert "human_prompts" in (site / "tables.html").read_text(encoding="utf-8")
