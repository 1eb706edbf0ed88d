//! The chain of a node, as its clients know it.

use ledger_framework::new_chain;
use ledger_types::{ChainIdentity, Parameters};
use ledger_vm::Chain;

/// Returns a chain with this identity and default parameters.
///
/// A client does not know the parameters. Names and encodings depend on the identity only.
pub fn client_chain(identity: &ChainIdentity) -> Chain {
    new_chain(identity.id, identity.vendor.clone(), Parameters::default())
}
