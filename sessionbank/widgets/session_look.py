"""The look of the bank's and the session's explorer, on top of `tones`: entries, code, diffs, rows. Nothing is rendered.

A thing's colour is that of the pictures (`plot.style`), once for a light page and once for a dark one.
"""

from __future__ import annotations

from functools import lru_cache
from html import escape

from sessionbank.plot import style, themes
from sessionbank.widgets import tones

ROW = 28  # height of a row of the table of sessions in pixels: that of the buttons beside it

_RULES = f"""
.sbx .tn{{--c:var(--l)}}
.sbx .dot{{display:inline-block;width:9px;height:9px;border-radius:50%;background:var(--c);margin-right:6px;flex:none}}
.sbx .scroll{{max-height:620px;overflow:auto;border-top:1px solid var(--sbx-faint);border-bottom:1px solid var(--sbx-faint)}}
.sbx .e{{display:grid;grid-template-columns:92px minmax(0,1fr);gap:0 12px;padding:5px 8px 6px 10px;border-left:3px solid var(--c);
border-bottom:1px solid var(--sbx-faint)}}
.sbx .e.sel{{outline:2px solid var(--sbx-bar);outline-offset:-2px;border-radius:3px}}
.sbx .g{{text-align:right;font-variant-numeric:tabular-nums;font-size:12px;line-height:19px}}
.sbx .g b{{display:block;font-weight:600}}
.sbx .g span{{opacity:.76;display:block}}
.sbx .w{{font-size:12px;line-height:19px;display:flex;flex-wrap:wrap;gap:0 8px;align-items:baseline}}
.sbx .w b{{font-weight:600}}
.sbx .t{{white-space:pre-wrap;overflow-wrap:anywhere;max-width:88ch}}
.sbx .quiet{{opacity:.76}}
.sbx .g i{{font-style:normal;font-weight:400;opacity:.76}}
.sbx pre{{word-break:normal}}
.sbx details{{margin:1px 0}}
.sbx summary{{cursor:pointer;border-radius:3px}}
.sbx summary:focus-visible{{outline:2px solid var(--sbx-bar);outline-offset:1px}}
.sbx summary code{{font:12px/1.45 var(--jp-code-font-family,ui-monospace,monospace);background:transparent;color:inherit;padding:0;
overflow-wrap:anywhere}}
.sbx .in{{margin:2px 0 4px 16px}}
.sbx .h{{font-size:12px;font-weight:600;opacity:.76;margin-top:3px}}
.sbx pre.d{{padding-left:0;border-left:0}}
.sbx pre.d span{{display:block;padding:0 6px;border-left:3px solid transparent;min-height:1.45em}}
.sbx pre.d .p{{border-left-color:var(--sbx-ok);background:color-mix(in srgb,var(--sbx-ok) 14%,transparent)}}
.sbx pre.d .m{{border-left-color:var(--sbx-error);background:color-mix(in srgb,var(--sbx-error) 14%,transparent)}}
.sbx pre.d .k{{opacity:.76;font-style:italic}}
.sbx mark{{background:color-mix(in srgb,var(--sbx-signal) 38%,transparent);color:inherit;border-radius:2px;
box-shadow:0 0 0 1px var(--sbx-signal)}}
.sbx table.rows{{width:100%;table-layout:fixed;border-collapse:separate;border-spacing:0;margin:0}}
.sbx table.rows th,.sbx table.rows td{{height:{ROW}px;line-height:{ROW - 2}px;padding:0 10px 0 0;white-space:nowrap;overflow:hidden;
text-overflow:ellipsis;border:0;box-shadow:inset 0 -1px var(--sbx-faint)}}
.sbx table.rows th{{box-shadow:inset 0 -1px var(--sbx-rule)}}
.sbx table.rows th,.sbx table.rows td{{text-align:left}}
.sbx table.rows .n{{text-align:right}}
.sbx table tbody tr:nth-child(n){{background:transparent}}
.sbx table.rows tr.sel td{{background:color-mix(in srgb,var(--sbx-bar) 20%,transparent)}}
.sbx.full pre{{max-height:none}}
.sbx .facts{{margin:3px 0 6px;font-variant-numeric:tabular-nums}}
"""


@lru_cache(maxsize=1)
def sheet() -> str:
    """The style element of these explorers, which goes on top of that of `tones`."""
    dark = '[data-jp-theme-light="false"] .sbx .tn,.vscode-dark .sbx .tn,.vscode-high-contrast .sbx .tn{--c:var(--d)}'
    return f"<style>{_RULES}{dark}</style>"


def pane(*parts: str, label: str = "", is_full: bool = False) -> str:
    """A part of an explorer; the parts are HTML, `label` is what a screen reader calls it.

    With `is_full` long code does not scroll in a box of its own.
    """
    return tones.pane(*parts, label=label, more=sheet(), kind="full" if is_full else "")


@lru_cache(maxsize=512)
def tone(kind: str, name: str | None, *, indent: int = 0) -> str:
    """The style of an element (its class is ``tn``) in the colour of a thing, `indent` pixels from the left.

    The colour is ``--c`` inside it, on light pages and on dark ones.
    """
    own = style.colour(kind, name)
    light, dark = (themes.stroke(own, themes.THEMES[t].page) for t in ("light", "dark"))
    return f'style="--l:{light};--d:{dark}{f";margin-left:{indent}px" if indent else ""}"'


def dot(kind: str, name: str | None) -> str:
    """A small round mark in the colour of a thing; decoration beside its name."""
    return f'<span class="dot tn" {tone(kind, name)} aria-hidden="true"></span>'


def badge(text: str, kind: str, name: str | None = None) -> str:
    """A word in a frame in the colour of a thing; escaped."""
    return f'<span class="b tn" {tone(kind, text if name is None else name)}>{escape(text)}</span>'
