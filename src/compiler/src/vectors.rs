//! Vectorised array loops in LLVM assembly, for [`ir::Routine`]s.
//!
//! Having LLVM's own vectoriser look for them in every program would take longer than the rest of a
//! compilation. Floating-point additions are done in the order of the plain loop, so the results
//! are bit-identical.

use std::fmt::Write;

use crate::ir::{Element, Routine};

/// Bytes that one iteration over two registers processes.
const PAIR: u32 = 32;

/// The definition of a routine. `arm`: target ARM, where LLVM needs intrinsics to load and store
/// two registers at once.
pub fn definition(routine: Routine, linkage: &'static str, arm: bool) -> String {
    let mut text = Text {
        out: String::new(),
        linkage,
        arm,
        names: 0,
    };
    let symbol = routine.symbol();
    match routine {
        Routine::Each { op, element, numbers } => text.each(&symbol, op.name(), element, numbers),
        Routine::Dot(element) => text.dot(&symbol, element),
        Routine::MatMul(element) => text.matmul(&symbol, element),
    }
    text.out
}

/// The declaration for a part that only calls the routine.
pub fn declaration(routine: Routine) -> String {
    let text = definition(routine, "hidden ", false);
    let head = text.lines().next().expect("it begins with the head");
    head.replace("define", "declare").replace(" {", "\n")
}

/// Declarations that the definitions need, on ARM.
pub fn declarations() -> String {
    let mut out = String::new();
    for element in [Element::I32, Element::I64, Element::F64] {
        let (vector, short) = element.vector();
        let load = format!("declare {{{vector}, {vector}}} @llvm.arm.neon.vld1x2.{short}.p0(ptr)");
        let store = format!("declare void @llvm.arm.neon.vst1x2.p0.{short}(ptr, {vector}, {vector})");
        writeln!(out, "{load}\n{store}").expect("writing to a string");
    }
    out
}

struct Text {
    out: String,
    linkage: &'static str,
    arm: bool,
    names: u32,
}

impl Text {
    fn line(&mut self, text: impl AsRef<str>) {
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    /// Emits an instruction with a result; returns its name.
    fn value(&mut self, instruction: impl AsRef<str>) -> String {
        self.names += 1;
        let name = format!("%v{}", self.names);
        self.line(format!("  {name} = {}", instruction.as_ref()));
        name
    }

    fn begin(&mut self, returns: &str, symbol: &str, parameters: &str) {
        self.line(format!(
            "define {}{returns} @{symbol}({parameters}) nounwind noinline {{\nentry:",
            self.linkage
        ));
    }

    fn offset(&mut self, pointer: &str, bytes: u32) -> String {
        self.value(format!("getelementptr i8, ptr {pointer}, i32 {bytes}"))
    }

    /// Loads two registers from memory.
    fn load_pair(&mut self, element: Element, from: &str) -> [String; 2] {
        let (vector, short) = element.vector();
        if self.arm {
            let call = format!("call {{{vector}, {vector}}} @llvm.arm.neon.vld1x2.{short}.p0(ptr {from})");
            let both = self.value(call);
            return [0, 1].map(|half| self.value(format!("extractvalue {{{vector}, {vector}}} {both}, {half}")));
        }
        [0, 16].map(|bytes| {
            let from = self.offset(from, bytes);
            self.value(format!("load {vector}, ptr {from}, align 4"))
        })
    }

    fn store_pair(&mut self, element: Element, values: [String; 2], to: &str) {
        let (vector, short) = element.vector();
        let [a, b] = values;
        if self.arm {
            let arguments = format!("ptr {to}, {vector} {a}, {vector} {b}");
            return self.line(format!("  call void @llvm.arm.neon.vst1x2.p0.{short}({arguments})"));
        }
        for (bytes, value) in [(0, a), (16, b)] {
            let to = self.offset(to, bytes);
            self.line(format!("  store {vector} {value}, ptr {to}, align 4"));
        }
    }

    /// Broadcasts a number to all lanes.
    fn splat(&mut self, vector: &str, element: &str, number: &str) -> String {
        let first = self.value(format!("insertelement {vector} poison, {element} {number}, i32 0"));
        let lanes = vector[1..].split(' ').next().expect("a vector has lanes");
        self.value(format!(
            "shufflevector {vector} {first}, {vector} poison, <{lanes} x i32> zeroinitializer"
        ))
    }

    fn each(&mut self, symbol: &str, op: &str, element: Element, numbers: [bool; 2]) {
        let (ty, (vector, _)) = (element.name(), element.vector());
        let kinds = numbers.map(|number| if number { ty } else { "ptr" });
        let parameters = format!("ptr %to, {} %a, {} %b, i32 %count", kinds[0], kinds[1]);
        self.begin("void", symbol, &parameters);
        let sides: Vec<(&str, bool)> = ["%a", "%b"].into_iter().zip(numbers).collect();
        let splats: Vec<Option<String>> = sides
            .iter()
            .map(|(side, number)| number.then(|| self.splat(vector, ty, side)))
            .collect();
        let lanes = PAIR / element.size();
        self.line(format!("  %whole = and i32 %count, -{lanes}"));
        self.line("  %some = icmp ne i32 %whole, 0\n  br i1 %some, label %blocks, label %rest\nblocks:");
        self.line("  %left = phi i32 [%whole, %entry], [%less, %blocks]");
        self.line("  %to.at = phi ptr [%to, %entry], [%to.next, %blocks]");
        for (side, _) in sides.iter().filter(|(_, number)| !number) {
            self.line(format!(
                "  {side}.at = phi ptr [{side}, %entry], [{side}.next, %blocks]"
            ));
        }
        let mut pairs = vec![];
        for ((side, _), splat) in sides.iter().zip(&splats) {
            pairs.push(match splat {
                Some(splat) => [splat.clone(), splat.clone()],
                None => {
                    let pair = self.load_pair(element, &format!("{side}.at"));
                    self.line(format!("  {side}.next = getelementptr i8, ptr {side}.at, i32 {PAIR}"));
                    pair
                }
            });
        }
        let results = [0, 1].map(|half| self.value(format!("{op} {vector} {}, {}", pairs[0][half], pairs[1][half])));
        self.store_pair(element, results, "%to.at");
        self.line(format!("  %to.next = getelementptr i8, ptr %to.at, i32 {PAIR}"));
        self.line(format!(
            "  %less = sub i32 %left, {lanes}\n  %go = icmp ne i32 %less, 0"
        ));
        self.line("  br i1 %go, label %blocks, label %rest\nrest:");
        self.line("  %index = phi i32 [%whole, %entry], [%whole, %blocks], [%following, %single]");
        self.line("  %more = icmp slt i32 %index, %count\n  br i1 %more, label %single, label %done\nsingle:");
        let values: Vec<String> = sides
            .iter()
            .map(|&(side, number)| {
                if number {
                    side.to_string()
                } else {
                    self.element(ty, side)
                }
            })
            .collect();
        let result = self.value(format!("{op} {ty} {}, {}", values[0], values[1]));
        let to = self.value(format!("getelementptr {ty}, ptr %to, i32 %index"));
        self.line(format!(
            "  store {ty} {result}, ptr {to}\n  %following = add i32 %index, 1"
        ));
        self.line("  br label %rest\ndone:\n  ret void\n}");
    }

    /// Loads element `%index` of an array.
    fn element(&mut self, ty: &str, array: &str) -> String {
        let from = self.value(format!("getelementptr {ty}, ptr {array}, i32 %index"));
        self.value(format!("load {ty}, ptr {from}"))
    }

    /// Selects lanes of a vector of 32-bit integers.
    fn lanes(&mut self, count: u32, vector: &str, lanes: &[u32]) -> String {
        let lanes: Vec<String> = lanes.iter().map(|lane| format!("i32 {lane}")).collect();
        let mask = format!("<{} x i32> <{}>", lanes.len(), lanes.join(", "));
        self.value(format!(
            "shufflevector <{count} x i32> {vector}, <{count} x i32> poison, {mask}"
        ))
    }

    /// Inserts phis at an earlier `place`, the beginning of a block: the sums are zero when entered
    /// from `first`, and `next` when entered from `again`.
    fn phis(&mut self, place: usize, sums: &[(&str, &str)], (first, again): (&str, &str), next: &[String]) {
        let mut text = String::new();
        for ((sum, kind), next) in sums.iter().zip(next) {
            writeln!(
                text,
                "  {sum} = phi {kind} [zeroinitializer, {first}], [{next}, {again}]"
            )
            .expect("text");
        }
        self.out.insert_str(place, &text);
    }

    /// Loads four 64-bit integers as vectors of low and high halves.
    fn load_halves(&mut self, from: &str) -> [String; 2] {
        let all = self.value(format!("load <8 x i32>, ptr {from}, align 8"));
        [[0, 2, 4, 6], [1, 3, 5, 7]].map(|lanes| self.lanes(8, &all, &lanes))
    }

    /// `sums + a * b` for four 64-bit integers in halves: two sums of products of low halves, and
    /// one sum of the terms for the high halves.
    fn add_wide_products(&mut self, sums: [&str; 3], a: &[String; 2], b: &[String; 2]) -> [String; 3] {
        let low = [(sums[0], [0, 1]), (sums[1], [2, 3])].map(|(sum, lanes)| {
            let factors = [&a[0], &b[0]].map(|half| {
                let part = self.lanes(4, half, &lanes);
                self.value(format!("zext <2 x i32> {part} to <2 x i64>"))
            });
            let product = self.value(format!("mul <2 x i64> {}, {}", factors[0], factors[1]));
            self.value(format!("add <2 x i64> {sum}, {product}"))
        });
        let crossed = [(&a[0], &b[1]), (&a[1], &b[0])];
        let high = crossed.into_iter().fold(sums[2].to_string(), |sum, (x, y)| {
            let product = self.value(format!("mul <4 x i32> {x}, {y}"));
            self.value(format!("add <4 x i32> {sum}, {product}"))
        });
        let [first, second] = low;
        [first, second, high]
    }

    /// Combines such sums into two vectors of 64-bit integers.
    fn whole(&mut self, sums: [&str; 3]) -> [String; 2] {
        [(sums[0], [0, 1]), (sums[1], [2, 3])].map(|(low, lanes)| {
            let part = self.lanes(4, sums[2], &lanes);
            let wide = self.value(format!("zext <2 x i32> {part} to <2 x i64>"));
            let high = self.value(format!("shl <2 x i64> {wide}, splat (i64 32)"));
            self.value(format!("add <2 x i64> {low}, {high}"))
        })
    }

    fn dot(&mut self, symbol: &str, element: Element) {
        let ty = element.name();
        let [multiply, add] = element.multiply_and_add();
        self.begin(ty, symbol, "ptr %a, ptr %b, i32 %count");
        // Two registers hold eight 32-bit numbers or four 64-bit numbers.
        let lanes = PAIR / element.size();
        let kept = sums(element);
        self.line(format!("  %whole = and i32 %count, -{lanes}"));
        self.line("  %some = icmp ne i32 %whole, 0\n  br i1 %some, label %blocks, label %rest\nblocks:");
        self.line("  %left = phi i32 [%whole, %entry], [%less, %blocks]");
        for side in ["%a", "%b"] {
            self.line(format!(
                "  {side}.at = phi ptr [{side}, %entry], [{side}.next, %blocks]"
            ));
        }
        let place = self.out.len();
        let next: Vec<String> = match element {
            Element::I64 => {
                let [a, b] = ["%a.at", "%b.at"].map(|from| self.load_halves(from));
                self.add_wide_products(["%sum0", "%sum1", "%high"], &a, &b).into()
            }
            Element::I32 => {
                let [a, b] = ["%a.at", "%b.at"].map(|from| self.load_pair(element, from));
                let add_product = |half: usize| {
                    let product = self.value(format!("mul <4 x i32> {}, {}", a[half], b[half]));
                    self.value(format!("add <4 x i32> %sum{half}, {product}"))
                };
                [0, 1].map(add_product).into()
            }
            Element::F64 => {
                let [a, b] = ["%a.at", "%b.at"].map(|from| self.load_pair(element, from));
                let mut sum = "%sum0".to_string();
                for (half, lane) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let [x, y] = [&a, &b]
                        .map(|pair| self.value(format!("extractelement <2 x double> {}, i32 {lane}", pair[half])));
                    let product = self.value(format!("fmul double {x}, {y}"));
                    sum = self.value(format!("fadd double {sum}, {product}"));
                }
                vec![sum]
            }
        };
        self.phis(place, kept, ("%entry", "%blocks"), &next);
        for side in ["%a", "%b"] {
            self.line(format!("  {side}.next = getelementptr i8, ptr {side}.at, i32 {PAIR}"));
        }
        self.line(format!(
            "  %less = sub i32 %left, {lanes}\n  %go = icmp ne i32 %less, 0"
        ));
        self.line("  br i1 %go, label %blocks, label %rest\nrest:");
        for ((sum, kind), next) in kept.iter().zip(&next) {
            self.line(format!(
                "  {sum}.all = phi {kind} [zeroinitializer, %entry], [{next}, %blocks]"
            ));
        }
        let total = match element {
            Element::F64 => "%sum0.all".to_string(),
            Element::I32 => {
                let both = self.value("add <4 x i32> %sum0.all, %sum1.all");
                self.added(&both, "<4 x i32>", "i32")
            }
            Element::I64 => {
                let [a, b] = self.whole(["%sum0.all", "%sum1.all", "%high.all"]);
                let both = self.value(format!("add <2 x i64> {a}, {b}"));
                self.added(&both, "<2 x i64>", "i64")
            }
        };
        self.line("  br label %head\nhead:\n  %index = phi i32 [%whole, %rest], [%following, %single]");
        self.line(format!("  %total = phi {ty} [{total}, %rest], [%larger, %single]"));
        self.line("  %more = icmp slt i32 %index, %count\n  br i1 %more, label %single, label %done\nsingle:");
        let [x, y] = ["%a", "%b"].map(|side| self.element(ty, side));
        let product = self.value(format!("{multiply} {ty} {x}, {y}"));
        self.line(format!(
            "  %larger = {add} {ty} %total, {product}\n  %following = add i32 %index, 1"
        ));
        self.line(format!("  br label %head\ndone:\n  ret {ty} %total\n}}"));
    }

    fn matmul(&mut self, symbol: &str, element: Element) {
        let (ty, size) = (element.name(), element.size());
        let width = block_width(element);
        self.begin(
            "void",
            symbol,
            "ptr %to, ptr %a, ptr %b, i32 %rows, i32 %inner, i32 %columns",
        );
        self.line(format!(
            "  %stride = mul i32 %columns, {size}\n  %depth = mul i32 %inner, {size}"
        ));
        self.line("  %some = icmp sgt i32 %inner, 0\n  br label %rows.head\nrows.head:");
        self.line("  %row = phi i32 [0, %entry], [%row.next, %row.end]");
        self.line("  %a.row = phi ptr [%a, %entry], [%a.below, %row.end]");
        self.line("  %to.row = phi ptr [%to, %entry], [%to.below, %row.end]");
        self.line("  %more.rows = icmp slt i32 %row, %rows\n  br i1 %more.rows, label %columns.head, label %done");
        self.line("columns.head:");
        self.line("  %column = phi i32 [0, %rows.head], [%column.block, %block.end], [%column.single, %single.end]");
        self.line("  %left = sub i32 %columns, %column\n  %at = mul i32 %column, ".to_string() + &size.to_string());
        self.line("  %b.top = getelementptr i8, ptr %b, i32 %at\n  %to.at = getelementptr i8, ptr %to.row, i32 %at");
        self.line(format!("  %fits = icmp sge i32 %left, {width}"));
        self.line("  br i1 %fits, label %block, label %single\nblock:");
        self.line("  br i1 %some, label %block.sum, label %block.end\nblock.sum:");
        self.steps("block", "block.sum");
        let (place, kept) = (self.out.len(), block_sums(element));
        let next = self.block_products(element);
        self.phis(place, kept, ("%block", "%block.sum"), &next);
        self.step_end("block", size);
        self.line("  br i1 %go.block, label %block.sum, label %block.end\nblock.end:");
        for ((sum, kind), next) in kept.iter().zip(&next) {
            self.line(format!(
                "  {sum}.all = phi {kind} [zeroinitializer, %block], [{next}, %block.sum]"
            ));
        }
        let all: Vec<String> = kept.iter().map(|(sum, _)| format!("{sum}.all")).collect();
        let results = match element {
            Element::I64 => self.whole([&all[0], &all[1], &all[2]]).into(),
            Element::I32 | Element::F64 => all,
        };
        for (index, value) in results.iter().enumerate() {
            let to = self.offset("%to.at", 16 * index as u32);
            let vector = element.vector().0;
            self.line(format!("  store {vector} {value}, ptr {to}, align {size}"));
        }
        self.line(format!(
            "  %column.block = add i32 %column, {width}\n  br label %columns.head\nsingle:"
        ));
        self.line("  %remains = icmp sgt i32 %left, 0\n  br i1 %remains, label %column.one, label %row.end");
        self.line("column.one:\n  br i1 %some, label %single.sum, label %single.end\nsingle.sum:");
        self.steps("column.one", "single.sum");
        let (zero, [multiply, add]) = (
            if element == Element::F64 { "0.0" } else { "0" },
            element.multiply_and_add(),
        );
        let place = self.out.len();
        let [x, y] = ["%a.column.one", "%b.column.one"].map(|from| self.value(format!("load {ty}, ptr {from}")));
        let product = self.value(format!("{multiply} {ty} {x}, {y}"));
        let sum = self.value(format!("{add} {ty} %sum, {product}"));
        self.out.insert_str(
            place,
            &format!("  %sum = phi {ty} [{zero}, %column.one], [{sum}, %single.sum]\n"),
        );
        self.step_end("column.one", size);
        self.line("  br i1 %go.column.one, label %single.sum, label %single.end\nsingle.end:");
        self.line(format!("  %one = phi {ty} [{zero}, %column.one], [{sum}, %single.sum]"));
        self.line(format!(
            "  store {ty} %one, ptr %to.at\n  %column.single = add i32 %column, 1"
        ));
        self.line("  br label %columns.head\nrow.end:\n  %row.next = add i32 %row, 1");
        self.line("  %a.below = getelementptr i8, ptr %a.row, i32 %depth");
        self.line("  %to.below = getelementptr i8, ptr %to.row, i32 %stride");
        self.line("  br label %rows.head\ndone:\n  ret void\n}");
    }

    /// Emits the head of a loop `own`, entered from block `from`, along a row of `a` and down the
    /// columns of `b`.
    fn steps(&mut self, from: &str, own: &str) {
        self.line(format!(
            "  %k.{from} = phi i32 [%inner, %{from}], [%less.{from}, %{own}]"
        ));
        for (side, start) in [("a", "%a.row"), ("b", "%b.top")] {
            self.line(format!(
                "  %{side}.{from} = phi ptr [{start}, %{from}], [%{side}.{from}.next, %{own}]"
            ));
        }
    }

    fn step_end(&mut self, from: &str, size: u32) {
        self.line(format!(
            "  %a.{from}.next = getelementptr i8, ptr %a.{from}, i32 {size}"
        ));
        self.line(format!(
            "  %b.{from}.next = getelementptr i8, ptr %b.{from}, i32 %stride"
        ));
        self.line(format!(
            "  %less.{from} = sub i32 %k.{from}, 1\n  %go.{from} = icmp ne i32 %less.{from}, 0"
        ));
    }

    /// Adds the products of an element of `a` and a block of a row of `b` to the sums; returns the
    /// names of the new sums.
    fn block_products(&mut self, element: Element) -> Vec<String> {
        let (ty, (vector, _)) = (element.name(), element.vector());
        let [multiply, add] = element.multiply_and_add();
        let kept = block_sums(element);
        if element == Element::I64 {
            let halves = [0, 4].map(|bytes| {
                let from = self.offset("%a.block", bytes);
                let half = self.value(format!("load i32, ptr {from}"));
                self.splat("<4 x i32>", "i32", &half)
            });
            let b = self.load_halves("%b.block");
            return self
                .add_wide_products([kept[0].0, kept[1].0, kept[2].0], &halves, &b)
                .into();
        }
        let factor = self.value(format!("load {ty}, ptr %a.block"));
        let factor = self.splat(vector, ty, &factor);
        let mut sums = vec![];
        for pair in 0..kept.len() / 2 {
            let from = self.offset("%b.block", PAIR * pair as u32);
            for (half, value) in self.load_pair(element, &from).into_iter().enumerate() {
                let product = self.value(format!("{multiply} {vector} {value}, {factor}"));
                let sum = kept[2 * pair + half].0;
                sums.push(self.value(format!("{add} {vector} {sum}, {product}")));
            }
        }
        sums
    }

    /// Adds up the lanes of a vector of integers.
    fn added(&mut self, vector: &str, kind: &str, ty: &str) -> String {
        let lanes = if ty == "i32" { 4 } else { 2 };
        let parts: Vec<String> = (0..lanes)
            .map(|lane| self.value(format!("extractelement {kind} {vector}, i32 {lane}")))
            .collect();
        let (first, rest) = parts.split_first().expect("a vector has lanes");
        rest.iter()
            .fold(first.clone(), |sum, part| self.value(format!("add {ty} {sum}, {part}")))
    }
}

/// Columns of a matrix product that are summed together.
fn block_width(element: Element) -> u32 {
    match element {
        Element::I32 => 16,
        Element::I64 => 4,
        Element::F64 => 8,
    }
}

/// Names and types of the registers that hold the sums of a block of columns.
fn block_sums(element: Element) -> &'static [(&'static str, &'static str)] {
    const INTEGERS: &str = "<4 x i32>";
    const FLOATS: &str = "<2 x double>";
    match element {
        Element::I32 => &[
            ("%s0", INTEGERS),
            ("%s1", INTEGERS),
            ("%s2", INTEGERS),
            ("%s3", INTEGERS),
        ],
        Element::I64 => &[("%s0", "<2 x i64>"), ("%s1", "<2 x i64>"), ("%s2", INTEGERS)],
        Element::F64 => &[("%s0", FLOATS), ("%s1", FLOATS), ("%s2", FLOATS), ("%s3", FLOATS)],
    }
}

/// Names and types of the registers that hold a sum of products.
fn sums(element: Element) -> &'static [(&'static str, &'static str)] {
    match element {
        Element::I32 => &[("%sum0", "<4 x i32>"), ("%sum1", "<4 x i32>")],
        Element::I64 => &[("%sum0", "<2 x i64>"), ("%sum1", "<2 x i64>"), ("%high", "<4 x i32>")],
        Element::F64 => &[("%sum0", "double")],
    }
}
