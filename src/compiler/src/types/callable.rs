//! Functions as values. The type of a function or method is that single function, and calls of it
//! are direct. Where several are joined (in a list, a variable, an argument), the type is their
//! set, and the value identifies one of them.

use std::rc::Rc;

use super::{Kind, Mismatch, Ty, Types};

/// Number of a function, method or nested function among those that were joined with others.
pub type Callable = u32;

impl Types {
    /// The number that identifies this function in a value of type `Choice`; None if it was never
    /// joined with another.
    pub fn callable(&self, kind: &Kind) -> Option<Callable> {
        let found = self.callables.iter().position(|&known| self.kind(known) == kind);
        found.map(|number| number as Callable)
    }

    /// The type of a function that was joined with others.
    pub fn callable_type(&self, callable: Callable) -> Ty {
        self.callables[callable as usize]
    }

    /// Whether a type is that of one function, known at compile time.
    pub fn is_single_function(&self, ty: Ty) -> bool {
        matches!(
            self.kind(ty),
            Kind::Function(_) | Kind::Method { .. } | Kind::Closure(_)
        )
    }

    /// Whether two types differ in functions at the same position, neither of which has been joined
    /// with another yet.
    pub fn differ_in_functions(&self, a: Ty, b: Ty) -> bool {
        match (self.kind(a), self.kind(b)) {
            (Kind::List(a), Kind::List(b)) => self.differ_in_functions(*a, *b),
            (Kind::Tuple(a), Kind::Tuple(b)) if a.len() == b.len() => {
                a.iter().zip(b.iter()).any(|(&a, &b)| self.differ_in_functions(a, b))
            }
            (x, y) => self.is_single_function(a) && self.is_single_function(b) && x != y,
        }
    }

    /// Joins the types of two different functions.
    pub(super) fn join_functions(&mut self, a: Ty, b: Ty) -> Result<(), Mismatch> {
        let (Some(of_a), Some(of_b)) = (self.functions_of(a), self.functions_of(b)) else {
            return Err(Mismatch);
        };
        let mut all: Vec<Callable> = of_a.iter().chain(&of_b).copied().collect();
        all.sort();
        all.dedup();
        let is_choice = |ty| matches!(self.kind(ty), Kind::Choice(_));
        match (is_choice(a) && all == of_a, is_choice(b) && all == of_b) {
            (true, _) => self.link(b, a),
            (_, true) => self.link(a, b),
            _ => {
                let joined = self.new_type(Kind::Choice(all.into()));
                self.link(a, joined);
                self.link(b, joined);
            }
        }
        Ok(())
    }

    /// The functions that a value of the type may be; None if it is not a function.
    fn functions_of(&mut self, ty: Ty) -> Option<Vec<Callable>> {
        match self.kind(ty).clone() {
            Kind::Choice(members) => Some(members.to_vec()),
            kind if self.is_single_function(ty) => Some(vec![self.callable(&kind).unwrap_or_else(|| {
                let known = self.new_type(kind);
                self.callables.push(known);
                self.callables.len() as Callable - 1
            })]),
            _ => None,
        }
    }

    /// The types of the functions in a set.
    pub fn each_of(&self, members: &Rc<[Callable]>) -> Vec<Ty> {
        members.iter().map(|&member| self.callable_type(member)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unified_functions_become_a_set() {
        let mut types = Types::default();
        let [a, b, c] = [1, 2, 3].map(|handle| types.new_type(Kind::Function(handle)));
        assert!(types.differ_in_functions(a, b));
        types.unify(a, b).unwrap();
        assert_eq!(*types.kind(a), Kind::Choice([0, 1].into()));
        types.unify(c, a).unwrap();
        assert_eq!(*types.kind(b), Kind::Choice([0, 1, 2].into()));
        let again = types.new_type(Kind::Function(2));
        let before = types.version;
        types.begin_visit();
        let fresh = types.new_type(Kind::Function(1));
        types.unify(b, fresh).unwrap();
        assert_eq!((types.version, types.unify(again, b)), (before, Ok(())));
        let number = types.new_type(Kind::Int32);
        assert_eq!(types.unify(b, number), Err(Mismatch));
    }
}
