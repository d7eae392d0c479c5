//! All variables, and the scopes that hide some of them.
//!
//! One map holds the visible variables. A scope records the variables that its own hide and restores them when it ends.
//! So a lookup, by far the most frequent operation, is one probe at any depth of calls. A subshell that runs in place
//! is a scope too: it records every variable that it changes.

use std::rc::Rc;

use super::variable::{Attributes, Variable};
use crate::hash::NameMap;

/// The variables of a shell.
#[derive(Debug, Default)]
pub struct Variables {
    map: NameMap<Rc<str>, Variable>,
    scopes: Vec<Scope>,
    /// The number of scopes that are subshells.
    subshells: usize,
}

/// The kinds of scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    /// A function, with the variables that `local` declares.
    Function,
    /// The assignments before a command.
    Temporary,
    /// A subshell in place, with every variable that it changes.
    Subshell,
}

#[derive(Debug)]
struct Scope {
    kind: ScopeKind,
    /// The variables that were visible before, by name.
    hidden: Vec<(Rc<str>, Option<Variable>)>,
}

impl Variables {
    /// Returns the variable with this name.
    pub fn get(&self, name: &str) -> Option<&Variable> {
        self.map.get(name)
    }

    /// Returns the variable with this name, to change it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Variable> {
        if self.subshells > 0 {
            self.remember(name);
        }
        self.map.get_mut(name)
    }

    /// Returns the variable with this name, and makes it if there is none.
    pub fn slot(&mut self, name: &str) -> &mut Variable {
        if self.subshells > 0 {
            self.remember(name);
        }
        // Two probes for an existing name are cheaper than an allocation for a missing one.
        if !self.map.contains_key(name) {
            self.map.insert(name.into(), Variable::default());
        }
        match self.map.get_mut(name) {
            Some(variable) => variable,
            None => unreachable!("inserted just now"),
        }
    }

    /// Removes a variable. Removing a local variable of an enclosing function uncovers the one it hides; one of the
    /// current function stays local and unset, as in bash.
    pub fn unset(&mut self, name: &str) {
        if self.subshells > 0 {
            self.remember(name);
        }
        let current = self.scopes.iter().rposition(|s| s.kind == ScopeKind::Function);
        let owner = self.owner(name);
        match owner {
            Some(owner) if self.scopes[owner].kind == ScopeKind::Function && Some(owner) != current => {
                self.uncover(owner, name);
            }
            Some(owner) if self.scopes[owner].kind == ScopeKind::Temporary => self.uncover(owner, name),
            _ => {
                self.map.remove(name);
            }
        }
    }

    /// Returns the innermost scope above any subshell that has the name.
    fn owner(&self, name: &str) -> Option<usize> {
        let floor = self.scopes.iter().rposition(|s| s.kind == ScopeKind::Subshell).map_or(0, |i| i + 1);
        (floor..self.scopes.len()).rev().find(|i| self.scopes[*i].hides(name))
    }

    fn uncover(&mut self, scope: usize, name: &str) {
        let hidden = &mut self.scopes[scope].hidden;
        if let Some(at) = hidden.iter().rposition(|(n, _)| &**n == name) {
            let (name, old) = hidden.remove(at);
            self.restore(name, old);
        }
    }

    fn restore(&mut self, name: Rc<str>, old: Option<Variable>) {
        match old {
            Some(variable) => self.map.insert(name, variable),
            None => self.map.remove(&name),
        };
    }

    /// Records a variable that the innermost subshell is about to change.
    fn remember(&mut self, name: &str) {
        if self.owner(name).is_some() {
            return;
        }
        let Some(subshell) = self.scopes.iter().rposition(|s| s.kind == ScopeKind::Subshell) else { return };
        if !self.scopes[subshell].hides(name) {
            let old = self.map.get(name).cloned();
            self.scopes[subshell].hidden.push((name.into(), old));
        }
    }

    /// Opens a scope.
    pub fn enter(&mut self, kind: ScopeKind) {
        self.subshells += usize::from(kind == ScopeKind::Subshell);
        self.scopes.push(Scope { kind, hidden: Vec::new() });
    }

    /// Ends the innermost scope and restores the variables that it hid. Returns their names.
    pub fn leave(&mut self) -> Vec<Rc<str>> {
        let Some(scope) = self.scopes.pop() else { return Vec::new() };
        self.subshells -= usize::from(scope.kind == ScopeKind::Subshell);
        let mut names = Vec::new();
        for (name, old) in scope.hidden.into_iter().rev() {
            names.push(name.clone());
            self.restore(name, old);
        }
        names
    }

    /// Ends the innermost scope and keeps its variables.
    pub fn keep(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        if self.subshells == 0 {
            return;
        }
        // They count as changes of the enclosing subshell.
        for (name, old) in scope.hidden {
            let Some(subshell) = self.scopes.iter().rposition(|s| s.kind == ScopeKind::Subshell) else { return };
            if self.owner(&name).is_none() && !self.scopes[subshell].hides(&name) {
                self.scopes[subshell].hidden.push((name, old));
            }
        }
    }

    /// Hides a variable in the innermost scope, so that the name is free there. Returns false if it is hidden already.
    pub fn hide(&mut self, name: &str) -> bool {
        let Some(at) = self.scopes.iter().rposition(|s| s.kind != ScopeKind::Subshell) else { return false };
        self.hide_at(at, name)
    }

    /// Hides a variable in the innermost function. Returns `None` outside of functions, and false if it is local
    /// already.
    pub fn hide_in_function(&mut self, name: &str) -> Option<bool> {
        let at = self.scopes.iter().rposition(|s| s.kind == ScopeKind::Function)?;
        Some(self.hide_at(at, name))
    }

    fn hide_at(&mut self, at: usize, name: &str) -> bool {
        if self.scopes[at].hides(name) {
            return false;
        }
        let old = self.map.remove(name);
        self.scopes[at].hidden.push((name.into(), old));
        true
    }

    /// Returns true while a function, or a subshell in one, is running.
    pub fn in_function(&self) -> bool {
        self.scopes.iter().any(|s| s.kind == ScopeKind::Function)
    }

    /// Returns true if the innermost function declared the name local.
    pub fn is_local(&self, name: &str) -> bool {
        let at = self.scopes.iter().rposition(|s| s.kind == ScopeKind::Function);
        at.is_some_and(|at| self.scopes[at].hides(name))
    }

    /// Returns true if the name was assigned before the call of the innermost function.
    pub fn is_for_call(&self, name: &str) -> bool {
        let at = self.scopes.iter().rposition(|s| s.kind == ScopeKind::Function);
        let before = at.and_then(|at| at.checked_sub(1)).map(|before| &self.scopes[before]);
        before.is_some_and(|scope| scope.kind == ScopeKind::Temporary && scope.hides(name))
    }

    /// Returns true if any scope hides a variable of this name.
    pub fn is_hidden(&self, name: &str) -> bool {
        self.scopes.iter().any(|s| s.hides(name))
    }

    /// Returns the names that the innermost function declared local.
    pub fn locals(&self) -> Vec<String> {
        let at = self.scopes.iter().rposition(|s| s.kind == ScopeKind::Function);
        at.map(|at| self.scopes[at].hidden.iter().map(|(name, _)| name.to_string()).collect()).unwrap_or_default()
    }

    /// Returns the global variable, even if local ones hide it.
    pub fn global(&mut self, name: &str) -> &mut Variable {
        let floor = self.scopes.iter().rposition(|s| s.kind == ScopeKind::Subshell).map_or(0, |i| i + 1);
        let hiding = (floor..self.scopes.len())
            .find_map(|i| Some((i, self.scopes[i].hidden.iter().position(|(n, _)| &**n == name)?)));
        match hiding {
            Some((scope, at)) => self.scopes[scope].hidden[at].1.get_or_insert_default(),
            None => self.slot(name),
        }
    }

    /// Returns all variables, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Variable)> {
        self.map.iter().map(|(name, variable)| (&**name, variable))
    }

    /// Returns the environment of a child.
    pub fn exported(&self) -> impl Iterator<Item = (&str, &str)> {
        self.map.iter().filter(|(_, v)| v.is(Attributes::EXPORT)).filter_map(|(name, v)| Some((&**name, v.text()?)))
    }

    /// Puts a variable into the map without any rules, for start-up.
    pub fn insert(&mut self, name: &str, variable: Variable) {
        self.map.insert(name.into(), variable);
    }
}

impl Scope {
    fn hides(&self, name: &str) -> bool {
        self.hidden.iter().any(|(n, _)| &**n == name)
    }
}
