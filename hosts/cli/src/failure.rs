//! What went wrong, for people in one line and for programs as JSON.

use std::fmt;
use stigmergate_core::error::Error;
use stigmergate_intake::settings::SettingsError;
use stigmergate_store::StoreError;

/// Done; a proposal may go on.
pub(crate) const DONE: u8 = 0;
/// A proposal may not go on, or a check found something.
pub(crate) const FOUND: u8 = 1;
/// Wrong usage, or an error.
pub(crate) const FAILED: u8 = 2;
/// What was asked for is not there.
pub(crate) const ABSENT: u8 = 3;

/// An error that ends the command.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// Stable, for programs.
    pub(crate) code: String,
    /// The input or key that is wrong, where one is.
    pub(crate) field: Option<String>,
    /// What is wrong and what to do, in one line.
    pub(crate) message: String,
    /// The exit code.
    pub(crate) exit: u8,
}

impl Failure {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), field: None, message: message.into(), exit: FAILED }
    }

    pub(crate) fn absent(code: &str, message: impl Into<String>) -> Self {
        Self { exit: ABSENT, ..Self::new(code, message) }
    }

    /// A file that cannot be read. `name` says which, as people may see it.
    pub(crate) fn unreadable(name: &str, error: &std::io::Error) -> Self {
        let message = format!("{name} cannot be read: {error}");
        match error.kind() {
            std::io::ErrorKind::NotFound => Self::absent("not_found", message),
            _ => Self::new("io", message),
        }
    }

    pub(crate) fn saying(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    pub(crate) fn in_field(mut self, field: &str) -> Self {
        self.field = Some(field.to_owned());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let absent = matches!(error, Error::UnknownProposal { .. });
        Self {
            code: error.code().to_owned(),
            field: error.field().map(|field| field.as_str().to_owned()),
            message: error.to_string(),
            exit: if absent { ABSENT } else { FAILED },
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Core(error) => error.into(),
            StoreError::NotFound { .. } => Self::absent(error.code(), error.to_string()),
            other => Self::new(other.code(), other.to_string()),
        }
    }
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        let mut failure = Self::new(error.code(), error.to_string());
        failure.field = error.field().map(str::to_owned);
        failure
    }
}
