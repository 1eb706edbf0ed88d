//! Access control of the admin listener and of the faucet, and of files that hold secrets.
//!
//! | file | check | threat |
//! |---|---|---|
//! | `host_origin.rs` | `Host` and `Origin` headers | foreign web pages that send requests through a browser |
//! | `gate.rs` | token, session, and CSRF token | clients that can connect to the admin listener, and pages in their browsers |
//! | `token.rs` | bearer token | clients that can connect to the admin listener |
//! | `sessions.rs` | session id | pages and programs that read the cookie later |
//! | `login_limit.rs` | failed logins of an address | clients that try tokens |
//! | `secret_file.rs`, `private_key.rs` | file permissions | other users of the machine |

mod authority;
mod gate;
mod host_origin;
mod login_limit;
mod origins;
mod private_key;
mod secret_file;
mod sessions;
mod token;

pub use gate::{
    Denial, DenialStatus, Gate, GateOptions, Identity, LoginError, LoginStatus, LoginTransport,
    Requester,
};
pub use host_origin::{AllowedOrigins, HostNames, HostOriginPolicy, NoHostNames};
pub use origins::{NoOrigins, Origins};
pub use private_key::warn_if_key_is_exposed;
pub use secret_file::{SecretFileError, read_secret, read_secret_file};
pub use token::{TOKEN_RECIPE, Token, TokenError};
