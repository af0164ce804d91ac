"""A picture as a file (PNG, SVG, PDF), as the text of an SVG, or shown in a notebook; its words go with it.

The same picture gives the same bytes: no date, no random id, whatever the caller's settings of matplotlib are.
"""

from __future__ import annotations

import io
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessionbank.errors import QueryError
from sessionbank.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = ("png", "svg", "pdf")
_SALT = "sessionbank"


def save(ax: Axes, path: str | Path, *, dpi: int = 144) -> Path:
    """Writes the figure of `ax` as ``.png`` (at `dpi`), ``.svg`` or ``.pdf``, by the name; gives the path.

    The alt text is in the file: in a PNG as ``Description``, in an SVG as its title, in a PDF as ``Subject``. The same
    picture gives the same bytes. Raises `QueryError` for another ending, or where the figure is gone.

    Example:
        >>> import sessionbank as sb, tempfile
        >>> ax = sb.plot.tools_by_status(sb.schema.empty_frame("tool_calls"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sb.plot.save(ax, f"{folder}/tools.svg").read_text(encoding="utf-8")[:5]
        '<?xml'
    """
    target = Path(path)
    kind = target.suffix[1:].lower()
    if kind not in KINDS:
        raise QueryError(f"{target.name}: a picture is written as .png, .svg or .pdf")
    target.parent.mkdir(parents=True, exist_ok=True)
    figure = _settled(ax)
    if kind == "svg":
        target.write_text(svg(ax), encoding="utf-8", newline="\n")
        return target
    words = style.words_of(figure)
    about: dict[str, Any] = {"Description": words, "Software": "sessionbank"}
    if kind == "pdf":
        about = {"Subject": words, "Title": _title(ax), "Creator": "sessionbank", "CreationDate": None}
    held = io.BytesIO()
    figure.savefig(held, format=kind, dpi=dpi, metadata=about, facecolor=figure.get_facecolor())
    target.write_bytes(held.getvalue())
    return target


def svg(ax: Axes, *, as_text: bool = False) -> str:
    """The figure of `ax` as the text of an SVG file, with its alt text as title.

    Letters are drawn as shapes, so that they look the same everywhere; with `as_text` they stay text, in whatever font
    the page has.
    """
    import matplotlib as mpl

    figure = _settled(ax)
    held = io.StringIO()
    wanted: dict[Any, Any] = {
        "svg.hashsalt": _SALT,
        "svg.fonttype": "none" if as_text else "path",
        "svg.id": None,
    }
    with mpl.rc_context(wanted):
        figure.savefig(
            held, format="svg", facecolor=figure.get_facecolor(),
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )  # fmt: skip
    words = escape(style.words_of(figure))
    head, tag, rest = held.getvalue().partition("<svg ")
    attributes, _, body = rest.partition(">")
    return f'{head}{tag}role="img" aria-label="{words}" {attributes}>\n <title>{words}</title>{body}'


def show(ax: Axes, *, dpi: int = 110) -> None:
    """Shows the figure of `ax` in a notebook, with its alt text, and closes it.

    Example:
        >>> import contextlib
        >>> with contextlib.redirect_stdout(None):
        ...     sb.plot.show(sb.plot.tools_by_status(bank.tool_calls()))
    """
    import matplotlib.pyplot as plt
    from IPython.display import display

    figure, held = _settled(ax), io.BytesIO()
    words = style.words_of(figure)
    figure.savefig(held, format="png", dpi=dpi, facecolor=figure.get_facecolor())
    plt.close(figure)
    display(
        {"image/png": held.getvalue(), "text/plain": words}, raw=True, metadata={"image/png": {"alt": words}}
    )


def _settled(ax: Axes) -> Figure:
    """The figure of `ax`, all its pictures in the colours of their themes, also what the caller added."""
    figure = style.figure_of(ax)
    for drawn in figure.axes:
        style.settle(drawn)
    return figure


def _title(ax: Axes) -> str:
    return ax.get_title(loc="left") or "picture"
