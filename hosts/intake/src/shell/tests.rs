use super::*;

/// A compact spelling of what was read, one line per command: carriers, words, redirects, then
/// what else is known. A word that is not known ends in `?`, followed by the folders it lies in.
fn shown(text: &str, dialect: Dialect) -> Vec<String> {
    let script = read(text, dialect);
    let mut lines: Vec<String> = script.commands.iter().map(line).collect();
    if let Some(why) = script.unreadable {
        lines.push(format!("! {why:?}"));
    }
    if script.fork_bomb {
        lines.push("! fork bomb".to_owned());
    }
    lines
}

fn word(word: &Word) -> String {
    let mut text = if word.text.is_empty() || word.text.contains([' ', '\n', ';', '|']) { format!("'{}'", word.text) } else { word.text.clone() };
    if word.text.starts_with('~') && !word.home {
        text = format!("\\{text}");
    }
    if !word.known {
        text.push('?');
        if !word.under.is_empty() {
            text.push_str(&format!("{{{}}}", word.under.join(",")));
        }
    }
    text
}

fn line(command: &Command) -> String {
    let mut parts = Vec::new();
    for via in &command.via {
        parts.push(match via {
            Via::Sudo(name) => format!("{name}:"),
            Via::Remote(host) => format!("remote({host}):"),
            Via::Container(name) => format!("container({name}):"),
            Via::Wrapper(name) | Via::Shell(name) => format!("{name}:"),
            Via::Function(name) => format!("{name}():"),
            Via::Inline(name) => format!("inline({name}):"),
            Via::InterpreterOf(name) => format!("stdin({name}):"),
            other => format!("{other:?}:").to_lowercase(),
        });
    }
    for (name, value) in &command.assignments {
        parts.push(format!("{name}={}", word(value)));
    }
    parts.extend(command.words.iter().map(word));
    for redirect in &command.redirects {
        let sign = match redirect.kind {
            RedirectKind::Read => "<",
            RedirectKind::Write => ">",
            RedirectKind::Append => ">>",
            RedirectKind::ReadWrite => "<>",
        };
        parts.push(format!("{sign}{}", word(&redirect.target)));
    }
    match &command.directory {
        Directory::Unchanged => {}
        Directory::Known(path) => parts.push(format!("in({path})")),
        Directory::Unknown => parts.push("in(?)".to_owned()),
    }
    if command.background {
        parts.push("&".to_owned());
    }
    match &command.code_from {
        None => {}
        Some(CodeSource::Literal(_)) => parts.push("code=literal".to_owned()),
        Some(other) => parts.push(format!("code={other:?}").to_lowercase()),
    }
    if let Some(inline) = &command.inline {
        parts.push(format!("lang={}{}", inline.language, if inline.opaque { "!" } else { "" }));
    }
    parts.join(" ")
}

/// `cargo test -- dump --ignored --nocapture` with `DUMP` naming a file of texts, one per line
/// (`\n` for a newline).
#[test]
#[ignore = "a tool to look at what is read"]
fn dump() {
    let file = std::env::var("DUMP").unwrap();
    for text in std::fs::read_to_string(file).unwrap().lines() {
        let (dialect, text) = match text.split_once("§") {
            Some(("ps", text)) => (Dialect::PowerShell, text),
            Some(("cmd", text)) => (Dialect::Cmd, text),
            _ => (Dialect::Posix, text),
        };
        let text = text.replace("␤", "\n");
        println!("$ {text}");
        for line in shown(&text, dialect) {
            println!("    {line}");
        }
    }
}
