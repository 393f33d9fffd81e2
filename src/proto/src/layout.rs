//! Records of fixed layout in messages. The layouts are data, `[layouts]` of a file in `src/contracts`; of each a type is
//! made here, which is encoded to and decoded from its bytes. Numbers are little endian.

/// Fewer bytes than the record has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// A record of fixed layout.
pub trait Layout: Sized {
    /// An array of its length.
    type Bytes: Default + AsRef<[u8]> + AsMut<[u8]>;

    /// Its length in bytes.
    const LENGTH: usize;

    fn encode(&self) -> Self::Bytes;

    /// Decodes all of its bytes, whatever they are.
    fn from_bytes(bytes: &Self::Bytes) -> Self;

    /// Decodes the record at the beginning of a message; what follows it is not looked at.
    ///
    /// # Errors
    /// [`Malformed`].
    fn decode(message: &[u8]) -> Result<Self, Malformed>;
}

/// The bytes of a field at offset `AT`. A field that is not within the record does not compile.
#[inline(always)]
pub(crate) fn field<const LENGTH: usize, const SIZE: usize, const AT: usize>(bytes: &[u8; LENGTH]) -> [u8; SIZE] {
    const { assert!(AT + SIZE <= LENGTH) };
    let mut field = [0; SIZE];
    field.copy_from_slice(&bytes[AT..AT + SIZE]);
    field
}

/// The value of a field.
macro_rules! get {
    ($bytes:ident, bool, $at:literal) => {
        $bytes[$at] != 0
    };
    ($bytes:ident, $number:ident, $at:literal) => {
        $number::from_le_bytes($crate::layout::field::<_, { size_of::<$number>() }, $at>($bytes))
    };
}

/// Writes a field.
macro_rules! set {
    ($bytes:ident, bool, $at:literal, $value:expr) => {
        $bytes[$at] = u8::from($value)
    };
    ($bytes:ident, $number:ident, $at:literal, $value:expr) => {
        $bytes[$at..$at + size_of::<$number>()].copy_from_slice(&$value.to_le_bytes())
    };
}

/// Makes the types of a table in `kairos_contracts`.
macro_rules! layouts {
    ($($(#[$doc:meta])* $name:ident = $length:literal { $($field:ident: $kind:ident = $at:literal),* },)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct $name {
                $(pub $field: $kind,)*
            }

            impl $crate::layout::Layout for $name {
                type Bytes = [u8; $length];

                const LENGTH: usize = $length;

                #[inline]
                fn encode(&self) -> Self::Bytes {
                    let mut bytes = [0; $length];
                    $($crate::layout::set!(bytes, $kind, $at, self.$field);)*
                    bytes
                }

                #[inline]
                fn from_bytes(bytes: &Self::Bytes) -> Self {
                    Self { $($field: $crate::layout::get!(bytes, $kind, $at)),* }
                }

                #[inline]
                fn decode(message: &[u8]) -> Result<Self, $crate::layout::Malformed> {
                    message.first_chunk().map(Self::from_bytes).ok_or($crate::layout::Malformed)
                }
            }
        )*

        #[cfg(test)]
        mod layout_tests {
            use proptest::prelude::*;

            use $crate::layout::Layout;

            proptest! {
                #[test]
                fn records_are_decoded_from_their_bytes_alone(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
                    $({
                        let decoded = super::$name::decode(&bytes);
                        prop_assert_eq!(decoded.is_ok(), bytes.len() >= $length);
                        if let Ok(record) = decoded {
                            let encoded = record.encode();
                            prop_assert_eq!(super::$name::from_bytes(&encoded), record);
                            prop_assert_eq!(super::$name::decode(&encoded), Ok(record));
                        }
                    })*
                }
            }
        }
    };
}

pub(crate) use {get, layouts, set};
