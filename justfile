# Entry to every script of the project: `just` lists the recipes. `just` is optional; each recipe
# is one command that runs without it. Scripts name their environment variables at their top.

# Lists the recipes.
default:
    @just --list --unsorted

# Starts a development chain in ./data with a faucet and funded accounts.
run *OPTIONS:
    cargo run --release -- run {{OPTIONS}}

# Runs all tests, or those of the arguments: `just test -p ledger-store wal::`.
[group('check')]
test *ARGUMENTS:
    cargo test --locked {{ if ARGUMENTS == "" { "--workspace" } else { ARGUMENTS } }}

# Formats the Rust code.
[group('check')]
fmt:
    cargo fmt --all
    cargo fmt --manifest-path tests/fuzz/Cargo.toml

# Runs what a change must pass before a commit, in about a minute on a built tree.
[group('check')]
quick:
    .ci/run fmt spelling mutations
    cargo clippy --locked --workspace --all-targets --features bft -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --features bft
    cargo test --locked --test tidy

# Runs the whole check, or the named stages of it: `just ci sdk readme`.
[group('check')]
ci *STAGES:
    .ci/run {{STAGES}}

# Runs the Rust documentation's build and opens it.
[group('check')]
docs:
    cargo doc --workspace --no-deps --locked --open

# Makes the files of a release, or runs the named steps of it: `just release build libraries`.
[group('long')]
release *STEPS:
    .ci/release {{STEPS}}

# Prints the golden files again; the diff shows what users would notice.
[group('check')]
golden:
    UPDATE_GOLDEN=1 cargo test --locked --test it golden::

# Fuzzes the targets for FUZZ_SECS seconds each; without a target, all of them.
[group('long')]
fuzz *TARGETS:
    tests/fuzz/run.sh {{TARGETS}}

# Plants mutations and runs their tests; without a name, all of them in about an hour.
[group('long')]
mutations *NAMES:
    tests/mutations/run {{NAMES}}

# Runs cargo-mutants over the files of mutants.toml and lists the mutants that survive.
[group('long')]
mutants *ARGUMENTS:
    tests/mutations/mutants {{ARGUMENTS}}

# Checks the properties of the simulated node for SIMULATION_SEEDS seeds.
[group('long')]
simulate seeds="20000":
    SIMULATION_SEEDS={{seeds}} cargo test --locked -p ledger-actors --lib properties_hold_for_all_seeds

# Runs the transcripts of the documents, or of one, against a new node and compares their output.
[group('long')]
transcript *DOCUMENTS:
    tests/readme/check.py {{DOCUMENTS}}

# Compares two builds, or the node with its floor and a peer, row by row.
[group('bench')]
compare *ARGUMENTS:
    python3 benches/compare {{ARGUMENTS}}

# Prints throughput by connections, growth, memory, disk and opening times of a release build.
[group('bench')]
figures *PARTS:
    benches/run {{PARTS}}

# Prints throughput while each of a dozen attacks runs.
[group('bench')]
attacks:
    benches/attacks

# Prints latency, memory and recovery under ten times the sustainable load.
[group('bench')]
overload:
    benches/overload

# Prints throughput with pruning in proportion to throughput without it.
[group('bench')]
pruning *OPTIONS:
    benches/pruning {{OPTIONS}}

# Prints processor time, latency and recovery of chains of one, four and seven validators.
[group('bench')]
validators *OPTIONS:
    benches/validators {{OPTIONS}}
