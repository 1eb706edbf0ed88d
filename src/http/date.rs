//! The value of the `Date` header, formatted once per second and thread.

use http::HeaderValue;
use std::{
    cell::RefCell,
    time::{SystemTime, UNIX_EPOCH},
};

/// The text of one second.
struct FormattedDate {
    /// Seconds since the Unix epoch.
    second: u64,
    text: HeaderValue,
}

thread_local! {
    /// The date that was formatted last.
    static FORMATTED: RefCell<FormattedDate> = const {
        RefCell::new(FormattedDate {
            second: 0,
            text: HeaderValue::from_static(""),
        })
    };
}

/// Returns the current date.
pub fn date() -> HeaderValue {
    let now = SystemTime::now();
    let second = now
        .duration_since(UNIX_EPOCH)
        .map_or(0, |passed| passed.as_secs());
    FORMATTED.with_borrow_mut(|formatted| {
        if formatted.second != second
            && let Ok(text) = HeaderValue::from_str(&httpdate::fmt_http_date(now))
        {
            *formatted = FormattedDate { second, text };
        }
        formatted.text.clone()
    })
}
