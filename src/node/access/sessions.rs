//! Sessions of browsers that have logged in to the admin listener.
//!
//! A session is looked up by the hash of its id, so the duration of a look-up reveals nothing about
//! the ids, and a copy of the memory's table holds none. Sessions end with the process.

use ledger_crypto::HashValue;
use std::{
    collections::HashMap,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};
use subtle::ConstantTimeEq as _;

/// Maximum number of sessions. Beyond it, the one that was unused for longest ends: only clients
/// with the token start sessions.
pub const SESSIONS_MAX: usize = 1_000;
/// Time without use after which a session ends. An open page of the console uses it.
pub const IDLE_MAX: Duration = Duration::from_secs(3_600);
/// Time after its begin at which a session ends: a working day.
pub const AGE_MAX: Duration = Duration::from_secs(12 * 3_600);

/// Number of random bytes in a session id and in a CSRF token.
const SECRET_BYTES: usize = 32;

/// Number of bytes of a session's hash in the log.
const NAME_BYTES: usize = 4;

/// Random text that a client cannot guess.
#[derive(Clone)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Draws a secret.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no random numbers.
    pub fn draw() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; SECRET_BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(hex::encode(bytes).into()))
    }

    /// Returns the text, for the client that the secret belongs to.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Compares the secret in a time that reveals its length only.
    pub fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Name of a session in the log, from which its id cannot be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionName(HashValue);

/// Writes the first bytes of the hash, which suffice to tell sessions apart.
impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0.as_bytes()[..NAME_BYTES]))
    }
}

/// A session that has not ended.
#[derive(Debug)]
struct Session {
    csrf_token: Secret,
    begun: Instant,
    used: Instant,
}

impl Session {
    fn has_ended(&self, now: Instant) -> bool {
        let since = |time| now.saturating_duration_since(time);
        since(self.used) >= IDLE_MAX || since(self.begun) >= AGE_MAX
    }
}

/// The sessions, by the hash of their id.
#[derive(Debug, Default)]
pub struct Sessions(HashMap<HashValue, Session>);

impl Sessions {
    /// Begins a session at `now`, and returns its id.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no random numbers. No session begins then.
    pub fn begin(&mut self, now: Instant) -> Result<Secret, getrandom::Error> {
        let (id, csrf_token) = (Secret::draw()?, Secret::draw()?);
        if self.0.len() >= SESSIONS_MAX {
            self.0.retain(|_, session| !session.has_ended(now));
        }
        if self.0.len() >= SESSIONS_MAX {
            let unused = self.0.iter().min_by_key(|(_, session)| session.used);
            if let Some(hash) = unused.map(|(hash, _)| *hash) {
                self.0.remove(&hash);
            }
        }
        let session = Session {
            csrf_token,
            begun: now,
            used: now,
        };
        self.0.insert(hash_of(id.expose()), session);
        Ok(id)
    }

    /// Returns name and CSRF token of the session with this id, and records its use at `now`.
    /// Returns `None` if there is none or it has ended.
    pub fn find(&mut self, id: &str, now: Instant) -> Option<(SessionName, Secret)> {
        let name = SessionName(hash_of(id));
        let session = self.used(name, now)?;
        Some((name, session.csrf_token.clone()))
    }

    /// Returns whether a session has not ended, and records its use at `now`.
    pub fn has(&mut self, name: SessionName, now: Instant) -> bool {
        self.used(name, now).is_some()
    }

    /// Returns a session that has not ended, and records its use at `now`.
    fn used(&mut self, SessionName(hash): SessionName, now: Instant) -> Option<&Session> {
        if self.0.get(&hash)?.has_ended(now) {
            self.0.remove(&hash);
            return None;
        }
        let session = self.0.get_mut(&hash)?;
        session.used = session.used.max(now);
        Some(session)
    }

    /// Ends the session with this id.
    pub fn end(&mut self, id: &str) {
        self.0.remove(&hash_of(id));
    }

    /// Ends all sessions.
    pub fn end_all(&mut self) {
        self.0.clear();
    }
}

fn hash_of(id: &str) -> HashValue {
    HashValue::sha3_of(&[id.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn ends_sessions_that_are_idle_or_old() {
        let begun = Instant::now();
        let mut sessions = Sessions::default();
        let idle = sessions.begin(begun).unwrap();
        assert!(
            sessions
                .find(idle.expose(), begun + IDLE_MAX - SECOND)
                .is_some()
        );
        let end = begun + IDLE_MAX - SECOND + IDLE_MAX;
        assert!(sessions.find(idle.expose(), end).is_none());

        let used = sessions.begin(begun).unwrap();
        let mut now = begun;
        while now < begun + AGE_MAX {
            assert!(sessions.find(used.expose(), now).is_some());
            now += IDLE_MAX / 2;
        }
        assert!(sessions.find(used.expose(), now).is_none());
        assert!(sessions.0.is_empty(), "ended sessions take memory");
    }

    #[test]
    fn ends_the_session_that_was_unused_for_longest_if_there_are_too_many() {
        let begun = Instant::now();
        let mut sessions = Sessions::default();
        let first = sessions.begin(begun).unwrap();
        let second = sessions.begin(begun + SECOND).unwrap();
        for _ in 2..SESSIONS_MAX {
            sessions.begin(begun + 2 * SECOND).unwrap();
        }
        assert!(sessions.find(first.expose(), begun + 3 * SECOND).is_some());
        sessions.begin(begun + 4 * SECOND).unwrap();
        assert_eq!(sessions.0.len(), SESSIONS_MAX);
        assert!(sessions.find(second.expose(), begun + 4 * SECOND).is_none());
        assert!(sessions.find(first.expose(), begun + 4 * SECOND).is_some());
    }

    #[test]
    fn draws_ids_that_neither_table_nor_debug_output_show() {
        let mut sessions = Sessions::default();
        let now = Instant::now();
        let (one, other) = (sessions.begin(now).unwrap(), sessions.begin(now).unwrap());
        assert_ne!(one.expose(), other.expose());
        assert_eq!(one.expose().len(), 2 * SECRET_BYTES);
        let shown = format!("{sessions:?} {one:?}");
        assert!(!shown.contains(one.expose()), "{shown}");
        let (_, csrf_token) = sessions.find(one.expose(), now).unwrap();
        assert!(csrf_token.is(csrf_token.expose()) && !csrf_token.is(one.expose()));
        assert!(!shown.contains(csrf_token.expose()), "{shown}");
    }
}
