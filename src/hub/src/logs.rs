//! The log of a device for many clients: the device sends it to one client, the hub, and only while
//! a client follows it here.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use tokio::time::sleep;

use crate::job::State;
use crate::management::{Client, Error};
use crate::settings::DeviceSettings;

/// Number of lines that a follower may lag behind.
const LINES: usize = 4096;
/// Time after which the absence of followers is noticed; pause between attempts to connect.
const PAUSE: Duration = Duration::from_secs(1);

type Feed = broadcast::Sender<Arc<str>>;

/// The log of a device.
#[derive(Clone)]
pub struct Logs {
    settings: Arc<DeviceSettings>,
    state: watch::Receiver<State>,
    /// The channel to the followers, while a task fills it.
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

    /// Follows the log from now on. The first follower also receives the lines buffered on the
    /// device.
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

    /// Whether there are no followers left; then resets the feed for the next one.
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
                // All followers may have left.
                let _ = sender.send(text.into());
                before = error;
            }
            sleep(PAUSE).await;
        }
    }

    /// Forwards the log until no client follows any more, or the device is lost.
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
                    // A device that loses power does not close the connection.
                    if let State::Offline(why) = &*self.state.borrow() {
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
