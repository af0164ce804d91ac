"""What tests ask of widgets and of HTML: the control of a name, the tags and the plain words of a page."""

from __future__ import annotations

from html.parser import HTMLParser

TAGS = {
    "style", "div", "span", "h3", "h4", "b", "i", "code", "pre", "mark", "details", "summary", "article", "table", "colgroup",
    "col", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
ATTRIBUTES = {
    "class",
    "style",
    "aria-label",
    "aria-current",
    "aria-hidden",
    "role",
    "tabindex",
    "open",
    "scope",
    "title",
}
EVIL = (
    "</pre></style><script>alert(1)</script><img src=x onerror=\"alert(2)\"><b onclick='x'>\"' {0} %s &amp;"
)


class Page(HTMLParser):
    """The tags, attributes and words of an HTML text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.parts, self.classes, self._in_style = [], set(), [], [], False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.classes += (dict(attrs).get("class") or "").split()
        self._in_style = tag == "style"

    def handle_endtag(self, tag):
        self._in_style = False

    def handle_data(self, data):
        if not self._in_style:
            self.parts.append(data)

    @property
    def words(self):
        return " ".join(" ".join(self.parts).split())


def words(html):
    return Page(html).words


def assert_plain(html):
    """No tag and no attribute beyond those that the package draws itself."""
    page = Page(html)
    assert set(page.tags) <= TAGS, set(page.tags) - TAGS
    assert page.attributes <= ATTRIBUTES, page.attributes - ATTRIBUTES
    assert "</pre></style>" not in html


def everything(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from everything(child)


def control(widget, name):
    """The only control whose description is, or begins with, `name`."""
    found = [w for w in everything(widget) if str(getattr(w, "description", "")) == name]
    found = found or [
        w for w in everything(widget) if str(getattr(w, "description", "")).startswith(f"{name} (")
    ]
    assert len(found) == 1, (name, [getattr(w, "description", None) for w in everything(widget)])
    return found[0]


def labels(widget):
    """The words of all labels."""
    return [w.value for w in everything(widget) if type(w).__name__ == "Label"]
