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
    /// The head of a batch up to the length of its body.
    batch_head: Vec<u8>,
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
        let post_head = |path: &str, accept: &str| {
            format!(
                "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: {media_type}\r\n\
                 accept: {accept}\r\ncontent-length: "
            )
        };
        let tail = |accept| format!(" HTTP/1.1\r\nhost: {host}\r\naccept: {accept}\r\n\r\n");
        Self {
            format: plan.format.clone(),
            submission_head: post_head(&format!("/v1/transactions{query}"), accept).into(),
            // The failures of a batch name their errors in JSON only. Most batches have none.
            batch_head: post_head("/v1/transactions/batch", JSON).into(),
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

    /// Replaces the content of `request` with the submission of transfers as a batch.
    pub(super) fn write_batch<'t>(
        &self,
        transfers: impl ExactSizeIterator<Item = &'t SignedTransfer> + Clone,
        request: &mut Vec<u8>,
    ) {
        let (begin, between, end) = match self.format {
            SubmissionFormat::Bcs => (bcs_length(transfers.len()), "", ""),
            SubmissionFormat::Json(_) => (b"[".to_vec(), ",", "]"),
        };
        let bodies_bytes: usize = transfers.clone().map(|transfer| transfer.body.len()).sum();
        let between_bytes = between.len() * transfers.len().saturating_sub(1);
        let body_bytes = begin.len() + bodies_bytes + between_bytes + end.len();
        request.clear();
        request.extend_from_slice(&self.batch_head);
        // Writing to a vector does not fail.
        let _ = write!(request, "{body_bytes}\r\n\r\n");
        request.extend_from_slice(&begin);
        for (number, transfer) in transfers.enumerate() {
            if number > 0 {
                request.extend_from_slice(between.as_bytes());
            }
            request.extend_from_slice(&transfer.body);
        }
        request.extend_from_slice(end.as_bytes());
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

/// Returns the length of a BCS vector, before its elements.
fn bcs_length(count: usize) -> Vec<u8> {
    let (mut rest, mut bytes) = (count, Vec::new());
    while rest >= 0x80 {
        bytes.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
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

    /// Returns the body of a batch of `count` transfers, each with a body of its own number.
    fn batch_body(format: SubmissionFormat, count: u8) -> Vec<u8> {
        let writer = RequestWriter::new(&Plan { format, ..plan() }, "127.0.0.1:1");
        let transfer = |number: u8| SignedTransfer {
            protector: ReplayProtector::SequenceNumber(0),
            hash: ledger_crypto::HashValue::ZERO,
            body: Box::new([number]),
        };
        let transfers: Vec<_> = (0..count).map(transfer).collect();
        let mut request = Vec::new();
        writer.write_batch(transfers.iter(), &mut request);
        let end = request.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        let body = request.split_off(end.unwrap() + 4);
        let head = String::from_utf8(request).unwrap();
        let length = format!("content-length: {}\r\n", body.len());
        assert!(head.contains(&length), "{head}");
        body
    }

    #[test]
    fn writes_a_batch_as_a_bcs_vector() {
        for count in [1, 127, 128, 200] {
            let elements: Vec<u8> = (0..count).collect();
            let expected = bcs::to_bytes(&elements).unwrap();
            assert_eq!(batch_body(SubmissionFormat::Bcs, count), expected);
        }
    }

    #[test]
    fn writes_a_batch_as_a_json_array() {
        let json = || SubmissionFormat::Json(Arc::new(|_| String::new()));
        assert_eq!(batch_body(json(), 1), b"[\0]");
        assert_eq!(batch_body(json(), 3), b"[\0,\x01,\x02]");
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
