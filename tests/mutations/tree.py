"""A copy of the working tree, to which mutations are applied.

Each script has a copy of its own. The copy and its cargo target directory stay below the target
directory of the repository, so that later builds are incremental. `update` restores the copy. It
rewrites only files that differ, so that cargo rebuilds only those.
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
# May be a wrapper, for example one that runs a single build at a time.
CARGO = os.environ.get("CARGO", "cargo")


def environment(extra=None):
    """Returns the environment of cargo commands in the copy."""
    inherited = {name: value for name, value in os.environ.items() if name != "LEDGER_NODE_BIN"}
    # Without the ceiling, git would treat the copy as a part of the repository that contains it.
    own = {"CARGO_TARGET_DIR": str(TARGET), "GIT_CEILING_DIRECTORIES": str(WORK)}
    return {**inherited, **own, **(extra or {})}


@contextlib.contextmanager
def lock():
    """Locks the copy against a second run of the script."""
    # SIGTERM raises SystemExit, so that the script ends its commands before it exits.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    WORK.mkdir(parents=True, exist_ok=True)
    with open(WORK / "lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"another run uses {WORK}")
        yield


def update():
    """Makes the copy equal to the working tree, without ignored files."""
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
