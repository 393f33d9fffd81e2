//! Placement of an image and its stacks in memory, for the images' build scripts. Generates the
//! linker script from the memory map ([`crate::memory`]), so that its numbers are defined
//! only there, and passes an image to the one that embeds it.
//!
//! Two images have their own start-up code, written for a core with caches and MMU off: their
//! script is complete ([`Own`]). The others use that of `zynq7000-rt`, whose script includes a
//! description of the memory ([`Supplied`]).
use std::fmt::Write;
use std::path::PathBuf;
use std::string::String;

use crate::memory::Region;

/// Placement of an image.
pub struct Image<S> {
    /// Its memory region, including static memory.
    pub region: Region,
    /// Start of its static memory, if separate from the instructions: in megabytes that are not
    /// executable. Initialised data are loaded after the constants, from where the start-up code
    /// copies them.
    pub data: Option<usize>,
    pub startup: S,
}

/// For an image with its own start-up code.
pub struct Own {
    /// Symbol of the first instruction.
    pub entry: &'static str,
    /// Stacks within the image: the symbol of each one's upper end, and its size in bytes.
    pub stacks: &'static [(&'static str, usize)],
    /// The program's stack, elsewhere: the symbol of its upper end, and its address.
    pub stack: (&'static str, usize),
}

/// For an image with the start-up code of `zynq7000-rt`.
pub struct Supplied {
    /// Number of cores that run it, each with its own stacks.
    pub cores: usize,
    /// Size of a core's main stack in bytes.
    pub stack: usize,
    /// Read-only sections of the image after its constants, with which the linker must not merge
    /// them.
    pub sections: &'static [&'static str],
}

/// An image of the comms core: on QEMU core 1 runs its start-up code too.
pub fn comms_core() -> Image<Supplied> {
    Image {
        region: crate::memory::RUNTIME,
        data: Some(crate::memory::RUNTIME_DATA),
        startup: Supplied {
            cores: 2,
            // The tasks are set up in a frame of 68 KB; the request `health` reports the high-water
            // mark.
            stack: 128 << 10,
            sections: &[".kernel_image"],
        },
    }
}

/// Size of the stack for handling aborts, in bytes.
const FAULT_STACK: usize = 4096;

/// The regions of a script: loaded contents, and static memory.
fn memory(region: &Region, data: Option<usize>) -> String {
    let line = |name: &str, start: usize, end: usize| {
        format!(
            "MEMORY {{ {name} : ORIGIN = {start:#010x}, LENGTH = {:#x} }}\n",
            end - start
        )
    };
    match data {
        Some(data) => line("IMAGE", region.start, data) + &line("STATIC", data, region.end),
        None => line("IMAGE", region.start, region.end) + "REGION_ALIAS(\"STATIC\", IMAGE);\n",
    }
}

impl Image<Own> {
    /// The linker script.
    pub fn script(&self) -> String {
        let Own { entry, stacks, stack } = &self.startup;
        let mut script = memory(&self.region, self.data);
        let stacks: String = stacks
            .iter()
            .map(|(end, bytes)| format!(". += {bytes}; {end} = .; "))
            .collect();
        // Data with large alignment come first, where they need no padding.
        let sections = [
            (
                ".text : ALIGN(32)",
                "__image_start = .; KEEP(*(.text.start)) KEEP(*(.text.vectors)) *(.text .text.*)",
                "IMAGE",
            ),
            (".rodata : ALIGN(8)", "*(.rodata .rodata.*)", "IMAGE"),
            (
                ".data : ALIGN(8)",
                "__data_start = .; *(SORT_BY_ALIGNMENT(.data .data.*)) . = ALIGN(8); __data_end = .;",
                "STATIC AT> IMAGE",
            ),
            (
                ".bss (NOLOAD) : ALIGN(8)",
                "__bss_start = .; *(SORT_BY_ALIGNMENT(.bss .bss.*)) *(COMMON) . = ALIGN(8); __bss_end = .;",
                "STATIC",
            ),
            (".stacks (NOLOAD) : ALIGN(8)", stacks.as_str(), "STATIC"),
        ];
        write!(script, "ENTRY({entry})\nSECTIONS\n{{\n").expect("text");
        for (name, content, place) in sections {
            writeln!(script, "    {name} {{ {content} }} > {place}").expect("text");
        }
        script += "    __data_load = LOADADDR(.data);\n";
        // Kernels are unwound by their own tables, an image never.
        script += "    /DISCARD/ : { *(.ARM.exidx*) *(.ARM.extab*) *(.note*) *(.comment) }\n}\n";
        writeln!(script, "{} = {:#x};", stack.0, stack.1).expect("text");
        script
    }

    /// Links this build script's image with the script.
    pub fn link(&self) {
        let script = put("image.ld", self.script().as_bytes());
        arguments(&[&format!("-T{}", script.display()), "-zmax-page-size=4096"]);
    }
}

impl Image<Supplied> {
    /// The contents of `memory.x`, which the script of `zynq7000-rt` includes.
    pub fn script(&self) -> String {
        let mut script = memory(&self.region, self.data);
        // Nothing is placed in on-chip memory, but the script refers to its name.
        for (alias, region) in [
            ("VECTORS", "IMAGE"),
            ("CODE", "IMAGE"),
            ("DATA", "STATIC"),
            ("STACKS", "STATIC"),
            ("OCM", "STATIC"),
        ] {
            writeln!(script, "REGION_ALIAS(\"{alias}\", {region});").expect("text");
        }
        let Supplied { cores, stack, sections } = &self.startup;
        let sizes = [
            ("_num_cores", *cores),
            ("_sys_stack_size", *stack),
            ("_abt_stack_size", FAULT_STACK),
            ("_und_stack_size", FAULT_STACK),
            // LLD computes the size of the padding before the stacks as 0; this omits it.
            ("_pack_stacks", 1),
        ];
        for (symbol, value) in sizes {
            writeln!(script, "PROVIDE({symbol} = {value});").expect("text");
        }
        for section in *sections {
            let keep = format!("{section} : ALIGN(32) {{ KEEP(*({section})); }} > IMAGE");
            writeln!(script, "SECTIONS {{ {keep} }} INSERT AFTER .rodata;").expect("text");
        }
        script
    }

    /// Links this build script's image with the script.
    pub fn link(&self) {
        let script = put("memory.x", self.script().as_bytes());
        let folder = script.parent().expect("in a folder");
        println!("cargo:rustc-link-search={}", folder.display());
        // The page table needs 16 KiB alignment: before the other data it costs no padding of that
        // size.
        arguments(&["-Tz7link.x", "--sort-section=alignment"]);
    }
}

/// Copies the file named by the environment variable to `name` in `OUT_DIR`, for the program to
/// embed; padded to whole words, as it is copied by words.
///
/// # Panics
/// If there is no such file; the message tells how to make it.
pub fn embed(variable: &str, name: &str) {
    println!("cargo:rerun-if-env-changed={variable}");
    let Some(path) = std::env::var_os(variable).map(PathBuf::from) else {
        panic!("{variable} is not set: it names {name}, which scripts/build-firmware makes and passes on");
    };
    println!("cargo:rerun-if-changed={}", path.display());
    let mut bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{variable}={}: {error}", path.display()));
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    put(name, &bytes);
}

/// Writes a file for the compiler and linker.
fn put(name: &str, content: &[u8]) -> PathBuf {
    let folder = std::env::var_os("OUT_DIR").expect("called from a build script");
    let path = PathBuf::from(folder).join(name);
    std::fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}

fn arguments(linker: &[&str]) {
    println!("cargo:rerun-if-changed=build.rs");
    for argument in linker {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supplied_startup_receives_position_of_image() {
        let startup = Supplied {
            cores: 2,
            stack: 65536,
            sections: &[".embedded"],
        };
        let image = Image {
            region: 0x10_0000..0x600_0000,
            data: Some(0x30_0000),
            startup,
        };
        let script = image.script();
        let lines: Vec<&str> = script.lines().collect();
        assert_eq!(lines[0], "MEMORY { IMAGE : ORIGIN = 0x00100000, LENGTH = 0x200000 }");
        assert_eq!(lines[1], "MEMORY { STATIC : ORIGIN = 0x00300000, LENGTH = 0x5d00000 }");
        assert_eq!(lines[2], "REGION_ALIAS(\"VECTORS\", IMAGE);");
        assert!(lines.contains(&"REGION_ALIAS(\"DATA\", STATIC);"));
        assert!(lines.contains(&"PROVIDE(_num_cores = 2);") && lines.contains(&"PROVIDE(_sys_stack_size = 65536);"));
        let last = "SECTIONS { .embedded : ALIGN(32) { KEEP(*(.embedded)); } > IMAGE } INSERT AFTER .rodata;";
        assert_eq!(lines.last(), Some(&last));
    }

    #[test]
    fn own_startup_comes_first_with_its_stacks() {
        let startup = Own {
            entry: "begin",
            stacks: &[("__irq", 1024), ("__fault", 4096)],
            stack: ("__top", 0xfffffe00),
        };
        let image = Image {
            region: 0..0x3_0000,
            data: None,
            startup,
        };
        let script = image.script();
        assert!(script.starts_with("MEMORY { IMAGE : ORIGIN = 0x00000000, LENGTH = 0x30000 }\nREGION_ALIAS("));
        assert!(script.contains("\nENTRY(begin)\n"));
        let place = |text| script.find(text).unwrap_or_else(|| panic!("no {text} in {script}"));
        assert!(place("KEEP(*(.text.start))") < place("*(.text .text.*)"));
        assert!(place("__bss_end = .;") < place(". += 1024; __irq = .; . += 4096; __fault = .;"));
        assert!(script.ends_with("\n__top = 0xfffffe00;\n"));
    }
}
