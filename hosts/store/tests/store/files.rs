//! Which files are taken, and what is said of the others.

use crate::support::{AT, filled, numbered, open, place, propose, raw, settle};
use std::fs;
use std::path::Path;
use stigmergate_core::kernel::Kernel;
use stigmergate_store::{Options, Order, SCHEMA_VERSION, Store, StoreError};

fn code(path: &Path) -> &'static str {
    Store::open(path, &Options::default()).unwrap_err().code()
}

#[test]
fn a_new_store_and_its_folders_are_the_owners_alone() {
    let (folder, _) = place();
    let path = folder.path().join("deep/er/gate.db");
    filled(&path, 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&path.with_extension("db-wal"))), (0o600, 0o600));
        assert_eq!((mode(&folder.path().join("deep")), mode(&folder.path().join("deep/er"))), (0o700, 0o700));
    }
    let names = fs::read_dir(folder.path().join("deep/er")).unwrap().count();
    assert_eq!(names, 4, "the file, its log, the log's index and how far it reaches");
}

#[test]
fn a_file_that_is_not_there_is_only_made_on_request() {
    let (_folder, path) = place();
    assert_eq!(Store::open_existing(&path, &Options::default()).unwrap_err().code(), "not_found");
    let looking = Options { read_only: true, ..Options::default() };
    assert_eq!(Store::open(&path, &looking).unwrap_err().code(), "not_found");
    assert!(!path.exists());
}

#[test]
fn a_wrong_file_is_told_and_left_as_it_is() {
    let (folder, _) = place();
    let other = folder.path().join("other.db");
    raw(&other).execute_batch("CREATE TABLE journal (a); INSERT INTO journal VALUES (1)").unwrap();
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("text", b"hello, this is a text\n".repeat(400)),
        ("short", b"SQLite format 3\0".to_vec()),
        ("zeros", vec![0; 8192]),
        ("other", fs::read(&other).unwrap()),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        assert_eq!(code(&path), "not_a_store", "{name}");
        assert_eq!(Store::repair(&path, AT, &Options::default()).unwrap_err().code(), "not_a_store", "{name}");
        assert_eq!(fs::read(&path).unwrap(), bytes, "{name}");
    }
}

#[test]
fn a_path_that_can_hold_no_store_is_told() {
    let (folder, path) = place();
    fs::write(&path, "a file").unwrap();
    assert_eq!(code(folder.path()), "path");
    assert_eq!(code(Path::new("")), "path");
    assert_eq!(code(Path::new("/")), "path");
    assert_eq!(code(Path::new("..")), "path");
    assert_eq!(code(&path.join("gate.db")), "path");
    assert_eq!(code(&path.join("below/gate.db")), "path");
    assert_eq!(code(Path::new("a\0b")), "path");
    assert_eq!(Store::open_existing(Path::new("no-such.db"), &Options::default()).unwrap_err().code(), "not_found");
}

#[test]
fn a_name_that_means_something_to_sqlite_is_a_name() {
    let (folder, _) = place();
    for name in [":memory:", "file:a.db?mode=memory", "50% of?it#.db", "with space"] {
        let path = folder.path().join(name);
        filled(&path, 2);
        assert!(path.is_file(), "{name}");
        assert_eq!(open(&path).last_sequence().unwrap(), 2, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_name_that_is_no_utf_8_is_taken() {
    use std::os::unix::ffi::OsStrExt;
    let (folder, _) = place();
    let path = folder.path().join(std::ffi::OsStr::from_bytes(b"g\xffte.db"));
    filled(&path, 2);
    assert_eq!(open(&path).last_sequence().unwrap(), 2);
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_one_to_nothing_is_told() {
    let (folder, path) = place();
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert_eq!(code(&link), "path");
    filled(&path, 1);
    assert_eq!(open(&link).apply(AT, propose("linked")).unwrap().sequence, 2);
    assert!(!folder.path().join("link.db-wal").exists(), "both names share one log");
}

#[test]
fn a_later_version_is_told_and_left_as_it_is() {
    let (_folder, path) = place();
    filled(&path, 2);
    raw(&path).pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
    let error = Store::open(&path, &Options::default()).unwrap_err();
    assert!(matches!(error, StoreError::NewerVersion { found, .. } if found == SCHEMA_VERSION + 1), "{error}");
    assert_eq!(Store::repair(&path, AT, &Options::default()).unwrap_err().code(), "newer_version");
}

#[test]
fn a_store_opened_for_reading_reads_and_refuses_to_write() {
    let (_folder, path) = place();
    let mut store = filled(&path, 5);
    let mut looking = Store::open(&path, &Options { read_only: true, ..Options::default() }).unwrap();
    assert!(looking.is_read_only() && !store.is_read_only());
    assert_eq!(looking.with_current(Kernel::digest).unwrap(), store.with_current(Kernel::digest).unwrap());
    assert_eq!(looking.apply(AT, propose("p9")).unwrap_err().code(), "read_only");
    assert_eq!(looking.note_incident(AT, "a", "b").unwrap_err().code(), "read_only");
    assert_eq!(looking.compact(1).unwrap_err().code(), "read_only");
    assert_eq!(looking.verify().unwrap().records, 5);
    store.apply(AT, propose("p9")).unwrap();
    assert_eq!(looking.with_current(Kernel::digest).unwrap(), store.with_current(Kernel::digest).unwrap());
}

#[test]
fn a_full_disk_loses_nothing_acknowledged() {
    let (_folder, path) = place();
    let tight = Options { max_bytes: Some(400 * 1024), ..Options::default() };
    let mut store = Store::open(&path, &tight).unwrap();
    let mut acknowledged = Vec::new();
    let error = loop {
        let number = acknowledged.len() as u64;
        match store.apply(AT, numbered(number)) {
            Ok(applied) => acknowledged.push((applied.sequence, numbered(number))),
            Err(error) => break error,
        }
        assert!(number < 10_000, "the bound holds");
    };
    assert_eq!(error, StoreError::DiskFull);
    assert_eq!(store.apply(AT, numbered(acknowledged.len() as u64)).unwrap_err(), StoreError::DiskFull);
    let live = store.with_current(Kernel::digest).unwrap();
    let mut roomy = open(&path);
    assert_eq!(roomy.with_current(Kernel::digest).unwrap(), live);
    let kept = roomy.records(.., Order::OldestFirst).map(|record| record.map(|r| (r.sequence, r.command)));
    assert_eq!(kept.collect::<Result<Vec<_>, _>>().unwrap(), acknowledged);
    assert_eq!(roomy.verify().unwrap().digest, live);
    roomy.apply(AT, propose("room again")).unwrap();
}

/// On a file system of half a megabyte, where this process may mount one.
#[cfg(target_os = "linux")]
#[test]
fn a_full_file_system_loses_nothing_acknowledged() {
    let (folder, _) = place();
    let mount = ["-t", "tmpfs", "-o", "size=1m", "tmpfs"];
    let mounted = std::process::Command::new("mount").args(mount).arg(folder.path()).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        return;
    }
    let path = folder.path().join("gate.db");
    let found = std::panic::catch_unwind(|| {
        let mut store = open(&path);
        let mut acknowledged = 0;
        let error = loop {
            match store.apply(AT, numbered(acknowledged)) {
                Ok(applied) => acknowledged = applied.sequence,
                Err(error) => break error,
            }
        };
        assert_eq!(error, StoreError::DiskFull, "{error}");
        drop(store);
        let verified = open(&path).verify().unwrap();
        assert!(verified.records >= acknowledged && acknowledged > 50, "{verified:?} of {acknowledged}");
    });
    let _ = std::process::Command::new("umount").arg(folder.path()).status();
    found.unwrap();
}

#[test]
fn others_at_the_file_are_waited_for_and_then_told() {
    let (_folder, path) = place();
    let mut store = filled(&path, 1);
    let hurried = Options { busy_timeout: std::time::Duration::from_millis(50), ..Options::default() };
    let mut waiting = Store::open(&path, &hurried).unwrap();
    let other = raw(&path);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = waiting.apply(AT, propose("p2")).unwrap_err();
    assert!(matches!(error, StoreError::Busy { waited } if waited.as_millis() >= 40), "{error}");
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(waiting.apply(AT, propose("p2")).unwrap().sequence, 2);
    assert_eq!(store.apply(AT, propose("p3")).unwrap().sequence, 3);
}

/// Reads a store whose file and folder cannot be written; run as another user, since nothing is read-only to root.
#[test]
#[ignore = "run by the test after it"]
fn child_that_may_not_write() {
    let Some(path) = std::env::var_os("STORE") else { return };
    let mut store = Store::open(Path::new(&path), &Options::default()).unwrap();
    assert!(store.is_read_only());
    assert_eq!(store.with_current(|kernel| kernel.at(0).status().counts.commands).unwrap(), 5);
    assert_eq!(store.apply(AT, propose("p9")).unwrap_err().code(), "read_only");
    println!("\nread it");
}

#[cfg(unix)]
#[test]
fn a_file_in_a_folder_that_cannot_be_written_is_read() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let child = std::env::current_exe().unwrap();
    let (folder, path) = place();
    let is_root = fs::metadata(folder.path()).unwrap().uid() == 0;
    // Without a log beside it, with one that holds records, and with the log but not its index.
    for case in 0..3 {
        let _ = fs::remove_file(&path);
        let _ = fs::remove_file(path.with_extension("db-seen"));
        filled(&path, 5);
        if case == 0 {
            settle(&path);
        }
        for suffix in ["db-wal", "db-shm"] {
            let beside = path.with_extension(suffix);
            if case == 0 || (case == 2 && suffix == "db-shm") {
                let _ = fs::remove_file(&beside);
            } else if beside.exists() {
                fs::set_permissions(&beside, fs::Permissions::from_mode(0o444)).unwrap();
            }
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let mut command = std::process::Command::new(&child);
        command.args(["--exact", "files::child_that_may_not_write", "--ignored", "--nocapture"]).env("STORE", &path);
        if is_root {
            command.uid(65534).gid(65534);
        }
        let output = command.output();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for suffix in ["db-wal", "db-shm"] {
            let _ = fs::remove_file(path.with_extension(suffix));
        }
        // Another user may not be able to start the test's binary where it lies.
        let Ok(output) = output else { return };
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        if case == 2 {
            assert!(said.contains("read it") || said.contains("ReadOnly"), "{said}");
        } else {
            assert!(said.contains("read it"), "case {case}: {said}");
        }
    }
}
