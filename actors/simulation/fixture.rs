//! Initial state of all simulations: development chains with their disks, created once, and the
//! accounts.

use bytes::Bytes;
use fastrand::Rng;
use ledger_crypto::{Ed25519PrivateKey, Ed25519Signature, HashValue};
use ledger_execution::{build_chain, execute_genesis, genesis::DEVELOPMENT_ACCOUNT_COUNT};
use ledger_framework::{modules::object::user_derived_address, new_chain};
use ledger_store::{Store, StoreOptions};
use ledger_test_support::{
    Disk, Image, TestAccount, TransactionBuilder, test_genesis, transfer_call,
};
use ledger_types::{
    AccountAddress, ChainTip, CheckedTransaction, ExecutedBlock, Genesis, Parameters, StateKey,
};
use ledger_vm::Chain;
use std::sync::{Arc, OnceLock};

/// Store options with a small page cache, so that reads reach the disk.
pub(super) const STORE_OPTIONS: StoreOptions = StoreOptions {
    cache_bytes: 16 * 1024,
};
/// Secret of the store, the same in every run.
const SECRET: [u8; 16] = [42; 16];
/// Maximum work of a block on the chain with small blocks, in gas units: about two transfers.
const SMALL_BLOCK_GAS: u64 = 60;

/// Number of accounts.
pub(super) const WALLETS: usize = 8;
/// Number of accounts that have a balance at genesis.
pub(super) const FUNDED_WALLETS: usize = DEVELOPMENT_ACCOUNT_COUNT as usize;

/// Number of validators of the chain of several nodes.
pub(super) const VALIDATORS: usize = 4;
/// Number of heights after which a header names a block's result on that chain: as small as the
/// blocks in flight of [`Options`](super::options::Options) permit.
const ROOT_DELAY_BLOCKS: u64 = 5;

/// Returns the key of a validator.
pub(super) fn validator_key(number: u64) -> Ed25519PrivateKey {
    Ed25519PrivateKey::from_seed(&[number as u8 + 1; 32])
}

/// Start time of every simulation, in Unix seconds.
pub(super) const START_SECS: u64 = 1_800_000_000;

/// A chain that contains only genesis.
pub(super) struct Fixture {
    pub(super) chain: Chain,
    pub(super) tip: ChainTip,
    pub(super) genesis: ExecutedBlock,
    /// State after genesis.
    pub(super) state: imbl::HashMap<StateKey, Bytes>,
    /// Disk content after genesis.
    pub(super) image: Image,
}

impl Fixture {
    /// Returns the chain with default parameters, or the one with small blocks.
    pub(super) fn of(has_small_blocks: bool) -> &'static Self {
        static DEFAULT: OnceLock<Fixture> = OnceLock::new();
        static SMALL: OnceLock<Fixture> = OnceLock::new();
        if has_small_blocks {
            SMALL.get_or_init(|| {
                Self::new(Parameters {
                    block_gas_max: SMALL_BLOCK_GAS,
                    ..Parameters::default()
                })
            })
        } else {
            DEFAULT.get_or_init(|| Self::new(Parameters::default()))
        }
    }

    /// Returns the chain of [`VALIDATORS`] validators.
    pub(super) fn of_validators() -> &'static Self {
        static VALIDATED: OnceLock<Fixture> = OnceLock::new();
        VALIDATED.get_or_init(|| {
            let genesis = Genesis {
                validators: (0..VALIDATORS as u64)
                    .map(|number| validator_key(number).public_key())
                    .collect(),
                ..test_genesis(Parameters {
                    root_delay_blocks: ROOT_DELAY_BLOCKS,
                    ..Parameters::default()
                })
            };
            let chain = build_chain(&genesis).expect("the genesis is valid");
            Self::of_genesis(&genesis, chain)
        })
    }

    fn new(parameters: Parameters) -> Self {
        let genesis = test_genesis(parameters);
        // Built without the check of the genesis, which rejects a block gas limit below 1,000.
        let chain = new_chain(
            genesis.chain_id,
            genesis.vendor.clone(),
            genesis.parameters.clone(),
        );
        Self::of_genesis(&genesis, chain)
    }

    fn of_genesis(genesis: &Genesis, chain: Chain) -> Self {
        let block = execute_genesis(genesis, &chain);
        let disk = Disk::default();
        let mut store =
            Store::open_backend_with_secret(disk.clone(), disk.log(), &STORE_OPTIONS, SECRET)
                .expect("a new store");
        store.initialize(genesis, &block).expect("a working disk");
        drop(store);
        let writes = block
            .transactions
            .iter()
            .flat_map(|executed| executed.writes.iter());
        let state = writes.filter_map(|(key, op)| Some((key.clone(), op.value()?.clone())));
        Self {
            state: state.collect(),
            tip: block.tip.clone(),
            genesis: block,
            chain,
            image: disk.synced(),
        }
    }
}

/// Returns all accounts, the funded ones first.
pub(super) fn wallets() -> &'static [TestAccount] {
    static ALL: OnceLock<Vec<TestAccount>> = OnceLock::new();
    ALL.get_or_init(|| {
        let unfunded =
            (FUNDED_WALLETS..WALLETS).map(|number| TestAccount::from_seed(number as u64));
        TestAccount::development()
            .into_iter()
            .chain(unfunded)
            .collect()
    })
}

/// Returns the address of the store that holds the coins of a wallet.
pub(super) fn store_of(wallet: usize) -> AccountAddress {
    user_derived_address(wallets()[wallet].address, AccountAddress::NATIVE_ASSET)
}

/// Call of a transaction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Call {
    Transfer {
        to: usize,
        amount: u64,
    },
    /// A transfer that fails because of a superfluous argument.
    Invalid {
        /// Size of the superfluous argument, in bytes.
        bytes: usize,
    },
}

/// Replay protection of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplayProtection {
    SequenceNumber(u64),
    Nonce(u64),
}

/// A transaction of one of the wallets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft {
    pub(super) sender: usize,
    /// Sequence number or nonce.
    pub(super) replay_protection: ReplayProtection,
    pub(super) call: Call,
    pub(super) price: u64,
    pub(super) max_gas: u64,
    pub(super) expiration_secs: u64,
    /// Byte that makes the hashes of transactions with equal content differ. The simulation checks
    /// no signatures.
    pub(super) signature: u8,
}

impl Draft {
    /// Builds the transaction.
    pub(super) fn build_checked(&self, chain: &Chain) -> Arc<CheckedTransaction> {
        let wallet = &wallets()[self.sender];
        let signature = Ed25519Signature([self.signature; 64]);
        let builder = self.builder(chain);
        let signed = builder.with_signature(wallet.key.public_key(), signature);
        Arc::new(CheckedTransaction::new_unchecked(signed, chain.vendor()))
    }

    /// Builds the transaction with the signature of its sender, which validators check.
    pub(super) fn build_signed(&self, chain: &Chain) -> Arc<CheckedTransaction> {
        let signed = self.builder(chain).sign(&wallets()[self.sender]);
        Arc::new(CheckedTransaction::new_unchecked(signed, chain.vendor()))
    }

    fn builder(&self, chain: &Chain) -> TransactionBuilder {
        let vendor = chain.vendor();
        let mut call = match self.call {
            Call::Transfer { to, amount } => transfer_call(vendor, wallets()[to].address, amount),
            Call::Invalid { .. } => transfer_call(vendor, AccountAddress::ONE, 0),
        };
        if let Call::Invalid { bytes } = self.call {
            call.args.push(Bytes::from(vec![7; bytes]));
        }
        let wallet = &wallets()[self.sender];
        let builder = TransactionBuilder::call(chain, wallet.address, call)
            .max_gas_amount(self.max_gas)
            .gas_unit_price(self.price)
            .expiration_secs(self.expiration_secs);
        match self.replay_protection {
            ReplayProtection::SequenceNumber(number) => builder.sequence_number(number),
            ReplayProtection::Nonce(nonce) => builder.nonce(nonce),
        }
    }
}

/// Chooses a random transaction of `sender`.
///
/// `next_sequence_number` is the sequence number that the client expects to be next.
pub(super) fn random_draft(
    random: &mut Rng,
    sender: usize,
    next_sequence_number: u64,
    now_secs: u64,
    balance: u64,
) -> Draft {
    let is_orderless = random.u8(..5) == 0;
    let replay_protection = if is_orderless {
        ReplayProtection::Nonce(random.u64(..6))
    } else {
        ReplayProtection::SequenceNumber(match random.u8(..10) {
            0 => next_sequence_number.saturating_sub(random.u64(1..4)),
            1 => next_sequence_number + random.u64(1..5),
            _ => next_sequence_number,
        })
    };
    let call = match random.u8(..12) {
        0 => Call::Invalid {
            bytes: random.usize(..3_000),
        },
        1 => Call::Transfer {
            to: random.usize(..WALLETS),
            amount: balance.saturating_add(random.u64(..1_000_000)),
        },
        2 => Call::Transfer {
            to: random.usize(..WALLETS),
            amount: balance.saturating_sub(random.u64(..10_000_000)),
        },
        _ => Call::Transfer {
            to: random.usize(..WALLETS),
            amount: random.u64(1..5_000_000),
        },
    };
    let lifetime_secs = match random.u8(..8) {
        0 => 0,
        1 | 2 => random.u64(1..4),
        _ if is_orderless => random.u64(10..61),
        _ => random.u64(20..100_000),
    };
    Draft {
        sender,
        replay_protection,
        call,
        price: 100 + 50 * random.u64(..4),
        max_gas: if random.u8(..10) == 0 {
            10
        } else {
            random.u64(1_000..20_000)
        },
        expiration_secs: now_secs + lifetime_secs,
        signature: random.u8(..2),
    }
}

/// Returns the hash of a transaction that no client sends.
pub(super) fn unknown_hash(number: u64) -> HashValue {
    HashValue::sha3_of(&[b"nobody", &number.to_le_bytes()])
}
