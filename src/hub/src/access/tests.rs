use super::*;
use tonic::Code;

fn token(name: &str, role: Role) -> Token {
    Token {
        name: name.into(),
        role,
        sha256: digest_of(name),
    }
}

fn code(tokens: &Tokens, path: &str, authorization: Option<&str>) -> Code {
    let mut headers = HeaderMap::new();
    if let Some(value) = authorization {
        headers.insert(header::AUTHORIZATION, value.parse().unwrap());
    }
    match Gate::new(tokens.clone()).check(path, shown(&headers).map(digest_of)) {
        Ok(_) => Code::Ok,
        Err(status) => status.code(),
    }
}

#[test]
fn names_of_this_machine_are_local_with_and_without_port() {
    for host in [
        "localhost",
        "LocalHost:1390",
        "127.0.0.1",
        "127.0.0.1:1",
        "[::1]",
        "[::1]:1390",
    ] {
        assert!(is_local(host), "{host}");
    }
    for host in [
        "",
        "::1",
        "[::1",
        "[::1].example.org",
        "localhost.example.org:80",
        "[::2]",
    ] {
        assert!(!is_local(host), "{host}");
    }
}

#[test]
fn each_role_includes_the_lower_ones() {
    let tokens = Tokens(vec![
        token("a", Role::View),
        token("b", Role::Operate),
        token("c", Role::Administer),
    ]);
    let (view, operate) = ("/kairos.hub.v1.Registers/Read", "/kairos.hub.v1.Registers/Write");
    for (path, codes) in [
        (view, [Code::Ok, Code::Ok, Code::Ok]),
        (METRICS, [Code::Ok, Code::Ok, Code::Ok]),
        ("/grpc.health.v1.Health/Check", [Code::Ok, Code::Ok, Code::Ok]),
        (operate, [Code::PermissionDenied, Code::Ok, Code::Ok]),
        (
            "/no.such/Method",
            [Code::PermissionDenied, Code::PermissionDenied, Code::Ok],
        ),
    ] {
        let shown = ["Bearer a", "Bearer b", "Bearer c"].map(|shown| code(&tokens, path, Some(shown)));
        assert_eq!(shown, codes, "{path}");
    }
}

#[test]
fn unknown_token_is_rejected_by_every_method() {
    let tokens = Tokens(vec![token("a", Role::Administer)]);
    for &(path, _) in METHODS {
        for shown in [
            None,
            Some(""),
            Some("a"),
            Some("bearer a"),
            Some("Bearer "),
            Some("Bearer b"),
            Some("Bearer a "),
        ] {
            assert_eq!(code(&tokens, path, shown), Code::Unauthenticated, "{path} {shown:?}");
        }
    }
}

#[test]
fn methods_of_plugin_require_role_of_its_protocol() {
    let gate = Gate::new(Tokens(vec![token("a", Role::View)]));
    let methods = [("/lab.Pll/Lock", Role::Operate), ("/lab.Pll/State", Role::View)];
    let methods = methods.map(|(path, role)| (path.to_string(), role));
    gate.add_plugin("pll", methods.into(), Some("b"));
    let may = |path: &str, given: &str| {
        let headers = HeaderMap::from_iter([(header::AUTHORIZATION, given.parse().unwrap())]);
        gate.check(path, shown(&headers).map(digest_of)).is_ok()
    };
    assert!(may("/lab.Pll/State", "Bearer a") && !may("/lab.Pll/Lock", "Bearer a"));
    assert!(may("/lab.Pll/Lock", "Bearer b") && !may("/lab.Pll/None", "Bearer b"));
    gate.remove_plugin("pll");
    assert!(!may("/lab.Pll/State", "Bearer a") && !may("/lab.Pll/Lock", "Bearer b"));
}

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let parsed = pairs.iter().map(|(name, value)| {
        let name: header::HeaderName = name.parse().unwrap();
        (name, value.parse().unwrap())
    });
    parsed.collect()
}

#[test]
fn cookie_is_a_token_unless_there_is_another() {
    for (pairs, expected) in [
        (&[("cookie", "kairos-token=a")][..], Some("a")),
        (&[("cookie", "x=y; kairos-token=a; z=1")], Some("a")),
        (&[("cookie", "kairos-tokens=a; xkairos-token=b")], None),
        (
            &[("cookie", "kairos-token=a"), ("authorization", "Bearer b")],
            Some("b"),
        ),
        (&[("cookie", "kairos-token=a"), ("authorization", "Basic b")], None),
        (&[], None),
    ] {
        assert_eq!(shown(&headers(pairs)), expected, "{pairs:?}");
    }
}

#[test]
fn page_of_other_site_is_foreign() {
    let open = Gate::default();
    let closed = Gate::new(Tokens(vec![token("a", Role::View)]));
    let local = "localhost:1390";
    for (gate, host, origin, expected) in [
        (&open, local, None, false),
        (&open, local, Some("http://localhost:1390"), false),
        (&open, "[::1]:1390", Some("http://[::1]:1390"), false),
        (&open, local, Some("http://localhost:1391"), true),
        (&open, local, Some("https://elsewhere"), true),
        (&open, local, Some("null"), true),
        (&open, "elsewhere:1390", Some("http://elsewhere:1390"), true),
        (&closed, "hub.lab:1390", Some("https://hub.lab:1390"), false),
        (&closed, "hub.lab:1390", Some("https://hub.lab:1390.elsewhere"), true),
        (&closed, "hub.lab:1390", Some(""), true),
    ] {
        let mut given = headers(&[("host", host)]);
        if let Some(origin) = origin {
            given.insert(header::ORIGIN, origin.parse().unwrap());
        }
        assert_eq!(
            is_foreign(&Uri::from_static("/"), &given, gate),
            expected,
            "{host} {origin:?}"
        );
    }
}

#[test]
fn link_of_other_site_is_refused() {
    let open = Gate::default();
    let closed = Gate::new(Tokens(vec![token("a", Role::View)]));
    for (gate, host, site, expected) in [
        (&open, "localhost:1390", None, false),
        (&open, "localhost:1390", Some("same-origin"), false),
        (&open, "localhost:1390", Some("cross-site"), true),
        (&open, "elsewhere:1390", Some("same-origin"), true),
        (&open, "elsewhere:1390", None, true),
        (&closed, "hub.lab:1390", Some("none"), false),
        (&closed, "hub.lab:1390", Some("same-site"), true),
    ] {
        let mut given = headers(&[("host", host)]);
        if let Some(site) = site {
            given.insert("sec-fetch-site", site.parse().unwrap());
        }
        assert_eq!(
            is_misled(&Uri::from_static("/"), &given, gate),
            expected,
            "{host} {site:?}"
        );
    }
}

#[test]
fn refused_calls_beyond_the_limit_of_a_round_are_counted_and_not_logged() {
    let (refusals, start) = (Refusals::default(), Instant::now());
    let logged = |after: Duration| (0..1000).filter(|_| refusals.count(start + after).0).count();
    assert_eq!(logged(Duration::ZERO), REFUSALS_LOGGED as usize);
    assert_eq!(logged(ROUND / 2), 0);
    assert_eq!(refusals.count(start + ROUND), (true, 2000 - REFUSALS_LOGGED));
    assert_eq!(refusals.count(start + 2 * ROUND), (true, 0));
}

#[test]
fn hub_without_tokens_admits_everyone() {
    assert_eq!(code(&Tokens::default(), METHODS[0].0, None), Code::Ok);
}

#[tokio::test]
async fn right_that_is_taken_away_ends_its_calls_with_the_reason() {
    let all = Tokens(vec![token("a", Role::Operate), token("b", Role::Operate)]);
    let gate = Arc::new(Gate::new(all.clone()));
    let (write, read) = ("/kairos.hub.v1.Registers/Write", "/kairos.hub.v1.Registers/Read");
    let used = |path: &str, name: &str| {
        let (changes, digest) = (gate.tokens.subscribe(), Some(digest_of(name)));
        gate.revocation(changes, path.into(), digest, Some(name.into()))
    };
    let (writing, mut reading, other) = (used(write, "a"), used(read, "a"), used(read, "b"));
    gate.set_tokens(all);
    gate.set_tokens(Tokens(vec![token("a", Role::View)]));
    let (writing, other) = (writing.await, other.await);
    let expected = "a may view; this requires a token that may operate";
    assert_eq!((writing.code(), writing.message()), (Code::PermissionDenied, expected));
    let expected = "the token of b has been removed from hub.toml";
    assert_eq!((other.code(), other.message()), (Code::Unauthenticated, expected));
    let waits = tokio::time::timeout(Duration::ZERO, &mut reading).await;
    assert!(waits.is_err(), "whoever may only view may read");
}

#[tokio::test]
async fn tokens_that_change_while_the_hub_starts_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hub.toml");
    std::fs::write(&file, "[[device]]\nname = 'a'\naddress = '127.0.0.1:9'\n").unwrap();
    let gate = Arc::new(Gate::new(Tokens(vec![token("removed", Role::View)])));
    let mut changes = gate.tokens.subscribe();
    let listen = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let follows = tokio::spawn(revocation::follow(gate, file, listen));
    changes.wait_for(|tokens| tokens.0.is_empty()).await.unwrap();
    follows.abort();
}
