//! Emulated switches: their tables, what their hosts do, and the controller's core in front of them.

mod control;
mod table;
mod world;
