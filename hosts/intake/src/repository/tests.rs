#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use std::process::Command;

use super::*;

/// A repository made by git itself.
struct Scene {
    _base: tempfile::TempDir,
    root: PathBuf,
}

fn git(directory: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(directory)
        .envs([("GIT_AUTHOR_NAME", "t"), ("GIT_AUTHOR_EMAIL", "t@example.org")])
        .envs([("GIT_COMMITTER_NAME", "t"), ("GIT_COMMITTER_EMAIL", "t@example.org")])
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")])
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

impl Scene {
    fn unborn() -> Self {
        let base = tempfile::tempdir().unwrap();
        let root = base.path().canonicalize().unwrap().join("repo");
        fs::create_dir(&root).unwrap();
        git(&root, &["init", "-q", "-b", "main"]);
        Self { _base: base, root }
    }

    fn new() -> Self {
        let scene = Self::unborn();
        scene.write(".gitignore", "node_modules/\ndist/*\n!dist/keep.js\n*.log\n");
        for file in ["README.md", "src/app.ts", "src/auth/login.ts", "docs/guide.md"] {
            scene.write(file, "committed\n");
        }
        scene.git(&["add", "-A"]);
        scene.git(&["commit", "-qm", "first"]);
        scene
    }

    fn git(&self, arguments: &[&str]) {
        git(&self.root, arguments);
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn repository(&self) -> Repository {
        Repository::discover(&self.root).unwrap()
    }

    fn state(&self, name: &str) -> State {
        self.repository().state(Path::new(name))
    }

    /// Lets the index look older than any racy write.
    fn age(&self) {
        self.git(&["update-index", "-q", "--really-refresh"]);
    }
}

fn generous() -> Bounds {
    Bounds { time: Duration::from_secs(20), ..Bounds::default() }
}

#[test]
fn each_state_is_told_apart() {
    let scene = Scene::new();
    scene.write("src/app.ts", "changed by somebody\n");
    scene.write("notes/draft.md", "mine\n");
    scene.write("node_modules/x/index.js", "x\n");
    scene.write("debug.log", "x\n");
    assert_eq!(scene.state("README.md"), State::Committed);
    assert_eq!(scene.state("src/app.ts"), State::Changed);
    assert_eq!(scene.state("notes/draft.md"), State::Untracked);
    assert_eq!(scene.state("node_modules/x/index.js"), State::Ignored);
    assert_eq!(scene.state("node_modules"), State::Ignored);
    assert_eq!(scene.state("debug.log"), State::Ignored);
    assert_eq!(scene.state("nothing"), State::Absent);
    assert_eq!(scene.state("README.md/below"), State::Absent);
    assert_eq!(scene.state("/etc"), State::OutsideRepository);
    assert_eq!(scene.state("../x"), State::OutsideRepository);
    assert_eq!(scene.state(".git/config"), State::Unknown(Reason::GitDirectory));
    let absolute = scene.root.join("README.md");
    assert_eq!(scene.repository().state(&absolute), State::Committed);
}

#[test]
fn a_change_in_the_same_second_and_of_the_same_size_is_seen() {
    let scene = Scene::new();
    scene.write("README.md", "Committed\n");
    assert_eq!(scene.state("README.md"), State::Changed);
    scene.write("README.md", "committed\n");
    assert_eq!(scene.state("README.md"), State::Committed, "the same content again");
}

#[test]
fn a_touched_file_is_still_committed() {
    let scene = Scene::new();
    let file = fs::File::options().append(true).open(scene.root.join("README.md")).unwrap();
    file.set_modified(std::time::SystemTime::now() - Duration::from_secs(1_000)).unwrap();
    assert_eq!(scene.state("README.md"), State::Committed);
}

#[test]
fn a_change_whose_time_was_set_back_is_seen() {
    let scene = Scene::new();
    let path = scene.root.join("README.md");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "Committed\n").unwrap();
    fs::File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
    scene.write("other", "x");
    assert_eq!(scene.state("README.md"), State::Changed);
}

#[test]
fn what_is_staged_but_in_no_commit_is_changed() {
    let scene = Scene::new();
    scene.write("README.md", "staged\n");
    scene.write("added.md", "staged\n");
    scene.git(&["add", "-A"]);
    scene.git(&["mv", "docs/guide.md", "docs/renamed.md"]);
    assert_eq!(scene.state("README.md"), State::Changed);
    assert_eq!(scene.state("added.md"), State::Changed);
    assert_eq!(scene.state("docs/renamed.md"), State::Changed);
    assert_eq!(scene.state("docs/guide.md"), State::Absent);
    assert_eq!(scene.state("src"), State::Committed);
    let all = scene.repository().beneath(&scene.root, generous());
    assert_eq!((all.changed, all.committed, all.truncated), (3, 3, false), "{all:?}");
    assert_eq!(scene.repository().tracked_changes(&scene.root, generous()).changed, 3);
}

#[test]
fn before_the_first_commit_everything_tracked_is_changed() {
    let scene = Scene::unborn();
    scene.write("a", "x\n");
    assert_eq!(scene.state("a"), State::Untracked);
    scene.git(&["add", "a"]);
    assert_eq!(scene.state("a"), State::Changed);
    assert_eq!(scene.repository().beneath(&scene.root, generous()).changed, 1);
    assert_eq!(scene.repository().branch().as_deref(), Some("main"));
    assert_eq!(scene.repository().is_published(), Some(false));
}

#[test]
fn an_intended_and_a_conflicted_entry_are_changed() {
    let scene = Scene::new();
    scene.write("intended", "x\n");
    scene.git(&["add", "-N", "intended"]);
    assert_eq!(scene.state("intended"), State::Changed);
    scene.git(&["rm", "-q", "--cached", "intended"]);
    scene.git(&["checkout", "-q", "-b", "other"]);
    scene.write("README.md", "theirs\n");
    scene.git(&["commit", "-qam", "theirs"]);
    scene.git(&["checkout", "-q", "main"]);
    scene.write("README.md", "ours\n");
    scene.git(&["commit", "-qam", "ours"]);
    assert!(Command::new("git").args(["merge", "-q", "other"]).current_dir(&scene.root).output().is_ok());
    assert_eq!(scene.state("README.md"), State::Changed);
    assert_eq!(scene.repository().tracked_changes(&scene.root, generous()).changed, 1);
}

#[test]
fn marks_that_tell_git_to_look_away_are_not_believed() {
    let scene = Scene::new();
    scene.git(&["update-index", "--assume-unchanged", "README.md"]);
    scene.git(&["update-index", "--skip-worktree", "docs/guide.md"]);
    scene.write("README.md", "hidden change\n");
    scene.write("docs/guide.md", "hidden change\n");
    assert_eq!(scene.state("README.md"), State::Changed);
    assert_eq!(scene.state("docs/guide.md"), State::Changed);
}

#[test]
fn the_executable_bit_counts_unless_configured_away() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new();
    fs::set_permissions(scene.root.join("README.md"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(scene.state("README.md"), State::Changed);
    scene.git(&["config", "core.fileMode", "false"]);
    assert_eq!(scene.state("README.md"), State::Committed);
}

#[test]
fn a_link_is_compared_by_where_it_leads() {
    let scene = Scene::new();
    std::os::unix::fs::symlink("src", scene.root.join("link")).unwrap();
    assert_eq!(scene.state("link"), State::Untracked);
    scene.git(&["add", "link"]);
    scene.git(&["commit", "-qm", "link"]);
    assert_eq!(scene.state("link"), State::Committed);
    assert_eq!(scene.state("link/app.ts"), State::Committed, "named through the link");
    fs::remove_file(scene.root.join("link")).unwrap();
    std::os::unix::fs::symlink("doc", scene.root.join("link")).unwrap();
    assert_eq!(scene.state("link"), State::Changed);
    fs::remove_file(scene.root.join("link")).unwrap();
    scene.write("link/file", "x");
    assert_eq!(scene.state("link"), State::Untracked, "a directory in its place");
    fs::remove_file(scene.root.join("README.md")).unwrap();
    std::os::unix::fs::symlink("src", scene.root.join("README.md")).unwrap();
    assert_eq!(scene.state("README.md"), State::Changed, "a link in the place of a file");
}

#[test]
fn a_directory_is_as_bad_as_the_worst_in_it() {
    let scene = Scene::new();
    assert_eq!(scene.state("src"), State::Committed);
    assert_eq!(scene.state(""), State::Committed);
    scene.write("src/x.log", "x");
    assert_eq!(scene.state("src"), State::Ignored);
    scene.write("src/new/file", "x");
    assert_eq!(scene.state("src"), State::Untracked);
    scene.write("src/auth/login.ts", "changed");
    assert_eq!(scene.state("src"), State::Changed);
    fs::create_dir(scene.root.join("empty")).unwrap();
    assert_eq!(scene.state("empty"), State::Committed);
}

#[test]
fn a_directory_is_counted_with_examples_of_what_cannot_come_back() {
    let scene = Scene::new();
    scene.write("src/app.ts", "changed\n");
    for number in 0..10 {
        scene.write(&format!("scratch/f{number}"), "x");
    }
    for number in 0..100 {
        scene.write(&format!("node_modules/m/{number}"), "x");
    }
    let found = scene.repository().beneath(Path::new(""), generous());
    assert_eq!((found.committed, found.changed, found.untracked, found.ignored), (4, 1, 10, 1), "{found:?}");
    assert_eq!(found.examples.len(), 5);
    assert_eq!(found.examples[0], Example { path: "src/app.ts".into(), state: State::Changed });
    assert_eq!(found.total(), 16);
    let alone = scene.repository().beneath(Path::new("src/app.ts"), generous());
    assert_eq!((alone.changed, alone.total()), (1, 1));
    let ignored = scene.repository().beneath(Path::new("node_modules/m"), generous());
    assert_eq!((ignored.ignored, ignored.total()), (1, 1));
}

#[test]
fn a_walk_stops_at_its_bounds() {
    let scene = Scene::new();
    for number in 0..50 {
        scene.write(&format!("scratch/f{number}"), "x");
    }
    let few = Bounds { entries: 10, ..generous() };
    let found = scene.repository().beneath(Path::new("scratch"), few);
    assert!(found.truncated && found.untracked == 10, "{found:?}");
    assert!(scene.repository().tracked_changes(Path::new(""), Bounds { entries: 1, ..generous() }).truncated);
    scene.write("top", "x");
    let shallow = scene.repository().untracked(Path::new(""), Bounds { entries: 12, ..generous() });
    assert!(shallow.examples.iter().any(|example| example.path == "top"), "files come before directories: {shallow:?}");
    let none = Bounds { time: Duration::ZERO, ..generous() };
    let found = scene.repository().beneath(Path::new(""), none);
    assert!(found.truncated);
    assert_eq!(found.worst(), State::Unknown(Reason::Bounds));
}

#[test]
fn ignore_rules_can_be_taken_back() {
    let scene = Scene::new();
    scene.write("dist/keep.js", "x");
    scene.write("dist/out.js", "x");
    scene.write(".git/info/exclude", "secret.txt\n");
    scene.write("secret.txt", "x");
    scene.write("src/.gitignore", "*.gen\n!important.gen\n");
    scene.write("src/a.gen", "x");
    scene.write("src/important.gen", "x");
    assert_eq!(scene.state("dist/keep.js"), State::Untracked);
    assert_eq!(scene.state("dist/out.js"), State::Ignored);
    assert_eq!(scene.state("secret.txt"), State::Ignored);
    assert_eq!(scene.state("src/a.gen"), State::Ignored);
    assert_eq!(scene.state("src/important.gen"), State::Untracked);
    scene.git(&["add", "-f", "dist/out.js"]);
    scene.git(&["commit", "-qm", "tracked though ignored"]);
    assert_eq!(scene.state("dist/out.js"), State::Committed);
    assert_eq!(scene.state("dist"), State::Untracked);
}

#[test]
fn dirty_tells_tracked_changes_from_untracked_files() {
    let scene = Scene::new();
    let clean = scene.repository().dirty(generous());
    assert_eq!((clean.tracked.changed, clean.tracked.committed, clean.untracked.total()), (0, 5, 0), "{clean:?}");
    scene.write("src/app.ts", "changed\n");
    scene.write("notes/draft.md", "mine\n");
    scene.write("debug.log", "x\n");
    fs::remove_file(scene.root.join("docs/guide.md")).unwrap();
    let dirty = scene.repository().dirty(generous());
    assert_eq!((dirty.tracked.changed, dirty.tracked.missing), (1, 1), "{dirty:?}");
    assert_eq!((dirty.untracked.untracked, dirty.untracked.ignored, dirty.untracked.changed), (1, 1, 0), "{dirty:?}");
    assert_eq!(dirty.tracked.examples[0].path, "src/app.ts");
    assert_eq!(dirty.untracked.examples[0].path, "notes/draft.md");
    assert_eq!(scene.repository().tracked_changes(Path::new("docs"), generous()).changed, 0);
    assert_eq!(scene.repository().tracked_changes(Path::new("src/app.ts"), generous()).changed, 1);
    assert_eq!(scene.repository().untracked(Path::new("notes"), generous()).untracked, 1);
    assert_eq!(scene.repository().untracked(Path::new("src/app.ts"), generous()).total(), 0);
}

#[test]
fn a_linked_work_tree_has_an_index_of_its_own() {
    let scene = Scene::new();
    let linked = scene.root.parent().unwrap().join("linked");
    scene.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    fs::write(linked.join("README.md"), "changed here\n").unwrap();
    let repository = Repository::discover(&linked.join("src")).unwrap();
    assert_eq!(repository.root(), linked);
    assert_eq!(repository.common_dir(), scene.root.join(".git"));
    assert!(repository.git_dir().starts_with(scene.root.join(".git/worktrees")));
    assert_eq!(repository.state(Path::new("README.md")), State::Changed);
    assert_eq!(repository.state(Path::new("src/app.ts")), State::Committed);
    assert_eq!(repository.branch().as_deref(), Some("side"));
    assert_eq!(scene.state("README.md"), State::Committed);
}

#[test]
fn a_nested_repository_answers_for_its_own_files() {
    let scene = Scene::new();
    let nested = scene.root.join("vendor/lib");
    fs::create_dir_all(&nested).unwrap();
    git(&nested, &["init", "-q", "-b", "main"]);
    fs::write(nested.join("a"), "x\n").unwrap();
    fs::write(nested.join("b"), "x\n").unwrap();
    git(&nested, &["add", "a"]);
    git(&nested, &["commit", "-qm", "first"]);
    assert_eq!(scene.state("vendor/lib/a"), State::Committed);
    assert_eq!(scene.state("vendor/lib/b"), State::Untracked);
    assert_eq!(scene.state("vendor/lib"), State::Unknown(Reason::NestedRepository));
    assert_eq!(scene.state("vendor"), State::Unknown(Reason::NestedRepository));
    assert_eq!(Repository::discover(&nested).unwrap().root(), nested);
}

#[test]
fn a_submodule_answers_for_its_own_files() {
    let (library, scene) = (Scene::new(), Scene::new());
    scene.git(&["submodule", "add", "-q", library.root.to_str().unwrap(), "sub"]);
    scene.git(&["commit", "-qm", "submodule"]);
    assert_eq!(scene.state("sub/README.md"), State::Committed);
    scene.write("sub/README.md", "changed\n");
    assert_eq!(scene.state("sub/README.md"), State::Changed);
    assert_eq!(scene.state("sub"), State::Unknown(Reason::NestedRepository));
}

#[test]
fn branches_remotes_and_what_is_published() {
    let origin = Scene::new();
    let base = tempfile::tempdir().unwrap();
    let clone = base.path().canonicalize().unwrap().join("clone");
    git(base.path(), &["clone", "-q", origin.root.to_str().unwrap(), "clone"]);
    let repository = || Repository::discover(&clone).unwrap();
    assert_eq!(repository().branch().as_deref(), Some("main"));
    assert_eq!(repository().default_branch().as_deref(), Some("main"));
    assert_eq!(repository().upstream("main"), Some(("origin".into(), "main".into())));
    assert_eq!(repository().upstream("other"), None);
    let url = origin.root.to_str().map(str::to_owned);
    assert_eq!(repository().remotes(), [Remote { name: "origin".into(), url, push_url: None }]);
    assert_eq!(repository().is_published(), Some(true));
    fs::write(clone.join("README.md"), "mine\n").unwrap();
    git(&clone, &["commit", "-qam", "mine"]);
    assert_eq!(repository().is_published(), Some(false));
    git(&clone, &["checkout", "-q", "--detach", "HEAD~1"]);
    assert_eq!(repository().branch(), None);
    assert_eq!(repository().state(Path::new("README.md")), State::Committed);
    assert_eq!(Scene::new().repository().is_published(), Some(false));
    assert_eq!(Scene::new().repository().default_branch(), None);
}

#[test]
fn an_older_commit_of_a_remote_branch_is_published() {
    let origin = Scene::new();
    for number in 0..5 {
        origin.write("README.md", &format!("{number}\n"));
        origin.git(&["commit", "-qam", "more"]);
    }
    let base = tempfile::tempdir().unwrap();
    git(base.path(), &["clone", "-q", origin.root.to_str().unwrap(), "clone"]);
    git(&base.path().join("clone"), &["reset", "-q", "--hard", "HEAD~3"]);
    assert_eq!(Repository::discover(&base.path().join("clone")).unwrap().is_published(), Some(true));
}

#[test]
fn line_endings_alone_are_no_change_under_autocrlf() {
    let scene = Scene::new();
    scene.write("README.md", "committed\r\n");
    assert_eq!(scene.state("README.md"), State::Changed);
    scene.git(&["config", "core.autocrlf", "true"]);
    assert_eq!(scene.state("README.md"), State::Committed);
    scene.write("README.md", "other\r\n");
    assert_eq!(scene.state("README.md"), State::Changed);
}

#[test]
fn content_behind_a_filter_is_unknown_rather_than_guessed_and_no_filter_runs() {
    let scene = Scene::new();
    let proof = scene.root.join("ran");
    let program = format!("touch {}", proof.display());
    scene.write(".gitattributes", "*.ts filter=evil\n");
    for key in ["filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "core.fsmonitor", "core.hooksPath"] {
        scene.git(&["config", key, &program]);
    }
    scene.write("src/app.ts", "changed\n");
    let repository = scene.repository();
    assert_eq!(repository.state(Path::new("src/app.ts")), State::Unknown(Reason::Conversion));
    assert_eq!(repository.state(Path::new("docs/guide.md")), State::Committed);
    repository.dirty(generous());
    repository.beneath(Path::new(""), generous());
    repository.is_published();
    assert!(!proof.exists());
}

#[test]
fn a_work_tree_configured_elsewhere_is_not_believed() {
    let scene = Scene::new();
    scene.git(&["config", "core.worktree", "/"]);
    assert_eq!(scene.state("README.md"), State::Unknown(Reason::Repository));
    assert_eq!(scene.repository().root(), scene.root);
}

#[test]
fn a_corrupt_index_is_unknown_and_never_a_panic() {
    let scene = Scene::new();
    let path = scene.root.join(".git/index");
    let good = fs::read(&path).unwrap();
    let mut seed: u64 = 7;
    for round in 0..300 {
        let mut bad = good.clone();
        for _ in 0..=round % 4 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(seed >> 33).unwrap() % bad.len();
            bad[at] ^= u8::try_from(seed & 0xff).unwrap() | 1;
        }
        if round % 5 == 0 {
            bad.truncate(bad.len() * round / 300);
        }
        fs::write(&path, bad).unwrap();
        let repository = scene.repository();
        repository.state(Path::new("README.md"));
        repository.dirty(Bounds::default());
        repository.beneath(Path::new(""), Bounds::default());
    }
    fs::write(&path, "garbage").unwrap();
    assert_eq!(scene.state("README.md"), State::Unknown(Reason::Index));
    assert_eq!(scene.state("src"), State::Unknown(Reason::Index));
    assert_eq!(scene.repository().dirty(generous()).tracked.unknown, 1);
    fs::remove_file(&path).unwrap();
    assert_eq!(scene.state("README.md"), State::Untracked);
    fs::create_dir(&path).unwrap();
    assert_eq!(scene.state("README.md"), State::Unknown(Reason::Index));
}

#[test]
fn a_broken_repository_is_unknown() {
    let scene = Scene::new();
    scene.write(".git/refs/heads/main", "0123456789012345678901234567890123456789\n");
    assert_eq!(scene.state("README.md"), State::Unknown(Reason::Head));
    assert_eq!(scene.repository().tracked_changes(Path::new(""), generous()).worst(), State::Unknown(Reason::Head));
    scene.write(".git/config", "[core\nbroken");
    assert!(matches!(scene.state("README.md"), State::Unknown(_)));
    let lost = Scene::new();
    let blob = Command::new("git").args(["rev-parse", "HEAD:README.md"]).current_dir(&lost.root).output().unwrap();
    let id = String::from_utf8(blob.stdout).unwrap();
    let (folder, file) = id.trim().split_at(2);
    fs::remove_file(lost.root.join(".git/objects").join(folder).join(file)).unwrap();
    assert_eq!(lost.state("README.md"), State::Unknown(Reason::Head), "its content is in no object");
    let pipe = Scene::new();
    fs::remove_file(pipe.root.join(".gitignore")).unwrap();
    assert!(Command::new("mkfifo").arg(pipe.root.join(".gitignore")).status().unwrap().success());
    pipe.write("new", "x");
    assert_eq!(pipe.state("new"), State::Unknown(Reason::Unreadable), "a pipe for ignore rules is not opened");
}

#[test]
fn without_a_work_tree_there_is_no_repository() {
    let base = tempfile::tempdir().unwrap();
    assert!(Repository::discover(base.path()).is_none());
    assert!(Repository::discover(&base.path().join("nothing")).is_none());
    git(base.path(), &["init", "-q", "--bare", "bare.git"]);
    assert!(Repository::discover(&base.path().join("bare.git")).is_none());
}

#[test]
fn odd_trees_end_in_an_answer() {
    let scene = Scene::new();
    std::os::unix::fs::symlink("loop", scene.root.join("loop")).unwrap();
    std::os::unix::fs::symlink("..", scene.root.join("src/up")).unwrap();
    assert_eq!(scene.state("loop"), State::Untracked);
    assert_eq!(scene.state("src/up/src/up/README.md"), State::Committed);
    assert_eq!(scene.repository().beneath(Path::new(""), generous()).untracked, 2);
    assert!(matches!(scene.state(&"x".repeat(4000)), State::Absent | State::Unknown(_)));
    assert!(matches!(scene.state(&"x/".repeat(2000)), State::Absent | State::Unknown(_)));
    let deep = scene.root.join("a/".repeat(200));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("f"), "x").unwrap();
    assert_eq!(scene.repository().beneath(Path::new("a"), generous()).untracked, 1);
    assert!(Command::new("mkfifo").arg(scene.root.join("pipe")).status().unwrap().success());
    assert_eq!(scene.state("pipe"), State::Untracked);
}

#[test]
fn a_directory_that_may_not_be_read_is_unknown() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new();
    scene.write("closed/a", "x");
    let closed = scene.root.join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let readable = fs::read_dir(&closed).is_ok();
    let (state, below) = (scene.state("closed"), scene.state("closed/a"));
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    if !readable {
        assert_eq!(state, State::Unknown(Reason::Unreadable));
        assert_eq!(below, State::Unknown(Reason::Unreadable));
    }
}

#[test]
fn a_sparse_checkout_is_told_from_a_deletion() {
    let scene = Scene::new();
    scene.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "docs"]);
    assert_eq!(scene.state("docs/guide.md"), State::Committed);
    assert_eq!(scene.state("src/app.ts"), State::Absent);
    assert_eq!(scene.repository().tracked_changes(Path::new(""), generous()).missing, 0);
    scene.write("src/app.ts", "back\n");
    assert_eq!(scene.state("src/app.ts"), State::Unknown(Reason::Sparse));
}

#[test]
fn names_are_taken_in_their_bytes() {
    use std::os::unix::ffi::OsStrExt as _;
    let scene = Scene::new();
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"od\xffd [x]*?.md"));
    fs::write(scene.root.join(odd), "x\n").unwrap();
    assert_eq!(scene.repository().state(odd), State::Untracked);
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-qm", "odd"]);
    assert_eq!(scene.repository().state(odd), State::Committed);
    scene.write("-rf", "x");
    assert_eq!(scene.state("-rf"), State::Untracked);
}

#[test]
fn a_file_that_is_too_large_to_hash_is_not_guessed() {
    let scene = Scene::new();
    let large = "x".repeat(usize::try_from(MAX_HASHED).unwrap() + 10);
    scene.write("large", &large);
    scene.git(&["add", "large"]);
    scene.git(&["commit", "-qm", "large"]);
    std::thread::sleep(Duration::from_millis(150));
    scene.age();
    scene.git(&["reset", "-q"]);
    let path = scene.root.join("large");
    fs::File::options().append(true).open(&path).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
    assert_eq!(scene.state("large"), State::Unknown(Reason::TooLarge));
    fs::write(&path, format!("{large}more")).unwrap();
    assert_eq!(scene.state("large"), State::Changed);
}

#[test]
fn a_stamp_changes_with_the_file_and_only_then() {
    let scene = Scene::new();
    let path = scene.root.join("README.md");
    let before = stamp(&path).unwrap();
    assert_eq!(stamp(&path), Some(before));
    fs::write(&path, "longer than before\n").unwrap();
    assert_ne!(stamp(&path), Some(before));
    assert_eq!(stamp(&scene.root.join("nothing")), None);
}

/// A generator that gives every run the same history.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// What `git status` says of every path that it does not pass over as clean.
fn status(root: &Path) -> HashMap<String, State> {
    let arguments = ["status", "--porcelain=v1", "-z", "--ignored=matching", "-uall", "--no-renames"];
    // Without optional locks the index stays as it is, and the times in it too.
    let output = Command::new("git").arg("--no-optional-locks").args(arguments).current_dir(root).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator('\0')
        .map(|line| {
            let state = match &line[..2] {
                "??" => State::Untracked,
                "!!" => State::Ignored,
                _ => State::Changed,
            };
            (line[3..].trim_end_matches('/').to_owned(), state)
        })
        .collect()
}

#[test]
fn every_file_has_the_state_that_git_status_gives_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let names = ["README.md", "src/app.ts", "src/auth/login.ts", "new", "src/n.log", "dist/keep.js", "dist/x", "a/b/c"];
    let mut random = Random(42);
    for _ in 0..6 {
        let scene = Scene::new();
        for _ in 0..25 {
            let name = names[random.below(names.len())];
            let path = scene.root.join(name);
            match random.below(9) {
                0 | 1 => scene.write(name, "committed\n"),
                2 => scene.write(name, "Committed\n"),
                3 => scene.write(name, &"x".repeat(random.below(40))),
                4 if path.exists() => fs::remove_file(&path).unwrap(),
                5 if path.exists() => {
                    let mode = if random.below(2) == 0 { 0o755 } else { 0o644 };
                    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
                }
                6 if path.exists() => scene.git(&["add", "-f", name]),
                7 => scene.git(&["rm", "-q", "--cached", "--ignore-unmatch", name]),
                8 => scene.git(&["commit", "-q", "--allow-empty", "-m", "more"]),
                _ => {}
            }
            let expected = status(&scene.root);
            let repository = scene.repository();
            let mut counts = HashMap::new();
            for name in names.iter().filter(|name| scene.root.join(name).exists()) {
                let by_git = match expected.get(*name) {
                    Some(state) => *state,
                    None => State::Committed,
                };
                // Removed from the index but not from HEAD: git names the deletion, and the file that is left.
                let left = repository.index().unwrap().entry_by_path((*name).into()).is_none();
                let state = repository.state(Path::new(name));
                if left {
                    assert!(matches!(state, State::Untracked | State::Ignored), "{name}: {state:?}");
                } else {
                    assert_eq!(state, by_git, "{name} in {expected:?}");
                }
                *counts.entry(state).or_insert(0) += 1;
            }
            let found = repository.beneath(Path::new(""), generous());
            let changed = counts.get(&State::Changed).copied().unwrap_or(0);
            assert_eq!(found.changed, changed, "{found:?} {expected:?}");
            assert_eq!(repository.tracked_changes(Path::new(""), generous()).changed, changed);
            assert_eq!(found.untracked, counts.get(&State::Untracked).copied().unwrap_or(0), "{found:?} {counts:?}");
        }
    }
}
