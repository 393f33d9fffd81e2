//! Devices that a UIO driver offers to programs, by their device tree names.

use std::path::{Path, PathBuf};

use crate::files;

/// The kernel maps region N of a UIO device at N pages.
const PAGE: u64 = 4096;

/// A region of a UIO device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Name of the device, such as `clocks`.
    pub name: String,
    /// `/dev/uioN`.
    pub path: PathBuf,
    /// Index of the region in the device.
    pub number: u64,
    /// Offset to be mapped in the file.
    pub offset: u64,
    pub size: usize,
    /// Physical address, for display.
    pub address: u64,
}

/// Finds all regions.
pub fn find(root: &Path) -> Vec<Region> {
    let class = files::below(root, "/sys/class/uio");
    let devices = files::names(&class).into_iter().flat_map(|device| {
        let folder = class.join(&device);
        let name = files::text(&folder.join("name")).unwrap_or_else(|| device.clone());
        let maps = files::names(&folder.join("maps")).into_iter();
        let root = root.to_path_buf();
        maps.filter_map(move |map| {
            let number = files::last_number(&map);
            let map = folder.join("maps").join(map);
            Some(Region {
                name: name.clone(),
                path: files::below(&root, Path::new("/dev").join(&device)),
                number,
                // Registers need not begin at a page.
                offset: number * PAGE + files::number(&map.join("offset")).unwrap_or(0),
                size: files::number(&map.join("size"))?.try_into().ok()?,
                address: files::number(&map.join("addr"))?,
            })
        })
    });
    devices.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_have_the_names_of_their_devices() {
        let root = tempfile::tempdir().unwrap();
        let maps = root.path().join("sys/class/uio/uio0/maps");
        for (map, address) in [("map0", "0x43c00000"), ("map1", "0x43c10000")] {
            std::fs::create_dir_all(maps.join(map)).unwrap();
            std::fs::write(maps.join(map).join("addr"), format!("{address}\n")).unwrap();
            std::fs::write(maps.join(map).join("size"), "0x1000\n").unwrap();
        }
        std::fs::write(root.path().join("sys/class/uio/uio0/name"), "clocks\n").unwrap();
        let found = find(root.path());
        let names = found
            .iter()
            .map(|one| (one.name.as_str(), one.offset, one.size, one.address));
        assert_eq!(
            names.collect::<Vec<_>>(),
            [("clocks", 0, 4096, 0x43c0_0000), ("clocks", 4096, 4096, 0x43c1_0000)]
        );
        assert_eq!(found[0].path, root.path().join("dev/uio0"));
        assert_eq!(find(Path::new("/nowhere")), []);
    }
}
