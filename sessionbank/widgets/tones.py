"""The look of an explorer as CSS: colours of pictures as variables, for light and for dark pages. Nothing is rendered.

Page colours are those of the notebook (`--jp-*`, in VS Code `--vscode-*`), with the page's own as fallback, and
backgrounds are see-through. Colours that mean something are those of `plot.style`, each in the tone that stands out from
the page (`plot.themes.stroke`).
"""

from __future__ import annotations

from functools import lru_cache
from html import escape

from sessionbank.plot import style, themes

STATES = ("work", "waiting", "idle")
_AREAS = {  # of time in a lane: pale, so that what is drawn over them is seen; (light, dark)
    "work": ("#B9C6D3", "#48596B"), "waiting": ("#F6DFB0", "#7A6022"), "idle": ("#E4E4E4", "#2D323A"),
}  # fmt: skip
_STANDING = {
    "established": style.GREEN, "tentative": style.ORANGE, "contested": style.VERMILION, "claimed": style.GREY,
}  # fmt: skip
_MARKS = {"critical": style.VERMILION, "entered": style.GREEN, "left": style.GREY, "bar": style.BLUE}

_RULES = """
.sbx{font:13px/1.45 var(--jp-ui-font-family,system-ui,sans-serif);color:var(--jp-ui-font-color1,var(--vscode-editor-foreground,inherit));
--sbx-rule:var(--jp-border-color1,var(--vscode-panel-border,#8a8a8a));--sbx-faint:var(--jp-border-color2,#8a8a8a55);
--sbx-page:var(--jp-layout-color0,var(--vscode-editor-background,#ffffff00));background:transparent}
.sbx *{box-sizing:border-box}
.sbx h4{font-size:13px;font-weight:600;margin:10px 0 3px}
.sbx h3{font-size:14px;font-weight:600;margin:0 0 3px}
.sbx .q{opacity:.76}
.sbx .r{display:flex;flex-wrap:wrap;gap:2px 14px;align-items:baseline}
.sbx table{border-collapse:collapse;margin:2px 0;font:inherit;font-size:12.5px}
.sbx th{font-weight:600;text-align:left;border-bottom:1px solid var(--sbx-rule)}
.sbx th,.sbx td{padding:2px 12px 2px 0;vertical-align:top;color:inherit;background:transparent;white-space:normal}
.sbx td{border-bottom:1px solid var(--sbx-faint)}
.sbx .n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.sbx pre{font:12px/1.45 var(--jp-code-font-family,ui-monospace,monospace);white-space:pre-wrap;overflow-wrap:anywhere;
margin:2px 0 6px;padding:4px 0 4px 9px;border-left:3px solid var(--sbx-rule);background:transparent;color:inherit;
max-height:22em;overflow:auto}
.sbx .b{display:inline-block;border:1px solid var(--c,var(--sbx-rule));border-radius:9px;padding:0 7px;font-size:12px;line-height:17px;
white-space:nowrap}
.sbx .s{display:inline-block;width:10px;height:10px;border-radius:2px;background:var(--c);margin-right:5px}
.sbx .bar{display:inline-block;width:80px;height:8px;background:var(--sbx-faint);border-radius:2px;vertical-align:middle}
.sbx .bar i{display:block;height:8px;background:var(--c);border-radius:2px}
.sbx svg{display:block;width:100%;height:auto;overflow:visible}
.sbx svg text{fill:currentColor;font:11.5px var(--jp-ui-font-family,system-ui,sans-serif)}
.sbx .del{text-decoration:line-through;opacity:.76}
"""


def css(name: str) -> str:
    """A colour by its name, as a CSS value: ``var(--sbx-delegation)``."""
    return f"var(--sbx-{name})"


@lru_cache(maxsize=1)
def sheet() -> str:
    """The style element that the classes and variables of an explorer come from."""
    light, dark = (_variables(themes.THEMES[name]) for name in ("light", "dark"))
    return (
        f"<style>{_RULES}.sbx{{{light}}}"
        f'[data-jp-theme-light="false"] .sbx,.vscode-dark .sbx,.vscode-high-contrast .sbx{{{dark}}}</style>'
    )


def _variables(theme: themes.Theme) -> str:
    kinds = {**style.COLOURS["interaction"], **style.COLOURS["status"], **_STANDING, **_MARKS}
    lines = {name: themes.stroke(tone, theme.page) for name, tone in kinds.items()}
    areas = {name: tones[theme.name == "dark"] for name, tones in _AREAS.items()}
    lines["chosen"] = theme.ink
    return ";".join(f"--sbx-{name}:{tone}" for name, tone in {**lines, **areas}.items())


def pane(*parts: str, label: str = "", more: str = "", kind: str = "") -> str:
    """A part of an explorer with its look; the parts are HTML, `label` is what a screen reader calls it.

    `more` is a further style element, `kind` a further class.
    """
    named = f' role="region" aria-label="{escape(label)}"' if label else ""
    return f'{sheet()}{more}<div class="sbx{" " + kind if kind else ""}"{named}>{"".join(parts)}</div>'


def badge(text: str, colour: str = "") -> str:
    """A word in a frame, of a named colour; escaped."""
    tone = f' style="--c:{css(colour)}"' if colour else ""
    return f'<span class="b"{tone}>{escape(text)}</span>'


def swatch(text: str, colour: str) -> str:
    """An entry of a legend; escaped."""
    return f'<span style="white-space:nowrap"><span class="s" style="--c:{css(colour)}"></span>{escape(text)}</span>'


def bar(share: float, colour: str = "bar") -> str:
    """A small bar, `share` from 0 to 1; decoration beside a figure, so hidden from screen readers."""
    width = f"{100 * min(max(share, 0.0), 1.0):.0f}%"
    return (
        f'<span class="bar" aria-hidden="true" style="--c:{css(colour)}"><i style="width:{width}"></i></span>'
    )
