"""Run with `python3 -m unittest discover tests/readme`."""

import unittest

from transcript import BEGIN, END, Step, TranscriptError, matches, steps_of


def markdown(*lines: str) -> str:
    return "\n".join(["# Title", "```console", "$ not checked", "```", BEGIN, *lines, END])


class Steps(unittest.TestCase):
    def test_commands_with_their_output(self):
        text = markdown("```console", "$ one", "a", "b  ", "$ two \\", "> more", "```", "words", "```console", "$ three", "```")
        self.assertEqual(
            steps_of(text),
            [Step(7, "one", ["a", "b"]), Step(10, "two \\\nmore", []), Step(15, "three", [])],
        )

    def test_what_cannot_be_checked_is_an_error(self):
        for lines in [
            [],
            ["```sh", "$ one", "```"],
            ["```console", "output", "```"],
            ["```console", "$ one"],
            [BEGIN],
        ]:
            with self.subTest(lines), self.assertRaises(TranscriptError):
                steps_of(markdown(*lines))
        with self.assertRaises(TranscriptError):
            steps_of("no transcript at all")


class Matching(unittest.TestCase):
    def test_lines_are_exact(self):
        self.assertTrue(matches([], []))
        self.assertTrue(matches(["a(b)"], ["a(b) "]))
        self.assertFalse(matches(["a"], ["a", "b"]))
        self.assertFalse(matches(["a"], []))
        self.assertFalse(matches(["a.c"], ["abc"]))

    def test_three_dots_stand_for_text_or_lines(self):
        self.assertTrue(matches(['{"hash":"0x...","n":...}'], ['{"hash":"0x12","n":3}']))
        self.assertFalse(matches(["a...z"], ["a", "z"]))
        self.assertTrue(matches(["a", "...", "z"], ["a", "1", "2", "z"]))
        self.assertTrue(matches(["a", "...", "z"], ["a", "z"]))
        self.assertFalse(matches(["...", "z"], ["a", "y"]))
        self.assertTrue(matches(["..."], []))


if __name__ == "__main__":
    unittest.main()
