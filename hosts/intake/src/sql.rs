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

fn words_of(tokens: &[Token]) -> Vec<String> {
    let words = tokens.iter().filter_map(|token| match token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_ascii_uppercase()),
        Token::SemiColon => Some(";".to_string()),
        _ => None,
    });
    words.collect()
}

fn statement(words: &[String]) -> Option<Doing> {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let first = words.first()?.as_str();
    let destroys = match first {
        "DROP" | "TRUNCATE" | "DELETE" | "PURGE" | "FLUSHALL" | "FLUSHDB" => true,
        "ALTER" => has(&["DROP"]),
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
    let calls = text.split('.').skip(1).map(name);
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
        assert_eq!(doing(".tables"), None);
        assert_eq!(doing("hello world"), None);
    }

    #[test]
    fn document_shells_are_told_by_their_calls() {
        assert_eq!(documents("db.users.find({})"), Doing::Reads);
        assert_eq!(documents("db.users.deleteMany({})"), Doing::Destroys);
        assert_eq!(documents("db.dropDatabase()"), Doing::Destroys);
        assert_eq!(documents("db.users.insertOne({note: 'drop'})"), Doing::Writes);
    }
}
