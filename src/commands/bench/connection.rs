//! One HTTP/1.1 connection with one request at a time: as little as a load generator needs, so that
//! the node under test gets the processor.

use crate::commands::Failure;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    HeaderMap, Method, Request, StatusCode, Uri,
    client::conn::http1::{SendRequest, handshake},
    header::{CONTENT_TYPE, HOST},
};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::{net::TcpStream, time::timeout};

/// The largest answer that is read, in bytes; what the bench asks for is a few kilobytes.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How long an answer may take, the time of a long poll included.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Where the node is.
#[derive(Debug, Clone)]
pub struct Target {
    /// `HOST:PORT`, to connect to and for the `Host` header.
    authority: String,
}

impl Target {
    /// Reads `http://HOST:PORT`.
    ///
    /// # Errors
    /// When it is something else.
    pub fn parse(url: &str) -> Result<Self, Failure> {
        let uri: Uri = url
            .parse()
            .map_err(|error| Failure::fatal(format!("--url {url}"), &error))?;
        match (uri.scheme_str(), uri.host()) {
            (Some("http"), Some(host)) => Ok(Self {
                authority: format!("{host}:{}", uri.port_u16().unwrap_or(80)),
            }),
            _ => Err(Failure::Fatal(format!("--url {url}: expected http://HOST:PORT"))),
        }
    }
}

/// An answer, read to its end.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// A request that got no answer; the connection is made anew for the next one.
#[derive(Debug)]
pub struct NoAnswer;

/// A connection that is made when it is needed.
#[derive(Debug)]
pub struct Connection {
    target: Target,
    sender: Option<SendRequest<Full<Bytes>>>,
}

impl Connection {
    /// A connection to `target`, not made yet.
    pub fn new(target: Target) -> Self {
        Self { target, sender: None }
    }

    /// Asks for `path`.
    ///
    /// # Errors
    /// When no answer came.
    pub async fn get(&mut self, path: &str) -> Result<Answer, NoAnswer> {
        self.send(Method::GET, path, None, Bytes::new()).await
    }

    /// Sends a body of the given type.
    ///
    /// # Errors
    /// When no answer came.
    pub async fn post(&mut self, path: &str, media_type: &str, body: Bytes) -> Result<Answer, NoAnswer> {
        self.send(Method::POST, path, Some(media_type), body).await
    }

    async fn send(
        &mut self,
        method: Method,
        path: &str,
        media_type: Option<&str>,
        body: Bytes,
    ) -> Result<Answer, NoAnswer> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, &self.target.authority);
        if let Some(media_type) = media_type {
            request = request.header(CONTENT_TYPE, media_type);
        }
        let request = request.body(Full::new(body)).map_err(|_| NoAnswer)?;
        let answer = timeout(ANSWER_TIMEOUT, self.exchange(request)).await;
        let answer = answer.unwrap_or(Err(NoAnswer));
        if answer.is_err() {
            self.sender = None;
        }
        answer
    }

    async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, NoAnswer> {
        let sender = self.sender().await?;
        let response = sender.send_request(request).await.map_err(|_| NoAnswer)?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, ANSWER_BYTES_MAX)
            .collect()
            .await
            .map_err(|_| NoAnswer)?;
        Ok(Answer {
            status: head.status,
            headers: head.headers,
            body: body.to_bytes(),
        })
    }

    async fn sender(&mut self) -> Result<&mut SendRequest<Full<Bytes>>, NoAnswer> {
        // A server may have closed an idle connection; that is no error of its next request.
        let mut usable = None;
        if let Some(mut sender) = self.sender.take()
            && sender.ready().await.is_ok()
        {
            usable = Some(sender);
        }
        let sender = match usable {
            Some(sender) => sender,
            None => connect(&self.target).await?,
        };
        Ok(self.sender.insert(sender))
    }
}

async fn connect(target: &Target) -> Result<SendRequest<Full<Bytes>>, NoAnswer> {
    let stream = TcpStream::connect(&target.authority)
        .await
        .map_err(|_| NoAnswer)?;
    // Without this a request waits for the acknowledgement of the one before.
    stream.set_nodelay(true).map_err(|_| NoAnswer)?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|_| NoAnswer)?;
    // Ends when the sender is dropped or the server closes; its error shows in the request's.
    tokio::spawn(connection);
    sender.ready().await.map_err(|_| NoAnswer)?;
    Ok(sender)
}
