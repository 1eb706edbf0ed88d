//! Chains: identity, parameters, and modules.

use crate::ModuleRegistry;
use ledger_types::{ChainIdentity, Parameters, Vendor};
use std::{fmt, sync::Arc};

/// A chain. Clones share its content.
#[derive(Clone)]
pub struct Chain(Arc<Parts>);

/// The parts of a chain that clones share.
struct Parts {
    identity: ChainIdentity,
    parameters: Parameters,
    registry: ModuleRegistry,
}

impl fmt::Debug for Chain {
    /// Writes the identity only. The modules follow from it, and their output would be very long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chain({}, {})", self.id(), self.vendor())
    }
}

impl Chain {
    /// Creates a chain from its identity, its parameters, and the registry of its modules.
    pub fn new(identity: ChainIdentity, parameters: Parameters, registry: ModuleRegistry) -> Self {
        Self(Arc::new(Parts {
            identity,
            parameters,
            registry,
        }))
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

    /// Returns the limits and prices of the chain.
    pub fn parameters(&self) -> &Parameters {
        &self.0.parameters
    }

    /// Returns the modules of the chain.
    pub fn registry(&self) -> &ModuleRegistry {
        &self.0.registry
    }
}
