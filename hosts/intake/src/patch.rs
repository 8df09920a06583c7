//! Which files a patch changes: the patches of `apply_patch`, and unified diffs.

use stigmergate_core::facts::Effect;

/// The files that a patch names, and what it does to them. Nothing where the text is no patch.
pub(crate) fn files(text: &str) -> Vec<(&str, Effect)> {
    let marked = marked(text);
    if marked.is_empty() { unified(text) } else { marked }
}

/// `*** Update File: a`, as models are taught it.
fn marked(text: &str) -> Vec<(&str, Effect)> {
    let mut files: Vec<(&str, Effect)> = Vec::new();
    for line in text.lines() {
        // Within an update, a line that begins with a space is text of the file.
        let in_update = files.last().is_some_and(|(_, effect)| *effect == Effect::Edit);
        let header = if in_update { line } else { line.trim_start() };
        let Some(line) = header.strip_prefix("*** ") else { continue };
        let headers = [
            ("Add File:", Effect::Overwrite),
            ("Update File:", Effect::Edit),
            ("Delete File:", Effect::Delete),
            ("Move to:", Effect::Overwrite),
        ];
        let found = headers.iter().find_map(|(header, effect)| Some((line.strip_prefix(header)?.trim(), *effect)));
        let Some((path, effect)) = found.filter(|(path, _)| !path.is_empty()) else { continue };
        if line.starts_with("Move to:")
            && let Some((_, moved)) = files.last_mut()
        {
            *moved = Effect::Move;
        }
        files.push((path, effect));
    }
    files
}

/// `--- a/x` and `+++ b/x`, and what git writes for renames and binary files.
fn unified(text: &str) -> Vec<(&str, Effect)> {
    let mut files = Vec::new();
    let mut old = None;
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("--- ") {
            old = Some(named(path));
        } else if let (Some(path), Some(before)) = (line.strip_prefix("+++ "), old.take()) {
            match (before, named(path)) {
                (None, Some(new)) => files.push((new, Effect::Overwrite)),
                (Some(gone), None) => files.push((gone, Effect::Delete)),
                (Some(_), Some(new)) => files.push((new, Effect::Edit)),
                (None, None) => {}
            }
        } else if let Some(path) = line.strip_prefix("rename from ") {
            files.push((path.trim(), Effect::Move));
        } else if let Some(path) = line.strip_prefix("rename to ") {
            files.push((path.trim(), Effect::Overwrite));
        }
    }
    files
}

/// The path of a header without git's prefix and without a time; `None` for the null device.
fn named(header: &str) -> Option<&str> {
    let path = header.split('\t').next().unwrap_or(header).trim();
    let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
    (path != "/dev/null" && !path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Effect::{Delete, Edit, Move, Overwrite};

    #[test]
    fn a_marked_patch_names_what_it_adds_updates_moves_and_deletes() {
        let text = "*** Begin Patch\n*** Add File: a/new.rs\n+*** Delete File: not this\n*** Update File: b.rs\n*** Move to: c.rs\n@@\n-x\n+y\n*** Delete File: d e.rs\n*** Update File: f.rs\n@@ fn\n-*** Delete File: nor this\n *** Delete File: nor that\n*** End Patch";
        assert_eq!(
            files(text),
            [("a/new.rs", Overwrite), ("b.rs", Move), ("c.rs", Overwrite), ("d e.rs", Delete), ("f.rs", Edit)]
        );
    }

    #[test]
    fn a_unified_diff_names_its_files() {
        let text = "diff --git a/x b/x\n--- a/x\n+++ b/x\t2026-01-01\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/new\n--- a/gone\n+++ /dev/null\nrename from p\nrename to q\n";
        assert_eq!(files(text), [("x", Edit), ("new", Overwrite), ("gone", Delete), ("p", Move), ("q", Overwrite)]);
    }

    #[test]
    fn a_text_that_is_no_patch_names_nothing() {
        for text in ["", "hello", "***", "*** Update File:", "+++ b/x"] {
            assert_eq!(files(text), [], "{text}");
        }
    }
}
