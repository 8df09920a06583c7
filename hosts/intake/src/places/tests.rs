#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

/// A workspace and a home below one temporary directory.
struct Scene {
    _base: tempfile::TempDir,
    base: PathBuf,
    root: PathBuf,
    home: PathBuf,
    places: Places,
}

impl Scene {
    fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path().canonicalize().unwrap();
        let (root, home) = (base.join("work/repo"), base.join("home"));
        for directory in [root.join("src/deep"), root.join("notes"), home.join(".ssh")] {
            fs::create_dir_all(directory).unwrap();
        }
        for file in ["src/a.rs", "src/b.rs", "src/.hidden", "src/deep/c.rs", "notes/req_1.md"] {
            fs::write(root.join(file), "x\n").unwrap();
        }
        let places = Places::new(&root, Some(&home)).with_case(Case::Sensitive);
        Self { _base: temporary, base, root, home, places }
    }

    fn at(&self, spelling: &str) -> Place {
        self.places.resolve(&self.root, spelling).unwrap()
    }

    fn text(&self, spelling: &str) -> String {
        self.at(spelling).text
    }

    fn catastrophe(&self, spelling: &str) -> Option<Catastrophic> {
        self.at(spelling).catastrophic
    }

    fn names(&self, spelling: &str) -> Vec<String> {
        self.places.expand(&self.at(spelling), 200).places.into_iter().map(|place| place.text).collect()
    }

    #[cfg(unix)]
    fn link(&self, from: &str, to: impl AsRef<Path>) {
        std::os::unix::fs::symlink(to, self.root.join(from)).unwrap();
    }
}

#[test]
fn all_spellings_of_one_file_give_one_name() {
    let scene = Scene::new();
    let absolute = scene.root.join("src/a.rs");
    for spelling in [
        "src/a.rs",
        "./src/a.rs",
        "src//a.rs",
        "src/./a.rs",
        "src/../src/a.rs",
        "nothing/../src/a.rs",
        "src/deep/../a.rs",
        "../repo/src/a.rs",
        absolute.to_str().unwrap(),
        "~+/src/a.rs",
    ] {
        assert_eq!(scene.text(spelling), "src/a.rs", "{spelling}");
        assert_eq!(scene.at(spelling).path, absolute, "{spelling}");
    }
    assert_eq!(scene.text("src/"), "src");
    assert_eq!(scene.text("."), ".");
    assert_eq!(scene.places.resolve(&scene.root.join("src"), "a.rs").unwrap().text, "src/a.rs");
    assert_eq!(scene.places.resolve(Path::new("src"), "a.rs").unwrap().text, "src/a.rs");
}

#[test]
fn backslashes_separate_only_in_windows_spelling() {
    let scene = Scene::new();
    assert_eq!(scene.text(r"src\a.rs"), r"src\a.rs");
    let places = Places::new(&scene.root, Some(&scene.home)).with_windows_spelling(true).with_case(Case::Sensitive);
    assert_eq!(places.resolve(&scene.root, r".\src\a.rs").unwrap().text, "src/a.rs");
    assert_eq!(places.resolve(&scene.root, "nul").unwrap().root, Root::NoPlace);
}

#[test]
fn case_is_folded_where_the_platform_folds_it() {
    let scene = Scene::new();
    assert_eq!(scene.text("SRC/A.rs"), "SRC/A.rs");
    let places = Places::new(&scene.root, Some(&scene.home)).with_case(Case::Insensitive);
    assert_eq!(places.resolve(&scene.root, "SRC/A.rs").unwrap().text, "src/a.rs");
    let shouted = scene.root.to_str().unwrap().to_uppercase();
    assert_eq!(places.resolve(&scene.root, &shouted).unwrap().catastrophic, Some(Catastrophic::WorkspaceRoot));
}

#[test]
fn the_longest_root_decides() {
    let scene = Scene::new();
    assert_eq!(scene.at("src/a.rs").root, Root::Workspace);
    assert_eq!(scene.at("~/.ssh/id_rsa").root, Root::Home);
    assert_eq!(scene.at("~/.ssh/id_rsa").path, scene.home.join(".ssh/id_rsa"));
    assert_eq!(scene.at("../other").root, Root::Outside, "beside the workspace, which is temporary itself");
    let beside = scene.base.parent().unwrap().join("elsewhere");
    assert_eq!(scene.at(beside.to_str().unwrap()).root, Root::Temp);
    assert_eq!(scene.at("/dev/shm/x").root, Root::Temp);
    assert_eq!(scene.at("/etc/passwd").root, Root::Outside);
    assert_eq!(scene.at("~somebody/x").root, Root::Outside);
    let usual = Places::new(Path::new("/home/u/project"), Some(Path::new("/home/u")));
    let at = |spelling| usual.resolve(Path::new("/home/u/project"), spelling).unwrap();
    assert_eq!((at("a").root, at("~/a").root), (Root::Workspace, Root::Home));
    assert_eq!((at("~v/a").root, at("~v").catastrophic), (Root::Outside, Some(Catastrophic::Home)));
    assert_eq!((at("/tmp/a").root, at("/tmp/*").catastrophic), (Root::Temp, None));
}

#[test]
fn a_temporary_root_that_matters_otherwise_is_none() {
    let scene = Scene::new();
    let places = Places::new(&scene.root, Some(&scene.home))
        .with_temporary(["/", "/etc"].map(PathBuf::from).into_iter().chain([scene.home.clone()]));
    assert_eq!(places.resolve(&scene.root, "/etc/passwd").unwrap().root, Root::Outside);
    assert_eq!(places.resolve(&scene.root, "~/x").unwrap().root, Root::Home);
}

#[test]
fn null_devices_and_standard_streams_are_no_place() {
    let scene = Scene::new();
    for spelling in [
        "/dev/null",
        "//dev//null",
        "/dev/../dev/null",
        "/dev/stdout",
        "/dev/stderr",
        "/dev/fd/3",
        "/dev/tty",
        "/dev/zero",
        "/proc/self/fd/1",
        "NUL",
        r"\\.\NUL",
    ] {
        assert_eq!(scene.at(spelling).root, Root::NoPlace, "{spelling}");
    }
    fs::write(scene.root.join("NUL"), "").unwrap();
    assert_eq!(scene.at("NUL").root, Root::Workspace);
    assert_eq!(scene.at("dev/null").text, "dev/null");
}

#[test]
fn roots_and_what_holds_them_are_catastrophic() {
    let scene = Scene::new();
    use Catastrophic::*;
    for (spelling, expected) in [
        ("/", FileSystemRoot),
        ("/.", FileSystemRoot),
        ("//", FileSystemRoot),
        ("/../..", FileSystemRoot),
        ("/*", FileSystemRoot),
        ("/*/*", FileSystemRoot),
        ("~", Home),
        ("~/", Home),
        ("~/*", Home),
        ("~/.*", Home),
        (".", WorkspaceRoot),
        ("./", WorkspaceRoot),
        ("*", WorkspaceRoot),
        ("./*", WorkspaceRoot),
        ("*/", WorkspaceRoot),
        ("**", WorkspaceRoot),
        ("?*", WorkspaceRoot),
        ("[!.]*", WorkspaceRoot),
        ("src/../*", WorkspaceRoot),
        ("src/..", WorkspaceRoot),
        (".[!.]*", WorkspaceRoot),
        ("..", WorkspaceAncestor),
        ("../*", WorkspaceAncestor),
        ("../..", HomeAncestor),
        ("/etc", SystemDirectory),
        ("/etc/*", SystemDirectory),
        ("/usr/bin/", SystemDirectory),
        ("/var", SystemDirectory),
        ("/System", SystemDirectory),
        ("/home/somebody", Home),
        ("/dev/sda", DiskDevice),
        ("/dev/nvme0n1p2", DiskDevice),
        ("/dev/mapper/root", DiskDevice),
        ("/dev/disk0", DiskDevice),
        (r"\\.\PhysicalDrive0", DiskDevice),
        (r"\\host\share", DriveRoot),
        (r"\\host\share\*", DriveRoot),
        (r"C:\", DriveRoot),
        ("C:", DriveRoot),
        (r"c:\*", DriveRoot),
        (r"C:\*.*", DriveRoot),
        (r"C:\x\..\..", DriveRoot),
        (r"\\?\C:\", DriveRoot),
        ("/mnt/c", DriveRoot),
        ("/mnt/c/*", DriveRoot),
        ("/q", DriveRoot),
        (r"\\.\C:", DiskDevice),
        (r"\\?\UNC\host\share", DriveRoot),
        (r"C:\Windows", SystemDirectory),
        (r"C:\WINDOWS\System32", SystemDirectory),
        (r"C:\Users", SystemDirectory),
        ("/q/Users", SystemDirectory),
        ("/mnt/c/Users/somebody", Home),
        (r"C:\Users\somebody\*", Home),
    ] {
        assert_eq!(scene.catastrophe(spelling), Some(expected), "{spelling}");
    }
    for spelling in [
        "src",
        "src/*",
        "*.rs",
        "src/**/*.rs",
        "s*",
        "~/x",
        "~/x/*",
        "/etc/passwd",
        "/tmp/x",
        r"C:\x",
        "/mnt/c/x",
        r"\\host\share\x",
        "/usr/share/x",
        "[id]",
    ] {
        assert_eq!(scene.catastrophe(spelling), None, "{spelling}");
    }
    assert_eq!(scene.places.resolve_literal(&scene.root, "*").unwrap().catastrophic, None);
}

#[test]
fn drives_have_one_name_and_lie_outside() {
    let scene = Scene::new();
    for spelling in
        [r"C:\Proj\a.txt", "c:/proj/a.txt", "/mnt/c/proj/a.txt", r"\\?\C:\proj\a.txt", r"C:\proj\.\x\..\a.txt"]
    {
        let place = scene.at(spelling);
        assert_eq!((place.text.as_str(), place.root), ("c:/proj/a.txt", Root::Outside), "{spelling}");
    }
    assert_eq!(scene.at("/q/proj").text, scene.at(r"Q:\proj").text);
    assert_eq!(scene.text(r"\\Host\share\..\..\x"), "//host/share/x");
    let on_drive = Places::new(Path::new("/mnt/c/proj"), None);
    assert_eq!(on_drive.resolve(Path::new("/mnt/c/proj"), r"C:\proj\a").unwrap().text, "a");
}

#[test]
fn what_cannot_be_a_path_is_an_error() {
    let scene = Scene::new();
    let at = |spelling: &str| scene.places.resolve(&scene.root, spelling);
    assert_eq!(at(""), Err(PlaceError::Empty));
    assert_eq!(at("a\0b"), Err(PlaceError::Nul));
    assert_eq!(at(&"a".repeat(4097)), Err(PlaceError::TooLong(4097)));
    assert!(at(&"a/".repeat(2048)).is_ok());
    assert!(at(&"../".repeat(1365)).is_ok());
    assert!(at(&"*".repeat(4096)).is_ok());
    assert_eq!(Places::new(&scene.root, None).resolve(&scene.root, "~/x"), Err(PlaceError::NoHome));
    for odd in [
        "ünï/çødé",
        "日本/語",
        "a\u{202e}b",
        "\u{7f}",
        " ",
        "-rf",
        "~~",
        "[",
        "[]",
        "a[b",
        "C:x",
        ":",
        "\\",
        "\\\\",
        "~\u{301}/é",
    ] {
        let place = at(odd).unwrap();
        scene.places.expand(&place, 10);
    }
}

#[cfg(unix)]
#[test]
fn links_of_ancestors_are_followed_and_the_last_is_not() {
    let scene = Scene::new();
    scene.link("alias", "src");
    scene.link("out", "/etc");
    scene.link("up", "src/deep");
    assert_eq!(scene.text("alias/a.rs"), "src/a.rs");
    let link = scene.at("alias");
    assert_eq!((link.text.as_str(), link.kind, link.target), ("alias", Kind::Link, scene.root.join("src")));
    assert_eq!(scene.text("alias/"), "src", "a trailing separator asks for the directory");
    assert_eq!(scene.text("up/../a.rs"), "src/a.rs", "`..` is taken after the link");
    assert_eq!(scene.text("out/passwd"), "/etc/passwd");
    assert_eq!(scene.at("out").catastrophic, None);
    assert_eq!(scene.at("out/").catastrophic, Some(Catastrophic::SystemDirectory));
    let followed = scene.places.follow(&scene.at("out"));
    assert_eq!((followed.text.as_str(), followed.root), ("/etc", Root::Outside));
}

#[cfg(unix)]
#[test]
fn a_workspace_reached_through_a_link_is_the_same_workspace() {
    let scene = Scene::new();
    let link = scene.base.join("link");
    std::os::unix::fs::symlink(&scene.root, &link).unwrap();
    let places = Places::new(&link, None);
    assert_eq!(places.resolve(&link, "src/a.rs").unwrap().text, "src/a.rs");
    assert_eq!(places.resolve(&scene.root, link.join("src").to_str().unwrap()).unwrap().text, "src");
    assert_eq!(places.workspace(), scene.root);
    let by_link = places.resolve(&scene.base, link.to_str().unwrap()).unwrap();
    assert_eq!((by_link.text.as_str(), by_link.catastrophic), (".", Some(Catastrophic::WorkspaceRoot)));
}

#[cfg(unix)]
#[test]
fn links_without_end_are_said_to_be_so() {
    let scene = Scene::new();
    scene.link("one", "two");
    scene.link("two", "one");
    scene.link("self", "self/self/self/self");
    assert!(scene.at("one").endless);
    assert!(scene.at("one/x").endless);
    assert!(scene.at("self/x").endless);
    assert!(!scene.at("src/a.rs").endless);
}

#[cfg(unix)]
#[test]
fn names_that_are_not_unicode_keep_their_bytes_in_the_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let scene = Scene::new();
    fs::write(scene.root.join("notes").join(OsStr::from_bytes(b"a\xff")), "").unwrap();
    fs::write(scene.root.join("notes").join(OsStr::from_bytes(b"a\xfe")), "").unwrap();
    assert_eq!(scene.names("notes/a*"), [r"notes/a\xFE", r"notes/a\xFF"]);
}

#[test]
fn patterns_match_as_a_shell_does() {
    let scene = Scene::new();
    assert!(scene.at("src/*.rs").pattern && !scene.at("src/a.rs").pattern);
    assert_eq!(scene.names("src/*"), ["src/a.rs", "src/b.rs", "src/deep"]);
    assert_eq!(scene.names("src/.h*"), ["src/.hidden"]);
    assert_eq!(scene.names("src/[^a].rs"), ["src/b.rs"]);
    assert_eq!(scene.names("*/?.rs"), ["src/a.rs", "src/b.rs"]);
    assert_eq!(scene.names("**/*.rs"), ["src/a.rs", "src/b.rs", "src/deep/c.rs"]);
    assert_eq!(scene.names("src/*.py"), ["src/*.py"], "without a match a pattern stands for itself");
    assert_eq!(scene.names("src/a.rs"), ["src/a.rs"]);
}

#[test]
fn expanding_is_bounded() {
    let scene = Scene::new();
    for number in 0..30 {
        fs::write(scene.root.join(format!("notes/n{number}")), "").unwrap();
    }
    let some = scene.places.expand(&scene.at("notes/n*"), 10);
    assert_eq!((some.places.len(), some.more), (10, true));
    let all = scene.places.expand(&scene.at("notes/n*"), 30);
    assert_eq!((all.places.len(), all.more), (30, false));
}
