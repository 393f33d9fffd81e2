//! The line table: the source line of each call; and variables.

use super::format::escaped;
use super::Printer;
use crate::forms::CONSTANT;
use crate::ir::{Constant, Variable};
use crate::source::{FileId, Span};
use crate::symbol::qualified_name;

/// Number of the compile unit node, and first number after the fixed nodes.
const UNIT: usize = 0;
const FIRST_FREE: usize = 5;

impl Printer<'_> {
    /// Prints all metadata nodes at the end of the module.
    pub(super) fn metadata(&mut self) {
        let flags = "!llvm.module.flags = !{!1, !2}\n!llvm.dbg.cu = !{!0}";
        self.line(format_args!("{flags}"));
        let unit = "distinct !DICompileUnit(language: DW_LANG_Python, file: !3, producer: \"kairos\", \
                    isOptimized: true, runtimeVersion: 0, emissionKind: ";
        let emission = if self.variables { "FullDebug" } else { "LineTablesOnly" };
        self.line(format_args!("!{UNIT} = {unit}{emission})"));
        self.line(format_args!("!1 = !{{i32 2, !\"Debug Info Version\", i32 3}}"));
        self.line(format_args!("!2 = !{{i32 2, !\"Dwarf Version\", i32 4}}"));
        self.line(format_args!("!3 = !DIFile(filename: \"kernel\", directory: \"\")"));
        self.line(format_args!("!4 = !DISubroutineType(types: !{{}})"));
        for (index, node) in std::mem::take(&mut self.meta).into_iter().enumerate() {
            self.line(format_args!("!{} = {node}", index + FIRST_FREE));
        }
    }

    fn node(&mut self, text: String) -> usize {
        self.meta.push(text);
        self.meta.len() - 1 + FIRST_FREE
    }

    fn file(&mut self, file: FileId) -> usize {
        let text = format!(
            "!DIFile(filename: \"{}\", directory: \"\")",
            escaped(self.sources.file(file).name.as_bytes())
        );
        match self.meta.iter().position(|known| *known == text) {
            Some(known) => known + FIRST_FREE,
            None => self.node(text),
        }
    }

    /// Creates the node of a function.
    pub(super) fn subprogram(&mut self, symbol: &str, span: Span) -> usize {
        let file = self.file(span.file);
        let line = self.sources.position(span).0;
        let name = escaped(qualified_name(symbol).as_bytes());
        self.node(format!(
            "distinct !DISubprogram(name: \"{name}\", scope: !{file}, file: !{file}, line: {line}, type: !4, \
             scopeLine: {line}, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !{UNIT})"
        ))
    }

    /// Describes a variable of the function with the node `scope`. Its type says how its bytes are read
    /// ([`crate::forms`]).
    pub(super) fn variable(&mut self, variable: &Variable, scope: usize) {
        let bits = 8 * variable.ty.layout().0;
        let node = self.described(&variable.name, &variable.form, bits, variable.span, scope);
        let location = self.location(Some(scope), variable.span);
        self.line(format_args!(
            "  call void @llvm.dbg.declare(metadata ptr %t{}, metadata !{node}, metadata !DIExpression()){location}",
            variable.slot
        ));
    }

    /// Describes a constant, likewise. Its type says its value; a number stands for the value, so that it is there in
    /// all of the function.
    pub(super) fn constant(&mut self, constant: &Constant, scope: usize) {
        let form = format!("{CONSTANT}{}", constant.text);
        let node = self.described(&constant.name, &form, 32, constant.span, scope);
        let location = self.location(Some(scope), constant.span);
        self.line(format_args!(
            "  call void @llvm.dbg.value(metadata i32 0, metadata !{node}, metadata !DIExpression()){location}"
        ));
    }

    /// The node of a variable.
    fn described(&mut self, name: &str, form: &str, bits: u32, span: Span, scope: usize) -> usize {
        let file = self.file(span.file);
        let line = self.sources.position(span).0;
        let kind = match self.forms.get(form) {
            Some(&known) => known,
            None => {
                let text = escaped(form.as_bytes());
                let node = self.node(format!(
                    "!DIBasicType(name: \"{text}\", size: {bits}, encoding: DW_ATE_unsigned)"
                ));
                self.forms.insert(form.into(), node);
                node
            }
        };
        let name = escaped(name.as_bytes());
        self.node(format!(
            "!DILocalVariable(name: \"{name}\", scope: !{scope}, file: !{file}, line: {line}, type: !{kind})"
        ))
    }

    /// The debug location of a call in the function with the node `scope`.
    pub(super) fn location(&mut self, scope: Option<usize>, span: Span) -> String {
        let Some(scope) = scope else { return String::new() };
        let (line, column) = self.sources.position(span);
        let node = match self.locations.get(&(scope, line, column)) {
            Some(&known) => known,
            None => {
                let node = self.node(format!(
                    "!DILocation(line: {line}, column: {}, scope: !{scope})",
                    column + 1
                ));
                self.locations.insert((scope, line, column), node);
                node
            }
        };
        format!(", !dbg !{node}")
    }
}
