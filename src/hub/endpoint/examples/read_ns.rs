//! Measures accesses to a register in mapped memory, compared with the same load and store without
//! an endpoint, and prints both in ns.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use kairos_endpoint::memory::Window;

const ACCESSES: u32 = 20_000_000;
const ROUNDS: usize = 9;

/// Mean duration of an access in ns.
fn time(mut access: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..ACCESSES {
        access();
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(ACCESSES)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(&[0; 4096])?;
    let window = Window::open(file.path(), 0, 4096)?;
    let word = window.word(64).ok_or("no word")?;
    let mapped = memmap2::MmapOptions::new().len(4096).map_raw(file.as_file())?;
    let bare = mapped.as_mut_ptr().wrapping_add(64).cast::<u32>();
    let (word, bare) = (black_box(&word), black_box(bare));
    let mut times: [Vec<f64>; 4] = Default::default();
    // Interleaved, so that other activity of the machine affects all of them equally.
    for _ in 0..ROUNDS {
        // SAFETY: a word within a mapping that lives until the end of this function.
        times[0].push(time(|| _ = black_box(unsafe { bare.read_volatile() })));
        times[1].push(time(|| _ = black_box(word.read())));
        // SAFETY: the same word, which is mapped writable.
        times[2].push(time(|| unsafe { bare.write_volatile(black_box(1)) }));
        times[3].push(time(|| word.write(black_box(1))));
    }
    let [bare_read, read, bare_write, write] = times.map(median);
    println!("{{\"bare_read\": {bare_read}, \"read\": {read}, \"bare_write\": {bare_write}, \"write\": {write}}}");
    Ok(())
}
