//! `keys`: the key that signs the ledger. What is secret stays in its file.

use super::{Answer, require_person};
use crate::args::KeysCommand;
use crate::failure::Failure;
use crate::gate::{Gate, show};
use crate::screen::plain;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use stigmergate_core::attest;
use stigmergate_core::attest::key::PublicKey;
use stigmergate_core::attest::signer::Signer;
use stigmergate_core::error::Error;
use stigmergate_core::kernel::{Command, Kernel, RotateKey};
use stigmergate_core::policy::AttestMode;
use stigmergate_store::{KeyFile, KeyFolder, Keys as _};

pub(crate) fn keys(gate: &Gate, command: &KeysCommand) -> Result<Answer, Failure> {
    match command {
        KeysCommand::New { name: Some(name), folder: Some(folder), yes } => new_aside(gate, name, folder, *yes),
        KeysCommand::New { name, yes, .. } => new(gate, name.as_deref(), *yes),
        KeysCommand::Show => show_keys(gate),
        KeysCommand::Rotate { yes } => rotate(gate, *yes),
    }
}

/// The key that signs the ledger, once one was begun.
pub(super) fn in_force(gate: &Gate) -> Result<Option<PublicKey>, Failure> {
    let Some(mut store) = gate.look()? else { return Ok(None) };
    Ok(store.with_current(|kernel| kernel.ledger().map(|ledger| ledger.key().clone()))?)
}

#[derive(Serialize)]
struct Made {
    key: PublicKey,
    folder: PathBuf,
    /// Whether the ledger signs with it.
    in_force: bool,
}

fn new(gate: &Gate, name: Option<&str>, yes: bool) -> Result<Answer, Failure> {
    require_person("making a key", yes)?;
    let settings = gate.settings()?;
    if let Some(key) = in_force(gate)? {
        return Err(Error::from(attest::Error::LedgerBegun { origin: key.name().to_owned() }).into());
    }
    let folder = gate.keys();
    if let Some(file) = folder.list()?.iter().find(|file| !file.is_retired) {
        let message = format!("there is a key already: {}; the ledger begins with it", show(&file.path));
        return Err(Failure::new("exists", message));
    }
    let name = name.map_or_else(|| made_up_name(gate), |name| Ok(name.to_owned()))?;
    let key = folder.create(&name)?;
    let attests = settings.policy.attest.mode != AttestMode::Disabled;
    if attests {
        drop(gate.act()?);
    }
    let made = Made { in_force: in_force(gate)?.as_ref() == Some(&key), key, folder: folder.path().to_path_buf() };
    Ok(Answer::new(gate, &made, || {
        let mut text = format!(
            "made a key in {}; keep a copy of that folder where nobody else reads\ngive this verifier key to whoever is to verify:\n  {}\n",
            show(&made.folder),
            plain(&made.key.verifier_key())
        );
        text.push_str(if made.in_force {
            "the ledger has begun: every judged call is written to it\n"
        } else {
            "the ledger begins once settings say [attest] mode = \"optional\" or \"required\"\n"
        });
        text
    }))
}

/// Makes the key of an executor or an observer: in a folder of its own, and the ledger is not begun with it.
fn new_aside(gate: &Gate, name: &str, folder: &Path, yes: bool) -> Result<Answer, Failure> {
    require_person("making a key", yes)?;
    let key = KeyFolder::new(folder).create(name)?;
    let made = Made { key, folder: folder.to_path_buf(), in_force: false };
    Ok(Answer::new(gate, &made, || {
        format!(
            "made a key in {}\nwhat it signs counts once this stands under [attest] in your settings:\n  keys = [\"{}\"]\n",
            show(&made.folder),
            plain(&made.key.verifier_key())
        )
    }))
}

/// The only key in use in a folder, to sign with.
pub(super) fn only_signer(folder: &Path) -> Result<Box<dyn Signer>, Failure> {
    let keys = KeyFolder::new(folder);
    let mut usable = keys.list()?.into_iter().filter(|file| !file.is_retired);
    let (Some(file), None) = (usable.next(), usable.next()) else {
        let message = format!("{} has to hold exactly one key in use: `stigmergate keys new --folder`", show(folder));
        return Err(Failure::new("key", message).in_field("sign_with"));
    };
    Ok(keys.signer(&file.key)?)
}

/// `stigmergate/<root's name>/<8 random digits>`: no two ledgers share it.
fn made_up_name(gate: &Gate) -> Result<String, Failure> {
    let mut random = [0_u8; 4];
    getrandom::fill(&mut random).map_err(|error| Failure::new("io", format!("no random bytes can be had: {error}")))?;
    let name = gate.locations.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(64).collect();
    Ok(format!("stigmergate/{name}/{:08x}", u32::from_be_bytes(random)))
}

#[derive(Serialize)]
struct Shown {
    folder: PathBuf,
    keys: Vec<Line>,
    /// The key that the ledger needs, once it was begun.
    in_force: Option<PublicKey>,
    /// That key has no file here.
    missing: bool,
}

#[derive(Serialize)]
struct Line {
    key: PublicKey,
    retired: bool,
}

fn show_keys(gate: &Gate) -> Result<Answer, Failure> {
    let folder = gate.keys();
    let in_force = in_force(gate)?;
    let files = folder.list()?;
    let has = |key: &PublicKey| files.iter().any(|file| !file.is_retired && file.key == *key);
    let shown = Shown {
        folder: folder.path().to_path_buf(),
        missing: in_force.as_ref().is_some_and(|key| !has(key)),
        keys: files.into_iter().map(|KeyFile { key, is_retired, .. }| Line { key, retired: is_retired }).collect(),
        in_force,
    };
    Ok(Answer::new(gate, &shown, || for_people(&shown)))
}

fn for_people(shown: &Shown) -> String {
    let mut text = String::new();
    for line in &shown.keys {
        let state = match (line.retired, shown.in_force.as_ref() == Some(&line.key)) {
            (_, true) => "signs the ledger",
            (true, false) => "retired",
            (false, false) => "not used yet",
        };
        _ = writeln!(text, "{}  {state}", plain(&line.key.verifier_key()));
    }
    if shown.keys.is_empty() {
        _ = writeln!(text, "no keys in {}: `stigmergate keys new` makes one", show(&shown.folder));
    }
    if let Some(key) = shown.in_force.as_ref().filter(|_| shown.missing) {
        _ = writeln!(
            text,
            "the ledger's key {} has no file in {}: nothing can be written until it is brought back",
            plain(&key.to_string()),
            show(&shown.folder)
        );
    }
    text
}

#[derive(Serialize)]
struct Rotated {
    old: PublicKey,
    key: PublicKey,
}

fn rotate(gate: &Gate, yes: bool) -> Result<Answer, Failure> {
    require_person("replacing the ledger's key", yes)?;
    drop(gate.look_closely()?);
    let (mut store, _) = gate.act()?;
    let folder = gate.keys();
    let old = store.with_current(|kernel| kernel.ledger().map(|ledger| ledger.key().clone()))?;
    let old = old.ok_or_else(|| Failure::from(Error::from(attest::Error::AttestationKeyMissing)))?;
    // Before anything is made: without the old key there is nobody to sign the new one.
    let signer = folder.signer(&old)?;
    let key = folder.create(old.name())?;
    let endorse = |kernel: &Kernel| -> Result<_, Failure> {
        let message = kernel.at(gate.clock.now).rotation_message(&key)?;
        let endorsement = signer.sign(&message).map_err(Error::from)?;
        Ok((vec![Command::RotateKey(RotateKey { key: key.clone(), endorsement })], ()))
    };
    if let Err(failure) = store.decide(gate.clock.now, endorse) {
        // Not in force, and not to be taken for a key that waits.
        folder.retire(&key)?;
        return Err(failure);
    }
    folder.retire(&old)?;
    let rotated = Rotated { old, key };
    Ok(Answer::new(gate, &rotated, || {
        format!(
            "from here on this key signs, and the old one has signed for it:\n  {}\nthe old one is kept in {}\n",
            plain(&rotated.key.verifier_key()),
            show(folder.path())
        )
    }))
}
