"""All rows of the table. A row has a name, `measure` for one round, `summaries` of all rounds, and
`rounds_max` where one takes too long for several."""

import block
import growth
import load
import long
import parked
import reads
import start

ALL = [*load.ROWS, *reads.ROWS, *parked.ROWS, *block.ROWS, *start.ROWS, *growth.ROWS, *long.ROWS]
NAMES = [row.name for row in ALL]
# Those for which long polls are parked, or a block is made of a given size.
WITH_WAITS = {row.name for row in (*reads.ROWS, *parked.ROWS, *block.ROWS)}
# A quarter of an hour for all ten million: only where it is asked for.
BY_DEFAULT = [name for name in NAMES if name != long.NAME]


def described(options):
    """What the run was asked for, as far as it decides the figures."""
    asked = ("rounds", "seconds", "warm_up", "transfers", "set")
    return {name: getattr(options, name) for name in asked}
