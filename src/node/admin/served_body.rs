//! The body of a response that ends with the right to receive it.

use crate::access::{Gate, Requester};
use actix_web::{
    body::{BodySize, BoxBody, MessageBody},
    dev::ServiceResponse,
    web::Bytes,
};
use std::{
    error::Error,
    pin::Pin,
    task::{Context, Poll},
    time::Instant,
};

/// A body without a length, such as a stream of events, which ends once its client is no longer
/// served.
///
/// The right is checked whenever the connection asks for the next part, so a stream that sends
/// nothing stays open until its next part.
struct ServedBody {
    body: BoxBody,
    gate: Gate,
    requester: Requester,
}

/// Lets the body of a response end with the right of the client to receive it, if it has no length.
pub fn end_with_right<B: MessageBody + 'static>(
    response: ServiceResponse<B>,
    gate: Gate,
    requester: Requester,
) -> ServiceResponse<BoxBody> {
    response.map_body(|_, body| match body.size() {
        BodySize::Stream => BoxBody::new(ServedBody {
            body: body.boxed(),
            gate,
            requester,
        }),
        BodySize::None | BodySize::Sized(_) => body.boxed(),
    })
}

impl MessageBody for ServedBody {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        if !self.gate.serves(&self.requester, Instant::now()) {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_next(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{
        AllowedOrigins, GateOptions, HostNames, HostOriginPolicy, LoginTransport, Token,
    };
    use actix_web::{HttpResponse, http::header::HeaderMap, test::TestRequest};
    use futures::{future::poll_fn, stream};
    use ledger_limits::Networks;
    use std::{
        convert::Infallible,
        fs::{self, Permissions},
        os::unix::fs::PermissionsExt as _,
    };

    #[actix_web::test]
    async fn ends_a_stream_when_the_client_is_no_longer_served() {
        let gate = Gate::new(GateOptions {
            policy: HostOriginPolicy {
                section: "admin",
                hosts: HostNames::default(),
                origins: AllowedOrigins::SameOrigin,
            },
            token: None,
            transport: LoginTransport::Loopback,
            port: 9101,
            trusted_proxies: Networks::default(),
        })
        .unwrap();
        let requester = gate.requester(&HeaderMap::new(), None, Instant::now());
        let endless = stream::repeat(Ok::<_, Infallible>(Bytes::from_static(b"event")));
        let response = HttpResponse::Ok().streaming(endless);
        let request = TestRequest::get().to_http_request();
        let response = ServiceResponse::new(request, response);
        let response = end_with_right(response, gate.clone(), requester.unwrap());
        let mut body = response.into_body();
        let mut next = async || poll_fn(|context| Pin::new(&mut body).poll_next(context)).await;
        for _ in 0..3 {
            assert_eq!(next().await.unwrap().unwrap(), "event");
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        fs::write(&path, "dGhlIG9wZXJhdG9yJ3MgdG9rZW4A").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        gate.replace_token(Some(Token::read(&path).unwrap()));
        assert!(next().await.is_none());
    }
}
