//! Compression of responses that are large enough, if the client accepts it.
//!
//! A body is complete in memory, so it is compressed in one piece. A renderer thread of the node
//! compresses large bodies. actix-web's middleware would hold the state of a compressor, up to some
//! megabytes, for every response that is being sent. Here, the number of compressors is bounded,
//! and a response that finds none free is sent uncompressed.
//!
//! Measured on one core of a server with AVX-512, in a release build (2026-11-21):
//!
//! | response | bytes | zstd | br | gzip |
//! |---|---|---|---|---|
//! | a part of a transaction | 1,024 | 56 %, 7 µs | 57 %, 18 µs | 56 %, 14 µs |
//! | a transaction | 4,656 | 32 %, 12 µs | 32 %, 43 µs | 34 %, 21 µs |
//! | 10 transactions | 23,868 | 17 %, 25 µs | 18 %, 141 µs | 25 %, 57 µs |
//! | 60 transactions in BCS | 60,321 | 20 %, 52 µs | 22 %, 334 µs | 26 %, 163 µs |
//! | the modules of 0x1 | 71,613 | 10 %, 57 µs | 11 %, 281 µs | 13 %, 145 µs |
//! | 60 transactions | 148,303 | 10 %, 158 µs | 11 %, 648 µs | 20 %, 431 µs |

use super::vary;
use crate::{
    context::{
        ApiState, BodyWriter, SharedBody,
        body::{LeasedPieces, PiecesBody, ResponseLease, pieces_of},
    },
    error::ErrorKind,
};
use actix_web::{
    body::{BodySize, BoxBody, MessageBody},
    dev::ServiceResponse,
    http::{
        StatusCode,
        header::{
            self, AcceptEncoding, Encoding, Header, HeaderValue, Preference, Quality, QualityItem,
        },
    },
};
use bytes::Bytes;
use ledger_limits::{ClientKey, Demand, Work, WorkKind};
use std::{
    io::{self, Write},
    sync::Arc,
};

/// Minimum size of a compressed body, in bytes.
///
/// Larger bodies, such as pages and modules, shrink to a third or less. Smaller bodies include the
/// single transaction that a submitting client waits for. It fits into a few packets uncompressed,
/// and its compression would cost as much as the rest of its request or more.
const BYTES_MIN: usize = 8 * 1024;

/// Maximum size of a body that an HTTP worker compresses itself, in bytes.
///
/// A larger body would delay the worker's other requests longer than the transfer to a renderer
/// thread and back takes.
const INLINE_BYTES_MAX: usize = 64 * 1024;

/// A content coding of responses. The order is by ascending cost and decides between codings of
/// equal weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Zstd,
    Brotli,
    Gzip,
}

impl Coding {
    const ALL: [Self; 3] = [Self::Zstd, Self::Brotli, Self::Gzip];

    fn encoding(self) -> Encoding {
        match self {
            Self::Zstd => Encoding::zstd(),
            Self::Brotli => Encoding::brotli(),
            Self::Gzip => Encoding::gzip(),
        }
    }

    /// Returns the name of the coding in headers.
    fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// Returns the accepted coding with the highest weight.
    ///
    /// Returns `None` if no coding is accepted, or if the uncompressed body has a higher weight. A
    /// client that accepts neither a coding nor the uncompressed body gets the uncompressed one
    /// (RFC 9110, 12.5.3).
    fn negotiate(accepted: &AcceptEncoding) -> Option<Self> {
        let weight = |encoding: &Encoding| {
            let named =
                |item: &&QualityItem<_>| item.item == Preference::Specific(encoding.clone());
            let any = |item: &&QualityItem<_>| item.item == Preference::Any;
            let item = accepted
                .iter()
                .find(named)
                .or_else(|| accepted.iter().find(any));
            item.map_or(Quality::ZERO, |item| item.quality)
        };
        let named_plain =
            |item: &&QualityItem<_>| item.item == Preference::Specific(Encoding::identity());
        let plain = accepted
            .iter()
            .find(named_plain)
            .map_or(Quality::ZERO, |item| item.quality);
        let mut best = None;
        let mut best_weight = Quality::ZERO;
        for coding in Self::ALL {
            let weight = weight(&coding.encoding());
            if weight > best_weight {
                (best, best_weight) = (Some(coding), weight);
            }
        }
        best.filter(|_| best_weight >= plain)
    }

    /// Writes the body in this coding, at the fastest level. Higher levels take two to ten times as
    /// long and save a few per cent more.
    fn encode(self, body: &[Bytes], mut out: impl Write) -> io::Result<()> {
        const ZSTD_LEVEL: i32 = 1;
        const BROTLI_LEVEL: u32 = 1;
        const BROTLI_WINDOW_LOG2: u32 = 20;
        const BROTLI_BUFFER_BYTES: usize = 4096;
        let write_all = |encoder: &mut dyn Write| {
            let mut pieces = body.iter();
            pieces.try_for_each(|piece| encoder.write_all(piece))
        };
        match self {
            Self::Zstd if body.len() == 1 => {
                out.write_all(&zstd::bulk::compress(&body[0], ZSTD_LEVEL)?)
            }
            Self::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(out, ZSTD_LEVEL)?;
                write_all(&mut encoder)?;
                encoder.finish().map(drop)
            }
            Self::Brotli => {
                let mut encoder = brotli::CompressorWriter::new(
                    out,
                    BROTLI_BUFFER_BYTES,
                    BROTLI_LEVEL,
                    BROTLI_WINDOW_LOG2,
                );
                write_all(&mut encoder)?;
                encoder.into_inner().flush()
            }
            Self::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::fast());
                write_all(&mut encoder)?;
                encoder.finish().map(drop)
            }
        }
    }
}

/// Compresses a response to `client` if it is eligible and the client accepts a coding.
///
/// A renderer thread of the node compresses large bodies, in turns by client. The memory of the
/// compressed body is leased from `api.answers_bytes_max`.
pub(crate) async fn compress(
    state: &ApiState,
    client: ClientKey,
    mut response: ServiceResponse,
) -> ServiceResponse {
    if !is_eligible(&response) {
        return response;
    }
    // The header is needed even without `Accept-Encoding`: another client may get the response in
    // another coding.
    vary::add_accept_encoding(response.headers_mut());
    let coding = AcceptEncoding::parse(response.request())
        .ok()
        .and_then(|accepted| Coding::negotiate(&accepted));
    let Some(coding) = coding else {
        return response;
    };
    let (request, response) = response.into_parts();
    let (mut response, body) = response.into_parts();
    let body: Arc<[Bytes]> = match body.try_into_bytes() {
        Ok(body) => Arc::new([body]),
        Err(body) => match pieces_of(body).await {
            Ok(pieces) => pieces.into(),
            Err(cause) => {
                let error = ErrorKind::internal("reading a body to compress it failed", &cause);
                return ServiceResponse::new(request, error.response());
            }
        },
    };
    let body = match try_compress(state, client, coding, &body).await {
        Some(smaller) => {
            let name = HeaderValue::from_static(coding.name());
            response
                .headers_mut()
                .insert(header::CONTENT_ENCODING, name);
            let mut extensions = response.extensions_mut();
            extensions.remove::<SharedBody>();
            extensions.insert(ResponseLease(smaller.lease));
            smaller.pieces
        }
        None => body.to_vec(),
    };
    let body = match &body[..] {
        [one] => BoxBody::new(one.clone()),
        _ => BoxBody::new(PiecesBody::new(body)),
    };
    ServiceResponse::new(request, response.set_body(body))
}

/// Returns true if status, media type, and size of the response make compression worthwhile.
///
/// The response to a submission has status 202 or 206 and is never compressed.
fn is_eligible(response: &ServiceResponse) -> bool {
    let headers = response.headers();
    let is_image = headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"image/"));
    let is_large = match response.response().body().size() {
        BodySize::Sized(bytes) => bytes >= BYTES_MIN as u64,
        _ => false,
    };
    response.status() == StatusCode::OK
        && !is_image
        && !headers.contains_key(header::CONTENT_ENCODING)
        && is_large
}

/// Returns the compressed body. Returns `None` if it is no smaller, without a permit, or if the
/// budget of responses has no capacity for it.
async fn try_compress(
    state: &ApiState,
    client: ClientKey,
    coding: Coding,
    body: &Arc<[Bytes]>,
) -> Option<LeasedPieces> {
    let permit = state.compressors.try_acquire(client)?;
    let writer = BodyWriter::new(&state.responses, client);
    let body = Arc::clone(body);
    let body_bytes = size_bytes(&body);
    let is_large = body_bytes > INLINE_BYTES_MAX;
    let compress = move || {
        let _permit = permit;
        encode_if_smaller(coding, &body, writer)
    };
    if is_large {
        let work = Work {
            client,
            kind: WorkKind::Render,
            demand: Demand::bytes(body_bytes),
            is_continued: false,
        };
        state.node.render(work, compress).await.ok()?
    } else {
        compress()
    }
}

fn size_bytes(pieces: &[Bytes]) -> usize {
    pieces.iter().map(Bytes::len).sum()
}

/// Returns the body in this coding, or `None` if that is no smaller.
fn encode_if_smaller(
    coding: Coding,
    body: &[Bytes],
    mut writer: BodyWriter,
) -> Option<LeasedPieces> {
    coding.encode(body, &mut writer).ok()?;
    // The encoder of Brotli does not return the error of its last write.
    if writer.is_rejected() {
        return None;
    }
    let encoded = writer.into_pieces();
    (size_bytes(&encoded.pieces) < size_bytes(body)).then_some(encoded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::format::CONTENT_CODINGS;
    use actix_web::test::TestRequest;
    use ledger_limits::MemoryBudget;
    use std::io::Read as _;

    fn negotiated(accepted: &str) -> Option<Coding> {
        let request = TestRequest::default().insert_header((header::ACCEPT_ENCODING, accepted));
        let accepted = AcceptEncoding::parse(&request.to_http_request()).ok()?;
        Coding::negotiate(&accepted)
    }

    #[test]
    fn prefers_higher_weights_then_lower_cost() {
        let rows = [
            ("", None),
            ("identity", None),
            ("deflate, compress", None),
            ("gzip", Some(Coding::Gzip)),
            ("GZIP", Some(Coding::Gzip)),
            ("gzip, deflate, br, zstd", Some(Coding::Zstd)),
            ("br, gzip", Some(Coding::Brotli)),
            ("gzip;q=1.0, br;q=0.9, zstd;q=0.1", Some(Coding::Gzip)),
            ("gzip;q=0", None),
            ("zstd;q=0, gzip;q=0.5", Some(Coding::Gzip)),
            ("*", Some(Coding::Zstd)),
            ("*, zstd;q=0", Some(Coding::Brotli)),
            ("*;q=0", None),
            ("identity;q=0, *;q=0", None),
            ("identity, gzip;q=0.5", None),
            ("identity;q=0.5, gzip;q=0.5", Some(Coding::Gzip)),
            ("identity;q=0, br", Some(Coding::Brotli)),
            ("gzip;q=2", None),
            ("gzip;q=x", None),
            (";;;,,,", None),
        ];
        for (accepted, expected) in rows {
            assert_eq!(negotiated(accepted), expected, "{accepted:?}");
        }
    }

    fn decoded(coding: Coding, body: &[u8]) -> Vec<u8> {
        let mut plain = Vec::new();
        match coding {
            Coding::Zstd => zstd::stream::read::Decoder::new(body)
                .unwrap()
                .read_to_end(&mut plain),
            Coding::Brotli => brotli::Decompressor::new(body, 4096).read_to_end(&mut plain),
            Coding::Gzip => flate2::read::GzDecoder::new(body).read_to_end(&mut plain),
        }
        .unwrap();
        plain
    }

    #[test]
    fn compresses_bodies_of_every_size_without_loss() {
        for length in [BYTES_MIN, INLINE_BYTES_MAX, INLINE_BYTES_MAX + 1, 3 << 20] {
            let body: Bytes = (0..length).map(|index| (index / 7 % 251) as u8).collect();
            let mut second = body.clone();
            let first = second.split_to(length / 3);
            for (coding, pieces) in Coding::ALL.into_iter().flat_map(|coding| {
                [
                    (coding, vec![body.clone()]),
                    (coding, vec![first.clone(), second.clone()]),
                ]
            }) {
                let budget = MemoryBudget::new(usize::MAX);
                let smaller =
                    encode_if_smaller(coding, &pieces, BodyWriter::new(&budget, ClientKey::NODE))
                        .expect("a repetitive body shrinks");
                assert_eq!(budget.held_bytes(), size_bytes(&smaller.pieces));
                assert_eq!(
                    decoded(coding, &smaller.pieces.concat()),
                    body,
                    "{length} bytes, {coding:?}"
                );
            }
        }
    }

    #[test]
    fn names_the_codings_of_the_document() {
        assert_eq!(Coding::ALL.map(Coding::name), CONTENT_CODINGS);
    }

    #[test]
    fn returns_none_for_a_body_that_does_not_shrink() {
        let mut state = 1u64;
        let noise: Vec<u8> = (0..BYTES_MIN)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        let writer = BodyWriter::new(&MemoryBudget::new(usize::MAX), ClientKey::NODE);
        assert!(encode_if_smaller(Coding::Zstd, &[noise.into()], writer).is_none());
    }

    #[test]
    fn returns_none_if_the_budget_cannot_hold_the_compressed_body() {
        let body: Bytes = (0..BYTES_MIN)
            .map(|index| (index / 7 % 251) as u8)
            .collect();
        for coding in Coding::ALL {
            let budget = MemoryBudget::new(100);
            let other = budget.lease(ClientKey::NODE);
            assert!(other.try_grow(1));
            for pieces in [vec![body.clone()], vec![body.clone(), body.clone()]] {
                let writer = BodyWriter::new(&budget, ClientKey::NODE);
                let compressed = encode_if_smaller(coding, &pieces, writer);
                assert!(compressed.is_none(), "{coding:?}");
            }
        }
    }
}
