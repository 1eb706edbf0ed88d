//! Request bodies, with limits of their memory and of the time to receive them.

use super::{
    argument::{Extract, Inputs},
    encoding::{check_encoding, within_time_limit},
    parts::RequestParts,
};
use crate::{
    context::RequestContext,
    error::ErrorKind,
    model::{DecimalText, format::essence, json::parse_json},
    openapi::operation::Media,
};
use actix_web::{
    HttpMessage, HttpRequest,
    dev::Payload,
    http::{
        Version,
        header::{CONTENT_LENGTH, CONTENT_TYPE},
    },
};
use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use ledger_actors::Overload;
use ledger_limits::{Demand, MemoryBudget, MemoryLease, WorkKind};
use ledger_vm::Chain;
use serde::de::DeserializeOwned;
use std::{marker::PhantomData, mem, sync::Arc};

/// Number of bytes of BCS that are decoded in the time of one byte of JSON: their content is
/// copied.
const BCS_SPEED: usize = 16;

/// A body in JSON of at most `BYTES_MAX` bytes, which [`Self::read`] receives.
///
/// `api.max_body_bytes` applies as well.
pub(crate) struct JsonBody<T, const BYTES_MAX: usize = { usize::MAX }> {
    payload: Payload,
    value: PhantomData<T>,
}

impl<T, const BYTES_MAX: usize> JsonBody<T, BYTES_MAX>
where
    T: DeserializeOwned + Send + 'static,
{
    /// Whether the parsed value is charged as many bytes as the body. The limit of an operation
    /// bounds its value, so only the bytes of the body are charged.
    const CHARGES_VALUE: bool = BYTES_MAX == usize::MAX;

    /// Receives and parses the body.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`receive`] and [`parse_json`].
    pub async fn read(self, cx: &RequestContext) -> Result<T, ErrorKind> {
        self.read_as(cx, Ok).await
    }

    /// Receives and parses the body, and converts its value on the thread that parses it. A value
    /// that can take many times the memory of its body must not leave that thread, because only
    /// the number of those threads bounds the memory of such values.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`receive`], [`parse_json`] and `convert`.
    pub async fn read_as<U: Send + 'static>(
        mut self,
        cx: &RequestContext,
        convert: impl FnOnce(T) -> Result<U, ErrorKind> + Send + 'static,
    ) -> Result<U, ErrorKind> {
        let (_, body) = receive_for(cx, &mut self.payload, BYTES_MAX, &[Media::Json]).await?;
        if Self::CHARGES_VALUE && !cx.body_lease.try_grow(body.len()) {
            return Err(full(&cx.state.bodies));
        }
        let parse = move |body: &[u8]| convert(parse_json(body)?);
        let demand = Demand::bytes(body.len());
        parsed(cx, demand, body, parse).await
    }
}

impl<T, const BYTES_MAX: usize> Extract for JsonBody<T, BYTES_MAX> {
    fn declare(inputs: &mut Inputs) {
        inputs.body = vec![Media::Json];
    }

    fn extract(request: &mut RequestParts<'_>) -> Result<Self, ErrorKind> {
        Ok(Self {
            payload: mem::replace(&mut request.payload, Payload::None),
            value: PhantomData,
        })
    }
}

/// A value that a request body contains in JSON or in BCS.
pub(crate) trait JsonOrBcs: Sized {
    /// Media type of the body in BCS.
    const BCS: Media;

    /// Decodes a body in JSON.
    ///
    /// # Errors
    ///
    /// Returns the error that is the response.
    fn from_json(chain: &Chain, body: &[u8]) -> Result<Self, ErrorKind>;

    /// Decodes a body in BCS.
    ///
    /// # Errors
    ///
    /// Returns the error that is the response.
    fn from_bcs(chain: &Chain, body: &[u8]) -> Result<Self, ErrorKind>;
}

/// A body in JSON or in BCS, which [`Self::read`] receives.
pub(crate) struct JsonOrBcsBody<T> {
    payload: Payload,
    value: PhantomData<T>,
}

impl<T: JsonOrBcs + Send + 'static> JsonOrBcsBody<T> {
    /// Receives and decodes the body.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`receive`] and of [`JsonOrBcs`].
    pub async fn read(mut self, cx: &RequestContext) -> Result<T, ErrorKind> {
        let media = [Media::Json, T::BCS];
        let (which, body) = receive_for(cx, &mut self.payload, usize::MAX, &media).await?;
        let chain = cx.chain().clone();
        let demand = match which {
            0 => Demand::bytes(body.len()),
            _ => Demand::bytes(body.len() / BCS_SPEED),
        };
        parsed(cx, demand, body, move |body| match which {
            0 => T::from_json(&chain, body),
            _ => T::from_bcs(&chain, body),
        })
        .await
    }
}

impl<T: JsonOrBcs> Extract for JsonOrBcsBody<T> {
    fn declare(inputs: &mut Inputs) {
        inputs.body = vec![Media::Json, T::BCS];
    }

    fn extract(request: &mut RequestParts<'_>) -> Result<Self, ErrorKind> {
        Ok(Self {
            payload: mem::replace(&mut request.payload, Payload::None),
            value: PhantomData,
        })
    }
}

/// Parses a received body: on this thread if that is short, otherwise on a renderer thread. The
/// lease of the body lasts until then, even if the client disconnects.
///
/// # Errors
///
/// Returns the errors of `parse` and of [`RequestContext::run`].
async fn parsed<T: Send + 'static>(
    cx: &RequestContext,
    demand: Demand,
    body: Bytes,
    parse: impl FnOnce(&[u8]) -> Result<T, ErrorKind> + Send + 'static,
) -> Result<T, ErrorKind> {
    let lease = Arc::clone(&cx.body_lease);
    let parse = move || {
        let _lease = lease;
        parse(&body)
    };
    cx.run(WorkKind::Parse, demand, parse).await?
}

/// Receives a body of one of the media types, of at most `limit_bytes` and
/// `api.max_body_bytes` bytes. Returns the index of its type and the body.
async fn receive_for<const N: usize>(
    cx: &RequestContext,
    payload: &mut Payload,
    limit_bytes: usize,
    media: &[Media; N],
) -> Result<(usize, Bytes), ErrorKind> {
    let limit_bytes = limit_bytes.min(cx.state.body_bytes_max());
    let names = media.map(|media| media.name(&cx.state.media_types));
    let (budget, lease) = (&cx.state.bodies, &cx.body_lease);
    receive(cx.request(), payload, limit_bytes, &names, budget, lease).await
}

/// Receives a body of at most `limit_bytes` whose media type is one of `media_types`. Returns the
/// index of the type and the body. Adds the received bytes to `lease`, a lease of `budget`.
///
/// # Errors
///
/// Returns an error with one of these statuses:
/// * 411 if the request neither declares the length of its body nor is chunked;
/// * 415 if the media type is not one of `media_types`, or the body is encoded;
/// * 413 if the body is larger than `limit_bytes`: immediately if the length is declared, otherwise
///   when the limit is passed;
/// * 503 if the bodies of other requests exhaust the budget, with the same timing;
/// * 408 if the body does not arrive in time;
/// * 400 if the connection ends before the body does.
async fn receive(
    request: &HttpRequest,
    payload: &mut Payload,
    limit_bytes: usize,
    media_types: &[&str],
    budget: &MemoryBudget,
    lease: &MemoryLease,
) -> Result<(usize, Bytes), ErrorKind> {
    let declared_bytes = declared_length(request)?;
    if declared_bytes.is_some_and(|declared| declared > limit_bytes as u64) {
        return Err(ErrorKind::BodyTooLarge { limit_bytes });
    }
    let which = media_type(request, media_types)?;
    check_encoding(request.headers())?;
    let declared_bytes = usize::try_from(declared_bytes.unwrap_or_default()).unwrap_or(usize::MAX);
    if !budget.has_capacity(declared_bytes) {
        return Err(full(budget));
    }
    let body = within_time_limit(collect(payload, limit_bytes, budget, lease)).await?;
    Ok((which, body))
}

/// Replaces the lease of a body by one of `size_bytes`, for the values that were parsed from it.
///
/// # Errors
///
/// Returns [`ErrorKind::Overloaded`] if the budget of bodies has no capacity.
pub(crate) fn lease_values(cx: &RequestContext, size_bytes: usize) -> Result<(), ErrorKind> {
    cx.body_lease.release();
    if cx.body_lease.try_grow(size_bytes) {
        return Ok(());
    }
    Err(full(&cx.state.bodies))
}

/// Returns the error of a body that exceeds the memory budget of bodies.
fn full(budget: &MemoryBudget) -> ErrorKind {
    Overload::brief("api.bodies_bytes_max", budget.limit_bytes()).into()
}

async fn collect(
    payload: &mut Payload,
    limit_bytes: usize,
    budget: &MemoryBudget,
    lease: &MemoryLease,
) -> Result<Bytes, ErrorKind> {
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk
            .map_err(|cause| ErrorKind::Syntax(format!("reading the body failed: {cause}")))?;
        if chunk.len() > limit_bytes - body.len() {
            return Err(ErrorKind::BodyTooLarge { limit_bytes });
        }
        if !lease.try_grow(chunk.len()) {
            return Err(full(budget));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// Returns the index of the body's type among `media_types`. Parameters of the type are ignored.
fn media_type(request: &HttpRequest, media_types: &[&str]) -> Result<usize, ErrorKind> {
    let value = request
        .headers()
        .get(CONTENT_TYPE)
        .ok_or(ErrorKind::MissingContentType)?;
    let value = String::from_utf8_lossy(value.as_bytes());
    let given = essence(&value);
    let which = media_types
        .iter()
        .position(|known| given.eq_ignore_ascii_case(known));
    which.ok_or_else(|| unsupported(given.to_ascii_lowercase(), media_types))
}

/// Returns the error of a media type that is none of `media_types`.
fn unsupported(given: String, media_types: &[&str]) -> ErrorKind {
    const OF_ANY_VENDOR: &str = "application/x.";
    const OF_SDK: &str = "application/x.aptos.";
    let mut of_vendor = media_types
        .iter()
        .filter(|known| known.starts_with(OF_ANY_VENDOR));
    if given.starts_with(OF_SDK) && of_vendor.any(|known| !known.starts_with(OF_SDK)) {
        return ErrorKind::MediaTypeOfSdk(given);
    }
    ErrorKind::UnsupportedContentType(given)
}

/// Returns the declared length in bytes, or `None` for a chunked body or an HTTP/2 stream, because
/// both mark their end.
fn declared_length(request: &HttpRequest) -> Result<Option<u64>, ErrorKind> {
    let Some(value) = request.headers().get(CONTENT_LENGTH) else {
        let ends_by_itself =
            request.version() == Version::HTTP_2 || request.chunked().unwrap_or(false);
        return if ends_by_itself {
            Ok(None)
        } else {
            Err(ErrorKind::LengthRequired)
        };
    };
    let length = value
        .to_str()
        .ok()
        .and_then(|text| text.trim().parse().ok());
    length
        .map(|DecimalText(bytes)| Some(bytes))
        .ok_or_else(|| ErrorKind::Syntax("failed to parse header `Content-Length`".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::{error::PayloadError, test::TestRequest};
    use futures::{Stream, stream};
    use ledger_limits::ClientKey;
    use std::{cell::RefCell, pin::Pin, rc::Rc};

    type BoxedStream = Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>>>>;

    const LIMIT: usize = 10;

    async fn read_stream<S>(stream: S) -> Result<(usize, Bytes), ErrorKind>
    where
        S: Stream<Item = Result<Bytes, PayloadError>> + 'static,
    {
        let budget = MemoryBudget::new(LIMIT);
        read_stream_with(stream, &budget, &budget.lease(ClientKey::NODE)).await
    }

    async fn read_stream_with<S>(
        stream: S,
        budget: &MemoryBudget,
        lease: &MemoryLease,
    ) -> Result<(usize, Bytes), ErrorKind>
    where
        S: Stream<Item = Result<Bytes, PayloadError>> + 'static,
    {
        let request = TestRequest::post()
            .insert_header(("content-length", "5"))
            .insert_header(("content-type", "B/b; x=y"))
            .to_http_request();
        let mut payload = Payload::Stream {
            payload: Box::pin(stream) as BoxedStream,
        };
        let media_types = ["a/a", "b/b"];
        receive(&request, &mut payload, LIMIT, &media_types, budget, lease).await
    }

    fn chunks(lengths: &[usize]) -> impl Stream<Item = Result<Bytes, PayloadError>> + 'static {
        let chunks: Vec<_> = lengths
            .iter()
            .map(|&length| Ok(vec![7; length].into()))
            .collect();
        stream::iter(chunks)
    }

    #[actix_web::test]
    async fn accepts_a_body_up_to_the_limit() {
        let (which, body) = read_stream(chunks(&[4, 6])).await.unwrap();
        assert_eq!((which, body.len()), (1, LIMIT));
        let problem = read_stream(chunks(&[4, 7]).chain(stream::pending()))
            .await
            .unwrap_err();
        assert!(
            matches!(problem, ErrorKind::BodyTooLarge { limit_bytes: LIMIT }),
            "{problem}"
        );
    }

    #[actix_web::test]
    async fn charges_every_chunk_to_the_budget_when_it_arrives() {
        let budget = MemoryBudget::new(LIMIT);
        let lease = budget.lease(ClientKey::NODE);
        let lengths = [1, 4, 2, 3];
        let (observed, charged_bytes) = (budget.clone(), Rc::new(RefCell::new(Vec::new())));
        let seen = Rc::clone(&charged_bytes);
        let observing =
            chunks(&lengths).inspect(move |_| seen.borrow_mut().push(observed.held_bytes()));
        let (_, body) = read_stream_with(observing, &budget, &lease).await.unwrap();
        assert_eq!(body.len(), LIMIT);
        assert_eq!(
            *charged_bytes.borrow(),
            [0, 1, 5, 7],
            "bytes charged before each chunk"
        );
        assert_eq!((budget.held_bytes(), lease.bytes()), (LIMIT, LIMIT));
        drop(lease);
        assert_eq!(budget.held_bytes(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn rejects_a_chunk_that_exceeds_the_budget() {
        for lengths in [&[6, 1][..], &[1, 6], &[1, 1, 1, 1, 1, 1, 1]] {
            let budget = MemoryBudget::new(LIMIT);
            let (other, lease) = (budget.lease(ClientKey::NODE), budget.lease(ClientKey::NODE));
            assert!(other.try_grow(LIMIT - 6));
            let unread = chunks(lengths).chain(stream::pending());
            let problem = read_stream_with(unread, &budget, &lease).await.unwrap_err();
            assert_eq!(
                problem.to_string(),
                format!("overloaded: api.bodies_bytes_max = {LIMIT}"),
                "{lengths:?}"
            );
            drop(lease);
            assert_eq!(budget.held_bytes(), other.bytes(), "{lengths:?}");
        }
    }

    #[actix_web::test]
    async fn rejects_the_body_of_a_broken_connection() {
        let broken = chunks(&[4]).chain(stream::iter([Err(PayloadError::Incomplete(None))]));
        let problem = read_stream(broken).await.unwrap_err();
        assert!(matches!(problem, ErrorKind::Syntax(_)), "{problem}");
    }

    #[tokio::test(start_paused = true)]
    async fn times_out_a_body_that_does_not_end() {
        let problem = read_stream(chunks(&[4]).chain(stream::pending()))
            .await
            .unwrap_err();
        assert!(
            matches!(problem, ErrorKind::BodyTimeout { .. }),
            "{problem}"
        );
    }
}
