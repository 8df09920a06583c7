//! SQL text: whether its statements only read, write, or destroy.

use sqlparser::dialect::GenericDialect;
use sqlparser::tokenizer::{Token, Tokenizer};

/// What SQL text would do, the mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Doing {
    /// Only queries.
    Reads,
    /// Adds or changes rows or definitions.
    Writes,
    /// Takes rows, tables or databases away.
    Destroys,
}

/// Longer texts are not read.
const MOST: usize = 256 * 1024;

/// What statements would do; `None` where the text is no SQL.
pub(crate) fn doing(text: &str) -> Option<Doing> {
    if text.len() > MOST {
        return Some(Doing::Destroys);
    }
    let text = &without_client_lines(text);
    let words = match Tokenizer::new(&GenericDialect {}, text).tokenize() {
        Ok(tokens) => words_of(&tokens),
        // Cut off or of an odd dialect: split plainly, so that a destroying word is not missed.
        Err(_) => {
            text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ';').map(str::to_ascii_uppercase).collect()
        }
    };
    let statements = words.split(|word| word == ";").filter(|statement| !statement.is_empty());
    statements.filter_map(statement).max()
}

/// Something that a statement takes away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    /// What is done to which kind of thing: `DROP TABLE`.
    pub(crate) verb: String,
    /// Its name, where the statement gives one plainly.
    pub(crate) name: String,
}

impl Loss {
    /// Whether a whole database goes.
    pub(crate) fn is_database(&self) -> bool {
        self.verb.ends_with(" DATABASE")
    }
}

/// Words that stand before the name of what goes; the second list says nothing of it.
const VERBS: [&str; 21] = [
    "DROP",
    "TRUNCATE",
    "DELETE",
    "FROM",
    "UPDATE",
    "ALTER",
    "REMOVE",
    "PURGE",
    "TABLE",
    "DATABASE",
    "SCHEMA",
    "INDEX",
    "VIEW",
    "MATERIALIZED",
    "SEQUENCE",
    "FUNCTION",
    "TYPE",
    "USER",
    "ROLE",
    "KEYSPACE",
    "NAMESPACE",
];
const BETWEEN: [&str; 5] = ["IF", "EXISTS", "ONLY", "CONCURRENTLY", "TEMPORARY"];

/// What the destroying statements of a text take away.
pub(crate) fn losses(text: &str) -> Vec<Loss> {
    let unread = |text: &str| Loss { verb: text.chars().take(40).collect(), name: String::new() };
    if text.len() > MOST {
        return vec![unread("a long text")];
    }
    let text = without_client_lines(text);
    let Ok(tokens) = Tokenizer::new(&GenericDialect {}, &text).tokenize() else {
        return vec![unread(text.trim())];
    };
    let statements = tokens.split(|token| *token == Token::SemiColon);
    let destroying = statements.filter(|tokens| statement(&words_of(tokens)) == Some(Doing::Destroys));
    destroying.map(loss).collect()
}

/// What one statement takes away.
fn loss(tokens: &[Token]) -> Loss {
    let mut tokens = tokens.iter().filter(|token| !matches!(token, Token::Whitespace(_))).peekable();
    let mut verb: Vec<String> = Vec::new();
    let mut name = String::new();
    while let Some(token) = tokens.next() {
        let Token::Word(word) = token else { break };
        let upper = word.value.to_ascii_uppercase();
        if word.quote_style.is_none() && name.is_empty() && VERBS.contains(&upper.as_str()) {
            verb.push(upper);
        } else if word.quote_style.is_none() && name.is_empty() && BETWEEN.contains(&upper.as_str()) {
        } else if verb.is_empty() {
            // `WITH x AS (DELETE ...)`: what goes stands further in.
            verb.push(upper);
            break;
        } else {
            name.push_str(&word.value);
            if !matches!(tokens.peek(), Some(Token::Period)) {
                break;
            }
            tokens.next();
            name.push('.');
        }
    }
    // Of several only the first is told.
    if matches!(tokens.peek(), Some(Token::Comma)) {
        name.push_str(", ...");
    }
    Loss { verb: verb.join(" "), name }
}

/// Whether a text goes to another database than the one that the client was given.
pub(crate) fn goes_elsewhere(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let by_line = lower.lines().flat_map(|line| line.split(';')).map(str::trim_start);
    let mut starts =
        by_line.filter(|line| ["use ", "\\c", "attach ", ".open"].iter().any(|verb| line.starts_with(verb)));
    starts.next().is_some()
        || ["getsiblingdb", "getsisterdb", "dblink", "connect("].iter().any(|call| lower.contains(call))
}

/// What a client keeps for itself (`.backup x`, `\\d t`, `use app`) is no statement, and ends none.
fn without_client_lines(text: &str) -> String {
    let is_clients = |line: &str| line.trim_start().starts_with(['.', '\\']);
    text.lines().map(|line| if is_clients(line) { ";" } else { line }).collect::<Vec<_>>().join("\n")
}

/// Files that a client is told to write into: `.output x`, `.backup main x`, `\\o x`.
pub(crate) fn written_files(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::split_whitespace);
    let files = lines.filter_map(|mut words| {
        let verb = words.next()?;
        let writes =
            matches!(verb, ".output" | ".once" | ".backup" | ".save" | ".clone" | ".log" | "\\o" | "\\g" | "\\w");
        words.next_back().filter(|_| writes)
    });
    let files = files.map(|file| file.trim_matches(['"', '\'']).to_string());
    files.filter(|file| !file.starts_with('|') && !matches!(file.as_str(), "stdout" | "off")).collect()
}

/// The words of statements. The text of a block (`DO $$ ... $$`) is statements, too, and what it executes may be given as a string.
fn words_of(tokens: &[Token]) -> Vec<String> {
    let mut words = Vec::new();
    let mut in_block = false;
    for token in tokens {
        match token {
            Token::Word(word) if word.quote_style.is_none() => {
                let word = word.value.to_ascii_uppercase();
                in_block |= matches!(word.as_str(), "DO" | "EXECUTE" | "EXEC" | "CALL");
                words.push(word);
            }
            Token::SemiColon => {
                in_block = false;
                words.push(";".to_string());
            }
            Token::DollarQuotedString(text) if in_block => words.extend(inner(&text.value)),
            Token::SingleQuotedString(text) if in_block => words.extend(inner(text)),
            _ => {}
        }
    }
    words
}

/// The words of a text inside a statement; its own statements stay part of the outer one.
fn inner(text: &str) -> Vec<String> {
    let split = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    split.filter(|word| !word.is_empty()).map(str::to_ascii_uppercase).collect()
}

fn statement(words: &[String]) -> Option<Doing> {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let first = words.first()?.as_str();
    let destroys = match first {
        "DROP" | "TRUNCATE" | "DELETE" | "PURGE" | "FLUSHALL" | "FLUSHDB" => true,
        "ALTER" => has(&["DROP", "TRUNCATE"]) || deletes(words),
        "MERGE" | "MATCH" | "OPTIONAL" | "UNWIND" => deletes(words),
        // `REMOVE TABLE x`, as one document database has it.
        "REMOVE" => has(&["TABLE", "DATABASE", "NAMESPACE", "FIELD", "INDEX"]),
        "UPDATE" => !has(&["WHERE"]),
        "WITH" | "EXPLAIN" => has(&["DELETE", "TRUNCATE", "DROP"]) && (first != "EXPLAIN" || has(&["ANALYZE"])),
        "BEGIN" | "DO" | "EXEC" | "EXECUTE" | "CALL" => has(&["DELETE", "TRUNCATE", "DROP"]),
        _ => false,
    };
    if destroys {
        return Some(Doing::Destroys);
    }
    Some(match first {
        "SELECT" | "SHOW" | "EXPLAIN" | "DESCRIBE" | "DESC" | "PRAGMA" | "VALUES" | "TABLE" | "USE" | "SET"
        | "HELP" | "LIST" => {
            if has(&["INTO"]) && first == "SELECT" {
                Doing::Writes
            } else {
                Doing::Reads
            }
        }
        "WITH" if !has(&["INSERT", "UPDATE", "MERGE"]) => Doing::Reads,
        "WITH" | "INSERT" | "UPDATE" | "CREATE" | "ALTER" | "MERGE" | "REPLACE" | "GRANT" | "REVOKE" | "COPY"
        | "LOAD" | "ANALYZE" | "VACUUM" | "REINDEX" | "BEGIN" | "COMMIT" | "ROLLBACK" | "START" | "END"
        | "SAVEPOINT" | "ATTACH" | "DETACH" | "DO" | "EXEC" | "EXECUTE" | "CALL" | "COMMENT" | "REFRESH"
        | "CLUSTER" | "LOCK" | "UPSERT" | "IMPORT" | "RENAME" => Doing::Writes,
        _ => return None,
    })
}

/// Whether rows are deleted: `ON DELETE CASCADE`, `BEFORE DELETE` and `GRANT SELECT, DELETE` only speak of it.
fn deletes(words: &[String]) -> bool {
    let before = std::iter::once("").chain(words.iter().map(String::as_str));
    let speaks = |before: &str| matches!(before, "ON" | "FOR" | "BEFORE" | "AFTER" | "OF" | "OR" | "GRANT" | "REVOKE");
    words.iter().zip(before).any(|(word, before)| word == "DELETE" && !speaks(before))
}

/// What a program for a document database's shell would do.
pub(crate) fn documents(text: &str) -> Doing {
    const DESTROYING: [&str; 15] = [
        "delete",
        "delete_all",
        "destroy",
        "destroy_all",
        "truncate",
        "forcedelete",
        "drop",
        "dropdatabase",
        "dropindex",
        "dropcollection",
        "deletemany",
        "deleteone",
        "remove",
        "findoneanddelete",
        "bulkdelete",
    ];
    const WRITING: [&str; 8] =
        ["insert", "insertone", "insertmany", "updateone", "updatemany", "replaceone", "save", "createindex"];
    // Of some languages a call needs no brackets: `User.delete_all`.
    let name = |text: &str| {
        let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        name.to_ascii_lowercase()
    };
    // `db["users"]["drop"]()`, `User::truncate()`
    let calls = text.split(['.', '[', ':']).skip(1).map(|call| name(call.trim_start_matches(['"', '\'', '`'])));
    let mut doing = Doing::Reads;
    for call in calls {
        if DESTROYING.contains(&call.as_str()) {
            return Doing::Destroys;
        }
        if WRITING.contains(&call.as_str()) {
            doing = Doing::Writes;
        }
    }
    doing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_told_by_their_words_not_by_their_strings() {
        assert_eq!(doing("SELECT * FROM t WHERE x = 'DROP TABLE t; DELETE FROM t'"), Some(Doing::Reads));
        assert_eq!(doing("select 1; -- drop table t\n"), Some(Doing::Reads));
        assert_eq!(doing("DELETE FROM users;"), Some(Doing::Destroys));
        assert_eq!(doing("insert into t values (1); drop table t"), Some(Doing::Destroys));
        assert_eq!(doing("UPDATE t SET a = 1"), Some(Doing::Destroys));
        assert_eq!(doing("UPDATE t SET a = 1 WHERE id = 2"), Some(Doing::Writes));
        assert_eq!(doing("ALTER TABLE t DROP COLUMN a"), Some(Doing::Destroys));
        assert_eq!(doing("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x"), Some(Doing::Destroys));
        assert_eq!(doing("select \"delete\" from t"), Some(Doing::Reads));
        assert_eq!(doing("drop table 'unclosed"), Some(Doing::Destroys));
        assert_eq!(doing("ALTER TABLE t DELETE WHERE 1"), Some(Doing::Destroys));
        assert_eq!(doing("ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES u ON DELETE CASCADE"), Some(Doing::Writes));
        assert_eq!(doing("CREATE TRIGGER x BEFORE DELETE ON t EXECUTE FUNCTION f()"), Some(Doing::Writes));
        assert_eq!(doing("MATCH (n) DETACH DELETE n"), Some(Doing::Destroys));
        assert_eq!(doing("MATCH (n) RETURN n"), None);
        assert_eq!(doing("DO $$ BEGIN EXECUTE 'DROP TABLE t'; END $$"), Some(Doing::Destroys));
        assert_eq!(doing("DO $$ BEGIN PERFORM 1; END $$"), Some(Doing::Writes));
        assert_eq!(doing(".backup x.db\nDROP TABLE t;"), Some(Doing::Destroys));
        assert_eq!(doing("\\d drop"), None);
        assert_eq!(doing(".tables"), None);
        assert_eq!(doing("hello world"), None);
    }

    #[test]
    fn a_destroying_statement_tells_what_goes() {
        let told = |text: &str| losses(text).into_iter().map(|loss| (loss.verb, loss.name)).collect::<Vec<_>>();
        let pair = |verb: &str, name: &str| (verb.to_string(), name.to_string());
        assert_eq!(told("drop table if exists public.users cascade"), [pair("DROP TABLE", "public.users")]);
        assert_eq!(
            told("select 1; DELETE FROM t; truncate a, b"),
            [pair("DELETE FROM", "t"), pair("TRUNCATE", "a, ...")]
        );
        assert_eq!(told("DROP DATABASE \"app_test\""), [pair("DROP DATABASE", "app_test")]);
        assert_eq!(told("with x as (delete from t returning 1) select 1"), [pair("WITH", "")]);
        assert_eq!(told("select 1"), []);
        assert!(
            goes_elsewhere("use app; drop table t") && goes_elsewhere("\\c app") && !goes_elsewhere("drop table users")
        );
    }

    #[test]
    fn document_shells_are_told_by_their_calls() {
        assert_eq!(documents("db.users.find({})"), Doing::Reads);
        assert_eq!(documents("db.users.deleteMany({})"), Doing::Destroys);
        assert_eq!(documents("db.dropDatabase()"), Doing::Destroys);
        assert_eq!(documents("db[\"users\"]['drop']()"), Doing::Destroys);
        assert_eq!(documents("User::truncate()"), Doing::Destroys);
        assert_eq!(documents("db.users.insertOne({note: 'drop'})"), Doing::Writes);
    }
}
