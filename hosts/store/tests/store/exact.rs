//! The store is the kernel, and its text forms are exact.

use crate::commands::any_command;
use crate::support::{AT, place};
use proptest::collection::vec;
use proptest::prelude::*;
use std::io::Cursor;
use stigmergate_core::kernel::{Command, Kernel};
use stigmergate_core::policy::{Policy, Preset};
use stigmergate_store::{Options, Order, Store, StoreError};

fn options(preset: Preset) -> Options {
    Options { initial_policy: Some(Policy::preset(preset)), snapshot_every: Some(7), ..Options::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_store_answers_as_the_bare_kernel_does(
        preset in prop_oneof![Just(Preset::Standard), Just(Preset::Reference)],
        steps in vec((0..100_000_u64, any_command(), any::<bool>()), 1..40),
    ) {
        let (_folder, path) = place();
        let mut kernel = Kernel::new(Policy::preset(preset)).unwrap();
        let mut store = Store::open(&path, &options(preset)).unwrap();
        let mut applied = 0;
        for (delay, command, reopens) in steps {
            if reopens {
                store = Store::open_existing(&path, &Options { snapshot_every: Some(7), ..Options::default() }).unwrap();
            }
            let expected = kernel.apply(AT + delay, command.clone());
            match (expected, store.apply(AT + delay, command)) {
                (Ok(reply), Ok(found)) => {
                    applied += 1;
                    prop_assert_eq!(found.sequence, applied);
                    prop_assert_eq!(found.reply, reply);
                }
                (Err(error), Err(StoreError::Core(found))) => prop_assert_eq!(found, error),
                (expected, found) => prop_assert!(false, "the kernel says {:?}, the store {:?}", expected, found),
            }
            prop_assert_eq!(store.with_current(Kernel::digest).unwrap(), kernel.digest());
        }
        let verified = store.verify().unwrap();
        prop_assert_eq!((verified.records, verified.digest), (applied, kernel.digest()));

        let mut lines = Vec::new();
        let end = store.export(&mut lines).unwrap();
        let (imported, again) = Store::import(&path.with_extension("again"), &mut Cursor::new(&lines), &Options::default()).unwrap();
        prop_assert_eq!((end, end.digest), (again, kernel.digest()));
        let all = |store: &Store| store.records(.., Order::OldestFirst).collect::<Result<Vec<_>, _>>().unwrap();
        prop_assert_eq!(all(&imported), all(&store));
    }

    #[test]
    fn several_commands_are_applied_all_or_none(commands in vec(any_command(), 1..8)) {
        let (_folder, path) = place();
        let mut store = Store::open(&path, &options(Preset::Standard)).unwrap();
        let before = store.with_current(Kernel::clone).unwrap();
        let mut kernel = before.clone();
        let expected: Result<Vec<_>, _> = commands.iter().map(|command| kernel.apply(AT, command.clone())).collect();
        match (expected, store.apply_all(AT, commands)) {
            (Ok(replies), Ok(applied)) => {
                prop_assert_eq!(applied.into_iter().map(|one| one.reply).collect::<Vec<_>>(), replies);
                prop_assert_eq!(store.with_current(Kernel::digest).unwrap(), kernel.digest());
            }
            (Err(error), Err(StoreError::Core(found))) => {
                prop_assert_eq!(found, error);
                prop_assert_eq!(store.with_current(Kernel::digest).unwrap(), before.digest());
                prop_assert_eq!(store.last_sequence().unwrap(), 0);
            }
            (expected, found) => prop_assert!(false, "the kernel says {:?}, the store {:?}", expected, found),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn a_command_reads_back_from_its_binary_form(command in any_command()) {
        let bytes = postcard::to_allocvec(&command).unwrap();
        let again: Command = postcard::from_bytes(&bytes).unwrap();
        prop_assert_eq!(postcard::to_allocvec(&again).unwrap(), bytes);
    }
}
