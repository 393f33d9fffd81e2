//! Monitor and injector, TCP 1383 (wire protocols, section 3). All messages have fixed lengths.

/// TCP port of the service.
pub const PORT: u16 = 1383;
/// What a client sends first. The device sends no answer.
pub const GREETING: &[u8; 13] = b"ARTIQ moninj\n";
/// Longest request in bytes.
const REQUEST_MAX: usize = 7;

/// What a client asks for. `channel`: bits 23..16 DRTIO destination, bits 15..0 channel within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Watch a probe, or stop watching it.
    WatchProbe { enable: bool, channel: u32, probe: u8 },
    /// Set the value of an override.
    Inject { channel: u32, number: u8, value: u8 },
    /// Ask once for the value of an override.
    GetOverride { channel: u32, number: u8 },
    /// Watch an override, or stop watching it.
    WatchOverride { enable: bool, channel: u32, number: u8 },
}

impl Request {
    /// DRTIO destination of the channel that it is about.
    pub fn destination(self) -> u32 {
        let (Self::WatchProbe { channel, .. }
        | Self::Inject { channel, .. }
        | Self::GetOverride { channel, .. }
        | Self::WatchOverride { channel, .. }) = self;
        channel >> 16
    }
}

/// A request of this type does not exist; the connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownType(pub u8);

impl core::fmt::Display for UnknownType {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "request of unknown type {}", self.0)
    }
}

/// Decoder of the host's side of a connection, behind the greeting.
#[derive(Default)]
pub struct RequestDecoder {
    bytes: [u8; REQUEST_MAX],
    filled: usize,
}

impl RequestDecoder {
    /// Whether a request has begun and is not complete.
    pub fn in_request(&self) -> bool {
        self.filled > 0
    }

    /// Takes bytes from the front of `input` until a request is complete or the input is used up; advances `input`.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Request>, UnknownType> {
        while let [byte, rest @ ..] = *input {
            self.bytes[self.filled] = *byte;
            self.filled += 1;
            *input = rest;
            let b = &self.bytes;
            let length = match b[0] {
                0 | 1 | 3 => 7,
                2 => 6,
                kind => return Err(UnknownType(kind)),
            };
            if self.filled < length {
                continue;
            }
            self.filled = 0;
            // Types 0 and 3 have the flag in front of the channel.
            let at = |n: usize| u32::from_le_bytes([b[n], b[n + 1], b[n + 2], b[n + 3]]);
            return Ok(Some(match b[0] {
                0 => Request::WatchProbe {
                    enable: b[1] != 0,
                    channel: at(2),
                    probe: b[6],
                },
                1 => Request::Inject {
                    channel: at(1),
                    number: b[5],
                    value: b[6],
                },
                2 => Request::GetOverride {
                    channel: at(1),
                    number: b[5],
                },
                _ => Request::WatchOverride {
                    enable: b[1] != 0,
                    channel: at(2),
                    number: b[6],
                },
            }));
        }
        Ok(None)
    }
}

/// Value of a probe.
pub fn probe_value(channel: u32, probe: u8, value: u64) -> [u8; 14] {
    let mut bytes = [0; 14];
    bytes[1..5].copy_from_slice(&channel.to_le_bytes());
    bytes[5] = probe;
    bytes[6..].copy_from_slice(&value.to_le_bytes());
    bytes
}

/// Value of an override.
pub fn override_value(channel: u32, number: u8, value: u8) -> [u8; 7] {
    let c = channel.to_le_bytes();
    [1, c[0], c[1], c[2], c[3], number, value]
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;
    use Request::*;

    fn encode(request: Request) -> Vec<u8> {
        let mut out = Vec::new();
        let (kind, enable, channel, tail) = match request {
            Request::WatchProbe { enable, channel, probe } => (0, Some(enable), channel, std::vec![probe]),
            Request::Inject { channel, number, value } => (1, None, channel, std::vec![number, value]),
            Request::GetOverride { channel, number } => (2, None, channel, std::vec![number]),
            Request::WatchOverride {
                enable,
                channel,
                number,
            } => (3, Some(enable), channel, std::vec![number]),
        };
        out.push(kind);
        out.extend(enable.map(u8::from));
        out.extend(channel.to_le_bytes());
        out.extend(tail);
        out
    }

    fn any_request() -> impl Strategy<Value = Request> {
        (0..4, any::<bool>(), any::<u32>(), any::<u8>(), any::<u8>()).prop_map(
            |(kind, enable, channel, number, value)| match kind {
                0 => Request::WatchProbe {
                    enable,
                    channel,
                    probe: number,
                },
                1 => Request::Inject { channel, number, value },
                2 => Request::GetOverride { channel, number },
                _ => Request::WatchOverride {
                    enable,
                    channel,
                    number,
                },
            },
        )
    }

    proptest! {
        #[test]
        fn any_requests_in_any_pieces(requests in proptest::collection::vec(any_request(), 0..20), size in 1usize..20) {
            let stream: Vec<u8> = requests.iter().flat_map(|r| encode(*r)).collect();
            let mut decoder = RequestDecoder::default();
            let mut got = Vec::new();
            for mut piece in stream.chunks(size) {
                while let Some(request) = decoder.next(&mut piece).unwrap() {
                    let (WatchProbe { channel, .. } | Inject { channel, .. } | GetOverride { channel, .. }
                    | WatchOverride { channel, .. }) = request;
                    prop_assert_eq!(request.destination(), channel >> 16);
                    got.push(request);
                }
            }
            prop_assert!(!decoder.in_request());
            prop_assert_eq!(got, requests);
        }

        #[test]
        fn unknown_types(kind in 4u8..) {
            prop_assert_eq!(RequestDecoder::default().next(&mut &[kind][..]), Err(UnknownType(kind)));
        }
    }

    #[test]
    fn vectors() {
        assert_eq!(
            probe_value(0x0102_0304, 5, 0x0607),
            [0, 4, 3, 2, 1, 5, 7, 6, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(override_value(0x0102_0304, 5, 6), [1, 4, 3, 2, 1, 5, 6]);
    }
}
