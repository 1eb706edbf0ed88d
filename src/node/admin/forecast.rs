//! The forecast of the time at which the ledger has no more space.

use std::sync::{Arc, Mutex, PoisonError};

/// The latest forecast, which the monitor of the disk space publishes. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct StorageForecast(Arc<Mutex<Option<f64>>>);

impl StorageForecast {
    /// Publishes the seconds until the ledger has no more space: infinity if it does not grow,
    /// `None` if its growth is unknown.
    pub fn set(&self, seconds: Option<f64>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = seconds;
    }

    /// Returns the latest forecast.
    pub fn seconds(&self) -> Option<f64> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
