//! Errors as values: what is wrong, where, and what to do about it.

use std::panic::Location;

use codespan_reporting::diagnostic::{Diagnostic as Rendered, Label};
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::{self, termcolor::NoColor};

use crate::source::{FileId, SourceFile, Sources, Span};

/// What programs must tell apart without reading the message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// An object or type does not have an attribute.
    MissingAttribute,
    /// All others.
    #[default]
    Other,
}

impl Kind {
    /// The name of the kind in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::MissingAttribute => "missing_attribute",
            Self::Other => "",
        }
    }
}

/// An error (or warning) with a primary position, further positions, and advice.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    pub message: String,
    /// The position of the error. None only for errors without source text (a host object without
    /// source).
    pub span: Option<Span>,
    /// The text shown at the primary position.
    pub primary_note: String,
    pub labels: Vec<(Span, String)>,
    pub help: Vec<String>,
    pub warning: bool,
    pub kind: Kind,
    /// Where in the compiler the diagnostic is created; tests use it to tell kinds apart.
    pub origin: &'static Location<'static>,
}

/// Result of a pass. The error is boxed because it is large and rare.
pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

impl Diagnostic {
    #[track_caller]
    pub fn new(span: Span, message: impl Into<String>) -> Box<Self> {
        Box::new(Diagnostic {
            span: Some(span),
            ..Self::without_span(message)
        })
    }

    #[track_caller]
    fn without_span(message: impl Into<String>) -> Self {
        let message = message.into();
        Diagnostic {
            message,
            span: None,
            primary_note: String::new(),
            labels: vec![],
            help: vec![],
            warning: false,
            kind: Kind::Other,
            origin: Location::caller(),
        }
    }

    /// An error without a place in the source.
    #[track_caller]
    pub fn global(message: impl Into<String>) -> Box<Self> {
        Box::new(Self::without_span(message))
    }

    /// `owner`, an object or a type, does not have an attribute.
    #[track_caller]
    pub fn missing_attribute(span: Span, owner: &str, name: &str) -> Box<Self> {
        let mut error = Self::new(span, format!("{owner} does not have an attribute '{name}'"));
        error.kind = Kind::MissingAttribute;
        error
    }

    /// The construct is valid but not yet supported by this compiler.
    #[track_caller]
    pub fn unsupported(span: Span, what: &str) -> Box<Self> {
        Self::new(span, format!("{what} is not supported yet"))
    }

    pub fn primary_note(mut self: Box<Self>, text: impl Into<String>) -> Box<Self> {
        self.primary_note = text.into();
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

    /// Sets the position of the error if it has none.
    pub fn or_at(mut self: Box<Self>, span: Span) -> Box<Self> {
        self.span = self.span.or(Some(span));
        self
    }

    /// Renders the text for the user.
    pub fn render(&self, sources: &Sources) -> String {
        let mut rendered = if self.warning {
            Rendered::warning()
        } else {
            Rendered::error()
        };
        rendered = rendered.with_message(&self.message);
        let range = |span: &Span| span.start as usize..span.end as usize;
        if let Some(span) = self.span {
            rendered = rendered.with_label(Label::primary(span.file, range(&span)).with_message(&self.primary_note));
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
            Ok(()) => clipped(String::from_utf8_lossy(&text.into_inner()).trim_end()),
            Err(_) => format!("error: {}", self.message),
        }
    }
}

/// Number of characters shown of a long source line, around the reported position.
const WIDTH: usize = 200;

/// Truncates overlong source lines of a rendered diagnostic on both sides, together with the marker
/// lines below them.
fn clipped(text: &str) -> String {
    let mut lines: Vec<String> = vec![];
    // Characters after the margin to cut from the marker lines below a source line.
    let mut cut = 0;
    let all: Vec<&str> = text.lines().collect();
    for (index, line) in all.iter().enumerate() {
        let parts = line
            .split_once(" |")
            .filter(|(margin, _)| margin.bytes().all(|c| c == b' ' || c.is_ascii_digit()));
        let Some((margin, rest)) = parts else {
            lines.push(line.to_string());
            continue;
        };
        if !margin.trim().is_empty() {
            let below = all
                .get(index + 1)
                .and_then(|below| below.split_once(" |"))
                .map_or("", |(_, rest)| rest);
            let place = below.chars().position(|c| c == '^' || c == '-').unwrap_or(0);
            cut = match rest.chars().count() > WIDTH + 80 {
                true => place.saturating_sub(WIDTH / 3),
                false => 0,
            };
            let mut shown: String = rest.chars().skip(cut).take(WIDTH).collect();
            if cut > 0 {
                shown.insert_str(0, " …");
            }
            if rest.chars().count() > cut + WIDTH {
                shown.push('…');
            }
            lines.push(format!("{margin} |{shown}"));
        } else {
            lines.push(format!("{margin} |{}", marks(rest, cut)));
        }
    }
    lines.join("\n")
}

/// A marker line below a source line whose first `cut` characters are cut.
fn marks(line: &str, cut: usize) -> String {
    let end = line.chars().take_while(|c| " ^-|".contains(*c)).count();
    let mut shown: String = line.chars().take(end).skip(cut).take(WIDTH).collect();
    if cut > 0 {
        shown.insert_str(0, "  ");
    }
    let text: String = line.chars().skip(end.max(cut)).collect();
    if !text.is_empty() && !shown.ends_with(' ') {
        shown.push(' ');
    }
    shown + &text
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
