"""The table as an SVG picture: a bar for each program of a row, with the spread of its rounds."""

from xml.sax.saxutils import escape

import table

WIDTH = 900
LEFT = 170
BAR_MAX = 520
BAR_HEIGHT = 18
ROW_GAP = 34
FIRST_COLOR = "#2f6f9f"
OTHER_COLOR = "#b9b9b9"


def bar(y, name, figure, note, largest, color):
    """Returns the bar of a program and the line of its spread."""
    scale = BAR_MAX / largest
    middle = y + BAR_HEIGHT / 2
    low, high = LEFT + figure["min"] * scale, LEFT + figure["max"] * scale
    label = table.number(figure["median"]) + note
    return [
        f'<text x="{LEFT - 8}" y="{middle + 4}" text-anchor="end">{escape(name)}</text>',
        f'<rect x="{LEFT}" y="{y}" width="{figure["median"] * scale:.1f}" height="{BAR_HEIGHT}"'
        f' fill="{color}"/>',
        f'<path d="M{low:.1f} {middle}H{high:.1f}" stroke="#222" stroke-width="2"/>',
        f'<text x="{high + 8:.1f}" y="{middle + 4}">{escape(label)}</text>',
    ]


def svg(results):
    """Returns the picture of all rows that compare programs."""
    machine = results["machine"]
    cores = f"{machine['cores']} x {machine['processor']}"
    head = f"{machine['date']}, commit {machine['commit']}, {cores}"
    lines, y = [f'<text x="20" y="28">{escape(head)}</text>'], 60
    for row in results["rows"]:
        if "lines" in row:
            continue
        title = escape(f"{row['title']}, {row['unit']}")
        lines.append(f'<text x="20" y="{y}" font-weight="bold">{title}</text>')
        y += 10
        largest = max(program["figure"]["max"] for program in row["programs"].values()) or 1
        for name, program in row["programs"].items():
            ratio = row["ratios"].get(name)
            note = f", {row['first']} : it {ratio['median']:.2f}" if ratio else ""
            color = FIRST_COLOR if name == row["first"] else OTHER_COLOR
            lines += bar(y, name, program["figure"], note, largest, color)
            y += BAR_HEIGHT + 4
        y += ROW_GAP
    size = f'width="{WIDTH}" height="{y}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif"'
            ' font-size="13">',
            f'<rect {size} fill="white"/>',
            *lines,
            "</svg>",
            "",
        ]
    )
