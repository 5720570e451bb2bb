//! Memory that stages are done with goes back to the system.
//!
//! Stages of a large program fill tables of tens of megabytes, one after the other, and free them. The C library keeps what
//! is freed once it has seen such tables, and counts on their return; the peak of a long compilation is then that of all
//! stages together. Changes where freed memory goes, never what is allocated.

/// Tables above this are given back when they are freed. Smaller ones are kept for the next: a compilation of thousands of
/// instructions is as fast as before.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BYTES: libc::c_int = 4 << 20;

/// Asks the allocator of the process to give freed tables back. For the beginning of a program; a library leaves the
/// allocator to its user.
pub fn give_back_tables() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt takes two numbers and touches only the allocator, which locks itself. Refusing changes nothing.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES);
    }
}
