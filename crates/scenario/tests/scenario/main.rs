//! Scenario files from outside: messages for wrong ones, sweeps, exports, the schema.

mod bad_input;
mod expansion;
mod export;
mod random_input;
mod schema;
mod starters;
