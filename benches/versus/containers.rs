//! Containers: docker through its client, podman with a root directory of its own, and the low-level runtimes on a
//! bundle. Images contain only busybox; nothing is pulled.

#![allow(clippy::disallowed_methods, reason = "the host's side of the comparison")]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::programs::{Program, says};

pub const DOCKER_RUN: &str = "docker run";
pub const DOCKER_EXEC: &str = "docker exec";

/// A container that runs as long as this value lives, with the files in /workspace.
pub struct Container {
    pub name: String,
}

impl Container {
    pub fn start(image: &str, directory: &Path) -> Result<Container, String> {
        if says(&["docker", "--version"]).is_none() {
            return Err("it is not installed".to_owned());
        }
        let name = format!("isopod-versus-{}", std::process::id());
        let run = ["run", "--detach", "--rm", "--network", "none", "--name", &name, "--volume"];
        let volume = format!("{}:/workspace:ro", directory.display());
        let mut command = Command::new("docker");
        command.args(run).args([&volume, image, "/bin/sleep", "1000000"]).stdin(Stdio::null());
        let output = command.output().map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(Container { name });
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing").to_owned())
    }

    /// Returns the memory of the container alone: its process and its shim.
    pub fn bytes(&self) -> Option<u64> {
        let pid = says(&["docker", "inspect", "--format", "{{.State.Pid}}", &self.name])?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let shim = stat.rsplit(')').next()?.split_whitespace().nth(1)?.to_owned();
        Some(proportional_bytes(&pid)? + proportional_bytes(&shim)?)
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = says(&["docker", "rm", "--force", &self.name]);
    }
}

/// Returns the proportional set size of a process.
pub fn proportional_bytes(pid: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let kib = text.lines().find_map(|line| line.strip_prefix("Pss:"))?.split_whitespace().next()?;
    Some(kib.parse::<u64>().ok()? << 10)
}

pub fn docker_run(image: &str, directory: &Path) -> Program {
    let volume = format!("{}:/workspace:ro", directory.display());
    let argv = ["docker", "run", "--rm", "--network", "none", "--env", "LC_ALL=C", "--volume", &volume, "--workdir"];
    Program::new(DOCKER_RUN, argv.into_iter().chain(["/workspace", image, "/bin/sh", "-c"]), directory)
}

pub fn docker_exec(container: &Container, directory: &Path) -> Program {
    let argv = ["docker", "exec", "--env", "LC_ALL=C", "--workdir", "/workspace", &container.name, "/bin/sh", "-c"];
    Program::new(DOCKER_EXEC, argv, directory)
}

/// A root file system of busybox with a bundle, for runtimes without a daemon.
pub struct Bundle {
    place: PathBuf,
}

impl Bundle {
    pub fn make(place: &Path) -> Result<Bundle, String> {
        let busybox = says(&["sh", "-c", "command -v busybox"]).ok_or("there is no busybox to make a root of")?;
        let names = says(&["busybox", "--list"]).ok_or("there is no busybox to make a root of")?;
        let fill = || -> std::io::Result<()> {
            for directory in ["root/bin", "root/proc", "root/dev", "root/sys", "root/tmp", "root/workspace"] {
                std::fs::create_dir_all(place.join(directory))?;
            }
            std::fs::copy(busybox, place.join("root/bin/busybox"))?;
            for name in names.lines().filter(|name| *name != "busybox") {
                symlink("busybox", place.join("root/bin").join(name))?;
            }
            Ok(())
        };
        fill().map_err(|error| error.to_string())?;
        if says(&["sh", "-c", &format!("echo 'echo hi' | {}/root/bin/busybox sh", place.display())]).is_none() {
            return Err("busybox is not linked statically: take busybox-static".to_owned());
        }
        Ok(Bundle { place: place.to_owned() })
    }

    /// Returns podman with its own rootfs and storage. The limits are explicit because podman may not raise them
    /// everywhere.
    pub fn podman(&self) -> Program {
        let at = |name: &str| self.place.join(name).display().to_string();
        let (storage, state, root) = (at("podman"), at("podman-state"), at("root"));
        let argv = ["podman", "--root", &storage, "--runroot", &state, "--storage-driver", "vfs", "--runtime", "runc"];
        let run = ["--cgroup-manager", "cgroupfs", "run", "--rm", "--network", "none", "--ulimit", "nofile=1024:1024"];
        let rest = ["--ulimit", "nproc=1000:1000", "--rootfs", &root, "/bin/sh", "-c"];
        Program::new("podman run", argv.into_iter().chain(run).chain(rest), &self.place)
    }

    /// Returns runc or crun without a manager. The script is part of the bundle and is always `echo hi`.
    pub fn runtime(&self, runtime: &str) -> Result<Program, String> {
        let bundle = self.place.join(runtime);
        std::fs::create_dir_all(&bundle).map_err(|error| error.to_string())?;
        let made = Command::new(runtime).arg("spec").current_dir(&bundle).output();
        if !made.is_ok_and(|output| output.status.success()) {
            return Err("it is not installed".to_owned());
        }
        let file = bundle.join("config.json");
        let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        let mut config: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        config["process"]["terminal"] = false.into();
        config["process"]["args"] = json!(["/bin/sh", "-c", "echo hi"]);
        config["root"]["path"] = self.place.join("root").display().to_string().into();
        std::fs::write(&file, config.to_string()).map_err(|error| error.to_string())?;
        let state = bundle.join("state").display().to_string();
        let id = format!("isopod-versus-{}", std::process::id());
        let mut argv = vec![runtime.to_owned(), "--root".to_owned(), state];
        if runtime == "crun" {
            // crun does not know the hybrid form of control groups that some machines have.
            argv.push("--cgroup-manager=disabled".to_owned());
        }
        argv.extend(["run".to_owned(), "--bundle".to_owned(), bundle.display().to_string(), id]);
        let program = Program::new(&format!("{runtime} run"), argv, &bundle).fixed();
        program.probe().map(|()| program)
    }
}

/// Returns the usable programs, and adds the reasons why the others are not.
pub fn without_daemon(place: &Path, left_out: &mut Vec<(String, String)>) -> Vec<Program> {
    let bundle = match Bundle::make(place) {
        Ok(bundle) => bundle,
        Err(why) => {
            left_out.push(("podman, runc, crun".to_owned(), why));
            return Vec::new();
        }
    };
    let podman = bundle.podman();
    let found = [
        ("podman", podman.probe().map(|()| podman)),
        ("runc", bundle.runtime("runc")),
        ("crun", bundle.runtime("crun")),
    ];
    let mut programs = Vec::new();
    for (name, program) in found {
        match program {
            Ok(program) => programs.push(program),
            Err(why) => left_out.push((name.to_owned(), why)),
        }
    }
    programs
}
