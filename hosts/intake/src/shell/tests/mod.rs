//! Tests of the reading, and of what hostile text can cost.

mod rules;

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
    let mut text = if word.text.is_empty() || word.text.contains([' ', '\n', ';', '|']) {
        format!("'{}'", word.text)
    } else {
        word.text.clone()
    };
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
        Directory::Beneath(path) => parts.push(format!("in({path}/?)")),
        Directory::Unknown => parts.push("in(?)".to_owned()),
    }
    if command.directory_assumed {
        parts.push("maybe".to_owned());
    }
    if command.background {
        parts.push("&".to_owned());
    }
    match &command.code_from {
        None => {}
        Some(CodeSource::Setup) => parts.push("code=setup".to_owned()),
        Some(CodeSource::Literal(_)) => parts.push("code=literal".to_owned()),
        Some(other) => parts.push(format!("code={other:?}").to_lowercase()),
    }
    if let Some(inline) = &command.inline {
        parts.push(format!("lang={}{}", inline.language, if inline.opaque { "!" } else { "" }));
    }
    parts.join(" ")
}

fn check(cases: &[(Dialect, &str, &[&str])]) {
    for (dialect, text, expected) in cases {
        assert_eq!(shown(text, *dialect), *expected, "\n{text}\n");
    }
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
        println!("\u{1e}$ {text}");
        for line in shown(&text, dialect) {
            println!("\u{1d}    {line}");
        }
    }
}

#[test]
fn a_pipe_names_what_is_upstream() {
    let script = read("cat a | grep b | wc -l; { echo a; echo b; } | sort", Dialect::Posix);
    let stdin: Vec<&Stdin> = script.commands.iter().map(|c| &c.stdin).collect();
    let pipe = |at: &[usize]| Stdin::Pipe(at.to_vec());
    assert_eq!(stdin, [&Stdin::None, &pipe(&[0]), &pipe(&[1]), &Stdin::None, &Stdin::None, &pipe(&[3, 4])]);
    let joined: Vec<Joined> = read("a && b || c; d | e", Dialect::Posix).commands.iter().map(|c| c.joined).collect();
    assert_eq!(joined, [Joined::Sequence, Joined::And, Joined::Or, Joined::Sequence, Joined::Pipe]);
}

#[test]
fn standard_input_is_kept() {
    let stdin = |text: &str| read(text, Dialect::Posix).commands.pop().unwrap().stdin;
    assert_eq!(
        stdin("psql <<EOF\ndrop table a;\nEOF\n"),
        Stdin::Text { text: "drop table a;\n".to_owned(), known: true }
    );
    assert_eq!(
        stdin("psql <<EOF\ndrop table $T;\nEOF\n"),
        Stdin::Text { text: "drop table $T;\n".to_owned(), known: false }
    );
    assert_eq!(stdin("psql <<< 'drop table a'"), Stdin::Text { text: "drop table a".to_owned(), known: true });
    assert!(matches!(stdin("psql < a.sql"), Stdin::File(word) if word.text == "a.sql"));
}

#[test]
fn earlier_variables_are_kept_as_environment() {
    let script = read("export DATABASE_URL=postgres://prod; A=$(x); npm run db:push", Dialect::Posix);
    let last = script.commands.last().unwrap();
    let url = last.environment.iter().find(|(name, _)| name == "DATABASE_URL").unwrap();
    assert_eq!(url.1.text, "postgres://prod");
    assert!(last.environment.iter().any(|(name, word)| name == "A" && !word.known));
}

#[test]
fn a_word_keeps_its_spelling_and_marks() {
    let words = |text: &str| read(text, Dialect::Posix).commands.pop().unwrap().words;
    let word = |text: &str| words(text).pop().unwrap();
    assert_eq!(word(r"type secrets\id_rsa").raw, r"secrets\id_rsa");
    assert!(word("rm *").glob && !word("rm '*'").glob && !word("rm \\*").glob);
    assert!(word("rm 'a'").quoted && !word("rm a").quoted);
    assert!(word("rm ~").home && word("rm $HOME/a").home && !word("rm '~'").home && !word(r"rm \~").home);
    assert!(word("for f in *; do rm \"$f\"; done").glob);
    assert!(word("rm {1..1000}").glob);
    assert!(word("rm ~/a").is_plain() && !word("rm ~/*").is_plain());
}

#[test]
fn a_program_is_named_without_its_folder() {
    let program = |text: &str| read(text, Dialect::Posix).commands.pop().unwrap().program();
    assert_eq!(program("/usr/bin/rm x"), "rm");
    assert_eq!(program("./node_modules/.bin/tsc"), "tsc");
    assert_eq!(program("'C:\\Windows\\System32\\FORMAT.COM' c:"), "format");
    assert_eq!(program("Rm x"), "Rm");
}

#[test]
fn nul_bytes_hide_nothing() {
    let script = read("r\0m -rf notes", Dialect::Posix);
    assert_eq!(script.commands.last().unwrap().program(), "rm");
    assert_eq!(script.unreadable, Some(Unreadable::Binary));
}

// ---- Hostile input

/// Reads a text that no parser should have to; that it ends at all is what is tested.
fn bounded(text: &str, dialect: Dialect) -> Script {
    let script = read(text, dialect);
    assert!(script.commands.len() <= MAX_COMMANDS);
    script
}

#[test]
fn hostile_text_gets_an_answer_in_bounded_time() {
    let nests = [
        ("(", ")"),
        ("((", "))"),
        ("( ", " )"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("$((", "))"),
        ("`", "`"),
        ("{ ", ";}"),
        ("[[ ", " ]]"),
        ("[[ ( ", " ) ]]"),
        ("${x:-", "}"),
        ("\"${x:-", "}\""),
        ("if ", "; then :; fi"),
        ("if x; then ", "; fi"),
        ("while x; do ", "; done"),
        ("case a in b) ", " esac"),
        ("case a in b) ", ";; esac"),
        ("<(", ")"),
        ("cat <(", ")"),
        ("f() { ", "; }"),
        ("! ", ""),
        ("a=(", ")"),
        ("@(", ")"),
        ("{a,", "}"),
        ("eval ", ""),
        ("sh -c '", "'"),
        ("coproc ", ""),
        ("( ( a ; ", " ) )"),
        ("x() ( ", " )"),
        ("for i in a; do ", "; done"),
        ("function f { ", "; }"),
        ("$[", "]"),
        ("time ", ""),
        ("a | ( ", " )"),
        ("<<a ", "\na\n"),
        ("\\", ""),
        ("'", ""),
        ("\"", ""),
        ("~", ""),
        ("{1..", "}"),
        ("$'", "'"),
        ("until x; do ", "; done"),
        ("\"`", "`\""),
        ("echo $(case x in a) ", ";; esac)"),
    ];
    for dialect in [Dialect::Posix, Dialect::PowerShell, Dialect::Cmd] {
        for (open, close) in nests {
            for depth in [5, 10, 20, 39, 41, 100, 1000, 8000] {
                bounded(&format!("{}rm x{}", open.repeat(depth), close.repeat(depth)), dialect);
                bounded(&format!("{}rm x", open.repeat(depth)), dialect);
                bounded(&format!("{}rm x{}", open.repeat(depth), close.repeat(depth / 2)), dialect);
            }
        }
    }
}

#[test]
fn long_text_gets_an_answer_in_bounded_time() {
    let long = [
        ("and", "true && ".repeat(5000) + "rm x"),
        ("or", "true || ".repeat(5000) + "rm x"),
        ("pipe", "cat | ".repeat(5000) + "rm x"),
        ("seq", "rm x; ".repeat(5000)),
        ("lines", "rm x\n".repeat(5000)),
        ("words", format!("rm {}", "x ".repeat(30_000))),
        ("groups", "((((((((a;b))))))))\n".repeat(3000)),
        ("groups2", "( ( ( ( ( ( a ; b ) ) ) ) ) )\n".repeat(2000)),
        ("quote", "\"".repeat(60_001)),
        ("dollar", "$".repeat(60_000)),
        ("subs", "$(a)".repeat(10_000)),
        ("unclosed subs", "$(".repeat(30_000)),
        ("vars", "X=$X$X; ".repeat(200) + "rm $X"),
        ("doubling", format!("X=abcdefghij; {} rm $X", "X=$X$X; ".repeat(60))),
        ("arrays", format!("a=(x y); {} rm ${{a[@]}}", "a=(\"${a[@]}\" \"${a[@]}\"); ".repeat(30))),
        ("braces", format!("rm {}", "{a,b}".repeat(40))),
        ("loops", format!("{} rm x {}", "for i in {1..50}; do ".repeat(8), "; done".repeat(8))),
        (
            "functions",
            (0..12).map(|i| format!("f{i}() {{ f{}; f{}; f{}; }}; ", i + 1, i + 1, i + 1)).collect::<String>() + "f0",
        ),
        ("here", "cat <<EOF\nx\nEOF\n".repeat(3000)),
        ("here tags", "<<A ".repeat(10_000)),
        ("comment", "#".repeat(60_000)),
        ("backslash", "\\".repeat(60_001)),
        ("enormous", "rm x; ".repeat(400_000)),
        ("python", format!("python -c '{}'", "a(".repeat(20_000))),
        ("python names", format!("python -c '{}'", "os.remove(".repeat(5000))),
        ("python dots", format!("python -c '{}'", "a.b".repeat(15_000))),
        ("python list", format!("python -c 'x={}'", "[".repeat(40_000))),
        ("evals", "eval ".repeat(10_000) + "rm x"),
        ("sudos", "sudo ".repeat(10_000) + "rm x"),
        ("aliases", "alias a='a a'; a\n".repeat(500)),
        ("assignments", "A=b ".repeat(15_000) + "rm x"),
        ("redirects", "rm x ".to_owned() + &">a ".repeat(15_000)),
        ("globs", format!("X={}; echo ${{X%*a*a*a*a*a*b}}", "a".repeat(250))),
        ("cases", format!("case x in {} esac", "a) rm x;; ".repeat(5000))),
        ("cds", "cd a; ".repeat(5000) + "rm x"),
    ];
    for (_, text) in &long {
        for dialect in [Dialect::Posix, Dialect::PowerShell, Dialect::Cmd] {
            bounded(text, dialect);
        }
    }
}

// ---- Any text

mod any_text {
    use super::*;
    use proptest::prelude::*;

    const TOKENS: &[&str] = &[
        " ",
        " ",
        " ",
        "\n",
        ";",
        "&",
        "&&",
        "||",
        "|",
        "|&",
        "(",
        ")",
        "((",
        "))",
        "{",
        "}",
        "[[",
        "]]",
        "[",
        "]",
        "$",
        "$(",
        "${",
        "$((",
        "`",
        "'",
        "\"",
        "\\",
        "<",
        ">",
        ">>",
        "<<",
        "<<-",
        "<<<",
        "<(",
        ">(",
        "&>",
        ">|",
        "<>",
        "2>&1",
        "EOF",
        "if",
        "then",
        "else",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "while",
        "until",
        "case",
        "esac",
        ";;",
        ";&",
        "function",
        "select",
        "coproc",
        "time",
        "!",
        "f()",
        "f",
        ":",
        "a=",
        "a=b",
        "a+=(",
        "export",
        "rm",
        "-rf",
        "x",
        "~",
        "*",
        "?",
        "{a,b}",
        "{1..9}",
        "{1..99999999999999999999}",
        "#",
        "eval",
        "bash",
        "-c",
        "sudo",
        "xargs",
        "find",
        "-exec",
        "{}",
        "+",
        "echo",
        "cat",
        "base64",
        "-d",
        "python",
        "os.remove(",
        "node",
        "-e",
        "cd",
        "..",
        "$a",
        "${a:-",
        "${a%",
        "$@",
        "%",
        "^",
        "%a%",
        "@(",
        "é",
        "\u{0}",
        "\u{7f}",
        "\r",
        "\t",
        "ssh",
        "h",
        "trap",
        "alias",
        "cmd",
        "/c",
        "pwsh",
        "-",
        "--",
        "99999999999",
        "set",
        "--",
        "$'",
        "\\x",
        ".",
        "=",
        ",",
        "$env:",
        "@{",
        "parallel",
        ":::",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn is_read_without_a_panic_in_bounded_time(picks in proptest::collection::vec(0..TOKENS.len(), 0..60), dialect in 0..3_usize) {
            let text: String = picks.iter().map(|i| TOKENS[*i]).collect();
            let dialect = [Dialect::Posix, Dialect::PowerShell, Dialect::Cmd][dialect];
            bounded(&text, dialect);
        }

        #[test]
        fn in_any_characters_is_read(text in any::<String>()) {
            for dialect in [Dialect::Posix, Dialect::PowerShell, Dialect::Cmd] {
                bounded(&text, dialect);
            }
        }

        #[test]
        fn of_a_program_is_read(picks in proptest::collection::vec(0..TOKENS.len(), 0..40), language in 0..6_usize) {
            let text: String = picks.iter().map(|i| TOKENS[*i]).collect();
            let program = ["python -c", "node -e", "perl -e", "ruby -e", "php -r", "awk"][language];
            let text = format!("{program} {}", super::super::walk::quote(&text));
            bounded(&text, Dialect::Posix);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever stands before it, a command on a line of its own is seen.
        #[test]
        fn never_hides_a_later_line(picks in proptest::collection::vec(0..OPEN.len(), 0..16)) {
            let text: String = picks.iter().map(|i| OPEN[*i]).collect();
            let script = read(&format!("{text}\nunlink target"), Dialect::Posix);
            prop_assert!(script.commands.iter().any(|c| c.words.iter().any(|w| w.text == "unlink")), "{text:?} {script:?}");
        }
    }

    /// Tokens after which a new line still starts a command: no quote, bracket or continuation.
    const OPEN: &[&str] = &[
        " ",
        ";",
        "&",
        "&&",
        "||",
        "|",
        ")",
        "}",
        "]]",
        "]",
        ">",
        ">>",
        "&>",
        "2>&1",
        "if",
        "then",
        "else",
        "fi",
        "in",
        "do",
        "done",
        "while",
        "until",
        "esac",
        ";;",
        "time",
        "!",
        ":",
        "a=",
        "a=b",
        "rm",
        "-rf",
        "x",
        "~",
        "*",
        "?",
        "#",
        "eval",
        "bash",
        "-c",
        "sudo",
        "xargs",
        "find",
        "-exec",
        "+",
        "echo",
        "cat",
        "base64",
        "python",
        "node",
        "-e",
        "cd",
        "..",
        "%",
        "^",
        "é",
        "ssh",
        "h",
        "trap",
        "cmd",
        "/c",
        "pwsh",
        "-",
        "--",
        "99999999999",
        ".",
        "=",
        ",",
        "parallel",
        ":::",
        "exit",
        "{a,b}",
        "\u{0}",
        "\t",
    ];
}
