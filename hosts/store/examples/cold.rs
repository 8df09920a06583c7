use std::time::Instant;
use stigmergate_core::{
    field::{Signal, Source},
    fixed::Fixed,
    kernel::{Command, DepositRequest},
    location::Location,
    proposal::Proposal,
};
use stigmergate_store::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let path = std::path::Path::new(&a[1]);
    let o = Options::default();
    match a[2].as_str() {
        "fill" => {
            let mut s = Store::open(path, &o).unwrap();
            for n in 0..a[3].parse::<u64>().unwrap() / 100 {
                s.apply_all(
                    1_700_000_000_000,
                    (0..100)
                        .map(|k| {
                            Command::Deposit(DepositRequest {
                                location: Location::path(&format!("src/module{n}/some_file_{k}.rs")),
                                signal: Signal::Failure,
                                strength: Fixed::whole(5),
                                source: Source::Human,
                                decay: None,
                                trust_factor: None,
                            })
                        })
                        .collect(),
                )
                .unwrap();
            }
        }
        "loop" => {
            let mut s = Store::open(path, &o).unwrap();
            for k in 0..a[3].parse::<u64>().unwrap() {
                let t = Instant::now();
                s.apply(1_700_000_000_000, propose(k)).unwrap();
                println!("{:?}", t.elapsed());
            }
        }
        _ => {
            let t = Instant::now();
            let mut s = Store::open(path, &o).unwrap();
            let t1 = t.elapsed();
            s.with_current(|_| ()).unwrap();
            let t2 = t.elapsed();
            s.apply(1_700_000_000_000, propose(0)).unwrap();
            let t3 = t.elapsed();
            drop(s);
            println!("open {:?} load {:?} apply {:?} close {:?}", t1, t2 - t1, t3 - t2, t.elapsed() - t3);
        }
    }
}
fn propose(k: u64) -> Command {
    let mut p = Proposal::new(
        &format!(
            "p{}-{}-{k}",
            std::process::id(),
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos()
        ),
        "claude",
        "patch_file",
        Location::path("src/module5/some_file_7.rs"),
    );
    p.rationale = "fix the off-by-one in the tokenizer ".repeat(10);
    p.rollback_plan = Some("git revert the one commit on the branch".into());
    Command::Propose(Box::new(p))
}
