//! The files below the starting directories.

use std::cmp::Ordering;

use isopod_gnu::version;
use isopod_sys::files::{self, Attributes, Kind};
use isopod_sys::{Errno, fs};

use super::settings::{Order, Settings};

/// A file. Nodes are numbers in a list and not nested boxes, so that a deep tree needs no deep stack.
pub(super) struct Node {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) attributes: Option<Attributes>,
    /// The target of a symbolic link, and its type if it exists.
    pub(super) target: Option<(String, Option<Kind>)>,
    pub(super) children: Vec<usize>,
    /// The reason why a directory is not entered.
    pub(super) remark: Option<String>,
    /// The size, with all below it if sums are wanted.
    pub(super) size: u64,
    parent: Option<usize>,
    depth: usize,
}

/// All nodes, and the numbers of the roots.
pub(super) struct Forest {
    pub(super) nodes: Vec<Node>,
    pub(super) roots: Vec<usize>,
    /// True if a root does not exist.
    pub(super) has_missing: bool,
}

impl Node {
    /// Returns true for a directory or a link to one.
    pub(super) fn is_directory(&self) -> bool {
        self.kind() == Some(Kind::Directory)
    }

    /// Returns the type, which is that of the target for a link.
    pub(super) fn kind(&self) -> Option<Kind> {
        match &self.target {
            Some((_, kind)) => *kind,
            None => self.attributes.as_ref().map(|found| found.kind),
        }
    }
}

impl Forest {
    /// Reads all trees.
    pub(super) fn grow(roots: &[&str], settings: &Settings) -> Forest {
        let mut forest = Forest { nodes: Vec::new(), roots: Vec::new(), has_missing: false };
        for root in roots {
            let attributes = files::stat(root, true).ok();
            forest.has_missing |= attributes.is_none();
            let is_directory = attributes.as_ref().is_some_and(|found| found.kind == Kind::Directory);
            let trimmed = isopod_gnu::path::trim_slashes(root).to_owned();
            let number = forest.nodes.len();
            forest.nodes.push(Node {
                name: if settings.full_paths { trimmed.clone() } else { (*root).to_owned() },
                path: trimmed,
                size: attributes.as_ref().map_or(0, |found| found.size),
                attributes,
                target: None,
                children: Vec::new(),
                remark: (!is_directory).then(|| "error opening dir".to_owned()),
                parent: None,
                depth: 0,
            });
            forest.roots.push(number);
            if is_directory {
                forest.grow_from(number, settings);
            }
        }
        if settings.prunes {
            forest.prune();
        }
        if settings.sums {
            forest.add_sizes();
        }
        forest
    }

    fn grow_from(&mut self, root: usize, settings: &Settings) {
        let mut pending = vec![root];
        while let Some(parent) = pending.pop() {
            match self.read(parent, settings) {
                Ok(children) if children.len() > settings.file_limit => {
                    let count = children.len();
                    self.nodes[parent].remark = Some(format!("{count} entries exceeds filelimit, not opening dir"));
                }
                Ok(children) => {
                    let first = self.nodes.len();
                    self.nodes.extend(children);
                    self.nodes[parent].children = (first..self.nodes.len()).collect();
                    let enters = |number: &usize| self.enters(*number, root, settings);
                    pending.extend((first..self.nodes.len()).filter(enters));
                }
                Err(_) => self.nodes[parent].remark = Some("error opening dir".to_owned()),
            }
        }
    }

    fn read(&mut self, parent: usize, settings: &Settings) -> Result<Vec<Node>, Errno> {
        let (directory, depth) = (self.nodes[parent].path.clone(), self.nodes[parent].depth + 1);
        let mut children = Vec::new();
        for entry in fs::entries(&directory)? {
            if entry.name.starts_with('.') && !settings.all {
                continue;
            }
            let path = isopod_gnu::path::join(&directory, &entry.name);
            let attributes = files::stat(&path, false).ok();
            let target = (entry.kind == Kind::Symlink).then(|| {
                let target = fs::read_link(&path).unwrap_or_default();
                (target, files::stat(&path, true).ok().map(|found| found.kind))
            });
            let size = attributes.as_ref().map_or(0, |found| found.size);
            let node = Node {
                name: entry.name,
                path,
                attributes,
                target,
                children: Vec::new(),
                remark: None,
                size,
                parent: Some(parent),
                depth,
            };
            if is_shown(&node, settings) {
                children.push(node);
            }
        }
        children.sort_by(|a, b| compare(a, b, settings));
        Ok(children)
    }

    /// Returns true if the directory of a node is read.
    fn enters(&self, number: usize, root: usize, settings: &Settings) -> bool {
        let node = &self.nodes[number];
        let is_link = node.target.is_some();
        if !node.is_directory() || node.depth >= settings.levels || is_link && !settings.follows {
            return false;
        }
        let Ok(found) = files::stat(&node.path, true) else {
            return false;
        };
        let device = self.nodes[root].attributes.as_ref().map(|root| root.device);
        if settings.one_device && Some(found.device) != device {
            return false;
        }
        // Only links can lead back up.
        let mut ancestor = node.parent.filter(|_| settings.follows);
        while let Some(above) = ancestor.map(|number| &self.nodes[number]) {
            if files::stat(&above.path, true).is_ok_and(|up| (up.device, up.inode) == (found.device, found.inode)) {
                return false;
            }
            ancestor = above.parent;
        }
        true
    }

    /// Removes directories with nothing in them. Children have greater numbers than their parents.
    fn prune(&mut self) {
        for number in (0..self.nodes.len()).rev() {
            let children = std::mem::take(&mut self.nodes[number].children);
            let is_kept = |child: &usize| {
                let node = &self.nodes[*child];
                !node.is_directory() || node.target.is_some() || !node.children.is_empty()
            };
            self.nodes[number].children = children.into_iter().filter(is_kept).collect();
        }
    }

    fn add_sizes(&mut self) {
        for number in (0..self.nodes.len()).rev() {
            let below: u64 = self.nodes[number].children.iter().map(|child| self.nodes[*child].size).sum();
            self.nodes[number].size += below;
        }
    }

    /// Returns the number of directories and of files in the drawing.
    pub(super) fn count(&self) -> (usize, usize) {
        let (mut directories, mut files) = (0, 0);
        let mut pending = self.roots.clone();
        while let Some(number) = pending.pop() {
            let node = &self.nodes[number];
            let is_root = node.parent.is_none();
            // A root with nothing to show does not count, and a root that is not a directory is a file.
            if !is_root && node.is_directory() || is_root && (!node.children.is_empty() || is_limited(node)) {
                directories += 1;
            } else if !node.is_directory() && node.attributes.is_some() {
                files += 1;
            }
            pending.extend(&node.children);
        }
        (directories, files)
    }
}

fn is_limited(node: &Node) -> bool {
    node.is_directory() && node.remark.is_some()
}

fn is_shown(node: &Node, settings: &Settings) -> bool {
    let is_directory = node.is_directory();
    if settings.directories_only && !is_directory {
        return false;
    }
    if settings.not.iter().any(|pattern| pattern.matches(&node.name)) {
        return false;
    }
    // Patterns choose files: a directory is shown for the files that may be in it.
    let is_real_directory = is_directory && (node.target.is_none() || settings.follows);
    is_real_directory || settings.only.is_empty() || settings.only.iter().any(|pattern| pattern.matches(&node.name))
}

fn compare(a: &Node, b: &Node, settings: &Settings) -> Ordering {
    if let Some(directories_first) = settings.directories_first {
        let order = b.is_directory().cmp(&a.is_directory());
        if order != Ordering::Equal {
            return if directories_first { order } else { order.reverse() };
        }
    }
    let seconds = |node: &Node, time: fn(&Attributes) -> u64| node.attributes.as_ref().map_or(0, time) / 1_000_000_000;
    let by_name = || a.name.cmp(&b.name);
    let order = match settings.order {
        Order::None => return Ordering::Equal,
        Order::Name => by_name(),
        Order::Version => version::compare(a.name.as_bytes(), b.name.as_bytes()),
        Order::Size => b.size.cmp(&a.size).then_with(by_name),
        Order::Modified => {
            seconds(a, |found| found.modified).cmp(&seconds(b, |found| found.modified)).then_with(by_name)
        }
        Order::Changed => seconds(a, |found| found.changed).cmp(&seconds(b, |found| found.changed)).then_with(by_name),
    };
    if settings.reversed { order.reverse() } else { order }
}
