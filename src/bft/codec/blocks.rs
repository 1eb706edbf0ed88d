//! Blocks, and the messages by which nodes request decided ones.

use super::{
    CodecError, LedgerCodec, PART_BYTES_MAX, SMALL_BYTES_MAX, at_most, decode, encode, round,
    valid_round,
};
use crate::context::{Height, Ledger};
use crate::parts::{Part, stream_message};
use crate::{certificate, sizes};
use arc_malachitebft_app_channel::app::streaming::{StreamContent, StreamMessage};
use arc_malachitebft_app_channel::app::types::PeerId;
use arc_malachitebft_app_channel::app::types::codec::{Codec, HasEncodedLen};
use arc_malachitebft_sync::{
    RawDecidedValue, Request, Response, Status, ValueRequest, ValueResponse,
};
use bytes::Bytes;
use ledger_types::{CommitCertificate, ValidatorSet};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct WireStatus {
    peer: Bytes,
    tip_height: u64,
    oldest_height: u64,
}

#[derive(Serialize, Deserialize)]
struct WireDecided {
    bytes: Bytes,
    certificate: CommitCertificate,
}

#[derive(Serialize, Deserialize)]
struct WireResponse {
    first: u64,
    decided: Vec<WireDecided>,
}

impl Codec<Part> for LedgerCodec {
    type Error = CodecError;

    fn encode(&self, message: &Part) -> Result<Bytes, CodecError> {
        encode(message)
    }

    fn decode(&self, bytes: Bytes) -> Result<Part, CodecError> {
        let part = decode(&bytes, PART_BYTES_MAX)?;
        if let Part::Chunk { signed, .. } = &part {
            round(signed.header.round)?;
            valid_round(signed.header.valid_round)?;
        }
        Ok(part)
    }
}

// A part says which stream it belongs to, so the engine's envelope has no content of its own.
impl Codec<StreamMessage<Part>> for LedgerCodec {
    type Error = CodecError;

    fn encode(&self, message: &StreamMessage<Part>) -> Result<Bytes, CodecError> {
        match &message.content {
            StreamContent::Data(part) => Codec::<Part>::encode(self, part),
            StreamContent::Fin => Err(CodecError::Unused("ends of streams")),
        }
    }

    fn decode(&self, bytes: Bytes) -> Result<StreamMessage<Part>, CodecError> {
        let part = Codec::<Part>::decode(self, bytes)?;
        Ok(stream_message(part))
    }
}

impl Codec<Status<Ledger>> for LedgerCodec {
    type Error = CodecError;

    fn encode(&self, message: &Status<Ledger>) -> Result<Bytes, CodecError> {
        encode(&WireStatus {
            peer: message.peer_id.to_bytes().into(),
            tip_height: message.tip_height.0,
            oldest_height: message.history_min_height.0,
        })
    }

    fn decode(&self, bytes: Bytes) -> Result<Status<Ledger>, CodecError> {
        let wire: WireStatus = decode(&bytes, SMALL_BYTES_MAX)?;
        Ok(Status {
            peer_id: PeerId::from_bytes(&wire.peer).map_err(|_| CodecError::Peer)?,
            tip_height: Height(wire.tip_height),
            history_min_height: Height(wire.oldest_height),
        })
    }
}

impl Codec<Request<Ledger>> for LedgerCodec {
    type Error = CodecError;

    fn encode(&self, message: &Request<Ledger>) -> Result<Bytes, CodecError> {
        let Request::ValueRequest(request) = message;
        encode(&(request.range.start().0, request.range.end().0))
    }

    fn decode(&self, bytes: Bytes) -> Result<Request<Ledger>, CodecError> {
        let (first, last) = decode(&bytes, SMALL_BYTES_MAX)?;
        let range = Height(first)..=Height(last);
        Ok(Request::ValueRequest(ValueRequest::new(range)))
    }
}

fn wire_response(message: &Response<Ledger>) -> Result<WireResponse, CodecError> {
    let Response::ValueResponse(response) = message;
    let decided = response.values.iter().map(|value| {
        let certificate = value.certificate.trim_vote_extensions();
        Ok(WireDecided {
            bytes: value.value_bytes.clone(),
            certificate: certificate::to_ledger(&certificate).ok_or(CodecError::Round)?,
        })
    });
    Ok(WireResponse {
        first: response.start_height.0,
        decided: decided.collect::<Result<_, CodecError>>()?,
    })
}

impl Codec<Response<Ledger>> for LedgerCodec {
    type Error = CodecError;

    fn encode(&self, message: &Response<Ledger>) -> Result<Bytes, CodecError> {
        encode(&wire_response(message)?)
    }

    fn decode(&self, bytes: Bytes) -> Result<Response<Ledger>, CodecError> {
        let wire: WireResponse = decode(&bytes, self.response_bytes_max)?;
        at_most(&wire.decided, sizes::SYNC_BATCH_BLOCKS, "blocks")?;
        let value = |decided: WireDecided| {
            let certificate = decided.certificate;
            round(certificate.round)?;
            at_most(
                &certificate.signatures,
                ValidatorSet::LENGTH_MAX,
                "signatures",
            )?;
            let certificate = certificate::from_ledger(&certificate);
            Ok(RawDecidedValue::new(decided.bytes, certificate))
        };
        let values = wire.decided.into_iter().map(value);
        let values = values.collect::<Result<_, CodecError>>()?;
        let response = ValueResponse::new(Height(wire.first), values);
        Ok(Response::ValueResponse(response))
    }
}

impl HasEncodedLen<Response<Ledger>> for LedgerCodec {
    fn encoded_len(&self, message: &Response<Ledger>) -> Result<usize, CodecError> {
        Ok(bcs::serialized_size(&wire_response(message)?)?)
    }
}
