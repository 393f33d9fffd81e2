//! Monitor and injector of a board, if its gateware has them. Probes and overrides that do not
//! exist read as 0, and writes to them are ignored.

use kairos_contracts::registers::{moninj, uplink};
use kairos_pl::{Register, Register64};
use kairos_proto::descriptor::Descriptor;
use kairos_proto::link::DESTINATION_MASTER;
use kairos_proto::moninj::{Decoder, Message, Report, Request};

use crate::wire::{Lost, Wire};

/// Registers of the gateware.
#[derive(Clone, Copy)]
struct Registers {
    channel: Register,
    probe: Register,
    update: Register,
    value: Register64,
    inject_channel: Register,
    inject_override: Register,
    inject_value: Register,
    /// The destination of this satellite.
    destination: Option<Register>,
}

impl Registers {
    fn find(descriptor: &Descriptor) -> Option<Self> {
        let find = |name| Register::find(descriptor, name);
        Some(Self {
            channel: find(moninj::CHANNEL)?,
            probe: find(moninj::PROBE)?,
            update: find(moninj::UPDATE)?,
            value: Register64::find(descriptor, moninj::VALUE)?,
            inject_channel: find(moninj::INJECT_CHANNEL)?,
            inject_override: find(moninj::INJECT_OVERRIDE)?,
            inject_value: find(moninj::INJECT_VALUE)?,
            destination: find(uplink::DESTINATION),
        })
    }

    fn probe(self, channel: u32, probe: u8) -> u64 {
        self.channel.write(channel & 0xffff);
        self.probe.write(probe.into());
        self.update.write(1);
        self.value.read()
    }

    fn inject(self, channel: u32, number: u8, value: u8) {
        self.inject_channel.write(channel & 0xffff);
        self.inject_override.write(number.into());
        self.inject_value.write(value.into());
    }
}

/// Probes and overrides of this board's channels.
#[derive(Clone, Copy)]
pub struct Pins(Option<Registers>);

impl Pins {
    /// Finds them in the running gateware.
    pub fn find() -> Self {
        let descriptor = kairos_pl::descriptor().ok();
        Self(descriptor.as_ref().and_then(Registers::find))
    }

    /// The registers, if the channel is on this board.
    fn of(self, channel: u32) -> Option<Registers> {
        let own = |registers: &Registers| {
            let name = registers.destination.map(Register::read);
            channel >> 16 == name.unwrap_or(DESTINATION_MASTER.into())
        };
        self.0.filter(own)
    }

    fn probe(self, channel: u32, probe: u8) -> u64 {
        self.of(channel).map_or(0, |registers| registers.probe(channel, probe))
    }

    fn level(self, channel: u32, number: u8) -> u8 {
        self.of(channel).map_or(0, |registers| {
            registers.inject_channel.write(channel & 0xffff);
            registers.inject_override.write(number.into());
            registers.inject_value.read() as u8
        })
    }

    fn inject(self, channel: u32, number: u8, value: u8) {
        if let Some(registers) = self.of(channel) {
            registers.inject(channel, number, value);
        }
    }

    /// Reads a probe of a channel, given by its number on this board.
    pub fn probe_local(self, channel: u32, probe: u8) -> u64 {
        self.0.map_or(0, |registers| registers.probe(channel, probe))
    }

    /// Sets an override of a channel, given by its number on this board.
    pub fn inject_local(self, channel: u32, number: u8, value: u8) {
        if let Some(registers) = self.0 {
            registers.inject(channel, number, value);
        }
    }

    /// Executes a request once, and returns the value of the probe or override.
    pub fn answer(self, request: &Message<Request>) -> Message<Report> {
        let Message { channel, number, .. } = *request;
        if request.kind == Request::WatchProbe {
            return Message {
                reading: self.probe(channel, number),
                ..Message::about(Report::Probe, channel, number)
            };
        }
        if request.kind == Request::Inject {
            self.inject(channel, number, request.level);
        }
        Message {
            level: self.level(channel, number),
            ..Message::about(Report::Override, channel, number)
        }
    }

    /// Answers requests of another board until it closes the stream.
    pub async fn serve(self, wire: &mut impl Wire) -> Result<(), Lost> {
        let mut decoder = Decoder::default();
        let mut buffer = [0; 256];
        loop {
            let mut input = match wire.read(&mut buffer).await? {
                0 => return Ok(()),
                length => &buffer[..length],
            };
            while let Some(request) = decoder.next::<Request>(&mut input).map_err(|_| Lost)? {
                let (bytes, length) = self.answer(&request).encode();
                wire.write_all(&bytes[..length]).await?;
            }
        }
    }
}
