//! Logs the output of a plugin line by line. Excessive output is throttled by reading the pipe
//! slowly.

use std::time::Duration;

use crate::text::plain;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{sleep_until, Instant};

/// Maximum number of bytes per second.
const BYTES_MAX: usize = 16 * 1024;
/// Maximum length of a line; longer ones are split.
const LINE_MAX: usize = 1024;

/// Logs until the plugin closes the pipe.
pub async fn log(plugin: String, mut pipe: impl AsyncRead + Unpin) {
    let mut line = Vec::new();
    let mut buffer = [0; 4096];
    let mut taken = 0;
    let mut round = Instant::now();
    loop {
        let count = match pipe.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(count) => count,
        };
        for &byte in &buffer[..count] {
            if byte != b'\n' {
                line.push(byte);
            }
            if byte == b'\n' || line.len() >= LINE_MAX {
                log_line(&plugin, &mut line);
            }
        }
        taken += count;
        if taken >= BYTES_MAX {
            sleep_until(round + Duration::from_secs(1)).await;
            (taken, round) = (0, Instant::now());
        }
    }
    log_line(&plugin, &mut line);
}

fn log_line(plugin: &str, line: &mut Vec<u8>) {
    if !line.is_empty() {
        tracing::info!(target: "plugin", plugin, "{}", plain(&String::from_utf8_lossy(line)));
        line.clear();
    }
}
