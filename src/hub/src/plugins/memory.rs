//! Memory of a plugin: of its process, and of all that it has started.

use std::fs;

/// Bytes of memory of the processes of a group, as `/proc` tells of them; 0 if there are none. What they share counts once.
pub fn of_group(group: u32) -> u64 {
    let processes: Vec<u32> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|&process| group_of(process) == Some(group))
        .collect();
    let parts = processes.iter().map(|&process| match processes.len() {
        1 => resident(process),
        // Its share of each page, which takes longer to find.
        _ => counted(process, "smaps_rollup", "Pss:").unwrap_or_else(|| resident(process)),
    });
    parts.sum()
}

fn resident(process: u32) -> u64 {
    counted(process, "status", "VmRSS:").unwrap_or(0)
}

/// The number of kilobytes behind a word in a file of a process, in bytes.
fn counted(process: u32, file: &str, word: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/{file}")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(word))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// The fifth field of `stat`, behind the name of the program, which may have blanks and brackets.
fn group_of(process: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    fields.split_whitespace().nth(2)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn what_a_process_has_started_counts_too() {
        // A shell, and a child of it that has 50 MB.
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
            most = most.max(of_group(shell.id()));
            if most > 40 << 20 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(most > 40 << 20 && resident(shell.id()) < 20 << 20, "{most}");
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert_eq!(of_group(shell.id()), 0);
        assert_eq!(of_group(u32::MAX), 0);
    }
}
