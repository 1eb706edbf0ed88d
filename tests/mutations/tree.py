"""A copy of the working tree that may be changed: mutations are planted in it, never in the original.

Each script has a copy of its own. The copy and its cargo target directory are kept between runs, below
the target directory of the repository, so that a later build is incremental. `update` restores the copy:
it rewrites only files that differ, so their new modification times make cargo rebuild them.
"""

import contextlib
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
_TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()
WORK = _TARGET / "mutations" / pathlib.Path(sys.argv[0]).name
TREE = WORK / "tree"
TARGET = WORK / "target"
# `lcargo` or another wrapper, for machines where builds take turns.
CARGO = os.environ.get("CARGO", "cargo")


def environment(extra=None):
    """Returns the environment of cargo commands in the copy."""
    # Without the ceiling, git would take the copy for a part of the repository around it.
    kept = {name: value for name, value in os.environ.items() if name != "LEDGER_NODE_BIN"}
    return {**kept, "CARGO_TARGET_DIR": str(TARGET), "GIT_CEILING_DIRECTORIES": str(WORK), **(extra or {})}


@contextlib.contextmanager
def lock():
    """Keeps a second run of the script from using the copy at the same time."""
    # A script that is terminated ends its commands before it ends itself.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    WORK.mkdir(parents=True, exist_ok=True)
    with open(WORK / "lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"another run uses {WORK}")
        yield


def update():
    """Makes the copy equal to the working tree: committed, changed and new files, without ignored ones."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    for name in names:
        _copy(ROOT / name, TREE / name)
    for path in [path for path in TREE.rglob("*") if path.is_file()]:
        if str(path.relative_to(TREE)) not in names:
            path.unlink()


def _copy(source, copy):
    content = source.read_bytes()
    if copy.is_file() and copy.read_bytes() == content:
        return
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(content)
    shutil.copymode(source, copy)
