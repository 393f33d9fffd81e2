//! Source files and positions in them.
//!
//! A span is a byte range of one file. Lines and columns are computed only where a human or a
//! debugger needs them.

use std::rc::Rc;

/// Index of a file in a [`Sources`].
pub type FileId = u32;

/// A byte range of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// The span from the beginning of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { end: other.end, ..self }
    }
}

/// One file, with the offsets of its lines.
#[derive(Debug)]
pub struct SourceFile {
    pub name: String,
    pub text: Rc<str>,
    line_starts: Vec<u32>,
}

/// All files read by a compilation.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// Adds a file, or returns the existing one of the same name and text.
    pub fn add(&mut self, name: &str, text: &Rc<str>) -> FileId {
        // Functions of one file mostly have one text, of which only the place is compared.
        let same = |other: &Rc<str>| Rc::ptr_eq(other, text) || other == text;
        if let Some(found) = self.files.iter().position(|f| f.name == name && same(&f.text)) {
            return found as FileId;
        }
        let starts = std::iter::once(0).chain(
            text.bytes()
                .enumerate()
                .filter(|b| b.1 == b'\n')
                .map(|b| b.0 as u32 + 1),
        );
        let line_starts = starts.collect();
        self.files.push(SourceFile {
            name: name.into(),
            text: text.clone(),
            line_starts,
        });
        self.files.len() as FileId - 1
    }

    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id as usize]
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Line (from 1) and column (from 0, in characters) of the start of a span.
    pub fn position(&self, span: Span) -> (u32, u32) {
        self.file(span.file).position(span.start)
    }
}

impl SourceFile {
    /// Line (from 1) and column (from 0, in characters) of a byte offset.
    pub fn position(&self, offset: u32) -> (u32, u32) {
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let start = self.line_starts[line - 1] as usize;
        let column = self
            .text
            .get(start..offset as usize)
            .map_or(0, |text| text.chars().count());
        (line as u32, column as u32)
    }

    /// Line and column of a byte offset for editors: both from 0, the column in UTF-16 code units.
    pub fn editor_position(&self, offset: u32) -> (u32, u32) {
        let line = self.line_starts.partition_point(|&start| start <= offset) - 1;
        let text = self.text.get(self.line_starts[line] as usize..offset as usize);
        (line as u32, text.map_or(0, |text| text.encode_utf16().count()) as u32)
    }

    /// Byte range of a line (from 0), its line break included.
    pub fn line_range(&self, line: usize) -> Option<std::ops::Range<usize>> {
        let start = *self.line_starts.get(line)? as usize;
        let end = self
            .line_starts
            .get(line + 1)
            .map_or(self.text.len(), |&end| end as usize);
        Some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_from_one_and_columns_in_characters() {
        let mut sources = Sources::default();
        let file = sources.add("a.py", &"x = 1\nµ = 22\n".into());
        let at = |start| {
            sources.position(Span {
                file,
                start,
                end: start,
            })
        };
        assert_eq!(at(0), (1, 0));
        assert_eq!(at(4), (1, 4));
        assert_eq!(at(6), (2, 0));
        assert_eq!(at(11), (2, 4));
        assert_eq!(at(14), (3, 0));
        let editor = |offset| sources.file(file).editor_position(offset);
        assert_eq!((editor(0), editor(6), editor(11)), ((0, 0), (1, 0), (1, 4)));
    }
}
