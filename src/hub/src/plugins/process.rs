//! A plugin's process: started, watched, and restarted when it ends, does not answer, or uses too
//! much memory; ended when its entry in hub.toml is no longer valid.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, watch, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::{interval, sleep, timeout, MissedTickBehavior};
use tonic::transport::Channel;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::HealthCheckRequest;

use super::limits::{Groups, Limits, PROCESSES_MAX};
use super::lines;
use super::orphans;
use super::processes;
use super::protocol::Protocol;
use super::settings::{Layer, PluginSettings};
use crate::life::Heartbeat;
use crate::upstream;

/// Interval of checks.
const CHECK: Duration = Duration::from_millis(500);
/// Time limit for the first answer after a start.
const START: Duration = Duration::from_secs(30);
/// Time to exit voluntarily after its standard input is closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Time to exit for a process that does not answer any more.
const ENDING: Duration = Duration::from_secs(1);
/// Pause before a restart: doubled each time, until the process has run for [`STEADY`].
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(30);
const STEADY: Duration = Duration::from_secs(60);
/// Environment variable with the path of the plugin's socket.
const SOCKET: &str = "KAIROS_PLUGIN_SOCKET";
/// Maximum number of concurrent calls.
const CALLS_MAX: usize = 64;
/// Calls of the hub itself at the same time: its question for the plugin's health.
const OWN_CALLS: usize = 1;

/// State of a plugin.
#[derive(Clone, Debug)]
pub enum State {
    /// The plugin serves. Each process has a new connection.
    Running(Channel),
    /// The plugin does not run, for this reason.
    Down(String),
}

/// Statistics of a plugin's processes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// 0 if there is no process.
    pub pid: u32,
    /// Number of starts.
    pub starts: u32,
    /// Resident memory in bytes.
    pub memory: u64,
}

/// Address and token with which a control plugin calls the hub.
#[derive(Clone, Debug)]
pub struct HubAccess {
    pub address: String,
    pub token: String,
}

/// What a plugin's supervisor is requested to do.
enum Request {
    /// Restart the plugin with these settings.
    Reload(PluginSettings),
    /// End it for good.
    End,
}

/// A plugin.
pub struct Plugin {
    name: String,
    layer: Layer,
    protocol: Protocol,
    state: Arc<watch::Sender<State>>,
    facts: Arc<Mutex<Facts>>,
    requests: mpsc::Sender<Request>,
    supervisor: Mutex<Option<JoinHandle<()>>>,
    calls: Arc<Semaphore>,
    heartbeat: Arc<Heartbeat>,
}

impl Plugin {
    /// Starts the plugin and supervises it until the hub ends. `folder`: for its socket.
    pub fn start(settings: PluginSettings, folder: &std::path::Path, hub: Option<HubAccess>, groups: Groups) -> Self {
        let state = Arc::new(watch::Sender::new(State::Down("it is starting".into())));
        let (sender, requests) = mpsc::channel(1);
        let socket = folder.join(format!("{}.socket", settings.name));
        let facts = Arc::<Mutex<Facts>>::default();
        let heartbeat = Arc::new(Heartbeat::default());
        let (name, layer, protocol) = (settings.name.clone(), settings.layer, settings.protocol.clone());
        let supervisor = Supervisor {
            hub: hub.filter(|_| settings.layer == Layer::Control),
            groups,
            settings,
            socket,
            state: state.clone(),
            facts: facts.clone(),
            requests,
            heartbeat: heartbeat.clone(),
        };
        Self {
            name,
            layer,
            protocol,
            state,
            facts,
            requests: sender,
            supervisor: Mutex::new(Some(tokio::spawn(supervisor.run()))),
            calls: Arc::new(Semaphore::new(CALLS_MAX)),
            heartbeat,
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn layer(&self) -> Layer {
        self.layer
    }

    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    pub fn facts(&self) -> Facts {
        *self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    pub fn heartbeat(&self) -> Arc<Heartbeat> {
        self.heartbeat.clone()
    }

    /// The connection to the plugin, or the reason why it does not run.
    pub fn channel(&self) -> Result<Channel, String> {
        match &*self.state.borrow() {
            State::Running(channel) => Ok(channel.clone()),
            State::Down(why) => Err(why.clone()),
        }
    }

    pub fn calls(&self) -> Arc<Semaphore> {
        self.calls.clone()
    }

    /// Restarts the plugin with these settings, whose layer and methods must be unchanged. It is down
    /// when this returns, and stays so until its new process answers.
    pub async fn reload(&self, settings: PluginSettings) {
        self.request(Request::Reload(settings), "it is restarting").await;
    }

    /// Ends the plugin; returns when all of its processes have ended.
    pub async fn end(&self) {
        self.request(Request::End, "it is no longer in hub.toml").await;
        let supervisor = self.supervisor.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(supervisor) = supervisor {
            // Fails only if the hub ends meanwhile.
            let _ = supervisor.await;
        }
    }

    async fn request(&self, request: Request, state: &str) {
        // Fails only when the supervisor has ended.
        let Ok(permit) = self.requests.reserve().await else {
            return;
        };
        // Together, so that the supervisor cannot report the old process as running in between.
        self.state.send_modify(|now| {
            permit.send(request);
            *now = State::Down(state.into());
        });
    }
}

/// A connection to the process that listens at the socket.
fn channel(socket: PathBuf) -> Channel {
    let connect = move |_| {
        let socket = socket.clone();
        async move { UnixStream::connect(socket).await.map(TokioIo::new) }
    };
    upstream::endpoint(CALLS_MAX + OWN_CALLS).connect_with_connector_lazy(tower::service_fn(connect))
}

/// Why watching a process ended.
enum End {
    /// The process failed, for this reason.
    Failed(String),
    Reload(PluginSettings),
    /// The plugin, or the hub, ends.
    Over,
}

impl From<Option<Request>> for End {
    fn from(request: Option<Request>) -> Self {
        match request {
            Some(Request::Reload(settings)) => Self::Reload(settings),
            Some(Request::End) | None => Self::Over,
        }
    }
}

struct Supervisor {
    settings: PluginSettings,
    groups: Groups,
    socket: PathBuf,
    hub: Option<HubAccess>,
    state: Arc<watch::Sender<State>>,
    facts: Arc<Mutex<Facts>>,
    requests: mpsc::Receiver<Request>,
    heartbeat: Arc<Heartbeat>,
}

impl Supervisor {
    async fn run(mut self) {
        let mut pause = PAUSE_MIN;
        loop {
            let begun = Instant::now();
            let end = match self.spawn() {
                Ok(mut child) => {
                    // Waiting for a child closes its standard input, so it is kept separately.
                    let input = child.stdin.take();
                    let end = self.watch(&mut child).await;
                    if let End::Failed(why) = &end {
                        // Calls from now on would be cut.
                        self.report(State::Down(why.clone()));
                    }
                    drop(input);
                    self.stop(child).await;
                    end
                }
                Err(error) => End::Failed(format!("{} cannot be started: {error}", self.settings.command[0])),
            };
            match end {
                End::Over => return,
                End::Reload(settings) => {
                    tracing::info!(plugin = self.settings.name, "restarted on request");
                    self.settings = settings;
                    pause = PAUSE_MIN;
                }
                End::Failed(why) => {
                    if begun.elapsed() > STEADY {
                        pause = PAUSE_MIN;
                    }
                    tracing::error!(plugin = self.settings.name, "{why}; restarting in {pause:?}");
                    self.report(State::Down(why));
                    self.heartbeat.beat();
                    tokio::select! {
                        () = sleep(pause) => pause = (2 * pause).min(PAUSE_MAX),
                        request = self.requests.recv() => match request {
                            Some(Request::Reload(settings)) => {
                                self.settings = settings;
                                pause = PAUSE_MIN;
                            }
                            Some(Request::End) | None => return,
                        },
                    }
                }
            }
        }
    }

    /// Makes the state known, unless a request has come that makes it outdated.
    fn report(&self, state: State) {
        self.state.send_if_modified(|now| {
            let is_current = self.requests.is_empty();
            if is_current {
                *now = state;
            }
            is_current
        });
    }

    fn limits(&self) -> Limits {
        self.groups.limits(&self.settings.name, self.settings.memory)
    }

    /// Entry in the environment that identifies the plugin's processes.
    fn mark(&self) -> String {
        format!("{SOCKET}={}", self.socket.display())
    }

    fn spawn(&self) -> std::io::Result<Child> {
        // The socket of the previous process.
        let _ = std::fs::remove_file(&self.socket);
        let protocol = self.socket.with_extension("protocol");
        std::fs::write(&protocol, &self.settings.protocol.files)?;
        let [program, arguments @ ..] = &self.settings.command[..] else {
            return Err(std::io::ErrorKind::InvalidInput.into());
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(match self.settings.folder.as_os_str().is_empty() {
                true => std::path::Path::new("."),
                false => &self.settings.folder,
            })
            .env("KAIROS_PLUGIN", &self.settings.name)
            .env(SOCKET, &self.socket)
            .env("KAIROS_PLUGIN_PROTOCOL", &protocol)
            .env("KAIROS_PLUGIN_SETTINGS", &self.settings.section)
            .env_remove("NOTIFY_SOCKET")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(hub) = &self.hub {
            command
                .env("KAIROS_HUB", &hub.address)
                .env("KAIROS_HUB_TOKEN", &hub.token);
        }
        let mut child = orphans::start(&self.settings.name, || {
            let child = command.spawn()?;
            let first = child.id();
            Ok((child, first))
        })?;
        if let Some(Err(error)) = child.id().map(|process| self.limits().put(process)) {
            // It may have ended already.
            tracing::warn!(
                plugin = self.settings.name,
                "some of its limits could not be set: {error}"
            );
        }
        if let Some(pipe) = child.stdout.take() {
            tokio::spawn(lines::log(self.settings.name.clone(), pipe));
        }
        if let Some(pipe) = child.stderr.take() {
            tokio::spawn(lines::log(self.settings.name.clone(), pipe));
        }
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        facts.pid = child.id().unwrap_or(0);
        facts.starts += 1;
        Ok(child)
    }

    /// Watches a process until it ends or must be stopped.
    async fn watch(&mut self, child: &mut Child) -> End {
        let mut checks = interval(CHECK);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let begun = Instant::now();
        let channel = channel(self.socket.clone());
        let mut is_up = false;
        loop {
            self.heartbeat.beat();
            tokio::select! {
                status = child.wait() => return End::Failed(match status {
                    Ok(_) if self.limits().ran_out() => {
                        format!("it exceeded its memory limit of {} MB", self.settings.memory >> 20)
                    }
                    Ok(status) => format!("it has ended: {status}"),
                    Err(error) => format!("it has ended: {error}"),
                }),
                request = self.requests.recv() => return request.into(),
                _ = checks.tick() => {}
            }
            orphans::watch();
            let all = child
                .id()
                .map_or_else(Vec::new, |process| self.limits().processes(process));
            if all.len() > PROCESSES_MAX {
                return End::Failed(format!(
                    "it has {} processes, exceeding its limit of {PROCESSES_MAX}",
                    all.len()
                ));
            }
            let memory = processes::memory(&all);
            self.facts.lock().unwrap_or_else(PoisonError::into_inner).memory = memory;
            if memory > self.settings.memory {
                let most = self.settings.memory >> 20;
                return End::Failed(format!(
                    "it uses {} MB of memory, exceeding its limit of {most}",
                    memory >> 20
                ));
            }
            // If the process ends meanwhile, the next iteration reports it.
            let answered = tokio::select! {
                answered = timeout(self.settings.patience, answers(channel.clone())) => answered,
                _ = child.wait() => continue,
                request = self.requests.recv() => return request.into(),
            };
            match (answered, is_up) {
                (Ok(true), true) => {}
                (Ok(true), false) => {
                    is_up = true;
                    tracing::info!(plugin = self.settings.name, "runs");
                    self.report(State::Running(channel.clone()));
                }
                // An ending process stops answering before it exits; then the next iteration
                // reports the reason.
                (Ok(false), true) if timeout(ENDING, child.wait()).await.is_ok() => {}
                (Ok(false), true) => return End::Failed("it reports NOT_SERVING, or no status".into()),
                (Err(_), true) => {
                    let full = match self.limits().is_full() {
                        true => format!(", with all of its {} MB of memory in use", self.settings.memory >> 20),
                        false => String::new(),
                    };
                    return End::Failed(format!("it has not answered within {:?}{full}", self.settings.patience));
                }
                (_, false) if begun.elapsed() > START => {
                    return End::Failed(format!("it did not answer within {START:?} of its start"));
                }
                (_, false) => {}
            }
        }
    }

    /// Stops a process, which may exit voluntarily first, and all its descendants.
    async fn stop(&self, mut child: Child) {
        let first = child.id();
        let _ = timeout(EXIT_TIMEOUT, child.wait()).await;
        let (limits, mark) = (self.limits(), self.mark());
        let _ = tokio::task::spawn_blocking(move || limits.end(first, &mark)).await;
        let _ = child.kill().await;
        let name = self.settings.name.clone();
        let _ = tokio::task::spawn_blocking(move || orphans::end(&name, first)).await;
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        (facts.pid, facts.memory) = (0, 0);
    }
}

/// Whether the plugin's health service reports that it serves.
async fn answers(channel: Channel) -> bool {
    let request = HealthCheckRequest { service: String::new() };
    let reply = HealthClient::new(channel).check(request).await;
    reply.is_ok_and(|reply| reply.get_ref().status == tonic_health::ServingStatus::Serving as i32)
}
