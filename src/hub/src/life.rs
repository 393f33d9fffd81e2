//! Watchdog of the service manager (systemd's `sd_notify`): notified only while the device tasks,
//! the plugins and the server are alive.

use std::env;
use std::io;
use std::net::SocketAddr;
use std::os::unix::net::UnixDatagram;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{interval, timeout};

/// Longest time between two beats of a live task: a device has 15 s for an answer, and there may be
/// three in a row.
const SILENCE_MAX: Duration = Duration::from_secs(50);
/// Time limit for the server's answer.
const ANSWER: Duration = Duration::from_secs(5);
/// The HTTP/2 client preface with empty SETTINGS. A TLS server answers it with an alert, which
/// counts as well.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The time of the last beat of a task.
#[derive(Debug, Default)]
pub struct Heartbeat(AtomicU64);

impl Heartbeat {
    pub fn beat(&self) {
        self.0.store(START.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    fn silence(&self, now: Duration) -> Duration {
        now.saturating_sub(Duration::from_millis(self.0.load(Ordering::Relaxed)))
    }
}

/// The tasks that must beat, by name. Those of plugins come and go.
#[derive(Clone, Debug, Default)]
pub struct Heartbeats(Arc<Mutex<Vec<Named>>>);

type Named = (String, Arc<Heartbeat>);

impl Heartbeats {
    pub fn add(&self, name: &str, heartbeat: Arc<Heartbeat>) {
        // It has its full time from now on, also in a hub that has run for long.
        heartbeat.beat();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((name.into(), heartbeat));
    }

    pub fn remove(&self, heartbeat: &Arc<Heartbeat>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(_, other)| !Arc::ptr_eq(other, heartbeat));
    }

    /// The name of a task that has been silent for too long.
    fn missing(&self, now: Duration) -> Option<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = all.iter();
        let silent = all.find(|(_, heartbeat)| heartbeat.silence(now) > SILENCE_MAX);
        silent.map(|(name, _)| name.clone())
    }
}

/// Notifies the service manager that the hub is ready, and then at the requested interval that it
/// is alive. Returns at once without a service manager.
pub async fn notify(heartbeats: Heartbeats, server: SocketAddr) {
    let Some(socket) = env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    let notify = |text: &str| {
        if let Err(error) = send(&socket, text) {
            tracing::warn!("cannot notify the watchdog of the service manager: {error}");
        }
    };
    notify("READY=1");
    let limit = env::var("WATCHDOG_USEC").ok().and_then(|text| text.parse().ok());
    let Some(limit) = limit.map(Duration::from_micros) else {
        return;
    };
    let mut rounds = interval(limit / 3);
    loop {
        rounds.tick().await;
        match heartbeats.missing(START.elapsed()) {
            Some(name) => tracing::error!("the task for {name} does not respond: the watchdog is not notified"),
            None if !answers(server).await => {
                tracing::error!("the server does not answer: the watchdog is not notified");
            }
            None => notify("WATCHDOG=1"),
        }
    }
}

/// Whether the server answers in any way, even by demanding TLS.
async fn answers(server: SocketAddr) -> bool {
    let talk = async {
        let mut stream = TcpStream::connect(server).await?;
        stream.write_all(PREFACE).await?;
        stream.read(&mut [0; 64]).await
    };
    matches!(timeout(ANSWER, talk).await, Ok(Ok(_)))
}

fn send(socket: &std::ffi::OsStr, text: &str) -> io::Result<()> {
    let sender = UnixDatagram::unbound()?;
    match socket.as_encoded_bytes() {
        #[cfg(target_os = "linux")]
        [b'@', name @ ..] => {
            use std::os::linux::net::SocketAddrExt;
            let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
            sender.send_to_addr(text.as_bytes(), &address)?;
        }
        _ => {
            sender.send_to(text.as_bytes(), socket)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_without_heartbeat_is_reported() {
        let (one, other) = (Arc::new(Heartbeat::default()), Arc::new(Heartbeat::default()));
        let heartbeats = Heartbeats::default();
        heartbeats.add("one", one.clone());
        heartbeats.add("other", other.clone());
        let now = START.elapsed();
        assert_eq!(heartbeats.missing(now), None);
        let later = now + SILENCE_MAX + Duration::from_secs(1);
        one.0.store(later.as_millis() as u64, Ordering::Relaxed);
        assert_eq!(heartbeats.missing(later).as_deref(), Some("other"));
        heartbeats.remove(&other);
        assert_eq!(heartbeats.missing(later), None);
    }

    #[tokio::test]
    async fn silent_server_is_not_alive() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = async { drop(listener.accept().await.unwrap().0) };
        assert!(tokio::join!(answers(address), server).0 || !answers(address).await);
        drop(listener);
        assert!(!answers(address).await);
    }
}
