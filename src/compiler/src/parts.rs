//! Divides a module into functions that run often, which LLVM optimises thoroughly, and the others,
//! which are compiled quickly.
//!
//! A kernel is compiled for one run. Code that has no loop and runs only a few times takes less
//! time on the device than optimising it would.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::ir::*;

/// Number of runs above which a function counts as running often.
const OFTEN: u32 = 32;
/// Size above which a function is compiled quickly, because the time for thorough compilation grows
/// faster than the size. Functions with a loop must be larger (`VERY_LARGE`).
const LARGE: usize = 1500;
const VERY_LARGE: usize = 6000;
/// Size up to which a separate quick compilation is not worthwhile.
const SMALL: usize = 100;

/// Symbols of functions and data that form one object file.
#[derive(Debug)]
pub struct Part {
    /// Whether to optimise thoroughly.
    pub thorough: bool,
    /// Symbols defined in this part.
    pub defines: HashSet<Rc<str>>,
    /// Symbols defined here that the other part uses as well.
    pub shares: HashSet<Rc<str>>,
    /// Symbols used here and defined by the other part.
    pub borrows: HashSet<Rc<str>>,
}

/// Divides a module into at most two parts. Code that the entry does not reach is in none. Prepares
/// the functions of the second part for quick compilation.
pub fn divide(module: &mut Module) -> Vec<Part> {
    let groups = groups(module);
    for &number in &groups[1].1 {
        module.functions[number].hoist(&mut module.globals);
    }
    parts(module, &groups)
}

/// Functions that run often, and the others.
fn groups(module: &Module) -> [(bool, Vec<usize>); 2] {
    let program = Calls::of(module);
    let runs = program.runs();
    let reached = (0..module.functions.len()).filter(|&number| runs[number] > 0);
    let (mut often, mut seldom): (Vec<usize>, Vec<usize>) = reached.partition(|&number| {
        let function = &module.functions[number];
        let loops = program.loops[number];
        let large = if loops { VERY_LARGE } else { LARGE };
        (loops || runs[number] > OFTEN) && function.size() <= large && !function.attributes.contains("cold")
    });
    let size: usize = seldom.iter().map(|&number| module.functions[number].size()).sum();
    if !(often.is_empty() && module.routines.is_empty()) && size <= SMALL {
        often.append(&mut seldom);
        often.sort_unstable();
    }
    [(true, often), (false, seldom)]
}

/// The call graph, by function number.
struct Calls<'m> {
    module: &'m Module,
    /// Calls made by each function: the callee, and whether the call is in a loop.
    callees: Vec<Vec<(usize, bool)>>,
    /// Whether a function has a loop.
    loops: Vec<bool>,
}

impl<'m> Calls<'m> {
    fn of(module: &'m Module) -> Self {
        let numbered = module.functions.iter().enumerate();
        let index: HashMap<&str, usize> = numbered.map(|(number, function)| (&*function.symbol, number)).collect();
        let (mut callees, mut loops) = (vec![], vec![]);
        for function in &module.functions {
            let looped = looped_blocks(function);
            let blocks = function.blocks.iter().zip(&looped);
            let calls = blocks.flat_map(|(block, &looped)| block.body.iter().map(move |called| (called, looped)));
            let calls = calls.filter_map(|(instruction, looped)| match &instruction.op {
                Op::Call { callee, .. } => Some((*index.get(&**callee)?, looped)),
                _ => None,
            });
            callees.push(calls.collect());
            loops.push(looped.contains(&true));
        }
        Calls { module, callees, loops }
    }

    /// Estimates how often each function runs: an upper bound in the presence of branches. A loop
    /// counts as running very often.
    fn runs(&self) -> Vec<u32> {
        let count = self.module.functions.len();
        let entries: Vec<usize> = (0..count)
            .filter(|&number| self.module.functions[number].exported)
            .collect();
        let mut runs = vec![0u32; count];
        entries.iter().for_each(|&entry| runs[entry] = 1);
        let next = |number: usize| self.callees[number].iter().map(|(callee, _)| *callee).collect();
        // Callers first.
        for group in components(count, &entries, next).into_iter().rev() {
            if group.recursive {
                group.members.iter().for_each(|&number| runs[number] = u32::MAX);
            }
            for number in group.members {
                for &(callee, looped) in &self.callees[number] {
                    let times = if looped { u32::MAX } else { runs[number] };
                    runs[callee] = runs[callee].saturating_add(times);
                }
            }
        }
        runs
    }
}

/// Assigns symbols to the parts that the groups of functions form.
fn parts(module: &Module, groups: &[(bool, Vec<usize>)]) -> Vec<Part> {
    let globals: HashMap<&str, &Global> = module.globals.iter().map(|global| (&*global.name, global)).collect();
    let mut owner: HashMap<Rc<str>, usize> = HashMap::new();
    // Routines are loops, so they belong to the first part.
    owner.extend(module.routines.keys().map(|symbol| (symbol.clone(), 0)));
    let mut used: Vec<HashSet<Rc<str>>> = vec![];
    for (part, (_, functions)) in groups.iter().enumerate() {
        let mut names = HashSet::new();
        for &number in functions {
            let function = &module.functions[number];
            owner.insert(function.symbol.clone(), part);
            each_name(function, &mut |name| {
                names.insert(name.clone());
            });
        }
        used.push(names);
    }
    for (part, names) in used.iter_mut().enumerate() {
        // Data belongs to the part of the functions that refer to it, together with the data that
        // it refers to; data used by both parts belongs to the first.
        let mut open: Vec<Rc<str>> = names.iter().cloned().collect();
        while let Some(name) = open.pop() {
            let Some(global) = globals.get(&*name) else { continue };
            if owner.contains_key(&name) || matches!(global.init, Init::External(_)) {
                continue;
            }
            owner.insert(name, part);
            global.init.each_global(&mut |inner| {
                if names.insert(inner.clone()) {
                    open.push(inner.clone());
                }
            });
        }
    }
    let filled = |(part, group): (usize, &(bool, Vec<usize>))| {
        let routines = part == 0 && !module.routines.is_empty();
        (routines || !group.1.is_empty()).then_some(part)
    };
    let filled: Vec<usize> = groups.iter().enumerate().filter_map(filled).collect();
    let last = filled.last().copied().unwrap_or(0);
    for global in module.globals.iter().filter(|global| global.exported) {
        own_exported(global, &globals, last, &mut owner, &mut used);
    }
    filled
        .into_iter()
        .map(|part| {
            let mine = |name: &&Rc<str>| owner.get(*name) == Some(&part);
            let others = || {
                used.iter()
                    .enumerate()
                    .filter(|(other, _)| *other != part)
                    .flat_map(|(_, names)| names)
            };
            Part {
                thorough: groups[part].0,
                defines: owner.keys().filter(mine).cloned().collect(),
                shares: others().filter(mine).cloned().collect(),
                borrows: used[part]
                    .iter()
                    .filter(|name| owner.contains_key(*name) && !mine(name))
                    .cloned()
                    .collect(),
            }
        })
        .collect()
}

/// Puts an exported global, which the firmware looks up, and the data it refers to into the last
/// part.
fn own_exported(
    global: &Global,
    globals: &HashMap<&str, &Global>,
    part: usize,
    owner: &mut HashMap<Rc<str>, usize>,
    used: &mut [HashSet<Rc<str>>],
) {
    let mut open = vec![global.name.clone()];
    while let Some(name) = open.pop() {
        used[part].insert(name.clone());
        let Some(global) = globals.get(&*name) else { continue };
        if owner.contains_key(&name) || matches!(global.init, Init::External(_)) {
            continue;
        }
        owner.insert(name, part);
        global.init.each_global(&mut |inner| open.push(inner.clone()));
    }
}

/// Calls `visit` with every program function, routine and global that a function refers to.
fn each_name<'f>(function: &'f Function, visit: &mut dyn FnMut(&'f Rc<str>)) {
    for block in &function.blocks {
        for instruction in &block.body {
            instruction.op.each_operand(&mut |value| value.each_global(visit));
            match &instruction.op {
                Op::Call { callee, .. } => visit(callee),
                Op::LandingPad { clauses, .. } => clauses.iter().flatten().for_each(&mut *visit),
                _ => {}
            }
        }
        if let Some(value) = block.end.as_ref().and_then(Terminator::operand) {
            value.each_global(visit);
        }
    }
}

/// Whether each block is in a loop.
fn looped_blocks(function: &Function) -> Vec<bool> {
    let mut looped = vec![false; function.blocks.len()];
    let next = |block| {
        let mut next = vec![];
        function.each_next(block, &mut |to| next.push(to));
        next
    };
    for group in components(function.blocks.len(), &[0], next)
        .into_iter()
        .filter(|group| group.recursive)
    {
        group.members.into_iter().for_each(|block| looped[block] = true);
    }
    looped
}

/// A strongly connected component of a graph.
struct Component {
    members: Vec<usize>,
    /// Whether the nodes, even a single one, can reach themselves.
    recursive: bool,
}

/// Strongly connected components reachable from `roots`, successors before predecessors (Tarjan's
/// algorithm, without recursion).
fn components(count: usize, roots: &[usize], next: impl Fn(usize) -> Vec<usize>) -> Vec<Component> {
    const NEW: usize = usize::MAX;
    let (mut number, mut low, mut open) = (vec![NEW; count], vec![NEW; count], vec![false; count]);
    let (mut found, mut stack, mut visited) = (vec![], vec![], 0);
    for &root in roots {
        let mut path: Vec<(usize, Vec<usize>)> = vec![];
        let mut entered = (number[root] == NEW).then_some(root);
        loop {
            if let Some(node) = entered.take() {
                (number[node], low[node], open[node]) = (visited, visited, true);
                visited += 1;
                stack.push(node);
                path.push((node, next(node)));
            }
            let Some((node, left)) = path.last_mut() else { break };
            let node = *node;
            match left.pop() {
                Some(to) if number[to] == NEW => entered = Some(to),
                Some(to) if open[to] => low[node] = low[node].min(number[to]),
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some(&(before, _)) = path.last() {
                        low[before] = low[before].min(low[node]);
                    }
                    if low[node] == number[node] {
                        let start = stack.iter().rposition(|&member| member == node).expect("it is open");
                        let members = stack.split_off(start);
                        members.iter().for_each(|&member| open[member] = false);
                        let recursive = members.len() > 1 || next(node).contains(&node);
                        found.push(Component { members, recursive });
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_reach_each_other_form_one_component() {
        let graph = [vec![1, 4], vec![2], vec![1, 3], vec![3], vec![]];
        let found = components(graph.len(), &[0], |node| graph[node].clone());
        let mut found: Vec<_> = found.into_iter().map(|one| (one.members, one.recursive)).collect();
        found.iter_mut().for_each(|(members, _)| members.sort_unstable());
        let place = |node: usize| found.iter().position(|(members, _)| members.contains(&node)).unwrap();
        assert!(place(3) < place(1) && place(1) < place(0) && place(4) < place(0));
        found.sort();
        assert_eq!(
            found,
            [(vec![0], false), (vec![1, 2], true), (vec![3], true), (vec![4], false)]
        );
    }
}
