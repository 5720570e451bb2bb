//! Instances as data: how many chips a machine has, and what joins them.
//!
//! Gives sizes, topologies and distances between chips. Knows nothing of programs. Source of every number: the
//! `trn1-arch.rst` and `inf2-arch.rst` pages of AWS's Neuron documentation, and `timing.md` §5.1.

use super::Target;

/// A machine of one or more chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    pub name: &'static str,
    /// The name of its chip's [`Target`].
    pub chip: &'static str,
    pub chips: u32,
    pub topology: Topology,
    /// Published NeuronLink bandwidth of a chip in GB/s; none where a chip stands alone.
    pub link_gbytes_per_s: Option<u32>,
    /// Network of the instance in Gbit/s; none where it has no EFA.
    pub efa_gbits_per_s: Option<u32>,
    pub source: &'static str,
}

/// How the chips of an instance are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    Alone,
    Ring,
    /// A torus of so many columns and rows.
    Torus(u32, u32),
}

const TRN1: &str = "trn1-arch.rst";
const INF2: &str = "inf2-arch.rst";

/// The machines that ranks can be spread over.
pub const INSTANCES: &[Instance] = &[
    Instance {
        name: "trn1.2xlarge",
        chip: "trainium1",
        chips: 1,
        topology: Topology::Alone,
        link_gbytes_per_s: None,
        efa_gbits_per_s: Some(25),
        source: TRN1,
    },
    Instance {
        name: "trn1.32xlarge",
        chip: "trainium1",
        chips: 16,
        topology: Topology::Torus(4, 4),
        link_gbytes_per_s: Some(384),
        efa_gbits_per_s: Some(800),
        source: TRN1,
    },
    Instance {
        name: "trn1n.32xlarge",
        chip: "trainium1",
        chips: 16,
        topology: Topology::Torus(4, 4),
        link_gbytes_per_s: Some(768),
        efa_gbits_per_s: Some(1600),
        source: TRN1,
    },
    Instance {
        name: "inf2.xlarge",
        chip: "inferentia2",
        chips: 1,
        topology: Topology::Alone,
        link_gbytes_per_s: None,
        efa_gbits_per_s: None,
        source: INF2,
    },
    Instance {
        name: "inf2.8xlarge",
        chip: "inferentia2",
        chips: 1,
        topology: Topology::Alone,
        link_gbytes_per_s: None,
        efa_gbits_per_s: None,
        source: INF2,
    },
    Instance {
        name: "inf2.24xlarge",
        chip: "inferentia2",
        chips: 6,
        topology: Topology::Ring,
        link_gbytes_per_s: Some(192),
        efa_gbits_per_s: None,
        source: INF2,
    },
    Instance {
        name: "inf2.48xlarge",
        chip: "inferentia2",
        chips: 12,
        topology: Topology::Ring,
        link_gbytes_per_s: Some(192),
        efa_gbits_per_s: None,
        source: INF2,
    },
];

impl Instance {
    pub fn from_name(name: &str) -> Option<&'static Instance> {
        INSTANCES.iter().find(|it| it.name == name)
    }

    pub fn target(&self) -> &'static Target {
        Target::from_name(self.chip).expect("every instance names a chip of the table")
    }

    /// Cores of all chips.
    pub fn cores(&self) -> u32 {
        self.chips * self.target().cores
    }

    /// The smallest machine with a chip on which so many ranks find a core each, or the largest when none is so large.
    pub fn smallest(target: &Target, n_ranks: u32) -> &'static Instance {
        let fitting = INSTANCES.iter().filter(|it| it.chip == target.name);
        let fits = |it: &&Instance| it.cores() >= n_ranks;
        let smallest = fitting.clone().filter(fits).min_by_key(|it| it.chips);
        smallest
            .or_else(|| fitting.min_by_key(|it| std::cmp::Reverse(it.chips)))
            .expect("every target stands in some instance")
    }
}

impl Topology {
    /// Links between two chips.
    pub fn distance(self, a: u32, b: u32, chips: u32) -> u32 {
        let around = |a: u32, b: u32, n: u32| {
            let there = a.abs_diff(b);
            there.min(n - there)
        };
        match self {
            Topology::Alone => 0,
            Topology::Ring => around(a, b, chips),
            Topology::Torus(columns, rows) => {
                around(a % columns, b % columns, columns) + around(a / columns, b / columns, rows)
            }
        }
    }

    /// Links of each chip; a pair of neighbours in a torus of two would share them.
    pub fn links(self) -> u32 {
        match self {
            Topology::Alone => 0,
            Topology::Ring => 2,
            Topology::Torus(..) => 4,
        }
    }

    pub fn words(self) -> String {
        match self {
            Topology::Alone => "one chip".to_string(),
            Topology::Ring => "ring".to_string(),
            Topology::Torus(columns, rows) => format!("{columns}x{rows} 2-D torus"),
        }
    }

    /// The chips in an order in which neighbours are one link apart: the rows of a torus in turn, back and forth.
    pub fn ring(self, chips: u32) -> Vec<u32> {
        match self {
            Topology::Alone | Topology::Ring => (0..chips).collect(),
            Topology::Torus(columns, rows) => (0..rows)
                .flat_map(|row| {
                    (0..columns).map(move |it| {
                        let column = if row % 2 == 0 { it } else { columns - 1 - it };
                        row * columns + column
                    })
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_the_ring_are_one_link_apart() {
        for it in INSTANCES.iter().filter(|it| it.chips > 1) {
            let ring = it.topology.ring(it.chips);
            for idx in 0..ring.len() {
                let (a, b) = (ring[idx], ring[(idx + 1) % ring.len()]);
                assert_eq!(
                    it.topology.distance(a, b, it.chips),
                    1,
                    "{}: {a} and {b}",
                    it.name
                );
            }
        }
    }

    #[test]
    fn ranks_get_the_smallest_machine() {
        let chosen = |n| Instance::smallest(&super::super::TARGETS[0], n).name;
        assert_eq!(
            [1, 2, 3, 32, 64].map(chosen),
            [
                "trn1.2xlarge",
                "trn1.2xlarge",
                "trn1.32xlarge",
                "trn1.32xlarge",
                "trn1.32xlarge"
            ]
        );
    }
}
