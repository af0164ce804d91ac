"""How a report looks: one style sheet, light and dark, for the screen and for paper. No font and no image is fetched."""

from __future__ import annotations

from collections.abc import Mapping

_SHEET = """
*,*::before,*::after{box-sizing:border-box}
html{color-scheme:light dark;-webkit-text-size-adjust:100%;scroll-padding-top:3.5rem}
body{margin:0;background:var(--page);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main,.top>div,footer{max-width:62rem;margin:0 auto;padding:0 1.5rem}
.top{border-bottom:1px solid var(--faint);padding:3.2rem 0 2.2rem;background:var(--wash)}
h1{font-size:2.15rem;line-height:1.2;font-weight:650;letter-spacing:-.015em;margin:0 0 .5rem;overflow-wrap:anywhere}
h2{font-size:1.4rem;line-height:1.3;font-weight:650;letter-spacing:-.01em;margin:0 0 .6rem}
h3{font-size:1.02rem;font-weight:650;margin:2.2rem 0 .5rem}
.sub{color:var(--quiet);margin:0;max-width:46rem}
.key{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:1px;margin:2rem 0 0;padding:0;
background:var(--faint);border:1px solid var(--faint);border-radius:10px;overflow:hidden}
.key>div{background:var(--page);padding:1.05rem 1.2rem 1rem}
.key dt{color:var(--quiet);font-size:.85rem}
.key dd{margin:0}
.key .n{font-size:1.75rem;line-height:1.3;font-weight:600;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
.key .s{color:var(--quiet);font-size:.82rem;line-height:1.45}
nav{position:sticky;top:0;z-index:2;background:var(--page);border-bottom:1px solid var(--faint)}
nav ul{max-width:62rem;margin:0 auto;padding:.65rem 1.5rem;list-style:none;display:flex;gap:.2rem 1.15rem;flex-wrap:wrap;
font-size:.875rem}
a{color:var(--link);text-underline-offset:.18em;text-decoration-thickness:1px}
nav a{text-decoration:none}
nav a:hover{text-decoration:underline}
a:focus-visible,.wide:focus-visible{outline:2px solid var(--link);outline-offset:2px}
section{padding:3.4rem 0 .6rem}
section+section{border-top:1px solid var(--faint);margin-top:2.8rem}
p{max-width:46rem;margin:.5rem 0 1rem}
.lead{font-size:1.06rem}
.note{color:var(--quiet);font-size:.875rem;margin:.5rem 0 1.4rem}
.rule{color:var(--quiet);font-size:.8rem;white-space:nowrap}
.picture{margin:1.6rem 0 1.8rem}
.picture svg{display:block;width:100%;height:auto;overflow:visible}
.picture svg text{font-family:inherit}
.wide{overflow-x:auto;margin:1.4rem 0 0}
table{border-collapse:collapse;width:100%;font-size:.9rem;line-height:1.4}
caption{caption-side:top;text-align:left;font-weight:650;font-size:.95rem;padding:0 0 .55rem}
th,td{padding:.42rem .9rem .42rem 0;text-align:left;vertical-align:baseline;border-bottom:1px solid var(--faint)}
thead th{color:var(--quiet);font-weight:500;font-size:.82rem;border-bottom-color:var(--rule);vertical-align:bottom}
tbody th{font-weight:400;overflow-wrap:anywhere}
td.text{overflow-wrap:anywhere}
.figure{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
td:last-child,th:last-child{padding-right:0}
td.bar{width:20%;min-width:5.5rem;padding-left:.3rem}
td.bar span{display:block;height:.62rem;border-radius:2px;background:var(--bar);min-width:1px}
code{font:.86em/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.code code{white-space:nowrap}
.tag{display:inline-block;padding:0 .5em;border-radius:1em;border:1px solid currentColor;font-size:.8rem;line-height:1.5;
white-space:nowrap}
.success,.info{color:var(--good)}.partial,.warning{color:var(--fair)}.failure,.error{color:var(--poor)}.unknown{color:var(--quiet)}
ol.rules{padding-left:1.6rem;max-width:50rem}
ol.rules li{margin:.55rem 0;padding-left:.3rem}
ol.rules li:target{background:var(--wash)}
footer{color:var(--quiet);font-size:.85rem;padding-top:2.5rem;padding-bottom:3.5rem}
.empty{color:var(--quiet)}
@media (max-width:40rem){h1{font-size:1.7rem}.top{padding-top:2rem}section{padding-top:2.2rem}body{font-size:15px}}
@media print{nav{display:none}.top,body{background:#fff}section{break-inside:auto}.picture,tr{break-inside:avoid}
.wide{overflow:visible}body{font-size:10.5pt}}
"""
# words and areas of the page itself: name -> on a light, on a dark page
PAGE = {
    "quiet": ("#5E6369", "#A6ABB2"), "wash": ("#F7F8F9", "#1B1F25"), "link": ("#005A9C", "#7CBDF0"),
    "bar": ("#3D8FC4", "#4A9BD0"), "good": ("#00704F", "#3FC29A"), "fair": ("#8F5F00", "#E6A733"),
    "poor": ("#B04500", "#F08A4B"),
}  # fmt: skip


def sheet(colours: Mapping[str, tuple[str, str]]) -> str:
    """The style sheet; `colours` are those of the pictures, by name, each for a light and for a dark page."""
    every = {**dict(sorted(colours.items())), **PAGE}
    light, dark = (";".join(f"--{n}:{pair[at]}" for n, pair in every.items()) for at in (0, 1))
    return f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}@media print{{:root{{{light}}}}}{_SHEET}"
