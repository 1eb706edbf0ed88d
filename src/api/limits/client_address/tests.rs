use super::*;
use proptest::prelude::*;

/// Networks of the proxies.
const PROXIES: &str = "10.0.0.0/8,fd00::/8";
const PEER: &str = "10.0.0.1";

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Returns the client of a request that a peer sent with these header lines.
fn client_of(peer: &str, lines: &[(HeaderName, &[u8])]) -> IpAddr {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(name.clone(), HeaderValue::from_bytes(value).unwrap());
    }
    client_address(ip(peer), &headers, &PROXIES.parse().unwrap())
}

fn forwarded(line: &str) -> (HeaderName, &[u8]) {
    (FORWARDED, line.as_bytes())
}

fn x_forwarded_for(line: &str) -> (HeaderName, &[u8]) {
    (X_FORWARDED_FOR, line.as_bytes())
}

#[test]
fn ignores_the_headers_of_an_untrusted_peer() {
    let lines = [forwarded("for=1.1.1.1"), x_forwarded_for("1.1.1.1")];
    assert_eq!(client_of("192.0.2.1", &lines), ip("192.0.2.1"));
    assert_eq!(client_of("::ffff:192.0.2.1", &lines), ip("192.0.2.1"));
    assert_eq!(client_of("::ffff:10.0.0.1", &lines), ip("1.1.1.1"));
}

#[test]
fn returns_the_last_untrusted_hop() {
    for (line, client) in [
        ("203.0.113.9", "203.0.113.9"),
        ("1.1.1.1, 203.0.113.9", "203.0.113.9"),
        ("1.1.1.1, 203.0.113.9, 10.9.9.9", "203.0.113.9"),
        ("1.1.1.1,203.0.113.9,10.9.9.9,fd00::7", "203.0.113.9"),
        ("10.1.1.1, 10.2.2.2", "10.1.1.1"),
        ("10.2.2.2", "10.2.2.2"),
        (" , 203.0.113.9,, ", "203.0.113.9"),
        ("", PEER),
        (" , ", PEER),
    ] {
        assert_eq!(
            client_of(PEER, &[x_forwarded_for(line)]),
            ip(client),
            "{line}"
        );
    }
}

#[test]
fn reads_every_form_of_an_address() {
    for (hop, client) in [
        ("203.0.113.9", "203.0.113.9"),
        ("203.0.113.9:443", "203.0.113.9"),
        ("203.0.113.9:_obscured.1", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("2001:db8::9", "2001:db8::9"),
        ("[2001:db8::9]", "2001:db8::9"),
        ("[2001:db8::9]:443", "2001:db8::9"),
    ] {
        assert_eq!(
            client_of(PEER, &[x_forwarded_for(hop)]),
            ip(client),
            "{hop}"
        );
        for line in [
            format!("for=\"{hop}\""),
            format!("proto=https;For=\"{hop}\";host=\"a;b, for=1.1.1.1\""),
            format!("for=1.1.1.1, by=_me ; fOR = {hop};"),
        ] {
            assert_eq!(client_of(PEER, &[forwarded(&line)]), ip(client), "{line}");
        }
    }
}

#[test]
fn hop_without_an_address_ends_the_search_at_the_proxy_after_it() {
    let long = format!("for=1.1.1.1;host={}", "a".repeat(HOP_BYTES_MAX));
    for hop in [
        "unknown",
        "for=unknown",
        "for=_hidden",
        "for=\"_hidden:80\"",
        "proto=https",
        "for=1.1.1.1;for=2.2.2.2",
        "for",
        "for=1.1.1.1:",
        "for=1.1.1.1:123456",
        "for=1.1.1.1:8a",
        "for=1.1.1",
        "for=\"1.1.1.1",
        "for=1.1.1.1;host=\"a\"b\"",
        "for=\"[2001:db8::1\"",
        "for=\"[1.1.1.1]\"",
        "for=\"fe80::1%eth0\"",
        "for=1.1.1.1 2.2.2.2",
        &long,
    ] {
        let line = format!("for=1.1.1.1, {hop}, for=10.2.2.2");
        assert_eq!(
            client_of(PEER, &[forwarded(&line)]),
            ip("10.2.2.2"),
            "{hop}"
        );
        let line = hop.replace("for=", "");
        let line = format!("1.1.1.1,x{line}");
        assert_eq!(
            client_of(PEER, &[x_forwarded_for(&line)]),
            ip(PEER),
            "{line}"
        );
    }
    let not_utf8 = (X_FORWARDED_FOR, &b"1.1.1.1, \xff, 10.2.2.2"[..]);
    assert_eq!(client_of(PEER, &[not_utf8]), ip("10.2.2.2"));
}

#[test]
fn joins_header_lines_in_their_order() {
    let lines = ["1.1.1.1", "203.0.113.9, 10.3.3.3", "10.2.2.2"];
    assert_eq!(
        client_of(PEER, &lines.map(x_forwarded_for)),
        ip("203.0.113.9")
    );
    let lines = lines.map(|line| line.replace("10.", "for=10.").replace("203.", "for=203."));
    let lines: Vec<_> = lines.iter().map(|line| forwarded(line)).collect();
    assert_eq!(client_of(PEER, &lines), ip("203.0.113.9"));
}

#[test]
fn counts_the_proxy_as_the_client_if_the_two_headers_differ() {
    let standard = forwarded("for=203.0.113.9");
    let same = x_forwarded_for("1.1.1.1, 203.0.113.9");
    assert_eq!(
        client_of(PEER, &[standard.clone(), same]),
        ip("203.0.113.9")
    );
    for other in ["203.0.113.8", "unknown", "10.2.2.2", ""] {
        let lines = [standard.clone(), x_forwarded_for(other)];
        assert_eq!(client_of(PEER, &lines), ip(PEER), "{other}");
    }
}

#[test]
fn reads_a_bounded_number_of_hops() {
    let proxies = |count: usize| "10.2.2.2,".repeat(count);
    let within = format!("203.0.113.9,{}", proxies(HOPS_MAX - 2));
    assert_eq!(
        client_of(PEER, &[x_forwarded_for(&within)]),
        ip("203.0.113.9")
    );
    let beyond = format!("203.0.113.9,{}", proxies(HOPS_MAX));
    assert_eq!(client_of(PEER, &[x_forwarded_for(&beyond)]), ip("10.2.2.2"));
    let empty = format!("203.0.113.9{}", ",".repeat(100_000));
    assert_eq!(client_of(PEER, &[x_forwarded_for(&empty)]), ip(PEER));
}

/// Header lines as a client may make them, in the form of one of the headers or of none.
fn forged() -> impl Strategy<Value = Vec<u8>> {
    let text = concat!(
        r#"(for=|FOR = |by=|host=|;|,|"|\\|[ \t]|unknown|_x|\[|\]|:|"#,
        r"1\.1\.1\.1|10\.0\.0\.2|2001:db8::1|fd00::2|[ -~]){0,40}",
    );
    prop_oneof![
        text.prop_map(String::into_bytes),
        prop::collection::vec(
            prop_oneof![Just(b'\t'), 0x20..=0x7e_u8, 0x80..=0xff_u8],
            0..200
        ),
    ]
}

fn address() -> impl Strategy<Value = IpAddr> {
    prop_oneof![
        any::<[u8; 4]>().prop_map(IpAddr::from),
        any::<[u8; 16]>().prop_map(IpAddr::from),
    ]
}

proptest! {
    /// The proxy appends the address of its peer, to the line that it received or as a new one.
    #[test]
    fn forged_hops_do_not_change_the_client(
        forged in prop::collection::vec(forged(), 0..4),
        address in address(),
        is_new_line: bool,
        is_standard: bool,
    ) {
        let proxies: Networks = PROXIES.parse().unwrap();
        prop_assume!(!proxies.contain(address));
        let (name, hop) = if is_standard {
            (FORWARDED, format!("for=\"[{address}]:80\";host=\"a, for=2.2.2.2\""))
        } else {
            (X_FORWARDED_FOR, format!("{address}"))
        };
        let hop = if address.is_ipv4() { hop.replace(['[', ']'], "") } else { hop };
        let mut lines = forged;
        match lines.last_mut() {
            Some(last) if !is_new_line => last.extend(format!(", {hop}").bytes()),
            _ => lines.push(hop.into_bytes()),
        }
        let lines: Vec<_> = lines.iter().map(|line| (name.clone(), line.as_slice())).collect();
        prop_assert_eq!(client_of(PEER, &lines), address.to_canonical());
    }

    /// With any headers, the client is the peer or an address that a header has.
    #[test]
    fn reads_any_headers(
        standard in prop::collection::vec(forged(), 0..3),
        convention in prop::collection::vec(forged(), 0..3),
    ) {
        let lines = standard.iter().map(|line| (FORWARDED, line.as_slice()));
        let lines = lines.chain(convention.iter().map(|line| (X_FORWARDED_FOR, line.as_slice())));
        let lines: Vec<_> = lines.collect();
        let client = client_of(PEER, &lines);
        prop_assert_eq!(client, client.to_canonical());
        prop_assert_eq!(client_of("192.0.2.1", &lines), ip("192.0.2.1"));
    }
}
