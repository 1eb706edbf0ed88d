//! The console: pages of the admin listener for the operator.
//!
//! | file | content |
//! |---|---|
//! | `layout.rs` | the frame of every page: navigation, banners, security headers |
//! | `assets.rs` | style sheet and script, `/assets/...` |
//! | `login.rs` | `/login`, `/logout` |
//! | `overview.rs` | `/`: limiting stage, flow, charts |
//! | `flow.rs`, `charts.rs`, `stage_table.rs` | its parts |
//! | `settings.rs` | `/console/settings` |
//! | `traffic.rs` | `/console/traffic` |
//! | `health.rs` | `/console/health` |
//! | `banners.rs` | banners of every page: a change on trial, switches that are off |
//! | `figure.rs` | figures that the script refreshes |
//!
//! The server renders all pages. The script only refreshes them, so each page is complete without
//! it. Nothing is loaded from another host, and no page has a script or a style of its own: the
//! Content-Security-Policy of [`layout`] rejects both.

mod assets;
mod banners;
mod charts;
mod figure;
mod flow;
mod health;
mod layout;
mod login;
mod overview;
mod routes;
mod settings;
mod stage_table;
mod traffic;

pub use figure::Form;
pub use routes::configure;
