//! The nodes that a command reaches through their admin listeners.

use super::{super::CliError, files::CONFIGURATION};
use crate::{
    access::Token,
    config::{Config, ConfigOptions},
};
use ledger_client::{AdminClient, ClientError, RequestError, http::TrustedRoots};
use std::{
    fs,
    future::Future,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::time::timeout;

/// Time within which a node must respond: an idle one does in milliseconds, and a node that hangs
/// must not hide the state of the others.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A node that is reached through its admin listener.
pub struct Target {
    /// Name of its directory, or its URL.
    pub name: String,
    /// A client of its admin listener.
    pub client: AdminClient,
}

/// The error of a request to a node.
pub enum TargetError {
    /// Nothing listens at its address.
    NotRunning(String),
    /// It rejected the request, or did not respond.
    Failed(String),
}

impl TargetError {
    /// Returns the text for the operator.
    pub fn into_text(self) -> String {
        match self {
            Self::NotRunning(text) | Self::Failed(text) => text,
        }
    }
}

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
    let token = token_file.as_deref().map(read_token).transpose()?;
    let scheme = match admin.tls_certificate {
        Some(_) => "https",
        None => "http",
    };
    let url = format!("{scheme}://{}", admin.listen);
    let name = node.file_name().unwrap_or_default().to_string_lossy();
    Ok(Target {
        name: name.into_owned(),
        client: AdminClient::new(&url, roots, token.as_ref().map(Token::expose))?,
    })
}

/// Returns the nodes of these URLs.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if a URL or the file of the token cannot be used.
pub fn targets_of(
    urls: &[String],
    token_file: Option<&Path>,
    roots: &TrustedRoots,
) -> Result<Vec<Target>, CliError> {
    let token = token_file.map(read_token).transpose()?;
    let target = |url: &String| {
        let client = AdminClient::new(url, roots, token.as_ref().map(Token::expose))?;
        let name = url.clone();
        Ok(Target { name, client })
    };
    urls.iter().map(target).collect()
}

fn read_token(path: &Path) -> Result<Token, CliError> {
    Token::read(path).map_err(|error| CliError::fatal(path.display(), &error))
}

/// Waits for a response.
///
/// # Errors
///
/// Returns the [`TargetError`] of a request that failed or took too long.
pub async fn within_timeout<T>(
    response: impl Future<Output = Result<T, ClientError>>,
) -> Result<T, TargetError> {
    match timeout(RESPONSE_TIMEOUT, response).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            let text = error.to_string();
            Err(match error {
                ClientError::NoResponse {
                    source: RequestError::Connect(_),
                    ..
                } => TargetError::NotRunning(text),
                _ => TargetError::Failed(text),
            })
        }
        Err(_) => Err(TargetError::Failed(format!(
            "no response within {} s",
            RESPONSE_TIMEOUT.as_secs()
        ))),
    }
}
