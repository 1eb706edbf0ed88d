//! `--version`: version, commit and profile of the build.

use crate::kit::binary;

#[test]
fn prints_version_commit_and_profile() {
    let output = binary().arg("--version").output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let start = format!("ledger-node {} (commit ", env!("CARGO_PKG_VERSION"));
    let build = text
        .strip_prefix(&start)
        .and_then(|rest| rest.strip_suffix(")\n"));
    let (commit, profile) = build.and_then(|build| build.split_once(", ")).unwrap();
    let is_commit = commit.len() == 12 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    match profile {
        // The commit would otherwise cause a rebuild of the binary.
        "dev" => assert_eq!(commit, "unknown"),
        "release" => assert!(is_commit || commit == "unknown", "{text}"),
        _ => panic!("{text}"),
    }
}
