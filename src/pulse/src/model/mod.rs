//! The bit-exact model: from words of the stream to samples, cycle by cycle or many cycles at once.
//!
//! [`Machine`] is the whole core. Its parts can be used individually: a [`Channel`] of engines and
//! frames that is given segments, a [`Synthesiser`] that makes samples from the engines' values.

mod channel;
mod config;
mod crosstalk;
mod follow;
mod frame;
mod machine;
mod queue;
mod recording;
mod sequencer;
mod settings;
mod sine;
mod status;
mod synthesis;
mod tables;

pub use channel::{Channel, Cycle, PARAMETERS};
pub use config::{Config, FrameCommit, Underrun};
pub use crosstalk::{Coupling, Crosstalk, OFFSETS};
pub use follow::Follower;
pub use machine::{Block, Machine};
pub use queue::Queue;
pub use recording::{Fields, Recording, FIELDS};
pub use sequencer::{Segments, Sequencer};
pub use sine::Sine;
pub use status::Status;
pub use synthesis::{saturate, FeedForward, Iq, Synthesiser, Tone};
pub use tables::Tables;
