//! A policy's JSON: a preset, with some of its fields replaced.

use super::{Policy, Preset};
use crate::error::Error;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::{Map, Value};

/// A longer text is no policy.
pub const MAX_POLICY_BYTES: usize = 1 << 20;

/// Fields that hold a list: what is given is added to the preset's, unless the field's name ends in `!`.
const EXTENDED: [&str; 11] = [
    "commands.rows",
    "classes",
    "places.protected",
    "places.secrets",
    "places.not_secrets",
    "places.secret_names",
    "places.shared_branches",
    "places.production",
    "places.test_data",
    "places.own_services",
    "places.not_own_services",
];

/// The list whose first matching item counts.
const FIRST_COUNTS: &str = "classes";

/// Fields whose keys are free.
const FREE: [&str; 3] = ["budget.accounts", "places.rebuildable", "roles.matrix"];

impl Policy {
    /// Reads a policy: `{"preset": "standard", "gate": {"execute": 0.8}}`. What is not named is the preset's (`standard` without
    /// one). Tables of places, classes and commands are added to; a name with `!` at its end replaces the table.
    ///
    /// ```
    /// use stigmergate_core::policy::Policy;
    /// let policy = Policy::from_json(r#"{"preset": "standard", "gate": {"execute": 0.8}}"#).unwrap();
    /// assert_eq!(policy.gate.execute.to_f64(), 0.8);
    /// let error = Policy::from_json(r#"{"gate": {"exekute": 0.8}}"#).unwrap_err();
    /// assert_eq!(error.field().unwrap().as_str(), "gate.exekute");
    /// ```
    ///
    /// # Errors
    /// [`Error::Json`], or [`Error::Policy`] that names the unknown key, the value of the wrong form or the contradiction.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_POLICY_BYTES {
            return Err(Error::policy("", &alloc::format!("at most {MAX_POLICY_BYTES} bytes of JSON")));
        }
        let given: Value = serde_json::from_str(text)?;
        let Value::Object(given) = given else { return Err(Error::policy("", "a JSON object")) };
        Self::from_object(&given)
    }

    /// As [`Policy::from_json`], from JSON that was read already.
    ///
    /// # Errors
    /// As there.
    pub fn from_object(given: &Map<String, Value>) -> Result<Self, Error> {
        let preset = match given.get("preset") {
            None => Preset::Standard,
            Some(value) => serde_json::from_value(value.clone())
                .map_err(|_| Error::policy("preset", "one of reference, standard, strict"))?,
        };
        let base = Self::preset(preset);
        if given.keys().all(|key| key == "preset") {
            return Ok(base);
        }
        let base = serde_json::to_value(&base)?;
        let mut merged = base.clone();
        merge(&mut merged, given, "")?;
        let policy: Self = match serde_json::from_value(merged) {
            Ok(policy) => policy,
            Err(error) => return Err(blame(&base, given, &error)),
        };
        policy.validate()?;
        Ok(policy)
    }

    /// The whole policy as JSON, every field named.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

fn merge(base: &mut Value, given: &Map<String, Value>, path: &str) -> Result<(), Error> {
    for (key, value) in given {
        let is_free = FREE.contains(&path);
        let replacing = key.strip_suffix('!').filter(|_| !is_free);
        let (name, replaces) = (replacing.unwrap_or(key), replacing.is_some());
        let here = if path.is_empty() { name.to_string() } else { alloc::format!("{path}.{name}") };
        let Some(base) = base.as_object_mut() else { return Err(Error::policy(path, "a value, not an object")) };
        if is_free {
            base.insert(name.to_string(), value.clone());
            continue;
        }
        let known: Vec<&String> = base.keys().collect();
        let Some(slot) = known.contains(&&name.to_string()).then(|| base.get_mut(name)).flatten() else {
            let names: Vec<&str> = base.keys().map(String::as_str).collect();
            return Err(Error::policy(&here, &alloc::format!("one of {}", names.join(", "))));
        };
        match (slot, value) {
            (Value::Array(items), Value::Array(more)) if EXTENDED.contains(&here.as_str()) && !replaces => {
                let fresh: Vec<Value> = more.iter().filter(|item| !items.contains(item)).cloned().collect();
                // Of classes the first that matches counts, so that the user's stand before the preset's.
                let at = if here == FIRST_COUNTS { 0 } else { items.len() };
                items.splice(at..at, fresh);
            }
            (slot @ Value::Object(_), Value::Object(inner)) if !replaces => merge(slot, inner, &here)?,
            (slot, value) => *slot = value.clone(),
        }
    }
    Ok(())
}

/// Finds the field whose value has the wrong form, by trying each alone.
fn blame(base: &Value, given: &Map<String, Value>, error: &serde_json::Error) -> Error {
    let mut leaves = Vec::new();
    collect_leaves(given, &mut Vec::new(), &mut leaves);
    for (path, value) in leaves {
        let mut alone = Map::new();
        if let Some((last, outer)) = path.split_last() {
            alone.insert(last.clone(), value);
            for key in outer.iter().rev() {
                alone = Map::from_iter([(key.clone(), Value::Object(alone))]);
            }
        }
        let mut merged = base.clone();
        let reads = merge(&mut merged, &alone, "").is_ok() && serde_json::from_value::<Policy>(merged).is_ok();
        if !reads {
            return Error::policy(&path.join("."), &alloc::format!("another form: {error}"));
        }
    }
    Error::policy("", &error.to_string())
}

fn collect_leaves(given: &Map<String, Value>, path: &mut Vec<String>, leaves: &mut Vec<(Vec<String>, Value)>) {
    for (key, value) in given {
        path.push(key.clone());
        match value {
            Value::Object(inner) if !inner.is_empty() => collect_leaves(inner, path, leaves),
            other => leaves.push((path.clone(), other.clone())),
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(json: &str) -> String {
        Policy::from_json(json).unwrap_err().field().unwrap().as_str().to_string()
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_it() {
        assert_eq!(field(r#"{"gaet": {}}"#), "gaet");
        assert_eq!(field(r#"{"field": {"sources": {"hooman": 1}}}"#), "field.sources.hooman");
        assert_eq!(field(r#"{"budget": {"caps": {"llm_cals": 1}}}"#), "budget.caps.llm_cals");
    }

    #[test]
    fn a_value_of_the_wrong_form_is_an_error_that_names_it() {
        assert_eq!(field(r#"{"trust": {"initial": 0.4}, "gate": {"execute": "high"}}"#), "gate.execute");
        assert_eq!(field(r#"{"preset": "loose"}"#), "preset");
        assert_eq!(field(r#"{"places": {"secrets": ["[a"]}}"#), "places.secrets");
        assert_eq!(
            field(r#"{"budget": {"accounts": {"claude": {"llm_calls": -1}}}}"#),
            "budget.accounts.claude.llm_calls"
        );
    }

    #[test]
    fn a_contradiction_is_an_error_that_names_a_field_of_it() {
        assert_eq!(field(r#"{"gate": {"weight_risk": 0.9}}"#), "gate.weight_budget");
        assert_eq!(field(r#"{"gate": {"hold": 0.9}}"#), "gate.hold");
        assert_eq!(field(r#"{"field": {"slow": 0}}"#), "field.slow");
        assert_eq!(field(r#"{"deposits": {"prospective_most": 2}}"#), "deposits.prospective_most");
        assert_eq!(field(r#"{"pipeline": "reference"}"#), "pipeline");
    }

    #[test]
    fn tables_are_added_to_and_replaced_only_on_request() {
        let more = Policy::from_json(r#"{"places": {"secrets": ["vault/**"]}}"#).unwrap();
        let only = Policy::from_json(r#"{"places": {"secrets!": ["vault/**"]}}"#).unwrap();
        assert!(more.places.secrets.len() > 40);
        assert_eq!(only.places.secrets.len(), 1);
    }

    #[test]
    fn a_class_of_the_users_counts_before_the_presets() {
        let policy = Policy::from_json(r#"{"classes": [{"pattern": "frob*", "class": "read"}]}"#).unwrap();
        assert_eq!(
            policy.classes.iter().find(|rule| rule.pattern.matches("frobnicate")).unwrap().class,
            crate::facts::Class::Read
        );
    }

    #[test]
    fn every_preset_survives_json_and_binary_and_keeps_its_digest() {
        for preset in Preset::ALL {
            let policy = Policy::preset(preset);
            assert_eq!(Policy::from_json(&policy.to_json()).unwrap(), policy);
            let bytes = postcard::to_allocvec(&policy).unwrap();
            assert_eq!(postcard::from_bytes::<Policy>(&bytes).unwrap(), policy);
        }
    }
}
