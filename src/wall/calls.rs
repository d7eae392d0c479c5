//! System calls: a seccomp filter that refuses calls which a host never needs once it has started.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

use super::Wall;

/// Calls that fail with EPERM, whatever their arguments.
const NEVER: &[i64] = &[
    // Other processes: their memory, their descriptors, their activity.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_perf_event_open,
    // File systems and ways to files without a path.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    // Namespaces, users, capabilities.
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setfsuid,
    libc::SYS_setfsgid,
    libc::SYS_setgroups,
    libc::SYS_capset,
    libc::SYS_personality,
    // The kernel and the machine.
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Calls that start another program or process.
const PROCESSES: &[i64] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
];

/// Calls that fail with ENOSYS, so that libraries use other calls. The arguments of `clone3` are in memory, where a
/// filter cannot see them, so threads have to use `clone`. A filter sees no operation of io_uring at all.
const ABSENT: &[i64] =
    &[libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// The types of sockets other than streams and datagrams. The last is SOCK_PACKET, an obsolete type that sees every
/// packet.
const RARE_SOCKETS: [i32; 5] = [libc::SOCK_RAW, libc::SOCK_RDM, libc::SOCK_SEQPACKET, libc::SOCK_DCCP, 10];
/// The bits of a socket's type that are not flags.
const SOCKET_TYPE: u64 = 0xf;

const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Requests that insert input into a terminal or change its mode: another program on the terminal would read that
/// input.
const TERMINAL: [u64; 3] = [libc::TIOCSTI, libc::TIOCLINUX, libc::TIOCSETD];

/// The refused calls by number: refused if one of the rules matches, or always if there are no rules.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Checks that the machine's kernel has filters that return an error. The error is the reason why it has not.
#[allow(clippy::disallowed_methods, reason = "asks the host's kernel")]
pub(super) fn check() -> Result<(), String> {
    match std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail") {
        Ok(actions) if actions.split_whitespace().any(|action| action == "errno") => Ok(()),
        _ => Err("the kernel has no seccomp filters".to_owned()),
    }
}

/// Installs the filters for this thread and all that it starts.
pub(super) fn raise(wall: &Wall) -> Result<(), String> {
    let refused = refused(wall).map_err(|error| error.to_string())?;
    let absent = ABSENT.iter().map(|call| (*call, Vec::new())).collect();
    for (rules, errno) in [(refused, libc::EPERM), (absent, libc::ENOSYS)] {
        let program = program(rules, errno).map_err(|error| error.to_string())?;
        apply_filter(&program).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn program(mut rules: Rules, errno: i32) -> Result<BpfProgram, BackendError> {
    if cfg!(target_arch = "x86_64") {
        also_for_x32(&mut rules);
    }
    let arch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno as u32), arch)?.try_into()
}

/// Refuses the x32 numbers of the same calls. On x86-64 each call has a second number, for the x32 ABI. No program of
/// ours uses it, and a filter that leaves it out can be bypassed.
fn also_for_x32(rules: &mut Rules) {
    const X32: i64 = 0x4000_0000;
    // Numbers that only the x32 ABI has.
    const OWN: std::ops::RangeInclusive<i64> = 512..=547;
    let second: Vec<i64> = rules.keys().copied().chain(OWN).map(|call| call | X32).collect();
    rules.extend(second.into_iter().map(|call| (call, Vec::new())));
}

fn refused(wall: &Wall) -> Result<Rules, BackendError> {
    let mut rules: Rules = NEVER.iter().map(|call| (*call, Vec::new())).collect();
    let mut clones = NAMESPACES.map(|flag| vec![bits(0, flag as u64, flag as u64)]).to_vec();
    if !wall.exec {
        rules.extend(PROCESSES.iter().map(|call| (*call, Vec::new())));
        // A clone that is not a thread is a process.
        clones.push(vec![bits(0, libc::CLONE_THREAD as u64, 0)]);
    }
    rules.insert(libc::SYS_clone, any(clones)?);
    rules.insert(libc::SYS_ioctl, any(TERMINAL.map(|request| vec![is(1, request)]).to_vec())?);
    sockets(wall, &mut rules)?;
    Ok(rules)
}

/// Adds the rules for sockets: none at all, or only TCP, whose ports Landlock restricts.
fn sockets(wall: &Wall, rules: &mut Rules) -> Result<(), BackendError> {
    // A pair of streams reaches no other process. A datagram socket can be connected to another.
    rules.insert(libc::SYS_socketpair, any(vec![vec![kind(libc::SOCK_DGRAM)]])?);
    if wall.connect.is_empty() {
        rules.insert(libc::SYS_connect, Vec::new());
        // TCP Fast Open connects by sending.
        let fast = libc::MSG_FASTOPEN as u64;
        rules.insert(libc::SYS_sendto, any(vec![vec![is_not(4, 0)], vec![bits(3, fast, fast)]])?);
        rules.insert(libc::SYS_sendmsg, any(vec![vec![bits(2, fast, fast)]])?);
        rules.insert(libc::SYS_sendmmsg, any(vec![vec![bits(3, fast, fast)]])?);
    }
    if wall.connect.is_empty() && wall.bind.is_empty() {
        rules.insert(libc::SYS_socket, Vec::new());
        return Ok(());
    }
    let mut refused: Vec<_> = RARE_SOCKETS.map(|it| vec![kind(it)]).to_vec();
    refused.push(vec![is_not(0, libc::AF_INET as u64), is_not(0, libc::AF_INET6 as u64)]);
    let (tcp, udp) = (libc::IPPROTO_TCP as u64, libc::IPPROTO_UDP as u64);
    if wall.connect.is_empty() {
        refused.push(vec![kind(libc::SOCK_DGRAM)]);
        refused.push(vec![is_not(2, 0), is_not(2, tcp)]);
    } else {
        // Landlock does not see the ports of MPTCP and SCTP.
        refused.push(vec![is_not(2, 0), is_not(2, tcp), is_not(2, udp)]);
    }
    rules.insert(libc::SYS_socket, any(refused)?);
    Ok(())
}

/// A comparison of an argument: its index, the operator, the value.
type Comparison = (u8, SeccompCmpOp, u64);

fn is(argument: u8, value: u64) -> Comparison {
    (argument, SeccompCmpOp::Eq, value)
}

fn is_not(argument: u8, value: u64) -> Comparison {
    (argument, SeccompCmpOp::Ne, value)
}

fn bits(argument: u8, mask: u64, value: u64) -> Comparison {
    (argument, SeccompCmpOp::MaskedEq(mask), value)
}

/// Compares the type of a socket.
fn kind(kind: i32) -> Comparison {
    bits(1, SOCKET_TYPE, kind as u64)
}

/// Makes a rule for each case. A call is refused if all comparisons of one case hold.
fn any(cases: Vec<Vec<Comparison>>) -> Result<Vec<SeccompRule>, BackendError> {
    let condition = |(argument, how, value)| {
        // Argument 4 is an address and takes 64 bits. All others are a C int, whose upper half is undefined.
        let length = if argument == 4 { SeccompCmpArgLen::Qword } else { SeccompCmpArgLen::Dword };
        SeccompCondition::new(argument, length, how, value)
    };
    cases.into_iter().map(|case| SeccompRule::new(case.into_iter().map(condition).collect::<Result<_, _>>()?)).collect()
}
