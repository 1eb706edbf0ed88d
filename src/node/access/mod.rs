//! Who may ask the listeners that can change or give away something, the operator's and the faucet's, and
//! who may have read a secret.
//!
//! | what | against |
//! |---|---|
//! | `host_origin.rs`: Host and Origin | a page elsewhere that makes a visitor's browser ask |
//! | `token.rs`: a bearer token | anyone else who can reach the operator's listener |
//! | `secret_file.rs`: permissions of files | other users of this machine |

mod host_origin;
mod origins;
mod secret_file;
mod token;

pub use host_origin::{AllowedOrigins, HostNames, HostOriginPolicy, NoHostNames};
pub use origins::{NoOrigins, Origins};
pub use secret_file::{SecretFileError, read_secret, read_secret_file};
pub use token::{RequiredToken, TOKEN_RECIPE, Token, TokenError};
