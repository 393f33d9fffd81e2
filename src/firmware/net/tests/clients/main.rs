//! Clients on an unreliable network: a second stack (smoltcp as its authors run it) connects to
//! ours. Frames are lost, delayed and reordered, and the controller has little space. Every byte
//! must be echoed, and the next client served.
//!
//! The stack is called only when its contract requires it, and tasks are polled only when they were
//! woken: a missing wake-up or deadline stops everything.

mod world;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::task::Poll;

use kairos_net::Socket;
use proptest::prelude::*;
use smoltcp::socket::tcp;

use world::{Conditions, Random, World, GOOD};

/// Echoes everything, for one client after another.
async fn echo_server(mut socket: Socket) {
    let mut buffer = vec![0; 5000];
    loop {
        socket.accept().await;
        loop {
            match socket.read(&mut buffer).await {
                Ok(0) | Err(_) => break,
                Ok(length) => {
                    if socket.write_all(&buffer[..length]).await.is_err() {
                        break;
                    }
                }
            }
        }
        socket.close();
        socket.flush().await;
    }
}

fn pattern(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed | 1);
    (0..length).map(|_| random.below(256) as u8).collect()
}

#[test]
fn megabyte_is_echoed_over_ipv4_and_ipv6() {
    for ipv6 in [false, true] {
        let mut world = World::new(Conditions { ipv6, ..GOOD });
        let socket = world.socket();
        world.spawn(echo_server(socket));
        world.echo(&pattern(1 << 20, 7));
        assert!(world.now < 2_000_000, "{} us", world.now);
        world.echo(b"the next client");
    }
}

#[test]
fn simultaneous_clients_are_served_and_surplus_client_is_refused() {
    let mut world = World::new(GOOD);
    for _ in 0..3 {
        let socket = world.socket();
        world.spawn(echo_server(socket));
    }
    let clients: Vec<_> = (0..4).map(|_| world.connect()).collect();
    world.until(1, |world| {
        let states = clients
            .iter()
            .map(|handle| world.sockets.get::<tcp::Socket>(*handle).state());
        !states.into_iter().any(|state| state == tcp::State::SynSent)
    });
    let states: Vec<_> = clients.iter().map(|handle| world.client(*handle).state()).collect();
    assert_eq!(states[..3], [tcp::State::Established; 3]);
    assert_eq!(states[3], tcp::State::Closed);
    // Connected clients can all communicate, and then make space.
    for (index, handle) in clients[..3].iter().enumerate() {
        let text = [index as u8; 3];
        world.client(*handle).send_slice(&text).unwrap();
        world.client(*handle).close();
        world.until(1, |world| world.client(*handle).recv_queue() == 3);
    }
    world.echo(b"the next client");
}

#[test]
fn paused_reader_receives_all_data() {
    let conditions = Conditions { buffer: 8192, ..GOOD };
    let mut world = World::new(conditions);
    let mut socket = world.socket();
    let may_read = Arc::new(AtomicBool::new(false));
    let data = pattern(100_000, 3);
    let (gate, expected) = (may_read.clone(), data.clone());
    world.spawn(async move {
        socket.accept().await;
        let (mut all, mut piece) = (vec![], [0; 700]);
        while all.len() < expected.len() {
            std::future::poll_fn(|_| match gate.load(Ordering::Relaxed) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            })
            .await;
            gate.store(false, Ordering::Relaxed);
            let length = socket.read(&mut piece).await.unwrap();
            all.extend_from_slice(&piece[..length]);
        }
        assert!(all == expected);
        socket.write_all(b"all").await.unwrap();
    });
    let handle = world.connect();
    let mut sent = 0;
    world.tick = 1000;
    world.until(600, |world| {
        let client = world.client(handle);
        if client.can_send() && sent < data.len() {
            sent += client.send_slice(&data[sent..]).unwrap();
        }
        // The reader may take the next piece now.
        may_read.store(true, Ordering::Relaxed);
        world.tasks[0].woken.0.store(true, Ordering::Relaxed);
        world.client(handle).recv_queue() == 3
    });
    // Without probes, which are a second apart, it takes hardly any time.
    assert!(world.now < 900_000, "{} us", world.now);
}

#[test]
fn vanished_client_times_out_and_next_is_served() {
    let mut world = World::new(GOOD);
    let mut socket = world.socket();
    socket.set_times(5, 1);
    world.spawn(echo_server(socket));
    let handle = world.connect();
    world.until(1, |world| world.client(handle).may_send());
    // The client's system forgets the connection, without even a reset.
    world.sockets.remove(handle);
    let silent = world.now;
    world.conditions.lost = 1000;
    while world.now < silent + 7_000_000 {
        world.step();
    }
    world.conditions.lost = 0;
    world.echo(b"the next client");
}

/// The end of its stream is lost, and three acknowledgements that were overtaken request it again.
#[test]
fn lost_fin_is_retransmitted() {
    let mut world = World::new(Conditions {
        seed: 13880192193014532004,
        lost: 83,
        delay: 358,
        spread: 882,
        space: 12,
        ..GOOD
    });
    for _ in 0..2 {
        let socket = world.socket();
        world.spawn(echo_server(socket));
    }
    for length in [39115, 26888] {
        world.echo(&pattern(length, world.conditions.seed ^ length as u64));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn echo_over_lossy_line_returns_all_bytes(
        seed in any::<u64>(),
        lost in prop_oneof![Just(0u64), 0u64..100],
        twice in 0u64..50,
        delay in 1u64..5000,
        spread in prop_oneof![Just(0u64), 0u64..3000],
        space in 1usize..70,
        buffer in prop_oneof![Just(64 * 1024usize), 1500usize..20_000],
        ipv6 in any::<bool>(),
        lengths in prop::collection::vec(1usize..60_000, 1..4),
    ) {
        let mut world = World::new(Conditions { seed, lost, twice, delay, spread, space, buffer, ipv6 });
        for _ in 0..2 {
            let socket = world.socket();
            world.spawn(echo_server(socket));
        }
        for length in lengths {
            world.echo(&pattern(length, seed ^ length as u64));
        }
    }
}
