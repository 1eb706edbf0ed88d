//! Shared parts of the commands that connect to a node.

use ledger_framework::new_chain;
use ledger_types::{ChainIdentity, Parameters};
use ledger_vm::Chain;

/// Default URL of a node.
pub const NODE_URL: &str = "http://127.0.0.1:8080";
/// Default URL of a faucet.
pub const FAUCET_URL: &str = "http://127.0.0.1:8081";

/// Returns a chain with this identity and default parameters.
///
/// A client does not know the parameters. Names and encodings depend on the identity only.
pub fn client_chain(identity: &ChainIdentity) -> Chain {
    new_chain(identity.id, identity.vendor.clone(), Parameters::default())
}
