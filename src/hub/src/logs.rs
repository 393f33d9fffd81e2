//! The log of a device for many clients: the device sends it to one client, the hub, and only while
//! a client follows it here. The device discards what it has sent, so the hub keeps the last lines.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use tokio::time::sleep;

use crate::job::State;
use crate::management::{Client, Error};
use crate::settings::DeviceSettings;

/// Number of lines that a follower may lag behind, and that are kept.
const LINES: usize = 4096;
/// Bytes of a line; a longer one is divided.
const LINE_MAX: usize = 4096;
/// Time after which the absence of followers is noticed; pause between attempts to connect.
const PAUSE: Duration = Duration::from_secs(1);

type Feed = broadcast::Sender<Arc<str>>;

/// The log of a device.
#[derive(Clone)]
pub struct Logs {
    settings: Arc<DeviceSettings>,
    state: watch::Receiver<State>,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    /// The channel to the followers, while a task fills it.
    feed: Option<Feed>,
    kept: VecDeque<Arc<str>>,
}

impl Shared {
    /// Keeps a line, and passes it to the followers.
    fn pass(&mut self, line: Arc<str>) {
        if self.kept.len() == LINES {
            self.kept.pop_front();
        }
        self.kept.push_back(line.clone());
        if let Some(feed) = &self.feed {
            // All followers may have left.
            let _ = feed.send(line);
        }
    }
}

impl Logs {
    pub fn new(settings: DeviceSettings, state: watch::Receiver<State>) -> Self {
        Self {
            settings: Arc::new(settings),
            state,
            shared: Arc::default(),
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lines that were followed, of which the device has none any more.
    pub fn kept(&self) -> Vec<Arc<str>> {
        self.shared().kept.iter().cloned().collect()
    }

    /// Follows the log: returns the lines kept here, and those that come, of which the first are the
    /// ones that the device has kept.
    pub fn follow(&self) -> (Vec<Arc<str>>, broadcast::Receiver<Arc<str>>) {
        let mut shared = self.shared();
        let kept = shared.kept.iter().cloned().collect();
        if let Some(feed) = &shared.feed {
            return (kept, feed.subscribe());
        }
        let (sender, receiver) = broadcast::channel(LINES);
        shared.feed = Some(sender.clone());
        tokio::spawn(self.clone().fill(sender));
        (kept, receiver)
    }

    /// Whether there are no followers left; then resets the feed for the next one.
    fn is_over(&self, sender: &Feed) -> bool {
        let mut shared = self.shared();
        let over = sender.receiver_count() == 0;
        if over {
            shared.feed = None;
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
                self.shared().pass(text.into());
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
                }
                if byte == b'\n' || line.len() == LINE_MAX {
                    self.shared().pass(String::from_utf8_lossy(&line).into());
                    line.clear();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_lines_are_the_last_ones() {
        let mut shared = Shared::default();
        for number in 0..LINES + 3 {
            shared.pass(number.to_string().into());
        }
        assert_eq!(shared.kept.len(), LINES);
        assert_eq!(shared.kept.front().map(AsRef::as_ref), Some("3"));
    }
}
