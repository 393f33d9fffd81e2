//! Checks docs/emulator.md against the code: imports between modules, addresses of peripherals and
//! devices.

use std::path::{Path, PathBuf};

use kairos_emulator::machine::bus::{Interrupts, Window};
use kairos_emulator::peripherals::{DEVICES, SPACES, TABLE};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Rows of the table on the page whose first column has this title, as cell texts.
fn table(title: &str) -> Vec<Vec<String>> {
    let page = std::fs::read_to_string(root().join("../../docs/emulator.md")).unwrap();
    let lines = page
        .lines()
        .skip_while(|line| !line.starts_with(&format!("| {title} |")));
    let rows = lines.skip(2).take_while(|line| line.starts_with('|'));
    let cells = |row: &str| {
        row.trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_string())
            .collect()
    };
    rows.map(cells).collect()
}

/// The first columns of a table.
fn columns(title: &str, count: usize) -> Vec<String> {
    table(title).iter().map(|row| row[..count].join(" | ")).collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(below).collect()
}

#[test]
fn emulator_modules_import_only_modules_above() {
    let layers: Vec<String> = table("Module")
        .iter()
        .map(|row| row[0].trim_matches('`').to_string())
        .collect();
    let source = root().join("src");
    let folders = std::fs::read_dir(&source).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = folders.filter(|path| path.is_dir()).collect();
    folders.sort();
    let mut expected: Vec<PathBuf> = layers.iter().map(|layer| source.join(layer)).collect();
    expected.sort();
    assert_eq!(folders, expected, "modules of docs/emulator.md");
    for (n, layer) in layers.iter().enumerate() {
        for path in sources(&source.join(layer)) {
            let text = std::fs::read_to_string(&path).unwrap();
            let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap()).collect();
            let code = code.join("\n");
            assert!(
                !code.contains("crate::{"),
                "{}: one layer in each import",
                path.display()
            );
            for above in &layers[n + 1..] {
                let import = format!("crate::{above}");
                assert!(!code.contains(&import), "{}: {import}", path.display());
            }
        }
    }
}

/// Formats numbers with consecutive ones as ranges: 61–68, 84.
fn runs(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let text = |run: &[u32]| match run {
        [one] => one.to_string(),
        _ => format!("{}–{}", run[0], run[run.len() - 1]),
    };
    runs.map(text).collect::<Vec<String>>().join(", ")
}

#[test]
fn documented_peripherals_equal_the_address_table() {
    let window = |w: &Window| format!("{:#010x}–{:#010x}", w.base, w.base + (w.size - 1));
    let rows = TABLE.iter().map(|row| {
        let windows: Vec<String> = row.windows.iter().map(window).collect();
        let interrupts = match row.interrupts {
            Interrupts::Private(line) => format!("private {line}"),
            Interrupts::Shared(lines) => runs(lines),
        };
        format!("{} | {} | {interrupts}", row.name, windows.join(", "))
    });
    assert_eq!(columns("Peripheral", 3), rows.collect::<Vec<String>>());
}

#[test]
fn documented_devices_equal_those_of_the_boards() {
    let rows = DEVICES.iter().map(|row| {
        format!(
            "{} | {:#04x} | {} | {:#04x}",
            row.name, row.switch, row.channel, row.address
        )
    });
    assert_eq!(columns("Device", 4), rows.collect::<Vec<String>>());
}

#[test]
fn peripheral_windows_are_disjoint_and_in_the_address_space() {
    let mut windows: Vec<&Window> = TABLE.iter().flat_map(|row| row.windows).collect();
    windows.sort_by_key(|window| window.base);
    for pair in windows.windows(2) {
        assert!(pair[0].base + pair[0].size <= pair[1].base, "{pair:x?}");
    }
    for window in windows {
        let inside = |(base, size): &(u32, u32)| {
            window.base >= *base
                && u64::from(window.base) + u64::from(window.size) <= u64::from(*base) + u64::from(*size)
        };
        assert_eq!(SPACES.iter().any(inside), !window.waits, "{window:x?}");
    }
}

#[test]
fn interrupt_lines_of_peripherals_are_distinct() {
    let mut lines: Vec<u32> = Vec::new();
    for row in TABLE {
        match row.interrupts {
            Interrupts::Private(line) => lines.push(line),
            Interrupts::Shared(shared) => lines.extend(shared),
        }
    }
    lines.sort_unstable();
    assert!(lines.windows(2).all(|pair| pair[0] < pair[1]), "{lines:?}");
    assert!(lines.iter().all(|line| (16..96).contains(line)), "{lines:?}");
}
