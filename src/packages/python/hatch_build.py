"""Version and platform of the wheel, by the binary in it."""

import platform
import re
import subprocess
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

BINARY = Path(__file__).parent / "ledger_node" / "bin" / "ledger-node"


class Version(MetadataHookInterface):
    def update(self, metadata):
        """Sets the version of the package to that of the binary."""
        output = subprocess.check_output([BINARY, "--version"], text=True)
        metadata["version"] = output.split()[1]


class Tag(BuildHookInterface):
    def initialize(self, version, build_data):
        """Sets the tag of the wheel: any Python, on the platform of the binary."""
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag()}"


def platform_tag():
    """Returns the tag of the platform, on Linux with the oldest version of glibc that suffices."""
    machine = platform.machine()
    if platform.system() == "Darwin":
        return f"macosx_11_0_{machine}"
    versions = re.findall(rb"GLIBC_2\.(\d+)", BINARY.read_bytes())
    return f"manylinux_2_{max(map(int, versions))}_{machine}"
