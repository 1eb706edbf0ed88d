//! What is said of each route, one file per resource, one function per route.
//!
//! To describe a route: a function that gives its [`Operation`], named by its row of the route table. The
//! tests of the interface hold it to what the node answers: an answer that it does not declare, a member of
//! JSON that its schema does not have, a parameter that it leaves out fail them.

pub(crate) mod accounts;
pub(crate) mod blocks;
pub(crate) mod events;
pub(crate) mod graphql;
pub(crate) mod node;
pub(crate) mod spec;
pub(crate) mod state_values;
pub(crate) mod submissions;
pub(crate) mod tables;
pub(crate) mod transactions;
pub(crate) mod view;

use crate::{
    error::ErrorCode,
    openapi::{
        StatusCode,
        errors::{self, documented_only, error},
        operation::{Media, Operation, Success, Tag},
        parameter,
        schemas::schema,
    },
};
use serde_json::{Value, json};
