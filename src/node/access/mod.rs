//! Who may ask the listeners that can change or give away something, the operator's and the faucet's, and
//! who may have read a secret.
//!
//! | what | against |
//! |---|---|
//! | `visitors.rs`: Host and Origin | a page elsewhere that makes a visitor's browser ask |
//! | `token.rs`: a bearer token | anyone else who can reach the operator's listener |
//! | `secret_file.rs`, `private_key.rs`: permissions of files | other users of this machine |

mod origins;
mod private_key;
mod secret_file;
mod token;
mod visitors;

pub use origins::{NoOrigins, Origins};
pub use private_key::warn_if_key_is_exposed;
pub use secret_file::{SecretFileError, read_secret, read_secret_file};
pub use token::{Token, configured_token};
pub use visitors::{HostNames, NoHostNames, Pages, Visitors};
