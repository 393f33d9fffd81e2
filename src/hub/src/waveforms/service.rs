//! Implementation of the services in `proto/kairos/hub/v1/waveforms.proto`.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use kairos_contracts::analyzer::{Exception, Message};
use kairos_proto::analyzer;
use tokio::sync::{mpsc, Semaphore};
use tokio::time::{sleep, Instant};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::Stream;
use tonic::{Request, Response, Status};

use super::record::{Part, Record, EVENTS_MAX};
use super::vcd;
use crate::device::Device;
use crate::names;
use crate::program;
use crate::registers::Gateware;
use crate::service::Service;
use crate::v1::waveforms_server::Waveforms;
use crate::v1::{
    CaptureRequest, CaptureResponse, Event, EventKind, ListWaveformsRequest, ListWaveformsResponse, PulseCores,
    ReadWaveformRequest, ReadWaveformResponse, WaveformFileRequest, WaveformFileResponse, WaveformFormat,
};

/// Maximum number of events per message.
const EVENTS_AT_ONCE: usize = 4096;
/// Minimum interval of requests to a device, because it does not record while it sends.
const PERIOD_MIN: Duration = Duration::from_millis(100);
/// Maximum waiting time for an event.
const WAIT_MAX: Duration = Duration::from_secs(600);
/// Bytes per message of a file.
const PART: usize = 64 * 1024;
/// Limits concurrent file exports: each holds its events in memory.
static FILES: Semaphore = Semaphore::const_new(8);

type Parts<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The selected channels of a gateware.
#[derive(Clone)]
struct Wanted {
    gateware: Arc<Gateware>,
    /// None selects all.
    numbers: Option<Vec<u32>>,
}

impl Wanted {
    fn new(device: &Device, names: &[String]) -> Result<Self, Status> {
        let gateware = device.gateware()?;
        let number = |name: &String| {
            let found = gateware.channels().iter().find(|channel| channel.name == *name);
            let known = || gateware.channels().iter().map(|channel| channel.name.as_str());
            let none = || names::unknown("channel", name, known());
            found.map(|channel| channel.number).ok_or_else(none)
        };
        let numbers = match names {
            [] => None,
            names => Some(names.iter().map(number).collect::<Result<_, _>>()?),
        };
        Ok(Self { gateware, numbers })
    }

    fn has(&self, number: u32) -> bool {
        self.numbers.as_ref().is_none_or(|numbers| numbers.contains(&number))
    }

    /// Events that report a stop of the recording are always included.
    fn wants(&self, event: &analyzer::Event) -> bool {
        event.kind == Message::Stopped || self.has(event.channel)
    }

    fn event(&self, event: &analyzer::Event) -> Event {
        let channels = self.gateware.channels();
        let name = channels.iter().find(|channel| channel.number == event.channel);
        let is_stop = event.kind == Message::Stopped;
        Event {
            kind: kind(event).into(),
            channel: event.channel,
            name: name
                .filter(|_| !is_stop)
                .map_or_else(String::new, |channel| channel.name.clone()),
            timestamp: event.timestamp,
            counter: event.counter,
            address: if event.kind == Message::Exception {
                0
            } else {
                event.address
            },
            data: match event.kind {
                Message::Exception => event.address.into(),
                _ => event.data,
            },
        }
    }

    fn events(&self, part: &Part) -> Vec<Event> {
        let decoded = part.units.iter().map(analyzer::Event::decode);
        decoded
            .filter(|event| self.wants(event))
            .map(|event| self.event(&event))
            .collect()
    }
}

fn kind(event: &analyzer::Event) -> EventKind {
    match event.kind {
        Message::Output => EventKind::Output,
        Message::Input => EventKind::Input,
        Message::Stopped => EventKind::Stopped,
        Message::Exception if event.address == Exception::Underflow as u32 => EventKind::Underflow,
        Message::Exception if event.address == Exception::Overflow as u32 => EventKind::Overflow,
        Message::Exception => EventKind::Exception,
    }
}

fn period(ms: u32) -> Duration {
    match ms {
        0 => Duration::from_secs(1),
        ms => Duration::from_millis(ms.into()).max(PERIOD_MIN),
    }
}

/// Sends all events from number `from` on; returns the number after the last. Fails if the client
/// has gone.
async fn send(
    sender: &mpsc::Sender<Result<ReadWaveformResponse, Status>>,
    record: &Record,
    wanted: &Wanted,
    mut from: u64,
) -> Result<u64, ()> {
    while from < record.end() {
        let part = record.part(from, EVENTS_AT_ONCE);
        let (events, missing) = (wanted.events(&part), part.first - from);
        from = part.end();
        let incomplete = part.incomplete;
        if events.is_empty() && missing == 0 && !incomplete {
            continue;
        }
        let message = ReadWaveformResponse {
            events,
            missing,
            incomplete,
        };
        sender.send(Ok(message)).await.map_err(drop)?;
    }
    Ok(from)
}

/// State of the pulse cores according to their registers, if there are any.
async fn pulse_cores(device: &Device) -> Result<Option<PulseCores>, Status> {
    let gateware = device.gateware()?;
    let names = ["config", "rate", "armed", "running", "error", "stream_words"];
    let registers = names.map(|name| gateware.register(&format!("pulse/{name}")));
    let [Some(config), Some(rate), Some(armed), Some(running), Some(error), words] = registers else {
        return Ok(None);
    };
    let known = [config, rate, armed, running, error].into_iter().chain(words);
    let values = device.run(program::read(known)).await?.results;
    let [config, rate, armed, running, error, ref words @ ..] = values[..] else {
        return Err(Status::internal("registers have no values"));
    };
    Ok(Some(PulseCores {
        // Bits 3..0 of the register.
        channels: config & 0xf,
        // In units of 100 Hz.
        sample_hertz: 100.0 * f64::from(rate),
        armed,
        running,
        error,
        stream_words: words.first().copied().unwrap_or_default(),
    }))
}

#[tonic::async_trait]
impl Waveforms for Service {
    async fn list(&self, request: Request<ListWaveformsRequest>) -> Result<Response<ListWaveformsResponse>, Status> {
        let device = self.device(&request.into_inner().device)?;
        let part = device.record()?.part(0, EVENTS_MAX);
        let counter = |unit: Option<&_>| unit.map_or(0, |unit| analyzer::Event::decode(unit).counter);
        Ok(Response::new(ListWaveformsResponse {
            events: part.units.len() as u64,
            machine_hertz: device.gateware()?.machine_hertz(),
            oldest: counter(part.units.first()),
            newest: counter(part.units.last()),
            incomplete: part.incomplete,
            pulse: pulse_cores(device).await?,
        }))
    }

    type ReadStream = Parts<ReadWaveformResponse>;

    async fn read(&self, request: Request<ReadWaveformRequest>) -> Result<Response<Self::ReadStream>, Status> {
        let request = request.into_inner();
        let device = self.device(&request.device)?;
        let record = device.record()?.clone();
        let wanted = Wanted::new(device, &request.channels)?;
        if !request.kept {
            record.refresh(Duration::ZERO).await?;
        }
        let from = match request.newest as usize {
            0 => record.part(0, 0).first,
            count => record.newest(count, |event| {
                wanted.has(event.channel) && event.kind != Message::Stopped
            }),
        };
        let (sender, receiver) = mpsc::channel(1);
        let period = period(request.period_ms);
        tokio::spawn(async move {
            let mut from = from;
            loop {
                match send(&sender, &record, &wanted, from).await {
                    Ok(next) if request.follow => from = next,
                    _ => return,
                }
                tokio::select! {
                    () = sleep(period) => {}
                    () = sender.closed() => return,
                }
                if let Err(status) = record.refresh(period / 2).await {
                    // The client may be gone.
                    let _ = sender.send(Err(status)).await;
                    return;
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    type FileStream = Parts<WaveformFileResponse>;

    async fn file(&self, request: Request<WaveformFileRequest>) -> Result<Response<Self::FileStream>, Status> {
        let request = request.into_inner();
        let device = self.device(&request.device)?;
        let (record, wanted) = (device.record()?, Wanted::new(device, &request.channels)?);
        let permit = FILES.try_acquire();
        let permit = permit.map_err(|_| {
            Status::resource_exhausted("the hub is already creating the maximum number of waveform files")
        })?;
        if !request.kept {
            record.refresh(Duration::ZERO).await?;
        }
        let mut part = record.part(0, EVENTS_MAX);
        part.units.retain(|unit| wanted.wants(&analyzer::Event::decode(unit)));
        let head = record.head(&part).encode();
        let parts: Box<dyn Iterator<Item = Bytes> + Send> = match request.format() {
            WaveformFormat::Dump => {
                let units = part.units;
                let count = PART / analyzer::MESSAGE;
                let bodies = (0..units.len()).step_by(count).map(move |at| {
                    let end = units.len().min(at + count);
                    Bytes::from(units[at..end].concat())
                });
                Box::new(std::iter::once(Bytes::copy_from_slice(&head)).chain(bodies))
            }
            _ => {
                let file = vcd::File::new(&part.units, &wanted.gateware, |channel| wanted.has(channel.number));
                Box::new(
                    file.map_err(|error| Status::internal(error.to_string()))?
                        .map(Bytes::from),
                )
            }
        };
        // Lazy: a part is generated when the previous one was taken.
        let parts = parts.map(move |bytes| {
            let _ = &permit;
            Ok(WaveformFileResponse { bytes })
        });
        Ok(Response::new(Box::pin(tokio_stream::iter(parts))))
    }

    async fn capture(&self, request: Request<CaptureRequest>) -> Result<Response<CaptureResponse>, Status> {
        let request = request.into_inner();
        let device = self.device(&request.device)?;
        let (before, after) = (request.before as usize, request.after as usize);
        if before.max(after) > EVENTS_AT_ONCE {
            return Err(Status::invalid_argument(format!(
                "at most {EVENTS_AT_ONCE} events can be returned with one"
            )));
        }
        let record = device.record()?;
        let wanted = match request.channel.as_str() {
            "" => Wanted::new(device, &[])?,
            name => Wanted::new(device, &[name.into()])?,
        };
        let is_it = |event: &analyzer::Event| {
            let is_kind = match request.kind() {
                EventKind::Unspecified => event.kind != Message::Stopped,
                asked => kind(event) == asked,
            };
            is_kind && wanted.has(event.channel)
        };
        record.refresh(Duration::ZERO).await?;
        let mut from = record.end();
        let end = Instant::now() + Duration::from_millis(request.timeout_ms.into()).min(WAIT_MAX);
        loop {
            let part = record.part(from, EVENTS_MAX);
            if let Some(at) = part.units.iter().position(|unit| is_it(&analyzer::Event::decode(unit))) {
                let found = part.first + at as u64;
                let around = record.part(found.saturating_sub(before as u64), before + 1 + after);
                // The oldest events may have been discarded.
                let count = found.saturating_sub(around.first) as usize + 1 + after;
                let events = around.units.iter().take(count).map(analyzer::Event::decode);
                return Ok(Response::new(CaptureResponse {
                    events: events.map(|event| wanted.event(&event)).collect(),
                    found: found.saturating_sub(around.first) as u32,
                }));
            }
            from = part.end();
            if Instant::now() >= end {
                return Err(Status::deadline_exceeded(format!(
                    "{} has recorded no such event",
                    device.name()
                )));
            }
            sleep(PERIOD_MIN).await;
            record.refresh(PERIOD_MIN / 2).await?;
        }
    }
}
