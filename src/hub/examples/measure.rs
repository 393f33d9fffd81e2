//! Measurements for tests/bench/hub_streams.py of a hub and of a plain gRPC server: `measure
//! serve`, `measure streams HUB PLAIN DEVICE BUFFER`, `measure clients HUB PLAIN DEVICE REGISTER
//! COUNT`. Results are printed as JSON.

use std::pin::Pin;
use std::time::{Duration, Instant};

use kairos_hub::v1::memory_client::MemoryClient;
use kairos_hub::v1::memory_server::{Memory, MemoryServer};
use kairos_hub::v1::registers_client::RegistersClient;
use kairos_hub::v1::*;
use tokio_stream::{Stream, StreamExt};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Server};
use tonic::{Request, Response, Status, Streaming};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::HealthCheckRequest;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Bytes of a part of a stream, as in the hub.
const PART: usize = 64 * 1024;
const ROUNDS: usize = 7;
/// Duration for which clients make calls, one after the other.
const LOAD: Duration = Duration::from_secs(3);

/// Sends constant data, and discards received data.
struct Plain;

#[tonic::async_trait]
impl Memory for Plain {
    async fn list(&self, _: Request<ListMemoryRequest>) -> Result<Response<ListMemoryResponse>, Status> {
        Ok(Response::new(ListMemoryResponse::default()))
    }

    type ReadStream = Pin<Box<dyn Stream<Item = Result<ReadMemoryResponse, Status>> + Send>>;

    async fn read(&self, request: Request<ReadMemoryRequest>) -> Result<Response<Self::ReadStream>, Status> {
        let ReadMemoryRequest { length, words, .. } = request.into_inner();
        let part = match words {
            true => ReadMemoryResponse {
                words: vec![0x1234_5678; PART / 4],
                ..Default::default()
            },
            false => ReadMemoryResponse {
                bytes: vec![0x12; PART].into(),
                ..Default::default()
            },
        };
        let parts = (0..length as usize / PART).map(move |_| Ok(part.clone()));
        Ok(Response::new(Box::pin(tokio_stream::iter(parts))))
    }

    async fn write(
        &self,
        request: Request<Streaming<WriteMemoryRequest>>,
    ) -> Result<Response<WriteMemoryResponse>, Status> {
        let (mut parts, mut length) = (request.into_inner(), 0);
        while let Some(part) = parts.message().await? {
            length += (part.bytes.len() + 4 * part.words.len()) as u64;
        }
        Ok(Response::new(WriteMemoryResponse { length }))
    }
}

async fn serve() -> Result<(), Failure> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on {}", listener.local_addr()?);
    let (_reporter, health) = tonic_health::server::health_reporter();
    Server::builder()
        .add_service(health)
        .add_service(MemoryServer::new(Plain))
        .serve_with_incoming(TcpIncoming::from(listener).with_nodelay(Some(true)))
        .await?;
    Ok(())
}

async fn connect(address: &str) -> Result<Channel, Failure> {
    Ok(Channel::from_shared(format!("http://{address}"))?.connect().await?)
}

/// Rate of reading a buffer, in Mbit/s.
async fn read(channel: &Channel, request: &ReadMemoryRequest) -> Result<f64, Failure> {
    let (mut client, begun, mut length) = (MemoryClient::new(channel.clone()), Instant::now(), 0);
    let mut parts = client.read(request.clone()).await?.into_inner();
    while let Some(part) = parts.message().await? {
        length += part.bytes.len() + 4 * part.words.len();
    }
    match length as u64 == request.length {
        true => Ok(8e-6 * length as f64 / begun.elapsed().as_secs_f64()),
        false => Err(format!("{length} bytes came").into()),
    }
}

/// Rate of writing a buffer, in Mbit/s.
async fn write(channel: &Channel, request: &ReadMemoryRequest) -> Result<f64, Failure> {
    let part = WriteMemoryRequest {
        device: request.device.clone(),
        buffer: request.buffer.clone(),
        offset: 0,
        bytes: if request.words {
            Vec::new().into()
        } else {
            vec![0x12; PART].into()
        },
        words: if request.words {
            vec![0x1234_5678; PART / 4]
        } else {
            Vec::new()
        },
    };
    let parts = tokio_stream::iter(0..request.length as usize / PART).map(move |_| part.clone());
    let begun = Instant::now();
    let written = MemoryClient::new(channel.clone())
        .write(parts)
        .await?
        .into_inner()
        .length;
    Ok(8e-6 * written as f64 / begun.elapsed().as_secs_f64())
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Measures both servers in alternation, so that other load on the machine affects both alike;
/// prints the median rates of the hub and of the plain server.
async fn streams(hub: &str, plain: &str, device: String, buffer: String) -> Result<(), Failure> {
    let channels = [connect(hub).await?, connect(plain).await?];
    let list = ListMemoryRequest { device: device.clone() };
    let buffers = MemoryClient::new(channels[0].clone())
        .list(list)
        .await?
        .into_inner()
        .buffers;
    let length = buffers.iter().find(|one| one.name == buffer).map_or(0, |one| one.size);
    let mut found = Vec::new();
    for (name, words, writes) in [
        ("read_bytes", false, false),
        ("read_words", true, false),
        ("write_bytes", false, true),
        ("write_words", true, true),
    ] {
        let (device, buffer) = (device.clone(), buffer.clone());
        let request = ReadMemoryRequest {
            device,
            buffer,
            offset: 0,
            length,
            words,
        };
        let mut rates = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (rates, channel) in rates.iter_mut().zip(&channels) {
                rates.push(match writes {
                    true => write(channel, &request).await?,
                    false => read(channel, &request).await?,
                });
            }
        }
        found.push(format!("\"{name}\": {:?}", rates.map(|mut rates| median(&mut rates))));
    }
    println!("{{{}}}", found.join(", "));
    Ok(())
}

/// Latencies in us of calls from many concurrent clients, each on its own connection: median and
/// 99th percentile.
async fn load<F: std::future::Future<Output = Result<(), Status>> + Send>(
    address: &str,
    count: usize,
    call: impl Fn(Channel) -> F + Clone + Send + 'static,
) -> Result<[f64; 2], Failure> {
    let mut channels = Vec::new();
    for _ in 0..count {
        channels.push(connect(address).await?);
    }
    let end = Instant::now() + LOAD;
    let clients: Vec<_> = channels
        .into_iter()
        .map(|channel| {
            let call = call.clone();
            // The client's work is in the generic future alone.
            async move {
                let mut times = Vec::new();
                while Instant::now() < end {
                    let begun = Instant::now();
                    call(channel.clone()).await?;
                    times.push(1e6 * begun.elapsed().as_secs_f64());
                }
                Ok::<_, Status>(times)
            }
        })
        .collect();
    let mut tasks = tokio::task::JoinSet::new();
    for client in clients {
        tasks.spawn(client);
    }
    let mut times = Vec::new();
    while let Some(client) = tasks.join_next().await {
        times.extend(client??);
    }
    times.sort_by(f64::total_cmp);
    Ok([times[times.len() / 2], times[times.len() * 99 / 100]])
}

async fn clients(hub: &str, plain: &str, device: String, register: String, count: usize) -> Result<(), Failure> {
    let read = move |channel| {
        let request = ReadRequest {
            device: device.clone(),
            registers: vec![register.clone()],
        };
        async move { RegistersClient::new(channel).read(request).await.map(drop) }
    };
    let echo = |channel| async move {
        let request = HealthCheckRequest { service: String::new() };
        HealthClient::new(channel).check(request).await.map(drop)
    };
    let (read, echo) = (load(hub, count, read).await?, load(plain, count, echo).await?);
    println!("{{\"read\": {read:?}, \"echo\": {echo:?}}}");
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve"] => serve().await,
        ["streams", hub, plain, device, buffer] => streams(hub, plain, device.into(), buffer.into()).await,
        ["clients", hub, plain, device, register, count] => {
            clients(hub, plain, device.into(), register.into(), count.parse()?).await
        }
        _ => Err("see the head of the source".into()),
    }
}
