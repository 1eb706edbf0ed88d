//! Section 7: errors. What follows from a route's own rules is in the module of its section and in
//! `companions`; here is what holds for every route, and each code once by its status.

mod bare;
mod body;
mod broken_store;
mod companions;
mod pruned;
mod requests;
mod switched_off;
mod taken_by_a_block;
