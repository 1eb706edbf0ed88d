"""The result as Markdown tables: one of rows that compare programs, and those of rows with columns
of their own."""

# Threads that are printed for each program, the busiest first.
THREADS_MAX = 8
HEAD = [
    "load",
    "program",
    "figure",
    "first / it",
    "p50 / p99 ms",
    "CPU us each + generator's",
    "of the machine",
    "",
]
# Columns that are left out if no program has a cost.
COST_HEAD = ["CPU of first / it", "switches each", "CPU us each by thread"]


def number(value):
    """Formats a figure with its significant digits."""
    return f"{value:,.{0 if value >= 100 else 2 if value >= 1 else 3}f}"


def with_spread(spread):
    return f"{number(spread['median'])} ({number(spread['min'])} to {number(spread['max'])})"


def bold(ratio):
    return f"**{with_spread(ratio)}**" if ratio else ""


def latency(program):
    return f"{program['p50_ms']:.2f} / {program['p99_ms']:.2f}" if "p50_ms" in program else ""


def cpu(program):
    if "cpu_us" in program:
        return f"{program['cpu_us']:.0f} + {program['generator_cpu_us']:.0f}"
    return number(program["cost"]["cpu_us"]["median"]) if "cost" in program else ""


def busy(program):
    return f"{program['busy_share']:.0%}" if "busy_share" in program else ""


def by_thread(cost):
    busiest = list(cost["cpu_us_by_thread"].items())[:THREADS_MAX]
    return ", ".join(f"{name} {number(used)}" for name, used in busiest)


def costs(row, name, program):
    """Returns the cells of `COST_HEAD`."""
    ratio = bold(row.get("cpu_ratios", {}).get(name))
    if "cost" not in program:
        return [ratio, "", ""]
    return [ratio, number(program["cost"]["switches"]), by_thread(program["cost"])]


def lines_of(row, has_costs):
    """Yields a line for each program of a row."""
    for name, program in row["programs"].items():
        cells = [
            row["title"] if name == row["first"] else "",
            name,
            f"{with_spread(program['figure'])} {row['unit']}",
            bold(row["ratios"].get(name)),
            latency(program),
            cpu(program),
            busy(program),
            program.get("note", ""),
        ]
        yield line([*cells, *(costs(row, name, program) if has_costs else [])])


def line(cells):
    return f"| {' | '.join(cells)} |"


def text(results):
    machine, options = results["machine"], results["options"]
    own, rows = [], []
    for row in results["rows"]:
        (own if "lines" in row else rows).append(row)
    has_costs = any("cost" in program for row in rows for program in row["programs"].values())
    head = [*HEAD, *(COST_HEAD if has_costs else [])]
    olds = [options[name] for name in ("node_old", "node_release") if options[name]]
    old = f" against {' and '.join(olds)}" if olds else ""
    lines = [
        f"{machine['date']}, commit {machine['commit']}{old},"
        f" {machine['node']}, {machine['compiler']}, {machine['flags']};"
        f" {machine['cores']} x {machine['processor']}, {machine['memory']},"
        f" Linux {machine['kernel']},"
        f" {machine['file_system']}, load before {machine['load_before']:.1f};"
        f" {options['rounds']} rounds of {options['seconds']} s"
        f" after {options['warm_up']} s of warm-up,"
        f" node: {' '.join(options['set']) or 'built-in settings'}. Medians (least to largest).",
    ]
    for row in own:
        lines += ["", line(row["head"]), f"|{'---|' * len(row['head'])}", *map(line, row["lines"])]
    if not rows:
        return "\n".join(lines)
    lines += ["", line(head), f"|{'---|' * len(head)}"]
    remarks = []
    for row in rows:
        lines += lines_of(row, has_costs)
        remarks += [f"* {row['name']}: {remark}" for remark in row["remarks"]]
    return "\n".join([*lines, *([""] if remarks else []), *remarks])
