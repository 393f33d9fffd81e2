//! Watching and waiting for the clocks of a laboratory.

use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{sleep, Instant};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::Stream;
use tonic::{Request, Response, Status};

use super::query::{query, same};
use crate::device::All;
use crate::service::{find, Service};
use crate::v1::clocks_server::Clocks;
use crate::v1::{
    Condition, DeviceClocks, ListClocksRequest, ListClocksResponse, WaitForClocksRequest, WaitForClocksResponse,
    WatchClocksRequest, WatchClocksResponse,
};

/// Minimum period of a watch; polling period while waiting.
const PERIOD_MIN: Duration = Duration::from_millis(100);
/// Maximum waiting time.
const WAIT_MAX: Duration = Duration::from_secs(600);

/// Queries the clocks of devices concurrently. `names`: empty for all.
async fn all(devices: &All, names: &[String]) -> Result<Vec<DeviceClocks>, Status> {
    let names: Vec<String> = match names {
        [] => devices.iter().map(|device| device.name().into()).collect(),
        names => names.to_vec(),
    };
    for name in &names {
        find(devices, name)?;
    }
    let asked: Vec<_> = names
        .into_iter()
        .map(|name| {
            let devices = devices.clone();
            tokio::spawn(async move { Ok::<_, Status>(query(find(&devices, &name)?).await) })
        })
        .collect();
    let mut found = Vec::new();
    for one in asked {
        found.push(one.await.map_err(|error| Status::internal(error.to_string()))??);
    }
    Ok(found)
}

/// Describes faulty clocks; `None` if there are none.
fn complaint(found: &[DeviceClocks]) -> Option<String> {
    let wrong = found
        .iter()
        .filter(|device| !matches!(device.condition(), Condition::Good | Condition::Absent))
        .map(|device| format!("{}: {}", device.device, device.text));
    let wrong: Vec<_> = wrong.collect();
    (!wrong.is_empty()).then(|| wrong.join("; "))
}

#[tonic::async_trait]
impl Clocks for Service {
    async fn list(&self, request: Request<ListClocksRequest>) -> Result<Response<ListClocksResponse>, Status> {
        let devices = all(&self.devices, &request.into_inner().devices).await?;
        Ok(Response::new(ListClocksResponse { devices }))
    }

    type WatchStream = Pin<Box<dyn Stream<Item = Result<WatchClocksResponse, Status>> + Send>>;

    async fn watch(&self, request: Request<WatchClocksRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let WatchClocksRequest {
            devices: names,
            period_ms,
        } = request.into_inner();
        let period = match period_ms {
            0 => Duration::from_secs(1),
            ms => Duration::from_millis(ms.into()).max(PERIOD_MIN),
        };
        let mut known = all(&self.devices, &names).await?;
        let (sender, receiver) = tokio::sync::mpsc::channel(1);
        let devices = self.devices.clone();
        tokio::spawn(async move {
            let mut changes = known.clone();
            loop {
                if !changes.is_empty() {
                    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                    let time = since.as_secs_f64();
                    if sender
                        .send(Ok(WatchClocksResponse { devices: changes, time }))
                        .await
                        .is_err()
                    {
                        return;
                    }
                }
                tokio::select! {
                    () = sleep(period) => {}
                    () = sender.closed() => return,
                }
                // The names were valid when the call began.
                let Ok(found) = all(&devices, &names).await else { return };
                let pairs = found.iter().zip(&known);
                changes = pairs
                    .filter(|(now, before)| !same(now, before))
                    .map(|(now, _)| now.clone())
                    .collect();
                // Compared with the last reported state, so that slow drift is noticed.
                for now in &changes {
                    if let Some(before) = known.iter_mut().find(|before| before.device == now.device) {
                        before.clone_from(now);
                    }
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    async fn wait(&self, request: Request<WaitForClocksRequest>) -> Result<Response<WaitForClocksResponse>, Status> {
        let WaitForClocksRequest {
            devices: names,
            timeout_ms,
        } = request.into_inner();
        let end = Instant::now() + Duration::from_millis(timeout_ms.into()).min(WAIT_MAX);
        loop {
            let devices = all(&self.devices, &names).await?;
            let Some(wrong) = complaint(&devices) else {
                return Ok(Response::new(WaitForClocksResponse { devices }));
            };
            if Instant::now() >= end {
                return Err(Status::deadline_exceeded(format!("some clocks are not good: {wrong}")));
            }
            sleep(PERIOD_MIN).await;
        }
    }
}
