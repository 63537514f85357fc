//! Scenario files from outside: error messages, sweeps, exports, the schema.

mod bad_input;
mod comparisons;
mod controllers;
mod defaults;
mod events;
mod expansion;
mod export;
mod fabric_files;
mod idle_keys;
mod overload;
mod ports;
mod random_input;
mod schema;
mod starters;
mod workloads;
