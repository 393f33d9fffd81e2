//! The processes of a plugin, including descendants, and their memory.

use std::collections::BTreeMap;
use std::fs;

/// A process according to `/proc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    pub parent: u32,
    /// Its start time in ticks since the computer started.
    pub start: u64,
    /// It waits for its parent to take notice of its end.
    pub has_ended: bool,
}

impl Process {
    /// Whether `ancestor` is among its parents.
    pub fn is_descendant_of(&self, ancestor: u32, all: &BTreeMap<u32, Process>) -> bool {
        let mut parent = self.parent;
        // Numbers may have been used again while the table was read, so there may be loops.
        for _ in 0..=all.len() {
            match all.get(&parent) {
                _ if parent == ancestor => return true,
                Some(above) => parent = above.parent,
                None => return false,
            }
        }
        false
    }
}

/// All visible processes of this computer, by number.
pub fn table() -> BTreeMap<u32, Process> {
    let read = |process: u32| {
        let fields = fields(process)?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        // proc_pid_stat(5), without the first two fields
        let found = Process {
            parent: fields.get(1)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
            has_ended: matches!(fields[0], "Z" | "X"),
        };
        Some((process, found))
    };
    all().filter_map(read).collect()
}

/// All visible processes of this computer.
fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The processes of a process group, according to `/proc`.
pub fn of_group(group: u32) -> Vec<u32> {
    all().filter(|&process| group_of(process) == Some(group)).collect()
}

/// The processes with `mark`, `NAME=value`, in their initial environment, regardless of process
/// group.
pub fn with_mark(mark: &str) -> Vec<u32> {
    let has_it = |process: &u32| {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == mark.as_bytes())
    };
    all().filter(has_it).collect()
}

/// Memory of processes in bytes; 0 if there are none. Shared memory counts once.
pub fn memory(processes: &[u32]) -> u64 {
    let parts = processes.iter().map(|&process| match processes.len() {
        1 => resident(process),
        // The proportional share of each page, which is slower to determine.
        _ => counted(process, "smaps_rollup", "Pss:").unwrap_or_else(|| resident(process)),
    });
    parts.sum()
}

fn resident(process: u32) -> u64 {
    counted(process, "status", "VmRSS:").unwrap_or(0)
}

/// A value in kilobytes from a file of a process, converted to bytes.
fn counted(process: u32, file: &str, word: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/{file}")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(word))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// The fields of `stat` from the third on; the program name before them may contain blanks and
/// parentheses.
fn fields(process: u32) -> Option<String> {
    let text = fs::read(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = std::str::from_utf8(&text).ok()?.rsplit_once(')')?;
    Some(fields.into())
}

fn group_of(process: u32) -> Option<u32> {
    fields(process)?.split_whitespace().nth(2)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn processes_started_by_a_process_are_counted() {
        // A shell with a child that uses 50 MB.
        let script = "head -c 52428800 /dev/zero | (sleep 0.1; tail -c 50000000 >/dev/null; true) & cat";
        let script = format!("{script}; wait");
        let mut shell = Command::new("sh")
            .args(["-c", &script])
            .process_group(0)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut most = 0;
        for _ in 0..500 {
            most = most.max(memory(&of_group(shell.id())));
            if most > 40 << 20 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(most > 40 << 20 && resident(shell.id()) < 20 << 20, "{most}");
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert_eq!((of_group(shell.id()), memory(&[])), (vec![], 0));
        assert!(of_group(u32::MAX).is_empty());
    }

    #[test]
    fn process_outside_group_is_found_by_environment() {
        let mark = format!("KAIROS_TEST={}", std::process::id());
        let mut stray = Command::new("setsid")
            .args(["sleep", "60"])
            .env("KAIROS_TEST", std::process::id().to_string())
            .spawn()
            .unwrap();
        let mut found = Vec::new();
        for _ in 0..500 {
            found = with_mark(&mark);
            if found == [stray.id()] {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(found, [stray.id()]);
        stray.kill().unwrap();
        stray.wait().unwrap();
        assert!(with_mark(&mark).is_empty());
    }
}
