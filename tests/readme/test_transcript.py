"""Run with `python3 -m unittest discover tests/readme`."""

import unittest

from transcript import Step, TranscriptError, matches, steps_of


def markdown(*lines: str) -> str:
    return "\n".join(["# Title", "", "Text.", *lines])


class Steps(unittest.TestCase):
    def test_reads_commands_with_their_output(self):
        text = markdown(
            *["```console", "$ one", "a", "b  ", "$ two \\", "> more", "```"],
            *["text", "```sh", "not run", "```", "```console", "$ three", "```"],
        )
        expected = [Step(5, "one", ["a", "b"]), Step(8, "two \\\nmore", []), Step(16, "three", [])]
        self.assertEqual(steps_of(text), expected)

    def test_rejects_documents_whose_commands_would_not_run(self):
        for name, lines in {
            "no block": [],
            "no console block": ["```sh", "one", "```"],
            "command in a block of another language": [
                *["```console", "$ one", "```"],
                *["```sh", "$ two", "```"],
            ],
            "block without a language": ["```console", "$ one", "```", "```", "$ two", "```"],
            "output before the first command": ["```console", "output", "```"],
            "output at the begin of a later block": [
                *["```console", "$ one", "```"],
                *["```console", "output", "```"],
            ],
            "block without an end": ["```console", "$ one"],
        }.items():
            with self.subTest(name), self.assertRaises(TranscriptError):
                steps_of(markdown(*lines))


class Matching(unittest.TestCase):
    def test_compares_lines_exactly_except_for_white_space_at_their_end(self):
        self.assertTrue(matches([], []))
        self.assertTrue(matches(["a(b)"], ["a(b) "]))
        self.assertFalse(matches(["a"], ["a", "b"]))
        self.assertFalse(matches(["a"], []))
        self.assertFalse(matches(["a.c"], ["abc"]))

    def test_accepts_any_text_or_lines_for_three_dots(self):
        self.assertTrue(matches(['{"hash":"0x...","n":...}'], ['{"hash":"0x12","n":3}']))
        self.assertFalse(matches(["a...z"], ["a", "z"]))
        self.assertTrue(matches(["a", "...", "z"], ["a", "1", "2", "z"]))
        self.assertTrue(matches(["a", "...", "z"], ["a", "z"]))
        self.assertFalse(matches(["...", "z"], ["a", "y"]))
        self.assertTrue(matches(["..."], []))


if __name__ == "__main__":
    unittest.main()
