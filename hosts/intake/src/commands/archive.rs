//! Archives: what making one takes, and what unpacking one writes over.

use super::{Asked, Reader, Whose, is_remote, option_value};
use crate::repository::{Bounds, Repository, State};
use crate::shell::{Stdin, Word};
use crate::targets::{Collector, Standing, location};
use stigmergate_core::facts::{Before, Effect, Root, Target};

/// Files of a folder that are named as written over.
const NAMED: usize = 32;

/// Whether the members of an archive are expected to be there already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Clashes {
    /// It is said that they are to be written over.
    Wanted,
    /// They may be, in a folder that is named; into the top of a work tree an archive brings a folder of its own.
    Likely,
}

impl<'a> Reader<'a> {
    /// `tar`: the archive and its members, whichever way the letters are written.
    pub(super) fn archive(&self, asked: &Asked<'a>, collector: &mut Collector<'a>) {
        let long = |name: &str| asked.arguments.iter().any(|word| word.text == name);
        let is_bundle = |number: usize, text: &str| {
            (number == 0 && !text.starts_with('-') && text.chars().all(|c| c.is_ascii_alphabetic()))
                || (text.starts_with('-') && !text.starts_with("--"))
        };
        let mut letters = String::new();
        let mut archive = None;
        let mut folder = None;
        let mut members = Vec::new();
        let mut rest = asked.arguments.iter().enumerate();
        while let Some((number, word)) = rest.next() {
            let text = word.text.as_str();
            if is_bundle(number, text) {
                letters.push_str(text);
                for letter in text.chars().filter(|letter| matches!(letter, 'f' | 'C' | 'T' | 'X' | 'I' | 'g')) {
                    let value = rest.next().map(|(_, word)| word);
                    match letter {
                        'f' => archive = value.cloned(),
                        'C' => folder = value.cloned(),
                        _ => {}
                    }
                }
            } else if matches!(text, "--file" | "--directory") {
                let value = rest.next().map(|(_, word)| word.clone());
                if text == "--file" { archive = value } else { folder = value }
            } else if text.starts_with("--file=") {
                archive = Some(option_value(word));
            } else if text.starts_with("--directory=") {
                folder = Some(option_value(word));
            } else if !text.starts_with("--") {
                members.push(word);
            }
        }
        let archive = archive.filter(|word| word.text != "-" && !is_remote(&word.text));
        if letters.contains(['c', 'r', 'u']) || long("--create") || long("--append") || long("--update") {
            let added = letters.contains(['r', 'u']) || long("--append") || long("--update");
            if let Some(archive) = archive {
                collector.word(&archive, if added { Effect::Create } else { Effect::Overwrite }, false);
            }
            let effect = if long("--remove-files") { Effect::Delete } else { Effect::Read };
            members.into_iter().for_each(|member| collector.word(member, effect, true));
        } else {
            if let Some(archive) = archive {
                collector.word(&archive, Effect::Read, false);
            }
            let unpacks = letters.contains('x') || long("--extract") || long("--get");
            let keeps = ["--keep-old-files", "--skip-old-files", "--keep-newer-files", "--to-stdout"];
            if !unpacks || letters.contains(['k', 'O']) || keeps.into_iter().any(long) {
                return;
            }
            if let Some(folder) = &folder {
                collector.word(folder, Effect::Create, false);
            }
            if members.is_empty() {
                self.unpack(folder.as_ref(), Clashes::Likely, collector);
            } else {
                let folder = folder.map_or_else(|| ".".to_string(), |folder| folder.text);
                members
                    .into_iter()
                    .for_each(|member| collector.word(&beneath(&folder, member), Effect::Overwrite, false));
            }
        }
    }

    /// A program that unpacks over what is there, into the folder that the table names, or the one it runs in.
    pub(super) fn unpack_over(&self, asked: &Asked<'a>, collector: &mut Collector<'a>) {
        let folder =
            asked.reading.places.iter().find(|(_, effect)| *effect == Effect::Create).and_then(|(number, _)| {
                let word = asked.arguments.get(*number)?;
                Some(if asked.reading.own_values.contains(number) { option_value(word) } else { word.clone() })
            });
        self.unpack(folder.as_ref(), Clashes::Wanted, collector);
    }

    /// Members that are not known may have the name of any file below the folder: what git could not give back of these is at stake.
    fn unpack(&self, folder: Option<&Word>, clashes: Clashes, collector: &mut Collector<'a>) {
        if self.unpacks_commit() {
            self.dirty_tree(collector);
            return;
        }
        let Standing::In(directory) = &collector.standing else { return };
        let place = match folder {
            Some(word) if word.known => self.around.places().resolve_literal(directory, &word.text).ok(),
            Some(_) => None,
            None => self.around.places().resolve_literal(directory, ".").ok(),
        };
        let (Some(place), Whose::Ours(repository)) = (place, self.repository(collector)) else { return };
        let at_top = repository.root().starts_with(&place.target);
        if !at_top && folder.is_some() {
            collector.place(&place, Effect::Edit, false);
        }
        if !self.look || !place.target.starts_with(repository.root()) || (at_top && clashes == Clashes::Likely) {
            return;
        }
        collector.targets.extend(at_stake(repository, &place.target, collector));
    }

    /// `git archive HEAD | tar x`: the members are what git has.
    fn unpacks_commit(&self) -> bool {
        let Stdin::Pipe(sources) = &self.command.stdin else { return false };
        let mut commands = sources.iter().filter_map(|number| self.script.commands.get(*number));
        commands
            .any(|command| command.program() == "git" && command.arguments().iter().any(|word| word.text == "archive"))
    }

    /// `gunzip -f x.gz` writes over `x`.
    pub(super) fn unpack_beside(&self, asked: &Asked<'a>, collector: &mut Collector<'a>) {
        let words = asked.reading.operands.iter().filter_map(|number| asked.arguments.get(*number));
        for word in words {
            let bare = word.text.rsplit_once('.').filter(|(_, ending)| !ending.contains('/')).map(|(bare, _)| bare);
            if let Some(bare) = bare {
                collector.word(&Word { text: bare.to_string(), ..word.clone() }, Effect::Overwrite, false);
            }
        }
    }
}

/// The files below a folder that git could not give back, as written over; what a build makes again, and what governs agents, is
/// in no archive that is unpacked there.
fn at_stake(repository: &Repository, folder: &std::path::Path, collector: &Collector<'_>) -> Vec<Target> {
    let bounds = Bounds { examples: NAMED, ..Bounds::default() };
    let protected = |path: &str| collector.policy.places.protected.iter().any(|glob| glob.matches(path));
    let lost = repository.beneath(folder, bounds).examples.into_iter();
    lost.filter(|example| example.state != State::Ignored && !protected(&example.path))
        .map(|example| {
            let before = if example.state == State::Changed { Before::Changed } else { Before::Untracked };
            let mut target = Target::new(location(&example.path), Effect::Overwrite, Root::Workspace, before);
            target.stamp = crate::repository::stamp(&repository.root().join(&example.path));
            target
        })
        .collect()
}

/// A member, as it will be found below the folder.
fn beneath(folder: &str, member: &Word) -> Word {
    let text = format!("{}/{}", folder.trim_end_matches('/'), member.text);
    Word { raw: text.clone(), text, ..member.clone() }
}
