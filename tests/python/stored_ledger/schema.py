"""BCS schemas of the store's values, in the order of the definitions in src/ledger/types and
src/store."""

from .bcs import (
    BOOL,
    BYTES,
    I8,
    I16,
    I32,
    I64,
    I128,
    STRING,
    U8,
    U16,
    U32,
    U64,
    U128,
    UNIT,
    enum,
    fixed,
    later,
    option,
    pair,
    struct,
    vector,
)

ADDRESS = fixed(32)
HASH = fixed(32)
INTEGER_256 = fixed(32)

# Types (src/ledger/types/type_tag/tag.rs).

STRUCT_TAG = struct(
    address=ADDRESS, module=STRING, name=STRING, type_args=vector(later(lambda: TYPE_TAG))
)
TYPE_TAG = enum(
    "TypeTag",
    Bool=UNIT,
    U8=UNIT,
    U64=UNIT,
    U128=UNIT,
    Address=UNIT,
    Signer=UNIT,
    Vector=later(lambda: TYPE_TAG),
    Struct=STRUCT_TAG,
    U16=UNIT,
    U32=UNIT,
    U256=UNIT,
    Function=None,
    I8=UNIT,
    I16=UNIT,
    I32=UNIT,
    I64=UNIT,
    I128=UNIT,
    I256=UNIT,
)
MODULE_ID = struct(address=ADDRESS, name=STRING)

# Payloads (src/ledger/types/transaction/payload.rs).

ENTRY_FUNCTION = struct(
    module=MODULE_ID, function=STRING, type_args=vector(TYPE_TAG), args=vector(BYTES)
)
SCRIPT_ARGUMENT = enum(
    "ScriptArgument",
    U8=U8,
    U64=U64,
    U128=U128,
    Address=ADDRESS,
    U8Vector=BYTES,
    Bool=BOOL,
    U16=U16,
    U32=U32,
    U256=INTEGER_256,
    Serialized=BYTES,
    I8=I8,
    I16=I16,
    I32=I32,
    I64=I64,
    I128=I128,
    I256=INTEGER_256,
)
SCRIPT = struct(code=BYTES, type_args=vector(TYPE_TAG), args=vector(SCRIPT_ARGUMENT))
MULTISIG = struct(
    multisig_address=ADDRESS,
    payload=option(enum("MultisigPayload", EntryFunction=ENTRY_FUNCTION, Script=SCRIPT)),
)
EXECUTABLE = enum(
    "TransactionExecutable", Script=SCRIPT, EntryFunction=ENTRY_FUNCTION, Empty=UNIT, Encrypted=None
)
EXTRA_CONFIG = enum(
    "ExtraConfig",
    V1=struct(multisig_address=option(ADDRESS), replay_protection_nonce=option(U64)),
    V2=None,
)
PAYLOAD = enum(
    "TransactionPayload",
    Script=SCRIPT,
    ModuleBundle=vector(BYTES),
    EntryFunction=ENTRY_FUNCTION,
    Multisig=MULTISIG,
    Payload=enum("InnerPayload", V1=struct(executable=EXECUTABLE, extra_config=EXTRA_CONFIG)),
    EncryptedPayload=None,
)
RAW_TRANSACTION = struct(
    sender=ADDRESS,
    sequence_number=U64,
    payload=PAYLOAD,
    max_gas_amount=U64,
    gas_unit_price=U64,
    expiration_timestamp_secs=U64,
    chain_id=U8,
)

# Authenticators (src/ledger/types/transaction/authenticator). Signatures that the ledger does not
# check are never committed, so their variants are absent here.

ASSERTION = struct(
    signature=enum("AssertionSignature", Secp256r1Ecdsa=BYTES),
    authenticator_data=BYTES,
    client_data_json=BYTES,
)
ANY_PUBLIC_KEY = enum(
    "AnyPublicKey",
    Ed25519=BYTES,
    Secp256k1Ecdsa=BYTES,
    Secp256r1Ecdsa=BYTES,
    Keyless=None,
    FederatedKeyless=None,
    SlhDsa=None,
)
ANY_SIGNATURE = enum(
    "AnySignature",
    Ed25519=BYTES,
    Secp256k1Ecdsa=BYTES,
    WebAuthn=ASSERTION,
    Keyless=None,
    SlhDsa=None,
)
KEY_AND_SIGNATURE = struct(public_key=BYTES, signature=BYTES)
ACCOUNT_AUTHENTICATOR = enum(
    "AccountAuthenticator",
    Ed25519=KEY_AND_SIGNATURE,
    MultiEd25519=KEY_AND_SIGNATURE,
    SingleKey=struct(public_key=ANY_PUBLIC_KEY, signature=ANY_SIGNATURE),
    MultiKey=struct(
        public_keys=struct(public_keys=vector(ANY_PUBLIC_KEY), signatures_required=U8),
        signatures=vector(ANY_SIGNATURE),
        signatures_bitmap=BYTES,
    ),
    NoAccountAuthenticator=UNIT,
    Abstract=None,
)
SEVERAL_SIGNERS = {
    "sender": ACCOUNT_AUTHENTICATOR,
    "secondary_signer_addresses": vector(ADDRESS),
    "secondary_signers": vector(ACCOUNT_AUTHENTICATOR),
}
AUTHENTICATOR = enum(
    "TransactionAuthenticator",
    Ed25519=KEY_AND_SIGNATURE,
    MultiEd25519=KEY_AND_SIGNATURE,
    MultiAgent=struct(**SEVERAL_SIGNERS),
    FeePayer=struct(
        **SEVERAL_SIGNERS, fee_payer_address=ADDRESS, fee_payer_signer=ACCOUNT_AUTHENTICATOR
    ),
    SingleSender=struct(sender=ACCOUNT_AUTHENTICATOR),
)
SIGNED_TRANSACTION = struct(raw=RAW_TRANSACTION, authenticator=AUTHENTICATOR)

# State and events (src/ledger/types/state, src/ledger/types/event.rs).

WRITE = pair(BYTES, enum("WriteOp", Create=BYTES, Modify=BYTES, Delete=UNIT))
WRITE_SET = enum("WriteSet", V0=vector(WRITE))
EVENT_KEY = struct(creation_number=U64, account_address=ADDRESS)
EVENT = enum(
    "ContractEvent",
    V1=struct(key=EVENT_KEY, sequence_number=U64, type_tag=TYPE_TAG, data=BYTES),
    V2=struct(type_tag=TYPE_TAG, data=BYTES),
)

# Committed transactions (src/ledger/types/transaction/committed.rs).

BLOCK_METADATA = struct(
    id=HASH,
    epoch=U64,
    round=U64,
    proposer=ADDRESS,
    previous_block_votes_bitvec=BYTES,
    failed_proposer_indices=vector(U32),
    timestamp_usecs=U64,
)
BLOCK_END_INFO = enum(
    "BlockEndInfo",
    V0=struct(
        block_gas_limit_reached=BOOL,
        block_output_limit_reached=BOOL,
        block_effective_block_gas_units=U64,
        block_approx_output_size=U64,
    ),
)
TRANSACTION = enum(
    "Transaction",
    User=SIGNED_TRANSACTION,
    Genesis=enum("GenesisPayload", Direct=struct(writes=WRITE_SET, events=vector(EVENT))),
    BlockMetadata=None,
    StateCheckpoint=HASH,
    Validator=None,
    BlockMetadataExt=enum(
        "BlockMetadataExt",
        V0=None,
        V1=struct(metadata=BLOCK_METADATA, randomness=option(enum("Randomness"))),
    ),
    BlockEpilogue=enum("BlockEpilogue", V0=struct(block_id=HASH, block_end_info=BLOCK_END_INFO)),
)
ABORT_LOCATION = enum("AbortLocation", Module=MODULE_ID, Script=UNIT)
STATUS = enum(
    "ExecutionStatus",
    Success=UNIT,
    OutOfGas=UNIT,
    MoveAbort=struct(
        location=ABORT_LOCATION,
        code=U64,
        info=option(struct(reason_name=STRING, description=STRING)),
    ),
    ExecutionFailure=struct(location=ABORT_LOCATION, function=U16, code_offset=U16),
    MiscellaneousError=option(U64),
)
INFO = enum(
    "TransactionInfo",
    V0=struct(
        gas_used=U64,
        status=STATUS,
        transaction_hash=HASH,
        event_root_hash=HASH,
        state_change_hash=HASH,
        state_checkpoint_hash=option(HASH),
        auxiliary_info_hash=option(HASH),
    ),
)

# Blocks (src/ledger/types/block.rs, src/ledger/types/ledger_root.rs,
# src/ledger/types/accumulator.rs).

LEDGER_ROOT = struct(version=U64, accumulator_root=HASH)
HEADER = struct(
    parent_hash=HASH,
    height=U64,
    epoch=U64,
    round=U64,
    proposer=ADDRESS,
    timestamp_usecs=U64,
    payload_root=HASH,
    executed=LEDGER_ROOT,
)
DISCARDED = struct(position=U32, hash=HASH, status_code=U64, transaction=BYTES)
TIP = struct(
    height=U64,
    block_hash=HASH,
    version=U64,
    epoch=U64,
    timestamp_usecs=U64,
    accumulator=struct(leaf_count=U64, peaks=vector(HASH)),
    roots=vector(LEDGER_ROOT),
)

# Rows of the tables `blocks` and `meta` (src/store).

BLOCK_ROW = struct(
    header=HEADER,
    hash=HASH,
    first_version=U64,
    last_version=U64,
    discarded=vector(DISCARDED),
    certificate=BYTES,
)
HEAD = struct(chain_id=U8, tip=TIP, oldest_version=U64, oldest_block_height=U64)
WAL_STATE = struct(generation=U64, is_open=BOOL)
RUN = struct(id=U64, level=U32, first_version=U64, last_version=U64, entries=U64)
MERGE_JOB = struct(level=U32, sources=vector(U64), output=U64, written=U64, last_taken=BYTES)
RUNS = struct(list=vector(RUN), jobs=vector(MERGE_JOB), unflushed_from=U64)
MANIFEST = struct(
    last_run=U64,
    hash=RUNS,
    state=RUNS,
    account=RUNS,
    stream=RUNS,
    pruned_state=RUNS,
    garbage=vector(U64),
)
STREAM_END = pair(EVENT_KEY, U64)
