//! From the words that name places to targets with their state: absent, in git, changed, unknown to git, outside.

use crate::places::{Kind, Place};
use crate::repository::{Beneath, Bounds, Repository, State};
use crate::shell::{Directory, Origin, Via, Word};
use crate::surroundings::Surroundings;
use std::path::{Path, PathBuf};
use stigmergate_core::facts::{Before, Effect, Fact, FactKind, Root, Target};
use stigmergate_core::location::Location;
use stigmergate_core::policy::Policy;

/// Places of one pattern that become targets of their own; the others are counted together.
const NAMED_MATCHES: usize = 64;
/// Matches of one pattern that are looked for.
const MATCHES: usize = 400;
/// Targets of one act that are looked at; beyond, what it names cannot be told in time.
const MOST_TARGETS: usize = 512;
/// Things below a folder that are named as lost.
const NAMED_LOST: usize = 32;

/// Bytes of a place's name.
const LOCATION_BYTES: usize = 4000;

/// Where a command runs.
#[derive(Clone, Debug)]
pub(crate) enum Standing {
    /// In this folder.
    In(PathBuf),
    /// Somewhere that is not known.
    Unknown,
}

/// Collects the targets of one act.
pub(crate) struct Collector<'a> {
    pub(crate) around: &'a Surroundings,
    pub(crate) policy: &'a Policy,
    pub(crate) standing: Standing,
    /// A backslash separates folders, as in PowerShell and cmd.
    pub(crate) backslashes: bool,
    /// Where the text of the act comes from.
    pub(crate) origin: Origin,
    /// What gives the act the names that the text does not.
    pub(crate) named_by: Option<&'a Via>,
    /// Look at the state of places; without it only their names are wanted.
    pub(crate) look: bool,
    pub(crate) targets: Vec<Target>,
    pub(crate) facts: Vec<Fact>,
    /// The places that are changed, and where they are on disk.
    pub(crate) changed: Vec<(Location, PathBuf)>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(around: &'a Surroundings, policy: &'a Policy, standing: Standing, look: bool) -> Self {
        let (targets, facts, changed) = (Vec::new(), Vec::new(), Vec::new());
        let (backslashes, origin, named_by) = (false, Origin::Text, None);
        Self { around, policy, standing, backslashes, origin, named_by, look, targets, facts, changed }
    }

    pub(crate) fn fact(&mut self, kind: FactKind, detail: &str) {
        let detail: String = detail.chars().take(300).collect();
        self.facts.push(Fact { kind, detail });
    }

    /// A word of a shell command that names places.
    pub(crate) fn word(&mut self, word: &Word, effect: Effect, recursive: bool) {
        if effect.destroys() && is_unexpanded(word) {
            self.unresolved(&word.raw, effect);
            return;
        }
        if !word.known {
            if word.under.is_empty() || effect == Effect::Read {
                self.unresolved(&word.raw, effect);
            }
            for folder in word.under.clone() {
                self.beneath(&folder, effect);
            }
            return;
        }
        let text = if self.backslashes { word.text.replace('\\', "/") } else { word.text.clone() };
        let spelling = match (word.home, text.strip_prefix('~')) {
            (false, Some(_)) => format!("./{text}"),
            _ => text,
        };
        self.spelled(&spelling, word.glob, effect, recursive);
        // `type secrets\id_rsa` reads another file in another shell; both names count.
        if !self.backslashes
            && word.raw.contains('\\')
            && !word.raw.contains(['\'', '"', ' ', '$'])
            && word.raw != word.text
        {
            let other = word.raw.replace('\\', "/");
            self.spelled(&other, false, Effect::Read, false);
        }
    }

    /// Something beneath a folder. Of a temporary root itself nothing is taken but what is in it.
    fn beneath(&mut self, folder: &str, effect: Effect) {
        let directory = match &self.standing {
            Standing::In(directory) => directory.clone(),
            Standing::Unknown => PathBuf::from("/"),
        };
        let place = self.around.places().resolve_literal(&directory, folder);
        match place.ok().filter(|place| place.root == crate::places::Root::Temp) {
            Some(place) => {
                let at = location(&format!("{}/?", place.text.trim_end_matches('/')));
                self.targets.push(Target::new(at, effect, Root::Temp, Before::Unknown));
            }
            None => self.spelled(folder, false, effect, true),
        }
    }

    /// A spelling that names places.
    pub(crate) fn spelled(&mut self, spelling: &str, pattern: bool, effect: Effect, recursive: bool) {
        let Standing::In(directory) = self.standing.clone() else {
            if Path::new(spelling).is_absolute() || spelling.starts_with('~') {
                self.resolved(Path::new("/"), spelling, pattern, effect, recursive);
            } else {
                self.unresolved(spelling, effect);
            }
            return;
        };
        self.resolved(&directory, spelling, pattern, effect, recursive);
    }

    fn resolved(&mut self, directory: &Path, spelling: &str, pattern: bool, effect: Effect, recursive: bool) {
        if self.targets.len() >= MOST_TARGETS {
            if self.targets.len() == MOST_TARGETS {
                self.unresolved("and more than can be looked at", effect);
            }
            return;
        }
        let places = self.around.places();
        let place =
            if pattern { places.resolve(directory, spelling) } else { places.resolve_literal(directory, spelling) };
        let Ok(place) = place else {
            if !spelling.is_empty() {
                self.unresolved(spelling, effect);
            }
            return;
        };
        if place.endless {
            self.unresolved(spelling, effect);
            return;
        }
        if place.pattern && place.catastrophic.is_none() {
            let expansion = places.expand(&place, MATCHES);
            for one in expansion.places.iter().take(NAMED_MATCHES) {
                self.place(one, effect, recursive);
            }
            let others = expansion.places.len().saturating_sub(NAMED_MATCHES);
            if others > 0 || expansion.more {
                self.others(&place, expansion.places.get(NAMED_MATCHES..).unwrap_or_default(), expansion.more, effect);
            }
        } else {
            self.place(&place, effect, recursive);
        }
    }

    /// What a pattern matches beyond those that are named.
    fn others(&mut self, pattern: &Place, rest: &[Place], more: bool, effect: Effect) {
        let Some(root) = root_of(pattern) else { return };
        let mut target = Target::new(location(&pattern.text), effect, root, Before::Committed);
        target.count = u32::try_from(rest.len().saturating_add(usize::from(more))).unwrap_or(u32::MAX);
        target.folder = true;
        if effect.destroys() && self.look {
            let lost = |place: &Place| !matches!(self.before(place), Before::Absent | Before::Committed);
            target.lost_more = more || rest.iter().any(lost);
        }
        self.targets.push(target);
    }

    /// A target that cannot be told before the act runs.
    fn unresolved(&mut self, spelling: &str, effect: Effect) {
        // Most programs in files name what they write by values that only a run gives.
        let tells = match self.origin {
            Origin::Text => true,
            Origin::Written | Origin::New => effect == Effect::Delete,
            Origin::Changed => false,
        };
        if !tells {
            return;
        }
        let text: String = spelling.chars().filter(|c| !c.is_control()).take(300).collect();
        let text = said(&text, self.named_by);
        let mut target = Target::new(Location::path(&named(&text)), effect, Root::Workspace, Before::Unknown);
        target.resolved = false;
        self.targets.push(target);
    }

    /// A place that is known.
    pub(crate) fn place(&mut self, place: &Place, effect: Effect, recursive: bool) {
        // A write goes through a link; a removal, a move and a change of the link itself do not.
        let through = matches!(effect, Effect::Read | Effect::Create | Effect::Edit | Effect::Overwrite);
        let followed;
        let reached = if through && place.kind == Kind::Link {
            followed = self.around.places().follow(place);
            if !effect.changes() {
                self.push(place, effect, recursive);
            }
            &followed
        } else {
            place
        };
        self.push(reached, effect, recursive);
    }

    fn push(&mut self, place: &Place, effect: Effect, recursive: bool) {
        let Some(root) = root_of(place) else { return };
        let at = location(&place.text);
        let mut target = Target::new(at.clone(), effect, root, Before::Unknown);
        target.folder = place.kind == Kind::Directory;
        target.catastrophic = place.catastrophic.is_some()
            && (recursive || effect.destroys() || effect == Effect::Move)
            && self.is_whole(place, effect);
        if effect.changes() {
            let takes_all = effect.destroys() || effect == Effect::Move || (effect == Effect::Mode && recursive);
            let own = |path: &Path| self.around.is_own(path) || (takes_all && self.around.holds_own(path));
            if own(&place.path) || own(&place.target) {
                self.fact(FactKind::ProtectedTarget, &format!("the gate's own store {}", place.text));
            }
            self.changed.push((at, place.path.clone()));
            if self.look {
                self.look_at(place, &mut target);
            }
        }
        self.targets.push(target);
    }

    /// Writing over a device, or taking away more than a file: a system folder is catastrophic as a whole, not for what is put into it.
    fn is_whole(&self, place: &Place, effect: Effect) -> bool {
        use crate::places::Catastrophic;
        place.catastrophic == Some(Catastrophic::DiskDevice) || effect != Effect::Overwrite
    }

    /// The state of a place, and what would be lost with it.
    fn look_at(&self, place: &Place, target: &mut Target) {
        target.before = self.before(place);
        if target.root == Root::Home {
            target.way_back = self.around.places().in_home(&place.path).and_then(|text| self.rebuilt_by(&text));
        }
        if target.before == Before::Absent {
            return;
        }
        if target.before == Before::Changed || target.before == Before::Committed {
            target.stamp = crate::repository::stamp(&place.path);
        }
        if target.before == Before::Ignored {
            target.way_back = self.rebuilt_by(&place.text);
        }
        if !target.folder || !target.effect.destroys() || target.way_back.is_some() {
            return;
        }
        match self.repository_of(place) {
            Some(repository) => {
                let bounds = Bounds { examples: NAMED_LOST, ..Bounds::default() };
                self.lost_beneath(&repository.beneath(&place.path, bounds), target);
            }
            None => self.lost_without_git(place, target),
        }
    }

    /// What a folder holds that git could not give back.
    pub(crate) fn lost_beneath(&self, beneath: &Beneath, target: &mut Target) {
        target.count = u32::try_from(beneath.total().max(1)).unwrap_or(u32::MAX);
        let all = beneath
            .changed
            .saturating_add(beneath.untracked)
            .saturating_add(beneath.ignored)
            .saturating_add(beneath.unknown);
        let named = beneath.examples.len();
        for example in &beneath.examples {
            let rebuilt = example.state == State::Ignored && self.rebuilt_by(&example.path).is_some();
            if !rebuilt {
                target.lost.push(location(&example.path));
            }
        }
        target.lost_more = beneath.truncated || all > named;
    }

    /// Without a repository everything in a folder is lost.
    fn lost_without_git(&self, place: &Place, target: &mut Target) {
        let Ok(entries) = std::fs::read_dir(&place.path) else {
            target.lost_more = true;
            return;
        };
        for entry in entries.take(NAMED_LOST.saturating_add(1)) {
            let name = entry.map(|entry| entry.file_name().to_string_lossy().into_owned()).unwrap_or_default();
            if target.lost.len() < NAMED_LOST {
                target.lost.push(location(&format!("{}/{name}", place.text.trim_end_matches('/'))));
            } else {
                target.lost_more = true;
            }
        }
    }

    fn before(&self, place: &Place) -> Before {
        if place.kind == Kind::Absent {
            return Before::Absent;
        }
        let Some(repository) = self.repository_of(place) else {
            return if root_of(place) == Some(Root::Workspace) { Before::Untracked } else { Before::Unknown };
        };
        match repository.state(&place.path) {
            State::Absent => Before::Absent,
            State::Committed => Before::Committed,
            State::Changed => Before::Changed,
            State::Untracked => Before::Untracked,
            State::Ignored => Before::Ignored,
            State::OutsideRepository | State::Unknown(_) => Before::Unknown,
        }
    }

    /// The repository, for a place that lies in its work tree.
    fn repository_of(&self, place: &Place) -> Option<&'a Repository> {
        self.around.repository().filter(|_| root_of(place) == Some(Root::Workspace))
    }

    /// What makes an ignored place again, by the name of a folder that it is or lies in.
    pub(crate) fn rebuilt_by(&self, text: &str) -> Option<String> {
        self.policy.places.rebuilt_by(text).map(ToString::to_string)
    }
}

/// What a reader is told of a name that only a run gives. What stands for it inside the reader of shell text says nothing to them.
fn said(spelling: &str, named_by: Option<&Via>) -> String {
    let of_shell = spelling.contains(['$', '`']);
    match named_by {
        Some(Via::Xargs) if !of_shell => "the names that xargs is given".to_string(),
        Some(Via::FindExec) if !of_shell => "what find finds".to_string(),
        Some(Via::Inline(language)) if !of_shell => {
            let is_name = !spelling.is_empty()
                && !spelling.contains("..")
                && !spelling.contains("[]")
                && spelling.chars().all(|c| c.is_ascii_alphanumeric() || "_.[]/-".contains(c));
            if is_name {
                format!("`{spelling}` in the {language} program")
            } else {
                format!("a path that the {language} program works out")
            }
        }
        _ if spelling.is_empty() => "a path that only a run gives".to_string(),
        _ => spelling.to_string(),
    }
}

/// A brace list that was too long to expand, or a pattern that came out of a variable and stands quoted: what it names is not known.
fn is_unexpanded(word: &Word) -> bool {
    let braces = word.glob && word.text.contains('{') && word.text.contains('}');
    let pattern = word.known && !word.glob && word.raw.contains('$') && word.text.contains(['*', '?']);
    // `!(src)`: all but that.
    let extended = !word.quoted && ["!(", "@(", "+(", "?(", "*("].iter().any(|open| word.raw.contains(open));
    braces || pattern || extended
}

/// The root of a place; `None` for null devices and standard streams, which are no place.
fn root_of(place: &Place) -> Option<Root> {
    match place.root {
        crate::places::Root::Workspace => Some(Root::Workspace),
        crate::places::Root::Temp => Some(Root::Temp),
        crate::places::Root::Home => Some(Root::Home),
        crate::places::Root::Outside => Some(Root::Outside),
        crate::places::Root::NoPlace => None,
    }
}

/// A place's name as a location; on a drive it is absolute, too.
pub(crate) fn location(text: &str) -> Location {
    let mut letters = text.chars();
    let drive = letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.next() == Some(':');
    let text = named(text);
    if drive { Location::path(&format!("/{text}")) } else { Location::path(&text) }
}

/// A place of its own, for an act that names none.
pub(crate) fn own(text: &str) -> Location {
    Location::own(&named(text))
}

/// A text as the core takes it for the name of a place: not empty, without NUL, not too long.
fn named(text: &str) -> String {
    let clean = crate::commands::cut(&text.replace('\0', "\u{fffd}"), LOCATION_BYTES);
    if clean.is_empty() { "?".to_string() } else { clean }
}

/// Where a command of a script runs.
pub(crate) fn standing(start: &Path, directory: &Directory, around: &Surroundings) -> Standing {
    match directory {
        Directory::Unchanged => Standing::In(start.to_owned()),
        Directory::Known(text) => match around.places().resolve_literal(start, text) {
            Ok(place) => Standing::In(place.target),
            Err(_) => Standing::Unknown,
        },
        Directory::Beneath(text) => Standing::In(Path::new(text).join("?")),
        Directory::Unknown => Standing::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Scene, write};

    #[test]
    fn a_target_is_told_by_its_state() {
        let scene = Scene::new();
        let before = |path: &str| {
            let acts = scene.acts(&format!("rm -rf {path}"));
            acts[0].targets[0].before
        };
        for (path, state) in [
            ("src/app.ts", Before::Committed),
            ("app/a.ts", Before::Changed),
            ("notes/draft.md", Before::Untracked),
            ("dist", Before::Ignored),
            ("nothing", Before::Absent),
        ] {
            assert_eq!(before(path), state, "{path}");
        }
    }

    #[test]
    fn a_folder_names_what_would_be_lost_with_it() {
        let scene = Scene::new();
        let target = scene.acts("rm -rf notes")[0].targets[0].clone();
        assert_eq!(target.lost.iter().map(Location::as_str).collect::<Vec<_>>(), ["notes/draft.md"]);
        assert!(target.folder && !target.lost_more);
        for number in 0..40 {
            write(&scene.root, "x", &format!("many/{number}"));
        }
        let many = scene.acts("rm -rf many")[0].targets[0].clone();
        assert!(many.lost_more && many.lost.len() <= NAMED_LOST);
    }

    #[test]
    fn a_pattern_is_what_it_matches() {
        let scene = Scene::new();
        let places = |command: &str| -> Vec<String> {
            scene.acts(command)[0].targets.iter().map(|target| target.place.as_str().to_string()).collect()
        };
        assert_eq!(places("rm notes/*.md"), ["notes/draft.md"]);
        assert_eq!(places("rm 'notes/*.md'"), ["notes/*.md"]);
    }

    #[test]
    fn what_tools_make_again_may_go_where_git_ignores_it() {
        let scene = Scene::new();
        use stigmergate_core::facts::FactKind as F;
        for file in ["seen.log", "app.log", "logs/a.txt", "tmp/cache/x"] {
            write(&scene.root, "mine\n", file);
        }
        assert_eq!(scene.shell("> seen.log"), [F::Irreversible]);
        write(&scene.root, "node_modules/\ndist/\n.env\napp.log\nlogs/\ntmp/\n", ".gitignore");
        scene.ordinary(&[
            "> app.log",
            "truncate -s 0 app.log",
            "rm -f app.log",
            "npm start > app.log 2>&1 &",
            "rm -rf tmp/cache",
        ]);
        let lost: &[F] = &[F::Irreversible];
        scene.table(&[("rm -f *.log", lost), ("rm -rf tmp", lost), ("> logs/a.txt", lost), ("> .env", lost)]);
    }

    #[test]
    fn a_cache_in_the_home_lies_outside_and_is_made_again() {
        let scene = Scene::new();
        use stigmergate_core::facts::FactKind as F;
        write(&scene.home, "x", ".cache/pip/x");
        write(&scene.home, "x", ".config/tool/x");
        scene.table(&[
            ("rm -rf {HOME}/.cache/pip", &[F::OutsideWorkspace]),
            ("rm -rf {HOME}/.config/tool", &[F::Irreversible, F::OutsideWorkspace]),
            ("rm -rf {HOME}/.cache/../.config/tool", &[F::Irreversible, F::OutsideWorkspace]),
        ]);
    }

    #[cfg(unix)]
    #[test]
    fn a_write_goes_through_a_link_and_a_removal_does_not() {
        let scene = Scene::new();
        std::os::unix::fs::symlink(scene.home.join("elsewhere"), scene.root.join("link")).unwrap();
        use stigmergate_core::facts::FactKind as F;
        assert_eq!(scene.shell("echo x > link"), [F::OutsideWorkspace]);
        assert_eq!(scene.shell("rm link"), [F::Irreversible]);
    }

    #[test]
    fn the_gates_own_store_is_nobody_elses() {
        let scene = Scene::new();
        use stigmergate_core::facts::FactKind as F;
        for command in
            ["rm {DB}", "rm -rf {HOME}", "echo x > {DB}", "echo x > {DB}-wal", "sqlite3 {DB} 'delete from t'"]
        {
            assert!(scene.shell(command).contains(&F::ProtectedTarget), "{command}");
        }
    }

    #[test]
    fn a_backslash_separates_in_the_shells_of_windows() {
        let scene = Scene::new();
        use stigmergate_core::facts::FactKind as F;
        let run = |command: &str| scene.facts("PowerShell", &serde_json::json!({"command": command}));
        assert_eq!(run(r"del notes\draft.md"), [F::Irreversible]);
        assert_eq!(run(r"'x' > notes\draft.md"), [F::Irreversible]);
        assert_eq!(run(r"Copy-Item README.md notes\draft.md"), [F::Irreversible]);
        assert_eq!(run(r"Remove-Item src\app.ts"), []);
    }
}
