//! Processes of plugins that have left their group and lost their parent (a double fork, with a new
//! session and an empty environment). The kernel makes the hub their parent (`PR_SET_CHILD_SUBREAPER`,
//! prctl(2)), so they are found, and end with their plugin, or at the latest with the hub. Only if
//! the hub itself is killed do they survive it, unless there is a control group.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{getpid, kill_process, set_child_subreaper, waitpid, Pid, Signal, WaitOptions};

use super::processes::{self, Process};

/// Attempts to kill processes that keep starting others.
const ROUNDS: usize = 20;
const ROUND: std::time::Duration = std::time::Duration::from_millis(5);

/// A process, also if its number is used again: its number and its start time.
type Identity = (u32, u64);

/// What is known of the plugins' processes.
#[derive(Debug, Default)]
struct Families {
    /// The first process of each running plugin. They are children of the hub, but no orphans.
    firsts: BTreeMap<u32, String>,
    /// Plugins of the processes seen, by process.
    seen: BTreeMap<Identity, String>,
}

static FAMILIES: Mutex<Families> = Mutex::new(Families {
    firsts: BTreeMap::new(),
    seen: BTreeMap::new(),
});

fn families() -> MutexGuard<'static, Families> {
    FAMILIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes this process the parent of orphans among its descendants. Kernels before 3.4 refuse.
pub fn adopt() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Starts the first process of a plugin with `spawn`, which returns it and its number. It cannot be
/// taken for an orphan meanwhile.
pub fn start<T>(plugin: &str, spawn: impl FnOnce() -> io::Result<(T, Option<u32>)>) -> io::Result<T> {
    let mut families = families();
    let (child, first) = spawn()?;
    families.firsts.extend(first.map(|first| (first, plugin.to_string())));
    Ok(child)
}

impl Families {
    /// Notes to which plugin each process belongs, as far as it can be told, and forgets those that
    /// have ended. Returns the orphans, with their plugins.
    fn update(&mut self, all: &BTreeMap<u32, Process>) -> Vec<(u32, Option<String>)> {
        self.seen
            .retain(|(number, start), _| all.get(number).is_some_and(|process| process.start == *start));
        let own = std::process::id();
        for (number, process) in all {
            let mut line = vec![(*number, process.start)];
            let (mut parent, mut found) = (process.parent, self.seen.get(&line[0]).cloned());
            while let (None, Some(above)) = (&found, all.get(&parent)) {
                found = self
                    .firsts
                    .get(&parent)
                    .or_else(|| self.seen.get(&(parent, above.start)))
                    .cloned();
                line.push((parent, above.start));
                // Without a loop, even if numbers were used again meanwhile.
                parent = if line.len() > all.len() { 0 } else { above.parent };
            }
            if let Some(plugin) = found.filter(|_| process.is_descendant_of(own, all)) {
                self.seen.insert(line[0], plugin);
            }
        }
        all.iter()
            .filter(|(number, process)| process.parent == own && !self.firsts.contains_key(number))
            .map(|(number, process)| (*number, self.seen.get(&(*number, process.start)).cloned()))
            .collect()
    }
}

/// Notes the processes of all plugins, to be called regularly; reaps orphans that have ended.
pub fn watch() {
    let all = processes::table();
    for (orphan, _) in families().update(&all) {
        if all.get(&orphan).is_some_and(|process| process.has_ended) {
            reap(orphan);
        }
    }
}

fn reap(orphan: u32) {
    if let Some(orphan) = Pid::from_raw(orphan as i32) {
        // Fails if it has been reaped already.
        let _ = waitpid(Some(orphan), WaitOptions::NOHANG);
    }
}

/// Kills the orphans of a plugin whose `first` process has ended and been reaped; blocks for some
/// time. Those that nobody has seen with a plugin are taken for this one's if no other runs.
pub fn end(plugin: &str, first: Option<u32>) {
    let alone = {
        let mut families = families();
        if let Some(first) = first {
            families.firsts.remove(&first);
        }
        families.firsts.is_empty()
    };
    kill(|of| of.map_or(alone, |of| of == plugin));
}

/// Kills all children of the hub, with their descendants; blocks for some time. To be called last,
/// when nobody supervises plugins any more.
pub fn end_all() {
    families().firsts.clear();
    kill(|_| true);
}

/// Kills the orphans that belong to the plugins `wanted`, and their descendants.
fn kill(wanted: impl Fn(Option<&str>) -> bool) {
    for _ in 0..ROUNDS {
        let all = processes::table();
        let orphans = families().update(&all);
        let roots: BTreeSet<u32> = orphans
            .iter()
            .filter(|(_, of)| wanted(of.as_deref()))
            .map(|(orphan, _)| *orphan)
            .collect();
        if roots.is_empty() {
            return;
        }
        for (number, process) in &all {
            let belongs = roots.contains(number) || roots.iter().any(|root| process.is_descendant_of(*root, &all));
            if let Some(process) = Pid::from_raw(*number as i32).filter(|_| belongs) {
                let _ = kill_process(process, Signal::KILL);
            }
        }
        roots.into_iter().for_each(reap);
        std::thread::sleep(ROUND);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(u32, u32)]) -> BTreeMap<u32, Process> {
        let row = |&(number, parent)| {
            let process = Process {
                parent,
                start: u64::from(number),
                has_ended: false,
            };
            (number, process)
        };
        rows.iter().map(row).collect()
    }

    #[test]
    fn orphan_belongs_to_plugin_of_its_earlier_parent() {
        let hub = std::process::id();
        let (first, other, child, daemon) = (hub + 1, hub + 2, hub + 3, hub + 4);
        let mut families = Families::default();
        families.firsts.insert(first, "pll".into());
        families.firsts.insert(other, "shutter".into());
        let before = [
            (hub, 1),
            (first, hub),
            (other, hub),
            (child, first),
            (daemon, child),
            (1, 0),
        ];
        assert_eq!(families.update(&table(&before)), []);
        let after = [(hub, 1), (first, hub), (other, hub), (daemon, hub), (1, 0)];
        assert_eq!(families.update(&table(&after)), [(daemon, Some("pll".into()))]);
        // A process that was never seen with its plugin, and one started by the orphan.
        let (stray, below) = (hub + 5, hub + 6);
        let last = [
            (hub, 1),
            (first, hub),
            (daemon, hub),
            (stray, hub),
            (below, daemon),
            (1, 0),
        ];
        let orphans = families.update(&table(&last));
        assert_eq!(orphans, [(daemon, Some("pll".into())), (stray, None)]);
        assert_eq!(families.seen[&(below, u64::from(below))], "pll");
        assert!(!families.seen.contains_key(&(child, u64::from(child))), "it has ended");
    }

    #[test]
    fn loop_of_parents_ends() {
        let mut families = Families::default();
        assert_eq!(families.update(&table(&[(7, 8), (8, 7), (9, 9)])), []);
    }
}
