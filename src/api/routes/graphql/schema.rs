//! What can be asked: types and names are those of the indexer, as its clients write them into their
//! queries.

use super::timestamp;
use async_graphql::{
    Context, EmptyMutation, EmptySubscription, InputObject, Object, Result, Schema, SimpleObject,
    scalar,
};
use ledger_types::LedgerInfo;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// The programs of an indexer whose data this node serves itself, at every version that it has committed:
/// transactions, blocks and items of tables (`default_processor`, `user_transaction_processor`), those of an
/// account, events, balances, and the resources of objects. What others derive it does not have: tokens and
/// collections, stakes, the accounts of a key.
const PROCESSORS: [&str; 6] = [
    "account_transactions_processor",
    "default_processor",
    "events_processor",
    "fungible_asset_processor",
    "objects_processor",
    "user_transaction_processor",
];

/// How many fields a query may ask for, aliases of type names not counted: the size of the body bounds those.
/// All that there are, several times.
const FIELDS_MAX: usize = 32;
/// How deep fields may lie in one another: a column in the list.
const DEPTH_MAX: usize = 2;
/// How many directives a field may have. There are two: `@skip` and `@include`.
const DIRECTIVES_MAX: usize = 2;

/// The schema; a request carries the [`LedgerInfo`] that it is answered with.
pub(super) static SCHEMA: LazyLock<Schema<QueryRoot, EmptyMutation, EmptySubscription>> =
    LazyLock::new(|| {
        Schema::build(QueryRoot, EmptyMutation, EmptySubscription)
            .disable_introspection()
            .disable_suggestions()
            .limit_complexity(FIELDS_MAX)
            .limit_depth(DEPTH_MAX)
            .limit_recursive_depth(DEPTH_MAX)
            .limit_directives(DIRECTIVES_MAX)
            .finish()
    });

/// A version.
#[derive(Serialize, Deserialize)]
struct BigInt(u64);
scalar!(BigInt, "bigint");

/// A moment in UTC.
#[derive(Serialize, Deserialize)]
struct Timestamp(String);
scalar!(Timestamp, "timestamp");

/// How far a program of an indexer is.
#[derive(SimpleObject)]
#[graphql(name = "processor_status", rename_fields = "snake_case")]
struct ProcessorStatus {
    last_success_version: BigInt,
    processor: &'static str,
    last_updated: Timestamp,
}

/// Which programs are asked for.
#[derive(InputObject)]
#[graphql(name = "processor_status_bool_exp", rename_fields = "snake_case")]
struct ProcessorStatusCondition {
    processor: Option<TextCondition>,
}

/// Which texts are asked for; all conditions must hold.
#[derive(InputObject)]
#[graphql(name = "String_comparison_exp")]
struct TextCondition {
    #[graphql(name = "_eq")]
    equal: Option<String>,
    #[graphql(name = "_in")]
    among: Option<Vec<String>>,
}

impl TextCondition {
    fn holds(&self, text: &str) -> bool {
        let is_equal = self.equal.as_deref().is_none_or(|equal| equal == text);
        let mut among = self.among.iter();
        is_equal && among.all(|among| among.iter().any(|one| one == text))
    }
}

/// Where queries begin.
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
        let is_meant =
            |processor: &&str| condition.as_ref().is_none_or(|text| text.holds(processor));
        let statuses = PROCESSORS
            .into_iter()
            .filter(is_meant)
            .map(|processor| ProcessorStatus {
                last_success_version: BigInt(ledger_info.version),
                processor,
                last_updated: Timestamp(timestamp::text(ledger_info.timestamp_usecs)),
            });
        Ok(statuses.collect())
    }
}
