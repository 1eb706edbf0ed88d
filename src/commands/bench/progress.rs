//! The progress bar of a run; shown on a terminal only.

use super::{plan::Plan, run::Load};
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// A bar that is full when the run is over: by transfers where their number is given, else by time.
pub fn bar(plan: &Plan) -> ProgressBar {
    let (length, unit) = match (plan.transfers, plan.duration) {
        (Some(transfers), _) => (transfers, ""),
        (None, duration) => (duration.unwrap_or_default().as_secs(), " s"),
    };
    let template = format!("{{wide_bar}} {{pos}}/{{len}}{unit}  {{msg}}");
    let style = ProgressStyle::with_template(&template).expect("the template is valid");
    ProgressBar::new(length).with_style(style)
}

/// Shows how far the run is after its warm-up.
pub fn show(bar: &ProgressBar, load: &Load, committed: u64, elapsed: Duration) {
    bar.set_position(match load.plan.transfers {
        Some(_) => committed,
        None => elapsed.as_secs(),
    });
    let per_second = committed as f64 / elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
    bar.set_message(format!("{per_second:.0} committed/s"));
}
