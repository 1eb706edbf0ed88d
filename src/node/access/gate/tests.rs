use super::{
    super::{AllowedOrigins, HostNames, sessions::IDLE_MAX},
    *,
};
use actix_web::http::header::{AUTHORIZATION, HeaderName, HeaderValue, X_FORWARDED_FOR};

const TOKEN: &str = "dGhlIG9wZXJhdG9yJ3MgdG9rZW4A";
const OTHER: &str = "dGhlIG9wZXJhdG9yJ3MgdG9rZW4B";
const PEER: Option<IpAddr> = Some(IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 7)));

fn token(text: &str) -> Option<Token> {
    Some(Token::parse(text).unwrap())
}

fn gate(transport: LoginTransport, token: Option<Token>) -> Gate {
    Gate::new(GateOptions {
        policy: HostOriginPolicy {
            section: "admin",
            hosts: HostNames::default(),
            origins: AllowedOrigins::SameOrigin,
        },
        token,
        transport,
        port: 9101,
        trusted_proxies: Networks::default(),
    })
    .unwrap()
}

fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(name.clone(), HeaderValue::from_str(value).unwrap());
    }
    headers
}

/// Returns the headers of a browser that stored this value of `Set-Cookie`.
fn cookie(set_cookie: &str) -> HeaderMap {
    let pair = set_cookie.split(';').next().unwrap();
    headers(&[(COOKIE, &format!("theme=dark; {pair}"))])
}

fn log_in(gate: &Gate, given: &str, now: Instant) -> Result<String, LoginError> {
    gate.log_in(given, &HeaderMap::new(), PEER, now)
}

#[test]
fn serves_a_session_until_its_logout() {
    let gate = gate(LoginTransport::Loopback, token(TOKEN));
    let now = Instant::now();
    let set_cookie = log_in(&gate, TOKEN, now).unwrap();
    assert!(!set_cookie.contains(TOKEN), "{set_cookie}");
    let attributes: Vec<_> = set_cookie.split("; ").skip(1).collect();
    assert_eq!(attributes, ["Path=/", "HttpOnly", "SameSite=Strict"]);
    assert!(set_cookie.starts_with("ledger_session_9101="));

    let of_session = cookie(&set_cookie);
    let requester = gate.requester(&of_session, PEER, now).unwrap();
    assert!(matches!(requester.identity, Identity::Session(_)));
    let shown = requester.to_string();
    assert!(shown.ends_with(" from 10.0.0.7"), "{shown}");
    let id = set_cookie.split(['=', ';']).nth(1).unwrap();
    let name = requester.identity.to_string();
    assert!(!id.contains(&name["session ".len()..]), "{name}: {id}");

    let removed = gate.log_out(&of_session);
    assert!(removed.starts_with("ledger_session_9101=;"), "{removed}");
    assert!(removed.ends_with("; Max-Age=0"), "{removed}");
    assert!(gate.requester(&of_session, PEER, now).is_none());
}

#[test]
fn serves_no_request_without_token_or_session() {
    let gate = gate(LoginTransport::Loopback, token(TOKEN));
    let now = Instant::now();
    let set_cookie = log_in(&gate, TOKEN, now).unwrap();
    let id = set_cookie.split(['=', ';']).nth(1).unwrap();
    let bearer = format!("Bearer {TOKEN}");
    let by_token = gate.requester(&headers(&[(AUTHORIZATION, &bearer)]), PEER, now);
    assert_eq!(by_token.unwrap().identity, Identity::Token);
    for rejected in [
        headers(&[]),
        headers(&[(AUTHORIZATION, &format!("Bearer {OTHER}"))]),
        headers(&[(COOKIE, &format!("ledger_session_9101={TOKEN}"))]),
        headers(&[(COOKIE, "ledger_session_9101=")]),
        headers(&[(COOKIE, &format!("ledger_session_9102={id}"))]),
        headers(&[(COOKIE, &format!("ledger_session_9101={}", &id[1..]))]),
    ] {
        assert!(
            gate.requester(&rejected, PEER, now).is_none(),
            "{rejected:?}"
        );
    }
    // A page of another port of the host can set a cookie of the same name.
    let several = format!("ledger_session_9101=x; ledger_session_9101={id}");
    assert!(
        gate.requester(&headers(&[(COOKIE, &several)]), PEER, now)
            .is_some()
    );
}

#[test]
fn ends_sessions_by_time_and_with_their_token() {
    let gate = gate(LoginTransport::Loopback, token(TOKEN));
    let now = Instant::now();
    let idle = cookie(&log_in(&gate, TOKEN, now).unwrap());
    assert!(gate.requester(&idle, PEER, now + IDLE_MAX).is_none());

    let session = cookie(&log_in(&gate, TOKEN, now).unwrap());
    let bearer = format!("Bearer {TOKEN}");
    let requesters = [&session, &headers(&[(AUTHORIZATION, &bearer)])]
        .map(|headers| gate.requester(headers, PEER, now).unwrap());
    let served = |now| requesters.each_ref().map(|of| gate.serves(of, now));
    assert!(!gate.replace_token(token(TOKEN)));
    assert!(gate.requester(&session, PEER, now).is_some());
    // A stream that is served counts as a use of its session.
    let later = now + IDLE_MAX / 4 * 3;
    assert_eq!(served(later), [true, true]);
    assert_eq!(served(later + IDLE_MAX / 4 * 3), [true, true]);
    assert!(gate.replace_token(token(OTHER)));
    assert!(gate.requester(&session, PEER, now).is_none());
    assert_eq!(served(later), [false, false]);
    assert_eq!(log_in(&gate, TOKEN, now), Err(LoginError::WrongToken));
    assert!(log_in(&gate, OTHER, now).is_ok());
}

#[test]
fn changes_by_a_page_need_its_csrf_token_and_origin() {
    let gate = gate(LoginTransport::Loopback, token(TOKEN));
    let now = Instant::now();
    let requester = |headers: &HeaderMap| gate.requester(headers, PEER, now).unwrap();
    let session = requester(&cookie(&log_in(&gate, TOKEN, now).unwrap()));
    let another = requester(&cookie(&log_in(&gate, TOKEN, now).unwrap()));
    let own = headers(&[(ORIGIN, "http://localhost:9101")]);
    let without_origin = headers(&[]);
    let csrf_token = session.csrf_token.expose();
    for headers in [&own, &without_origin] {
        assert!(session.needs_csrf_token(headers));
    }
    assert_eq!(session.check_change(&own, Some(csrf_token)), Ok(()));
    for (headers, given) in [
        (&without_origin, Some(csrf_token)),
        (&own, None),
        (&own, Some("")),
        (&own, Some(another.csrf_token.expose())),
        (&own, Some(gate.0.page_token.expose())),
    ] {
        assert!(session.check_change(headers, given).is_err(), "{given:?}");
    }
    let bearer = format!("Bearer {TOKEN}");
    let program = requester(&headers(&[(AUTHORIZATION, &bearer)]));
    assert!(!program.needs_csrf_token(&own));
}

#[test]
fn changes_without_a_login_need_the_token_of_the_page_if_a_browser_sends_them() {
    let gate = gate(LoginTransport::Loopback, None);
    let requester = gate.requester(&HeaderMap::new(), PEER, Instant::now());
    let requester = requester.unwrap();
    assert_eq!(requester.identity, Identity::Loopback);
    assert!(!requester.needs_csrf_token(&headers(&[])));
    let own = headers(&[(ORIGIN, "http://localhost:9101")]);
    assert!(requester.needs_csrf_token(&own));
    assert!(requester.check_change(&own, None).is_err());
    let csrf_token = requester.csrf_token.expose();
    assert_eq!(requester.check_change(&own, Some(csrf_token)), Ok(()));
}

#[test]
fn marks_cookies_over_tls_and_accepts_no_login_that_others_can_read() {
    let now = Instant::now();
    let secure = gate(LoginTransport::Secure, token(TOKEN));
    let set_cookie = log_in(&secure, TOKEN, now).unwrap();
    assert!(set_cookie.ends_with("; Secure"), "{set_cookie}");
    assert!(set_cookie.starts_with("__Host-ledger_session_9101="));

    let exposed = gate(LoginTransport::Exposed, token(TOKEN));
    assert_eq!(log_in(&exposed, TOKEN, now), Err(LoginError::Exposed));
    assert_eq!(exposed.login_status().insecure, 1);
}

#[test]
fn limits_wrong_tokens_of_an_address_without_excluding_others() {
    let gate = gate(LoginTransport::Loopback, token(TOKEN));
    let now = Instant::now();
    for _ in 0..FAILURES_MAX {
        assert_eq!(log_in(&gate, OTHER, now), Err(LoginError::WrongToken));
    }
    let limited = log_in(&gate, TOKEN, now);
    assert!(matches!(limited, Err(LoginError::TooManyFailures { .. })));
    let other_peer = Some([10, 0, 0, 8].into());
    assert!(
        gate.log_in(TOKEN, &HeaderMap::new(), other_peer, now)
            .is_ok()
    );
    // An untrusted client cannot name another address.
    let forged = headers(&[(X_FORWARDED_FOR, "10.0.0.9")]);
    assert!(gate.log_in(TOKEN, &forged, PEER, now).is_err());
    assert_eq!(
        gate.login_status(),
        LoginStatus {
            accepted: 1,
            wrong_token: FAILURES_MAX.into(),
            rate_limited: 2,
            insecure: 0
        }
    );
}
