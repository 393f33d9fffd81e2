//! The network boot service (`kairos_proto::netboot`): one client at a time, until files have come and are to be booted.

use embassy_time::{Duration, Instant};
use kairos_boot::netboot::{text, Check, Connection, Files, Output, Text};
use kairos_channel::memory::RUNTIME;
use kairos_config::auth::{self, Access, Nonces};
use kairos_proto::bitstream::Bitstream;
use kairos_proto::firmware::Firmware;
use kairos_proto::netboot::{Kind, PORT};
use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp;

use crate::chip;
use crate::config::Config;
use crate::network::{Hardware, Network};

/// A client that says nothing for so long is left.
const SILENCE: Duration = Duration::from_secs(20);
/// How long the last answer may take to reach the client.
const FAREWELL: Duration = Duration::from_millis(500);
const RECEIVE_BUFFER: usize = 256 * 1024;
const SEND_BUFFER: usize = 4096;

/// Whether a file can be booted on this chip.
struct Checker;

impl Check for Checker {
    fn check(&mut self, kind: Kind, content: &[u8]) -> Result<(), Text> {
        match kind {
            Kind::Firmware => match Firmware::parse(content, RUNTIME) {
                Ok(_) => Ok(()),
                Err(error) => Err(text(format_args!("{error}"))),
            },
            Kind::Gateware => match Bitstream::find(content, chip::idcode()) {
                Ok(_) => Ok(()),
                Err(error) => Err(text(format_args!("{error}"))),
            },
        }
    }
}

/// When something comes, as finely as it is known.
fn time() -> [u8; 12] {
    let mut time = [0; 12];
    time[..8].copy_from_slice(&Instant::now().as_ticks().to_le_bytes());
    time[8..].copy_from_slice(&cycles().to_le_bytes());
    time
}

/// The global timer's low word: 2.5 ns each.
fn cycles() -> u32 {
    // SAFETY: reading the timer has no effect.
    unsafe { core::ptr::read_volatile(0xF8F0_0200 as *const u32) }
}

/// Serves clients until one has asked to boot what it has sent, or until none has offered anything for `wait` seconds.
pub fn serve(hardware: &mut Hardware, config: &mut Config, files: &mut Files, wait: Option<u32>) {
    let access = config.access();
    let closed = access == Access::Closed;
    if closed {
        log::error!(
            "{} must have {} to {} bytes: nothing is accepted from the network",
            auth::KEY,
            auth::KEY_MIN,
            auth::KEY_MAX
        );
    }
    let key = access.key();
    let mut nonces = Nonces::new();
    nonces.stir(config.read(auth::SEED, &mut [0; auth::VALUE_MAX]).unwrap_or_default());
    let network = hardware.start(config);
    let handle = socket(network);
    let mut last_offer = Instant::now();
    let mut connection: Option<(Connection, Instant)> = None;
    loop {
        network.poll();
        let end = wait.map(|seconds| last_offer + Duration::from_secs(seconds.into()));
        if end.is_some_and(|end| Instant::now() >= end) {
            network.sockets.get_mut::<tcp::Socket>(handle).abort();
            network.poll();
            network.sockets.remove(handle);
            return;
        }
        let socket = network.sockets.get_mut::<tcp::Socket>(handle);
        if !socket.is_open() {
            connection = None;
            if !closed {
                socket.listen(PORT).expect("not open");
            }
        }
        if socket.may_recv() && connection.is_none() {
            let client = Connection::new(key, nonces.next(key.unwrap_or_default(), &time()));
            connection = Some((client, Instant::now()));
        }
        let mut worked = false;
        if let Some((client, heard)) = &mut connection {
            match step(socket, client, files) {
                Step::Nothing if !socket.may_recv() => {
                    socket.close();
                    connection = None;
                }
                Step::Nothing if Instant::now() >= *heard + SILENCE => {
                    log::warn!("a client is silent: left");
                    socket.abort();
                }
                Step::Nothing => {}
                Step::Worked => {
                    worked = true;
                    *heard = Instant::now();
                    if client.has_offered() {
                        last_offer = Instant::now();
                    }
                }
                Step::Boot => {
                    farewell(network, handle);
                    return;
                }
            }
        }
        if !worked {
            network.sleep(end);
        }
    }
}

enum Step {
    Nothing,
    Worked,
    Boot,
}

/// Takes some of what has come, and answers.
fn step(socket: &mut tcp::Socket, client: &mut Connection, files: &mut Files) -> Step {
    // An answer must fit as a whole.
    if socket.send_capacity() - socket.send_queue() < 256 {
        return Step::Nothing;
    }
    // Also without input: nothing more comes of a file that was complete already.
    let advanced = match socket.can_recv() {
        true => socket.recv(|data| {
            let (taken, output) = client.advance(files, &mut Checker, data);
            (taken, (taken, output))
        }),
        false => Ok(client.advance(files, &mut Checker, &[])),
    };
    match advanced.map(|(taken, output)| (taken > 0, output)) {
        Ok((false, Output::None)) => Step::Nothing,
        Ok((true, Output::None)) => Step::Worked,
        Ok((_, Output::Send(bytes))) => {
            // There is room.
            let _ = socket.send_slice(&bytes);
            Step::Worked
        }
        Ok((_, Output::Refuse(bytes, reason))) => {
            log::warn!("refused: {reason}");
            let _ = socket.send_slice(&bytes);
            socket.close();
            Step::Worked
        }
        Ok((_, Output::Boot(bytes))) => {
            let _ = socket.send_slice(&bytes);
            socket.close();
            Step::Boot
        }
        Err(_) => Step::Nothing,
    }
}

/// Lets the last answer reach the client.
fn farewell(network: &mut Network, handle: SocketHandle) {
    let end = Instant::now() + FAREWELL;
    while Instant::now() < end {
        network.poll();
        let socket = network.sockets.get_mut::<tcp::Socket>(handle);
        if !socket.is_open() || matches!(socket.state(), tcp::State::TimeWait | tcp::State::FinWait2) {
            break;
        }
        network.sleep(Some(end));
    }
    network.sockets.remove(handle);
}

fn socket(network: &mut Network) -> SocketHandle {
    static mut RECEIVE: [u8; RECEIVE_BUFFER] = [0; RECEIVE_BUFFER];
    static mut SEND: [u8; SEND_BUFFER] = [0; SEND_BUFFER];
    // SAFETY: one socket at a time: whoever has made one removes it before the next is made.
    let (receive, send) = unsafe {
        (
            &mut *core::ptr::addr_of_mut!(RECEIVE),
            &mut *core::ptr::addr_of_mut!(SEND),
        )
    };
    let mut socket = tcp::Socket::new(
        tcp::SocketBuffer::new(&mut receive[..]),
        tcp::SocketBuffer::new(&mut send[..]),
    );
    socket.set_nagle_enabled(false);
    socket.set_timeout(Some(smoltcp::time::Duration::from_secs(10)));
    socket.set_keep_alive(Some(smoltcp::time::Duration::from_secs(3)));
    network.sockets.add(socket)
}
