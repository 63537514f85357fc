//! [`Training`]: steps of the training of a transformer, as computations and messages of ranks that wait for each other.
//!
//! Parallelism is that of Megatron-LM (Narayanan et al., SC 2021). Tensor ranks share the matrices of a layer and add up its
//! results twice in the forward pass and twice in the backward pass (Shoeybi et al., Megatron-LM, 2019, section 3); a
//! reduce-scatter and an all-gather, with sequence parallelism (Korthikanti et al., MLSys 2023), send the same bytes around the
//! same ring. Stages of the pipeline pass activations and their gradients on, each tensor rank its part of them (SC 2021,
//! section 4.1), in the order "one forward, one backward" (PipeDream-Flush there). Ranks that share experts exchange tokens before
//! and after them (Fedus et al., Switch Transformers, JMLR 2022). Replicas add up gradients at the end of a step.

use weft_units::{Duration, Time, plural};

use super::grid::{Cell, Grid};
use super::model::{Model, Precision};
use super::one_forward_one_backward::{Pass, order};
use crate::collective::{Algorithm, Collective};
use crate::connections::Reuse;
use crate::dependencies::{MAX_ORDERED, Node, Point};
use crate::meet::Moment;
use crate::part::part;
use crate::program::Program;

/// A training job.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Training {
    /// The model.
    pub model: Model,
    /// Its ranks.
    pub grid: Grid,
    /// The micro-batches of each replica in a step.
    pub micro_batches: u64,
    /// The sequences of a micro-batch.
    pub micro_batch: u64,
    /// The tokens of a sequence.
    pub sequence: u64,
    /// The precision of activations and of their gradients.
    pub precision: Precision,
    /// The precision of the gradients of parameters.
    pub gradient_precision: Precision,
    /// Floating-point operations per second that a rank carries out.
    pub operations_per_second: f64,
    /// The layers whose messages within a stage are sent as one; 0: all of a stage.
    pub layers_per_message: u64,
    /// The number of steps.
    pub steps: u64,
    /// When the first step starts.
    pub start: Duration,
    /// Whether messages of one kind between two ranks share a connection.
    pub reuse: Reuse,
}

/// The messages of a communicator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Message {
    Tensor,
    Experts,
    Pipeline,
    Data,
    /// The gradients of experts, between their replicas.
    ExpertData,
}

impl Message {
    /// All of them.
    pub(crate) const ALL: [Self; 5] =
        [Self::Tensor, Self::Experts, Self::Pipeline, Self::Data, Self::ExpertData];

    /// The class of its flows.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::Experts => "experts",
            Self::Pipeline => "pipeline",
            Self::Data | Self::ExpertData => "data",
        }
    }
}

impl Training {
    /// The number of flows of a step.
    ///
    /// # Errors
    /// Ranks among which the model cannot be divided.
    pub fn flows(&self) -> Result<u64, String> {
        self.check()?;
        let Grid { tensor, expert, data, pipeline } = self.grid;
        let [t, e, d, p] = [tensor, expert, data, pipeline].map(u64::from);
        let ring = |ranks: u64| ranks.saturating_mul(2 * (ranks - 1));
        let messages = (0..p).map(|stage| self.chunks(stage).count() as u64).sum::<u64>();
        // Forward and backward, in each replica.
        let passes = messages.saturating_mul(2 * self.micro_batches).saturating_mul(d);
        let computations = passes.saturating_mul(t * e).saturating_mul(self.steps);
        if computations > MAX_ORDERED {
            return Err(format!(
                "training has {computations} computations; a run can have at most {MAX_ORDERED}: choose fewer micro-batches or steps, \
                 or more `layers_per_message`"
            ));
        }
        let of_tensor = passes.saturating_mul(e * ring(t));
        let of_experts = if self.exchanges() { passes.saturating_mul(t * e * (e - 1)) } else { 0 };
        let of_pipeline = (2 * self.micro_batches).saturating_mul((p - 1) * t * e * d);
        let of_data = (t * p).saturating_mul(ring(e * d));
        let of_expert_data = if self.exchanges() { (t * p * e).saturating_mul(ring(d)) } else { 0 };
        let all = [of_tensor, of_experts, of_pipeline, of_data, of_expert_data];
        Ok(all.into_iter().fold(0, u64::saturating_add))
    }

    /// Checks that each rank has its place.
    pub(crate) fn check_ranks(&self, ranks: u64) -> Result<(), String> {
        let Grid { tensor, expert, data, pipeline } = self.grid;
        match self.grid.ranks() {
            places if places == ranks => Ok(()),
            places => Err(format!(
                "training has {}, tensor {tensor} x pipeline {pipeline} x data {data} x expert {expert}, but there are {ranks}; \
                 set `ranks` to {places}, or change one of them",
                plural(places, "rank")
            )),
        }
    }

    fn check(&self) -> Result<(), String> {
        let Self { model, grid, .. } = self;
        let Grid { tensor, expert, pipeline, .. } = *grid;
        if grid.ranks() < 2 {
            return Err("training has one rank, which sends nothing; expected at least 2".to_owned());
        }
        if !model.heads.is_multiple_of(tensor.into()) {
            return Err(format!("`tensor` is {tensor}; expected a divisor of the {} heads", model.heads));
        }
        if u64::from(pipeline) > model.layers {
            return Err(format!("`pipeline` is {pipeline}; expected at most the {} layers", model.layers));
        }
        if expert > 1 && (model.experts == 0 || !model.experts.is_multiple_of(expert.into())) {
            let expected = match model.experts {
                0 => "expected 1: the layers of this model have no experts".to_owned(),
                experts => format!("expected a divisor of the {experts} experts"),
            };
            return Err(format!("`expert` is {expert}; {expected}"));
        }
        Ok(())
    }

    /// Whether ranks exchange tokens for experts.
    fn exchanges(&self) -> bool {
        self.grid.expert > 1
    }

    /// The layers of a stage: as equal parts as possible.
    fn layers(&self, stage: u64) -> u64 {
        part(self.model.layers, self.grid.pipeline.into(), stage)
    }

    /// The layers of each message of a stage in the forward pass.
    fn chunks(&self, stage: u64) -> impl Iterator<Item = u64> + Clone {
        let layers = self.layers(stage);
        let each = if self.layers_per_message == 0 { layers } else { self.layers_per_message.min(layers) };
        (0..layers.div_ceil(each)).map(move |chunk| each.min(layers - chunk * each))
    }

    /// The time of the forward pass of these layers; with the output table after them in the last stage.
    fn time(&self, layers: u64, has_table: bool) -> Duration {
        let (tokens, context) = (self.tokens() as f64, self.sequence as f64);
        let table = if has_table { self.model.table_operations(tokens) } else { 0.0 };
        let operations = layers as f64 * self.model.layer_operations(tokens, context) + table;
        Duration::from_secs_f64(operations / f64::from(self.grid.tensor) / self.operations_per_second)
    }

    /// The tokens of a micro-batch.
    const fn tokens(&self) -> u64 {
        self.micro_batch.saturating_mul(self.sequence)
    }

    /// The bytes of the activations of a micro-batch: `b s h` numbers.
    const fn activations(&self) -> u64 {
        self.tokens().saturating_mul(self.model.hidden).saturating_mul(self.precision.bytes())
    }

    /// The bytes of each tensor rank in the all-reduces of a pass through these layers, together: one after the attention and one
    /// after the feed-forward network. With experts on several ranks, the latter is of the tokens of experts, before they go back.
    const fn tensor_bytes(&self, layers: u64) -> u64 {
        let second = if self.grid.expert > 1 { self.model.experts_per_token } else { 1 };
        layers.saturating_mul(1 + second).saturating_mul(self.activations())
    }

    /// The bytes that each rank has for the experts of a pass through these layers, and back from them: each token for each of its
    /// experts. Tensor ranks have a part of the tokens each.
    fn expert_bytes(&self, layers: u64) -> u64 {
        let both_ways = 2 * layers * self.model.experts_per_token;
        both_ways.saturating_mul(self.activations()) / u64::from(self.grid.tensor)
    }

    /// The bytes of the gradients of each rank of a stage: outside of experts, and of experts.
    fn gradients(&self, stage: u64) -> [u64; 2] {
        let Grid { tensor, expert, pipeline, .. } = self.grid;
        let tables = u64::from(stage == 0) + u64::from(stage + 1 == u64::from(pipeline));
        let layers = self.layers(stage);
        let dense = layers * self.model.dense_parameters() + tables * self.model.table_parameters();
        let experts = layers * self.model.expert_parameters();
        let [dense, experts] = match self.exchanges() {
            true => [dense, experts / u64::from(expert)],
            false => [dense + experts, 0],
        };
        [dense, experts].map(|count| count / u64::from(tensor) * self.gradient_precision.bytes())
    }

    /// The program of so many steps, and the kind of each flow.
    pub(crate) fn program(&self, steps: u64) -> (Program, Vec<Message>) {
        let ranks = self.grid.ranks() as u32;
        // Each rank has a processor.
        let program = Program { ranks, processors: ranks, ..Program::default() };
        let mut making = Making { of: self, program, kinds: Vec::new(), last: Vec::new() };
        making.last = (0..ranks).map(|rank| Moment::of(making.program.step(rank))).collect();
        for _ in 0..steps {
            making.step();
        }
        let Making { mut program, kinds, .. } = making;
        let start = Time::ZERO + self.start;
        program.flows.iter_mut().for_each(|flow| flow.start = start);
        program.steps.iter_mut().for_each(|step| step.start = start);
        program.advance();
        (program, kinds)
    }
}

/// A program of steps on its way.
struct Making<'a> {
    of: &'a Training,
    program: Program,
    kinds: Vec<Message>,
    /// When each rank has done all before.
    last: Vec<Moment>,
}

/// The messages between two stages, by micro-batch: the flow to each rank.
type Passed = Vec<Vec<Option<Node>>>;

impl Making<'_> {
    /// Adds a step.
    fn step(&mut self) {
        let (stages, micro_batches) = (self.of.grid.pipeline, self.of.micro_batches);
        let none = || vec![None; self.of.grid.ranks() as usize];
        // Received activations and gradients.
        let mut passed: [Passed; 2] = [0, 1].map(|_| (0..micro_batches).map(|_| none()).collect());
        let orders: Vec<Vec<(Pass, u64)>> =
            (0..stages).map(|stage| order(stage.into(), stages.into(), micro_batches)).collect();
        // Each stage as far as the others have come: messages are added in the order in which each rank sends them.
        let mut next = vec![0; stages as usize];
        let mut is_active = true;
        while is_active {
            is_active = false;
            for stage in 0..stages {
                while let Some(&(pass, number)) = orders[stage as usize].get(next[stage as usize]) {
                    if !self.pass(stage, pass, number as usize, &mut passed) {
                        break;
                    }
                    next[stage as usize] += 1;
                    is_active = true;
                }
            }
        }
        self.replicas();
    }

    /// The ranks of a stage.
    fn cells(&self, stage: u32) -> impl Iterator<Item = Cell> + use<> {
        let Grid { tensor, expert, data, .. } = self.of.grid;
        let replicas = (0..data).flat_map(move |data| (0..expert).map(move |expert| (data, expert)));
        replicas.flat_map(move |(data, expert)| {
            (0..tensor).map(move |tensor| Cell { tensor, expert, data, stage })
        })
    }

    /// Adds a pass of a micro-batch through a stage; returns whether its neighbours have come so far.
    fn pass(&mut self, stage: u32, pass: Pass, number: usize, passed: &mut [Passed; 2]) -> bool {
        let Grid { pipeline, .. } = self.of.grid;
        let is_forward = pass == Pass::Forward;
        let receives = if is_forward { stage > 0 } else { stage + 1 < pipeline };
        let sends = if is_forward { stage + 1 < pipeline } else { stage > 0 };
        let received = &passed[usize::from(!is_forward)][number];
        let ranks: Vec<u32> = self.cells(stage).map(|cell| self.of.grid.rank(cell)).collect();
        if receives && received[ranks[0] as usize].is_none() {
            return false;
        }
        let mut chunks: Vec<(u64, bool)> =
            self.of.chunks(stage.into()).map(|layers| (layers, false)).collect();
        if let Some(last) = chunks.last_mut().filter(|_| stage + 1 == pipeline) {
            last.1 = true;
        }
        if !is_forward {
            chunks.reverse();
        }
        for (at, (layers, has_table)) in chunks.into_iter().enumerate() {
            // A backward pass has twice the operations: for the gradients of activations and of parameters.
            let takes = self.of.time(layers, has_table) * if is_forward { 1 } else { 2 };
            for rank in &ranks {
                let begins = self.program.work(*rank, *rank, takes);
                self.program.wait(begins, self.last[*rank as usize]);
                if let Some(flow) = received[*rank as usize].filter(|_| at == 0) {
                    self.program.need(begins, flow, Point::Received, Duration::ZERO);
                }
                self.last[*rank as usize] = Moment::after(begins, takes);
            }
            self.layers(stage, layers);
        }
        if sends {
            let to = if is_forward { stage + 1 } else { stage - 1 };
            for cell in self.cells(stage) {
                let (from, to) = (self.of.grid.rank(cell), self.of.grid.rank(Cell { stage: to, ..cell }));
                let tensor = self.of.grid.tensor.into();
                let bytes = part(self.of.activations(), tensor, cell.tensor.into()).max(1);
                let flow = self.program.flow(from, to, bytes);
                self.kinds.push(Message::Pipeline);
                self.program.wait(flow, self.last[from as usize]);
                passed[usize::from(!is_forward)][number][to as usize] = Some(flow);
            }
        }
        true
    }

    /// Adds the messages of these layers within a stage: those of experts, then those of tensor ranks.
    fn layers(&mut self, stage: u32, layers: u64) {
        let Grid { tensor, expert, data, .. } = self.of.grid;
        let of = |cells: &mut dyn Iterator<Item = Cell>| cells.collect::<Vec<Cell>>();
        if self.of.exchanges() {
            let bytes = self.of.expert_bytes(layers);
            for (data, tensor) in (0..data).flat_map(|data| (0..tensor).map(move |tensor| (data, tensor))) {
                let group = of(&mut (0..expert).map(|expert| Cell { tensor, expert, data, stage }));
                self.meet(Message::Experts, Algorithm::AllToAll, bytes, &group);
            }
        }
        if tensor > 1 {
            let bytes = self.of.tensor_bytes(layers);
            for (data, expert) in (0..data).flat_map(|data| (0..expert).map(move |expert| (data, expert))) {
                let group = of(&mut (0..tensor).map(|tensor| Cell { tensor, expert, data, stage }));
                self.meet(Message::Tensor, Algorithm::RingAllReduce, bytes, &group);
            }
        }
    }

    /// Adds the sum of gradients over replicas. Those of experts have fewer replicas, and are summed at the same time.
    fn replicas(&mut self) {
        let Grid { tensor, expert, data, pipeline } = self.of.grid;
        let before = self.last.clone();
        for (stage, tensor) in (0..pipeline).flat_map(|stage| (0..tensor).map(move |tensor| (stage, tensor)))
        {
            let [dense, experts] = self.of.gradients(stage.into());
            let cells = (0..data).flat_map(|data| (0..expert).map(move |expert| (data, expert)));
            let group: Vec<Cell> = cells.map(|(data, expert)| Cell { tensor, expert, data, stage }).collect();
            if group.len() > 1 {
                self.meet(Message::Data, Algorithm::RingAllReduce, dense, &group);
            }
            if !self.of.exchanges() || data == 1 {
                continue;
            }
            for expert in 0..expert {
                let group: Vec<Cell> = (0..data).map(|data| Cell { tensor, expert, data, stage }).collect();
                let ranks: Vec<u32> = group.iter().map(|cell| self.of.grid.rank(*cell)).collect();
                let dense = ranks
                    .iter()
                    .map(|rank| std::mem::replace(&mut self.last[*rank as usize], before[*rank as usize]));
                let dense: Vec<Moment> = dense.collect();
                self.meet(Message::ExpertData, Algorithm::RingAllReduce, experts, &group);
                // The rank goes on after both.
                for (rank, dense) in ranks.iter().zip(dense) {
                    let both = self.program.step(*rank);
                    self.program.wait(both, dense);
                    self.program.wait(both, self.last[*rank as usize]);
                    self.last[*rank as usize] = Moment::of(both);
                }
            }
        }
    }

    /// Adds a collective operation, after which its ranks go on.
    fn meet(&mut self, kind: Message, algorithm: Algorithm, bytes: u64, group: &[Cell]) {
        let ranks = group.len() as u32;
        let round = Collective::new(algorithm, bytes.max(ranks.into()), 1).round(ranks);
        let members = group.iter().map(|cell| self.of.grid.rank(*cell));
        let members: Vec<(u32, Moment)> = members.map(|rank| (rank, self.last[rank as usize])).collect();
        let ends = self.program.meet(&round, &members);
        self.kinds.resize(self.program.flows.len(), kind);
        for ((rank, _), end) in members.iter().zip(ends) {
            self.last[*rank as usize] = Moment::of(end);
        }
    }
}
