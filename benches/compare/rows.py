"""All rows of the table. A row has a name, `measure` for one round, `summaries` of all rounds, and
`rounds_max` where one takes too long for several."""

import block
import growth
import load
import long
import parked
import reads
import start
import sustained

ALL = [*load.ROWS, *reads.ROWS, *parked.ROWS, *block.ROWS, *start.ROWS, *growth.ROWS, *sustained.ROWS, *long.ROWS]
NAMES = [row.name for row in ALL]
# Those for which long polls are parked, or a block is made of a given size.
WITH_WAITS = {row.name for row in (*reads.ROWS, *parked.ROWS, *block.ROWS)}
# Each takes a quarter of an hour or more: only where they are asked for.
FOR_LONG = {long.NAME, *sustained.NAMES}
BY_DEFAULT = [name for name in NAMES if name not in FOR_LONG]


def described(options):
    """What the run was asked for, as far as it decides the figures."""
    asked = ("rounds", "seconds", "warm_up", "transfers", "sustain", "set")
    return {name: getattr(options, name) for name in asked}
