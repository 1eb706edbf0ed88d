# The common part of `.ci/run` and `.ci/release`, which source it in the root of the repository.

TARGET_DIR=${CARGO_TARGET_DIR:-target}
[[ $TARGET_DIR == /* ]] || TARGET_DIR="$(pwd -P)/$TARGET_DIR"
export CARGO_TARGET_DIR="$TARGET_DIR"

# Uses a toolchain that rustup knows by another name ("stable") if it has the pinned version.
if command -v rustup >/dev/null && ! rustc --version >/dev/null 2>&1; then
    pinned=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
    for name in $(rustup toolchain list | awk '{print $1}'); do
        if [[ "$(rustc "+$name" --version)" == "rustc $pinned "* ]]; then
            export RUSTUP_TOOLCHAIN="$name"
        fi
    done
fi

# Installs packages with apt-get. Usage: apt_install PACKAGE...
apt_install() {
    local as_root=()
    if ! command -v apt-get >/dev/null; then
        echo "missing, and there is no apt-get to install it with: $*" >&2
        return 1
    fi
    if ((EUID != 0)); then
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" apt-get install -y -qq --no-install-recommends "$@"
}

# Installs the packages of the commands that are missing. Usage: need COMMAND=PACKAGE...
need() {
    local pair packages=()
    for pair in "$@"; do
        command -v "${pair%%=*}" >/dev/null || packages+=("${pair#*=}")
    done
    if ((${#packages[@]} > 0)); then
        apt_install "${packages[@]}"
    fi
}
