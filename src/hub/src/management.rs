//! Client of a core device's management service, for the requests that the hub uses.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use hmac::{Hmac, Mac};
use kairos_proto::management::{reply, Kind, Reply, Request, ANSWER, DESTINATION_LOCAL, GREETING, PROOF_CONTEXT};
use sha2::Sha256;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::health::{self, Subsystem};

/// Time limit of an exchange. A batch takes at most 5 s.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);
/// Interval of additional requests during a batch. A device that has restarted does not know the
/// connection any more, and resets it only when it receives something.
const ASK: Duration = Duration::from_secs(1);
/// Maximum length of a reply: a descriptor, or the results of a batch.
const REPLY_MAX: usize = 1 << 20;

/// Why a request failed.
#[derive(Debug)]
pub enum Error {
    /// The connection was lost, or could not be established.
    Lost(String),
    /// The device rejects the request.
    Refused(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(text) | Self::Refused(text) => f.write_str(text),
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Lost(match error.kind() {
            std::io::ErrorKind::UnexpectedEof => "the device has closed the connection".into(),
            _ => error.to_string(),
        })
    }
}

/// An authenticated connection for requests.
pub struct Client {
    stream: TcpStream,
}

impl Client {
    /// Connects to the service at `address`, host and port, and authenticates if there is a key.
    pub async fn connect(address: &str, key: Option<&[u8]>) -> Result<Self, Error> {
        in_time(async {
            let mut stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            stream.write_all(GREETING).await?;
            stream.write_all(&[DESTINATION_LOCAL]).await?;
            if stream.read_u8().await? != ANSWER {
                return Err(Error::Refused("the peer is not a core device".into()));
            }
            let mut client = Self { stream };
            if let Some(key) = key {
                client.authenticate(key).await?;
            }
            Ok(client)
        })
        .await
    }

    async fn authenticate(&mut self, key: &[u8]) -> Result<(), Error> {
        let nonce = match self.exchange(Kind::Challenge, &[]).await? {
            (Reply::Challenge, nonce) => nonce,
            _ => {
                return Err(Error::Refused(
                    "the device refuses all clients: its auth_key is unusable".into(),
                ))
            }
        };
        let mac = Hmac::<Sha256>::new_from_slice(key).map_err(|error| Error::Refused(error.to_string()))?;
        let proof = mac
            .chain_update(PROOF_CONTEXT)
            .chain_update(nonce)
            .finalize()
            .into_bytes();
        match self.exchange(Kind::Authenticate, &proof).await? {
            (Reply::Success, _) => Ok(()),
            _ => Err(Error::Refused("the device has another key".into())),
        }
    }

    /// The descriptor of the gateware; empty if there is none.
    pub async fn descriptor(&mut self) -> Result<Vec<u8>, Error> {
        match in_time(self.exchange(Kind::Descriptor, &[])).await? {
            (Reply::LogContent, descriptor) => Ok(descriptor),
            (Reply::Error, _) => Ok(Vec::new()),
            (other, _) => Err(unexpected(other)),
        }
    }

    /// Executes a batch on the device; returns its reply.
    pub async fn batch(&mut self, program: &[u8]) -> Result<Vec<u8>, Error> {
        match in_time(self.exchange_asking(Kind::Batch, program)).await? {
            (Reply::Batch, reply) => Ok(reply),
            (Reply::Error, _) => Err(Error::Refused(
                "the device refused the batch; see its log for the reason".into(),
            )),
            (other, _) => Err(unexpected(other)),
        }
    }

    /// The state of the subsystems.
    pub async fn health(&mut self) -> Result<Vec<Subsystem>, Error> {
        match in_time(self.exchange(Kind::Health, &[])).await? {
            (Reply::LogContent, text) => health::read(&text).map_err(Error::Refused),
            (other, _) => Err(unexpected(other)),
        }
    }

    /// The value of a configuration key.
    pub async fn setting(&mut self, key: &str) -> Result<Option<String>, Error> {
        self.stream
            .write_all(&request_for(Kind::ConfigRead, key.as_bytes(), &[]))
            .await?;
        match in_time(receive(&mut self.stream)).await? {
            (Reply::ConfigData, value) => Ok(Some(String::from_utf8_lossy(&value).trim_end().into())),
            (Reply::Error, _) => Ok(None),
            (other, _) => Err(unexpected(other)),
        }
    }

    /// The buffered log.
    pub async fn log(&mut self) -> Result<String, Error> {
        match in_time(self.exchange(Kind::GetLog, &[])).await? {
            (Reply::LogContent, text) => Ok(String::from_utf8_lossy(&text).into_owned()),
            (other, _) => Err(unexpected(other)),
        }
    }

    /// Streams the log; the device discards what it has sent.
    pub async fn pull_log(mut self) -> Result<LogPull, Error> {
        self.stream.write_all(&request(Kind::PullLog, &[])).await?;
        Ok(LogPull {
            stream: self.stream,
            pending: Vec::new(),
        })
    }

    /// Returns when the device closes the connection, or sends data without a request, which is an
    /// error.
    pub async fn closed(&mut self) -> Error {
        match self.stream.read_u8().await {
            Ok(_) => Error::Lost("the device sent an unexpected reply".into()),
            Err(error) => error.into(),
        }
    }

    /// Sends a request with data; returns the reply.
    async fn exchange(&mut self, kind: Kind, data: &[u8]) -> Result<(Reply, Vec<u8>), Error> {
        self.stream.write_all(&request(kind, data)).await?;
        receive(&mut self.stream).await
    }

    /// As `exchange`, for a request that takes long: meanwhile sends additional requests, whose
    /// replies are discarded.
    async fn exchange_asking(&mut self, kind: Kind, data: &[u8]) -> Result<(Reply, Vec<u8>), Error> {
        let (mut reader, mut writer) = self.stream.split();
        writer.write_all(&request(kind, data)).await?;
        let mut asked = 0;
        let reply = {
            let reply = receive(&mut reader);
            tokio::pin!(reply);
            loop {
                match timeout(ASK, &mut reply).await {
                    Ok(reply) => break reply?,
                    Err(_) => writer.write_all(&request(Kind::Links, &[])).await?,
                }
                asked += 1;
            }
        };
        for _ in 0..asked {
            receive(&mut reader).await?;
        }
        Ok(reply)
    }
}

/// Encodes a request.
fn request(kind: Kind, data: &[u8]) -> Vec<u8> {
    request_for(kind, &[], data)
}

/// Encodes a request with a key.
fn request_for(kind: Kind, key: &[u8], data: &[u8]) -> Vec<u8> {
    let mut request = Bytes(Vec::with_capacity(key.len() + data.len() + 16));
    Request::encode(&mut request, kind, key, data);
    request.0
}

/// Receives the next reply.
async fn receive(reader: &mut (impl AsyncRead + Unpin)) -> Result<(Reply, Vec<u8>), Error> {
    let number = reader.read_u8().await?;
    let reply = Reply::try_from(number)
        .map_err(|number| Error::Lost(format!("the device sent a reply of unknown type {number}")))?;
    let length = match reply::behind(reply) {
        reply::Behind::Bytes(length) => length,
        reply::Behind::Counted => reader.read_u32_le().await? as usize,
    };
    if length > REPLY_MAX {
        return Err(Error::Lost(format!("the device announces a reply of {length} bytes")));
    }
    let mut content = vec![0; length];
    reader.read_exact(&mut content).await?;
    Ok((reply, content))
}

/// A log stream.
pub struct LogPull {
    stream: TcpStream,
    pending: Vec<u8>,
}

impl LogPull {
    /// Receives the next text. Cancel-safe.
    pub async fn next(&mut self) -> Result<Vec<u8>, Error> {
        loop {
            if let Some((length, text)) = self.pending.split_first_chunk() {
                let length = u32::from_le_bytes(*length) as usize;
                if length > REPLY_MAX {
                    return Err(Error::Lost(format!("the device announces {length} bytes of its log")));
                }
                if text.len() >= length {
                    let text = text[..length].to_vec();
                    self.pending.drain(..4 + length);
                    return Ok(text);
                }
            }
            if self.stream.read_buf(&mut self.pending).await? == 0 {
                return Err(Error::Lost(
                    "another client reads it, or the device is restarting".into(),
                ));
            }
        }
    }
}

async fn in_time<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let late = |_| {
        Error::Lost(format!(
            "the device has not answered within {} s",
            ANSWER_TIMEOUT.as_secs()
        ))
    };
    timeout(ANSWER_TIMEOUT, work).await.map_err(late)?
}

fn unexpected(reply: Reply) -> Error {
    Error::Lost(format!(
        "the device sent {reply:?}, which is not a reply to the request"
    ))
}

struct Bytes(Vec<u8>);

impl kairos_proto::rpc::Sink for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}
