//! Options of a chain.

/// Options of a chain.
#[derive(Clone, Debug)]
pub struct Options {
    /// Time of the clock at the start, in seconds since the Unix epoch.
    pub start_secs: u64,
    /// Number of funded accounts.
    pub accounts: u16,
    /// Chain id.
    pub chain_id: u8,
    /// Vendor word, which signatures contain.
    pub vendor: String,
    /// Minimum gas unit price, in the coin's smallest unit.
    pub gas_unit_price_min: u64,
    /// Whether new stores of a coin get event handles, which the event routes of accounts read.
    pub coin_event_handles: bool,
}

impl Default for Options {
    /// Returns the options of a chain for the unmodified SDKs of the Aptos ecosystem, as
    /// `config/sdk.toml` has them, that starts at the time of the system.
    fn default() -> Self {
        Self {
            start_secs: ledger_test_support::now_secs(),
            accounts: 5,
            chain_id: 4,
            vendor: "APTOS".to_owned(),
            gas_unit_price_min: 10,
            coin_event_handles: false,
        }
    }
}
