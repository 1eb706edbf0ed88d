//! `--version`: version, commit and profile of the build, and the backend of ed25519.

use ledger_test_support::node::{TestNode, binary};

/// Returns the output of `--version`.
fn version_text() -> String {
    let output = binary().arg("--version").output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// Returns commit, profile and backend from the output of `--version`.
fn build_parts(text: &str) -> [&str; 3] {
    let start = format!("ledger-node {} (commit ", env!("CARGO_PKG_VERSION"));
    let build = text
        .strip_prefix(&start)
        .and_then(|rest| rest.strip_suffix(")\n"));
    let parts: Vec<_> = build.unwrap().split(", ").collect();
    parts.try_into().expect(text)
}

#[tokio::test]
async fn ledger_info_has_the_commit_of_the_version() {
    let text = version_text();
    let [commit, ..] = build_parts(&text);
    let expected = if commit == "unknown" { "" } else { commit };
    let node = TestNode::start(&[]);
    assert_eq!(node.get("/v1").await.json["git_hash"], expected);
}

#[test]
fn prints_version_commit_profile_and_backend() {
    let text = version_text();
    let [commit, profile, backend] = build_parts(&text);
    assert_eq!(backend, format!("ed25519 {}", expected_backend()));
    let is_commit = commit.len() == 12 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    match profile {
        // The commit would otherwise cause a rebuild of the binary.
        "dev" => assert_eq!(commit, "unknown"),
        "release" => assert!(is_commit || commit == "unknown", "{text}"),
        _ => panic!("{text}"),
    }
}

/// Returns the fastest backend of curve25519-dalek that this processor can run.
#[cfg(target_arch = "x86_64")]
fn expected_backend() -> &'static str {
    let features = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has = |name| features.split_whitespace().any(|feature| feature == name);
    if has("avx512ifma") && has("avx512vl") && cfg!(curve25519_dalek_backend = "avx512") {
        "avx512"
    } else if has("avx2") {
        "avx2"
    } else {
        "serial"
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn expected_backend() -> &'static str {
    "serial"
}
