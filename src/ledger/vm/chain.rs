//! A chain: its identity, its parameters and its modules.

use crate::ModuleRegistry;
use ledger_types::{ChainIdentity, Parameters, Vendor};
use std::{fmt, sync::Arc};

/// A chain. A clone shares its content.
#[derive(Clone)]
pub struct Chain(Arc<Parts>);

struct Parts {
    identity: ChainIdentity,
    parameters: Parameters,
    registry: ModuleRegistry,
}

impl fmt::Debug for Chain {
    /// Writes the identity. The modules follow from it and would fill pages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chain({}, {})", self.id(), self.vendor())
    }
}

impl Chain {
    /// Creates the chain with this identity, whose modules `registry` holds.
    pub fn new(identity: ChainIdentity, parameters: Parameters, registry: ModuleRegistry) -> Self {
        Self(Arc::new(Parts {
            identity,
            parameters,
            registry,
        }))
    }

    /// Returns the identity.
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

    /// Returns the limits and prices.
    pub fn parameters(&self) -> &Parameters {
        &self.0.parameters
    }

    /// Returns the modules.
    pub fn registry(&self) -> &ModuleRegistry {
        &self.0.registry
    }
}
