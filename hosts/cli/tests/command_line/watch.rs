//! `watch`, read through a pipe.

use crate::scene::{Scene, clear, held};
use crate::schemas;
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};

struct Watching {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Watching {
    fn begin(scene: &Scene) -> Self {
        let mut child = scene.command().args(["watch", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// The id of the next verdict, however long it takes.
    fn next(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        let verdict: Value = serde_json::from_str(&line).unwrap();
        schemas::hold(&["watch".to_owned()], &verdict);
        verdict["id"].as_str().unwrap().to_owned()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

#[test]
fn verdicts_are_shown_once_each_as_they_come() {
    let scene = Scene::new();
    scene.propose(&clear("p1"));
    let mut watching = Watching::begin(&scene);
    assert_eq!(watching.next(), "p1");
    scene.propose(&held("p2"));
    assert_eq!(watching.next(), "p2");
    scene.propose(&clear("p3"));
    assert_eq!(watching.next(), "p3");
}

#[test]
fn a_store_that_appears_later_or_is_replaced_is_followed() {
    let scene = Scene::new();
    let mut watching = Watching::begin(&scene);
    scene.propose(&clear("p1"));
    assert_eq!(watching.next(), "p1");
    let store = scene.run(&["status", "--json"]).json()["store"]["path"].as_str().unwrap().to_owned();
    for end in ["", "-wal", "-shm", "-seen"] {
        _ = fs::remove_file(format!("{store}{end}"));
    }
    scene.propose(&clear("q1"));
    scene.propose(&clear("q2"));
    assert_eq!(watching.next(), "q1");
    assert_eq!(watching.next(), "q2");
}
