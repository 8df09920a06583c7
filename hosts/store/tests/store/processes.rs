//! Several processes on one file, and their sudden ends.

use crate::support::{AT, open, place, propose};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};
use std::time::Duration;
use stigmergate_core::kernel::Kernel;
use stigmergate_store::{Options, Order, Store};

/// Applies proposals as hooks do, each in a store opened anew, and says each after it is applied.
#[test]
#[ignore = "run by the tests after it"]
fn child_that_writes() {
    let Some(path) = std::env::var_os("STORE") else { return };
    let count: u64 = std::env::var("COUNT").unwrap().parse().unwrap();
    let options = Options { busy_timeout: Duration::from_secs(60), ..Options::default() };
    for number in 0..count {
        let id = format!("{}-{number}", std::process::id());
        let applied = Store::open(Path::new(&path), &options).unwrap().apply(AT + number, propose(&id)).unwrap();
        let mut out = std::io::stdout().lock();
        write!(out, "\nack {} {id}\n", applied.sequence).unwrap();
        out.flush().unwrap();
    }
}

fn spawn(path: &Path, count: u64) -> Child {
    Process::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::child_that_writes", "--ignored", "--nocapture"])
        .env("STORE", path)
        .env("COUNT", count.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What a process acknowledged, and whether it ended well.
fn acknowledged(mut child: Child) -> (Vec<(u64, String)>, bool, String) {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let acknowledged = lines
        .map_while(Result::ok)
        .filter_map(|line| {
            let mut words = line.strip_prefix("ack ")?.split(' ');
            Some((words.next()?.parse().ok()?, words.next()?.to_string()))
        })
        .collect();
    let mut said = String::new();
    let _ = child.stderr.take().unwrap().read_to_string(&mut said);
    (acknowledged, child.wait().unwrap().success(), said)
}

/// Everything acknowledged is in the file under its number, and a replay agrees with the live state.
fn holds(path: &Path, acknowledged: &[(u64, String)]) {
    let mut store = open(path);
    let verified = store.verify().unwrap();
    assert_eq!(store.with_current(Kernel::digest).unwrap(), verified.digest);
    let journal: BTreeMap<u64, String> = store
        .records(.., Order::OldestFirst)
        .map(|record| record.map(|record| (record.sequence, format!("{:?}", record.command))).unwrap())
        .collect();
    assert_eq!(journal.len() as u64, verified.records);
    for (sequence, id) in acknowledged {
        assert!(journal[sequence].contains(&format!("{id:?}")), "{id} is not record {sequence}");
    }
}

#[test]
fn sixteen_processes_append_at_once_and_nothing_is_lost() {
    let (_folder, path) = place();
    // The file is new: they make it at once too.
    let children = (0..16).map(|_| spawn(&path, 8)).collect::<Vec<_>>();
    let mut all = Vec::new();
    for child in children {
        let (mut acknowledged, is_success, said) = acknowledged(child);
        assert!(is_success && acknowledged.len() == 8, "{said}");
        assert!(acknowledged.is_sorted(), "a process sees its own commands in order");
        all.append(&mut acknowledged);
    }
    all.sort();
    assert_eq!(all.iter().map(|(sequence, _)| *sequence).collect::<Vec<_>>(), (1..=128).collect::<Vec<_>>());
    holds(&path, &all);
}

#[test]
fn writers_that_are_killed_at_any_moment_lose_nothing_acknowledged() {
    let (_folder, path) = place();
    let mut all = Vec::new();
    for round in 0..14_u64 {
        let mut children = (0..3).map(|_| spawn(&path, 100_000)).collect::<Vec<_>>();
        for (number, child) in children.iter_mut().enumerate() {
            std::thread::sleep(Duration::from_millis(15 + (round * 37 + number as u64 * 11) % 90));
            child.kill().unwrap();
        }
        for child in children {
            all.append(&mut acknowledged(child).0);
        }
        holds(&path, &all);
    }
    assert!(all.len() > 20, "only {} commands were acknowledged", all.len());
}

#[test]
fn threads_that_make_the_same_file_at_once_share_it() {
    for _ in 0..8 {
        let (folder, path) = place();
        std::thread::scope(|scope| {
            let threads = (0..8).map(|number| {
                let path = &path;
                scope.spawn(move || open(path).apply(AT, propose(&format!("t{number}"))).unwrap().sequence)
            });
            let threads = threads.collect::<Vec<_>>();
            let mut sequences = threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>();
            sequences.sort_unstable();
            assert_eq!(sequences, (1..=8).collect::<Vec<_>>());
        });
        assert_eq!(open(&path).verify().unwrap().records, 8);
        assert!(std::fs::read_dir(folder.path()).unwrap().count() <= 4, "nothing half made is left");
    }
}
