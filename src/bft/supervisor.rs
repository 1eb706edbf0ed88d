//! The supervisor of the engine's actors, which records the reason that the engine stopped.
//!
//! It stands for the engine's own supervisor, which only logs its reasons: that one stays alive
//! after a failure of the log, and sets a metric.

use crate::status::{StopReason, Stopper};
use arc_malachitebft_app_channel::app::engine::node::{NodeMsg, NodeRef};
use ractor::{
    Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent, async_trait,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Part of the error of the actor `consensus` if the log cannot begin a height. The engine does not
/// report it as a failure of the log, because nothing was signed for that height.
const LOG_NOT_BEGUN: &str = "wal_fetch";

/// The actors of the engine by their names.
#[derive(Clone)]
pub struct Family {
    node: NodeRef,
    names: Names,
}

type Names = Arc<Mutex<BTreeMap<ActorId, &'static str>>>;

struct Supervisor {
    stopper: Stopper,
    names: Names,
}

/// Starts the supervisor.
///
/// # Errors
///
/// None are known: the supervisor's start does nothing.
pub async fn spawn_supervisor(stopper: Stopper) -> Result<Family, ractor::SpawnErr> {
    let names = Names::default();
    let supervisor = Supervisor {
        stopper,
        names: names.clone(),
    };
    let (node, _) = Actor::spawn(None, supervisor, ()).await?;
    Ok(Family { node, names })
}

impl Family {
    /// Returns the supervisor, to which the engine reports a failure of its log.
    pub fn node(&self) -> NodeRef {
        self.node.clone()
    }

    /// Makes an actor's end the end of the engine.
    pub fn adopt<M>(&self, name: &'static str, actor: &ActorRef<M>) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.insert(actor.get_id(), name);
        drop(names);
        actor.link(self.node.get_cell());
    }

    /// Stops all actors.
    pub fn stop(&self) {
        self.node.get_cell().stop_children(None);
        self.node.stop(None);
    }
}

impl Supervisor {
    fn name(&self, actor: &ActorCell) -> &'static str {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(&actor.get_id()).copied().unwrap_or("actor")
    }
}

#[async_trait]
impl Actor for Supervisor {
    type Msg = NodeMsg;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: NodeRef, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        _: NodeRef,
        message: NodeMsg,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let NodeMsg::SafetyFailure(reason) = message;
        self.stopper.stop(StopReason::Log(reason));
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        _: NodeRef,
        event: SupervisionEvent,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let (actor, reason) = match event {
            SupervisionEvent::ActorTerminated(actor, _, reason) => {
                (actor, reason.unwrap_or_else(|| "it ended".into()))
            }
            SupervisionEvent::ActorFailed(actor, error) => (actor, error.to_string()),
            SupervisionEvent::ActorStarted(_) | SupervisionEvent::ProcessGroupChanged(_) => {
                return Ok(());
            }
        };
        self.stopper.stop(match reason.contains(LOG_NOT_BEGUN) {
            true => StopReason::Log(reason),
            false => StopReason::Actor {
                name: self.name(&actor),
                reason,
            },
        });
        Ok(())
    }
}
