//! Commands that stand under a name in a file of the project: targets of a makefile or justfile, scripts of a package.
//!
//! They are read like a script that is run by its path: the recipe of the name that is asked for and of what it needs,
//! unless git has the file committed and unchanged.

use std::collections::BTreeMap;

use super::walk::{Reader, Scope, quote};
use super::{Command, Origin, Stdin, Stored, Via, Word};

/// Targets that need each other are followed this deep.
const MAX_NEEDS: usize = 12;
/// Values inside values are expanded this deep.
const MAX_VALUES: usize = 8;
/// Bytes of an expanded line.
const MAX_LINE: usize = 16 * 1024;

/// A target with what it needs and the lines that make it.
#[derive(Debug, Default)]
struct Rule {
    targets: Vec<String>,
    needs: Vec<String>,
    lines: Vec<String>,
}

/// A makefile or justfile, as far as it is plain.
#[derive(Debug, Default)]
struct Recipes {
    values: BTreeMap<String, String>,
    rules: Vec<Rule>,
    just: bool,
}

impl Recipes {
    fn read(text: &str, just: bool) -> Self {
        let mut recipes = Self { just, ..Self::default() };
        let joined = text.replace("\r\n", "\n").replace("\\\n", " ");
        for line in joined.lines() {
            let indented = line.starts_with('\t') || (just && line.starts_with(' '));
            if indented {
                if let Some(rule) = recipes.rules.last_mut() {
                    rule.lines.push(line.trim().to_owned());
                }
                continue;
            }
            let line = line.split(" #").next().unwrap_or_default().trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some((name, value)) = assigned(line) {
                recipes.values.insert(name, value);
            } else if let Some((targets, needs)) = line.split_once(':') {
                recipes.rule(targets, needs);
            }
        }
        recipes
    }

    fn rule(&mut self, targets: &str, needs: &str) {
        let (needs, first) = match needs.split_once(';') {
            Some((needs, first)) if !self.just => (needs, vec![first.trim().to_owned()]),
            _ => (needs, Vec::new()),
        };
        let words = |text: &str| text.split_whitespace().map(|word| word.trim_start_matches('@').to_owned()).collect();
        let mut targets: Vec<String> = words(targets);
        // The words behind the name of a recipe of `just` are its parameters.
        targets.truncate(if self.just { 1 } else { targets.len() });
        self.rules.push(Rule { targets, needs: words(needs.trim_start_matches(':')), lines: first });
    }

    fn first(&self) -> Option<String> {
        let targets = self.rules.iter().flat_map(|rule| &rule.targets);
        targets.into_iter().find(|target| !target.starts_with('.') && !target.contains('%')).cloned()
    }

    /// The lines that make a target, after those of what it needs.
    fn lines(&self, target: &str, depth: usize, seen: &mut Vec<String>) -> Vec<String> {
        if depth > MAX_NEEDS || seen.iter().any(|one| one == target) {
            return Vec::new();
        }
        seen.push(target.to_owned());
        let mut lines = Vec::new();
        for rule in self.rules.iter().filter(|rule| rule.targets.iter().any(|one| self.expand(one, 0) == target)) {
            let needs = self.expand(&rule.needs.join(" "), 0);
            for need in needs.split_whitespace() {
                lines.extend(self.lines(need, depth.saturating_add(1), seen));
            }
            let first = needs.split_whitespace().next().unwrap_or_default();
            lines.extend(rule.lines.iter().map(|line| {
                let line = line.replace("$@", target).replace("$<", first).replace("$^", &needs);
                self.expand(line.trim_start_matches(['@', '-', '+']), 0)
            }));
        }
        lines
    }

    /// A line with its values; what is not known stands as a variable of the shell.
    fn expand(&self, line: &str, depth: usize) -> String {
        let mut made = String::new();
        let mut rest = line;
        let open = if self.just { "{{" } else { "$" };
        while let Some((before, after)) = rest.split_once(open) {
            made.push_str(before);
            let (name, following) = if self.just {
                after.split_once("}}").unwrap_or((after, ""))
            } else if let Some(dollar) = after.strip_prefix('$') {
                made.push('$');
                rest = dollar;
                continue;
            } else {
                reference(after)
            };
            rest = following;
            made.push_str(&self.value(name.trim(), depth));
            if made.len() > MAX_LINE {
                return made;
            }
        }
        made.push_str(rest);
        made
    }

    fn value(&self, name: &str, depth: usize) -> String {
        match (self.values.get(name), name) {
            (Some(value), _) if depth < MAX_VALUES => self.expand(value, depth.saturating_add(1)),
            (_, "MAKE") => "make".to_owned(),
            (_, "RM") => "rm -f".to_owned(),
            (_, "CURDIR") => "$PWD".to_owned(),
            _ if !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') => {
                format!("${{{name}}}")
            }
            _ => "$VALUE".to_owned(),
        }
    }
}

/// `NAME = value` and its kinds.
fn assigned(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    let name = name.strip_prefix("export ").or_else(|| name.strip_prefix("override ")).unwrap_or(name).trim();
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    plain.then(|| (name.to_owned(), value.trim().trim_matches(['"', '\'']).to_owned()))
}

/// What stands behind a `$` of a makefile: the name, and what follows.
fn reference(after: &str) -> (&str, &str) {
    for (open, close) in [('(', ')'), ('{', '}')] {
        if let Some(inner) = after.strip_prefix(open) {
            let mut depth = 0_usize;
            for (at, c) in inner.char_indices() {
                if c == open {
                    depth = depth.saturating_add(1);
                } else if c == close && depth == 0 {
                    let (name, rest) = inner.split_at(at);
                    return (name, rest.get(1..).unwrap_or_default());
                } else if c == close {
                    depth = depth.saturating_sub(1);
                }
            }
            return (inner, "");
        }
    }
    let end = after.chars().next().map_or(0, char::len_utf8);
    after.split_at(end)
}

impl Reader<'_> {
    /// `make target`, `just recipe`.
    pub(super) fn make(&mut self, command: Command, scope: &mut Scope) {
        let just = command.program() == "just";
        let (mut file, mut targets, mut values, mut shown) = (None, Vec::new(), Vec::new(), false);
        let mut inside = scope.clone();
        inside.directory = command.directory.clone();
        let arguments = command.arguments().to_vec();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.text.as_str() {
                "-C" | "--directory" | "-d" | "--working-directory" if word.text != "-d" || just => {
                    if let Some(folder) = words.next() {
                        inside.change_directory(folder);
                    }
                }
                "-f" | "--file" | "--makefile" | "--justfile" => file = words.next().cloned(),
                "-n" | "--just-print" | "--dry-run" | "--recon" | "-q" | "--question" | "--list" | "-l" | "--show" => {
                    shown = true;
                }
                // The number may be left out.
                "-j" | "--jobs" => {
                    let next = words.next().map(|word| word.text.clone());
                    targets.extend(next.filter(|next| !next.bytes().all(|b| b.is_ascii_digit())));
                }
                "-I" | "-o" | "-W" | "-E" => {
                    words.next();
                }
                text if text.starts_with('-') => {}
                text => match text.split_once('=') {
                    Some((name, value)) => values.push((name.to_owned(), value.to_owned())),
                    None => targets.push(text.to_owned()),
                },
            }
        }
        self.push(command.clone());
        let command = Command { directory: inside.directory, ..command };
        let names = if just { ["justfile", "Justfile", ".justfile"] } else { ["GNUmakefile", "makefile", "Makefile"] };
        let files: Vec<Word> = file.map_or_else(|| names.map(Word::literal).to_vec(), |file| vec![file]);
        let given = super::carriers::value_of(&arguments, &["--eval", "-E"]).map(|word| (word.text, word.known));
        let given = given.or_else(|| match (files.as_slice(), &command.stdin) {
            ([file], Stdin::Text { text, known }) if file.text == "-" => Some((text.clone(), *known)),
            ([file], stdin) if file.text == "-" => self.arriving(stdin, 0).map(|produced| (produced.text, true)),
            _ => None,
        });
        let found = match given {
            Some((text, known)) => Some((Word::literal("-"), (Stored { text, origin: Origin::Written }, known))),
            None => files.iter().find_map(|file| Some((file.clone(), self.run_text(&command, file)?))),
        };
        let Some((file, (stored, known))) = found.filter(|_| !shown) else { return };
        let mut recipes = Recipes::read(&stored.text, just);
        if let Some((_, shell)) = values.iter().find(|(name, _)| name == "SHELL") {
            self.setting("SHELL", &Word::literal(shell.clone()), &command, scope);
        }
        recipes.values.extend(values);
        targets.extend(recipes.first().filter(|_| targets.is_empty()));
        if just {
            targets.truncate(1);
        }
        for target in targets {
            let lines = recipes.lines(&target, 0, &mut Vec::new());
            self.recipe(&format!("{} {target}", file.text), &stored, known, &lines, &command, scope);
        }
    }

    /// Lines that stand in a file under a name, each in a shell of its own.
    fn recipe(&mut self, name: &str, stored: &Stored, known: bool, lines: &[String], command: &Command, scope: &Scope) {
        let inner = self.inner_scope(command, scope, Via::Script(name.to_owned()));
        // Values that only the tool works out (lists of objects) are no reason by themselves.
        self.within(name, stored.origin.max(Origin::Changed), |reader| {
            for line in lines {
                let mut inner = inner.clone();
                inner.directory = command.directory.clone();
                inner.uncertain |= !known;
                reader.script(line, &mut inner);
            }
        });
    }

    /// `npm run x`, `yarn x`: false where the package has no script of that name.
    pub(super) fn package_script(&mut self, command: &Command, scope: &mut Scope) -> bool {
        let Some((names, rest)) = script_names(command) else { return false };
        let mut inside = scope.clone();
        inside.directory = command.directory.clone();
        if let Some(folder) = super::carriers::value_of(command.arguments(), &["--prefix", "--cwd", "-C", "--dir"]) {
            inside.change_directory(&folder);
        }
        let command = Command { directory: inside.directory, ..command.clone() };
        let above = ["package.json", "../package.json", "../../package.json"].map(Word::literal);
        let found = above.iter().find_map(|file| Some((file, self.run_text(&command, file)?)));
        let Some((file, (stored, known))) = found else { return false };
        let Some(scripts) = scripts_of(&stored.text) else { return false };
        if !names.iter().any(|name| scripts.contains_key(name)) {
            return false;
        }
        self.push(command.clone());
        let folder = file.text.strip_suffix("package.json").filter(|folder| !folder.is_empty());
        let mut inside = scope.clone();
        inside.directory = command.directory.clone();
        if let Some(folder) = folder {
            inside.change_directory(&Word::literal(folder));
        }
        let command = Command { directory: inside.directory, ..command };
        for name in names {
            let line = |name: &str, rest: &str| scripts.get(name).map(|text| format!("{text}{rest}"));
            let lines = [line(&format!("pre{name}"), ""), line(&name, &rest), line(&format!("post{name}"), "")];
            let lines: Vec<String> = lines.into_iter().flatten().collect();
            self.recipe(&format!("{} {name}", file.text), &stored, known, &lines, &command, scope);
        }
        true
    }
}

fn scripts_of(text: &str) -> Option<BTreeMap<String, String>> {
    let package: serde_json::Value = serde_json::from_str(text).ok()?;
    let scripts = package.get("scripts")?.as_object()?;
    Some(scripts.iter().filter_map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned()))).collect())
}

/// The scripts of a package that a command names, and what is added to the last of them.
fn script_names(command: &Command) -> Option<(Vec<String>, String)> {
    let program = command.program();
    let arguments = command.arguments();
    let mut words = Vec::new();
    let mut at = 0_usize;
    while let Some(word) = arguments.get(at) {
        let text = word.text.as_str();
        at = at.saturating_add(1);
        if matches!(text, "--prefix" | "--cwd" | "-C" | "--dir" | "-w" | "--workspace" | "--filter" | "-F") {
            at = at.saturating_add(1);
        } else if let Some(name) = text.strip_prefix("--run=") {
            words.push(name.to_owned());
        } else if text == "--" && words.len() > 1 {
            break;
        } else if !text.starts_with('-') {
            words.push(text.to_owned());
            let only_verb = words.len() == 1 && matches!(text, "run" | "run-script" | "rum" | "urn");
            if !only_verb && !is_list(&program) {
                break;
            }
        }
    }
    let rest = arguments.get(at..).unwrap_or_default().iter().filter(|word| word.text != "--");
    let rest: String =
        rest.map(|word| format!(" {}", if word.known { quote(&word.text) } else { "$ARGUMENT".into() })).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let names = match (program.as_str(), words.as_slice()) {
        (list, names) if is_list(list) => names.to_vec(),
        (_, ["run" | "run-script" | "rum" | "urn", name, ..]) => vec![*name],
        (_, ["test" | "t" | "tst", ..]) => vec!["test"],
        ("npm", [name @ ("start" | "stop" | "restart"), ..]) => vec![*name],
        ("pnpm" | "yarn" | "bun", [name, ..]) => vec![*name],
        ("node", [name, ..]) if arguments.iter().any(|word| word.text.starts_with("--run")) => vec![*name],
        _ => return None,
    };
    (!names.is_empty()).then(|| (names.into_iter().map(str::to_owned).collect(), rest))
}

/// Programs whose words are all scripts of the package.
fn is_list(program: &str) -> bool {
    matches!(program, "npm-run-all" | "run-s" | "run-p")
}
