//! The interface over HTTP, against nodes of its own on free ports.

mod blocks;
mod events;
mod groups;
mod kit;
mod limits;
mod listings;
mod programs;
mod refusals;
mod routes;
mod simulations;
mod submissions;
mod summaries;
mod tables;
mod views;
