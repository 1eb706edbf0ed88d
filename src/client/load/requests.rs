//! Requests as bytes on the wire, and transfers in the two forms of a submission.

use super::{Format, funding::BenchAccount, plan::Plan, target::Target};
use ledger::{Chain, HashValue, ReplayProtector, SignedTransaction};
use ledger_api::submission_json;
use ledger_client::{
    signer::{self, Terms},
    submission_media_type,
};
use std::{io::Write as _, time::Duration};

/// Media types of answers.
const JSON: &str = "application/json";
const BCS: &str = "application/x-bcs";
/// What each transfer pays.
const AMOUNT: u64 = 1;
/// The gas units that a transfer allows itself: many times what one uses.
pub const MAX_GAS_AMOUNT: u64 = 2_000;
/// When an orderless transfer expires: a chain takes those only that expire within 100 s.
const ORDERLESS_EXPIRES_AFTER: Duration = Duration::from_secs(60);

/// How requests are written, for one node and its chain.
#[derive(Debug)]
pub struct Form {
    format: Format,
    chain: Chain,
    /// The head of a submission up to the length of its body.
    submission_head: Vec<u8>,
    /// What follows the path of a question that is answered in JSON.
    question_tail: Vec<u8>,
    /// What follows the path of a question for a transaction.
    look_tail: Vec<u8>,
}

/// A transfer, signed.
#[derive(Debug)]
pub struct Transfer {
    pub protector: ReplayProtector,
    pub hash: HashValue,
    body: Box<[u8]>,
}

impl Form {
    /// How `plan` has requests written for the node at `target`.
    pub fn new(plan: &Plan, target: &Target) -> Self {
        let host = target.authority();
        let media_type = match plan.format {
            Format::Bcs => submission_media_type(&plan.chain.vendor),
            Format::Json => JSON.to_owned(),
        };
        let accept = match plan.format {
            Format::Bcs => BCS,
            Format::Json => JSON,
        };
        let submission_head = format!(
            "POST /v1/transactions HTTP/1.1\r\nhost: {host}\r\ncontent-type: {media_type}\r\n\
             accept: {accept}\r\ncontent-length: "
        );
        let tail = |accept| format!(" HTTP/1.1\r\nhost: {host}\r\naccept: {accept}\r\n\r\n");
        Self {
            format: plan.format,
            chain: plan.chain.to_chain(),
            submission_head: submission_head.into(),
            question_tail: tail(JSON).into(),
            look_tail: tail(accept).into(),
        }
    }

    /// Signs the transfer of an account that `protector` protects.
    pub fn sign(
        &self,
        plan: &Plan,
        account: &BenchAccount,
        protector: ReplayProtector,
    ) -> Transfer {
        let expires_after = match protector {
            ReplayProtector::SequenceNumber(_) => plan.expires_after,
            ReplayProtector::Nonce(_) => ORDERLESS_EXPIRES_AFTER,
        };
        let terms = Terms {
            max_gas_amount: MAX_GAS_AMOUNT,
            gas_unit_price: plan.gas_unit_price,
            expiration_timestamp_secs: signer::unix_secs_after(expires_after),
        };
        let call = signer::transfer(&plan.chain.vendor, account.pays, AMOUNT);
        let signed = account.signer.sign(&plan.chain, protector, call, terms);
        Transfer {
            protector,
            hash: signed.hash(&plan.chain.vendor),
            body: self.body(&signed).into(),
        }
    }

    fn body(&self, transaction: &SignedTransaction) -> Vec<u8> {
        match self.format {
            Format::Bcs => bcs::to_bytes(transaction).expect("a transaction has a BCS form"),
            Format::Json => submission_json(&self.chain, transaction).into(),
        }
    }

    /// Writes the submission of a transfer over `request`.
    pub fn submission(&self, transfer: &Transfer, request: &mut Vec<u8>) {
        request.clear();
        request.extend_from_slice(&self.submission_head);
        // Writing to a vector does not fail.
        let _ = write!(request, "{}\r\n\r\n", transfer.body.len());
        request.extend_from_slice(&transfer.body);
    }

    /// Writes the question for `path`, which is answered in JSON, over `request`.
    pub fn question(&self, path: &str, request: &mut Vec<u8>) {
        get(path, &self.question_tail, request);
    }

    /// Writes the question for the transaction at `path` over `request`: its answer has the form of the submissions.
    pub fn look(&self, path: &str, request: &mut Vec<u8>) {
        get(path, &self.look_tail, request);
    }
}

fn get(path: &str, tail: &[u8], request: &mut Vec<u8>) {
    request.clear();
    request.extend_from_slice(b"GET ");
    request.extend_from_slice(path.as_bytes());
    request.extend_from_slice(tail);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::bench::plan::tests::plan;
    use ledger::{AccountAddress, crypto::Ed25519PrivateKey};
    use std::collections::VecDeque;

    /// What is asked for in a submission, a look for its transaction and another question.
    fn accepted(format: Format) -> [String; 3] {
        let plan = Plan { format, ..plan() };
        let form = Form::new(&plan, &Target::parse("http://127.0.0.1:1").unwrap());
        let protector = ReplayProtector::SequenceNumber(0);
        let account = BenchAccount {
            signer: signer::Signer::new(Ed25519PrivateKey::from_seed(&[1; 32])),
            next: protector,
            pays: AccountAddress::ONE,
            signed: VecDeque::new(),
        };
        let transfer = form.sign(&plan, &account, protector);
        let mut requests = [Vec::new(), Vec::new(), Vec::new()];
        form.submission(&transfer, &mut requests[0]);
        form.look("/v1/transactions/by_hash/0x1", &mut requests[1]);
        form.question("/v1", &mut requests[2]);
        requests.map(|request| {
            let request = String::from_utf8_lossy(&request);
            let mut lines = request.lines();
            let accept = lines.find_map(|line| line.strip_prefix("accept: "));
            accept.unwrap_or_default().to_owned()
        })
    }

    #[test]
    fn answers_about_transfers_have_the_form_of_the_submissions_and_others_are_json() {
        assert_eq!(accepted(Format::Bcs), [BCS, BCS, JSON]);
        assert_eq!(accepted(Format::Json), [JSON; 3]);
    }
}
