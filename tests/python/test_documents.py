"""The Python programs of docs/use/quickstart.md, run with its preset (config/sdk.toml).

The comment behind a `print(...)` is the line that it prints. A program runs in an empty directory.
It is unchanged, except for the default ports, which the ports of the node replace.
"""

import re
import subprocess
import sys
import tempfile
import unittest

from node_process import REPOSITORY, NodeProcess

DOCUMENT = REPOSITORY / "docs/use/quickstart.md"
PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINT = re.compile(r"\bprint\(")
STATED_PRINT = re.compile(r"\bprint\(.*\)  # (.+)$", re.MULTILINE)
TIMEOUT_SECS = 60


class ProgramsOfDocuments(unittest.TestCase):
    """A node that the programs share."""

    def setUp(self):
        self.node = NodeProcess("sdk")
        self.addCleanup(lambda: self.assertEqual(self.node.stop(), 0, "the node stops cleanly"))

    def run_program(self, source: str) -> list[str]:
        """Runs a program and returns the lines that it prints."""
        for default, actual in [
            ("http://127.0.0.1:8080", self.node.api),
            ("http://127.0.0.1:8081", self.node.faucet),
        ]:
            self.assertIn(default, source)
            source = source.replace(default, actual)
        with tempfile.TemporaryDirectory(prefix="ledger-node-program-") as directory:
            done = subprocess.run(
                [sys.executable, "-c", source],
                cwd=directory,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_SECS,
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_programs_print_the_lines_that_the_document_states(self):
        programs = PROGRAM.findall(DOCUMENT.read_text(encoding="utf-8"))
        self.assertGreater(len(programs), 0)
        for source in programs:
            with self.subTest(source):
                stated = STATED_PRINT.findall(source)
                self.assertGreater(len(stated), 0)
                printed = len(PRINT.findall(source))
                self.assertEqual(len(stated), printed, "every print states its line")
                self.assertEqual(self.run_program(source), stated)


if __name__ == "__main__":
    unittest.main()
