//! Host sockets of the gateway: each forwarded port listens on 127.0.0.1, and each connection to it
//! is forwarded to the guest. Data, ends of stream, refusals and resets pass both ways, with
//! back-pressure.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

use kairos_contracts::session;

use crate::host::failure::Failure;
use crate::host::net::{Connection, Net, State, GUEST};

/// `HOST_PORT:GUEST_PORT` of `--forward`, or `HOST_PORT:[ADDRESS]:GUEST_PORT` for another address
/// of the guest than its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Port on the host; 0 lets the system choose.
    pub host: u16,
    /// Address of the guest.
    pub address: IpAddr,
    /// Port of the guest.
    pub guest: u16,
}

impl std::str::FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = |text: &str| {
            let (host, guest) = text.split_once(':')?;
            let (address, guest) = match guest.strip_prefix('[') {
                Some(rest) => {
                    let (address, port) = rest.split_once("]:")?;
                    (address.parse().ok()?, port)
                }
                None => (IpAddr::V4(GUEST), guest),
            };
            Some(Self {
                host: host.parse().ok()?,
                address,
                guest: guest.parse().ok().filter(|port| *port != 0)?,
            })
        };
        parse(text)
            .ok_or_else(|| "expected HOST_PORT:GUEST_PORT or HOST_PORT:[ADDRESS]:GUEST_PORT, for example 0:1381".into())
    }
}

/// After this time without an answer from the guest, a host that has ended its stream counts as
/// gone.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);

struct Link {
    host: TcpStream,
    guest: Connection,
    /// A kernel session: its input may be awaited by a kernel, once the guest has answered.
    session: bool,
    /// The guest has sent data. Until then the connection may be one of many that it refuses, whose
    /// attempts must not keep virtual time from advancing.
    answered: bool,
    since: Instant,
    /// The host has ended its stream.
    host_ended: bool,
    /// The end of the guest's stream has been passed on.
    guest_ended: bool,
    /// Polls since both streams ended.
    linger: u8,
    /// The host's socket has failed, and the guest's connection was reset.
    broken: bool,
}

/// Whether input has arrived from the host.
#[derive(Clone, Copy, Default)]
pub struct Input {
    /// On any connection.
    pub any: bool,
    /// On a kernel session.
    pub session: bool,
}

impl Input {
    fn note(&mut self, session: bool) {
        self.any = true;
        self.session |= session;
    }
}

/// Listening sockets and connections.
#[derive(Default)]
pub struct Forwarder {
    listeners: Vec<(TcpListener, Rule)>,
    links: Vec<Link>,
    buffer: Vec<u8>,
}

impl Forwarder {
    /// Starts to listen.
    pub fn new(rules: &[Rule]) -> Result<Self, Failure> {
        let mut listeners = Vec::new();
        for rule in rules {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, rule.host)).map_err(|e| match e.kind() {
                ErrorKind::AddrInUse => Failure::PortInUse(rule.host),
                _ => Failure::Other(format!("cannot listen on port {}: {e}", rule.host)),
            })?;
            listener
                .set_nonblocking(true)
                .map_err(|e| format!("port {}: {e}", rule.host))?;
            listeners.push((listener, *rule));
        }
        Ok(Self {
            listeners,
            links: Vec::new(),
            buffer: vec![0; 64 * 1024],
        })
    }

    /// Listens to the same ports of the guest, at other ports of the host, which the system chooses.
    pub fn elsewhere(&self) -> Result<Self, Failure> {
        let rules: Vec<_> = self
            .listeners
            .iter()
            .map(|(_, rule)| Rule { host: 0, ..*rule })
            .collect();
        Self::new(&rules)
    }

    /// (guest port, with the guest's address unless it is the default, and host port) of every
    /// rule.
    pub fn ports(&self) -> Vec<(String, u16)> {
        let port = |l: &TcpListener| l.local_addr().map_or(0, |a| a.port());
        let guest = |rule: &Rule| match rule.address {
            IpAddr::V4(GUEST) => rule.guest.to_string(),
            address => format!("[{address}]:{}", rule.guest),
        };
        self.listeners.iter().map(|(l, rule)| (guest(rule), port(l))).collect()
    }

    /// The same, as an object of JSON.
    pub fn by_port(&self) -> serde_json::Value {
        self.ports()
            .into_iter()
            .map(|(guest, host)| (guest, serde_json::Value::from(host)))
            .collect()
    }

    /// No host is connected.
    pub fn is_unconnected(&self) -> bool {
        self.links.is_empty()
    }

    /// Whether any connected host has not ended its stream.
    pub fn host_listens(&self) -> bool {
        self.links.iter().any(|l| !l.host_ended)
    }

    /// File descriptors to wait on, with whether to wait for reading and for writing.
    pub fn interests(&self, net: &mut Net) -> Vec<(RawFd, bool, bool)> {
        let mut fds: Vec<_> = self
            .listeners
            .iter()
            .map(|(l, _)| (l.as_raw_fd(), true, false))
            .collect();
        for link in &self.links {
            let read = !link.host_ended && net.space(link.guest) > 0;
            let write = net.has_data(link.guest);
            fds.push((link.host.as_raw_fd(), read, write));
        }
        fds
    }

    /// Transfers all available data in both directions.
    pub fn pump(&mut self, net: &mut Net) -> Input {
        let mut input = Input::default();
        // One poll of all sockets: failing attempts to accept or read would cost more.
        let sockets = self.listeners.iter().map(|(l, _)| l.as_raw_fd());
        let ready = ready(sockets.chain(self.links.iter().map(|link| link.host.as_raw_fd())));
        let (arrivals, readable) = ready.split_at(self.listeners.len());
        for ((listener, rule), _) in self.listeners.iter().zip(arrivals).filter(|(_, arrives)| **arrives) {
            while let Ok((host, _)) = listener.accept() {
                if host
                    .set_nonblocking(true)
                    .and_then(|()| host.set_nodelay(true))
                    .is_err()
                {
                    continue;
                }
                log::debug!("network: connection to port {} of {}", rule.guest, rule.address);
                let guest = net.connect(rule.address.into(), rule.guest);
                self.links.push(Link {
                    host,
                    guest,
                    session: rule.guest == session::PORT,
                    answered: false,
                    since: Instant::now(),
                    host_ended: false,
                    guest_ended: false,
                    linger: 0,
                    broken: false,
                });
                input.any = true;
            }
        }
        let buffer = &mut self.buffer;
        // New connections follow the others, and may have data already.
        let mut readable = readable.iter().chain(std::iter::repeat(&true));
        self.links.retain_mut(|link| {
            let (keep, moved) = link.pump(net, buffer, readable.next() == Some(&true));
            if moved {
                input.note(link.session && link.answered);
            }
            if !keep {
                net.remove(link.guest);
            }
            keep
        });
        input
    }
}

/// For each of these sockets, whether it has input or a connection to accept, or has ended or
/// failed.
pub fn ready(sockets: impl Iterator<Item = RawFd>) -> Vec<bool> {
    let polled = |fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut polled: Vec<_> = sockets.map(polled).collect();
    // SAFETY: the pointer and length are those of the array.
    let found = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, 0) };
    // If poll fails, each socket is tried.
    polled.iter().map(|socket| found < 0 || socket.revents != 0).collect()
}

impl Link {
    /// Returns (keep the link, input has arrived from the host). `readable`: there may be input.
    fn pump(&mut self, net: &mut Net, buffer: &mut [u8], readable: bool) -> (bool, bool) {
        let mut input = false;
        match net.state(self.guest) {
            // The reset has been sent; remaining data of the guest are discarded.
            _ if self.broken => return (false, false),
            State::Opening => {
                if self.host_gone() {
                    return self.reset_guest(net);
                }
                return (true, false);
            }
            State::Reset if !(self.host_ended && self.guest_ended) => {
                self.reset_host();
                return (false, false);
            }
            State::Reset => return (false, false),
            State::Closed if self.guest_ended && self.host_ended => {
                // Polls further so that the last acknowledgement is sent.
                self.linger += 1;
                return (self.linger < 3, false);
            }
            _ => {}
        }
        loop {
            let space = net.space(self.guest).min(buffer.len());
            if self.host_ended || space == 0 || !readable {
                break;
            }
            match self.host.read(&mut buffer[..space]) {
                Ok(0) => {
                    self.host_ended = true;
                    input = true;
                    net.close(self.guest);
                }
                Ok(n) => {
                    net.send(self.guest, &buffer[..n]);
                    input = true;
                    if n < space {
                        break; // no more input
                    }
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return self.reset_guest(net),
            }
        }
        while net.has_data(self.guest) {
            self.answered = true;
            let mut failed = false;
            let host = &mut self.host;
            let taken = net.receive(self.guest, |data| match host.write(data) {
                Ok(n) => n,
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => 0,
                Err(_) => {
                    failed = true;
                    0
                }
            });
            if failed {
                return self.reset_guest(net);
            }
            if taken == 0 {
                break;
            }
            input = true; // the window opens
        }
        if !self.guest_ended && matches!(net.state(self.guest), State::Ended | State::Closed) {
            self.guest_ended = true;
            let _ = self.host.shutdown(Shutdown::Write);
        }
        (true, input)
    }

    /// Whether the host closed before the guest answered. Ending the stream right after sending
    /// data does not count until [`ANSWER_TIMEOUT`] has elapsed.
    fn host_gone(&self) -> bool {
        let mut poll = libc::pollfd {
            fd: self.host.as_raw_fd(),
            events: libc::POLLRDHUP,
            revents: 0,
        };
        // SAFETY: a single descriptor, which is open.
        let found = unsafe { libc::poll(&mut poll, 1, 0) };
        found > 0 && self.since.elapsed() > ANSWER_TIMEOUT
    }

    /// Resets the guest's connection after the host's has failed; the link is dropped at the next
    /// poll.
    fn reset_guest(&mut self, net: &mut Net) -> (bool, bool) {
        net.abort(self.guest);
        self.broken = true;
        (true, true)
    }

    /// Closes the host's socket so that the host sees a reset.
    fn reset_host(&self) {
        let _ = socket2::SockRef::from(&self.host).set_linger(Some(Duration::ZERO));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwarding_rule_is_parsed_or_refused() {
        let rule = |host, address, guest| Ok(Rule { host, address, guest });
        assert_eq!("0:1381".parse(), rule(0, IpAddr::V4(GUEST), 1381));
        assert_eq!("2:[fe80::7]:1381".parse(), rule(2, "fe80::7".parse().unwrap(), 1381));
        for bad in [
            "1381",
            ":",
            "1:0",
            "x:1",
            "70000:1",
            "1:[fe80::7:1",
            "1:[x]:2",
            "1:fe80::7:2",
        ] {
            assert!(bad.parse::<Rule>().is_err(), "{bad}");
        }
    }

    #[test]
    fn port_in_use_is_reported_with_its_number() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = taken.local_addr().unwrap().port();
        let rule = format!("{host}:1").parse().unwrap();
        let error = Forwarder::new(&[rule]).err().unwrap();
        assert_eq!(error, Failure::PortInUse(host));
        assert_eq!(
            error.event(),
            Some(serde_json::json!({ "event": "failed", "kind": "port_in_use", "port": host }))
        );
        let text = error.to_string();
        assert!(text.contains(&host.to_string()) && text.contains("in use"), "{text}");
    }
}
