//! Tests of the interface against nodes on free ports, in one test binary, which links once.

mod http;
mod interface;
mod kit;
