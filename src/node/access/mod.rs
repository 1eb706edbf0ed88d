//! Access control of the admin listener and of the faucet, and of files that hold secrets.
//!
//! | file | check | threat |
//! |---|---|---|
//! | `host_origin.rs` | `Host` and `Origin` headers | foreign web pages that send requests through a browser |
//! | `token.rs` | bearer token | clients that can connect to the admin listener |
//! | `secret_file.rs`, `private_key.rs` | file permissions | other users of the machine |

mod authority;
mod host_origin;
mod origins;
mod private_key;
mod secret_file;
mod token;

pub use host_origin::{AllowedOrigins, HostNames, HostOriginPolicy, NoHostNames};
pub use origins::{NoOrigins, Origins};
pub use private_key::warn_if_key_is_exposed;
pub use secret_file::{SecretFileError, read_secret, read_secret_file};
pub use token::{RequiredToken, TOKEN_RECIPE, Token, TokenError};
