//! Client of a core device's management service: the requests that the hub makes of it.

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

/// A batch takes 5 s at most; whatever takes longer than this is not coming.
const PATIENCE: Duration = Duration::from_secs(15);
/// A device that has restarted knows nothing of a connection, and says so only when something
/// comes: while a batch is executed something is sent so often.
const ASK: Duration = Duration::from_secs(1);
/// Longest reply that is taken: a descriptor, or the results of a batch.
const REPLY_MAX: usize = 1 << 20;

/// Why a request has no answer.
#[derive(Debug)]
pub enum Error {
    /// The connection is lost, or there was none.
    Lost(String),
    /// The device does not do it.
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

/// A connection on which requests may be made.
pub struct Client {
    stream: TcpStream,
}

impl Client {
    /// Connects to the service at `address`, host and port, and shows the key if there is one.
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

    /// What the gateware says of itself; empty if there is none.
    pub async fn descriptor(&mut self) -> Result<Vec<u8>, Error> {
        match in_time(self.exchange(Kind::Descriptor, &[])).await? {
            (Reply::LogContent, descriptor) => Ok(descriptor),
            (Reply::Error, _) => Ok(Vec::new()),
            (other, _) => Err(unexpected(other)),
        }
    }

    /// Has the device execute a batch; its reply.
    pub async fn batch(&mut self, program: &[u8]) -> Result<Vec<u8>, Error> {
        match in_time(self.exchange_asking(Kind::Batch, program)).await? {
            (Reply::Batch, reply) => Ok(reply),
            (Reply::Error, _) => Err(Error::Refused(
                "the device refused the batch; see its log for the reason".into(),
            )),
            (other, _) => Err(unexpected(other)),
        }
    }

    /// How the subsystems are.
    pub async fn health(&mut self) -> Result<Vec<Subsystem>, Error> {
        match in_time(self.exchange(Kind::Health, &[])).await? {
            (Reply::LogContent, text) => health::read(&text).map_err(Error::Refused),
            (other, _) => Err(unexpected(other)),
        }
    }

    /// The value of a key of its configuration.
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

    /// What is kept of the log.
    pub async fn log(&mut self) -> Result<String, Error> {
        match in_time(self.exchange(Kind::GetLog, &[])).await? {
            (Reply::LogContent, text) => Ok(String::from_utf8_lossy(&text).into_owned()),
            (other, _) => Err(unexpected(other)),
        }
    }

    /// The log as it comes; the device forgets what it has sent.
    pub async fn pull_log(mut self) -> Result<LogPull, Error> {
        self.stream.write_all(&request(Kind::PullLog, &[])).await?;
        Ok(LogPull {
            stream: self.stream,
            pending: Vec::new(),
        })
    }

    /// Ends when the device ends the connection, to which it has no other reason to say anything.
    pub async fn closed(&mut self) -> Error {
        match self.stream.read_u8().await {
            Ok(_) => Error::Lost("the device sent an unexpected reply".into()),
            Err(error) => error.into(),
        }
    }

    /// A request with its data, and its reply.
    async fn exchange(&mut self, kind: Kind, data: &[u8]) -> Result<(Reply, Vec<u8>), Error> {
        self.stream.write_all(&request(kind, data)).await?;
        receive(&mut self.stream).await
    }

    /// The same of a request that takes its time: meanwhile others are sent behind it, whose
    /// replies nobody needs.
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

/// The bytes of a request.
fn request(kind: Kind, data: &[u8]) -> Vec<u8> {
    request_for(kind, &[], data)
}

/// The same of one that names a key.
fn request_for(kind: Kind, key: &[u8], data: &[u8]) -> Vec<u8> {
    let mut request = Bytes(Vec::with_capacity(key.len() + data.len() + 16));
    Request::encode(&mut request, kind, key, data);
    request.0
}

/// The next reply.
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

/// A log that comes.
pub struct LogPull {
    stream: TcpStream,
    pending: Vec<u8>,
}

impl LogPull {
    /// Some text. May be dropped at any time without losing anything.
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
    let late = |_| Error::Lost(format!("the device has not answered within {} s", PATIENCE.as_secs()));
    timeout(PATIENCE, work).await.map_err(late)?
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
