//! The log of a device, for as many clients as want it: a device sends it to one client, the hub,
//! and only while somebody follows it here.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use tokio::time::sleep;

use crate::job::State;
use crate::management::{Client, Error};
use crate::settings::DeviceSettings;

/// Lines that a follower may be behind.
const LINES: usize = 4096;
/// How soon it is noticed that nobody follows any more; between attempts to connect.
const PAUSE: Duration = Duration::from_secs(1);

type Feed = broadcast::Sender<Arc<str>>;

/// The log of a device.
#[derive(Clone)]
pub struct Logs {
    settings: Arc<DeviceSettings>,
    state: watch::Receiver<State>,
    /// What the followers listen to, while a task fills it.
    feed: Arc<Mutex<Option<Feed>>>,
}

impl Logs {
    pub fn new(settings: DeviceSettings, state: watch::Receiver<State>) -> Self {
        Self {
            settings: Arc::new(settings),
            state,
            feed: Arc::default(),
        }
    }

    /// Its lines from now on. The first follower gets those too that the device has kept until now.
    pub fn follow(&self) -> broadcast::Receiver<Arc<str>> {
        let mut feed = self.feed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(feed) = &*feed {
            return feed.subscribe();
        }
        let (sender, receiver) = broadcast::channel(LINES);
        *feed = Some(sender.clone());
        tokio::spawn(self.clone().fill(sender));
        receiver
    }

    /// Whether nobody follows any more; then the next one begins anew.
    fn is_over(&self, sender: &Feed) -> bool {
        let mut feed = self.feed.lock().unwrap_or_else(PoisonError::into_inner);
        let over = sender.receiver_count() == 0;
        if over {
            *feed = None;
        }
        over
    }

    async fn fill(self, sender: Feed) {
        let mut before = String::new();
        while !self.is_over(&sender) {
            let error = match self.pull(&sender).await {
                Ok(()) => return,
                Err(error) => error.to_string(),
            };
            if error != before {
                let text = format!("[hub] the log of {} was interrupted: {error}", self.settings.name);
                // Nobody may be there.
                let _ = sender.send(text.into());
                before = error;
            }
            sleep(PAUSE).await;
        }
    }

    /// Until nobody follows any more, or the device is lost.
    async fn pull(&self, sender: &Feed) -> Result<(), Error> {
        let client = Client::connect(&self.settings.address, self.settings.key.as_deref()).await?;
        let mut log = client.pull_log().await?;
        let mut line = Vec::new();
        loop {
            let text = tokio::select! {
                text = log.next() => text?,
                () = sleep(PAUSE) => {
                    if self.is_over(sender) {
                        return Ok(());
                    }
                    // A device without power closes nothing.
                    if let State::Away(why) = &*self.state.borrow() {
                        return Err(Error::Lost(why.clone()));
                    }
                    continue;
                }
            };
            for byte in text {
                if byte != b'\n' {
                    line.push(byte);
                    continue;
                }
                let _ = sender.send(String::from_utf8_lossy(&line).into());
                line.clear();
            }
        }
    }
}
