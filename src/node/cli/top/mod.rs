//! `top`: the stages of a node in a terminal, live and read-only.
//!
//! | file | content |
//! |---|---|
//! | `watch.rs` | keys, signals and one request per second |
//! | `full_screen.rs` | the terminal, and its state afterwards |
//! | `screen.rs` | the state of the screen |
//! | `view.rs`, `table.rs`, `curves.rs` | what is drawn of it |
//!
//! `GET /snapshot` is requested each second, and not the stream `/events`: a request has a time
//! limit and a bound on its size, takes no permit of the listener while nothing happens, and after
//! an error the next one is the new attempt.
//!
//! All texts are drawn into a buffer of cells, which takes no control characters: neither a node
//! nor another server at its address can send commands to the terminal.

mod curves;
mod full_screen;
mod screen;
mod table;
mod view;
mod watch;

#[cfg(test)]
mod tests;

use super::{
    CliError, output,
    target::{ADMIN_URL, Target},
    trust::TrustOptions,
};
use clap::Args;
use screen::Screen;
use std::{
    env,
    io::{IsTerminal as _, stdout},
    path::PathBuf,
    time::Instant,
};

/// Width of a snapshot that is printed elsewhere than at a terminal: that of all columns.
const PRINTED_WIDTH: u16 = 132;

#[derive(Debug, Args)]
pub struct Arguments {
    /// URL of the node's admin listener
    #[arg(long, value_name = "URL", default_value = ADMIN_URL)]
    url: String,
    /// File with the token of the listener (`admin.token_file`)
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Print one snapshot and end, as if standard output were no terminal
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    trust: TrustOptions,
}

/// Shows the stages of a node until a key or a signal ends it, or prints them once.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if URL, token or certificates cannot be used, if the terminal fails,
/// and without a terminal if the node does not respond with a snapshot.
pub fn execute(arguments: &Arguments) -> Result<(), CliError> {
    let roots = arguments.trust.roots()?;
    let target = Target::new(&arguments.url, arguments.token_file.as_deref(), &roots)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    // https://no-color.org: any value but the empty one.
    let has_color = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let screen = Screen::new(target.name.clone(), has_color);
    if arguments.once || !stdout().is_terminal() {
        runtime.block_on(print(&target, screen))
    } else {
        runtime.block_on(watch::watch(&target, screen))
    }
}

/// Prints one snapshot.
async fn print(target: &Target, mut screen: Screen) -> Result<(), CliError> {
    let response = watch::request(target, false).await;
    if let Err(error) = &response {
        let remedy = screen::remedy(error).map_or(String::new(), |remedy| format!("; {remedy}"));
        return Err(CliError::Fatal(format!("{error}{remedy}")));
    }
    screen.receive(response, Instant::now());
    Ok(output::line(&view::text(&screen, PRINTED_WIDTH))?)
}
