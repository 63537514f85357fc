//! The daemon and `weftctl` as users run them, in private network namespaces connected by veth pairs.

mod adoption;
mod capture;
mod control;
mod detach;
mod hello;
mod hostile;
mod interfaces;
mod leaf_spine;
mod load;
mod missing;
mod moves;
mod one_way;
mod packaging;
mod pair;
mod paths;
mod pins;
mod refusals;
mod reload;
mod stalls;
mod switch;
mod tags;
mod tap;
mod traffic;
mod unheard;
mod upgrade;
