//! Every number that a rule uses, with its default and its validation.

pub mod falsify;
