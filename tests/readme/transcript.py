"""Transcripts in Markdown: their commands, and a comparison of expected with actual output.

The `console` blocks of a document form one transcript. In them, a line that begins with `$ ` is a
command, following lines that begin with `> ` continue it, and the other lines are its output. In
the output, `...` stands for any text within a line, and a line of only `...` for any number of
lines.
"""

import re
from typing import NamedTuple

FENCE = "```"
COMMAND = "$ "
CONTINUATION = "> "


class TranscriptError(Exception):
    """The document has no transcript, or one that cannot be run."""


class Step(NamedTuple):
    """A command of a transcript and the output that the document states for it."""

    line: int
    command: str
    expected: list[str]


def steps_of(markdown: str) -> list[Step]:
    """Returns all steps in order.

    Raises TranscriptError if there are none, if a `console` block does not begin with a command, or
    if a block of another language has a command, because it would not be run.
    """
    steps: list[Step] = []
    # Language of the block around the line, or None outside of blocks.
    language: str | None = None
    is_first_line = False
    for number, line in enumerate(markdown.splitlines(), start=1):
        if line.startswith(FENCE):
            language = line.removeprefix(FENCE).strip() if language is None else None
            is_first_line = True
            continue
        if language == "console":
            _add_line(steps, number, line, is_first_line)
        elif language is not None and line.startswith(COMMAND):
            raise TranscriptError(f"line {number}: only a console block may have commands")
        is_first_line = False
    if language is not None:
        raise TranscriptError(f"the last block has no {FENCE} at its end")
    if not steps:
        raise TranscriptError("no console block has a command")
    return steps


def _add_line(steps: list[Step], number: int, line: str, is_first_line: bool) -> None:
    """Adds a line of a `console` block to the steps."""
    if line.startswith(COMMAND):
        steps.append(Step(number, line.removeprefix(COMMAND), []))
    elif is_first_line:
        raise TranscriptError(f"line {number}: a console block begins with a command")
    elif line.startswith(CONTINUATION) and not steps[-1].expected:
        last = steps.pop()
        command = f"{last.command}\n{line.removeprefix(CONTINUATION)}"
        steps.append(last._replace(command=command))
    else:
        steps[-1].expected.append(line.rstrip())


def matches(expected: list[str], actual: list[str]) -> bool:
    """Returns whether the actual lines are those that the transcript states."""
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += "[^\n]*".join(re.escape(part) for part in line.split("...")) + "\n"
    text = "".join(f"{line.rstrip()}\n" for line in actual)
    return re.fullmatch(pattern, text) is not None
