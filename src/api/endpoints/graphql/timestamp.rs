//! Moments as the indexer's clients know them: the text of a database's timestamp without a time zone,
//! `2026-01-02T03:04:05.678901`, always in UTC.

const USECS_PER_SEC: u64 = 1_000_000;
const SECS_PER_DAY: u64 = 86_400;
/// The calendar repeats after this many days, which are 400 years.
const DAYS_PER_ERA: u64 = 146_097;
/// From the first of March of the year 0, with which the first era begins, to the Unix epoch.
const DAYS_TO_EPOCH: u64 = 719_468;

/// The moment that lies this many microseconds after the Unix epoch.
pub(super) fn text(usecs: u64) -> String {
    let secs = usecs / USECS_PER_SEC;
    let (year, month, day) = date(secs / SECS_PER_DAY);
    let second_of_day = secs % SECS_PER_DAY;
    let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
    let fraction = usecs % USECS_PER_SEC;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:06}")
}

/// Year, month and day that lie this many days after the Unix epoch, in the Gregorian calendar. Years are
/// counted from March, so that the day which some have more is their last.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_TO_EPOCH;
    let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    // Without the leap days before it: one in 4 years, but not in 100, but in 400.
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Five months from March or August on have 153 days.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let (month, next_year) = match month_from_march {
        0..=9 => (month_from_march + 3, 0),
        _ => (month_from_march - 9, 1),
    };
    (400 * era + year_of_era + next_year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HttpDate;
    use proptest::prelude::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn known_moments() {
        for (usecs, expected) in [
            (0, "1970-01-01T00:00:00.000000"),
            (951_782_400_000_001, "2000-02-29T00:00:00.000001"),
            (1_767_225_599_999_999, "2025-12-31T23:59:59.999999"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000000"),
            (u64::MAX, "586524-01-19T08:01:49.551615"),
        ] {
            assert_eq!(text(usecs), expected);
        }
    }

    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];

    proptest! {
        /// The calendar of the HTTP library, which writes no year above 9999.
        #[test]
        fn every_moment_is_that_of_an_independent_calendar(usecs in 0..253_402_300_800_000_000_u64) {
            let moment = HttpDate::from(UNIX_EPOCH + Duration::from_micros(usecs)).to_string();
            // Sun, 06 Nov 1994 08:49:37 GMT
            let parts: Vec<_> = moment.split(' ').collect();
            let month = MONTHS.iter().position(|name| *name == parts[2]).unwrap() + 1;
            let expected = format!("{}-{month:02}-{}T{}.{:06}", parts[3], parts[1], parts[4], usecs % 1_000_000);
            prop_assert_eq!(text(usecs), expected);
        }
    }
}
