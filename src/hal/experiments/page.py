"""A page that needs nothing else, in light and dark, wide and narrow, with tables and pictures."""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from io import BytesIO
from string import Template

from PIL import Image

SHOWN = 0.4  # pixels of the page for each of a picture

STYLE = """
:root { color-scheme: light dark; --ink: #1d1d24; --paper: #fff; --quiet: #5b5b66; --line: #d5d5dd;
  --confirmed: #11692f; --not-confirmed: #8a5200; --refuted: #b3202c; --not-measured: #5b5b66; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6ec; --paper: #16161b; --quiet: #a6a6b3; --line: #3a3a45;
    --confirmed: #6fd08c; --not-confirmed: #f0b45a; --refuted: #ff8f8f; --not-measured: #a6a6b3; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 64rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.2; }
h2 { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); }
a { color: inherit; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.3rem 1.2rem; padding: 0; list-style: none; }
code { overflow-wrap: anywhere; }
figure { margin: 1.5rem 0; }
figcaption { margin-top: 0.5rem; }
figcaption, caption, .quiet { color: var(--quiet); font-size: 0.875rem; text-align: left; }
img { display: block; max-width: 100%; height: auto; background: #fff; border-radius: 4px; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.875rem; }
caption { padding-bottom: 0.4rem; }
th, td { padding: 0.35rem 0.8rem 0.35rem 0; border-bottom: 1px solid var(--line);
  text-align: left; vertical-align: top; }
.scroll th, .scroll td { white-space: nowrap; font-variant-numeric: tabular-nums; }
.claims ul { margin: 0; padding: 0; list-style: none; }
.claims li { margin-bottom: 0.5rem; }
.claims li .quiet { display: block; font-size: 0.8125rem; }
.claims .measured { width: 60%; }
.verdict { white-space: nowrap; }
.confirmed { color: var(--confirmed); }
.not-confirmed { color: var(--not-confirmed); }
.refuted { color: var(--refuted); }
.not-measured { color: var(--not-measured); }
@media (max-width: 40rem) {
  .claims, .claims tbody { display: block; }
  .claims thead { position: absolute; clip-path: inset(50%); }
  .claims tr { display: flex; flex-wrap: wrap; border-bottom: 1px solid var(--line); }
  .claims th, .claims td { flex: 0 0 100%; padding: 0.4rem 0; border: 0; }
  .claims th { flex-basis: 1.6rem; }
  .claims th + td { flex: 1 0 0; }
  .claims .measured { order: 1; }
}
"""
PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<link rel="icon" href="data:,">
<style>$style</style>
</head>
<body>
<header>
<h1>$title</h1>
$intro
<nav aria-label="Sections"><ul>$links</ul></nav>
</header>
<main>
$sections
</main>
</body>
</html>
""")


def page_of(title: str, intro: str, sections: Mapping[str, tuple[str, str]]) -> str:
    """Return a page of sections, by their ids: a title each, and what it has as HTML."""
    links = (f'<li><a href="#{name}">{escape(sections[name][0])}</a></li>' for name in sections)
    parts = (
        f'<section id="{name}">\n<h2>{escape(own)}</h2>\n{content}\n</section>'
        for name, (own, content) in sections.items()
    )
    return PAGE.substitute(
        title=escape(title),
        intro=intro,
        style=STYLE,
        links="".join(links),
        sections="\n".join(parts),
    )


def picture(png: bytes, caption: str) -> str:
    """Return a figure with its picture inside."""
    with Image.open(BytesIO(png)) as image:
        width, height = (round(SHOWN * size) for size in image.size)
    return (
        f'<figure><img alt="Plot. {escape(caption)}" width="{width}" height="{height}"'
        f' src="data:image/png;base64,{b64encode(png).decode()}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in a box of its own that scrolls, as a phone is narrow."""
    columns = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    body = "\n".join(f"<tr>{row}</tr>" for row in cells)
    return (
        f'<div class="scroll" role="region" aria-label="{escape(title)}" tabindex="0">\n'
        f"<table><caption>{escape(title)}</caption><thead><tr>{columns}</tr></thead>\n"
        f"<tbody>{body}</tbody></table></div>"
    )
