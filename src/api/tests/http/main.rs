//! The interface over HTTP, against nodes of its own on free ports.

mod batch;
mod blocks;
mod browsers;
mod encoding;
mod events;
mod groups;
mod kit;
mod limits;
mod listings;
mod orderless;
mod programs;
mod refusals;
mod resources;
mod routes;
mod signature_lanes;
mod signing;
mod simulations;
mod submissions;
mod summaries;
mod tables;
mod validation;
mod validation_multisig;
mod validation_pool;
mod views;
