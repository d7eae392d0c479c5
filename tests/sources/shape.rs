//! The size of files and functions.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::tree::sources;

const EVERYWHERE: &[&str] = &[
    "src",
    "guest",
    "interpreters",
    "images",
    "precompile",
    "python",
    "xtask",
    "tests",
    "benches",
    "fuzz",
    "examples",
];

/// Lines of a file. At 500 a seam is worth looking for; at this number the file is split.
const FILE_LINES: usize = 800;

/// Lines of a function, its signature included.
const FUNCTION_LINES: usize = 120;

#[test]
fn no_file_has_more_than_800_lines() {
    let long = sources(EVERYWHERE).into_iter().filter(|source| source.text.lines().count() > FILE_LINES);
    assert_eq!(long.map(|source| source.name).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn no_function_has_more_than_120_lines() {
    let mut long = Vec::new();
    for source in sources(EVERYWHERE) {
        let mut reader = Functions { name: &source.name, long: &mut long };
        reader.visit_file(&source.syntax());
    }
    assert_eq!(long, Vec::<String>::new());
}

struct Functions<'a> {
    name: &'a str,
    long: &'a mut Vec<String>,
}

impl Functions<'_> {
    fn measure(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let lines = body.span().end().line - signature.span().start().line + 1;
        if lines > FUNCTION_LINES {
            self.long.push(format!("{}: {} has {lines} lines", self.name, signature.ident));
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.measure(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}
