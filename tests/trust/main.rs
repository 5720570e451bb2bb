//! What lets people and programs rely on the tool: every code is explained and shown, messages teach, no input breaks it.

mod broken;
mod explain;
mod fix;
mod fuzz;
mod isolation;
#[path = "../setup.rs"]
mod setup;
mod work;
