//! What each route does, one file per resource. A handler reads its parameters, asks the node, and
//! says how the answer looks; everything else is the same for all and lies around it.

pub(crate) mod accounts;
pub(crate) mod auxiliary_info;
pub(crate) mod batch;
pub(crate) mod blocks;
pub(crate) mod encode_submission;
pub(crate) mod events;
pub(crate) mod gas;
pub(crate) mod graphql;
pub(crate) mod health;
pub(crate) mod index;
pub(crate) mod info;
pub(crate) mod listings;
pub(crate) mod modules;
pub(crate) mod resources;
pub(crate) mod simulate;
pub(crate) mod spec;
pub(crate) mod state_values;
pub(crate) mod submit;
pub(crate) mod summaries;
pub(crate) mod tables;
pub(crate) mod transactions;
pub(crate) mod view;
