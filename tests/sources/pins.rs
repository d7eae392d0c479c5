//! The dependencies.

use crate::tree::read;

#[test]
fn every_dependency_is_pinned_by_its_digest_and_comes_from_one_registry() {
    let lock: toml::Table = toml::from_str(&read("Cargo.lock")).unwrap();
    let packages = lock["package"].as_array().unwrap();
    let sources: Vec<(&str, &str)> = packages
        .iter()
        .filter_map(|package| Some((package["name"].as_str().unwrap(), package.get("source")?.as_str().unwrap())))
        .collect();
    assert!(sources.len() > 100);
    for (name, source) in &sources {
        assert!(source.starts_with("registry+") && *source == sources[0].1, "{name} comes from {source}");
    }
    // A package without a source is a member of this workspace.
    for package in packages.iter().filter(|package| package.get("source").is_some()) {
        assert_eq!(package["checksum"].as_str().map(str::len), Some(64), "{package:?}");
    }
}
