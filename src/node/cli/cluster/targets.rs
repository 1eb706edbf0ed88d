//! The nodes of a directory that `cluster init` created.

use super::{
    super::{CliError, target::Target},
    files::CONFIGURATION,
};
use crate::config::{Config, ConfigOptions};
use ledger_client::http::TrustedRoots;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Returns the directories of the nodes of a directory, in order of their names.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if the directory cannot be read or has no node.
pub fn nodes(dir: &Path) -> Result<Vec<PathBuf>, CliError> {
    let unreadable = |error: std::io::Error| CliError::fatal(dir.display(), &error);
    let mut nodes = Vec::new();
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.join(CONFIGURATION).is_file() {
            nodes.push(path);
        }
    }
    nodes.sort();
    if nodes.is_empty() {
        return Err(CliError::Fatal(format!(
            "{} has no node; create them with ledger-node cluster init",
            dir.display()
        )));
    }
    Ok(nodes)
}

/// Returns the configuration of a node's directory.
///
/// # Errors
///
/// Returns [`CliError::Configuration`] if it cannot be read.
pub fn configuration(node: &Path) -> Result<Config, CliError> {
    let options = ConfigOptions {
        files: vec![node.join(CONFIGURATION)],
        ..ConfigOptions::default()
    };
    Ok(Config::load(&options, [])?)
}

/// Returns the node of a directory that `cluster init` created, by its configuration.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if the file of its token cannot be used.
pub fn target_of(node: &Path, config: &Config, roots: &TrustedRoots) -> Result<Target, CliError> {
    let admin = &config.settings().admin;
    let token_file = admin.token_file.as_ref().map(|file| node.join(file));
    let scheme = match admin.tls_certificate {
        Some(_) => "https",
        None => "http",
    };
    let url = format!("{scheme}://{}", admin.listen);
    let mut target = Target::new(&url, token_file.as_deref(), roots)?;
    let name = node.file_name().unwrap_or_default().to_string_lossy();
    target.name = name.into_owned();
    Ok(target)
}
