//! The body of a page that is made in parts.
//!
//! A part is read, rendered and dropped before the next one is read. The memory of a page is its
//! rendered bytes and the values of one part.

use super::{BodyWriter, LedgerResponse, body::PIECE_BYTES_MAX};
use crate::{
    error::{ApiError, ErrorKind},
    limits::large_responses::{PART_BYTES_MAX, body_bytes_max, values_bytes},
    model::{bcs::write_length, format::Format},
};
use bytes::Bytes;
use ledger_limits::SMALL_LEASE_BYTES_MAX;
use ledger_types::LedgerInfo;
use serde::Serialize;

/// The order in which the parts of a page are made. The items of a part are always ascending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PartOrder {
    /// From the first item of the page to the last.
    Ascending,
    /// From the last item of the page to the first.
    Descending,
}

impl PartOrder {
    /// Returns the order of a page that begins at `start`, or of the page of the newest items.
    ///
    /// The newest items are read first, so that the limit that fits counts from the newest.
    pub fn of_start(start: Option<u64>) -> Self {
        match start {
            Some(_) => Self::Ascending,
            None => Self::Descending,
        }
    }
}

/// The body of a page while its parts are made.
#[derive(Debug)]
pub(crate) struct PageBody {
    pub writer: BodyWriter,
    pub format: Format,
    pub order: PartOrder,
    parts: Vec<Vec<Bytes>>,
    /// Number of items in all parts.
    item_count: usize,
    /// Size of all items, in bytes.
    size_bytes: usize,
    /// Size of a page that a further part would exceed, in bytes.
    bytes_max: usize,
    /// Number of items up to `bytes_max`, in the order of the parts.
    fitting_count: usize,
}

impl PageBody {
    /// Creates the body of a page that `writer` writes.
    pub fn new(writer: BodyWriter, format: Format, order: PartOrder) -> Self {
        let bytes_max = body_bytes_max(writer.budget_bytes());
        Self {
            writer,
            format,
            order,
            parts: Vec::new(),
            item_count: 0,
            size_bytes: 0,
            bytes_max,
            fitting_count: 0,
        }
    }

    /// Renders the items of the next part, in ascending order.
    ///
    /// # Errors
    ///
    /// Returns the errors of `write`, which writes one item.
    pub fn push_part<T>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        mut write: impl FnMut(&mut BodyWriter, T) -> Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        let mut sizes = Vec::with_capacity(items.len());
        for (index, item) in items.enumerate() {
            let before_bytes = self.writer.size_bytes();
            if index > 0 && self.format == Format::Json {
                self.writer.write_bytes(b",")?;
            }
            write(&mut self.writer, item)?;
            sizes.push(self.writer.size_bytes() - before_bytes);
        }
        if sizes.is_empty() {
            return Ok(());
        }
        if self.order == PartOrder::Descending {
            sizes.reverse();
        }
        for size_bytes in sizes {
            self.item_count += 1;
            self.size_bytes += size_bytes;
            if self.size_bytes <= self.bytes_max {
                self.fitting_count = self.item_count;
            }
        }
        self.parts.push(self.writer.take_pieces());
        Ok(())
    }

    /// Renders the JSON values of the next part.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`BodyWriter::write_json`].
    pub fn push_json<T: Serialize>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
    ) -> Result<(), ErrorKind> {
        self.push_part(items, |writer, item| writer.write_json(&item))
    }

    /// Returns whether the items exceed the maximum size of a page.
    pub fn is_full(&self) -> bool {
        self.size_bytes > self.bytes_max
    }

    /// Checks that the items fit into a page. A single item always does.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::InvalidInput`] with the limit that fits.
    pub fn check_size(&self) -> Result<(), ErrorKind> {
        if !self.is_full() || self.item_count == 1 {
            return Ok(());
        }
        let Self { bytes_max, .. } = self;
        let limit = self.fitting_count.max(1);
        Err(ErrorKind::InvalidInput(format!(
            "the page takes more than {bytes_max} bytes, which is the limit of the node; use \
             limit={limit}, which fits"
        )))
    }

    /// Returns the memory that at most `further_count` items take, in bytes, if they are as large as
    /// those that are made. It includes the values of one part, which ends with the row that exceeds
    /// [`PART_BYTES_MAX`], and the piece that is being written.
    pub fn further_bytes(&self, further_count: usize) -> usize {
        let size_bytes = self.size_bytes.saturating_mul(further_count) / self.item_count.max(1);
        let part_bytes = values_bytes(PART_BYTES_MAX + SMALL_LEASE_BYTES_MAX) + PIECE_BYTES_MAX;
        size_bytes.min(self.bytes_max) + part_bytes
    }

    /// Returns the number of items.
    pub fn item_count(&self) -> usize {
        self.item_count
    }

    /// Responds with the items as a list.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Internal`] if a BCS list cannot have as many items.
    pub fn respond(self, ledger_info: LedgerInfo) -> Result<LedgerResponse, ApiError> {
        match self.format {
            Format::Json => Ok(self.respond_between(ledger_info, b"[", b"]")),
            Format::Bcs => {
                let mut head = Vec::new();
                write_length(&mut head, self.item_count).map_err(|cause| {
                    ErrorKind::internal("writing the length of a list as BCS failed", &cause)
                        .at(ledger_info)
                })?;
                Ok(self.respond_between(ledger_info, &head, b""))
            }
        }
    }

    /// Responds with the items between `head` and `tail`.
    pub fn respond_between(
        mut self,
        ledger_info: LedgerInfo,
        head: &[u8],
        tail: &[u8],
    ) -> LedgerResponse {
        if self.order == PartOrder::Descending {
            self.parts.reverse();
        }
        let mut pieces = vec![Bytes::copy_from_slice(head)];
        for part in self.parts {
            if pieces.len() > 1 && self.format == Format::Json {
                pieces.push(Bytes::from_static(b","));
            }
            pieces.extend(part);
        }
        pieces.push(Bytes::copy_from_slice(tail));
        // A small body is one piece, which needs no list.
        if pieces.iter().map(Bytes::len).sum::<usize>() <= PIECE_BYTES_MAX {
            pieces = vec![pieces.concat().into()];
        }
        self.writer.respond_with(ledger_info, self.format, pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_limits::{ClientKey, MemoryBudget};

    const LEDGER_INFO: LedgerInfo = LedgerInfo {
        chain_id: 4,
        epoch: 1,
        version: 1,
        oldest_version: 0,
        block_height: 1,
        oldest_block_height: 0,
        timestamp_usecs: 1,
    };

    /// Returns the page of parts of these lengths. Its items are the numbers from 0.
    fn page(order: PartOrder, format: Format, lengths: &[u64]) -> PageBody {
        let mut page = PageBody::new(
            BodyWriter::new(&MemoryBudget::new(1 << 20), ClientKey::NODE),
            format,
            order,
        );
        let mut end = 0;
        let mut parts = Vec::new();
        for length in lengths {
            parts.push(end..end + length);
            end += length;
        }
        if order == PartOrder::Descending {
            parts.reverse();
        }
        for part in parts {
            let items = part.collect::<Vec<_>>().into_iter();
            let pushed = match format {
                Format::Json => page.push_json(items),
                Format::Bcs => page.push_part(items, |writer, item| {
                    writer.write_bcs_with(|out| bcs::serialize_into(out, &item))
                }),
            };
            pushed.unwrap();
        }
        page
    }

    #[test]
    fn composes_parts_in_both_orders_to_the_text_of_the_whole_list() {
        let some_thousand = [100, 20_000, 1, 0, 3_000];
        for lengths in [
            &[][..],
            &[0],
            &[1],
            &[3],
            &[1, 1],
            &[2, 3, 4],
            &some_thousand,
        ] {
            let all: Vec<u64> = (0..lengths.iter().sum()).collect();
            let expected = [
                serde_json::to_vec(&all).unwrap(),
                bcs::to_bytes(&all).unwrap(),
            ];
            for order in [PartOrder::Ascending, PartOrder::Descending] {
                for (format, expected) in [Format::Json, Format::Bcs].into_iter().zip(&expected) {
                    let page = page(order, format, lengths);
                    assert_eq!(page.item_count(), all.len());
                    let response = page.respond(LEDGER_INFO).unwrap();
                    assert!(
                        response.body().to_bytes() == expected[..],
                        "{order:?} {format:?} {lengths:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn names_the_number_of_items_that_fit_from_the_end_that_is_made_first() {
        // Items above 9,999 have a digit more than those below.
        for (order, fitting) in [(PartOrder::Ascending, 6), (PartOrder::Descending, 5)] {
            let mut page = page(order, Format::Json, &[]);
            page.bytes_max = 30;
            let parts = [vec![1_000; 4], vec![10_000; 4]];
            let parts: Vec<_> = match order {
                PartOrder::Ascending => parts.into_iter().collect(),
                PartOrder::Descending => parts.into_iter().rev().collect(),
            };
            for part in parts {
                page.push_json(part.into_iter()).unwrap();
            }
            assert!(page.is_full());
            let error = page.check_size().unwrap_err().to_string();
            assert!(
                error.contains(&format!("limit={fitting},")),
                "{order:?}: {error}"
            );
        }
    }

    #[test]
    fn admits_a_single_item_of_any_size() {
        let mut page = page(PartOrder::Ascending, Format::Json, &[]);
        page.bytes_max = 3;
        page.push_json([1_000].into_iter()).unwrap();
        page.check_size().unwrap();
        page.push_json([1].into_iter()).unwrap();
        let error = page.check_size().unwrap_err().to_string();
        assert!(error.contains("limit=1,"), "{error}");
    }
}
