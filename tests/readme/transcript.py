"""Transcripts in Markdown: finding their steps, and comparing what they show with what happened.

A transcript stands between `<!-- transcript -->` and `<!-- end of transcript -->`. In its `console`
blocks a line that starts with `$ ` is a command, lines that start with `> ` continue it, and the
lines up to the next command are what it prints. In these, `...` stands for any text within a line,
and a line that is only `...` for any number of lines.
"""

import re
from typing import NamedTuple

BEGIN = "<!-- transcript -->"
END = "<!-- end of transcript -->"


class TranscriptError(Exception):
    """The Markdown file holds no transcript that can be checked."""


class Step(NamedTuple):
    """A command of a transcript and what it is said to print."""

    line: int
    command: str
    expected: list[str]


def steps_of(markdown: str) -> list[Step]:
    """All steps, in order. Raises TranscriptError where the markers do not fit together."""
    steps: list[Step] = []
    inside = in_block = False
    for number, line in enumerate(markdown.splitlines(), start=1):
        if line.strip() in (BEGIN, END):
            if in_block or inside == (line.strip() == BEGIN):
                raise TranscriptError(f"line {number}: {line.strip()} is not expected here")
            inside = not inside
        elif inside and not in_block and line.startswith("```"):
            if line.strip() != "```console":
                raise TranscriptError(f"line {number}: a transcript holds console blocks only")
            in_block, block_begins = True, True
        elif in_block and line.startswith("```"):
            in_block = False
        elif in_block:
            if line.startswith("$ "):
                steps.append(Step(number, line[2:], []))
            elif block_begins:
                raise TranscriptError(f"line {number}: a console block begins with a command")
            elif line.startswith("> ") and not steps[-1].expected:
                last = steps.pop()
                steps.append(last._replace(command=f"{last.command}\n{line[2:]}"))
            else:
                steps[-1].expected.append(line.rstrip())
            block_begins = False
    if inside or in_block:
        raise TranscriptError(f"{END} is missing")
    if not steps:
        raise TranscriptError(f"no command between {BEGIN} and {END}")
    return steps


def matches(expected: list[str], actual: list[str]) -> bool:
    """Whether the lines that a command printed are those that the transcript shows."""
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += "[^\n]*".join(re.escape(part) for part in line.split("...")) + "\n"
    text = "".join(f"{line.rstrip()}\n" for line in actual)
    return re.fullmatch(pattern, text) is not None
