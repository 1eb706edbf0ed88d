//! Progress bars, which are drawn on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};
use ledger_client::load::{Plan, Sample};

/// Creates the bar of the funding, in accounts.
pub fn funding_bar(plan: &Plan) -> ProgressBar {
    bar(
        plan.accounts as u64,
        "funding accounts {wide_bar} {pos}/{len}",
    )
}

/// Creates the bar of the signatures before the load, in transfers.
pub fn signing_bar(plan: &Plan) -> ProgressBar {
    let connections = plan.connections as u64;
    bar(
        plan.pre_signed_per_connection().saturating_mul(connections),
        "signing transfers {wide_bar} {pos}/{len}",
    )
}

/// Creates the bar of a run, in transfers if their number is given, and otherwise in seconds.
pub fn run_bar(plan: &Plan) -> ProgressBar {
    let (length, unit) = match (plan.transfers, plan.duration) {
        (Some(transfers), _) => (transfers, ""),
        (None, duration) => (duration.unwrap_or_default().as_secs(), " s"),
    };
    bar(
        length,
        &format!("{{wide_bar}} {{pos}}/{{len}}{unit}  {{msg}}"),
    )
}

/// Creates a bar of this length.
fn bar(length: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    ProgressBar::new(length).with_style(style)
}

/// Updates the bar of a run.
pub fn show(bar: &ProgressBar, plan: &Plan, sample: Sample) {
    bar.set_position(match plan.transfers {
        Some(_) => sample.committed,
        None => sample.at.as_secs(),
    });
    let per_second = sample.committed as f64 / sample.at.as_secs_f64().max(f64::MIN_POSITIVE);
    bar.set_message(format!("{per_second:.0} committed/s"));
}
