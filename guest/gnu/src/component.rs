//! The `main` of a component.

/// Defines `main` for a component with these programs, a `&[&Program]` sorted by name, and the test that holds
/// `programs.txt` to it. That file lists the names for the host's build, which compiles no guest code.
#[macro_export]
macro_rules! component {
    ($programs:expr) => {
        fn main() {
            $crate::program::main_of($programs)
        }

        #[cfg(test)]
        mod component_tests {
            #[allow(unused_imports, reason = "programs are named by a path or by a constant of the crate's root")]
            use super::*;

            #[test]
            fn list_for_the_host_names_these_programs() {
                let listed: Vec<&str> =
                    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/programs.txt")).lines().collect();
                let names: Vec<&str> = $programs.iter().map(|program| program.name).collect();
                assert_eq!(names, listed);
                assert!(names.is_sorted());
            }
        }
    };
}
