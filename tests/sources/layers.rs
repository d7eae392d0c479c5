//! Which module uses which: the layers of the crate, and the order inside the kernel.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenTree;
use syn::visit::{self, Visit};

use crate::tree::{Source, read, sources};

/// The layers of the crate from the lowest to the highest. A module uses modules of lower layers, and of its own.
const LAYERS: &[&[&str]] = &[
    &["error", "limits", "path", "sync", "units"],
    &["vfs"],
    &["kernel"],
    &["runtime"],
    &["sandbox"],
    &["backend"],
    &["provider"],
    &["wall"],
    &["worker"],
    &["mcp", "http"],
];

/// The modules of the kernel in the order in which they may use one another: each uses only those before it.
const KERNEL: &[&str] = &[
    "cpu",
    "exec",
    "memory",
    "orders",
    "policy",
    "signal",
    "transcript",
    "output",
    "pipe",
    "open_file",
    "descriptors",
    "table",
    "state",
    "job",
    "process",
    "files",
    "run",
    "wait",
    "spawn",
];

#[test]
fn a_module_uses_only_modules_of_its_own_layer_and_of_lower_ones() {
    let layer = |module: &str| LAYERS.iter().position(|layer| layer.contains(&module));
    let mut wrong = Vec::new();
    for source in host_sources() {
        let from = module_path(&source.name);
        let Some(own) = from.first() else { continue };
        let own = layer(own).unwrap_or_else(|| panic!("{} is in no layer: add it to LAYERS", source.name));
        for path in paths(&source) {
            let Some(used) = path.first().and_then(|module| layer(module)) else { continue };
            if used > own {
                wrong.push(format!("{} uses {}", source.name, path.join("::")));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn modules_of_one_layer_do_not_use_one_another() {
    // The lowest layer is a few small files that belong together; above it, two modules in a layer are strangers.
    let mut wrong = Vec::new();
    for source in host_sources() {
        let from = module_path(&source.name);
        let Some(own) = from.first() else { continue };
        let Some(layer) = LAYERS.iter().skip(1).find(|layer| layer.contains(&own.as_str())) else { continue };
        for path in paths(&source) {
            if path.first().is_some_and(|module| module != own && layer.contains(&module.as_str())) {
                wrong.push(format!("{} uses {}", source.name, path.join("::")));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_layers_are_printed_as_they_are() {
    let layers: Vec<String> = LAYERS
        .iter()
        .map(|layer| layer.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
        .collect();
    let line = layers.join(" ← ");
    for document in ["ARCHITECTURE.md", "src/lib.rs"] {
        // Line breaks and the marks of a comment aside.
        let text = read(document).replace("//!", " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&line), "{document} does not print the layers:\n{line}");
    }
}

#[test]
fn inside_the_kernel_a_module_uses_only_those_before_it() {
    let rank = |module: &str| KERNEL.iter().position(|name| *name == module);
    let exports = exports(&read("src/kernel/mod.rs"));
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in host_sources().filter(|source| source.name.starts_with("src/kernel/")) {
        let from = module_path(&source.name);
        let Some(own) = from.get(1) else { continue };
        for path in paths(&source).into_iter().filter(|path| path.first().is_some_and(|module| module == "kernel")) {
            let Some(name) = path.get(1) else { continue };
            let module = exports.get(name).unwrap_or(name);
            if module != own && (rank(module).is_some() || exports.contains_key(name)) {
                edges.entry(own.clone()).or_default().insert(module.clone());
            }
        }
        assert!(rank(own).is_some(), "src/kernel/{own}.rs has no place in the order: add it to KERNEL\n{edges:#?}");
    }
    let wrong: Vec<String> = edges
        .iter()
        .flat_map(|(from, used)| used.iter().map(move |module| (from, module)))
        .filter(|(from, module)| rank(module) >= rank(from))
        .map(|(from, module)| format!("{from} uses {module}"))
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

/// The sources of the library, without its command line and its tests.
fn host_sources() -> impl Iterator<Item = Source> {
    let skipped = |name: &str| name.starts_with("src/cli/") || name.contains("/tests") || name == "src/main.rs";
    sources(&["src"]).into_iter().filter(move |source| !skipped(&source.name))
}

/// `src/a/b.rs` and `src/a/b/mod.rs` are the module `a::b`.
fn module_path(file: &str) -> Vec<String> {
    let path = file.strip_prefix("src/").unwrap().strip_suffix(".rs").unwrap();
    let mut path: Vec<String> = path.split('/').map(str::to_owned).collect();
    if path.last().is_some_and(|last| last == "mod" || last == "lib") {
        path.pop();
    }
    path
}

/// The names that a module file re-exports, each with the submodule that it comes from.
fn exports(text: &str) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for item in syn::parse_file(text).unwrap().items {
        let syn::Item::Use(item) = item else { continue };
        if matches!(item.vis, syn::Visibility::Inherited) {
            continue;
        }
        let mut leaves = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut leaves);
        for leaf in leaves {
            if let [module, .., name] = leaf.as_slice() {
                exports.insert(name.clone(), module.clone());
            }
        }
    }
    exports
}

/// The paths into this crate that a file uses, from the crate's root on.
fn paths(source: &Source) -> Vec<Vec<String>> {
    let mut reader = Reader { module: module_path(&source.name), paths: Vec::new() };
    reader.visit_file(&source.syntax());
    reader.paths
}

struct Reader {
    module: Vec<String>,
    paths: Vec<Vec<String>>,
}

impl Reader {
    fn add(&mut self, path: &[String]) {
        let mut base = self.module.clone();
        let mut rest = path;
        match path.first().map(String::as_str) {
            Some("crate") => base.clear(),
            Some("self") => {}
            Some("super") => {
                while rest.first().is_some_and(|word| word == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
                self.paths.push([base, rest.to_vec()].concat());
                return;
            }
            _ => return,
        }
        self.paths.push([base, rest[1..].to_vec()].concat());
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_test = item.attrs.iter().any(|attribute| {
            attribute.path().is_ident("cfg")
                && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
        });
        if !is_test {
            self.module.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut leaves = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut leaves);
        leaves.iter().for_each(|leaf| self.add(leaf));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add(&words);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        // A macro's arguments are tokens and not syntax: `crate :: name` is enough to see an edge.
        scan(call.tokens.clone().into_iter().collect(), &mut |words| self.add(words));
    }
}

/// Calls `found` with each `crate::a::b` or `super::a` among tokens.
fn scan(tokens: Vec<TokenTree>, found: &mut impl FnMut(&[String])) {
    let mut path: Vec<String> = Vec::new();
    let mut colons = 0;
    for token in tokens {
        match token {
            TokenTree::Ident(word) if path.is_empty() || colons == 2 => {
                path.push(word.to_string());
                colons = 0;
                continue;
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' => {
                colons += 1;
                continue;
            }
            TokenTree::Group(group) => scan(group.stream().into_iter().collect(), found),
            TokenTree::Ident(word) => {
                found(&path);
                (path, colons) = (vec![word.to_string()], 0);
                continue;
            }
            _ => {}
        }
        found(&path);
        (path, colons) = (Vec::new(), 0);
    }
    found(&path);
}

/// Lists the full paths of a tree of imports.
fn flatten(tree: &syn::UseTree, prefix: &mut Vec<String>, leaves: &mut Vec<Vec<String>>) {
    match tree {
        syn::UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            flatten(&path.tree, prefix, leaves);
            prefix.pop();
        }
        syn::UseTree::Group(group) => group.items.iter().for_each(|item| flatten(item, prefix, leaves)),
        syn::UseTree::Name(name) if name.ident == "self" => leaves.push(prefix.clone()),
        syn::UseTree::Name(name) => leaves.push([prefix.clone(), vec![name.ident.to_string()]].concat()),
        syn::UseTree::Rename(rename) => leaves.push([prefix.clone(), vec![rename.ident.to_string()]].concat()),
        syn::UseTree::Glob(_) => leaves.push(prefix.clone()),
    }
}
