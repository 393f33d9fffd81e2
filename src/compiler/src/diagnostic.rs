//! Errors as values: what is wrong, where, and what to do about it.

use codespan_reporting::diagnostic::{Diagnostic as Rendered, Label};
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::{self, termcolor::NoColor};

use crate::source::{FileId, SourceFile, Sources, Span};

/// An error (or warning) with a primary position, further positions, and advice.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    pub message: String,
    /// The place at fault. None only for errors that concern no source text (a host object without source).
    pub span: Option<Span>,
    /// What to write at the primary position.
    pub note_here: String,
    pub labels: Vec<(Span, String)>,
    pub help: Vec<String>,
    pub warning: bool,
}

/// Result of a pass. The error is boxed because it is large and rare.
pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

impl Diagnostic {
    pub fn new(span: Span, message: impl Into<String>) -> Box<Self> {
        Box::new(Diagnostic {
            span: Some(span),
            ..Self::nowhere(message)
        })
    }

    fn nowhere(message: impl Into<String>) -> Self {
        let message = message.into();
        Diagnostic {
            message,
            span: None,
            note_here: String::new(),
            labels: vec![],
            help: vec![],
            warning: false,
        }
    }

    /// An error without a place in the source.
    pub fn global(message: impl Into<String>) -> Box<Self> {
        Box::new(Self::nowhere(message))
    }

    /// The construct is valid but this compiler does not have it yet.
    pub fn unsupported(span: Span, what: &str) -> Box<Self> {
        Self::new(span, format!("{what} is not supported yet"))
    }

    pub fn here(mut self: Box<Self>, text: impl Into<String>) -> Box<Self> {
        self.note_here = text.into();
        self
    }

    pub fn label(mut self: Box<Self>, span: Span, text: impl Into<String>) -> Box<Self> {
        self.labels.push((span, text.into()));
        self
    }

    pub fn help(mut self: Box<Self>, text: impl Into<String>) -> Box<Self> {
        self.help.push(text.into());
        self
    }

    /// Gives the error a place, if it has none.
    pub fn or_at(mut self: Box<Self>, span: Span) -> Box<Self> {
        self.span = self.span.or(Some(span));
        self
    }

    /// The text a user reads.
    pub fn render(&self, sources: &Sources) -> String {
        let mut rendered = if self.warning {
            Rendered::warning()
        } else {
            Rendered::error()
        };
        rendered = rendered.with_message(&self.message);
        let range = |span: &Span| span.start as usize..span.end as usize;
        if let Some(span) = self.span {
            rendered = rendered.with_label(Label::primary(span.file, range(&span)).with_message(&self.note_here));
        }
        let labels = self
            .labels
            .iter()
            .map(|(span, text)| Label::secondary(span.file, range(span)).with_message(text));
        rendered = rendered.with_labels_iter(labels);
        rendered = rendered.with_notes_iter(self.help.iter().map(|help| format!("help: {help}")));
        let config = term::Config {
            chars: term::Chars::ascii(),
            ..term::Config::default()
        };
        let mut text = NoColor::new(Vec::new());
        match term::emit(&mut text, &config, sources, &rendered) {
            Ok(()) => String::from_utf8_lossy(&text.into_inner()).trim_end().to_string(),
            Err(_) => format!("error: {}", self.message),
        }
    }
}

impl<'a> Files<'a> for Sources {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> std::result::Result<&'a str, Error> {
        Ok(&self.file(id).name)
    }

    fn source(&'a self, id: FileId) -> std::result::Result<&'a str, Error> {
        Ok(&self.file(id).text)
    }

    fn line_index(&'a self, id: FileId, offset: usize) -> std::result::Result<usize, Error> {
        Ok(self.file(id).position(offset as u32).0 as usize - 1)
    }

    fn line_range(&'a self, id: FileId, line: usize) -> std::result::Result<std::ops::Range<usize>, Error> {
        let file: &SourceFile = self.file(id);
        file.line_range(line).ok_or(Error::LineTooLarge { given: line, max: 0 })
    }
}
