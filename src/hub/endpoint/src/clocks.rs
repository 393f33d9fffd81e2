//! Clocks of the kernel's clock framework, read from debugfs (`/sys/kernel/debug/clk`, readable by
//! root where debugfs is mounted).

use std::path::Path;

use crate::files;

/// A clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    /// Its name from the driver or the device tree.
    pub name: String,
    pub hertz: f64,
    /// Whether a driver has it enabled.
    pub enabled: bool,
    /// Name of its parent clock.
    pub parent: Option<String>,
}

/// Reads all clocks; empty if the files cannot be read.
pub fn read(root: &Path) -> Vec<Clock> {
    let folder = files::below(root, "/sys/kernel/debug/clk");
    let clocks = files::names(&folder).into_iter().filter_map(|name| {
        let clock = folder.join(&name);
        Some(Clock {
            hertz: files::number(&clock.join("clk_rate"))? as f64,
            enabled: files::number(&clock.join("clk_enable_count")).is_some_and(|count| count > 0),
            parent: files::text(&clock.join("clk_parent")).filter(|parent| !parent.is_empty()),
            name,
        })
    });
    clocks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_have_rates_and_parents() {
        let root = tempfile::tempdir().unwrap();
        let write = |clock: &str, file: &str, text: &str| {
            let folder = root.path().join("sys/kernel/debug/clk").join(clock);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(file), text).unwrap();
        };
        write("fclk0", "clk_rate", "125000000\n");
        write("fclk0", "clk_enable_count", "2\n");
        write("fclk0", "clk_parent", "iopll\n");
        write("fclk1", "clk_rate", "0\n");
        write("odd", "clk_rate", "fast\n");
        let clock = |name: &str, hertz, enabled, parent: Option<&str>| Clock {
            name: name.into(),
            hertz,
            enabled,
            parent: parent.map(String::from),
        };
        let expected = [
            clock("fclk0", 125e6, true, Some("iopll")),
            clock("fclk1", 0.0, false, None),
        ];
        assert_eq!(read(root.path()), expected);
        assert_eq!(read(Path::new("/nowhere")), []);
    }
}
