"""The symptoms of docs/operate/tune.md: the load that provokes each, its figure and its cure."""

import dataclasses
import typing

import loads
import observed
import signing
import stock

per_second = observed.per_second
# Connections and accounts of the transfers, so that no account waits for its own transactions.
TRANSFERS = ("--connections", 256, "--accounts", 2_000)
# Long polls of one client.
POLLS = 2_000
# Delay of a sync on the slow disk.
SYNC_MS = 30
# Time between two lines that the slow reader of standard error reads, in seconds.
LINE_SECONDS = 0.2


@dataclasses.dataclass(frozen=True)
class Symptom:
    # Kind and stage of the limits of which the console names one; of the processor, its largest
    # consumer. Empty if other figures show the symptom.
    limits: tuple
    load: typing.Callable
    # Title and function of the figure that shows the symptom (`observed`).
    title: str
    figure: typing.Callable
    # Quotient of the figures after and before the cure: a maximum below 1, or a minimum above it.
    expected: float
    # Settings with which the node starts.
    settings: dict = dataclasses.field(default_factory=dict)
    # Settings of the cure. Those that apply at the next start restart the node.
    cure: dict = dataclasses.field(default_factory=dict)
    # Function of a directory that returns the words before the command of the node, which make the
    # symptom. The cure is a start without them.
    wrapper: typing.Optional[typing.Callable] = None
    # Cure that is not a setting.
    remedy: str = ""
    # Figure of the work that the load causes, and its minimum once the load has begun.
    work: typing.Callable = per_second("ledger_http_requests_total")
    work_min: float = 5.0

    def is_cured(self, before, cured):
        """Returns whether the figures before and after the cure differ as expected."""
        quotient = cured / max(before, 1e-9)
        return before > 0 and (
            quotient <= self.expected if self.expected < 1 else quotient >= self.expected
        )


def status(code):
    return per_second("ledger_http_requests_total", code=str(code))


def capacity(stage, load, figure, setting, small, large):
    """Returns the symptom of a limit that rejects although no stage is busy."""
    return Symptom(
        limits=(("capacity", stage),),
        load=load,
        title="rejected/s",
        figure=figure,
        expected=0.01,
        settings={setting: small},
        cure={setting: large},
    )


commit_ms = observed.mean_ms("ledger_pool_commit_seconds")
submit = loads.bench(*TRANSFERS, "--mode", "submit")
await_commits = loads.bench(*TRANSFERS, "--mode", "await")
one_client = loads.bench("--connections", 1, "--accounts", 1, "--mode", "await")

ALL = {
    "mailbox": capacity(
        "mempool",
        submit,
        per_second("ledger_mailbox_refused_total", actor="mempool"),
        "actors.mempool.mailbox_capacity",
        4,
        16_384,
    ),
    "signature-queue": capacity(
        "signature-check",
        submit,
        per_second("ledger_signature_refused_total"),
        "signatures.queue_capacity",
        64,
        16_384,
    ),
    "in-flight": capacity(
        "http",
        loads.requests(loads.polls(256)),
        status(503),
        "api.max_in_flight_per_address",
        64,
        17_500,
    ),
    "waits": capacity(
        "waits",
        await_commits,
        per_second("ledger_waits_refused_total"),
        "wait.capacity",
        64,
        16_384,
    ),
    "account": capacity(
        "pool",
        loads.bench("--connections", 256, "--accounts", 256, "--mode", "submit"),
        status(507),
        "mempool.capacity_per_account",
        2,
        100,
    ),
    "signatures": Symptom(
        limits=(("busy", "signature-check"),),
        load=loads.together(one_client, loads.requests(loads.passkeys)),
        title="commit ms",
        figure=commit_ms,
        expected=0.5,
        cure={"filter.rules": f"deny sender {signing.Passkeys(stock.PASSKEYS[0]).hex}"},
    ),
    "executor": Symptom(
        limits=(("busy", "executor"),),
        load=loads.together(one_client, loads.requests(loads.votes)),
        title="commit ms",
        figure=commit_ms,
        expected=0.5,
        settings={"mempool.capacity_per_account_orderless": 100},
        cure={"filter.rules": "deny function 0x1::multisig_account::vote_transactions"},
    ),
    "readers": Symptom(
        limits=(("busy", "store-reader"),),
        load=loads.requests(loads.simulations),
        title="simulations/s",
        figure=status(200),
        expected=1.2,
        settings={"storage.readers": 1},
        cure={"storage.readers": 2},
    ),
    "work": Symptom(
        limits=(),
        load=loads.together(one_client, loads.requests(loads.simulations)),
        title="commit ms",
        figure=commit_ms,
        expected=0.9,
        settings={"work.nice": 0},
        cure={"work.nice": 10},
    ),
    "disk": Symptom(
        limits=(("disk", "store-writer"),),
        load=one_client,
        title="commit ms",
        figure=commit_ms,
        expected=0.5,
        wrapper=lambda directory: observed.slow_disk(directory, SYNC_MS),
        remedy="another disk",
    ),
    "renderings": Symptom(
        # With a thread for each core, they are the largest consumers of the processor.
        limits=(("busy", "renderer"), ("processor", "renderer")),
        load=loads.requests(loads.blocks),
        title="us of CPU each",
        figure=observed.scaled(
            1e6,
            observed.ratio(
                observed.cpu_seconds, observed.increase("ledger_http_requests_total", code="200")
            ),
        ),
        expected=0.5,
        settings={"api.response_cache_bytes_max": 0},
        cure={"api.response_cache_bytes_max": 33_554_432},
    ),
    "other-programs": Symptom(
        limits=(("processor", None),),
        load=loads.together(loads.busy_programs, one_client),
        title="commit ms",
        figure=commit_ms,
        expected=0.8,
        cure={"process.scheduling": "inherit"},
    ),
    "polls": Symptom(
        limits=(),
        load=loads.requests(loads.polls(POLLS)),
        title="polls/s that time out",
        figure=per_second("ledger_waits_ended_total", outcome="timed_out"),
        expected=0.05,
        cure={"wait.timeout_ms": 30_000},
        work=lambda _, after: after.sum("ledger_waits_parked", {}),
        work_min=0.9 * POLLS,
    ),
    "connections": capacity(
        "http",
        loads.reads("/v1", 256),
        per_second("ledger_connections_refused_total"),
        "api.max_connections_per_address",
        64,
        10_000,
    ),
    "log": Symptom(
        limits=(),
        load=await_commits,
        title="lost lines/s",
        figure=per_second("ledger_log_lost_lines_total"),
        expected=0.01,
        settings={"log.level": "debug"},
        cure={"log.level": "info"},
        wrapper=lambda _: observed.slow_reader(LINE_SECONDS),
    ),
}
