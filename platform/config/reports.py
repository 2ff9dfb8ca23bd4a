"""Write what a benchmark measured: a table, JSON, and one HTML page with plots that needs nothing from outside."""

from __future__ import annotations

import html
import json
import os
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
COLOURS = ("#d9a63a", "#3f7fbf", "#4f9d69", "#b5546b", "#8a6fb0")
STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:1100px;padding:0 1rem;color:#22252b}"
    "table{border-collapse:collapse;margin:1rem 0 2rem;font-variant-numeric:tabular-nums}"
    "th,td{padding:.3rem .7rem;border-bottom:1px solid #e4e2dc;text-align:right}"
    "td:first-child,th:first-child{text-align:left}"
    "rect{fill:#d9a63a}text{font:12px system-ui}"
    "@media(prefers-color-scheme:dark){body{background:#15171b;color:#ecebe7}th,td{border-color:#30343c}text{fill:#ecebe7}}"
)


def table(rows: Sequence[Row]) -> str:
    """Write rows of one part as text, each column as wide as it needs."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *[[shown(row.get(name)) for name in names] for row in rows]]
    widths = [max(len(line[place]) for line in cells) for place in range(len(names))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in cells)


def shown(value: Any) -> str:
    """Write a value briefly."""
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def parts(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Sort rows by their part; those that compare engines by the model and the height they ran at."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        name = f"{row['model']} {row['height']}p" if "engine" in row else "all"
        found.setdefault(str(row.get("part", name)), []).append(row)
    return found


def document(command: str, rows: Sequence[Row], checkout: Path) -> dict[str, Any]:
    """Build what is written as JSON."""
    machine = {"system": platform.platform(), "processor": _processor(), "cores": os.cpu_count()}
    return {"command": command, "commit": _commit(checkout), "machine": machine, "rows": list(rows)}


def page(report: dict[str, Any]) -> str:
    """Write the report as one HTML page."""
    title = html.escape(report["command"])
    about = html.escape(f"{json.dumps(report['machine'])}, commit {report['commit']}")
    body = [f"<h1>{title}</h1><p>{about}</p>"]
    for name, rows in parts(report["rows"]).items():
        drawing = _lines(rows) if name == "equal_error" else _sizes(rows) if "cache_share" in rows[0] else _plot(rows)
        body.append(f"<h2>{html.escape(name)}</h2>{drawing}{_html_table(rows)}")
    head = f"<!doctype html><meta charset=utf-8><title>{title}</title><style>{STYLE}</style>"
    return head + "".join(body)


def _html_table(rows: Sequence[Row]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row if name != "part"))
    head = "".join(f"<th>{html.escape(name)}" for name in names)
    lines = "".join("<tr>" + "".join(f"<td>{html.escape(shown(row.get(name)))}" for name in names) for row in rows)
    return f"<table><tr>{head}{lines}</table>"


def _plot(rows: Sequence[Row]) -> str:
    """Draw the part's headline number as bars, one a row."""
    wanted = ("static_share", "p50_ms", "recall_at_1", "wrong_hits", "over_onnxruntime", "byte_hit")
    name = next((name for name in wanted if all(isinstance(row.get(name), int | float) for row in rows)), None)
    if name is None:
        return ""
    most = max(float(row[name]) for row in rows) or 1.0
    bars = []
    for place, row in enumerate(rows):
        label = _label(row)
        width, y = 420 * float(row[name]) / most, 20 * place
        bars.append(f'<rect x="430" y="{y}" width="{width:.1f}" height="15" rx="3"/>')
        bars.append(f'<text x="424" y="{y + 12}" text-anchor="end">{html.escape(label)}</text>')
        bars.append(f'<text x="{436 + width:.1f}" y="{y + 12}">{shown(row[name])}</text>')
    height = 20 * len(rows)
    drawing = f'<svg width="960" height="{height}" role="img">{"".join(bars)}</svg>'
    return f"<figure><figcaption>{name}</figcaption>{drawing}</figure>"


def _lines(rows: Sequence[Row]) -> str:
    """Draw the static-origin share against the error, one line a policy, one figure a data set."""
    figures: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        lines = figures.setdefault(f"{row['data']}, {row['per_class']} golden a class", {})
        lines.setdefault(str(row["policy"]), []).append((float(row["error"]), float(row["static_share"])))
    return "".join(_figure(f"static-origin share at equal error: {title}", lines) for title, lines in figures.items())


def _sizes(rows: Sequence[Row]) -> str:
    """Draw what a cache gives against its size, one line a policy, one figure for each trace and number."""
    figures: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        for name in ("byte_hit", "gap_closed", "start_hit"):
            origin = f", {row['origin']} origin" if name == "start_hit" else ""
            if origin or row["origin"] == "slow":
                lines = figures.setdefault(f"{name}: {row['trace']} trace, seed {row['seed']}{origin}", {})
                lines.setdefault(str(row["policy"]), []).append((float(row["cache_share"]), max(0.0, float(row[name]))))
    return "".join(_figure(title, lines, "cache") for title, lines in figures.items())


def _figure(title: str, lines: dict[str, list[tuple[float, float]]], across: str = "error") -> str:
    """Draw lines of (error or cache size, share) on 460 x 240 pixels; both axes begin at 0, the share's ends at 1."""
    most = max(error for points in lines.values() for error, _ in points) or 1.0
    drawn = ['<path d="M40 220H440M40 220V20" stroke="currentColor" fill="none"/><text x="4" y="26">100%</text>']
    drawn.append(f'<text x="400" y="236">{across} {most:.0%}</text>')
    for place, (policy, points) in enumerate(sorted(lines.items())):
        colour = COLOURS[place % len(COLOURS)]
        where = [(40 + 400 * error / most, 220 - 200 * share) for error, share in sorted(points)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in where)
        drawn.append(f'<polyline points="{path}" stroke="{colour}" stroke-width="2.5" fill="none"/>')
        drawn.append(f'<text x="{where[-1][0] + 6:.0f}" y="{where[-1][1] + 4:.0f}" style="fill:{colour}">')
        drawn.append(f"{html.escape(policy)} {max(points)[1]:.0%}</text>")
    svg = f'<svg width="640" height="244" role="img">{"".join(drawn)}</svg>'
    return f"<figure><figcaption>{html.escape(title)}</figcaption>{svg}</figure>"


def _label(row: Row) -> str:
    words = [str(value) for key, value in row.items() if isinstance(value, str) and key != "part"]
    numbers = [
        f"{key} {row[key]}" for key in ("seed", "budget", "error", "per_class", "entries", "clients") if key in row
    ]
    return " ".join(words + numbers)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")


def _commit(checkout: Path) -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip()
