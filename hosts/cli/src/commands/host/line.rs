//! A program with its arguments, as a line for a shell and back.
//!
//! Only the plainest spellings are read: words and quotes. A line that does more (expands, pipes, chains) is somebody's own script.

/// Whose rules a line follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quoting {
    Posix,
    PowerShell,
    Cmd,
}

/// The line that starts a program.
pub(crate) fn line(words: &[String], shell: Quoting) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quote(word, shell)).collect();
    let is_quoted = quoted.first().is_some_and(|program| program.starts_with('\''));
    // A quoted word alone is a text to PowerShell, not a program.
    let call = if shell == Quoting::PowerShell && is_quoted { "& " } else { "" };
    format!("{call}{}", quoted.join(" "))
}

fn quote(word: &str, shell: Quoting) -> String {
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '_' | '-' | '.' | '/' | ':' | '+' | '=')
            || (c == '\\' && shell != Quoting::Posix)
    };
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    match shell {
        Quoting::Posix => format!("'{}'", word.replace('\'', "'\\''")),
        Quoting::PowerShell => format!("'{}'", word.replace('\'', "''")),
        Quoting::Cmd => format!("\"{word}\""),
    }
}

/// The words of a line that only starts a program; `None` where it does anything else.
pub(crate) fn words(line: &str, shell: Quoting) -> Option<Vec<String>> {
    let line = match shell {
        Quoting::PowerShell => line.trim_start().strip_prefix('&').unwrap_or(line),
        _ => line,
    };
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            ' ' | '\t' => words.extend(word.take()),
            '\'' if shell != Quoting::Cmd => loop {
                let word = word.get_or_insert_default();
                match rest.next()? {
                    '\'' if shell == Quoting::PowerShell && rest.next_if_eq(&'\'').is_some() => word.push('\''),
                    '\'' => break,
                    other => word.push(other),
                }
            },
            '"' => loop {
                let word = word.get_or_insert_default();
                match rest.next()? {
                    '"' => break,
                    '$' | '`' => return None,
                    '\\' if shell == Quoting::Posix => return None,
                    other => word.push(other),
                }
            },
            '\\' if shell == Quoting::Posix => word.get_or_insert_default().push(rest.next()?),
            // At the beginning of a word these mean something, inside they do not.
            '~' | '#' if word.is_none() => return None,
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' | '*' | '?' | '[' | ']' | '{' | '}' | '!' | '%'
            | '^' | '\n' | '\r' => return None,
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    (!words.is_empty()).then_some(words)
}
