//! Resource limits of a plugin's processes: a kernel control group (version 2) if the hub can use
//! one, through systemd's `Delegate=` or as named in hub.toml; and always limits that processes
//! inherit.
//!
//! Processes cannot leave a control group, the kernel counts memory and tasks, and everything in it
//! can be killed at once. Without one, processes are found by process group and by an inherited
//! environment variable, and are counted every 0.5 s.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{kill_process, kill_process_group, prlimit, setpriority_process, Pid, Resource, Rlimit, Signal};

use super::processes;

/// Maximum number of processes of a plugin.
pub const PROCESSES_MAX: usize = 64;
/// Maximum number of tasks in a control group; threads count.
const TASKS_MAX: u32 = 1024;
/// Data size in bytes that a process may allocate beyond the plugin's memory limit: stacks of
/// threads, most of which are never touched.
const HEADROOM: u64 = 1 << 30;
/// If the hub and its plugins compete for a processor, a plugin gets a third by its nice value, or
/// a tenth in a control group.
const NICE: i32 = 5;
const WEIGHT: u32 = 10;
/// Attempts to kill processes that keep starting others.
const ROUNDS: usize = 20;
const ROUND: Duration = Duration::from_millis(5);

/// The control group that contains those of plugins.
#[derive(Clone, Debug, Default)]
pub struct Groups(Option<PathBuf>);

impl Groups {
    /// The folder named in hub.toml; otherwise the hub's own group, if it was delegated. `root`:
    /// `/`.
    pub fn take(root: &Path, named: Option<&Path>) -> Result<Self, String> {
        let Some(folder) = named else {
            return Ok(Self(own(root)));
        };
        enable(folder);
        match fs::create_dir(folder.join("try")).and_then(|()| fs::remove_dir(folder.join("try"))) {
            Ok(()) => Ok(Self(Some(folder.into()))),
            Err(error) => Err(format!(
                "control_group: the hub has no access to {}: {error}",
                folder.display()
            )),
        }
    }

    /// The limits of a plugin.
    pub fn limits(&self, plugin: &str, memory: u64) -> Limits {
        Limits {
            group: self.0.as_ref().map(|folder| folder.join(format!("plugin-{plugin}"))),
            memory,
        }
    }
}

/// The hub's group, if it contains no other processes, which means that it was delegated. Moves the
/// hub into a subgroup.
fn own(root: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let folder = root.join("sys/fs/cgroup").join(path);
    let members = fs::read_to_string(folder.join("cgroup.procs")).ok()?;
    if path.is_empty() || members.trim() != std::process::id().to_string() {
        return None;
    }
    let hub = folder.join("hub");
    fs::create_dir(&hub)
        .or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Ok(()),
            _ => Err(error),
        })
        .ok()?;
    // A group that delegates controllers to subgroups must not contain processes.
    fs::write(hub.join("cgroup.procs"), members).ok()?;
    enable(&folder);
    Some(folder)
}

/// Delegates the available controllers to subgroups.
fn enable(folder: &Path) {
    for controller in ["+memory", "+pids", "+cpu"] {
        let _ = fs::write(folder.join("cgroup.subtree_control"), controller);
    }
}

/// The limits of one plugin.
#[derive(Clone, Debug)]
pub struct Limits {
    group: Option<PathBuf>,
    memory: u64,
}

impl Limits {
    /// Applies the limits to a new process, whose children inherit them.
    pub fn put(&self, process: u32) -> io::Result<()> {
        if let Some(group) = &self.group {
            self.enter(group, process)?;
        }
        let Some(pid) = Pid::from_raw(process as i32) else {
            return Ok(());
        };
        let limit = |most| Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        prlimit(Some(pid), Resource::Data, limit(self.memory.saturating_add(HEADROOM)))?;
        prlimit(Some(pid), Resource::Core, limit(0))?;
        setpriority_process(Some(pid), NICE)?;
        Ok(())
    }

    fn enter(&self, group: &Path, process: u32) -> io::Result<()> {
        // Kills leftovers of a previous process, even of a hub that was killed, and resets the
        // counters.
        let _ = fs::write(group.join("cgroup.kill"), "1");
        let _ = fs::remove_dir(group);
        if !group.is_dir() {
            fs::create_dir(group)?;
        }
        for (file, value) in [
            ("memory.max", self.memory.to_string()),
            ("memory.swap.max", "0".into()),
            ("memory.oom.group", "1".into()),
            ("pids.max", TASKS_MAX.to_string()),
            ("cpu.weight", WEIGHT.to_string()),
        ] {
            // Missing files belong to controllers that were not delegated to the hub.
            if group.join(file).exists() {
                fs::write(group.join(file), value)?;
            }
        }
        fs::write(group.join("cgroup.procs"), process.to_string())
    }

    /// The processes of the plugin whose first process is `first`.
    pub fn processes(&self, first: u32) -> Vec<u32> {
        match &self.group {
            Some(group) => fs::read_to_string(group.join("cgroup.procs"))
                .unwrap_or_default()
                .lines()
                .filter_map(|line| line.parse().ok())
                .collect(),
            None => processes::of_group(first),
        }
    }

    /// Whether the memory limit is nearly reached: before the kernel kills a process, it reclaims
    /// page cache, including the program's own code, which slows the process down.
    pub fn is_full(&self) -> bool {
        let used = self
            .text("memory.current")
            .and_then(|text| text.trim().parse::<u64>().ok());
        self.ran_out() || used.is_some_and(|used| used >= self.memory / 20 * 19)
    }

    fn text(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.group.as_ref()?.join(file)).ok()
    }

    /// Whether the kernel has killed a process for exceeding the memory limit.
    pub fn ran_out(&self) -> bool {
        let killed = self.text("memory.events").and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("oom_kill "))?;
            line.trim().parse::<u64>().ok()
        });
        killed.is_some_and(|killed| killed > 0)
    }

    /// Kills all processes left of a plugin; blocks for some time. `mark`: an entry of the
    /// environment that they inherited.
    pub fn end(&self, first: Option<u32>, mark: &str) {
        if let Some(group) = &self.group {
            let _ = fs::write(group.join("cgroup.kill"), "1");
        }
        if let Some(first) = first.and_then(|first| Pid::from_raw(first as i32)) {
            // The group may be empty.
            let _ = kill_process_group(first, Signal::KILL);
        }
        for _ in 0..ROUNDS {
            let left = processes::with_mark(mark);
            if left.is_empty() {
                break;
            }
            for process in left.into_iter().filter_map(|process| Pid::from_raw(process as i32)) {
                let _ = kill_process(process, Signal::KILL);
            }
            std::thread::sleep(ROUND);
        }
        if let Some(group) = &self.group {
            // Fails while processes are exiting; the group is then removed before the next start.
            let _ = fs::remove_dir(group);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_group_gets_limits_of_available_controllers() {
        let folder = tempfile::tempdir().unwrap();
        let groups = Groups::take(Path::new("/nowhere"), Some(folder.path())).unwrap();
        let enabled = fs::read_to_string(folder.path().join("cgroup.subtree_control")).unwrap();
        assert_eq!(enabled, "+cpu");
        let limits = groups.limits("pll", 300 << 20);
        let group = folder.path().join("plugin-pll");
        fs::create_dir(&group).unwrap();
        for file in ["memory.max", "pids.max"] {
            fs::write(group.join(file), "max").unwrap();
        }
        limits.enter(&group, 4321).unwrap();
        let text = |file| fs::read_to_string(group.join(file)).unwrap_or_default();
        assert_eq!(
            [text("memory.max"), text("pids.max"), text("cpu.weight")],
            ["314572800", "1024", ""]
        );
        assert_eq!((text("cgroup.procs"), limits.processes(1)), ("4321".into(), vec![4321]));
        fs::write(group.join("memory.current"), "200000000\n").unwrap();
        assert!(!limits.ran_out() && !limits.is_full());
        fs::write(group.join("memory.current"), "314500000\n").unwrap();
        assert!(!limits.ran_out() && limits.is_full());
        fs::write(group.join("memory.events"), "low 0\noom 1\noom_kill 2\n").unwrap();
        assert!(limits.ran_out());
    }

    #[test]
    fn control_group_with_other_processes_is_not_used() {
        let root = tempfile::tempdir().unwrap();
        let group = root.path().join("sys/fs/cgroup/system.slice/hub.service");
        let own_id = std::process::id();
        fs::create_dir_all(root.path().join("proc/self")).unwrap();
        fs::create_dir_all(&group).unwrap();
        let take = |path: &str, members: String| {
            fs::write(
                root.path().join("proc/self/cgroup"),
                format!("1:name=systemd:/x\n0::{path}\n"),
            )
            .unwrap();
            fs::write(group.join("cgroup.procs"), members).unwrap();
            Groups::take(root.path(), None).unwrap().0
        };
        let path = "/system.slice/hub.service";
        assert_eq!(take(path, format!("{own_id}\n77\n")), None);
        assert_eq!(take("/", format!("{own_id}\n")), None);
        assert_eq!(take(path, format!("{own_id}\n")), Some(group.clone()));
        assert_eq!(
            fs::read_to_string(group.join("hub/cgroup.procs")).unwrap(),
            format!("{own_id}\n")
        );
        assert!(Groups::take(root.path(), Some(Path::new("/nowhere")))
            .unwrap_err()
            .contains("/nowhere"));
    }
}
