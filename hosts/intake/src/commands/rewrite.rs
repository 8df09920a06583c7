//! Edits in place: a substitution leaves most of a file as it was, but some programs leave nothing of it.

use super::{Asked, Reader};
use crate::shell::Word;
use crate::targets::{Collector, Standing};
use stigmergate_core::facts::{Before, Effect};

impl<'a> Reader<'a> {
    /// An edit that empties what it edits, or that reaches very many files that git does not know, takes away what they held.
    pub(super) fn rewritten(&self, asked: &Asked<'a>, collector: &mut Collector<'a>) {
        let empties = self.empties(asked);
        let unknown = |before: Before| matches!(before, Before::Untracked | Before::Changed);
        let edited = collector.targets.iter().filter(|target| target.effect == Effect::Edit);
        let many: u32 =
            edited.filter(|target| unknown(target.before)).fold(0, |sum, target| sum.saturating_add(target.count));
        if empties || many > self.policy.bulk_over {
            let edited = collector.targets.iter_mut().filter(|target| target.effect == Effect::Edit);
            edited.for_each(|target| target.effect = Effect::Overwrite);
        }
    }

    /// Of files that only a search will find: whether the folder that they are in holds too many that could not be had again.
    pub(super) fn edits_too_many(&self, word: &Word, effect: Effect, collector: &Collector<'a>) -> bool {
        let Standing::In(directory) = &collector.standing else { return false };
        let Some(repository) = self.around.repository().filter(|_| self.look) else { return false };
        let lost = |folder: &String| {
            let place = self.around.places().resolve_literal(directory, folder).ok()?;
            let found = repository.beneath(&place.target, crate::repository::Bounds::default());
            Some(found.untracked.saturating_add(found.changed))
        };
        let most = usize::try_from(self.policy.bulk_over).unwrap_or(usize::MAX);
        effect == Effect::Edit && !word.known && word.under.iter().filter_map(lost).any(|lost| lost > most)
    }

    /// Whether the program that edits leaves little or nothing of a file.
    fn empties(&self, asked: &Asked<'a>) -> bool {
        let words: Vec<&str> = asked.arguments.iter().map(|word| word.text.as_str()).collect();
        let given = self.given_texts();
        match asked.program.as_str() {
            "sed" | "gsed" => sed_empties(&words),
            "perl" | "ruby" => perl_empties(&words),
            "awk" | "gawk" | "mawk" => words.iter().any(|word| awk_empties(word)),
            _ => words.iter().copied().chain(given.iter().map(String::as_str)).any(editor_empties),
        }
    }
}

/// `-i.bak` keeps the file as it was.
fn keeps_copy(words: &[&str]) -> bool {
    words.iter().any(|word| {
        let suffix = word.strip_prefix("--in-place=").or_else(|| word.strip_prefix("-i"));
        suffix.is_some_and(|suffix| suffix.starts_with(['.', '~', '_']) || suffix.contains('*'))
    })
}

/// Whether a letter stands in a bundle of short options.
fn has_letter(words: &[&str], letter: char) -> bool {
    words
        .iter()
        .filter(|word| word.starts_with('-') && !word.starts_with("--") && word.len() < 8)
        .any(|word| word.contains(letter))
}

fn sed_empties(words: &[&str]) -> bool {
    if keeps_copy(words) {
        return false;
    }
    // Only what is printed stays.
    let quiet = words.iter().any(|word| matches!(*word, "-n" | "--quiet" | "--silent" | "-ni" | "-n -i"));
    let expressions = words.iter().enumerate().filter(|(number, word)| {
        let behind = number.checked_sub(1).and_then(|before| words.get(before));
        matches!(behind, Some(&"-e" | &"--expression")) || (!word.starts_with('-') && *number < 3)
    });
    quiet || expressions.flat_map(|(_, text)| text.split([';', '\n'])).any(|command| sed_takes_most(command.trim()))
}

/// `d`, `1,$d`, `/./d`, `/x/!d`, `5q`, `s/.*//`: most lines, or all that is in them.
fn sed_takes_most(command: &str) -> bool {
    let rest_of_file =
        || command.strip_suffix(",$d").is_some_and(|line| !line.is_empty() && line.chars().all(|c| c.is_ascii_digit()));
    let quits = || {
        let line = command.strip_suffix(['q', 'Q']);
        line.is_some_and(|line| line.chars().all(|c| c.is_ascii_digit()))
    };
    matches!(command, "d" | "/./d" | "/.*/d" | "/^/d" | "/$/d" | "/^.*$/d" | "z" | "0~1d")
        || command.ends_with("!d")
        || rest_of_file()
        || quits()
        || ["s/.*//", "s/^.*$//", "s/.*$//", "s/^.*//", "s/.//g"].iter().any(|all| command.starts_with(all))
}

fn perl_empties(words: &[&str]) -> bool {
    if keeps_copy(words) {
        return false;
    }
    let code = words.iter().enumerate().filter(|(number, _)| {
        let option = number.checked_sub(1).and_then(|before| words.get(before));
        option.is_some_and(|option| option.starts_with('-') && option.ends_with('e'))
    });
    code.into_iter().any(|(_, code)| {
        let selects = has_letter(words, 'n') && !has_letter(words, 'p');
        let keeps = code.contains("print unless")
            || code.contains("puts unless")
            || code.contains("print;")
            || code.trim() == "print";
        (selects && !keeps)
            || code.contains("$_=\"\"")
            || code.contains("$_ = \"\"")
            || code.contains("s/.*//")
            || code.contains("s/^.*$//")
    })
}

/// A program without `print` writes nothing; a bare pattern writes only what matches.
fn awk_empties(word: &str) -> bool {
    let text = word.trim();
    let pattern = text.starts_with('/') && text.ends_with('/') && text.len() > 1 && !text.contains("{");
    let silent = text.ends_with('}') && !text.contains("print") && !text.contains("getline");
    pattern || silent
}

/// `%d`, `1,$d`: what line editors are told.
fn editor_empties(text: &str) -> bool {
    let mut commands = text.split(['|', '\n', ';']).map(|command| command.trim().trim_start_matches([':', '+']));
    commands.any(|command| matches!(command, "%d" | "1,$d" | ",d" | "%delete" | "%d_" | "1,$delete" | "0,$d"))
}

#[cfg(test)]
mod tests {
    use crate::testing::Scene;
    use stigmergate_core::facts::FactKind as F;

    #[test]
    fn an_edit_that_leaves_nothing_is_none() {
        Scene::new().table(&[
            ("sed -i d notes/draft.md", &[F::Irreversible]),
            ("sed -i '1,$d' notes/draft.md", &[F::Irreversible]),
            ("sed -i -e '/x/!d' notes/draft.md", &[F::Irreversible]),
            ("perl -i -ne '' notes/draft.md", &[F::Irreversible]),
            ("ex -sc '%d|x' notes/draft.md", &[F::Irreversible]),
            ("awk -i inplace '{}' notes/draft.md", &[F::Irreversible]),
            ("sed -i.bak d notes/draft.md", &[]),
            ("sed -i '/todo/d' notes/draft.md", &[]),
            ("sed -i d src/app.ts", &[]),
            ("perl -pi -e 's/a/b/' notes/draft.md", &[]),
        ]);
    }
}
