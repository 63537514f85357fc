//! Emulated switches: their tables, their hosts, and the controller's core connected to them.

mod control;
mod table;
mod world;
