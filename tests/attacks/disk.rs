//! Disk: quotas are exact, and refusals lose nothing.

use std::fs;
use std::time::Duration;

use isopod::Limit;
use isopod::error::Errno;

use crate::Attack;
use crate::arena::{Arena, text};

pub const ATTACKS: &[Attack] = &[
    ("attack_38_filling_the_disk_ends_at_the_quota", |a| {
        a.limit(|limits| limits.disk = 4 << 20);
        for place in ["/tmp", "/workspace"] {
            let fill =
                format!("dd if=/dev/zero of={place}/f bs=64k count=1000 2>/dev/null; echo x > {place}/g; rm {place}/*");
            let output = a.hits(&fill, Limit::Disk);
            assert!(text(&output).contains("No space left on device"), "{}", text(&output));
        }
        a.run("yes > full");
        let size = fs::metadata(a.host("full")).unwrap().len();
        assert!(size <= 4 << 20, "{size} bytes on the host");
    }),
    ("attack_39_names_without_end_end_at_the_quota", |a| {
        a.limit(|limits| limits.inodes = 300);
        for place in ["/tmp", "/workspace"] {
            a.hits(&format!("cd {place}; i=0; while : > f$i; do i=$((i+1)); done"), Limit::Inodes);
            a.hits(&format!("cd {place}; i=0; while mkdir d$i && ln -s x l$i; do i=$((i+1)); done"), Limit::Inodes);
            a.run(format!("rm -r {place}/*").as_str());
        }
        assert!(fs::read_dir(a.host("")).unwrap().count() < 300);
    }),
    ("attack_40_a_file_of_a_petabyte_is_too_large", |a| {
        for place in ["/tmp", "/workspace"] {
            a.refuses(&format!("truncate -s 1P {place}/f"), "File too large");
            a.refuses(&format!("dd if=/dev/zero of={place}/f bs=1 count=1 seek=1P"), "File too large");
        }
        a.prints("hostile numbers; hostile wasi-numbers", "refused\nrefused\n");
    }),
    ("attack_41_an_append_loop_stops_at_the_block", |a| {
        a.limit(|limits| limits.disk = 1 << 20);
        a.hits("x=$(printf %05000d 0); while printf %s $x >> f; do :; done 2>/dev/null", Limit::Disk);
        let size = fs::metadata(a.host("f")).unwrap().len();
        assert!(size <= 1 << 20 && size > (1 << 20) - (64 << 10), "{size}");
    }),
    ("attack_42_what_has_no_name_any_more_is_still_charged", |a| {
        a.limit(|limits| limits.disk = 1 << 20);
        for place in ["/tmp", "/workspace"] {
            let command =
                format!("cd {place}; exec 3> f; head -c 700000 /dev/zero >&3; rm f; head -c 700000 /dev/zero > g");
            a.hits(&command, Limit::Disk);
            a.prints(
                format!("cd {place}; rm -f g; head -c 700000 /dev/zero > g; wc -c < g; rm g").as_str(),
                "700000\n",
            );
        }
    }),
    ("attack_43_parallel_writers_never_exceed_the_quota_together", |a| {
        a.limit(|limits| limits.disk = 2 << 20);
        a.hits("for i in {1..16}; do head -c 300000 /dev/zero > w$i & done 2>/dev/null; wait", Limit::Disk);
        let sizes = fs::read_dir(a.host("")).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
        let sum: u64 = sizes.sum();
        assert!(sum <= 2 << 20, "{sum}");
    }),
    ("attack_44_renaming_over_a_file_gives_back_what_it_held", |a| {
        a.limit(|limits| limits.disk = 1 << 20);
        for place in ["/tmp", "/workspace"] {
            let again = "for i in {1..20}; do head -c 600000 /dev/zero > a; echo x > b; mv b a; done; head -c 900000 /dev/zero > c";
            a.prints(format!("cd {place}; {again}; wc -c < c; rm a c").as_str(), "900000\n");
        }
    }),
    ("attack_45_a_bomb_is_stopped_and_its_part_removed", bombs),
    ("attack_46_no_entry_of_an_archive_is_written_elsewhere", entries_that_lead_elsewhere),
    ("attack_47_a_tree_is_not_copied_into_itself", |a| {
        a.refuses("mkdir d; cp -r d d/e", "into itself");
        a.refuses("mv d d/e", "subdirectory of itself");
        a.run("cp -r /workspace /workspace/x; tar -cf d/t.tar d; zip -qr d/z.zip d; rm d/*; true");
        // Links that lead back are followed forty times, as on Linux. The command ends by itself or by its timeout.
        a.run_for("ln -s .. d/up; cp -rL d /tmp/copy; tar -chf d/u.tar d; true", Duration::from_secs(2));
    }),
    ("attack_48_a_tree_of_ten_thousand_levels_is_refused_and_what_is_there_can_be_removed", |a| {
        for place in ["/tmp", "/workspace"] {
            let deep = "i=0; while mkdir d && cd d; do i=$((i+1)); done 2>/dev/null; [ $i -lt 300 ] && [ $i -gt 100 ]; echo $?";
            a.prints(format!("cd {place}; {deep}").as_str(), "0\n");
            a.prints(format!("cd {place}; find . | wc -l > /dev/null; du -s . > /dev/null; rm -r d; ls").as_str(), "");
        }
        a.refuses("mkdir -p $(printf 'd/%.0s' {1..10000})", "File name too long");
    }),
    ("attack_49_a_write_that_is_refused_leaves_the_old_content", |a| {
        a.limit(|limits| limits.disk = 1 << 20);
        let sandbox = a.sandbox();
        for path in ["/tmp/f", "/workspace/f"] {
            sandbox.fs().write(path, "old").unwrap();
            let errno = sandbox.fs().write(path, vec![0; 2 << 20]).unwrap_err().errno;
            assert!(matches!(errno, Errno::NoSpace | Errno::FileTooLarge), "{errno:?}");
            assert_eq!(sandbox.fs().read(path).unwrap(), b"old");
        }
    }),
];

fn bombs(a: &mut Arena) {
    // Memory for the compressors; xz needs most.
    a.limit(|limits| (limits.file, limits.process_memory, limits.sandbox_memory) = (4 << 20, 200 << 20, 256 << 20));
    let make = "head -c 3000000 /dev/zero > f; cat f f f f | gzip > b.gz; cat f f f f | bzip2 > b.bz2; cat f f f f | xz > b.xz; rm f";
    a.prints(make, "");
    for unpack in ["gunzip b.gz", "bunzip2 b.bz2", "unxz b.xz", "gunzip -k b.gz"] {
        let output = a.hits(&format!("{unpack}; echo $?; ls"), Limit::File);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1\nb.bz2\nb.gz\nb.xz\n");
    }
    a.run("rm b.*; for i in 1 2 3 4 5; do head -c 3000000 /dev/zero > f$i; done; tar -czf b.tgz f?; zip -q b.zip f?; rm f?");
    a.limit(|limits| limits.disk = 8 << 20);
    for unpack in ["tar -xzf b.tgz", "unzip -q b.zip"] {
        let output = a.hits(&format!("{unpack}; [ $? -gt 0 ] && echo failed; rm -f f?"), Limit::Disk);
        assert_eq!(output.stdout, b"failed\n", "{unpack}");
    }
}

fn entries_that_lead_elsewhere(a: &mut Arena) {
    let evil = "mkdir -p make/in out; cd make/in; echo evil > ../up; echo evil > /tmp/absolute; ln -s /tmp link
        tar -P -cf ../../dots.tar ../up; tar -P -cf ../../absolute.tar /tmp/absolute
        tar -cf ../../link.tar link; rm link; mkdir link; echo evil > link/planted; tar -rf ../../link.tar link/planted
        cd ../..; rm -r make /tmp/absolute; echo safe > safe";
    assert_eq!(a.run(evil).exit_code, 0);
    for archive in ["dots", "absolute", "link"] {
        a.run(format!("cd out; tar -xf ../{archive}.tar 2>/dev/null; rm -rf ./*").as_str());
        a.prints("ls /tmp; ls; cat safe", "absolute.tar\ndots.tar\nlink.tar\nout\nsafe\nsafe\n");
    }
}
