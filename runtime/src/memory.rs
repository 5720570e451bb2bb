//! The memories of a core: SBUF, PSUM, its windows onto HBM and the scratch of the kernels, in a guarded reservation.
//! Cores of one chip lie in one reservation and share its HBM.
//!
//! Takes a placement, gives byte offsets into the reservation and checked slices of it. Never knows what a byte means.
//!
//! Pages that no window covers are not accessible, so an access that leaves a window faults instead of reaching the
//! memory of the host. Partitions are not spaced at their natural power-of-two-like pitch, which would map all of them
//! onto the same cache sets, but at an odd number of cache lines.

use nk_compiler::ir::{Inst, Placement, Program, Region};
use nk_compiler::isa::{Arg, Memory as Space, Range};
use nk_compiler::target::Target;
use std::sync::Arc;

/// Bytes of a cache line.
const LINE: u64 = 64;

/// Inaccessible bytes before the first window and behind the last one.
const EDGE_GUARD: u64 = 4 << 30;
/// Inaccessible bytes between two windows.
const GUARD: u64 = 1 << 20;
/// Windows start at multiples of this, which every host's page size divides.
const PAGE: u64 = 64 << 10;

/// Room for the counters of a program, and for its stage window.
const COUNTER_SPAN: u64 = 1 << 30;
const STAGE_SPAN: u64 = 64 << 30;

/// Rows of scratch that compiled code may use.
pub const SCRATCH_ROWS: u64 = 12;

/// Where each window starts, in bytes from the start of the reservation.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub partitions: u64,
    /// [`SCRATCH_ROWS`] rows of `row_pitch` bytes; each can hold one partition's elements as 32-bit words.
    pub rows: u64,
    pub row_pitch: u64,
    /// One f32 register per partition, of the Scalar engine.
    pub accumulators: u64,
    /// One f32 register per partition, of the Vector engine.
    pub vector_accumulators: u64,
    /// One word of state per partition, of the Vector engine's random numbers; 0 is the state before any seed.
    pub generators: u64,
    /// One 64-bit counter per instruction whose function has a bounded range.
    pub counters: u64,
    pub n_counters: u64,
    pub sbuf: u64,
    pub sbuf_pitch: u64,
    pub psum: u64,
    pub psum_pitch: u64,
    pub hbm: u64,
    pub hbm_bytes: u64,
    /// Tiles that instructions with overlapping operands are computed through. It stands last, as its size is known
    /// last.
    pub stage: u64,
    /// The end of the reservation.
    pub end: u64,
}

/// Which of the cores of a reservation a memory is of, and the size of the HBM that they share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    pub core: u32,
    pub n_cores: u32,
    pub hbm_bytes: u64,
}

/// The distance between two rows of `bytes` bytes: an odd number of lines, with room to read a vector past the end.
pub fn padded(bytes: u64) -> u64 {
    ((bytes.div_ceil(LINE) + 16) | 1) * LINE
}

/// Start of the window that follows one that ends at `end`.
fn next_window(end: u64) -> u64 {
    (end + GUARD).next_multiple_of(PAGE)
}

/// Whether an instruction applies a function whose tables on the hardware do not cover every number, so that inputs outside
/// are counted.
pub fn counts(inst: &Inst) -> bool {
    inst.args
        .iter()
        .any(|it| matches!(it, Arg::Act(function) if function.facts().valid != Range::ALL))
}

impl Layout {
    pub fn new(program: &Program, placement: &Placement, target: &Target) -> Layout {
        let ends = program
            .buffers
            .iter()
            .zip(&placement.regions)
            .map(|(buffer, region)| match region {
                Region::Hbm { address } => address + buffer.bytes(),
                Region::OnChip { .. } => 0,
            });
        let seat = Seat {
            core: 0,
            n_cores: 1,
            hbm_bytes: ends.max().unwrap_or(0),
        };
        Layout::of_seat(program, seat, target)
    }

    /// The layout of one core of several.
    pub fn of_seat(program: &Program, seat: Seat, target: &Target) -> Layout {
        let partitions = u64::from(target.partitions);
        // Scratch is ours: a kernel that may use less of SBUF needs as much of it as any other.
        let whole = Target::from_name(target.name).unwrap_or(target);
        let row_pitch = padded(u64::from(whole.sbuf_partition_bytes) * 4);
        let sbuf_pitch = padded(u64::from(target.sbuf_partition_bytes));
        let psum_pitch = padded(u64::from(target.psum_partition_bytes));
        // The windows of a core lie at the same distances from its first one, whatever the program.
        let span = next_window(SCRATCH_ROWS * row_pitch)
            + next_window(partitions * 12)
            + next_window(partitions * sbuf_pitch)
            + next_window(partitions * psum_pitch)
            + next_window(COUNTER_SPAN);
        let rows = EDGE_GUARD + u64::from(seat.core) * span;
        let accumulators = next_window(rows + SCRATCH_ROWS * row_pitch);
        let vector_accumulators = accumulators + partitions * 4;
        let generators = vector_accumulators + partitions * 4;
        let sbuf = next_window(generators + partitions * 4);
        let psum = next_window(sbuf + partitions * sbuf_pitch);
        let counters = next_window(psum + partitions * psum_pitch);
        let n_counters = program.insts.iter().filter(|it| counts(it)).count() as u64;
        let hbm = next_window(EDGE_GUARD + u64::from(seat.n_cores) * span);
        let hbm_bytes = seat.hbm_bytes;
        let stages = next_window(hbm + hbm_bytes);
        Layout {
            partitions,
            rows,
            row_pitch,
            accumulators,
            vector_accumulators,
            generators,
            counters,
            n_counters,
            sbuf,
            sbuf_pitch,
            psum,
            psum_pitch,
            hbm,
            hbm_bytes,
            stage: stages + u64::from(seat.core) * STAGE_SPAN,
            end: stages + u64::from(seat.n_cores) * STAGE_SPAN + EDGE_GUARD,
        }
    }

    /// Where byte `byte` of partition `partition` of SBUF or PSUM lies, or byte `byte` of HBM, whose partition is 0.
    pub fn offset(&self, space: Space, partition: u64, byte: u64) -> u64 {
        match space {
            Space::Sbuf => self.sbuf + partition * self.sbuf_pitch + byte,
            Space::Psum => self.psum + partition * self.psum_pitch + byte,
            Space::Hbm => self.hbm + byte,
        }
    }

    /// Distance between two partitions; 0 in HBM, which has none.
    pub fn pitch(&self, space: Space) -> u64 {
        match space {
            Space::Sbuf => self.sbuf_pitch,
            Space::Psum => self.psum_pitch,
            Space::Hbm => 0,
        }
    }
}

/// A range of addresses, without memory behind them until windows are opened.
#[derive(Debug)]
pub struct Reservation {
    base: *mut u8,
    bytes: usize,
}

// SAFETY: the reservation is only an address; what lies behind it is reached through memories.
unsafe impl Send for Reservation {}
// SAFETY: as above.
unsafe impl Sync for Reservation {}

impl Reservation {
    /// Reserves what the cores of a layout need.
    pub fn new(layout: &Layout) -> Arc<Reservation> {
        let bytes =
            usize::try_from(layout.end.next_multiple_of(PAGE)).expect("the host has 64-bit addresses");
        nk_compiler::limits::emulates(layout.end);
        let base = host::reserve(bytes);
        Arc::new(Reservation { base, bytes })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        host::release(self.base, self.bytes);
    }
}

/// One core's part of a reservation with its windows opened. Bytes start as zero and cost nothing until they are touched.
///
/// Memories of one reservation have their windows for themselves, but for those onto HBM that they share. There, bytes that
/// one core writes and another touches without a barrier between are a race of the kernel, which is found and reported;
/// the values read are then anyone's, and are thrown away.
#[derive(Debug)]
pub struct Memory {
    pub layout: Layout,
    reservation: Arc<Reservation>,
    windows: Vec<(u64, u64)>,
}

// SAFETY: the windows of a memory are its own, or are shared by programs that touch different bytes.
unsafe impl Send for Memory {}
// SAFETY: shared access only reads.
unsafe impl Sync for Memory {}

impl Memory {
    /// Reserves the address range of a layout, with `stage_bytes` for its last window.
    pub fn reserve(layout: Layout, stage_bytes: u64) -> Memory {
        let hbm = [(0, layout.hbm_bytes)];
        Memory::within(Reservation::new(&layout), layout, &hbm, stage_bytes)
    }

    /// Opens the windows of a core, and those ranges of HBM.
    pub fn within(
        reservation: Arc<Reservation>,
        layout: Layout,
        hbm: &[(u64, u64)],
        stage_bytes: u64,
    ) -> Memory {
        assert!(stage_bytes < STAGE_SPAN, "staged tiles are smaller than HBM");
        assert!(
            layout.n_counters * 8 < COUNTER_SPAN,
            "programs are shorter than the counters' room"
        );
        let partitions = layout.partitions;
        let mut windows = vec![
            (layout.rows, layout.rows + SCRATCH_ROWS * layout.row_pitch),
            (layout.accumulators, layout.generators + partitions * 4),
            (layout.counters, layout.counters + layout.n_counters * 8),
            (layout.sbuf, layout.sbuf + partitions * layout.sbuf_pitch),
            (layout.psum, layout.psum + partitions * layout.psum_pitch),
            (layout.stage, layout.stage + stage_bytes),
        ];
        windows.extend(hbm.iter().map(|it| (layout.hbm + it.0, layout.hbm + it.1)));
        let base = reservation.base;
        for &(start, end) in &windows {
            // A vector may read past the end of the last element.
            let start = start - start % PAGE;
            host::open(base, start, (end + LINE).next_multiple_of(PAGE) - start);
        }
        Memory {
            layout,
            reservation,
            windows,
        }
    }

    /// Puts memory behind bytes that a kernel is going to write, so that it does not wait for the host page by page.
    pub fn touch(&mut self, offset: u64, len: u64) {
        self.check(offset, len);
        host::touch(self.reservation.base, offset, len);
    }

    /// The address that offsets count from, for compiled code and kernels.
    pub fn base(&mut self) -> *mut u8 {
        self.reservation.base
    }

    fn check(&self, offset: u64, len: u64) {
        let end = offset
            .checked_add(len)
            .expect("offsets are far below the end of u64");
        assert!(
            self.windows.iter().any(|it| it.0 <= offset && end <= it.1),
            "every access lies in a window of the reservation"
        );
    }

    pub fn bytes(&self, offset: u64, len: u64) -> &[u8] {
        self.check(offset, len);
        // SAFETY: `check` proved that the range lies in an opened window, which lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.reservation.base.add(offset as usize), len as usize) }
    }

    pub fn bytes_mut(&mut self, offset: u64, len: u64) -> &mut [u8] {
        self.check(offset, len);
        // SAFETY: as in `bytes`, and `&mut self` makes the slice the only access.
        unsafe { std::slice::from_raw_parts_mut(self.reservation.base.add(offset as usize), len as usize) }
    }

    /// Adds to a counter.
    pub fn count(&mut self, offset: u64, n: u64) {
        let (words, _) = self.bytes_mut(offset, 8).as_chunks_mut::<8>();
        words[0] = u64::from_le_bytes(words[0]).wrapping_add(n).to_le_bytes();
    }

    /// The counter with a number.
    pub fn counter(&self, number: u64) -> u64 {
        let (words, _) = self.bytes(self.layout.counters + number * 8, 8).as_chunks::<8>();
        u64::from_le_bytes(words[0])
    }

    /// Copies bytes that do not overlap.
    pub fn move_bytes(&mut self, dst: u64, src: u64, len: u64) {
        self.check(dst, len);
        self.check(src, len);
        assert!(
            dst + len <= src || src + len <= dst,
            "rows that are moved do not overlap"
        );
        // SAFETY: `check` proved that both ranges lie in opened windows, and they do not overlap.
        unsafe {
            std::ptr::copy_nonoverlapping(
                self.reservation.base.add(src as usize),
                self.reservation.base.add(dst as usize),
                len as usize,
            );
        }
    }

    /// Reads `size` bytes (at most four) as a little-endian word.
    pub fn word(&self, offset: u64, size: u32) -> u32 {
        let mut word = [0; 4];
        word[..size as usize].copy_from_slice(self.bytes(offset, u64::from(size)));
        u32::from_le_bytes(word)
    }

    /// Writes the low `size` bytes (at most four) of a word.
    pub fn set_word(&mut self, offset: u64, size: u32, word: u32) {
        self.bytes_mut(offset, u64::from(size))
            .copy_from_slice(&word.to_le_bytes()[..size as usize]);
    }
}

/// The calls to the operating system, which is a Unix.
mod host {
    /// The usual size of a large page; where it is another one, only the advice below comes to nothing.
    #[cfg(target_os = "linux")]
    const LARGE_PAGE: u64 = 2 << 20;

    /// Reserves address space without memory behind it.
    pub fn reserve(len: usize) -> *mut u8 {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh anonymous mapping touches nothing that exists.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
        assert!(
            at != libc::MAP_FAILED,
            "the host can reserve {len} bytes of address space"
        );
        at.cast()
    }

    /// Makes a part of a reservation accessible.
    pub fn open(base: *mut u8, start: u64, len: u64) {
        if len == 0 {
            return;
        }
        // SAFETY: the caller passes a part of its own reservation.
        let done = unsafe {
            let at = base.add(start as usize).cast();
            libc::mprotect(at, len as usize, libc::PROT_READ | libc::PROT_WRITE)
        };
        assert!(done == 0, "the host can open {len} bytes of its own reservation");
        // Large pages are touched in one fault instead of 512; a host without them says no, and nothing changes.
        #[cfg(target_os = "linux")]
        if len >= LARGE_PAGE {
            // SAFETY: as above; advice changes no bytes.
            unsafe { libc::madvise(base.add(start as usize).cast(), len as usize, libc::MADV_HUGEPAGE) };
        }
    }

    /// Elsewhere pages come when they are written.
    #[cfg(not(target_os = "linux"))]
    pub fn touch(_: *mut u8, _: u64, _: u64) {}

    /// Puts pages behind a part of an opened window.
    #[cfg(target_os = "linux")]
    pub fn touch(base: *mut u8, start: u64, len: u64) {
        let end = (start + len) & !(super::PAGE - 1);
        let start = start.next_multiple_of(super::PAGE);
        if start < end {
            let len = (end - start) as usize;
            // SAFETY: the caller passes a part of its own reservation; pages that are there keep their bytes. A host that
            // knows no such advice gives pages when they are written.
            unsafe { libc::madvise(base.add(start as usize).cast(), len, libc::MADV_POPULATE_WRITE) };
        }
    }

    pub fn release(base: *mut u8, len: usize) {
        // SAFETY: the caller owns the reservation and drops it.
        unsafe { libc::munmap(base.cast(), len) };
    }
}
