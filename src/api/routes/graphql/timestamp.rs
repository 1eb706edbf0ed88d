//! Timestamps in the indexer's format, a database timestamp without a time zone:
//! `2026-01-02T03:04:05.678901`, always in UTC.

use time::OffsetDateTime;

const NANOS_PER_USEC: i128 = 1_000;

/// Formats the time `usecs` microseconds after the Unix epoch.
pub(super) fn format_usecs(usecs: u64) -> String {
    let date_time = OffsetDateTime::from_unix_timestamp_nanos(i128::from(usecs) * NANOS_PER_USEC)
        .expect(
            "the calendar goes to the year 999 999, and 64 bits of microseconds \
             to the year 586 524",
        );
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}",
        date_time.year(),
        u8::from(date_time.month()),
        date_time.day(),
        date_time.hour(),
        date_time.minute(),
        date_time.second(),
        date_time.microsecond()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HttpDate;
    use proptest::prelude::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn formats_known_times() {
        for (usecs, expected) in [
            (0, "1970-01-01T00:00:00.000000"),
            (951_782_400_000_001, "2000-02-29T00:00:00.000001"),
            (1_767_225_599_999_999, "2025-12-31T23:59:59.999999"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000000"),
            (u64::MAX, "586524-01-19T08:01:49.551615"),
        ] {
            assert_eq!(format_usecs(usecs), expected);
        }
    }

    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];

    proptest! {
        /// Compares with the calendar of the HTTP library, which does not format years above 9999.
        #[test]
        fn agrees_with_an_independent_calendar(usecs in 0..253_402_300_800_000_000_u64) {
            let date_time = HttpDate::from(UNIX_EPOCH + Duration::from_micros(usecs)).to_string();
            // Format: Sun, 06 Nov 1994 08:49:37 GMT
            let parts: Vec<_> = date_time.split(' ').collect();
            let month = MONTHS.iter().position(|name| *name == parts[2]).unwrap() + 1;
            let (day, year, time) = (parts[1], parts[3], parts[4]);
            let expected = format!("{year}-{month:02}-{day}T{time}.{:06}", usecs % 1_000_000);
            prop_assert_eq!(format_usecs(usecs), expected);
        }
    }
}
