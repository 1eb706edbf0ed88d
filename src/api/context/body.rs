//! Bodies of responses, whose memory is leased before it is allocated.
//!
//! A body above [`PIECE_BYTES_MAX`] is a list of pieces. A single growing buffer would be copied
//! whenever it is full, and would hold up to three times its content meanwhile.

use crate::error::ErrorKind;
use actix_web::{
    HttpResponse, HttpResponseBuilder,
    body::{BodySize, BoxBody, MessageBody},
};
use bytes::Bytes;
use ledger_actors::Overload;
use ledger_limits::{ClientKey, MemoryBudget, MemoryLease, QueueFull, SMALL_LEASE_BYTES_MAX};
use serde::Serialize;
use std::{
    convert::Infallible,
    future::poll_fn,
    io,
    iter::once,
    pin::Pin,
    task::{Context, Poll},
};

/// Maximum size of a piece of a body, in bytes. A body of one piece is a small lease.
pub(crate) const PIECE_BYTES_MAX: usize = SMALL_LEASE_BYTES_MAX;

/// Name of the limit on the memory of responses that are made or unread, in error messages.
pub(crate) const ANSWERS_LIMIT: &str = "api.answers_bytes_max";

/// Initial capacity of a body, in bytes: most transactions and resources fit.
const FIRST_BYTES: usize = 4 * 1024;

/// Returns the error of a response for which the budget has no capacity.
pub(crate) fn answers_full(budget: &MemoryBudget) -> ErrorKind {
    Overload::brief(ANSWERS_LIMIT, budget.limit_bytes()).into()
}

/// A complete body: a list of pieces, and the lease of their memory if they were written by a
/// [`BodyWriter`].
#[derive(Debug)]
pub(crate) struct ResponseBody {
    first: Bytes,
    /// Separate from `first`, because most bodies are one piece and need no list.
    rest: Vec<Bytes>,
    lease: Option<MemoryLease>,
}

impl ResponseBody {
    /// Creates a body of pieces without a lease.
    pub fn from_pieces(pieces: Vec<Bytes>) -> Self {
        let mut pieces = pieces.into_iter();
        Self {
            first: pieces.next().unwrap_or_default(),
            rest: pieces.collect(),
            lease: None,
        }
    }

    /// Returns the pieces.
    pub fn pieces(&self) -> impl Iterator<Item = &Bytes> {
        once(&self.first).chain(&self.rest)
    }

    /// Returns the size, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.pieces().map(Bytes::len).sum()
    }

    /// Returns a copy of the content in one buffer of exactly its size.
    pub fn to_bytes(&self) -> Bytes {
        let mut all = Vec::with_capacity(self.size_bytes());
        for piece in self.pieces() {
            all.extend_from_slice(piece);
        }
        all.into()
    }

    /// Sets the body of a response. The lease becomes its extension [`ResponseLease`].
    pub fn set_on(self, builder: &mut HttpResponseBuilder) -> HttpResponse {
        let Self { first, rest, lease } = self;
        let mut response = if rest.is_empty() {
            builder.body(first)
        } else {
            builder.body(BoxBody::new(PiecesBody::new(once(first).chain(rest))))
        };
        if let Some(lease) = lease {
            response.extensions_mut().insert(ResponseLease(lease));
        }
        response
    }
}

impl From<Bytes> for ResponseBody {
    fn from(first: Bytes) -> Self {
        Self {
            first,
            rest: Vec::new(),
            lease: None,
        }
    }
}

/// An extension of a response: the lease of its body.
pub(crate) struct ResponseLease(pub MemoryLease);

/// A body that yields its pieces in order and drops each of them when it is taken.
pub(crate) struct PiecesBody {
    pieces: std::vec::IntoIter<Bytes>,
    remaining_bytes: u64,
}

impl PiecesBody {
    /// Creates the body of these pieces.
    pub fn new(pieces: impl IntoIterator<Item = Bytes>) -> Self {
        let pieces: Vec<_> = pieces.into_iter().collect();
        Self {
            remaining_bytes: pieces.iter().map(|piece| piece.len() as u64).sum(),
            pieces: pieces.into_iter(),
        }
    }
}

impl MessageBody for PiecesBody {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.remaining_bytes)
    }

    fn poll_next(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Infallible>>> {
        let this = self.get_mut();
        let piece = this.pieces.next();
        this.remaining_bytes -= piece.as_ref().map_or(0, |piece| piece.len() as u64);
        Poll::Ready(piece.map(Ok))
    }
}

/// Returns the pieces of a body.
///
/// # Errors
///
/// Returns the error of the body.
pub(crate) async fn pieces_of(
    mut body: BoxBody,
) -> Result<Vec<Bytes>, <BoxBody as MessageBody>::Error> {
    let mut pieces = Vec::new();
    while let Some(piece) = poll_fn(|context| Pin::new(&mut body).poll_next(context)).await {
        pieces.push(piece?);
    }
    Ok(pieces)
}

/// Pieces of a body with the lease of their memory.
#[derive(Debug)]
pub(crate) struct LeasedPieces {
    pub pieces: Vec<Bytes>,
    pub lease: MemoryLease,
}

/// A writer of a body. It leases the memory of each piece before it allocates it, and the memory of
/// the values that are about to be rendered.
#[derive(Debug)]
pub(crate) struct BodyWriter {
    budget: MemoryBudget,
    lease: MemoryLease,
    /// Part of the lease for values that are not rendered yet, in bytes.
    values_bytes: usize,
    pieces: Vec<Bytes>,
    piece: Vec<u8>,
    /// Leased capacity of `piece`, in bytes.
    leased_bytes: usize,
    /// Whether the budget had no capacity for the next piece.
    is_rejected: bool,
}

impl BodyWriter {
    /// Creates a writer of an empty body for `client`.
    pub fn new(budget: &MemoryBudget, client: ClientKey) -> Self {
        Self {
            lease: budget.lease(client),
            budget: budget.clone(),
            values_bytes: 0,
            pieces: Vec::new(),
            piece: Vec::new(),
            leased_bytes: 0,
            is_rejected: false,
        }
    }

    /// Returns the size of the budget, in bytes.
    pub fn budget_bytes(&self) -> usize {
        self.budget.limit_bytes()
    }

    /// Waits for `size_bytes` of memory, as [`MemoryLease::reserve`] does. They are held until the
    /// body is complete.
    ///
    /// # Errors
    ///
    /// Returns [`QueueFull`] if too many bodies wait.
    pub async fn reserve(&mut self, size_bytes: usize) -> Result<(), QueueFull<()>> {
        self.lease.reserve(size_bytes).await
    }

    /// Checks that the client has memory for a small value, before values are computed.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Overloaded`] if it has none.
    pub fn check_memory(&mut self) -> Result<(), ErrorKind> {
        self.lease_values(SMALL_LEASE_BYTES_MAX)?;
        self.release_values();
        Ok(())
    }

    /// Leases memory for values that are held until [`Self::release_values`].
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Overloaded`] if the budget has no capacity.
    pub fn lease_values(&mut self, size_bytes: usize) -> Result<(), ErrorKind> {
        if !self.lease.try_grow(size_bytes) {
            return Err(self.rejection());
        }
        self.values_bytes += size_bytes;
        Ok(())
    }

    /// Releases the memory of the values. Call it when they are dropped.
    pub fn release_values(&mut self) {
        let values_bytes = std::mem::take(&mut self.values_bytes);
        self.lease.shrink_to(self.lease.bytes() - values_bytes);
    }

    fn rejection(&self) -> ErrorKind {
        answers_full(&self.budget)
    }

    /// Returns whether a write has failed because the budget had no capacity.
    pub fn is_rejected(&self) -> bool {
        self.is_rejected
    }

    /// Appends a value as JSON.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Overloaded`] if the budget has no capacity, and
    /// [`ErrorKind::Internal`] if the value has no JSON form.
    pub fn write_json(&mut self, value: &impl Serialize) -> Result<(), ErrorKind> {
        serde_json::to_writer(&mut *self, value).map_err(|cause| match self.is_rejected {
            true => self.rejection(),
            false => ErrorKind::internal("writing the response as JSON failed", &cause),
        })
    }

    /// Appends the BCS that `write` writes.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Overloaded`] if the budget has no capacity, and
    /// [`ErrorKind::Internal`] for another error of `write`.
    pub fn write_bcs_with(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<(), bcs::Error>,
    ) -> Result<(), ErrorKind> {
        write(self).map_err(|cause| match self.is_rejected {
            true => self.rejection(),
            false => ErrorKind::internal("writing the response as BCS failed", &cause),
        })
    }

    /// Appends bytes.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Overloaded`] if the budget has no capacity.
    pub fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), ErrorKind> {
        // The only error of the writer is a lease that the budget rejects.
        io::Write::write_all(self, bytes).map_err(|_| self.rejection())
    }

    /// Returns the number of bytes that were written since the last call of
    /// [`Self::take_pieces`].
    pub fn size_bytes(&self) -> usize {
        let ended = self.pieces.iter().map(Bytes::len);
        ended.sum::<usize>() + self.piece.len()
    }

    /// Returns the pieces that were written since the last call.
    pub fn take_pieces(&mut self) -> Vec<Bytes> {
        self.end_piece();
        std::mem::take(&mut self.pieces)
    }

    /// Returns the bytes that were written, with their lease.
    pub fn into_pieces(mut self) -> LeasedPieces {
        self.release_values();
        LeasedPieces {
            pieces: self.take_pieces(),
            lease: self.lease,
        }
    }

    /// Returns the body of pieces that [`Self::take_pieces`] returned, in any order, and of bytes
    /// in other memory. It has the lease.
    pub fn into_body(mut self, pieces: Vec<Bytes>) -> ResponseBody {
        self.release_values();
        self.lease.release_reserve();
        let mut body = ResponseBody::from_pieces(pieces);
        body.lease = Some(self.lease);
        body
    }

    /// Makes room for at least one byte in the current piece, or begins the next one.
    ///
    /// The first piece doubles, because most bodies are much smaller than a piece.
    fn make_room(&mut self) -> io::Result<()> {
        if self.leased_bytes == PIECE_BYTES_MAX {
            self.end_piece();
        }
        let wanted_bytes = match self.pieces.is_empty() {
            true => (2 * self.leased_bytes).clamp(FIRST_BYTES, PIECE_BYTES_MAX),
            false => PIECE_BYTES_MAX,
        };
        if !self.lease.try_grow(wanted_bytes - self.leased_bytes) {
            self.is_rejected = true;
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.leased_bytes = wanted_bytes;
        self.piece.reserve_exact(wanted_bytes - self.piece.len());
        Ok(())
    }

    /// Appends bytes that do not fit into the current piece.
    #[cold]
    fn write_in_pieces(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = io::Write::write(self, bytes)?;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    /// Ends the current piece, and releases the part of its lease that it does not use.
    fn end_piece(&mut self) {
        let mut piece = std::mem::take(&mut self.piece);
        let unused_bytes = std::mem::take(&mut self.leased_bytes) - piece.len();
        self.lease.shrink_to(self.lease.bytes() - unused_bytes);
        if !piece.is_empty() {
            piece.shrink_to_fit();
            self.pieces.push(piece.into());
        }
    }
}

impl io::Write for BodyWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.piece.len() == self.leased_bytes {
            self.make_room()?;
        }
        let count = bytes.len().min(self.leased_bytes - self.piece.len());
        self.piece.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        // Serializers write a few bytes at a time, which nearly always fit.
        if bytes.len() <= self.leased_bytes - self.piece.len() {
            self.piece.extend_from_slice(bytes);
            return Ok(());
        }
        self.write_in_pieces(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT_BYTES: usize = 3 * PIECE_BYTES_MAX + 7;

    #[test]
    fn writes_pieces_and_leases_exactly_their_memory() {
        let budget = MemoryBudget::new(1 << 20);
        for size_bytes in [
            0,
            1,
            FIRST_BYTES,
            PIECE_BYTES_MAX,
            PIECE_BYTES_MAX + 1,
            TEXT_BYTES,
        ] {
            let mut writer = BodyWriter::new(&budget, ClientKey::NODE);
            let expected: Vec<u8> = (0..size_bytes).map(|index| (index % 251) as u8).collect();
            for chunk in expected.chunks(1_000) {
                writer.write_bytes(chunk).unwrap();
                assert!(
                    budget.held_bytes() >= writer.size_bytes()
                        && writer.piece.capacity() <= writer.leased_bytes,
                    "memory is leased before it is allocated"
                );
            }
            let LeasedPieces { pieces, lease } = writer.into_pieces();
            assert!(pieces.concat() == expected);
            assert!(pieces.iter().all(|piece| piece.len() <= PIECE_BYTES_MAX));
            assert_eq!(
                (lease.bytes(), budget.held_bytes()),
                (size_bytes, size_bytes)
            );
        }
        assert_eq!(budget.held_bytes(), 0);
    }

    #[test]
    fn rejects_a_value_that_the_budget_cannot_hold() {
        let budget = MemoryBudget::new(3 * PIECE_BYTES_MAX);
        let other = budget.lease(ClientKey::NODE);
        assert!(other.try_grow(1));
        let text = "x".repeat(TEXT_BYTES);
        let mut writer = BodyWriter::new(&budget, ClientKey::NODE);
        let rejected = [
            writer.write_json(&text),
            BodyWriter::new(&budget, ClientKey::NODE).write_bytes(text.as_bytes()),
        ];
        for rejected in rejected {
            assert!(
                matches!(rejected, Err(ErrorKind::Overloaded(_))),
                "{rejected:?}"
            );
        }
        let bcs = BodyWriter::new(&budget, ClientKey::NODE)
            .write_bcs_with(|out| bcs::serialize_into(out, &text));
        assert!(matches!(bcs, Err(ErrorKind::Overloaded(_))), "{bcs:?}");
        drop(writer);
        assert_eq!(budget.held_bytes(), 1);
    }

    #[test]
    fn holds_the_memory_of_values_until_they_are_released() {
        let budget = MemoryBudget::new(1_000_000);
        let mut writer = BodyWriter::new(&budget, ClientKey::NODE);
        writer.lease_values(500).unwrap();
        writer.write_bytes(b"text").unwrap();
        let held_bytes = budget.held_bytes();
        writer.release_values();
        assert_eq!(held_bytes - budget.held_bytes(), 500);
        assert_eq!(writer.into_pieces().lease.bytes(), 4);
    }

    #[actix_web::test]
    async fn yields_the_pieces_of_a_body_in_order() {
        let pieces = vec![Bytes::from_static(b"ab"), Bytes::from_static(b"c")];
        let body = ResponseBody::from_pieces(pieces.clone());
        assert_eq!(
            (body.size_bytes(), body.to_bytes()),
            (3, Bytes::from_static(b"abc"))
        );
        let response = body.set_on(&mut HttpResponse::Ok());
        assert_eq!(response.body().size(), BodySize::Sized(3));
        let found = pieces_of(response.into_body()).await;
        assert_eq!(found.unwrap(), pieces);
    }
}
