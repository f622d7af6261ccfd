"""Draw the pages' flowcharts when the site is built.

GitHub draws blocks of Mermaid itself. A site would load Mermaid's script from another host; these charts are so small
that a layered drawing does: each node in the layer that the longest path to it says, and each edge with a place of its
own in the layers that it passes.
"""

import html
import re
from collections import defaultdict
from itertools import pairwise

#: The height of a box, the space between layers, and that between boxes of one layer.
HEIGHT, BETWEEN, BESIDE = 28, 28, 12
#: What a wider chart may shrink to, in pixels; where there is less room it is scrolled.
READABLE = 640
LINE = "fill:none;stroke:currentColor"
TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z" style="fill:currentColor"/></marker></defs>'
)
#: A node, or the place of an edge in a layer that it passes.
Place = str | tuple[str, str, int]


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put a drawing in the place of each chart."""
    return re.sub(
        r"```mermaid\nflowchart (TD|LR)\n(.*?)```",
        lambda chart: draw(chart[2], chart[1] == "TD"),
        markdown,
        flags=re.DOTALL,
    )


def layers(edges: list[tuple[str, str]]) -> tuple[list[list[Place]], list[list[Place]]]:
    """The places in each layer, and for each edge those that it goes through."""
    depth: dict[str, int] = defaultdict(int)
    for _ in edges:
        for start, end in edges:
            depth[end] = max(depth[end], depth[start] + 1)
    ways: list[list[Place]] = [
        [start, *((start, end, layer) for layer in range(depth[start] + 1, depth[end])), end] for start, end in edges
    ]
    found: list[list[Place]] = [[] for _ in range(max(depth.values()) + 1)]
    for way in ways:
        for layer, place in enumerate(way, depth[str(way[0])]):
            if place not in found[layer]:
                found[layer].append(place)
    return found, ways


def order(found: list[list[Place]], ways: list[list[Place]]) -> dict[Place, float]:
    """Where each place is within its layer: near those that it is joined with, and at least 1 apart."""
    joined: dict[Place, list[Place]] = defaultdict(list)
    for start, end in (edge for way in ways for edge in pairwise(way)):
        joined[start].append(end)
        joined[end].append(start)
    at = {place: float(number) for layer in found for number, place in enumerate(layer)}
    for _ in range(12):
        for layer in (*found, *reversed(found)):
            wish = {place: sum(at[other] for other in joined[place]) / len(joined[place]) for place in layer}
            layer.sort(key=lambda place: wish[place])
            put: list[float] = []
            for place in layer:
                put.append(max(wish[place], put[-1] + 1) if put else wish[place])
            shift = (sum(wish.values()) - sum(put)) / len(layer)
            at.update({place: where + shift for place, where in zip(layer, put, strict=True)})
    least = min(at.values())
    return {place: where - least for place, where in at.items()}


def draw(text: str, down: bool) -> str:
    """A chart as SVG, in the colours of the page, from lines such as ``a --> b --> c``.

    Args:
        text: the chart's lines.
        down: its layers are rows, not columns.
    """
    edges = [edge for line in text.splitlines() for edge in pairwise(part.strip() for part in line.split("-->"))]
    found, ways = layers(edges)
    at = order(found, ways)
    width = {place: 8 * len(place) + 16 if isinstance(place, str) else 0 for place in at}
    apart = (max(width.values()) if down else HEIGHT) + BESIDE
    middle: dict[Place, tuple[float, float]] = {}
    along = 4.0
    for layer in found:  # as thick as its boxes
        thick = HEIGHT if down else max(width[place] for place in layer)
        for place in layer:
            one, other = at[place] * apart + apart / 2, along + thick / 2
            middle[place] = (one, other) if down else (other, one)
            if not isinstance(place, str):  # an edge goes straight through a layer
                width[place] = thick
        along += thick + BETWEEN
    parts = []
    for way in ways:
        path = ""
        for start, end in pairwise(way):
            (a, b), (c, d) = middle[start], middle[end]
            if down:
                b, d = b + HEIGHT / 2, d - HEIGHT / 2
                bend = f"{a:g} {(b + d) / 2:g} {c:g} {(b + d) / 2:g}"
            else:
                a, c = a + width[start] / 2, c - width[end] / 2
                bend = f"{(a + c) / 2:g} {b:g} {(a + c) / 2:g} {d:g}"
            path += f"{'L' if path else 'M'}{a:g} {b:g}C{bend} {c:g} {d:g}"
        parts.append(f'<path d="{path}" style="{LINE};opacity:.6" marker-end="url(#tip)"/>')
    for place, (x, y) in middle.items():
        if isinstance(place, str):
            box = f'x="{x - width[place] / 2:g}" y="{y - HEIGHT / 2:g}" width="{width[place]}" height="{HEIGHT}" rx="4"'
            label = f'x="{x:g}" y="{y + 4.5:g}" text-anchor="middle" style="font-size:13px;fill:currentColor"'
            parts.append(f'<rect {box} style="{LINE}"/><text {label}>{html.escape(place)}</text>')
    size = (max(at.values()) + 1) * apart, along - BETWEEN + 4
    wide, high = size if down else size[::-1]
    said = html.escape("; ".join(f"{start} to {end}" for start, end in edges))
    shape = f'viewBox="0 0 {wide:g} {high:g}" style="width:{wide:g}px;min-width:{min(wide, READABLE):g}px;height:auto"'
    return (
        f'<div class="flowchart" style="overflow-x:auto"><svg role="img" aria-label="{said}" {shape}>{TIP}'
        f"{''.join(parts)}</svg></div>"
    )
