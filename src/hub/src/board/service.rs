//! Implementation of the services in `proto/kairos/hub/v1/buses.proto`.

use std::pin::Pin;

use kairos_endpoint::buses::{Bus, Kind};
use kairos_endpoint::i2c::Part;
use kairos_endpoint::memory::{Window, WORD};
use kairos_endpoint::spi;
use tokio_stream::Stream;
use tonic::{Request, Response, Status, Streaming};

use super::hardware::{Buffer, Hardware};
use super::part::{Contents, Mapped, ReadMemoryResponse};
use crate::names;
use crate::service::Service;
use crate::v1::buses_server::Buses;
use crate::v1::i2c_part;
use crate::v1::memory_server::Memory;
use crate::v1::{
    self, I2cRequest, I2cResponse, ListBusesRequest, ListBusesResponse, ListMemoryRequest, ListMemoryResponse,
    ReadMemoryRequest, SpiRequest, SpiResponse, WriteMemoryRequest, WriteMemoryResponse,
};

/// Bytes per message of a stream; small enough to stay in the processor's caches until it is sent.
const PART: usize = 64 * 1024;
/// Kernel limits of an I2C transfer: number of parts, bytes of a part.
const PARTS_MAX: usize = 42;
const PART_MAX: usize = 8192;
/// Default size of the kernel's buffer for an SPI transfer.
const SPI_MAX: usize = 4096;

#[tonic::async_trait]
impl Buses for Service {
    async fn list(&self, request: Request<ListBusesRequest>) -> Result<Response<ListBusesResponse>, Status> {
        let hardware = self.device(&request.into_inner().device)?.hardware()?;
        let buses = hardware.buses().into_iter().map(v1::Bus::from).collect();
        Ok(Response::new(ListBusesResponse { buses }))
    }

    async fn i2c(&self, request: Request<I2cRequest>) -> Result<Response<I2cResponse>, Status> {
        let I2cRequest {
            device,
            bus,
            address,
            parts,
        } = request.into_inner();
        let parts = parts.into_iter().map(part).collect::<Result<Vec<_>, _>>()?;
        if parts.is_empty() || parts.len() > PARTS_MAX {
            return Err(invalid(format!("a transfer has 1 to {PARTS_MAX} parts")));
        }
        let address = u8::try_from(address).ok().filter(|address| *address < 0x80);
        let address = address.ok_or_else(|| invalid("an I2C address has 7 bits".into()))?;
        let read = self.device(&device)?.i2c(bus, address, parts).await?;
        Ok(Response::new(I2cResponse { read }))
    }

    async fn spi(&self, request: Request<SpiRequest>) -> Result<Response<SpiResponse>, Status> {
        let SpiRequest {
            device,
            bus,
            bytes,
            hertz,
            mode,
        } = request.into_inner();
        if bytes.is_empty() || bytes.len() > SPI_MAX {
            return Err(invalid(format!("a transfer has 1 to {SPI_MAX} bytes")));
        }
        if mode > 3 {
            return Err(invalid("the SPI mode must be 0 to 3".into()));
        }
        let settings = spi::Settings {
            hertz,
            mode: mode as u8,
        };
        let bytes = self.device(&device)?.spi(bus, settings, bytes).await?;
        Ok(Response::new(SpiResponse { bytes }))
    }
}

fn invalid(text: String) -> Status {
    Status::invalid_argument(text)
}

fn part(part: v1::I2cPart) -> Result<Part, Status> {
    let (length, part) = match part
        .part
        .ok_or_else(|| invalid("a part neither writes nor reads".into()))?
    {
        i2c_part::Part::Write(bytes) => (bytes.len(), Part::Write(bytes)),
        i2c_part::Part::Read(count) => (count as usize, Part::Read(count as usize)),
    };
    match length {
        1..=PART_MAX => Ok(part),
        _ => Err(invalid(format!("a part has 1 to {PART_MAX} bytes"))),
    }
}

impl From<Bus> for v1::Bus {
    fn from(bus: Bus) -> Self {
        let kind = match bus.kind {
            Kind::I2c => v1::BusKind::I2c,
            Kind::Spi => v1::BusKind::Spi,
        };
        let chips = bus.chips.into_iter().map(|chip| v1::Chip {
            address: chip.address.into(),
            name: chip.name,
            driver: chip.driver,
        });
        Self {
            name: bus.name,
            kind: kind.into(),
            text: bus.text,
            usable: bus.path.is_some(),
            chips: chips.collect(),
        }
    }
}

fn buffer(hardware: &Hardware, name: &str) -> Result<Buffer, Status> {
    let known = || hardware.buffers().map(|(name, _)| name);
    let found = hardware.buffer(name).cloned();
    found.ok_or_else(|| names::unknown("buffer", name, known()))
}

#[tonic::async_trait]
impl Memory for Service {
    async fn list(&self, request: Request<ListMemoryRequest>) -> Result<Response<ListMemoryResponse>, Status> {
        let hardware = self.device(&request.into_inner().device)?.hardware()?;
        let buffers = hardware.buffers().map(|(name, buffer)| v1::Buffer {
            name: name.into(),
            size: buffer.window.len() as u64,
            readable: buffer.access.may_read(),
            writable: buffer.access.may_write(),
        });
        Ok(Response::new(ListMemoryResponse {
            buffers: buffers.collect(),
        }))
    }

    type ReadStream = Pin<Box<dyn Stream<Item = Result<ReadMemoryResponse, Status>> + Send>>;

    async fn read(&self, request: Request<ReadMemoryRequest>) -> Result<Response<Self::ReadStream>, Status> {
        let ReadMemoryRequest {
            device,
            buffer: name,
            offset,
            length,
            words,
        } = request.into_inner();
        let Buffer { window, access } = buffer(&*self.device(&device)?.hardware()?, &name)?;
        if !access.may_read() {
            return Err(Status::permission_denied(format!("{name} cannot be read")));
        }
        let rest = (window.len() as u64).checked_sub(offset);
        let length = if length == 0 { rest.unwrap_or_default() } else { length };
        if rest.is_none_or(|rest| length > rest) || !(offset | length).is_multiple_of(WORD as u64) {
            let size = window.len();
            return Err(Status::out_of_range(format!(
                "{length} bytes from {offset} on are not whole words within {name}, which has {size} bytes"
            )));
        }
        let (start, end) = (offset as usize, (offset + length) as usize);
        // Lazy: a part is read when the previous one was taken, so slow clients cost no memory.
        let parts = (start..end)
            .step_by(PART)
            .map(move |at| part_of(&window, at, PART.min(end - at), words));
        Ok(Response::new(Box::pin(tokio_stream::iter(parts))))
    }

    async fn write(
        &self,
        request: Request<Streaming<WriteMemoryRequest>>,
    ) -> Result<Response<WriteMemoryResponse>, Status> {
        let mut parts = request.into_inner();
        let first = parts.message().await?;
        let first = first.ok_or_else(|| invalid("the first message must name the buffer to write".into()))?;
        let Buffer { window, access } = buffer(&*self.device(&first.device)?.hardware()?, &first.buffer)?;
        if !access.may_write() {
            return Err(Status::permission_denied(format!("{} cannot be written", first.buffer)));
        }
        let (name, start) = (first.buffer.clone(), first.offset);
        let (mut at, mut next) = (usize::try_from(start).unwrap_or(usize::MAX), Some(first));
        while let Some(part) = next {
            let (count, is_within) = match (part.bytes.len(), part.words.len()) {
                (0, count) => (count, window.write(at, part.words.iter().copied())),
                (length, 0) if length.is_multiple_of(WORD) => (length / WORD, window.write_bytes(at, &part.bytes)),
                _ => {
                    return Err(invalid(
                        "a message must contain whole words of 4 bytes, or numbers".into(),
                    ))
                }
            };
            if !is_within {
                let size = window.len();
                return Err(Status::out_of_range(format!(
                    "{count} words from {at} on exceed {name}, which has {size} bytes"
                )));
            }
            at += count * WORD;
            next = parts.message().await?;
        }
        Ok(Response::new(WriteMemoryResponse {
            length: at as u64 - start,
        }))
    }
}

/// A message with a part of a buffer.
fn part_of(window: &Window, at: usize, length: usize, words: bool) -> Result<ReadMemoryResponse, Status> {
    let part = match words {
        true => window.words(at, length / WORD).map(|words| ReadMemoryResponse {
            words,
            ..Default::default()
        }),
        false => Mapped::new(window, at, length).map(|mapped| ReadMemoryResponse {
            bytes: Contents::Mapped(mapped),
            ..Default::default()
        }),
    };
    // It was within the buffer when the call began.
    part.ok_or_else(|| Status::internal("the buffer has become smaller"))
}
