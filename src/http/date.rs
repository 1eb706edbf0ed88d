//! The value of the `Date` header, formatted once per second and thread.

use http::HeaderValue;
use std::{
    cell::RefCell,
    time::{SystemTime, UNIX_EPOCH},
};

thread_local! {
    /// A second since the epoch and its text.
    static WRITTEN: RefCell<(u64, HeaderValue)> = const { RefCell::new((0, HeaderValue::from_static(""))) };
}

/// Returns the current date.
pub fn date() -> HeaderValue {
    let now = SystemTime::now();
    let second = now
        .duration_since(UNIX_EPOCH)
        .map_or(0, |passed| passed.as_secs());
    WRITTEN.with_borrow_mut(|(written_of, text)| {
        if *written_of != second
            && let Ok(value) = HeaderValue::from_str(&httpdate::fmt_http_date(now))
        {
            (*written_of, *text) = (second, value);
        }
        text.clone()
    })
}
