//! Files that a command runs, for the reader of shell text, which opens none itself.

use crate::places::{Kind, Place, Root};
use crate::repository::State;
use crate::shell::{Directory, Entry, Files, Origin, Stored, Word, program_name};
use crate::surroundings::Surroundings;
use crate::targets::{Standing, standing};
use std::io::Read as _;
use stigmergate_core::facts::is_secret;
use stigmergate_core::policy::Policy;

/// The name under which the table knows the gate's own program.
const GATE: &str = "stigmergate";

/// Whether a file is the program that judges here, or a copy of it: under another name it is the same program.
fn is_the_gate(file: &std::path::Path) -> bool {
    let same = || -> Option<bool> {
        let own = std::env::current_exe().ok()?.canonicalize().ok()?;
        let (theirs, ours) = (std::fs::metadata(file).ok()?, std::fs::metadata(&own).ok()?);
        if !theirs.is_file() || theirs.len() != ours.len() {
            return Some(false);
        }
        Some(file == own || std::fs::read(file).ok()? == std::fs::read(&own).ok()?)
    };
    same().unwrap_or(false)
}

/// Bytes of a file that are read; a longer one is no script that somebody wrote by hand.
const MOST_BYTES: u64 = 256 * 1024;

/// Entries of a folder that a search looks at.
const MOST_ENTRIES: usize = 10_000;

/// The files around a call.
pub(crate) struct Disk<'a> {
    pub(crate) around: &'a Surroundings,
    pub(crate) policy: &'a Policy,
}

impl Disk<'_> {
    fn place(&self, directory: &Directory, path: &Word) -> Option<Place> {
        let Standing::In(folder) = standing(self.around.directory(), directory, self.around) else { return None };
        let spelling =
            if path.text.starts_with('~') && !path.home { format!("./{}", path.text) } else { path.text.clone() };
        self.around.places().resolve_literal(&folder, &spelling).ok()
    }

    /// Whose file it is. `None` for those that nobody has to read: the project's own, and what lies where an agent cannot
    /// write unasked.
    fn origin(&self, place: &Place) -> Option<Origin> {
        match place.root {
            Root::Temp => return Some(Origin::New),
            Root::Workspace => {}
            Root::Home | Root::Outside | Root::NoPlace => return None,
        }
        let rebuilt = || place.text.split('/').any(|name| self.policy.places.rebuildable.contains_key(name));
        match self.around.repository().map(|repository| repository.state(&place.path)) {
            Some(State::Committed | State::Absent) => None,
            Some(State::Changed) => Some(Origin::Changed),
            Some(State::Ignored) if rebuilt() => Some(Origin::Changed),
            _ => Some(Origin::New),
        }
    }
}

impl Files for Disk<'_> {
    fn name(&self, directory: &Directory, path: &Word) -> Option<String> {
        self.place(directory, path).map(|place| place.text)
    }

    fn stored(&self, directory: &Directory, path: &Word) -> Option<Stored> {
        let place = self.place(directory, path)?;
        let place = if place.kind == Kind::Link { self.around.places().follow(&place) } else { place };
        if place.kind != Kind::File || is_secret(&place.text, self.policy) {
            return None;
        }
        let origin = self.origin(&place)?;
        let mut bytes = Vec::new();
        std::fs::File::open(&place.path).ok()?.take(MOST_BYTES.saturating_add(1)).read_to_end(&mut bytes).ok()?;
        let fits = u64::try_from(bytes.len()).is_ok_and(|length| length <= MOST_BYTES);
        let text = String::from_utf8(bytes).ok().filter(|text| fits && !text.contains('\0'))?;
        Some(Stored { text, origin })
    }

    fn linked(&self, directory: &Directory, path: &Word) -> Option<String> {
        let place = self.place(directory, path)?;
        let known = |path: &str| self.policy.commands.knows(&program_name(path));
        if is_the_gate(&place.target) {
            return Some(GATE.to_owned());
        }
        if place.kind != Kind::Link || known(&path.text) {
            return None;
        }
        let target = place.target.to_string_lossy().into_owned();
        known(&target).then_some(target)
    }

    fn folder(&self, directory: &Directory) -> Option<String> {
        match standing(self.around.directory(), directory, self.around) {
            Standing::In(folder) => folder.to_str().map(str::to_owned),
            Standing::Unknown => None,
        }
    }

    fn entries(&self, directory: &Directory, folder: &Word) -> Option<Vec<Entry>> {
        let place = self.place(directory, folder)?;
        if !matches!(place.root, Root::Workspace | Root::Temp) || place.kind == Kind::Absent {
            return None;
        }
        let mut entries = vec![entry_of(&place.path, String::new())?];
        let mut open = vec![(place.path, String::new())];
        while let Some((path, name)) = open.pop() {
            let Ok(inside) = std::fs::read_dir(&path) else { continue };
            for item in inside.flatten() {
                let below = item.file_name().into_string().ok()?;
                let below = if name.is_empty() { below } else { format!("{name}/{below}") };
                let entry = entry_of(&item.path(), below.clone())?;
                if entry.kind == 'd' {
                    open.push((item.path(), below));
                }
                // Git makes its own empty folders again.
                if !(entry.kind == 'd' && entry.empty && entry.path.split('/').any(|name| name == ".git")) {
                    entries.push(entry);
                }
            }
            if entries.len() > MOST_ENTRIES {
                return None;
            }
        }
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        Some(entries)
    }

    fn root(&self, directory: &Directory) -> Option<String> {
        let root = self.around.repository()?.root();
        if *directory == Directory::Unchanged {
            return Some(root.to_string_lossy().into_owned());
        }
        let Standing::In(folder) = standing(self.around.directory(), directory, self.around) else { return None };
        let nearest = folder.ancestors().find(|folder| folder.join(".git").exists())?;
        (nearest == root).then(|| root.to_string_lossy().into_owned())
    }
}

/// What stands at a path that a search comes by.
fn entry_of(path: &std::path::Path, below: String) -> Option<Entry> {
    let data = std::fs::symlink_metadata(path).ok()?;
    let kind = match data.file_type() {
        kind if kind.is_dir() => 'd',
        kind if kind.is_symlink() => 'l',
        kind if kind.is_file() => 'f',
        _ => 's',
    };
    let empty = match kind {
        'd' => std::fs::read_dir(path).is_ok_and(|mut inside| inside.next().is_none()),
        _ => kind == 'f' && data.len() == 0,
    };
    Some(Entry { path: below, kind, size: data.len(), empty })
}

#[cfg(test)]
mod tests {
    use crate::testing::{Scene, git, write};
    use stigmergate_core::facts::FactKind as F;

    #[test]
    fn a_script_that_git_does_not_know_is_judged_by_what_it_does() {
        let scene = Scene::new();
        write(&scene.root, "#!/bin/sh\nset -e\nrm -rf notes\n", "wipe.sh");
        write(&scene.root, "import shutil, sys\nshutil.rmtree(sys.argv[1])\n", "wipe.py");
        write(&scene.root, "require('fs').rmSync('notes', {recursive: true})\n", "wipe.js");
        write(&scene.root, "cat .env\n", "show.sh");
        scene.table(&[
            ("bash wipe.sh", &[F::Irreversible]),
            ("./wipe.sh", &[F::Irreversible]),
            (". ./wipe.sh", &[F::Irreversible]),
            ("bash < wipe.sh", &[F::Irreversible]),
            ("cat wipe.sh | sh", &[F::Irreversible]),
            ("cp wipe.sh other.sh && sh other.sh", &[F::Irreversible]),
            ("cd src && ../wipe.sh", &[]),
            ("python3 wipe.py notes", &[F::Irreversible]),
            ("python3 -m wipe notes", &[F::Irreversible]),
            ("python3 wipe.py dist", &[]),
            ("uv run wipe.py notes", &[F::Irreversible]),
            ("node wipe.js", &[F::Irreversible]),
            ("bash show.sh", &[F::Secret]),
            ("bash -n wipe.sh", &[]),
            ("cat wipe.sh", &[]),
        ]);
    }

    #[test]
    fn a_script_that_is_committed_and_unchanged_is_the_projects_own() {
        let scene = Scene::new();
        write(&scene.root, "rm -rf notes\n", "wipe.sh");
        git(&scene.root, &["add", "wipe.sh"]);
        git(&scene.root, &["commit", "-qm", "wipe"]);
        scene.ordinary(&["bash wipe.sh", "./wipe.sh"]);
        write(&scene.root, "rm -rf notes dist\n", "wipe.sh");
        assert_eq!(scene.shell("bash wipe.sh"), [F::Irreversible]);
    }

    #[test]
    fn what_a_script_leaves_open_is_no_reason_to_stop_it() {
        let scene = Scene::new();
        write(
            &scene.root,
            "import os, subprocess, sys\nout = os.environ.get('OUT', 'out')\n\
             with open(os.path.join(out, 'x'), 'w') as f:\n    f.write('x')\n\
             os.remove(out)\n\
             subprocess.run([sys.executable, '-m', 'pytest'])\nsubprocess.run(f'ls {out}', shell=True)\neval('1')\n",
            "run.py",
        );
        write(
            &scene.root,
            "here=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\"\nrm -rf \"$here/dist\"\n\
             npm test > \"log_$(date +%s)\"\n",
            "run.sh",
        );
        scene.ordinary(&["python run.py", "bash run.sh", "./run.sh"]);
    }

    #[test]
    fn a_recipe_is_judged_like_a_script() {
        let scene = Scene::new();
        let makefile = "out := dist\nall:\n\tnpm test\nclean:\n\trm -rf $(out) $(wildcard *.o)\nwipe:\n\trm -rf notes\ndeep: wipe\n";
        write(&scene.root, makefile, "Makefile");
        write(&scene.root, "wipe target='x':\n    rm -rf notes\n", "justfile");
        let package = r#"{"scripts": {"build": "rm -rf dist && tsc", "wipe": "rm -rf notes", "prego": "rm -rf notes", "go": "tsc", "a": "npm run a"}}"#;
        write(&scene.root, package, "package.json");
        let lost: &[F] = &[F::Irreversible];
        scene.table(&[
            ("make", &[]),
            ("make clean", &[]),
            ("make wipe", lost),
            ("make -C . deep", lost),
            ("make -n wipe", &[]),
            ("just wipe", lost),
            ("npm run build", &[]),
            ("npm run a", &[]),
            ("npm run wipe", lost),
            ("npm run go", lost),
            ("cd src && pnpm wipe", lost),
            ("yarn run wipe", lost),
            ("npx run-s build wipe", lost),
            ("npm install", &[]),
        ]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_program_is_that_program() {
        let scene = Scene::new();
        std::os::unix::fs::symlink("/bin/rm", scene.root.join("z")).unwrap();
        assert_eq!(scene.shell("./z -rf notes"), [F::Irreversible]);
        assert_eq!(scene.shell("cp /bin/rm y; ./y -rf notes"), [F::Irreversible]);
    }

    #[test]
    fn a_file_that_is_no_text_or_too_long_stays_closed() {
        let scene = Scene::new();
        write(&scene.root, "rm -rf notes\n\0", "binary.sh");
        write(&scene.root, &"# long\n".repeat(60_000), "long.sh");
        write(&scene.root, "bash loop.sh\nrm -rf dist\n", "loop.sh");
        scene.ordinary(&["bash binary.sh", "bash long.sh", "bash loop.sh", "bash absent.sh"]);
    }
}
