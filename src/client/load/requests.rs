//! The requests of a run as bytes on the wire, and the signatures of its transfers.

use super::{
    account::{SendingAccount, SignedTransfer},
    plan::{MAX_GAS_AMOUNT, Plan, SubmissionFormat},
};
use crate::{
    signer::{self, Terms},
    submission_media_type,
};
use ledger_types::{ReplayProtector, SignedTransaction};
use std::{io::Write as _, time::Duration};

/// Media type of responses in JSON.
const JSON: &str = "application/json";

/// Media type of responses in BCS.
const BCS: &str = "application/x-bcs";

/// Amount of a transfer, in the coin's smallest unit.
const AMOUNT: u64 = 1;

/// Time from the signature of an orderless transfer to its expiration. A chain accepts only those
/// that expire within 100 s.
const ORDERLESS_EXPIRES_AFTER: Duration = Duration::from_secs(60);

/// Time limit of the wait of a submission, in milliseconds. Responses are awaited longer than this
/// after the end of a run.
const SUBMISSION_TIMEOUT_MS: u64 = 5_000;

/// A writer of the requests to one node.
///
/// The parts that all requests share are formatted once.
#[derive(Debug)]
pub struct RequestWriter {
    format: SubmissionFormat,
    /// The head of a submission up to the length of its body.
    submission_head: Vec<u8>,
    /// The bytes after the path of a GET request whose response is in JSON.
    json_get_tail: Vec<u8>,
    /// The bytes after the path of a GET request for a transaction.
    transaction_get_tail: Vec<u8>,
}

impl RequestWriter {
    /// Creates a writer of the requests of `plan`. `host` is the value of the `Host` header.
    pub fn new(plan: &Plan, host: &str) -> Self {
        let (media_type, accept) = match &plan.format {
            SubmissionFormat::Bcs => (submission_media_type(&plan.chain.vendor), BCS),
            SubmissionFormat::Json(_) => (JSON.to_owned(), JSON),
        };
        let query = if plan.is_wait_in_submission {
            format!("?timeout_ms={SUBMISSION_TIMEOUT_MS}")
        } else {
            String::new()
        };
        let submission_head = format!(
            "POST /v1/transactions{query} HTTP/1.1\r\nhost: {host}\r\n\
             content-type: {media_type}\r\naccept: {accept}\r\ncontent-length: "
        );
        let tail = |accept| format!(" HTTP/1.1\r\nhost: {host}\r\naccept: {accept}\r\n\r\n");
        Self {
            format: plan.format.clone(),
            submission_head: submission_head.into(),
            json_get_tail: tail(JSON).into(),
            transaction_get_tail: tail(accept).into(),
        }
    }

    /// Signs and encodes the transfer of `account` with this replay protector.
    pub(super) fn sign(
        &self,
        plan: &Plan,
        account: &SendingAccount,
        protector: ReplayProtector,
    ) -> SignedTransfer {
        let expires_after = match protector {
            ReplayProtector::SequenceNumber(_) => plan.expires_after,
            ReplayProtector::Nonce(_) => ORDERLESS_EXPIRES_AFTER,
        };
        let terms = Terms {
            max_gas_amount: MAX_GAS_AMOUNT,
            gas_unit_price: plan.gas_unit_price,
            expiration_timestamp_secs: signer::unix_secs_after(expires_after),
        };
        let call = signer::transfer(&plan.chain.vendor, account.recipient, AMOUNT);
        let signed = account.signer.sign(&plan.chain, protector, call, terms);
        SignedTransfer {
            protector,
            hash: signed.hash(&plan.chain.vendor),
            body: self.encode(&signed).into(),
        }
    }

    /// Encodes a transaction as the body of its submission.
    fn encode(&self, transaction: &SignedTransaction) -> Vec<u8> {
        match &self.format {
            SubmissionFormat::Bcs => {
                bcs::to_bytes(transaction).expect("a transaction has a BCS form")
            }
            SubmissionFormat::Json(render) => render(transaction).into(),
        }
    }

    /// Replaces the content of `request` with the submission of a transfer.
    pub(super) fn write_submission(&self, transfer: &SignedTransfer, request: &mut Vec<u8>) {
        request.clear();
        request.extend_from_slice(&self.submission_head);
        // Writing to a vector does not fail.
        let _ = write!(request, "{}\r\n\r\n", transfer.body.len());
        request.extend_from_slice(&transfer.body);
    }

    /// Replaces the content of `request` with a GET request for `path` that accepts JSON.
    pub(super) fn write_get(&self, path: &str, request: &mut Vec<u8>) {
        write_get(path, &self.json_get_tail, request);
    }

    /// Replaces the content of `request` with a GET request for the transaction at `path`, which
    /// accepts the format of the submissions.
    pub(super) fn write_transaction_get(&self, path: &str, request: &mut Vec<u8>) {
        write_get(path, &self.transaction_get_tail, request);
    }
}

fn write_get(path: &str, tail: &[u8], request: &mut Vec<u8>) {
    request.clear();
    request.extend_from_slice(b"GET ");
    request.extend_from_slice(path.as_bytes());
    request.extend_from_slice(tail);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::plan;
    use ledger_crypto::Ed25519PrivateKey;
    use ledger_types::AccountAddress;
    use std::collections::VecDeque;
    use std::sync::Arc;

    /// Returns a submission, a request for its transaction, and another GET request.
    fn requests(plan: &Plan) -> [String; 3] {
        let writer = RequestWriter::new(plan, "127.0.0.1:1");
        let protector = ReplayProtector::SequenceNumber(0);
        let account = SendingAccount {
            signer: signer::Signer::new(Ed25519PrivateKey::from_seed(&[1; 32])),
            next_protector: protector,
            recipient: AccountAddress::ONE,
            signed_in_advance: VecDeque::new(),
        };
        let transfer = writer.sign(plan, &account, protector);
        let mut requests = [Vec::new(), Vec::new(), Vec::new()];
        writer.write_submission(&transfer, &mut requests[0]);
        writer.write_transaction_get("/v1/transactions/by_hash/0x1", &mut requests[1]);
        writer.write_get("/v1", &mut requests[2]);
        requests.map(|request| String::from_utf8_lossy(&request).into_owned())
    }

    /// Returns the `Accept` headers of [`requests`].
    fn accept_headers(format: SubmissionFormat) -> [String; 3] {
        requests(&Plan { format, ..plan() }).map(|request| {
            let mut lines = request.lines();
            let accept = lines.find_map(|line| line.strip_prefix("accept: "));
            accept.unwrap_or_default().to_owned()
        })
    }

    #[test]
    fn accepts_transactions_in_the_format_of_submissions() {
        assert_eq!(accept_headers(SubmissionFormat::Bcs), [BCS, BCS, JSON]);
    }

    #[test]
    fn accepts_only_json_if_submissions_are_json() {
        let format = SubmissionFormat::Json(Arc::new(|_| "{}".to_owned()));
        assert_eq!(accept_headers(format), [JSON; 3]);
    }

    #[test]
    fn adds_the_timeout_to_submissions_that_wait() {
        for (is_wait_in_submission, path) in [
            (false, "/v1/transactions"),
            (true, "/v1/transactions?timeout_ms=5000"),
        ] {
            let [submission, ..] = requests(&Plan {
                is_wait_in_submission,
                ..plan()
            });
            assert!(
                submission.starts_with(&format!("POST {path} HTTP/1.1\r\n")),
                "{submission}"
            );
        }
    }
}
