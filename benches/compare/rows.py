"""All rows of the table.

A row has `name`, `measure` for one round, `summaries` of all rounds, and `rounds_max`, which limits
the rounds of a row that takes long.
"""

import beside
import block
import growth
import load
import lone
import long
import machine
import parked
import reads
import shares
import start

ALL = [
    *load.ROWS,
    *reads.ROWS,
    *parked.ROWS,
    *block.ROWS,
    *start.ROWS,
    *growth.ROWS,
    *long.ROWS,
    *beside.ROWS,
    *shares.ROWS,
    *lone.ROWS,
]
NAMES = [row.name for row in ALL]
# Rows that use `ledger-wait-load`.
WITH_WAITS = {row.name for row in (*reads.ROWS, *parked.ROWS, *block.ROWS)}
# Rows of the node alone, which print a table of their own.
OF_NODE = {beside.NAME, shares.NAME, lone.NAME}
# Rows that take a quarter of an hour or more, run only if named, and do not compare builds.
LONG = {long.NAME, *OF_NODE} - {lone.NAME}
ONLY_IF_NAMED = {*LONG, lone.NAME}
BY_DEFAULT = [name for name in NAMES if name not in ONLY_IF_NAMED]


def described(options):
    """Returns the options that affect the figures."""
    names = ("rounds", "seconds", "warm_up", "transfers", "set")
    builds = {
        name: getattr(options, name) and machine.commit_of(getattr(options, name))
        for name in ("node_old", "node_release")
    }
    return {**{name: getattr(options, name) for name in names}, **builds}
