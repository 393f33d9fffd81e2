//! A client of a Kairos hub: the registers of a laboratory's core devices, over gRPC.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! use kairos_hub_client::{connect, v1::ReadRequest, Options};
//!
//! let mut lab = connect("localhost:1390", Options::default()).await?;
//! let request = ReadRequest { device: "zc706".into(), registers: vec!["rtio/async_error".into()] };
//! let values = lab.registers.read(request).await?.into_inner().values;
//! # Ok(())
//! # }
//! ```
//!
//! `docs/hub-api.md` describes the services; [`v1`] is generated from the same protocol.
#![forbid(unsafe_code)]

pub mod step;

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::interceptor::InterceptedService;
use tonic::service::Interceptor;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Request, Status};

/// The protocol (`proto/kairos/hub/v1`).
pub mod v1 {
    tonic::include_proto!("kairos.hub.v1");
}

use v1::buses_client::BusesClient;
use v1::channels_client::ChannelsClient;
use v1::clocks_client::ClocksClient;
use v1::devices_client::DevicesClient;
use v1::memory_client::MemoryClient;
use v1::monitor_client::MonitorClient;
use v1::plugins_client::PluginsClient;
use v1::registers_client::RegistersClient;
use v1::waveforms_client::WaveformsClient;

/// Credentials of the client, and TLS.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Token of this client, if the hub requires one.
    pub token: Option<String>,
    /// Certificate, as PEM, of a hub that uses TLS, or of its certificate authority.
    pub certificate: Option<Vec<u8>>,
}

/// A connection that sends the token with every call.
pub type Connection = InterceptedService<Channel, ShowToken>;

/// The services of a hub, on one connection.
#[derive(Clone, Debug)]
pub struct Lab {
    pub devices: DevicesClient<Connection>,
    pub registers: RegistersClient<Connection>,
    pub channels: ChannelsClient<Connection>,
    pub monitor: MonitorClient<Connection>,
    pub plugins: PluginsClient<Connection>,
    pub buses: BusesClient<Connection>,
    pub clocks: ClocksClient<Connection>,
    pub waveforms: WaveformsClient<Connection>,
    pub memory: MemoryClient<Connection>,
}

/// Sends the token with a call.
#[derive(Clone, Debug)]
pub struct ShowToken(Option<MetadataValue<Ascii>>);

impl Interceptor for ShowToken {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(shown) = &self.0 {
            request.metadata_mut().insert("authorization", shown.clone());
        }
        Ok(request)
    }
}

/// Connects to the hub at a host and port, or at the Unix socket given to plugins in `KAIROS_HUB`.
/// Fails if no hub answers, or the token is invalid in a header.
pub async fn connect(address: &str, options: Options) -> Result<Lab, Box<dyn std::error::Error + Send + Sync>> {
    let mut endpoint = match address.starts_with("unix:") {
        true => Endpoint::from_shared(address.to_string())?,
        false => Endpoint::from_shared(format!("http://{address}"))?,
    };
    if let Some(certificate) = options.certificate {
        let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(certificate));
        endpoint = Endpoint::from_shared(format!("https://{address}"))?.tls_config(tls)?;
    }
    let shown = options
        .token
        .map(|token| format!("Bearer {token}").parse())
        .transpose()?;
    let channel = endpoint.connect().await?;
    let connection = InterceptedService::new(channel, ShowToken(shown));
    Ok(Lab {
        devices: DevicesClient::new(connection.clone()),
        registers: RegistersClient::new(connection.clone()),
        channels: ChannelsClient::new(connection.clone()),
        monitor: MonitorClient::new(connection.clone()),
        plugins: PluginsClient::new(connection.clone()),
        buses: BusesClient::new(connection.clone()),
        clocks: ClocksClient::new(connection.clone()),
        waveforms: WaveformsClient::new(connection.clone()),
        memory: MemoryClient::new(connection),
    })
}
