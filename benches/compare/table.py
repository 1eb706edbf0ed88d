"""The table, for people."""


def number(value):
    """With as many digits as mean something."""
    return f"{value:,.{0 if value >= 100 else 2 if value >= 1 else 3}f}"


def with_spread(spread):
    return f"{number(spread['median'])} ({number(spread['min'])} to {number(spread['max'])})"


def latency(program):
    return f"{program['p50_ms']:.2f} / {program['p99_ms']:.2f}" if "p50_ms" in program else ""


def cost(program):
    return f"{program['cpu_us']:.0f} + {program['generator_cpu_us']:.0f}" if "cpu_us" in program else ""


def busy(program):
    return f"{program['busy_share']:.0%}" if "busy_share" in program else ""


def lines_of(row):
    """A line for each program of a row."""
    for name, program in row["programs"].items():
        ratio = row["ratios"].get(name)
        yield (
            f"| {row['title'] if name == row['first'] else ''} | {name}"
            f" | {with_spread(program['figure'])} {row['unit']}"
            f" | {'**' + with_spread(ratio) + '**' if ratio else ''}"
            f" | {latency(program)} | {cost(program)} | {busy(program)} | {program.get('note', '')} |"
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
        "| load | program | figure | first / it | p50 / p99 ms | CPU us each + generator's | of the machine | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    remarks = []
    for row in results["rows"]:
        lines += lines_of(row)
        remarks += [f"* {row['name']}: {remark}" for remark in row["remarks"]]
    return "\n".join([*lines, *([""] if remarks else []), *remarks])
