//! Chains: identity, parameters, modules, and validators.

use crate::ModuleRegistry;
use ledger_crypto::HashValue;
use ledger_types::{ChainIdentity, Parameters, ValidatorSet, Vendor};
use std::{fmt, sync::Arc};

/// A chain. Clones share its content.
#[derive(Clone)]
pub struct Chain(Arc<Parts>);

/// The parts of a chain that clones share.
struct Parts {
    identity: ChainIdentity,
    parameters: Parameters,
    registry: ModuleRegistry,
    validators: ValidatorSet,
    genesis_hash: Option<HashValue>,
}

impl fmt::Debug for Chain {
    /// Writes the identity only. The modules follow from it, and their output would be very long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chain({}, {})", self.id(), self.vendor())
    }
}

impl Chain {
    /// Creates a chain of one node from its identity, its parameters, and the registry of its
    /// modules.
    pub fn new(identity: ChainIdentity, parameters: Parameters, registry: ModuleRegistry) -> Self {
        Self(Arc::new(Parts {
            identity,
            parameters,
            registry,
            validators: ValidatorSet::default(),
            genesis_hash: None,
        }))
    }

    /// Returns the chain with these validators. `genesis_hash` is the hash of its genesis block.
    ///
    /// # Panics
    ///
    /// Panics if the chain has clones.
    pub fn with_validators(self, validators: ValidatorSet, genesis_hash: HashValue) -> Self {
        let parts = Arc::into_inner(self.0).expect("the chain has no clones");
        Self(Arc::new(Parts {
            validators,
            genesis_hash: Some(genesis_hash),
            ..parts
        }))
    }

    /// Returns the validators, or an empty set on a chain of one node.
    pub fn validators(&self) -> &ValidatorSet {
        &self.0.validators
    }

    /// Returns the hash of the genesis block, which each vote names, or `None` on a chain of one
    /// node.
    pub fn genesis_hash(&self) -> Option<HashValue> {
        self.0.genesis_hash
    }

    /// Returns the identity of the chain.
    pub fn identity(&self) -> &ChainIdentity {
        &self.0.identity
    }

    /// Returns the chain id.
    pub fn id(&self) -> u8 {
        self.0.identity.id
    }

    /// Returns the vendor word.
    pub fn vendor(&self) -> &Vendor {
        &self.0.identity.vendor
    }

    /// Returns the limits, prices and switches of the chain.
    pub fn parameters(&self) -> &Parameters {
        &self.0.parameters
    }

    /// Returns the modules of the chain.
    pub fn registry(&self) -> &ModuleRegistry {
        &self.0.registry
    }
}
