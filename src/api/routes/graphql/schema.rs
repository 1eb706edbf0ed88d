//! GraphQL schema of `processor_status`.
//!
//! Types and names are those of the indexer, because clients write them into their queries.

use super::timestamp;
use async_graphql::{
    Context, EmptyMutation, EmptySubscription, InputObject, Object, Result, Schema, SimpleObject,
    scalar,
};
use ledger_types::LedgerInfo;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Names of the indexer's processors for which this node has the data, at every committed version.
///
/// These data are transactions, blocks, and table items (`default_processor`,
/// `user_transaction_processor`), transactions of an account, events, balances, and resources of
/// objects. The node does not have the data that other processors derive: tokens and collections,
/// stakes, and the accounts of a key.
const PROCESSORS: [&str; 6] = [
    "account_transactions_processor",
    "default_processor",
    "events_processor",
    "fungible_asset_processor",
    "objects_processor",
    "user_transaction_processor",
];

/// Maximum number of fields in a query: several times the number of fields in the schema. Aliases
/// of `__typename` do not count. The size of the body bounds them.
const FIELDS_MAX: usize = 32;
/// Maximum number of directives of a field. There are two, `@skip` and `@include`.
const DIRECTIVES_MAX: usize = 2;

/// The schema. The data of a request includes the [`LedgerInfo`] of its response.
pub(super) static SCHEMA: LazyLock<Schema<QueryRoot, EmptyMutation, EmptySubscription>> =
    LazyLock::new(|| {
        Schema::build(QueryRoot, EmptyMutation, EmptySubscription)
            .disable_introspection()
            .disable_suggestions()
            .limit_complexity(FIELDS_MAX)
            .limit_directives(DIRECTIVES_MAX)
            .finish()
    });

/// A ledger version.
#[derive(Serialize, Deserialize)]
struct BigInt(u64);
scalar!(BigInt, "bigint");

/// A time in UTC.
#[derive(Serialize, Deserialize)]
struct Timestamp(String);
scalar!(Timestamp, "timestamp");

/// Progress of a processor of the indexer.
#[derive(SimpleObject)]
#[graphql(name = "processor_status", rename_fields = "snake_case")]
struct ProcessorStatus {
    last_success_version: BigInt,
    processor: &'static str,
    last_updated: Timestamp,
}

/// A condition on processors.
#[derive(InputObject)]
#[graphql(name = "processor_status_bool_exp", rename_fields = "snake_case")]
struct ProcessorStatusCondition {
    processor: Option<TextCondition>,
}

/// A condition on a string. All parts that are present must hold.
#[derive(InputObject)]
#[graphql(name = "String_comparison_exp")]
struct TextCondition {
    #[graphql(name = "_eq")]
    equal: Option<String>,
    #[graphql(name = "_in")]
    among: Option<Vec<String>>,
}

impl TextCondition {
    fn matches(&self, text: &str) -> bool {
        let is_equal = self.equal.as_deref().is_none_or(|equal| equal == text);
        let mut among = self.among.iter();
        is_equal && among.all(|among| among.iter().any(|value| value == text))
    }
}

/// The root of all queries.
pub(super) struct QueryRoot;

#[Object(name = "query_root", rename_fields = "snake_case")]
impl QueryRoot {
    async fn processor_status(
        &self,
        context: &Context<'_>,
        #[graphql(name = "where")] condition: Option<ProcessorStatusCondition>,
    ) -> Result<Vec<ProcessorStatus>> {
        let ledger_info = context.data::<LedgerInfo>()?;
        let condition = condition.and_then(|condition| condition.processor);
        let is_selected = |processor: &&str| {
            condition
                .as_ref()
                .is_none_or(|text| text.matches(processor))
        };
        let statuses =
            PROCESSORS
                .into_iter()
                .filter(is_selected)
                .map(|processor| ProcessorStatus {
                    last_success_version: BigInt(ledger_info.version),
                    processor,
                    last_updated: Timestamp(timestamp::format_usecs(ledger_info.timestamp_usecs)),
                });
        Ok(statuses.collect())
    }
}
