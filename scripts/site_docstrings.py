"""How docstrings become pages: the examples (`>>>`) of a docstring stand in a code block. For mkdocs only.

mkdocstrings asks for a Griffe extension by path; this is one. Without it Markdown takes `>>>` for three quotations.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

# From a prompt to the next empty line, or to a line that stands further left.
RUN = re.compile(
    r"^(?P<indent>[ \t]*)>>> .*(?:\n(?P=indent)(?!```)\S.*|\n(?P=indent)[ \t]+\S.*)*", re.MULTILINE
)


def fenced(text: str) -> str:
    """The docstring with each run of examples between fences."""
    return RUN.sub(lambda m: f"{m['indent']}```pycon\n{m[0]}\n{m['indent']}```", text)


class Examples(griffe.Extension):
    """Puts examples of every docstring into code blocks, before it is parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Each object once, when it was loaded."""
        if obj.docstring and ">>> " in obj.docstring.value:
            obj.docstring.value = fenced(obj.docstring.value)
