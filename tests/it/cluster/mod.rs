//! Four validators on one machine order the same ledger, and full nodes follow them.
//!
//! | subject | file |
//! |---|---|
//! | the processes | `kit.rs` |
//! | commits while all validators run and without some of them | `commits.rs` |
//! | transactions that travel between the nodes, look-ups at any node | `relay.rs` |
//! | full nodes, and the admission of further ones | `full_nodes.rs`, `add_full_node.rs` |
//! | validators that lost the record of their votes | `votes.rs` |
//! | a validator with a changed balance in its store | `changed_state.rs` |
//! | certificates, health, metrics and the log | `observed.rs` |
//! | kills, pauses and wrong clocks under load, and how to run more of them | `faults.rs` |
//! | the plan of the faults, drawn from a seed | `plan.rs` |
//! | the clients and what they saw | `load.rs`, `history.rs` |
//! | namespaces with delay, loss and partitions between them | `network.rs` |
//! | the load balancer in front of the nodes | `balancer.rs` |
//! | the comparison of all chains with it | `checker.rs` |

mod add_full_node;
#[cfg(target_os = "linux")]
mod balancer;
mod changed_state;
#[cfg(target_os = "linux")]
mod checker;
mod commits;
#[cfg(target_os = "linux")]
mod faults;
mod full_nodes;
#[cfg(target_os = "linux")]
mod history;
pub mod kit;
#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod network;
mod observed;
#[cfg(target_os = "linux")]
mod plan;
mod relay;
mod status;
mod votes;
