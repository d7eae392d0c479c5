//! Archives that mean harm: bombs, and entries that lead elsewhere.

use crate::support::{directory, limited, run_in, sandbox};

#[test]
fn attack_45_a_bomb_is_stopped_and_its_part_removed() {
    let sandbox = limited(|limits| limits.file = 4 << 20);
    run_in(&sandbox, "head -c 3000000 /dev/zero > f; cat f f f f | gzip > b.gz; cat f f f f | bzip2 > b.bz2; cat f f f f | xz > b.xz; rm f").prints("");
    for unpack in ["gunzip b.gz", "bunzip2 b.bz2", "unxz b.xz", "gunzip -k b.gz"] {
        run_in(&sandbox, format!("{unpack}; echo $?; ls"))
            .stdout("1\nb.bz2\nb.gz\nb.xz\n")
            .stderr_has("limit exceeded: file size");
    }
    // One file of each kind in an archive, larger than any may be.
    let sandbox = limited(|limits| limits.file = 4 << 20);
    let make = "i=0; while [ $i -lt 5 ]; do head -c 3000000 /dev/zero > f$i; i=$((i+1)); done; tar -czf b.tgz f?; zip -q b.zip f?; rm f?";
    run_in(&sandbox, make).prints("");
    let small = limited(|limits| limits.disk = 8 << 20);
    for name in ["b.tgz", "b.zip"] {
        small.fs().write(name, sandbox.fs().read(name).unwrap()).unwrap();
    }
    for unpack in ["tar -xzf b.tgz", "unzip -q b.zip"] {
        let answer = run_in(&small, format!("{unpack}; [ $? -gt 0 ] && echo failed; rm -f f?")).stdout("failed\n");
        answer.stderr_has("limit exceeded: disk");
    }
}

#[test]
fn attack_46_no_entry_of_an_archive_is_written_elsewhere() {
    let sandbox = sandbox();
    let evil = "mkdir -p make/in out; cd make/in; echo evil > ../up; echo evil > /tmp/absolute; ln -s /tmp link
        tar -P -cf ../../dots.tar ../up; tar -P -cf ../../absolute.tar /tmp/absolute
        tar -cf ../../link.tar link; rm link; mkdir link; echo evil > link/planted; tar -rf ../../link.tar link/planted
        cd ../..; rm -r make /tmp/absolute; echo safe > secret";
    run_in(&sandbox, evil).code(0);
    for archive in ["dots", "absolute", "link"] {
        run_in(&sandbox, format!("cd out; tar -xf ../{archive}.tar 2>/dev/null; rm -rf ./*"));
        run_in(&sandbox, "ls /tmp /; ls; cat secret").stdout(
            "/:\nbin\ndev\netc\nhome\nproc\ntmp\nusr\nworkspace\n\n/tmp:\nabsolute.tar\ndots.tar\nlink.tar\nout\nsecret\nsafe\n",
        );
    }
}

#[test]
fn attack_71_what_searches_a_directory_does_not_leave_it() {
    let outer = directory(&[("secret.txt", "s3cret"), ("inside/file.txt", "plain")]);
    let host = outer.path().join("inside");
    for (link, target) in [("up", ".."), ("file", "../secret.txt"), ("absolute", outer.path().to_str().unwrap())] {
        std::os::unix::fs::symlink(target, host.join(link)).unwrap();
    }
    let sandbox = isopod::Sandbox::builder().mount(&host, "/workspace").build().unwrap();
    for search in [
        "grep -r s3cret . ..",
        "grep -R s3cret .",
        "rg -L s3cret .",
        "find -L . -name 'secret.t*' -exec cat {} +",
        "cat up/*.txt */secret.txt ../*.txt",
        "shopt -s globstar; cat **/*.txt",
        "tar -chf - . | grep -a s3cret",
        "cp -rL . /tmp/copy; cat /tmp/copy/*",
        "wc -c file absolute/* up/secret.txt",
    ] {
        let output = run_in(&sandbox, search).0;
        assert!(!String::from_utf8_lossy(&output.output).contains("s3cret"), "{search}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("6 "), "{search}: its size");
    }
}
