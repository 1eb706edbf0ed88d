//! Who may ask the listeners that can change or give away something: the operator's and the faucet's.
//!
//! | what | against |
//! |---|---|
//! | `visitors.rs`: Host and Origin | a page elsewhere that makes a visitor's browser ask |
//! | `token.rs`: a bearer token | anyone else who can reach the operator's listener |

mod origins;
mod token;
mod visitors;

pub use origins::{NoOrigins, Origins};
pub use token::{Token, configured_token};
pub use visitors::{HostNames, NoHostNames, Pages, Visitors};
