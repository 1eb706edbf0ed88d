"""Runs the node beside the floor (and a peer, where there is one) and prints what share of it the node
reaches.

    python3 benches/compare [ROW...] [--rounds 3] [--seconds 8] [--json FILE] [--chart FILE.svg]

Each program has a process and a directory of its own that are new for every run, and takes turns with the others:
a figure means something only beside the others of its round. Build them first:

    cargo build --release && cargo build --release -p ledger-floor -p ledger-peer-load -p ledger-wait-load
    npm install --no-save --prefix benches/peer       for the peer; without it the rows have none
    apt-get install wrk                which reads, for the row `reads`

A run of the floor counts only if the floor and the generator together kept the machine as busy as
`--busy-share` says: otherwise something else was the limit, and the node would be held against too little.
Leave the machine alone meanwhile. A round of the rows of a load takes about four minutes, one of `million` two;
`start` prepares its ledger once; `long` and what is `sustained` have one round only and are run only where they are
named.
"""

import argparse
import json
import pathlib
import shutil
import signal
import sys

import chart
import machine
import programs
import reads
import rows
import sustained
import table


def program(path):
    """A program's path, so that it is not looked for elsewhere."""
    return pathlib.Path(path).resolve()


def arguments():
    parser = argparse.ArgumentParser(
        prog="benches/compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    but = f"by default all but {', '.join(sorted(rows.FOR_LONG))}"
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(rows.NAMES)}; {but}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8, help="that are measured of each run")
    parser.add_argument("--warm-up", type=int, default=2, help="seconds before that")
    parser.add_argument("--transfers", type=int, help="of million, start (1,000,000) and long (10,000,000)")
    sustain = "seconds that the node's turns of a sustained row take together"
    parser.add_argument("--sustain", type=int, default=sustained.SECONDS_DEFAULT, help=sustain)
    parser.add_argument("--busy-share", type=float, default=0.85)
    parser.add_argument("--node", type=program, default=programs.TARGET / "ledger-node")
    parser.add_argument("--floor", type=program, default=programs.TARGET / "ledger-floor")
    parser.add_argument("--generator", type=program, help="a node's program whose bench is used; default: --node")
    parser.add_argument("--anvil", type=program, default=programs.anvil_path())
    parser.add_argument("--peer-load", type=program, default=programs.TARGET / "ledger-peer-load")
    parser.add_argument("--wait-load", type=program, default=programs.TARGET / "ledger-wait-load")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the node")
    parser.add_argument("--work-dir", type=pathlib.Path, default=programs.TARGET.parent / "compare")
    parser.add_argument("--json", type=pathlib.Path, help="writes every figure of every run there")
    parser.add_argument("--chart", type=pathlib.Path, help="writes an SVG picture there")
    options = parser.parse_args()
    unknown = set(options.rows) - set(rows.NAMES)
    if unknown:
        parser.error(f"no row {', '.join(sorted(unknown))}")
    if options.rounds < 1 or options.seconds < 1:
        parser.error("--rounds and --seconds are at least 1")
    if options.transfers is not None and options.transfers < 1_000:
        parser.error("--transfers is at least 1000")
    options.generator = options.generator or options.node
    options.rows = options.rows or rows.BY_DEFAULT
    return options


def needed(options):
    """The programs that the rows start."""
    yield from (options.node, options.generator, options.floor)
    if not rows.WITH_WAITS.isdisjoint(options.rows):
        yield options.wait_load
    if options.anvil:
        yield from (options.anvil, options.peer_load)


def main():
    options = arguments()
    for path in needed(options):
        if not path.exists():
            sys.exit(f"{path} is missing; --help says how it is built")
    if reads.NAME in options.rows and not shutil.which("wrk"):
        sys.exit("wrk is missing; --help says where it is from")
    # So that nothing is left behind when it is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    chosen = [row for row in rows.ALL if row.name in options.rows]
    results = {"machine": machine.describe(options.work_dir), "options": rows.described(options)}
    measured = [[] for _ in chosen]
    with programs.Directory(options.work_dir) as directory:
        for number in range(options.rounds):
            for row, rounds in zip(chosen, measured):
                if number < (row.rounds_max or options.rounds):
                    rounds.append(row.measure(number, options, directory))
    results["rows"] = [
        {**result, "rounds": rounds}
        for row, rounds in zip(chosen, measured)
        for result in row.summaries(rounds, options)
    ]
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    if options.chart:
        options.chart.write_text(chart.svg(results))
    print(table.text(results))


if __name__ == "__main__":
    main()
