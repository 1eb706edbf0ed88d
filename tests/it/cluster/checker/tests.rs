//! Contradictions that the checker must find.

use super::{
    super::history::{Kill, Read, Unknown},
    *,
};
use serde_json::json;
use std::time::Duration;

const CLIENT: u64 = 7;

fn account(client: u64) -> AccountAddress {
    AccountAddress::from_low_u64(client)
}

fn hash(number: u8) -> HashValue {
    HashValue::new([number; 32])
}

/// Returns a transfer of the client with this number, at this version.
fn transfer(number: u8, sequence_number: u64, version: u64) -> Value {
    json!({
        "type": "user_transaction",
        "version": version.to_string(),
        "hash": hash(number).to_string(),
        "sender": account(CLIENT).to_string(),
        "sequence_number": sequence_number.to_string(),
    })
}

fn block(transactions: &[Value]) -> Value {
    json!({ "transactions": transactions })
}

/// Two transfers, the second one after the response to the first one, and a read between them.
struct Case {
    chains: Vec<Blocks>,
    requests: Requests,
}

impl Case {
    fn new() -> Self {
        let begun = Instant::now();
        let at = |secs| begun + Duration::from_secs(secs);
        let write = |number: u8, began: u64| Write {
            client: CLIENT,
            node: Some(0),
            sequence_number: u64::from(number),
            hash: hash(number),
            began: at(began),
            is_accepted: true,
            is_rejected: false,
            committed: Some(Committed {
                node: Some(0),
                at: at(began + 1),
                version: 10 + u64::from(number),
            }),
        };
        let chain = vec![block(&[transfer(0, 0, 10)]), block(&[transfer(1, 1, 11)])];
        Self {
            chains: vec![chain; 2],
            requests: Requests {
                writes: vec![write(0, 0), write(1, 4)],
                reads: vec![Read {
                    client: CLIENT,
                    node: Some(0),
                    began: at(2),
                    ended: at(3),
                    version_min: 10,
                    version: 10,
                    sequence_number: 1,
                }],
                ..Requests::default()
            },
        }
    }

    /// Replaces the blocks of both chains.
    fn replace(&mut self, blocks: &[Value]) {
        self.chains = vec![blocks.to_vec(); 2];
    }

    /// Asserts that the checker finds a contradiction with these words.
    fn assert_found(&self, words: &str) {
        let error = check(&self.chains, &self.requests, account).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn accepts_a_history_without_a_fault() {
    let case = Case::new();
    let compared = check(&case.chains, &case.requests, account).unwrap();
    assert_eq!((compared.executed, compared.acknowledged), (2, 2));
}

#[test]
fn finds_a_fork() {
    let mut case = Case::new();
    case.chains[1][1] = block(&[transfer(2, 1, 11)]);
    case.assert_found("fork at validator 1");
}

#[test]
fn finds_a_lost_transfer() {
    let mut case = Case::new();
    case.replace(&[block(&[transfer(0, 0, 10)])]);
    case.assert_found("lost");
}

#[test]
fn finds_a_transfer_that_was_executed_twice() {
    let mut case = Case::new();
    let again = transfer(0, 0, 11);
    case.replace(&[block(&[transfer(0, 0, 10)]), block(&[again])]);
    case.assert_found("executed twice");
}

#[test]
fn finds_a_transfer_that_no_client_submitted() {
    let mut case = Case::new();
    case.requests.writes.pop();
    case.assert_found("was not submitted");
}

#[test]
fn finds_a_transfer_before_one_that_was_acknowledged_earlier() {
    let mut case = Case::new();
    case.requests.writes[0].committed = Some(Committed {
        node: Some(0),
        at: case.requests.writes[0].began,
        version: 11,
    });
    case.requests.writes[0].hash = hash(1);
    case.requests.writes[1].hash = hash(0);
    case.requests.writes[1].committed = None;
    case.assert_found("began after 11 was acknowledged");
}

#[test]
fn finds_a_validator_that_goes_back() {
    let mut case = Case::new();
    case.requests.writes[0].committed.as_mut().unwrap().version = 10;
    case.requests.reads[0].version = 9;
    case.requests.reads[0].version_min = 9;
    case.requests.reads[0].sequence_number = 0;
    case.assert_found("went back from version 10 to 9");
}

#[test]
fn finds_a_read_that_does_not_show_its_version() {
    let mut case = Case::new();
    case.requests.reads[0].sequence_number = 0;
    case.assert_found("the account has sequence number 1");
}

#[test]
fn finds_a_verdict_on_a_transfer_that_is_not_executed() {
    let mut case = Case::new();
    case.requests.writes[1].is_rejected = true;
    case.requests.writes[1].committed = None;
    case.replace(&[block(&[transfer(0, 0, 10)])]);
    case.assert_found("wrong verdict");
}

#[test]
fn finds_a_404_of_a_transfer_that_a_node_holds() {
    let mut case = Case::new();
    let accepted = case.requests.writes[1].began;
    let secs = Duration::from_secs;
    case.requests.acceptances.push(Acceptance {
        hash: hash(1),
        node: 0,
        at: accepted,
    });
    // Before the client learned of the commit.
    case.requests.writes[1].committed = None;
    case.requests.unknown.push(Unknown {
        hash: hash(1),
        node: Some(1),
        began: accepted + secs(2),
        ended: accepted + secs(3),
    });
    case.assert_found("false 404");
    // The client recorded the acceptance when the node was dead already.
    case.requests.kills.push(Kill {
        node: 0,
        began: accepted - secs(1),
        ended: accepted + secs(1),
    });
    check(&case.chains, &case.requests, account).unwrap();
    case.requests.writes[1].committed = Some(Committed {
        node: Some(0),
        at: accepted + secs(1),
        version: 11,
    });
    case.assert_found("committed: true");
}
