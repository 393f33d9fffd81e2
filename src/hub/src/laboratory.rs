//! The laboratory service, to which the hub forwards `kairos.lab.v1`: a process that lives
//! independently of the hub. Either may be started again while the other runs.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tonic::transport::{Channel, Uri};

use crate::upstream;

/// Package of its services.
pub const PACKAGE: &str = "kairos.lab.v1";
/// Its socket, in its folder.
const SOCKET: [&str; 2] = [".kairos", "rpc.sock"];
/// Maximum number of concurrent calls, of all clients.
const CALLS: usize = 1024;

/// A laboratory.
#[derive(Clone, Debug)]
pub struct Laboratory {
    channel: Channel,
    calls: Arc<Semaphore>,
}

impl Laboratory {
    /// The laboratory in a folder, which need not run yet. To be called in a runtime.
    pub fn new(folder: &Path) -> Self {
        let state = folder.join(SOCKET[0]);
        let connector = tower::service_fn(move |_: Uri| connect(state.clone()));
        Self {
            channel: upstream::endpoint(CALLS).connect_with_connector_lazy(connector),
            calls: Arc::new(Semaphore::new(CALLS)),
        }
    }

    /// The channel on which it is called.
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Limits the number of concurrent calls.
    pub fn calls(&self) -> Arc<Semaphore> {
        self.calls.clone()
    }

    /// Whether a path is one of its methods.
    pub fn has_method(path: &str) -> bool {
        path.strip_prefix('/')
            .and_then(|path| path.strip_prefix(PACKAGE))
            .is_some_and(|rest| rest.starts_with('.'))
    }
}

async fn connect(state: PathBuf) -> std::io::Result<TokioIo<UnixStream>> {
    // By its folder, because its whole path may be longer than the name of a socket.
    let folder = File::open(state)?;
    let path = format!("/proc/self/fd/{}/{}", folder.as_raw_fd(), SOCKET[1]);
    Ok(TokioIo::new(UnixStream::connect(path).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_of_other_packages_are_not_the_laboratorys() {
        assert!(Laboratory::has_method("/kairos.lab.v1.Queue/Submit"));
        for path in [
            "/kairos.hub.v1.Devices/List",
            "/kairos.lab.v10.Queue/Submit",
            "/kairos.lab.v1",
            "",
        ] {
            assert!(!Laboratory::has_method(path), "{path}");
        }
    }
}
