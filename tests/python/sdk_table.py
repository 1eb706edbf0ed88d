"""The tables of docs/reference/sdks.md that the Python suites print.

A suite makes the rows from the calls that it sends, and compares them with the document.
`UPDATE_GOLDEN=1` writes them into it.
"""

import os
from pathlib import Path

from node_process import REPOSITORY

DOCUMENT = REPOSITORY / "docs/reference/sdks.md"
END = "<!-- end of table -->"


def check_table(name: str, header: list[str], rows: list[list[str]]) -> None:
    """Compares the table behind the mark `<!-- table NAME -->` with these rows.

    Raises AssertionError if they differ.
    """
    lines = [header, ["---"] * len(header), *rows]
    printed = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    text = DOCUMENT.read_text(encoding="utf-8")
    before, mark, rest = text.partition(f"<!-- table {name} -->\n")
    table, end, after = rest.partition(END)
    assert mark and end, f"{DOCUMENT} has no table {name}"
    if "UPDATE_GOLDEN" in os.environ:
        DOCUMENT.write_text(f"{before}{mark}{printed}{end}{after}", encoding="utf-8")
    else:
        assert table == printed, (
            f"{DOCUMENT.name} differs, and UPDATE_GOLDEN=1 rewrites it:\n{printed}"
        )
