"""The report of a job: one HTML page with plots that needs nothing from outside."""

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

POINTS = 600
WIDE, HIGH, LEFT, TOP, FOOT = 940, 200, 56, 10, 24
STYLE = (
    ":root{--ink:#22252b;--soft:#5b606b;--line:#e4e2dc;--gold:#b07f14;--blue:#2c6a99;--green:#2b7a4b;--red:#ad3128;"
    "--page:#fff;color-scheme:light dark}"
    "@media(prefers-color-scheme:dark){:root{--ink:#eceae5;--soft:#a9aeb9;--line:#30343c;--gold:#e6b955;"
    "--blue:#74b3e2;--green:#72c795;--red:#f19085;--page:#15171b}}"
    "body{font:15px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:1000px;"
    "margin:2rem auto;padding:0 1rem}h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}"
    ".note{color:var(--soft)}dl{display:flex;flex-wrap:wrap;gap:1rem 2.2rem}dt{color:var(--soft);font-size:.8rem}"
    "dd{margin:0;font-size:1.45rem;font-weight:640;font-variant-numeric:tabular-nums}"
    "svg{width:100%;height:auto}svg text{fill:var(--soft);font:12px system-ui}.grid{stroke:var(--line)}"
    "polyline{fill:none;stroke-width:1.6}.cached{stroke:var(--gold)}.plain{stroke:var(--blue)}"
    ".work{fill:var(--gold);opacity:.75}.dirty{stroke:var(--red)}.agree{fill:var(--green)}.bail{fill:var(--red)}"
    ".maps{display:grid;grid-template-columns:repeat(auto-fill,minmax(280px,1fr));gap:1rem}figure{margin:0}"
    "figcaption{color:var(--soft);font-size:.85rem}img{width:100%;border-radius:8px}.error{color:var(--red)}"
    "i{display:inline-block;width:.8rem;height:.8rem;border-radius:3px;margin:0 .35rem 0 1rem;vertical-align:-1px}"
)


@dataclass(frozen=True)
class Point:
    """One frame in the plots; times in milliseconds, None where no plain run was made."""

    number: int
    outcome: str
    cached_ms: float
    plain_ms: float | None
    work_share: float
    dirty_share: float
    agreement: float | None
    bail_out: bool


@dataclass(frozen=True)
class Map:
    """A reuse map (PNG) and what is written under it."""

    png: bytes
    caption: str


def page(
    title: str, facts: str, stats: dict[str, Any], points: Sequence[Point], maps: Sequence[Map], error: str = ""
) -> str:
    """Write the page; `facts` is one line on model, mode and settings, `stats` are the job's."""
    name = html.escape(title)
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<link rel=icon href='data:,'><title>{name}</title><style>{STYLE}</style>",
        f"<body><main><h1>{name}</h1><p class=note>{html.escape(facts)}</p>",
        f"<p class=error role=alert>{html.escape(error)}</p>" if error else "",
        _numbers(stats),
    ]
    if points:
        parts += [_times(points), _shares(points), _agreements(points)]
    if maps:
        drawn = "".join(_figure(each) for each in maps)
        words = "Dim: read from the cache. Gold: recomputed, by share of work. Outlined in red: pixels changed."
        parts.append(f"<h2>What was recomputed</h2><p class=note>{words}</p><div class=maps>{drawn}</div>")
    return "".join(parts) + "</main></body></html>"


def _figure(each: Map) -> str:
    data = base64.b64encode(each.png).decode()
    caption = html.escape(each.caption)
    picture = f"<img alt='Reuse map, {caption}' src='data:image/png;base64,{data}'>"
    return f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"


def _numbers(stats: dict[str, Any]) -> str:
    shown = (
        ("Speed-up", stats.get("speedup"), "{:.2f}x"),
        ("Agreement", stats.get("agreement"), "{:.1%}"),
        ("Work done", stats.get("work_share"), "{:.1%}"),
        ("Frames", stats.get("frames"), "{:,}"),
        ("Reused", stats.get("reused"), "{:,}"),
        ("Partial", stats.get("partial"), "{:,}"),
        ("Dense", stats.get("dense"), "{:,}"),
        ("Bail-outs", stats.get("bail_outs"), "{:,}"),
        ("Median", stats.get("p50_ms"), "{:.1f} ms"),
        ("p95", stats.get("p95_ms"), "{:.1f} ms"),
        ("Plain median", stats.get("plain_p50_ms"), "{:.1f} ms"),
    )
    rows = "".join(
        f"<div><dt>{name}</dt><dd>{'–' if value is None else form.format(value)}</dd></div>"
        for name, value, form in shown
    )
    return f"<dl>{rows}</dl>"


def _times(points: Sequence[Point]) -> str:
    cut = sorted(p.cached_ms for p in points)[int(0.99 * (len(points) - 1))]
    plain = [(p.number, p.plain_ms) for p in points if p.plain_ms is not None]
    most = 1.1 * max([cut, *(value for _, value in plain)], default=1.0) or 1.0
    cached = [(p.number, min(p.cached_ms, most)) for p in points]
    drawn = _line(cached, most, points, "cached") + _line(plain, most, points, "plain")
    key = _key(("gold", "with the cache"), ("blue", "plain engine (onnxruntime), where it ran beside"))
    return f"<h2>Time per frame</h2>{key}{_axes(points, drawn, f'{most:.3g} ms')}"


def _shares(points: Sequence[Point]) -> str:
    wide = max(1.0, (WIDE - LEFT) / len(points))
    bars = [
        f'<rect class="{"bail" if p.bail_out else "work"}" x="{_x(p.number, points):.1f}" '
        f'y="{_y(_work(p), 1):.1f}" width="{wide + 0.7:.1f}" height="{_y(0, 1) - _y(_work(p), 1):.1f}"/>'
        for p in points
    ]
    dirty = _line([(p.number, p.dirty_share) for p in points], 1.0, points, "dirty")
    key = _key(("gold", "share of work done"), ("red", "bail-out: the plain engine was cheaper; line: changed pixels"))
    return f"<h2>Work and changed pixels</h2>{key}{_axes(points, ''.join(bars) + dirty, '100%')}"


def _agreements(points: Sequence[Point]) -> str:
    seen = [p for p in points if p.agreement is not None]
    dots = "".join(
        f'<circle class="agree" r="3" cx="{_x(p.number, points):.1f}" cy="{_y(p.agreement or 0.0, 1):.1f}"/>'
        for p in seen
    )
    key = _key(("green", "agreement with the plain run, measured beside"))
    return f"<h2>Agreement</h2>{key}{_axes(points, dots, '100%')}" if seen else ""


def _work(point: Point) -> float:
    return 0.0 if point.outcome == "reused" else min(1.0, point.work_share)


def _key(*entries: tuple[str, str]) -> str:
    return (
        "<p class=note>"
        + "".join(f'<i style="background:var(--{c})"></i>{html.escape(t)}' for c, t in entries)
        + "</p>"
    )


def _x(number: int, points: Sequence[Point]) -> float:
    first, last = points[0].number, max(points[-1].number, points[0].number + 1)
    return LEFT + (WIDE - LEFT - 4) * (number - first) / (last - first)


def _y(value: float, most: float) -> float:
    return TOP + (HIGH - TOP - FOOT) * (1 - min(value / most, 1.0))


def _line(values: Sequence[tuple[int, float]], most: float, points: Sequence[Point], kind: str) -> str:
    places = " ".join(f"{_x(number, points):.1f},{_y(value, most):.1f}" for number, value in values)
    return f'<polyline class="{kind}" points="{places}"/>'


def _axes(points: Sequence[Point], drawn: str, top: str) -> str:
    base = HIGH - FOOT
    lines = f'<path class="grid" fill="none" d="M{LEFT} {TOP}V{base}H{WIDE}"/>'
    words = (
        f'<text x="{LEFT - 6}" y="{TOP + 10}" text-anchor="end">{top}</text>'
        f'<text x="{LEFT - 6}" y="{base}" text-anchor="end">0</text>'
        f'<text x="{LEFT}" y="{HIGH - 6}">frame {points[0].number}</text>'
        f'<text x="{WIDE}" y="{HIGH - 6}" text-anchor="end">{points[-1].number}</text>'
    )
    return f'<svg viewBox="0 0 {WIDE} {HIGH}" role="img" aria-label="plot">{lines}{drawn}{words}</svg>'
