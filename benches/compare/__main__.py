"""Compares the node with the floor and a peer, or with an older build of itself.

    python3 benches/compare [ROW...] [--rounds 3] [--seconds 8] [--json FILE] [--chart FILE.svg]
    python3 benches/compare [ROW...] --node-old PATH [--node-release PATH]
    python3 benches/compare --benches --node-old PATH

Each run starts a new process in an empty directory. The programs of a row run in turns. Only
figures of the same round are comparable. Build the programs first:

    cargo build --release
    cargo build --release -p ledger-floor -p ledger-peer-load -p ledger-wait-load
    npm install --no-save --prefix benches/peer       the peer; optional
    apt-get install wrk                               for the row `reads`
    apt-get install linux-perf                        for the row `lone`

A run of the floor counts only if the floor and the generator together used `--busy-share` of the
machine. Otherwise something else limited the floor, and the ratio of the node to it would be too
high. Run no other programs meanwhile. A round of the load rows takes about four minutes, a round
of `million` two. `start` prepares its ledger once. `long` has one round and runs only if it is
named.

With `--node-old`, the program of an older build replaces the floor and the peer, in all rows
except `long`. For both builds the table has processor time and context
switches of each transaction or request, and processor time by thread. A remark says whether the
processor time rose by more than the spread of the rounds. `--node-release` adds the program of the
last release. A further remark says whether figure or processor time are worse than those of the
release by more than its spread, because many steps within the spread may add up. The generator of
`--node` loads all.

With `--benches`, the benches `stages`, `functions`, `signatures` and `growth` of both builds run
instead. These commands build them, in both checkouts:

    cargo bench --no-run -p ledger-execution --benches
    cargo bench --no-run -p ledger-store --bench growth
"""

import argparse
import json
import pathlib
import shutil
import signal
import sys

import assaults
import cargo_benches
import chart
import lone
import machine
import programs
import reads
import rows
import shares
import table


def program(path):
    """Returns the absolute path of a program, so that `PATH` is not searched for it."""
    return pathlib.Path(path).resolve()


def arguments():
    parser = argparse.ArgumentParser(
        prog="benches/compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    but = f"default: all except {', '.join(sorted(rows.ONLY_IF_NAMED))}"
    parser.add_argument(
        "rows", nargs="*", metavar="ROW", help=f"one of {', '.join(rows.NAMES)}; {but}"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8, help="measured time of each run")
    parser.add_argument(
        "--warm-up", type=int, default=2, help="seconds of load before the measured time"
    )
    parser.add_argument(
        "--transfers",
        type=int,
        help="transfers of million, start (1,000,000) and long (10,000,000)",
    )
    parser.add_argument(
        "--load",
        action="append",
        dest="loads",
        choices=sorted({*assaults.ALL, *shares.WORK}),
        metavar="LOAD",
        help="a load of beside or shares; default: all",
    )
    parser.add_argument("--busy-share", type=float, default=0.85)
    parser.add_argument("--node", type=program, default=programs.TARGET / "ledger-node")
    parser.add_argument(
        "--node-old",
        type=program,
        metavar="PATH",
        help="the node's program of the build to compare with",
    )
    parser.add_argument(
        "--node-release",
        type=program,
        metavar="PATH",
        help="the node's program of the last release; until there is one, of commit 4cd3bc2",
    )
    parser.add_argument(
        "--benches", action="store_true", help="run the benches of both builds instead of the rows"
    )
    parser.add_argument("--floor", type=program, default=programs.TARGET / "ledger-floor")
    parser.add_argument(
        "--generator",
        type=program,
        help="the program whose `bench` loads the others; default: --node",
    )
    parser.add_argument("--anvil", type=program, default=programs.anvil_path())
    parser.add_argument("--peer-load", type=program, default=programs.TARGET / "ledger-peer-load")
    parser.add_argument("--wait-load", type=program, default=programs.TARGET / "ledger-wait-load")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the node"
    )
    parser.add_argument("--work-dir", type=pathlib.Path, default=programs.TARGET.parent / "compare")
    parser.add_argument(
        "--json", type=pathlib.Path, help="write every figure of every run to a file"
    )
    parser.add_argument("--chart", type=pathlib.Path, help="write an SVG picture to a file")
    options = parser.parse_args()
    unknown = set(options.rows) - set(rows.NAMES)
    if unknown:
        parser.error(f"no row {', '.join(sorted(unknown))}")
    if options.node_old and not rows.LONG.isdisjoint(options.rows):
        parser.error(f"--node-old does not compare {', '.join(sorted(rows.LONG))}")
    if options.node_release and (options.benches or not options.node_old):
        parser.error("--node-release needs --node-old and rows")
    if options.benches and (options.rows or not options.node_old):
        parser.error("--benches needs --node-old and takes no rows")
    if options.rounds < 1 or options.seconds < 1:
        parser.error("--rounds and --seconds are at least 1")
    if options.transfers is not None and options.transfers < 1_000:
        parser.error("--transfers is at least 1000")
    options.generator = options.generator or options.node
    options.rows = options.rows or rows.BY_DEFAULT
    return options


def needed(options):
    """Yields the paths of the programs that the chosen rows start."""
    yield options.node
    yield from filter(None, (options.node_old, options.node_release))
    if options.benches:
        return
    yield options.generator
    if not rows.WITH_WAITS.isdisjoint(options.rows):
        yield options.wait_load
    if not options.node_old and not rows.OF_NODE.issuperset(options.rows):
        yield options.floor
        if options.anvil:
            yield from (options.anvil, options.peer_load)


def measure_rows(options):
    """Measures all rounds of the chosen rows and returns their summaries."""
    chosen = [row for row in rows.ALL if row.name in options.rows]
    measured = [[] for _ in chosen]
    with programs.Directory(options.work_dir) as directory:
        for number in range(options.rounds):
            for row, rounds in zip(chosen, measured):
                if number < (row.rounds_max or options.rounds):
                    rounds.append(row.measure(number, options, directory))
    return [
        {**result, "rounds": rounds}
        for row, rounds in zip(chosen, measured)
        for result in row.summaries(rounds, options)
    ]


def main():
    options = arguments()
    for path in needed(options):
        if not path.exists():
            sys.exit(f"{path} is missing; --help says how it is built")
    if reads.NAME in options.rows and not options.benches and not shutil.which("wrk"):
        sys.exit("wrk is missing; --help says how to install it")
    if lone.NAME in options.rows and not shutil.which("perf"):
        sys.exit("perf is missing; --help says how to install it")
    # Exits through the context managers, which stop the programs and remove the directories.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    described = machine.describe(options.work_dir, options.node)
    results = {"machine": described, "options": rows.described(options)}
    results["rows"] = cargo_benches.measure(options) if options.benches else measure_rows(options)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    if options.chart:
        options.chart.write_text(chart.svg(results))
    print(table.text(results))


if __name__ == "__main__":
    main()
