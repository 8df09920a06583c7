use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

fn arguments() -> Vec<String> {
    vec!["hook".to_owned(), "claude".to_owned()]
}

fn installed_text(text: &str) -> (String, Note) {
    let (document, note) = install(&Document::read(text).unwrap(), "stigmergate", &arguments(), None).unwrap();
    (document.text().to_owned(), note)
}

fn taken_back(text: &str, note: Option<&Note>) -> String {
    take_back(&Document::read(text).unwrap(), note).unwrap().text().to_owned()
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_hooks_are_added_in_the_style_of_the_file() {
    let (text, _) = installed_text("{}\n");
    assert_eq!(
        text,
        r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "stigmergate",
            "args": ["hook", "claude"],
            "timeout": 30,
            "onFailure": "block"
          }
        ]
      }
    ],
    "PostToolUse": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "stigmergate",
            "args": ["hook", "claude"],
            "timeout": 30
          }
        ]
      }
    ],
    "PostToolUseFailure": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "stigmergate",
            "args": ["hook", "claude"],
            "timeout": 30
          }
        ]
      }
    ]
  }
}
"#
    );
    let (tabs, _) = installed_text("{\r\n\t\"model\": \"x\"\r\n}\r\n");
    assert!(tabs.starts_with("{\r\n\t\"model\": \"x\",\r\n\t\"hooks\": {\r\n\t\t\"PreToolUse\": ["), "{tabs}");
    let (compact, _) = installed_text(r#"{"model":"x"}"#);
    assert!(compact.starts_with(r#"{"model":"x","hooks":{"PreToolUse":[{"matcher":"*","hooks":["#), "{compact}");
}

#[test]
fn what_stands_there_keeps_its_order_spacing_and_spelling() {
    let text = "{ \"z\": 1.50, \"a\" : [1,2 ],\n  \"hooks\": {\"PreToolUse\": [\n  {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]}\n ]}, \"e\": 1E2 }";
    let (with, note) = installed_text(text);
    for part in ["{ \"z\": 1.50, \"a\" : [1,2 ],\n", "\"command\": \"lint\"}]}", ", \"e\": 1E2 }"] {
        assert!(with.contains(part), "{with}");
    }
    assert_eq!(value(&with)["hooks"]["PreToolUse"].as_array().unwrap().len(), 2);
    assert_eq!(taken_back(&with, Some(&note)), text);
}

#[test]
fn a_second_time_changes_nothing_and_another_path_replaces_the_first() {
    let (once, note) = installed_text("{}\n");
    let (again, _) = install(&Document::read(&once).unwrap(), "stigmergate", &arguments(), Some(note.clone())).unwrap();
    assert_eq!(again.text(), once);
    let (moved, note) = install(&again, "/opt/bin/stigmergate", &arguments(), Some(note)).unwrap();
    assert_eq!(moved.text().matches("/opt/bin/stigmergate").count(), 3);
    assert!(!moved.text().contains("\"stigmergate\""));
    assert_eq!(taken_back(moved.text(), Some(&note)), "{}\n");
}

#[test]
fn hooks_that_a_person_adds_to_the_group_stay_when_it_is_taken_back() {
    let (text, note) = installed_text("{}");
    let mut settings = value(&text);
    settings["hooks"]["PreToolUse"][0]["hooks"]
        .as_array_mut()
        .unwrap()
        .push(json!({"type": "command", "command": "mine"}));
    settings["hooks"]["Stop"] = json!([]);
    let back = value(&taken_back(&settings.to_string(), Some(&note)));
    let hooks = json!([{"matcher": "*", "hooks": [{"type": "command", "command": "mine"}]}]);
    assert_eq!(back, json!({"hooks": {"PreToolUse": hooks, "Stop": []}}));
}

#[test]
fn without_a_note_the_hooks_go_and_what_is_empty_with_them() {
    let (text, _) = installed_text(r#"{"model": "x"}"#);
    assert_eq!(value(&taken_back(&text, None)), json!({"model": "x"}));
}

#[test]
fn settings_of_another_form_are_left_alone() {
    for text in ["[]", r#"{"hooks": []}"#, r#"{"hooks": {"PreToolUse": {}}}"#, "null", "3"] {
        assert!(install(&Document::read(text).unwrap(), "stigmergate", &arguments(), None).is_err(), "{text}");
    }
    for text in ["", "{", "{} {}", "{'a': 1}", "// no\n{}"] {
        assert!(Document::read(text).is_err(), "{text}");
    }
}

/// A hook of somebody else's, or a value that no host would expect there.
fn any_json(depth: u32) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~]{0,8}".prop_map(Value::from),
        "\\PC{0,4}".prop_map(Value::from),
        Just(json!("}],\"{[")),
    ];
    leaf.prop_recursive(depth, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-zA-Z\"\\\\]{0,6}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_group() -> impl Strategy<Value = Value> {
    let hook = "[a-z ]{0,9}".prop_map(|command| json!({"type": "command", "command": command}));
    prop_oneof![
        prop::collection::vec(hook, 0..3).prop_map(|hooks| json!({"matcher": "Bash", "hooks": hooks})),
        any_json(2),
    ]
}

fn any_settings() -> impl Strategy<Value = Value> {
    let events = prop::sample::subsequence(vec!["PreToolUse", "Stop", "PostToolUse", "PostToolUseFailure"], 0..=4);
    let hooks = events.prop_flat_map(|events| {
        let groups = prop::collection::vec(prop::collection::vec(any_group(), 0..3), events.len());
        groups.prop_map(move |groups| {
            let members = events.iter().zip(groups).map(|(event, groups)| ((*event).to_owned(), Value::from(groups)));
            Value::Object(members.collect())
        })
    });
    let rest = prop::collection::vec(("[a-z]{1,6}", any_json(3)), 0..4);
    (rest, prop::option::of(hooks)).prop_map(|(rest, hooks)| {
        let mut settings: serde_json::Map<String, Value> = rest.into_iter().filter(|(key, _)| key != "hooks").collect();
        settings.extend(hooks.map(|hooks| ("hooks".to_owned(), hooks)));
        Value::Object(settings)
    })
}

/// A document as people and programs print it.
fn printed(settings: &Value, how: u8) -> String {
    let pretty = serde_json::to_string_pretty(settings).unwrap();
    match how {
        0 => settings.to_string(),
        1 => pretty,
        2 => pretty + "\n",
        3 => pretty.replace("\n", "\r\n") + "\r\n",
        // Strings hold no line breaks, so that every one of these belongs to the layout.
        4 => pretty.replace("\n  ", "\n\t").replace("[]", "[ ]"),
        5 => pretty.replace("{}", "{\n\n}").replace("[]", "[\n]"),
        _ => format!("\n\n  {settings}  "),
    }
}

proptest! {
    #[test]
    fn taking_back_what_was_added_gives_the_same_bytes(settings in any_settings(), how in 0_u8..7) {
        let text = printed(&settings, how);
        let (with, note) = installed_text(&text);
        // Nothing is lost: without what is ours, all is as it was.
        let mut rest = value(&with);
        for (event, _) in EVENTS {
            prop_assert!(rest["hooks"][event].as_array_mut().unwrap().pop().is_some());
        }
        for (event, _) in EVENTS {
            if settings["hooks"].get(event).is_none() {
                rest["hooks"].as_object_mut().unwrap().remove(event);
            }
        }
        if settings.get("hooks").is_none() {
            rest.as_object_mut().unwrap().remove("hooks");
        }
        prop_assert_eq!(&rest, &settings);
        // Once is enough.
        let (again, _) = install(&Document::read(&with).unwrap(), "stigmergate", &arguments(), Some(note.clone())).unwrap();
        prop_assert_eq!(again.text(), &with);
        prop_assert_eq!(taken_back(&with, Some(&note)), text);
    }

    #[test]
    fn no_text_makes_the_reader_fail_otherwise_than_by_an_error(text in "\\PC{0,40}") {
        if let Ok(document) = Document::read(&text) {
            prop_assert_eq!(document.value(document.root()), value(&text));
        }
    }
}
