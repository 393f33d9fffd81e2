//! The state of a kernel at one of its calls: functions, lines and variables, found by the debug information of its
//! library in the registers and the memory that the emulator has recorded.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use addr2line::gimli::{self, AttributeValue, Dwarf, EvaluationResult, Location, Unit};
use object::read::elf::ElfFile32;
use object::{Endianness, Object, ObjectSegment};

use crate::elf::{debug_dwarf, frames_at, Frame, Reader};
use crate::forms::{Form, Memory};

/// Numbers of d0 and s0 in debug information for ARM.
const D0: u16 = 256;
const S0: u16 = 64;
/// An address in 32 bits.
const ADDRESS: u64 = u32::MAX as u64;

/// Registers at a call, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    /// r0 to r15; r15 is the return address, relative to the library.
    pub r: [Option<u32>; 16],
    /// d0 to d15.
    pub d: [Option<u64>; 16],
}

/// A function that has not returned.
#[derive(Clone, Debug, PartialEq)]
pub struct Active {
    pub place: Frame,
    /// Names and values; of objects, the attributes as `name.attribute`; at the end constants that the function
    /// names. Those that the processor no longer has are missing.
    pub variables: Vec<(String, String)>,
}

/// A library with its debug information.
pub struct Debugger<'a> {
    file: ElfFile32<'a, Endianness>,
    context: addr2line::Context<Reader<'a>>,
    dwarf: Arc<Dwarf<Reader<'a>>>,
    units: Vec<Unit<Reader<'a>>>,
    /// Address in the library and content of what is loaded.
    loaded: Vec<(u32, &'a [u8])>,
    base: u32,
    known: RefCell<HashMap<u32, Rc<Known<'a>>>>,
}

/// What is known of a return address.
struct Known<'a> {
    /// Innermost first.
    places: Vec<Frame>,
    scopes: Vec<Scope<'a>>,
}

/// A function at an address, or one that was inlined there.
struct Scope<'a> {
    variables: Vec<(String, Form, Source<'a>)>,
    base: Option<Expression<'a>>,
    encoding: gimli::Encoding,
}

enum Source<'a> {
    Expression(Expression<'a>),
    Constant(u64),
}

type Expression<'a> = gimli::Expression<Reader<'a>>;

/// What the value of a variable depends on: the frame that it is relative to, registers, memory.
struct State<'s, 'a> {
    encoding: gimli::Encoding,
    base: Option<u64>,
    registers: &'s Registers,
    memory: &'s Both<'s, 'a>,
}

/// Memory that was recorded, and for the rest what the library has been loaded with.
struct Both<'m, 'a> {
    recorded: &'m dyn Fn(u32, usize) -> Option<Vec<u8>>,
    debugger: &'m Debugger<'a>,
}

impl Memory for Both<'_, '_> {
    fn read(&self, address: u32, length: usize) -> Option<Vec<u8>> {
        (self.recorded)(address, length).or_else(|| self.debugger.constant(address, length))
    }
}

impl<'a> Debugger<'a> {
    /// Reads a library that is loaded at `base`.
    ///
    /// # Errors
    /// A text if it has no readable debug information.
    pub fn new(library: &'a [u8], base: u32) -> Result<Self, String> {
        let file = ElfFile32::<Endianness>::parse(library).map_err(|error| error.to_string())?;
        let dwarf = Arc::new(debug_dwarf(&file)?);
        let text = |error: gimli::Error| error.to_string();
        let context = addr2line::Context::from_arc_dwarf(dwarf.clone()).map_err(text)?;
        let (mut units, mut headers) = (vec![], dwarf.units());
        while let Some(header) = headers.next().map_err(text)? {
            units.push(dwarf.unit(header).map_err(text)?);
        }
        let loaded = file
            .segments()
            .filter_map(|segment| Some((segment.address() as u32, segment.data().ok()?)));
        let loaded = loaded.collect();
        Ok(Self {
            file,
            context,
            dwarf,
            units,
            loaded,
            base,
            known: RefCell::default(),
        })
    }

    /// Memory of the library that does not change.
    pub fn constant(&self, address: u32, length: usize) -> Option<Vec<u8>> {
        let at = address.checked_sub(self.base)?;
        self.loaded.iter().find_map(|(start, data)| {
            let from = at.checked_sub(*start)? as usize;
            Some(data.get(from..from.checked_add(length)?)?.to_vec())
        })
    }

    /// The functions at the return address in r15, innermost first: one, and those that were inlined there.
    /// `memory`: what was recorded of it.
    pub fn active(&self, registers: &Registers, memory: &dyn Fn(u32, usize) -> Option<Vec<u8>>) -> Vec<Active> {
        let Some(link) = registers.r[15] else { return vec![] };
        let known = self.known.borrow().get(&link).cloned();
        let known = known.unwrap_or_else(|| {
            let found = Rc::new(self.known_of(link));
            self.known.borrow_mut().insert(link, found.clone());
            found
        });
        let both = Both {
            recorded: memory,
            debugger: self,
        };
        // All functions at an address have the frame of the outermost one.
        let base = known.scopes.last().and_then(|outer| {
            let expression = outer.base?;
            let state = State {
                encoding: outer.encoding,
                base: None,
                registers,
                memory: &both,
            };
            match self.evaluated(expression, &state)?.first()?.location {
                Location::Register { register } => register_of(registers, register.0).map(|value| value & ADDRESS),
                Location::Address { address } => Some(address),
                _ => None,
            }
        });
        let states = known.places.iter().enumerate().map(|(number, place)| {
            let scope = known.scopes.get(number);
            let variables = scope.map_or(vec![], |scope| {
                let state = State {
                    encoding: scope.encoding,
                    base,
                    registers,
                    memory: &both,
                };
                self.variables(scope, &state)
            });
            Active {
                place: place.clone(),
                variables,
            }
        });
        states.collect()
    }

    fn variables(&self, scope: &Scope<'a>, state: &State<'_, 'a>) -> Vec<(String, String)> {
        let memory = state.memory;
        let (mut found, mut constants): (Vec<(String, String)>, Vec<_>) = (vec![], vec![]);
        for (name, form, source) in &scope.variables {
            if let Form::Constant(text) = form {
                constants.push((name.clone(), text.clone()));
                continue;
            }
            let bytes = match source {
                Source::Constant(value) => Some(value.to_le_bytes().to_vec()),
                Source::Expression(expression) => self.bytes(*expression, state, form),
            };
            let Some(bytes) = bytes else { continue };
            if let Form::Object(_) = form {
                let address = bytes
                    .get(..4)
                    .and_then(|word| Some(u32::from_le_bytes(word.try_into().ok()?)));
                let attributes = address.map_or(vec![], |address| form.attributes(address, memory));
                found.extend(
                    attributes
                        .into_iter()
                        .map(|(attribute, value)| (format!("{name}.{attribute}"), value)),
                );
            } else if let Some(text) = form.text(&bytes, memory) {
                found.push((name.clone(), text));
            }
        }
        // An attribute may be in memory as well.
        constants.retain(|(name, _)| !found.iter().any(|(known, _)| known == name));
        found.extend(constants);
        found
    }

    /// The bytes of a variable; None if the processor does not have all of them any more.
    fn bytes(&self, expression: Expression<'a>, state: &State<'_, 'a>, form: &Form) -> Option<Vec<u8>> {
        let size = form.size();
        let pieces = self.evaluated(expression, state)?;
        let mut bytes = vec![];
        for piece in pieces {
            let length = piece
                .size_in_bits
                .map_or(size - bytes.len().min(size), |bits| bits.div_ceil(8) as usize);
            let of_number = |value: u64| {
                let mut bytes = value.to_le_bytes().to_vec();
                bytes.resize(length, 0);
                bytes
            };
            bytes.extend(match piece.location {
                Location::Register { register } => of_number(register_of(state.registers, register.0)?),
                Location::Address { address } => state.memory.read(u32::try_from(address).ok()?, length)?,
                Location::Value { value } => of_number(value.to_u64(u64::MAX).ok()?),
                Location::Bytes { value } => value.slice().get(..length)?.to_vec(),
                Location::Empty | Location::ImplicitPointer { .. } => {
                    // Padding, or a part that is gone.
                    let gone = bytes.len()..bytes.len() + length;
                    if gone.clone().any(|at| form.has(at)) {
                        return None;
                    }
                    vec![0; length]
                }
            });
        }
        (bytes.len() >= size).then_some(bytes)
    }

    fn evaluated(&self, expression: Expression<'a>, state: &State<'_, 'a>) -> Option<Vec<gimli::Piece<Reader<'a>>>> {
        let generic = |value: u64| gimli::Value::Generic(value);
        let mut evaluation = expression.evaluation(state.encoding);
        let mut result = evaluation.evaluate().ok()?;
        loop {
            result = match result {
                EvaluationResult::Complete => return Some(evaluation.result()),
                EvaluationResult::RequiresRegister { register, .. } => {
                    evaluation.resume_with_register(generic(register_of(state.registers, register.0)?))
                }
                EvaluationResult::RequiresFrameBase => evaluation.resume_with_frame_base(state.base?),
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let mut bytes = state.memory.read(u32::try_from(address & ADDRESS).ok()?, size.into())?;
                    bytes.resize(8, 0);
                    evaluation.resume_with_memory(generic(u64::from_le_bytes(bytes.try_into().ok()?)))
                }
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    evaluation.resume_with_relocated_address(address + u64::from(self.base))
                }
                _ => return None,
            }
            .ok()?;
        }
    }

    fn known_of(&self, link: u32) -> Known<'a> {
        // A return address belongs to the instruction before it.
        let at = u64::from(link.wrapping_sub(1));
        let places = frames_at(&self.context, &self.file, at).unwrap_or_default();
        let mut scopes = self
            .units
            .iter()
            .find_map(|unit| self.scopes(unit, at).ok().filter(|found| !found.is_empty()));
        scopes.iter_mut().for_each(|found| found.reverse());
        Known {
            places,
            scopes: scopes.unwrap_or_default(),
        }
    }

    /// The functions of a unit at an address, outermost first.
    fn scopes(&self, unit: &Unit<Reader<'a>>, at: u64) -> Result<Vec<Scope<'a>>, gimli::Error> {
        let (mut cursor, mut depth) = (unit.entries(), 0isize);
        let mut scopes: Vec<Scope> = vec![];
        // Depth and number of the functions around an entry, and the depth of one that is elsewhere.
        let (mut around, mut elsewhere): (Vec<(isize, usize)>, Option<isize>) = (vec![], None);
        while let Some((step, entry)) = cursor.next_dfs()? {
            depth += step;
            if elsewhere.is_some_and(|level| depth > level) {
                continue;
            }
            elsewhere = None;
            around.retain(|(level, _)| *level < depth);
            match entry.tag() {
                gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine => {
                    if !self.contains(unit, entry, at)? {
                        elsewhere = Some(depth);
                        continue;
                    }
                    around.push((depth, scopes.len()));
                    scopes.push(Scope {
                        variables: vec![],
                        base: entry
                            .attr_value(gimli::DW_AT_frame_base)?
                            .and_then(|value| value.exprloc_value()),
                        encoding: unit.encoding(),
                    });
                }
                gimli::DW_TAG_lexical_block if !self.contains(unit, entry, at)? => elsewhere = Some(depth),
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    if let Some((_, number)) = around.last() {
                        let variable = self.variable(unit, entry, at)?;
                        scopes[*number].variables.extend(variable);
                    }
                }
                _ => {}
            }
        }
        Ok(scopes)
    }

    fn contains(
        &self,
        unit: &Unit<Reader<'a>>,
        entry: &gimli::DebuggingInformationEntry<Reader<'a>>,
        at: u64,
    ) -> Result<bool, gimli::Error> {
        let mut ranges = self.dwarf.die_ranges(unit, entry)?;
        while let Some(range) = ranges.next()? {
            if (range.begin..range.end).contains(&at) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Name, form and place of a variable; None if it has none at this address.
    fn variable(
        &self,
        unit: &Unit<Reader<'a>>,
        entry: &gimli::DebuggingInformationEntry<Reader<'a>>,
        at: u64,
    ) -> Result<Option<(String, Form, Source<'a>)>, gimli::Error> {
        let source = match (
            entry.attr_value(gimli::DW_AT_location)?,
            entry.attr(gimli::DW_AT_const_value)?,
        ) {
            (Some(AttributeValue::Exprloc(expression)), _) => Some(Source::Expression(expression)),
            (Some(list), _) => {
                let mut found = None;
                if let Some(mut places) = self.dwarf.attr_locations(unit, list)? {
                    while let Some(place) = places.next()? {
                        if (place.range.begin..place.range.end).contains(&at) {
                            found = Some(Source::Expression(place.data));
                        }
                    }
                }
                found
            }
            (None, Some(constant)) => {
                let number = constant
                    .sdata_value()
                    .map(|value| value as u64)
                    .or(constant.udata_value());
                number.map(Source::Constant)
            }
            (None, None) => None,
        };
        let Some(source) = source else { return Ok(None) };
        let text = |value| Ok::<_, gimli::Error>(self.dwarf.attr_string(unit, value)?.to_string_lossy().into_owned());
        let (mut name, mut kind) = (
            entry.attr_value(gimli::DW_AT_name)?,
            entry.attr_value(gimli::DW_AT_type)?,
        );
        if let Some(AttributeValue::UnitRef(origin)) = entry.attr_value(gimli::DW_AT_abstract_origin)? {
            let origin = unit.entry(origin)?;
            name = name.or(origin.attr_value(gimli::DW_AT_name)?);
            kind = kind.or(origin.attr_value(gimli::DW_AT_type)?);
        }
        let (Some(name), Some(AttributeValue::UnitRef(kind))) = (name, kind) else {
            return Ok(None);
        };
        let form = match unit.entry(kind)?.attr_value(gimli::DW_AT_name)? {
            Some(form) => Form::parse(&text(form)?),
            None => None,
        };
        form.map(|form| Ok((text(name)?, form, source))).transpose()
    }
}

/// The value of a register by its number in debug information.
fn register_of(registers: &Registers, number: u16) -> Option<u64> {
    match number {
        0..16 => registers.r[usize::from(number)].map(u64::from),
        S0..96 => {
            let single = usize::from(number - S0);
            registers.d[single / 2].map(|double| double >> (32 * (single % 2)) & ADDRESS)
        }
        D0..272 => registers.d[usize::from(number - D0)],
        _ => None,
    }
}
