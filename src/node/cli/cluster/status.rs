//! `cluster status`: how far each node is, and the validators that miss their turns.

use super::{
    super::{CliError, output, target::Target},
    arguments::StatusArguments,
    targets::{configuration, nodes, target_of},
};
use crate::admin::{ConsensusStatus, Role};
use futures::future::join_all;
use std::path::PathBuf;

/// The reply of a node.
struct Reply {
    name: String,
    status: Result<ConsensusStatus, String>,
}

impl Reply {
    /// Returns what an operator has to repair at the node.
    fn problem(&self) -> Option<String> {
        let problem = match &self.status {
            Err(error) => error.clone(),
            Ok(status) => match (status.role, &status.isolation) {
                (Role::Stopped, _) => "its consensus engine has stopped; see its log".to_owned(),
                (_, Some(isolation)) => isolation.clone(),
                (_, None) => return None,
            },
        };
        Some(format!("{}: {problem}", self.name))
    }

    /// Returns the cells of the node's row.
    fn cells(&self) -> Vec<String> {
        let Ok(status) = &self.status else {
            return vec![self.name.clone(), "unknown".to_owned()];
        };
        let role = match status.is_validator {
            true => "validator",
            false => "full node",
        };
        let state = match status.role {
            Role::Votes => "votes",
            Role::Follows => "follows",
            Role::Stopped => "stopped",
        };
        vec![
            self.name.clone(),
            role.to_owned(),
            state.to_owned(),
            status.height.to_string(),
            status.round.to_string(),
            status.ledger_version.to_string(),
            status.lag_blocks.to_string(),
            format!("{} of {}", status.peers, status.peers_configured),
        ]
    }
}

/// Requests the state of all nodes and prints it.
///
/// # Errors
///
/// Returns [`CliError::Configuration`] if the configuration of a node cannot be read, and
/// [`CliError::Fatal`] if no node is named, a token cannot be used, a node does not respond, or one
/// can neither commit nor follow.
pub fn execute(arguments: &StatusArguments) -> Result<(), CliError> {
    let targets = targets(arguments)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let replies = runtime.block_on(join_all(targets.into_iter().map(request)));
    let header = [
        "node", "role", "state", "height", "round", "version", "behind", "peers",
    ];
    print_table(&header, replies.iter().map(Reply::cells).collect())?;
    output::line("")?;
    let header = [
        "validator",
        "node",
        "in contact with",
        "without vote",
        "missed turns",
    ];
    print_table(&header, validators(&replies))?;
    let problems: Vec<_> = replies.iter().filter_map(Reply::problem).collect();
    match problems.is_empty() {
        true => Ok(()),
        false => Err(CliError::Fatal(problems.join("\n"))),
    }
}

/// Requests the state of a node.
async fn request(target: Target) -> Reply {
    let response = target.get("/consensus").await;
    Reply {
        name: target.name,
        status: match response {
            Ok(Some(status)) => Ok(status),
            Ok(None) => Err("it orders its chain alone (sequencer.mode = \"solo\")".to_owned()),
            Err(error) => Err(error.to_string()),
        },
    }
}

/// Returns the nodes of the directory, or those of the URLs.
fn targets(arguments: &StatusArguments) -> Result<Vec<Target>, CliError> {
    let roots = arguments.trust.roots()?;
    let Some(dir) = &arguments.dir else {
        return Target::all(&arguments.admin, arguments.token_file.as_deref(), &roots);
    };
    let target = |node: PathBuf| target_of(&node, &configuration(&node)?, &roots);
    nodes(dir)?.into_iter().map(target).collect()
}

/// Returns the row of each validator: of all nodes that observe it, the worst observation.
fn validators(replies: &[Reply]) -> Vec<Vec<String>> {
    let statuses: Vec<_> = replies
        .iter()
        .filter_map(|reply| Some((&reply.name, reply.status.as_ref().ok()?)))
        .collect();
    let Some((_, first)) = statuses.first() else {
        return Vec::new();
    };
    let row = |address: &str| {
        let seen = || {
            statuses.iter().filter_map(|(name, status)| {
                let mut validators = status.validators.iter();
                Some((*name, validators.find(|one| one.address == address)?))
            })
        };
        let others = || seen().filter(|(_, one)| !one.is_self);
        let own = seen().find(|(_, one)| one.is_self);
        let in_contact = others().filter(|(_, one)| one.is_in_contact).count();
        let without_vote = others().map(|(_, one)| one.heights_without_vote).max();
        let missed_turns = others().map(|(_, one)| one.missed_turns).max();
        let number = |number: Option<u64>| number.map_or("-".to_owned(), |one| one.to_string());
        vec![
            address.to_owned(),
            own.map_or("-".to_owned(), |(name, _)| name.clone()),
            format!("{in_contact} of {}", others().count()),
            number(without_vote),
            number(missed_turns),
        ]
    };
    let addresses = first.validators.iter().map(|one| one.address.as_str());
    addresses.map(row).collect()
}

/// Prints rows in columns as wide as their widest cell. A row may have fewer cells than the header.
fn print_table(header: &[&str], rows: Vec<Vec<String>>) -> Result<(), CliError> {
    let header = header.iter().map(|&cell| cell.to_owned()).collect();
    let rows: Vec<Vec<String>> = [vec![header], rows].concat();
    let width = |column| {
        let cells = rows.iter().filter_map(|row: &Vec<String>| row.get(column));
        cells.map(String::len).max().unwrap_or(0)
    };
    for row in &rows {
        let cells = row.iter().enumerate();
        let line: String = cells
            .map(|(column, cell)| format!("{cell:<width$}  ", width = width(column)))
            .collect();
        output::line(line.trim_end())?;
    }
    Ok(())
}
