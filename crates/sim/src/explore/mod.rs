//! Records one exploration: chooses a flow of a plan, follows it until its first data arrives over the
//! path found, and repeats the run with that path cut.

mod choice;
mod json;
mod recording;
mod scene;

pub use choice::Chooser;
pub use recording::{ExploreError, Explored, RecordingProgress, Recovery, explore};
pub use scene::{Change, Fate, Follower, Frame, FrameType, Hop, MOST_FRAMES, Scene, SceneStart};
