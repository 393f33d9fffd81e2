//! The `printf` formats that compiled kernels use for logging (kernel ABI, section 2.12).

use core::fmt::Write;

use kairos_proto::rpc::{BadAddress, Memory};

/// Longest format string; an unterminated one ends here.
const FORMAT_MAX: u32 = 64 * 1024;

/// Variable arguments in the base AAPCS layout: a sequence of words in memory, with 8-byte values
/// at multiples of 8.
pub struct Arguments {
    next: u32,
}

impl Arguments {
    /// Creates the arguments that start at this address.
    pub const fn new(address: u32) -> Self {
        Self { next: address }
    }

    fn word(&mut self, memory: &impl Memory) -> Result<u32, BadAddress> {
        let word = memory.word(self.next)?;
        self.next = self.next.wrapping_add(4);
        Ok(word)
    }

    fn double_word(&mut self, memory: &impl Memory) -> Result<u64, BadAddress> {
        self.next = self.next.wrapping_add(7) & !7;
        Ok(u64::from(self.word(memory)?) | u64::from(self.word(memory)?) << 32)
    }
}

/// Writes the NUL-terminated format at `format` with its arguments to `out`. Unknown conversions
/// are written verbatim.
///
/// # Errors
/// [`BadAddress`] if a pointer leads out of the kernel's memory; the text before it has been
/// written.
pub fn printf(
    out: &mut impl FnMut(&[u8]),
    memory: &impl Memory,
    format: u32,
    mut arguments: Arguments,
) -> Result<(), BadAddress> {
    let mut text = heapless::String::<64>::new();
    let mut at = format;
    let end = format.wrapping_add(FORMAT_MAX);
    while at != end {
        let byte = memory.bytes(at, 1)?[0];
        at = at.wrapping_add(1);
        if byte == 0 {
            break;
        }
        if byte != b'%' {
            out(&[byte]);
            continue;
        }
        text.clear();
        // Each conversion fits in the buffer: the longest is a double, which `write_double` keeps
        // short.
        let known = match conversion(memory, at)? {
            (b"d" | b"ld", length) => {
                let _ = write!(text, "{}", arguments.word(memory)? as i32);
                length
            }
            (b"lld", length) => {
                let _ = write!(text, "{}", arguments.double_word(memory)? as i64);
                length
            }
            (b"g", length) => {
                write_double(&mut text, f64::from_bits(arguments.double_word(memory)?));
                length
            }
            (b"p", length) => {
                let _ = write!(text, "{:#010x}", arguments.word(memory)?);
                length
            }
            (b".*s", length) => {
                let (count, pointer) = (arguments.word(memory)?, arguments.word(memory)?);
                if count == kairos_proto::rpc::HOST_STRING {
                    let _ = write!(text, "<host string {pointer}>");
                } else if count > 0 {
                    out(memory.bytes(pointer, count)?);
                }
                length
            }
            (b"%", length) => {
                let _ = text.push('%');
                length
            }
            _ => {
                let _ = text.push('%');
                0
            }
        };
        out(text.as_bytes());
        at = at.wrapping_add(known);
    }
    Ok(())
}

/// The conversion after a `%`, if known, and its length.
fn conversion(memory: &impl Memory, at: u32) -> Result<(&'static [u8], u32), BadAddress> {
    let known: [&[u8]; 7] = [b"d", b"ld", b"lld", b"g", b"p", b".*s", b"%"];
    for name in known {
        let mut same = true;
        for (offset, &wanted) in name.iter().enumerate() {
            if memory.bytes(at.wrapping_add(offset as u32), 1)?[0] != wanted {
                same = false;
                break;
            }
        }
        if same {
            return Ok((name, name.len() as u32));
        }
    }
    Ok((b"", 0))
}

/// `%g`: six significant digits, the shorter of fixed and exponential notation.
fn write_double(text: &mut heapless::String<64>, value: f64) {
    if !value.is_finite() {
        let _ = match (value.is_nan(), value < 0.0) {
            (true, _) => text.push_str("nan"),
            (_, true) => text.push_str("-inf"),
            _ => text.push_str("inf"),
        };
        return;
    }
    let mut digits = heapless::String::<64>::new();
    let _ = write!(digits, "{value:.5e}");
    let Some((mantissa, exponent)) = digits.split_once('e') else {
        return;
    };
    let Ok(exponent) = exponent.parse::<i32>() else { return };
    if (-4..6).contains(&exponent) {
        let mut fixed = heapless::String::<64>::new();
        let _ = write!(fixed, "{value:.*}", (5 - exponent) as usize);
        let _ = text.push_str(without_zeros(&fixed));
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(text, "{}e{sign}{:02}", without_zeros(mantissa), exponent.abs());
    }
}

fn without_zeros(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Ram([u8; 256]);

    impl Memory for Ram {
        fn bytes(&self, address: u32, length: u32) -> Result<&[u8], BadAddress> {
            let range = address as usize..address as usize + length as usize;
            self.0.get(range).ok_or(BadAddress { address, length })
        }
    }

    fn print(format: &str, words: &[u32]) -> String {
        let mut ram = Ram([0; 256]);
        ram.0[..format.len()].copy_from_slice(format.as_bytes());
        for (index, word) in words.iter().enumerate() {
            ram.0[128 + 4 * index..132 + 4 * index].copy_from_slice(&word.to_le_bytes());
        }
        let mut out = Vec::new();
        printf(&mut |bytes| out.extend_from_slice(bytes), &ram, 0, Arguments::new(128)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn conversions_used_by_compiled_kernels_are_printed() {
        assert_eq!(print("%d %ld%%\n", &[u32::MAX, 7]), "-1 7%\n");
        // The 64-bit value skips a word for alignment.
        assert_eq!(print("a%d,%lld", &[1, 0xdead, 2, 1]), "a1,4294967298");
        assert_eq!(print("%.*s|%.*s|", &[3, 0, 0, 0]), "%.*||");
        assert_eq!(print("%.*s", &[u32::MAX, 9]), "<host string 9>");
        assert_eq!(print("%p %q", &[0x0900_0000]), "0x09000000 %q");
    }

    #[test]
    fn doubles_are_printed_as_in_c() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.1, "0.1"),
            (100000.0, "100000"),
            (1e6, "1e+06"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (123456789.0, "1.23457e+08"),
            (999999.5, "1e+06"),
            (1.5e300, "1.5e+300"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "nan"),
            (1.0 / 3.0, "0.333333"),
        ];
        for (value, expected) in cases {
            let bits = f64::to_bits(value);
            assert_eq!(print("%g", &[bits as u32, (bits >> 32) as u32]), expected, "{value}");
        }
    }

    #[test]
    fn invalid_text_pointer_is_an_error() {
        let ram = Ram([b'x'; 256]);
        assert!(printf(&mut |_| {}, &ram, 0x1000, Arguments::new(0)).is_err());
        // Unterminated within the memory.
        assert!(printf(&mut |_| {}, &ram, 0, Arguments::new(0)).is_err());
    }
}
