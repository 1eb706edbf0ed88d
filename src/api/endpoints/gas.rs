//! What a transaction should pay for a gas unit.

use crate::{answer::Answer, call::Call, error::ApiError, wire::GasEstimateBcs};

/// `GET /v1/estimate_gas_price`
pub(crate) async fn estimate(call: Call) -> Result<Answer, ApiError> {
    let estimate = call.node().gas_estimate().await?;
    let ledger_info = *call.node().head().ledger_info();
    let bcs = || GasEstimateBcs {
        gas_estimate: estimate.gas_estimate,
    };
    call.answer(ledger_info, || &estimate, bcs)
}
