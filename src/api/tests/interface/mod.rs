//! The rules of the interface document over HTTP: a module for each subject and a test for each
//! rule. The module `table` compares these tests with the declared responses.
//!
//! `tests/http` has the tests that need more than a few requests, such as races and restarts.

mod all_endpoints;
mod authentication;
mod balance;
mod balances_and_items;
mod block_by_height;
mod block_certificate;
mod blocks;
mod chain;
mod errors;
mod event_pages;
mod event_streams;
mod events;
mod events_by_creation_number;
mod events_by_handle;
mod examples;
mod framing;
mod head;
mod headers;
mod limits;
mod min_version;
mod payloads;
mod pending_transactions;
mod raw_item;
mod rows;
mod scalar_types;
mod service;
mod signatures;
mod submission_bodies;
mod submit;
mod submit_and_wait;
mod summaries;
mod table;
mod transaction_states;
mod transaction_summaries;
mod verdicts;
mod versioning;
mod wait_by_hash;
mod wait_many;
