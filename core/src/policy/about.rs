//! What each key of a policy means, told by the documentation of the fields themselves: it is written in one place only.

use alloc::string::String;
use alloc::vec::Vec;

/// The files in which the parts of a policy are declared.
const DECLARED: [&str; 5] = [
    include_str!("mod.rs"),
    include_str!("attest.rs"),
    include_str!("commands.rs"),
    include_str!("falsify.rs"),
    include_str!("../budget.rs"),
];

/// A declared field.
struct Field {
    /// The struct that has it.
    of: &'static str,
    name: &'static str,
    /// Its type, as declared.
    kind: &'static str,
    meaning: String,
}

/// What a key means: `None` for one that no policy has. `key` has dots (`gate.execute`); a name in a table of names
/// (`budget.accounts.NAME.llm_calls`) may be any.
///
/// ```
/// let meaning = stigmergate_core::policy::about("time.tick_ms").unwrap();
/// assert!(meaning.contains("milliseconds"));
/// assert_eq!(stigmergate_core::policy::about("time.tock_ms"), None);
/// ```
#[must_use]
pub fn about(key: &str) -> Option<String> {
    let fields: Vec<Field> = DECLARED.into_iter().flat_map(fields).collect();
    let mut kind = "Policy";
    let mut meaning = None;
    for segment in key.split('.') {
        if let Some((_, value)) = kind.strip_prefix("BTreeMap<").and_then(|inner| inner.split_once(", ")) {
            kind = value.strip_suffix('>').unwrap_or(value);
            // The names in a table of plain values may have dots of their own.
            if !kind.starts_with("BTreeMap<") && !fields.iter().any(|field| field.of == kind) {
                break;
            }
            continue;
        }
        let kind_name = kind.rsplit("::").next().unwrap_or(kind);
        let field = fields.iter().find(|field| field.of == kind_name && field.name == segment)?;
        kind = field.kind;
        meaning = Some(field.meaning.clone());
    }
    meaning
}

/// The documented fields of the structs in a file.
fn fields(text: &'static str) -> Vec<Field> {
    let mut of = "";
    let mut meaning: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let words = line.trim_start();
        if let Some(name) = words.strip_prefix("pub struct ").and_then(|rest| rest.strip_suffix(" {")) {
            of = name;
        } else if line == "}" {
            of = "";
        } else if let Some(text) = words.strip_prefix("///") {
            meaning.push(text.trim());
            continue;
        } else if words.starts_with("#[") {
            continue;
        } else if let Some((name, kind)) = words.strip_suffix(',').and_then(|field| field.split_once(": "))
            && !of.is_empty()
        {
            let name = name.rsplit(' ').next().unwrap_or(name);
            found.push(Field { of, name, kind, meaning: plain(&meaning.join(" ")) });
        }
        meaning.clear();
    }
    found
}

/// The text without the marks that make links and code of words.
fn plain(text: &str) -> String {
    text.replace("[`", "`").replace("`]", "`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Policy, Preset};
    use serde_json::Value;

    fn each_key(value: &Value, path: &str, each: &mut impl FnMut(&str)) {
        if !path.is_empty() {
            each(path);
        }
        for (key, below) in value.as_object().into_iter().flatten() {
            let path = if path.is_empty() { key.clone() } else { alloc::format!("{path}.{key}") };
            each_key(below, &path, each);
        }
    }

    #[test]
    fn every_key_of_every_preset_has_a_meaning() {
        for preset in Preset::ALL {
            let policy = serde_json::to_value(Policy::preset(preset)).unwrap();
            each_key(&policy, "", &mut |key| {
                assert!(about(key).is_some_and(|meaning| !meaning.is_empty()), "{key}");
            });
        }
    }

    #[test]
    fn a_key_that_no_policy_has_means_nothing() {
        for key in ["", "gate.exekute", "gate.execute.more", "preset.x"] {
            assert_eq!(about(key), None, "{key}");
        }
        assert_eq!(about("budget.accounts.anybody.llm_calls"), about("budget.caps.llm_calls"));
    }
}
