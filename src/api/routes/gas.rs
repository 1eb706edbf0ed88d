//! What a transaction should pay for a gas unit.

use crate::{
    context::{LedgerResponse, RequestContext},
    error::ApiError,
    model::bcs::GasEstimateBcs,
};
use ledger_actors::GasEstimate;
use schemars::JsonSchema;
use serde::Serialize;

/// Gas unit prices, in the coin's smallest unit. Numbers, as in the reference.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GasEstimateJson {
    /// For who can wait.
    deprioritized_gas_estimate: u64,
    /// For who cannot wait long.
    gas_estimate: u64,
    /// For who cannot wait.
    prioritized_gas_estimate: u64,
}

impl From<GasEstimate> for GasEstimateJson {
    fn from(estimate: GasEstimate) -> Self {
        Self {
            deprioritized_gas_estimate: estimate.deprioritized_gas_estimate,
            gas_estimate: estimate.gas_estimate,
            prioritized_gas_estimate: estimate.prioritized_gas_estimate,
        }
    }
}

/// `GET /v1/estimate_gas_price`
pub(crate) async fn estimate(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let estimate = cx.node().gas_estimate().await?;
    let ledger_info = *cx.node().head().ledger_info();
    let bcs = || GasEstimateBcs {
        gas_estimate: estimate.gas_estimate,
    };
    cx.answer(ledger_info, || GasEstimateJson::from(estimate), bcs)
}
