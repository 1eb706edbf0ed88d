//! The state that the tasks of a relay share.

use crate::codec::Limits;
use crate::names::Names;
use crate::peers::{LogLimit, Peers};
use crate::settings::{Role, Settings, Times};
use crate::sizes;
use crate::status::{PanicGuard, Stopper};
use crate::tls::Tls;
use ledger_crypto::HashValue;
use ledger_limits::{ClientKeys, Limit};
use ledger_types::Vendor;
use std::rc::Rc;
use std::sync::Arc;

/// The parts of a relay that exist before its thread.
pub(crate) struct Parts {
    pub peers: Arc<Peers>,
    pub tls: Tls,
    pub names: Names,
    pub stopper: Stopper,
}

/// The state that the tasks of a relay share. All of them run on its thread.
pub(crate) struct Shared<N> {
    pub node: N,
    pub peers: Arc<Peers>,
    pub role: Role,
    pub genesis_hash: HashValue,
    pub vendor: Vendor,
    pub limits: Limits,
    pub client_keys: ClientKeys,
    pub times: Times,
    pub tls: Tls,
    pub names: Names,
    /// Look-ups that wait for answers of other nodes.
    pub lookups: Arc<Limit>,
    /// Log lines about connections that prove no peer's key.
    pub stranger_log: LogLimit,
    pub stopper: Stopper,
}

impl<N: 'static> Shared<N> {
    pub fn new(settings: Settings, role: Role, node: N, parts: Parts) -> Rc<Self> {
        Rc::new(Self {
            node,
            peers: parts.peers,
            role,
            genesis_hash: settings.genesis_hash,
            vendor: settings.vendor,
            limits: Limits::new(settings.transaction_bytes_max),
            client_keys: settings.client_keys,
            times: settings.times,
            tls: parts.tls,
            names: parts.names,
            lookups: Arc::new(Limit::new(sizes::FINDS_MAX)),
            stranger_log: LogLimit::default(),
            stopper: parts.stopper,
        })
    }

    /// Runs a task on the relay's thread. A panic of the task stops the relay.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        tokio::task::spawn_local(self.guarded(task));
    }

    /// Returns a task whose panic stops the relay.
    pub fn guarded(
        &self,
        task: impl Future<Output = ()> + 'static,
    ) -> impl Future<Output = ()> + 'static {
        let guard = PanicGuard(self.stopper.clone());
        async move {
            let _guard = guard;
            task.await;
        }
    }
}
