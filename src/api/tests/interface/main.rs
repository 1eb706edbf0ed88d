//! The rules of the interface document over HTTP: a module for each section and a test for each
//! rule. The module `table` compares `tests/interface.md` with the declared responses and with
//! these tests.
//!
//! `tests/http` has the tests that need more than a few requests, such as races and restarts.

mod chain;
mod examples;
mod framing;
mod head;
#[path = "../http/kit/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "the kit also serves tests/http, which uses all of it"
)]
mod kit;
mod min_version;
mod rows;

mod s1_service;
mod s2_10_headers;
mod s2_1_scalar_types;
mod s2_2_payloads;
mod s2_3_signatures;
mod s2_4_submissions;
mod s2_5_pending_transactions;
mod s2_6_blocks;
mod s2_7_events;
mod s2_8_summaries;
mod s2_9_other_values;
mod s3_states;
mod s4_0_all_endpoints;
mod s4_1_submit;
mod s4_2_block_by_height;
mod s4_3_events_by_handle;
mod s4_4_events_by_creation_number;
mod s4_5_wait_by_hash;
mod s4_6_summaries;
mod s4_7_raw_item;
mod s4_8_balance;
mod s5_authentication;
mod s6_events;
mod s7_errors;
mod s8_limits;
mod s9_versioning;

mod submit_and_wait;
mod table;
mod verdicts;
mod wait_many;
