//! HTTP and TLS clients, one for each purpose.
//!
//! | client | purpose |
//! |---|---|
//! | [`HttpClient`] | requests with pooled connections |
//! | [`NodeClient`] | requests to the listeners of a node |
//! | [`RawConnection`] | bytes of HTTP/1.1, plain or over TLS |
//! | [`Http2Connection`] | streams of one HTTP/2 connection |
//! | [`TestCertificate`] | TLS connections that trust only this certificate |

mod client;
mod connection;
mod http2;
mod node;
mod tls;

pub use client::{HttpClient, HttpResponse};
pub use connection::{
    RawConnection, RawResponse, batch_bytes, post_bytes, submission_bytes, wait_bytes,
};
pub use http2::{Http2Connection, Http2Stream};
pub use node::NodeClient;
pub use tls::{H2, HTTP_11, SERVER_NAME, TestCertificate};

use ledger_types::Vendor;
use serde_json::Value;

/// Returns the media type of a signed transaction in BCS.
pub fn submission_media_type(vendor: &Vendor) -> String {
    format!("application/x.{}.signed_transaction+bcs", vendor.lower())
}

/// Returns a number that the interface encodes as decimal text.
///
/// # Panics
///
/// Panics if the value is no text of digits, or too large.
pub fn number(value: &Value) -> u64 {
    let text = value.as_str().unwrap_or_else(|| panic!("no text: {value}"));
    assert!(text.bytes().all(|byte| byte.is_ascii_digit()), "{text}");
    text.parse().expect("a number of 64 bits")
}
