//! Input that nobody would write.
