"""Pages of the site that are made when it is built: README as the start page, notebooks with their stored outputs, the
API from the public names, changelog, contributing. A hook of mkdocs (`mkdocs.yml`); nothing is written into `docs/`.

Notebooks are not run: what they show is what the repository holds, and tests hold that it is true. Outputs are put in
after Markdown is done with the page, so that no output is read as Markdown.
"""

from __future__ import annotations

import base64
import html
import importlib
import inspect
import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
# Files of the repository that are pages, and what the page is called.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "data/README.md": "sample-bank.md",
    "LICENSE": "licence.md",
}
ROOMS = {
    "bank": "sessionbank", "trajectory": "sessionbank.trajectory", "team": "sessionbank.team",
    "learning": "sessionbank.learning", "plot": "sessionbank.plot", "schema": "sessionbank.schema",
    "widgets": "sessionbank.widgets",
}  # fmt: skip
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"(^```.*?^```$|^~~~.*?^~~~$)", re.MULTILINE | re.DOTALL)
_outputs: dict[str, dict[str, str]] = {}  # page -> placeholder -> HTML


def page_of(path: str) -> str | None:
    """The page that shows a file of the repository; None where none does."""
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("notebooks/") and path.endswith(".ipynb"):
        return path.removesuffix(".ipynb") + ".md"
    return None


def relinked(text: str, source: str, target: str) -> str:
    """Links of a file of the repository, as they must be on its page. A file without a page loses its link."""

    def link(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[1]))
        page = page_of(path)
        if page is None:
            raise ValueError(f"{source}: link to {match[1]}, which is no page of the site")
        return posixpath.relpath(page, posixpath.dirname(target) or ".") + (match[2] or "")

    parts = FENCE.split(text)
    return "".join(p if n % 2 else LINK.sub(link, p) for n, p in enumerate(parts))


# -- notebooks -----------------------------------------------------------------------------------------------------


def picture(data: str, metadata: dict[str, Any]) -> str:
    """A stored picture with its alternative text, which stands in the output's metadata or in the file itself."""
    from io import BytesIO

    from PIL import Image

    with Image.open(BytesIO(base64.b64decode(data))) as image:
        words = str(metadata.get("alt") or image.info.get("Description") or "")
    return f'<img alt="{html.escape(words, quote=True)}" src="data:image/png;base64,{"".join(data.split())}">'


def output(stored: dict[str, Any]) -> str:
    """One output of a cell as HTML: what it holds of HTML, a picture, or text."""
    data = stored.get("data", {})
    joined = {kind: "".join(v) if isinstance(v, list) else v for kind, v in data.items()}
    if "text/html" in joined:
        return f'<div class="nb-html">{joined["text/html"]}</div>'
    if "image/png" in joined:
        return picture(joined["image/png"], stored.get("metadata", {}).get("image/png", {}))
    text = stored.get("text") or joined.get("text/plain", "")
    return f'<pre class="nb-text">{html.escape("".join(text))}</pre>' if text else ""


def notebook_page(path: Path, target: str) -> str:
    """A notebook as Markdown: its words, its code in fences, a placeholder for each output."""
    found = json.loads(path.read_text(encoding="utf-8"))
    kept = _outputs.setdefault(target, {})
    kept.clear()
    parts = []
    for cell in found["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(relinked(source, f"notebooks/{path.name}", target))
            continue
        parts.append(f"````python\n{source}\n````")
        for stored in cell.get("outputs", []):
            mark = f"notebook-output-{len(kept)}-here"
            kept[mark] = output(stored)
            parts.append(mark)
    parts.append(f"Source: `notebooks/src/{path.stem}.py`. Open it with `make lab`.")
    return "\n\n".join(parts) + "\n"


def title_of(path: Path) -> str:
    """The first heading of a notebook."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        heading = re.search(r"^# (.+)$", "".join(cell["source"]), re.MULTILINE)
        if heading:
            return heading[1]
    return path.stem


# -- API -----------------------------------------------------------------------------------------------------------


def public(room: str) -> Iterator[tuple[str, str]]:
    """Each public name of a room, and where it is defined; rooms of the package are pages of their own."""
    module = importlib.import_module(room)
    for name in getattr(module, "__all__", ()):
        thing = getattr(module, name)
        if inspect.ismodule(thing):
            continue
        if inspect.isclass(thing) or inspect.isroutine(thing):
            yield name, f"{thing.__module__}.{thing.__qualname__}"
        else:
            yield name, f"{room}.{name}"


def api_page(key: str, room: str) -> str:
    """What mkdocstrings needs to write the page of a room. What two rooms name stands with the room that made it."""
    below = {path for other in ROOMS.values() if other != room and key == "bank" for _, path in public(other)}
    title = {"bank": "Banks and sessions", "trajectory": "Trajectories"}.get(key, f"sb.{key}")
    parts = [f"# {title}", f"::: {room}\n    options:\n      members: false\n      show_root_heading: false"]
    parts += [f"::: {path}" for _, path in public(room) if path not in below]
    return "\n\n".join(parts) + "\n"


# -- what mkdocs calls ---------------------------------------------------------------------------------------------


def made(config: MkDocsConfig) -> dict[str, str]:
    """Every page that is made, by its path."""
    pages = {}
    for source, target in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        pages[target] = (
            f"# Licence\n\n```text\n{text}```\n" if source == "LICENSE" else relinked(text, source, target)
        )
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        target = f"notebooks/{path.stem}.md"
        pages[target] = notebook_page(path, target)
    for key, room in ROOMS.items():
        if getattr(importlib.import_module(room), "__all__", None):
            pages[f"api/{key}.md"] = api_page(key, room)
    return pages


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fills the two places of the navigation that follow from what there is."""
    notebooks = [
        {title_of(p): f"notebooks/{p.stem}.md"} for p in sorted((ROOT / "notebooks").glob("*.ipynb"))
    ]
    api = [
        f"api/{key}.md"
        for key, room in ROOMS.items()
        if getattr(importlib.import_module(room), "__all__", None)
    ]
    config.nav = filled(config.nav, {"notebooks": notebooks, "api": api})
    return config


def filled(nav: Any, places: dict[str, list[Any]]) -> Any:
    """The navigation with each name of `places` replaced by its pages."""
    if isinstance(nav, list):
        return [filled(item, places) for item in nav]
    if isinstance(nav, dict):
        return {key: filled(value, places) for key, value in nav.items()}
    return places.get(nav, nav)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the made pages."""
    for path, text in made(config).items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Pages of `docs/` may link to files of the repository (`../README.md`)."""
    path = page.file.src_uri
    return relinked(markdown, f"docs/{path}", path) if page.file.generated_by is None else markdown


def on_page_content(html_text: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Puts the outputs of a notebook where their placeholders stand."""
    for mark, text in _outputs.get(page.file.src_uri, {}).items():
        html_text = html_text.replace(f"<p>{mark}</p>", text)
    return html_text
