//! Actors and their messages.

/// A message to an actor.
pub(crate) trait ActorMessage: Send + 'static {
    /// Name of the message in metrics, which operators see: that of the type in snake case.
    const LABEL: &'static str;

    /// Returns the number of requests as which the message counts while it waits in a mailbox.
    fn request_count(&self) -> usize {
        1
    }
}

/// State behind a mailbox. Messages change it one after the other.
pub(crate) trait Actor: Send + Unpin + Sized + 'static {
    /// Name of the actor in metrics, settings and error messages.
    const NAME: &'static str;

    /// Setting of the capacity of the actor's mailbox.
    const CAPACITY: &'static str;

    /// Labels of the messages that the actor receives. A message whose label is missing here cannot
    /// be sent to the actor: the code does not compile.
    const LABELS: &'static [&'static str];

    /// Runs before the first message is handled.
    fn started(&mut self) {}
}

/// Handling of one type of message.
pub(crate) trait Handler<M: ActorMessage>: Actor {
    /// Handles a message within microseconds per request, without blocking and without touching the
    /// disk.
    fn handle(&mut self, message: M);
}

/// Returns the index of the label of `M` among the labels of `A`.
#[expect(
    clippy::panic,
    reason = "evaluated by the compiler, which reports it as an error"
)]
pub(super) const fn label_index<A: Actor, M: ActorMessage>() -> usize {
    let mut index = 0;
    while index < A::LABELS.len() {
        if is_equal(A::LABELS[index].as_bytes(), M::LABEL.as_bytes()) {
            return index;
        }
        index += 1;
    }
    panic!("the actor does not list the label of the message")
}

/// Returns whether two labels are equal. `==` is not available while the compiler evaluates.
const fn is_equal(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut index = 0;
    while index < one.len() {
        if one[index] != other[index] {
            return false;
        }
        index += 1;
    }
    true
}
