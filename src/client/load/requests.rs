//! The requests of a run, and the signatures of its transfers.

use super::{
    account::{SendingAccount, SignedTransfer},
    plan::{CommitWait, Plan, SubmissionFormat},
};
use crate::{
    http::{Endpoint, Request},
    signer::{self, Terms},
    submission_media_type,
};
use bytes::Bytes;
use http::{
    Method,
    header::{ACCEPT, CONTENT_TYPE},
};
use ledger_types::{ReplayProtector, SignedTransaction};
use std::time::Duration;

/// Media type of responses in JSON.
const JSON: &str = "application/json";

/// Media type of responses in BCS.
pub(super) const BCS: &str = "application/x-bcs";

/// Amount of a transfer, in the coin's smallest unit.
const AMOUNT: u64 = 1;

/// Time from the signature of an orderless transfer to its expiration. A chain accepts only those
/// that expire within 100 s.
const ORDERLESS_EXPIRES_AFTER: Duration = Duration::from_secs(60);

/// Time limit of the wait of a submission, in milliseconds. Responses are awaited longer than this
/// after the end of a run.
const SUBMISSION_TIMEOUT_MS: u64 = 5_000;

/// The requests to one node.
///
/// Those without a body serve as templates: a request is a copy with a body or another path.
#[derive(Debug)]
pub struct Requests {
    format: SubmissionFormat,
    /// A submission without its body.
    submission: Request,
    /// The submission of a batch without its body.
    batch: Request,
    /// A GET request whose response is in JSON.
    json_get: Request,
    /// A GET request for a transaction, whose response is in the format of the submissions.
    transaction_get: Request,
}

impl Requests {
    /// Creates the requests of `plan` to the node at `endpoint`.
    pub fn new(plan: &Plan, endpoint: &Endpoint) -> Self {
        let (media_type, accept) = match &plan.format {
            SubmissionFormat::Bcs => (submission_media_type(&plan.chain.vendor), BCS),
            SubmissionFormat::Json(_) => (JSON.to_owned(), JSON),
        };
        let submission_path = match plan.commit_wait {
            CommitWait::InSubmission => {
                format!("/v1/transactions?timeout_ms={SUBMISSION_TIMEOUT_MS}")
            }
            _ => "/v1/transactions".to_owned(),
        };
        let post = |path: &str, accept: &str| {
            let request = endpoint.request(Method::POST, path);
            let request = request.header(CONTENT_TYPE, &media_type);
            request.header(ACCEPT, accept).body(Bytes::new().into())
        };
        let get = |accept: &str| {
            let request = endpoint.request(Method::GET, "/");
            request.header(ACCEPT, accept).body(Bytes::new().into())
        };
        let valid = |request: Result<Request, http::Error>| request.expect("constant fields");
        Self {
            format: plan.format.clone(),
            submission: valid(post(&submission_path, accept)),
            // The failures of a batch name their errors in JSON only. Most batches have none.
            batch: valid(post("/v1/transactions/batch", JSON)),
            json_get: valid(get(JSON)),
            transaction_get: valid(get(accept)),
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
            max_gas_amount: plan.max_gas_amount(protector),
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

    /// Returns the submission of a transfer.
    pub(super) fn submission(&self, transfer: &SignedTransfer) -> Request {
        with_body(&self.submission, transfer.body.clone())
    }

    /// Returns the submission of transfers as a batch.
    pub(super) fn batch<'t>(
        &self,
        transfers: impl ExactSizeIterator<Item = &'t SignedTransfer> + Clone,
    ) -> Request {
        let (begin, between, end) = match self.format {
            SubmissionFormat::Bcs => (bcs_length(transfers.len()), "", ""),
            SubmissionFormat::Json(_) => (b"[".to_vec(), ",", "]"),
        };
        let bodies_bytes: usize = transfers.clone().map(|transfer| transfer.body.len()).sum();
        let between_bytes = between.len() * transfers.len().saturating_sub(1);
        let mut body = begin;
        body.reserve_exact(bodies_bytes + between_bytes + end.len());
        for (number, transfer) in transfers.enumerate() {
            if number > 0 {
                body.extend_from_slice(between.as_bytes());
            }
            body.extend_from_slice(&transfer.body);
        }
        body.extend_from_slice(end.as_bytes());
        with_body(&self.batch, body.into())
    }

    /// Returns a GET request for `path` that accepts JSON.
    ///
    /// # Panics
    ///
    /// Panics if `path` is no path of a URI.
    pub(super) fn get(&self, path: &str) -> Request {
        with_path(&self.json_get, path)
    }

    /// Returns a GET request for the transaction at `path`, which accepts the format of the
    /// submissions.
    ///
    /// # Panics
    ///
    /// Panics if `path` is no path of a URI.
    pub(super) fn transaction_get(&self, path: &str) -> Request {
        with_path(&self.transaction_get, path)
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

/// Returns a copy of a request with another body.
fn with_body(template: &Request, body: Bytes) -> Request {
    let mut request = template.clone();
    *request.body_mut() = body.into();
    request
}

/// Returns a copy of a request for another path.
fn with_path(template: &Request, path: &str) -> Request {
    let mut request = template.clone();
    *request.uri_mut() = path.parse().expect("a path of hashes and addresses");
    request
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::plan;
    use http_body_util::BodyExt as _;
    use ledger_crypto::Ed25519PrivateKey;
    use ledger_types::AccountAddress;
    use std::collections::VecDeque;
    use std::sync::Arc;

    fn endpoint() -> Endpoint {
        Endpoint::plain("127.0.0.1:1".to_owned())
    }

    /// Returns a submission, a request for its transaction, and another GET request.
    fn requests(plan: &Plan) -> [Request; 3] {
        let requests = Requests::new(plan, &endpoint());
        let protector = ReplayProtector::SequenceNumber(0);
        let account = SendingAccount {
            signer: signer::Signer::new(Ed25519PrivateKey::from_seed(&[1; 32])),
            next_protector: protector,
            recipient: AccountAddress::ONE,
            signed_in_advance: VecDeque::new(),
        };
        let transfer = requests.sign(plan, &account, protector);
        [
            requests.submission(&transfer),
            requests.transaction_get("/v1/transactions/by_hash/0x1"),
            requests.get("/v1"),
        ]
    }

    /// Returns the `Accept` fields of [`requests`].
    fn accept_fields(format: SubmissionFormat) -> [String; 3] {
        requests(&Plan { format, ..plan() })
            .map(|request| request.headers()[ACCEPT].to_str().unwrap().to_owned())
    }

    /// Returns the body of a batch of `count` transfers, each with a body of its own number.
    async fn batch_body(format: SubmissionFormat, count: u8) -> Bytes {
        let requests = Requests::new(&Plan { format, ..plan() }, &endpoint());
        let transfer = |number: u8| SignedTransfer {
            protector: ReplayProtector::SequenceNumber(0),
            hash: ledger_crypto::HashValue::ZERO,
            body: vec![number].into(),
        };
        let transfers: Vec<_> = (0..count).map(transfer).collect();
        let body = requests.batch(transfers.iter()).into_body().collect().await;
        body.unwrap().to_bytes()
    }

    #[tokio::test]
    async fn writes_a_batch_as_a_bcs_vector() {
        for count in [1, 127, 128, 200] {
            let elements: Vec<u8> = (0..count).collect();
            let expected = bcs::to_bytes(&elements).unwrap();
            assert_eq!(batch_body(SubmissionFormat::Bcs, count).await, expected);
        }
    }

    #[tokio::test]
    async fn writes_a_batch_as_a_json_array() {
        let json = || SubmissionFormat::Json(Arc::new(|_| String::new()));
        assert_eq!(batch_body(json(), 1).await, "[\0]");
        assert_eq!(batch_body(json(), 3).await, "[\0,\x01,\x02]");
    }

    #[test]
    fn accepts_transactions_in_the_format_of_submissions() {
        assert_eq!(accept_fields(SubmissionFormat::Bcs), [BCS, BCS, JSON]);
    }

    #[test]
    fn accepts_only_json_if_submissions_are_json() {
        let format = SubmissionFormat::Json(Arc::new(|_| "{}".to_owned()));
        assert_eq!(accept_fields(format), [JSON; 3]);
    }

    #[test]
    fn adds_the_timeout_to_submissions_that_wait() {
        for (commit_wait, path) in [
            (CommitWait::LongPolls, "/v1/transactions"),
            (CommitWait::InSubmission, "/v1/transactions?timeout_ms=5000"),
        ] {
            let [submission, ..] = requests(&Plan {
                commit_wait,
                ..plan()
            });
            assert_eq!(submission.method(), Method::POST);
            assert_eq!(*submission.uri(), path);
        }
    }
}
