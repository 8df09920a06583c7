//! Rules of the user and the project (SPEC 11): `deny`, `ask`, `allow` and `deny_paths`.
//!
//! A rule is the beginning of a command (`git push`, `rm -rf`) or the glob of a tool's name (`WebFetch`, `mcp__db__*`): the one
//! that the host uses, or the one that is common to all hosts.
//! Words must match from the program on, in order; options may stand anywhere. The core matches, so that a
//! replay under other rules judges anew.

use crate::facts::{Act, Call, names, reaches_into};
use crate::glob::Glob;
use crate::location::Location;
use crate::policy::commands::Commands;
use crate::policy::{Policy, Rules};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A rule that matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// The rule's text.
    pub rule: String,
    /// The number of the act, from 0; `None`: the tool's name matched.
    pub act: Option<u32>,
}

/// The first `deny` or `deny_paths` rule that matches a call. `tool` is the host's name for the tool.
#[must_use]
pub fn denied(tool: &str, call: &Call, policy: &Policy) -> Option<Match> {
    first_match(tool, call, &policy.rules.deny, &policy.commands).or_else(|| denied_place(call, &policy.rules))
}

/// The first `ask` rule that matches a call.
#[must_use]
pub fn asked(tool: &str, call: &Call, policy: &Policy) -> Option<Match> {
    first_match(tool, call, &policy.rules.ask, &policy.commands)
}

/// The first `allow` rule that matches an act of a call.
#[must_use]
pub fn allowed<'r>(tool: &str, call: &Call, act: &Act, policy: &'r Policy) -> Option<&'r str> {
    let matches = |rule: &&str| is_tool(rule, tool, call) || is_command(rule, &act.words, &policy.commands);
    policy.rules.allow.iter().map(String::as_str).find(matches)
}

fn first_match(tool: &str, call: &Call, rules: &[String], commands: &Commands) -> Option<Match> {
    rules.iter().find_map(|rule| {
        if is_tool(rule, tool, call) {
            return Some(Match { rule: rule.clone(), act: None });
        }
        let act = call.acts.iter().position(|act| is_command(rule, &act.words, commands))?;
        Some(Match { rule: rule.clone(), act: u32::try_from(act).ok() })
    })
}

fn denied_place(call: &Call, rules: &Rules) -> Option<Match> {
    call.acts.iter().enumerate().find_map(|(number, act)| {
        let place = act.targets.iter().find(|target| {
            let globs = || rules.deny_paths.iter();
            names(globs(), target.place.as_str())
                || (target.folder && target.effect.changes() && reaches_into(globs(), &target.place))
                || (target.folder && names(globs(), &anything_in(&target.place)))
        })?;
        let named = |glob: &&Glob| glob.matches(place.place.as_str()) || glob.matches(&anything_in(&place.place));
        let rule = rules.deny_paths.iter().find(named).map_or("deny_paths", Glob::as_str);
        Some(Match { rule: String::from(rule), act: u32::try_from(number).ok() })
    })
}

/// Stands for whatever a folder holds: a rule for all of it is one for the folder.
fn anything_in(folder: &Location) -> String {
    alloc::format!("{folder}/\u{1}")
}

fn is_tool(rule: &str, tool: &str, call: &Call) -> bool {
    [tool, &call.tool].into_iter().any(|name| !name.is_empty() && word_matches(rule, name))
}

/// Whether a command begins as the rule says.
fn is_command(rule: &str, words: &[String], commands: &Commands) -> bool {
    let Some(first) = words.first() else { return false };
    let mut wanted = rule.split_whitespace();
    let Some(program) = wanted.next() else { return false };
    if !word_matches(program, first) && !word_matches(program, base_name(first)) {
        return false;
    }
    let (options, plain): (Vec<&str>, Vec<&str>) = wanted.partition(|word| is_option(word));
    let arguments = || words.iter().skip(1).map(String::as_str);
    let operands: Vec<&str> = arguments().filter(|word| !is_option(word)).collect();
    let in_order =
        plain.len() <= operands.len() && plain.iter().zip(&operands).all(|(rule, word)| word_matches(rule, word));
    in_order && options.iter().all(|option| has_option(option, words, commands))
}

fn is_option(word: &str) -> bool {
    word.starts_with('-') && word.len() > 1
}

/// Whether an option stands among the arguments: by its name, by the other name that the table knows it by, or, for short ones, in a
/// bundle (`-rf` is in `-fvr`, and in `--recursive --force`).
fn has_option(option: &str, words: &[String], commands: &Commands) -> bool {
    let given =
        |option: &str| stands_in(option, words) || commands.same(words, option).any(|other| stands_in(other, words));
    let letters = option.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    given(option) || letters.is_some_and(|letters| letters.chars().all(|letter| given(&alloc::format!("-{letter}"))))
}

/// Whether an option itself stands among the arguments; a single letter also in a bundle.
fn stands_in(option: &str, words: &[String]) -> bool {
    let mut letters = option.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default().chars();
    let letter = letters.next().filter(|_| letters.next().is_none());
    words.iter().skip(1).any(|word| {
        let bundled = letter.is_some_and(|letter| is_option(word) && !word.starts_with("--") && word.contains(letter));
        bundled || word == option || word.split_once('=').is_some_and(|(name, _)| name == option)
    })
}

/// Whether a word is meant. In a rule a star stands for anything: `curl *` is about every address, whatever slashes it has.
fn word_matches(rule: &str, word: &str) -> bool {
    if rule == word {
        return true;
    }
    let anything = || rule.replace("**", "*").replace('*', "**");
    rule.contains(['*', '?', '[']) && Glob::new(&anything()).is_ok_and(|glob| glob.matches(word))
}

/// The program's name without its folder and without `.exe`.
fn base_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(rule: &str, text: &str) -> bool {
        let words: Vec<String> = text.split_whitespace().map(String::from).collect();
        is_command(rule, &words, &Commands::known())
    }

    #[test]
    fn a_rule_is_the_beginning_of_a_command_whatever_the_options_between() {
        assert!(command("git push", "git push origin main"));
        assert!(command("git push", "git --no-pager push"));
        assert!(command("git push", "/usr/bin/git push"));
        assert!(!command("git push", "git pull") && !command("git push", "git"));
        assert!(command("rm -rf", "rm -v -fr x") && command("rm -rf", "rm x -r -f") && !command("rm -rf", "rm -r x"));
        assert!(
            command("git push --force", "git push origin main --force") && !command("git push --force", "git push")
        );
        assert!(command("git push --force", "git push -fu origin x") && command("git push -f", "git push --force"));
        assert!(command("rm -rf", "rm --recursive --force x") && command("rm -rf", "rm -R --force x"));
        assert!(command("git commit --no-verify", "git commit -nm x") && !command("git commit -n", "git commit -m x"));
        assert!(
            command("curl *", "curl -s http://x/y") && command("rm *", "rm -rf build/x") && command("rm **", "rm a/b")
        );
        assert!(command("*", "ls a/b") && command("docker *", "docker ps") && !command("docker p*", "docker run"));
        assert!(command("npm run *", "npm run build") && !command("npm run *", "npm test"));
    }
}
