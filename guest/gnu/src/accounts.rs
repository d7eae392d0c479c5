//! The user of a process, and the names of users and groups.
//!
//! The kernel has no users: there is one, and its number is fixed. Names come from the sandbox's own
//! `/etc/passwd` and `/etc/group`.

use crate::output::read_file;

/// The user that everything in a sandbox runs as.
pub const USER: u32 = 1000;
/// That user's group.
pub const GROUP: u32 = 1000;

/// A guest can write these files: reading stops where no honest one reaches.
const MOST: usize = 1 << 20;

/// A user of `/etc/passwd`.
pub struct User {
    /// Its name.
    pub name: String,
    /// Its number.
    pub uid: u32,
    /// Its first group.
    pub gid: u32,
}

/// A group of `/etc/group`.
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its number.
    pub gid: u32,
    /// The names of users in it.
    pub members: Vec<String>,
}

/// All users.
pub fn users() -> Vec<User> {
    entries("/etc/passwd", |fields| {
        Some(User {
            name: fields.first()?.to_string(),
            uid: fields.get(2)?.parse().ok()?,
            gid: fields.get(3)?.parse().ok()?,
        })
    })
}

/// All groups.
pub fn groups() -> Vec<Group> {
    entries("/etc/group", |fields| {
        Some(Group {
            name: fields.first()?.to_string(),
            gid: fields.get(2)?.parse().ok()?,
            members: fields.get(3).map(|list| list.split(',').map(str::to_owned).collect()).unwrap_or_default(),
        })
    })
}

/// The name of a user.
pub fn user_name(uid: u32) -> Option<String> {
    users().into_iter().find(|user| user.uid == uid).map(|user| user.name)
}

/// The name of a group.
pub fn group_name(gid: u32) -> Option<String> {
    groups().into_iter().find(|group| group.gid == gid).map(|group| group.name)
}

/// The groups of a user, its first one first.
pub fn groups_of(name: &str, first: u32) -> Vec<u32> {
    let mut all = vec![first];
    for group in groups() {
        if group.gid != first && group.members.iter().any(|member| member == name) {
            all.push(group.gid);
        }
    }
    all
}

fn entries<T>(path: &str, read: impl Fn(&[&str]) -> Option<T>) -> Vec<T> {
    let bytes = read_file(path, MOST).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.lines().filter_map(|line| read(&line.split(':').collect::<Vec<_>>())).collect()
}
