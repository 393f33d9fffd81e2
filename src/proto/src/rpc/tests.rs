//! Byte-exact vectors of the wire document, and properties over random types and values against a
//! simple second implementation of layout and encoding.

extern crate std;
use std::boxed::Box;
use std::vec::Vec;
use std::{format, vec};

use proptest::prelude::*;

use super::*;

mod replies;
mod requests;

/// Memory of a kernel that starts at an odd address, as real memory does not start at 0.
struct Ram {
    base: u32,
    bytes: Vec<u8>,
    top: u32,
}

impl Ram {
    fn new(size: u32) -> Self {
        Self {
            base: 0x0900_0000,
            bytes: vec![0; size as usize],
            top: 0x0900_0000,
        }
    }
    fn allocate(&mut self, size: u32, align: u32) -> u32 {
        let at = self.top.next_multiple_of(align);
        self.top = at + size;
        assert!(
            self.top - self.base <= self.bytes.len() as u32,
            "the test's memory is too small"
        );
        at
    }
    fn range(&self, address: u32, length: u32) -> Result<core::ops::Range<usize>, BadAddress> {
        let start = address.wrapping_sub(self.base) as usize;
        let end = start + length as usize;
        (end <= self.bytes.len())
            .then_some(start..end)
            .ok_or(BadAddress { address, length })
    }
    fn put(&mut self, address: u32, bytes: &[u8]) {
        self.bytes_mut(address, bytes.len() as u32)
            .unwrap()
            .copy_from_slice(bytes);
    }
}

impl Memory for Ram {
    fn bytes(&self, address: u32, length: u32) -> Result<&[u8], BadAddress> {
        Ok(&self.bytes[self.range(address, length)?])
    }
}

impl MemoryMut for Ram {
    fn bytes_mut(&mut self, address: u32, length: u32) -> Result<&mut [u8], BadAddress> {
        let range = self.range(address, length)?;
        Ok(&mut self.bytes[range])
    }
}

impl Sink for Vec<u8> {
    fn write(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

impl Source for &[u8] {
    type Error = &'static str;
    fn read(&mut self, buffer: &mut [u8]) -> Result<(), Self::Error> {
        let (head, tail) = self.split_at_checked(buffer.len()).ok_or("ended")?;
        buffer.copy_from_slice(head);
        *self = tail;
        Ok(())
    }
}

/// The test's model of a value. Lists include their element type, since they may be empty.
#[derive(Clone, Debug, PartialEq)]
enum V {
    None,
    Bool(bool),
    Int32(i32),
    Int64(i64),
    Float(u64),
    Text(u8, Vec<u8>),
    Tuple(Vec<V>),
    List(Box<V>, Vec<V>),
    Array(Box<V>, Vec<u32>, Vec<V>),
    Range(Box<[V; 3]>),
}

impl V {
    fn tag(&self) -> Vec<u8> {
        match self {
            V::None => vec![b'n'],
            V::Bool(_) => vec![b'b'],
            V::Int32(_) => vec![b'i'],
            V::Int64(_) => vec![b'I'],
            V::Float(_) => vec![b'f'],
            V::Text(tag, _) => vec![*tag],
            V::Tuple(members) => {
                let mut tag = vec![b't', members.len() as u8];
                members.iter().for_each(|member| tag.extend(member.tag()));
                tag
            }
            V::List(element, _) => [vec![b'l'], element.tag()].concat(),
            V::Array(element, shape, _) => [vec![b'a', shape.len() as u8], element.tag()].concat(),
            V::Range(parts) => [vec![b'r'], parts[0].tag()].concat(),
        }
    }

    /// (size, alignment), from table 3.1 of the kernel ABI.
    fn layout(&self) -> (u32, u32) {
        match self {
            V::None => (0, 1),
            V::Bool(_) => (1, 1),
            V::Int32(_) | V::List(..) => (4, 4),
            V::Int64(_) | V::Float(_) => (8, 8),
            V::Text(..) => (8, 4),
            V::Tuple(members) => {
                let align = members.iter().map(|m| m.layout().1).max().unwrap_or(1);
                let size = members
                    .iter()
                    .fold(0u32, |at, m| at.next_multiple_of(m.layout().1) + m.layout().0);
                (size.next_multiple_of(align), align)
            }
            V::Array(_, shape, _) => (4 + 4 * shape.len() as u32, 4),
            V::Range(parts) => (3 * parts[0].layout().0, parts[0].layout().1),
        }
    }

    fn store_row(ram: &mut Ram, row: &[V], header: u32, align: u32) -> u32 {
        let stride = row.first().map_or(0, |v| v.layout().0);
        let at = ram.allocate(header + stride * row.len() as u32, align);
        for (index, value) in row.iter().enumerate() {
            value.store(ram, at + header + stride * index as u32);
        }
        at
    }

    fn store(&self, ram: &mut Ram, at: u32) {
        match self {
            V::None => {}
            V::Bool(value) => ram.put(at, &[u8::from(*value)]),
            V::Int32(value) => ram.put(at, &value.to_le_bytes()),
            V::Int64(value) => ram.put(at, &value.to_le_bytes()),
            V::Float(bits) => ram.put(at, &bits.to_le_bytes()),
            V::Text(_, bytes) => {
                let place = ram.allocate(bytes.len() as u32, 1);
                ram.put(place, bytes);
                ram.set_word(at, place).unwrap();
                ram.set_word(at + 4, bytes.len() as u32).unwrap();
            }
            V::Tuple(members) => {
                let mut at = at;
                for member in members {
                    at = at.next_multiple_of(member.layout().1);
                    member.store(ram, at);
                    at += member.layout().0;
                }
            }
            V::List(_, row) => {
                let list = ram.allocate(8, 4);
                let elements = V::store_row(ram, row, 0, 8);
                ram.set_word(list, elements).unwrap();
                ram.set_word(list + 4, row.len() as u32).unwrap();
                ram.set_word(at, list).unwrap();
            }
            V::Array(_, shape, row) => {
                let buffer = V::store_row(ram, row, 0, 8);
                ram.set_word(at, buffer).unwrap();
                for (dim, extent) in shape.iter().enumerate() {
                    ram.set_word(at + 4 + 4 * dim as u32, *extent).unwrap();
                }
            }
            V::Range(parts) => {
                let size = parts[0].layout().0;
                (0..3).for_each(|i| parts[i as usize].store(ram, at + size * i));
            }
        }
    }

    fn load(&self, ram: &Ram, at: u32) -> V {
        let row = |from: u32, count: u32, element: &V| -> Vec<V> {
            (0..count)
                .map(|i| element.load(ram, from + i * element.layout().0))
                .collect()
        };
        let eight = || u64::from_le_bytes(ram.bytes(at, 8).unwrap().try_into().unwrap());
        let word = |offset| ram.word(at + offset).unwrap();
        match self {
            V::None => V::None,
            V::Bool(_) => V::Bool(ram.bytes(at, 1).unwrap()[0] == 1),
            V::Int32(_) => V::Int32(word(0) as i32),
            V::Int64(_) => V::Int64(eight() as i64),
            V::Float(_) => V::Float(eight()),
            V::Text(tag, _) if word(4) == 0 => V::Text(*tag, vec![]),
            V::Text(tag, _) => V::Text(*tag, ram.bytes(word(0), word(4)).unwrap().to_vec()),
            V::Tuple(members) => {
                let mut at = at;
                let load = |member: &V| {
                    at = at.next_multiple_of(member.layout().1);
                    let value = member.load(ram, at);
                    at += member.layout().0;
                    value
                };
                V::Tuple(members.iter().map(load).collect())
            }
            V::List(element, _) => {
                let list = word(0);
                let (from, count) = (ram.word(list).unwrap(), ram.word(list + 4).unwrap());
                V::List(element.clone(), row(from, count, element))
            }
            V::Array(element, shape, _) => {
                let shape: Vec<u32> = (0..shape.len() as u32).map(|dim| word(4 + 4 * dim)).collect();
                let values = row(word(0), shape.iter().product(), element);
                V::Array(element.clone(), shape, values)
            }
            V::Range(parts) => V::Range(Box::new(row(at, 3, &parts[0]).try_into().unwrap())),
        }
    }

    /// The wire form: with tags if sent by the device, else without.
    fn wire(&self, tagged: bool, out: &mut Vec<u8>) {
        if tagged {
            out.push(self.tag()[0]);
        }
        let plain = |v: &V| matches!(v, V::Bool(_) | V::Int32(_) | V::Int64(_) | V::Float(_));
        let row = |element: &V, row: &[V], out: &mut Vec<u8>| {
            if tagged {
                out.push(element.tag()[0]);
            }
            row.iter().for_each(|value| value.wire(tagged && !plain(value), out));
        };
        match self {
            V::None => {}
            V::Bool(value) => out.push(u8::from(*value)),
            V::Int32(value) => out.extend(value.to_le_bytes()),
            V::Int64(value) => out.extend(value.to_le_bytes()),
            V::Float(bits) => out.extend(bits.to_le_bytes()),
            V::Text(_, bytes) => {
                out.extend((bytes.len() as u32).to_le_bytes());
                out.extend(bytes);
            }
            V::Tuple(members) => {
                if tagged {
                    out.push(members.len() as u8);
                }
                members.iter().for_each(|member| member.wire(tagged, out));
            }
            V::List(element, values) => {
                out.extend((values.len() as u32).to_le_bytes());
                row(element, values, out);
            }
            V::Array(element, shape, values) => {
                if tagged {
                    out.push(shape.len() as u8);
                }
                shape.iter().for_each(|extent| out.extend(extent.to_le_bytes()));
                row(element, values, out);
            }
            V::Range(parts) => parts.iter().for_each(|part| part.wire(tagged, out)),
        }
    }
}

fn encode(service: u32, tag: &[u8], arguments: &[V]) -> Result<Vec<u8>, EncodeError> {
    let mut ram = Ram::new(1 << 20);
    let pointers = ram.allocate(4 * arguments.len() as u32, 4);
    for (index, argument) in arguments.iter().enumerate() {
        let (size, align) = argument.layout();
        let at = ram.allocate(size, align);
        argument.store(&mut ram, at);
        ram.set_word(pointers + 4 * index as u32, at).unwrap();
    }
    let mut out = Vec::new();
    encode_request(&mut out, &ram, service, tag, pointers)?;
    Ok(out)
}

/// Runs the coroutine as a kernel would: first a slot, then memory aligned to 8 and never of size
/// 0.
fn decode(model: &V, bytes: &[u8]) -> Result<(V, usize), DecodeError<&'static str>> {
    let mut ram = Ram::new(1 << 20);
    let (size, align) = model.layout();
    let slot = ram.allocate(size, align);
    let tag = model.tag();
    let mut decoder = Decoder::new(&tag);
    let mut source = bytes;
    let mut address = slot;
    loop {
        match decoder.resume(address, &mut source, &mut ram)? {
            Step::Done => return Ok((model.load(&ram, slot), source.len())),
            Step::Allocate(bytes) => {
                assert_ne!(bytes, 0);
                address = ram.allocate(bytes, 8);
            }
        }
    }
}

/// Types, represented by model values; the elements of a list share its model.
fn types() -> impl Strategy<Value = V> {
    let leaf = prop_oneof![
        Just(V::None),
        Just(V::Bool(false)),
        Just(V::Int32(0)),
        Just(V::Int64(0)),
        Just(V::Float(0)),
        Just(V::Text(b's', vec![])),
        Just(V::Text(b'B', vec![])),
        Just(V::Text(b'A', vec![])),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(V::Tuple),
            inner.clone().prop_map(|element| V::List(Box::new(element), vec![])),
            (inner, 1usize..4).prop_map(|(element, dims)| V::Array(Box::new(element), vec![0; dims], vec![])),
            prop_oneof![Just(V::Int32(0)), Just(V::Int64(0))].prop_map(|v| V::Range(Box::new([
                v.clone(),
                v.clone(),
                v
            ]))),
        ]
    })
}

/// A random value of the type of `model`.
fn value(model: V) -> BoxedStrategy<V> {
    match model {
        V::None => Just(V::None).boxed(),
        V::Bool(_) => any::<bool>().prop_map(V::Bool).boxed(),
        V::Int32(_) => any::<i32>().prop_map(V::Int32).boxed(),
        V::Int64(_) => any::<i64>().prop_map(V::Int64).boxed(),
        V::Float(_) => any::<u64>().prop_map(V::Float).boxed(),
        V::Text(tag, _) => prop::collection::vec(any::<u8>(), 0..6)
            .prop_map(move |b| V::Text(tag, b))
            .boxed(),
        V::Tuple(members) => members
            .into_iter()
            .map(value)
            .collect::<Vec<_>>()
            .prop_map(V::Tuple)
            .boxed(),
        V::List(element, _) => prop::collection::vec(value(*element.clone()), 0..4)
            .prop_map(move |row| V::List(element.clone(), row))
            .boxed(),
        V::Array(element, shape, _) => prop::collection::vec(0u32..3, shape.len())
            .prop_flat_map(move |shape| {
                let count = shape.iter().product::<u32>() as usize;
                let element = element.clone();
                prop::collection::vec(value(*element.clone()), count)
                    .prop_map(move |row| V::Array(element.clone(), shape.clone(), row))
            })
            .boxed(),
        V::Range(parts) => [
            value(parts[0].clone()),
            value(parts[1].clone()),
            value(parts[2].clone()),
        ]
        .prop_map(|parts| V::Range(Box::new(parts)))
        .boxed(),
    }
}

fn typed_values() -> impl Strategy<Value = V> {
    types().prop_flat_map(value)
}

proptest! {
    #[test]
    fn arbitrary_tags_and_memory_do_not_panic(
        tag in prop::collection::vec(prop_oneof![prop::sample::select(b"nbiIfsBAOtlark:\x01\x02".to_vec()), any::<u8>()], 0..24),
        words in prop::collection::vec(prop_oneof![0u32..4, 0x0900_0000u32..0x0900_0100, any::<u32>()], 64),
    ) {
        let mut ram = Ram::new(256);
        let base = ram.base;
        ram.put(base, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
        let _ = encode_request(&mut Vec::new(), &ram, 0, &tag, base);
        if let Ok((value, _)) = split_value(&tag) {
            let mut decoder = Decoder::new(value);
            let mut source: &[u8] = &tag;
            let mut steps = 0;
            while let Ok(Step::Allocate(_)) = decoder.resume(base + 8 * (steps % 16), &mut source, &mut ram) {
                steps += 1;
                prop_assert!(steps < 1000);
            }
        }
    }
}
