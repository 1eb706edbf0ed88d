"""The table, for people."""

import sys


def progress(number, row, contender, run):
    """One line for a run that is over, on standard error."""
    print(
        f"round {number + 1}  {row.name:8} {contender.name:22} {row.figure(run):12,.2f} {row.unit:12}"
        f" {run['node']['cpu_us_per_transfer']:8.1f} us each"
        f" + {run['generator']['cpu_us_per_transfer']:5.1f} us of the generator",
        file=sys.stderr,
        flush=True,
    )


def number(value):
    """With as many digits as mean something."""
    return f"{value:,.{0 if value >= 100 else 2 if value >= 1 else 3}f}"


def with_spread(spread):
    return f"{number(spread['median'])} ({number(spread['min'])} to {number(spread['max'])})"


def lines_of(row):
    """A line for each program of a row."""
    for name, program in row["programs"].items():
        ratio = row["ratios"].get(name)
        yield (
            f"| {row['title'] if name == row['first'] else ''} | {name}"
            f" | {with_spread(program['figure'])} {row['unit']}"
            f" | {'**' + with_spread(ratio) + '**' if ratio else ''}"
            f" | {program['p50_ms']:.2f} / {program['p99_ms']:.2f}"
            f" | {program['cpu_us']:.0f} + {program['generator_cpu_us']:.0f} | {program['busy_share']:.0%} |"
        )


def text(results):
    machine, options = results["machine"], results["options"]
    lines = [
        f"{machine['date']}, commit {machine['commit']}, {machine['compiler']}, {machine['flags']};"
        f" {machine['cores']} x {machine['processor']}, {machine['memory']}, Linux {machine['kernel']},"
        f" {machine['file_system']}, load before {machine['load_before']:.1f};"
        f" {options['rounds']} rounds of {options['seconds']} s after {options['warm_up']} s of warm-up,"
        f" node: {' '.join(options['set']) or 'built-in settings'}. Medians (least to most).",
        "",
        "| load | program | figure | node / it | p50 / p99 ms | CPU us each + generator's | of the machine |",
        "|---|---|---|---|---|---|---|",
    ]
    remarks = []
    for row in results["rows"]:
        lines += lines_of(row)
        remarks += [f"* {row['name']}: {remark}" for remark in row["remarks"]]
    return "\n".join([*lines, *([""] if remarks else []), *remarks])
