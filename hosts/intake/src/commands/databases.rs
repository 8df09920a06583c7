//! Databases: which one a command acts on, and whether the tests make it again.

use super::{Asked, Reader, gives_option, option_value};
use crate::sql;
use stigmergate_core::policy::commands::Observe;

/// Options whose value names a database.
const OPTIONS: [&str; 4] = ["-d", "--dbname", "-D", "--database"];
/// Options whose value names the environment of a framework.
const ENVIRONMENTS: [&str; 3] = ["--env", "--environment", "-e"];

impl Reader<'_> {
    /// `RAILS_ENV=test rails db:drop`, `dropdb app_test`: data that the tests make again.
    pub(super) fn is_for_tests(&self, asked: &Asked<'_>) -> bool {
        let by_operand = asked.reading.observe.contains(&Observe::Database);
        match self.named_databases(asked).as_slice() {
            [] if by_operand => false,
            [] => asked.reading.observe.contains(&Observe::Environment) && self.is_test_environment(asked),
            names => names.iter().all(|name| self.policy.places.is_test_data(database_of(name))),
        }
    }

    /// Whether the statements that destroy, among all that are given, take away nothing but test data.
    pub(super) fn loses_test_data(&self, asked: &Asked<'_>, destroying: &[&str], all: &[&str]) -> bool {
        let is_test = |name: &str| self.policy.places.is_test_data(name);
        let losses: Vec<sql::Loss> = destroying.iter().flat_map(|text| sql::losses(text)).collect();
        if !losses.is_empty() && losses.iter().all(|loss| loss.is_database() && is_test(&loss.name)) {
            return true;
        }
        let here = |loss: &sql::Loss| match loss.name.split_once('.') {
            Some((owner, _)) => is_test(owner) || matches!(owner, "public" | "dbo"),
            None => !loss.is_database() || is_test(&loss.name),
        };
        self.is_for_tests(asked) && losses.iter().all(here) && !all.iter().any(|text| sql::goes_elsewhere(text))
    }

    /// The databases that a command's words, or the variables that it is given, name; an unknown word stands for itself.
    fn named_databases(&self, asked: &Asked<'_>) -> Vec<String> {
        let given = self.command.assignments.iter().chain(self.command.environment.iter());
        let variables = given.filter(|(name, _)| {
            matches!(name.as_str(), "PGDATABASE" | "DB_NAME" | "DB_DATABASE") || name.ends_with("DATABASE_URL")
        });
        let mut names: Vec<String> = variables.map(|(_, word)| name_of(word)).collect();
        if asked.reading.observe.contains(&Observe::Database) {
            let operands = asked.reading.operands.iter().filter_map(|number| asked.arguments.get(*number));
            names.extend(operands.map(name_of));
            names.extend(values(asked, &OPTIONS));
        }
        names
    }

    /// Whether the environment that a framework is told is the tests'.
    fn is_test_environment(&self, asked: &Asked<'_>) -> bool {
        let mut told = values(asked, &ENVIRONMENTS);
        let as_variable = |word: &super::Word| {
            let (name, value) = word.text.split_once('=')?;
            (name.ends_with("_ENV") && !name.starts_with('-')).then(|| value.to_string())
        };
        told.extend(asked.arguments.iter().filter_map(as_variable));
        if told.is_empty() {
            let given = self.command.assignments.iter().chain(self.command.environment.iter());
            told.extend(given.filter(|(name, _)| name.ends_with("_ENV")).map(|(_, word)| name_of(word)));
        }
        !told.is_empty() && told.iter().all(|name| self.policy.places.is_test_data(name))
    }
}

/// The values of some options: `--env x`, `--env=x`, `-dx`.
fn values(asked: &Asked<'_>, options: &[&str]) -> Vec<String> {
    let following = asked.arguments.iter().skip(1).map(Some).chain([None]);
    let value = |(word, next): (&super::Word, Option<&super::Word>)| {
        if options.contains(&word.text.as_str()) {
            return next.map(name_of);
        }
        let given = |option: &&&str| match option.len() {
            2 => word.text.starts_with(**option) && !word.text.starts_with("--"),
            _ => word.text.contains('=') && gives_option(&word.text, option),
        };
        options.iter().find(given).map(|_| name_of(&option_value(word)))
    };
    asked.arguments.iter().zip(following).filter_map(value).collect()
}

/// The text of a word; one that cannot be told names nothing that the tests make.
fn name_of(word: &super::Word) -> String {
    if word.known { word.text.clone() } else { "?".to_string() }
}

/// The name of a database in its address, or the word.
fn database_of(word: &str) -> &str {
    if let Some((_, after)) = word.split_once("://") {
        let path = after.split(['?', '#']).next().unwrap_or(after);
        return path.split_once('/').map_or("", |(_, name)| name);
    }
    let setting = word.split_whitespace().find_map(|part| part.strip_prefix("dbname="));
    setting.unwrap_or(word)
}
