//! [`Inference`]: requests to a large language model whose prompts are processed on other GPUs than those that generate the answers
//! (Patel et al., Splitwise, ISCA 2024; Zhong et al., DistServe, OSDI 2024).
//!
//! The prefill of a request computes the keys and values of all tokens of its prompt, which then go to the GPUs that decode: one
//! token after the other, each of which reads all parameters and the keys and values so far from memory (Pope et al.,
//! Efficiently Scaling Transformer Inference, MLSys 2023, section 2). Tensor ranks add up results as in training.
//!
//! Computations are steps of processors: one for the prompts of each rank that has prefills, and one for each answer at the ranks
//! that decode it, because several answers take no longer than one.

use rand_core::RngCore;
use weft_units::{Duration, Time, plural, words};

use super::model::{Model, Precision};
use crate::collective::{Algorithm, Collective};
use crate::connections::Reuse;
use crate::dependencies::{MAX_ORDERED, Node, Point};
use crate::meet::Moment;
use crate::part::part;
use crate::program::Program;
use crate::random::exponential;

words! {
    /// The distribution of the lengths of prompts and answers.
    pub enum Lengths {
        /// All have the mean.
        Fixed = "fixed",
        /// Exponential, at least one token.
        Exponential = "exponential",
    }
}

/// Requests to a model.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Inference {
    /// The model.
    pub model: Model,
    /// The ranks that share each layer.
    pub tensor: u32,
    /// The groups of tensor ranks that process prompts.
    pub prefill: u32,
    /// The groups of tensor ranks that generate answers.
    pub decode: u32,
    /// The number of requests.
    pub requests: u64,
    /// Their arrival rate; arrivals are a Poisson process.
    pub requests_per_second: f64,
    /// The mean number of tokens of a prompt.
    pub prompt: u64,
    /// The mean number of tokens of an answer.
    pub output: u64,
    /// The distribution of both.
    pub lengths: Lengths,
    /// The precision of parameters, activations, keys and values.
    pub precision: Precision,
    /// Floating-point operations per second that a rank carries out.
    pub operations_per_second: f64,
    /// Bytes per second that a rank reads from its memory.
    pub memory_rate: f64,
    /// The layers of a prefill whose messages are sent as one; 0: all.
    pub layers_per_message: u64,
    /// The tokens of an answer whose messages are sent as one; 0: all.
    pub tokens_per_message: u64,
    /// When arrivals begin.
    pub start: Duration,
    /// Whether messages of prefill, and of keys and values, between two ranks share a connection.
    pub reuse: Reuse,
}

/// The sizes of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Counts {
    /// Its flows.
    pub(crate) flows: u64,
    /// Its steps.
    pub(crate) steps: usize,
}

/// Where tensor ranks compute, and when each of them may go on.
struct Group {
    first_rank: u32,
    first_processor: u32,
    now: Vec<Moment>,
}

/// The kinds of messages, whose names are the classes of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Prefill,
    KeysAndValues,
    Decode,
}

impl Kind {
    /// The kinds whose messages between two ranks follow each other; answers are generated at the same time.
    pub(crate) const IN_ORDER: [Self; 2] = [Self::Prefill, Self::KeysAndValues];

    /// The class of its flows.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::KeysAndValues => "kv",
            Self::Decode => "decode",
        }
    }
}

/// A request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    /// Its number.
    pub(crate) number: u64,
    /// Its arrival.
    pub(crate) at: Time,
    /// The tokens of its prompt.
    pub(crate) prompt: u64,
    /// The tokens of its answer.
    pub(crate) output: u64,
}

/// A request's computations and messages.
struct Served {
    program: Program,
    kinds: Vec<Kind>,
    /// The first computation of the prefill at each tensor rank, and when the prefill is done.
    prefill: Vec<(Node, Moment)>,
}

impl Inference {
    /// The number of ranks.
    pub fn ranks(&self) -> u64 {
        u64::from(self.tensor).saturating_mul(u64::from(self.prefill) + u64::from(self.decode))
    }

    /// Checks that each rank has its place.
    pub(crate) fn check_ranks(&self, ranks: u64) -> Result<(), String> {
        let Self { tensor, prefill, decode, .. } = self;
        match self.ranks() {
            places if places == ranks => Ok(()),
            places => Err(format!(
                "inference has {}, tensor {tensor} x (prefill {prefill} + decode {decode}), but there are {ranks}; set `ranks` to \
                 {places}, or change one of them",
                plural(places, "rank")
            )),
        }
    }

    /// The number of flows, with requests of mean length.
    pub(crate) fn expected_flows(&self) -> u64 {
        let Self { prompt, output, .. } = *self;
        self.flows_of(Request { number: 0, at: Time::ZERO, prompt, output }).saturating_mul(self.requests)
    }

    /// The number of flows of a request.
    fn flows_of(&self, Request { output, .. }: Request) -> u64 {
        let ranks = u64::from(self.tensor);
        let ring = ranks.saturating_mul(2 * (ranks - 1));
        let messages = self.prefill_parts().saturating_add(self.decode_parts(output));
        ranks.saturating_add(messages.saturating_mul(ring))
    }

    /// The requests, with the random streams of arrivals and lengths.
    ///
    /// # Errors
    /// Ranks among which the model cannot be divided, or too many flows.
    pub(crate) fn arrivals(
        &self,
        arrivals: &mut impl RngCore,
        lengths: &mut impl RngCore,
    ) -> Result<Vec<Request>, String> {
        if !self.model.heads.is_multiple_of(self.tensor.into()) {
            return Err(format!(
                "`tensor` is {}; expected a divisor of the {} heads",
                self.tensor, self.model.heads
            ));
        }
        let (mut seconds, mut flows, mut requests) = (0.0, 0_u64, Vec::new());
        for number in 0..self.requests {
            seconds += exponential(arrivals) / self.requests_per_second;
            let mut tokens = |mean: u64| match self.lengths {
                Lengths::Fixed => mean,
                Lengths::Exponential => ((mean as f64 * exponential(lengths)).round() as u64).max(1),
            };
            let (prompt, output) = (tokens(self.prompt), tokens(self.output));
            let at = Time::ZERO + self.start + Duration::from_secs_f64(seconds);
            if at == Time::MAX {
                return Err(format!(
                    "request {} arrives after more than 213 days, the longest time of a run; expected a higher \
                     `requests_per_second`",
                    number + 1
                ));
            }
            let request = Request { number, at, prompt, output };
            flows = flows.saturating_add(self.flows_of(request));
            if flows > MAX_ORDERED {
                return Err(format!(
                    "with request {}, inference has {flows} flows; a run can have at most {MAX_ORDERED}: choose fewer `requests`, or \
                     more `tokens_per_message`",
                    number + 1
                ));
            }
            requests.push(request);
        }
        Ok(requests)
    }

    /// The number of computations of a prefill, each with its messages; one without tensor ranks, which have no messages.
    fn prefill_parts(&self) -> u64 {
        if self.tensor > 1 { parts(self.model.layers, self.layers_per_message) } else { 1 }
    }

    /// The same of an answer with this many tokens.
    fn decode_parts(&self, output: u64) -> u64 {
        if self.tensor > 1 { parts(output, self.tokens_per_message) } else { 1 }
    }

    /// The time of the forward pass of a prompt through these layers; with the output table, of its last token.
    fn prefill_time(&self, prompt: u64, layers: u64, has_table: bool) -> Duration {
        let table = if has_table { self.model.table_operations(1.0) } else { 0.0 };
        let operations = layers as f64 * self.model.layer_operations(prompt as f64, prompt as f64) + table;
        Duration::from_secs_f64(operations / f64::from(self.tensor) / self.operations_per_second)
    }

    /// The time of so many tokens of an answer, with so many tokens before them.
    fn decode_time(&self, before: u64, tokens: u64) -> Duration {
        let (before, count) = (before as f64, tokens as f64);
        let kept = count.mul_add(before, count * (count - 1.0) / 2.0) * self.model.kept_numbers() as f64;
        let numbers = count * self.model.used_parameters() as f64 + kept;
        let bytes = numbers * self.precision.bytes() as f64;
        Duration::from_secs_f64(bytes / f64::from(self.tensor) / self.memory_rate)
    }

    /// The bytes of each tensor rank in the all-reduces of so many tokens in so many layers.
    const fn tensor_bytes(&self, tokens: u64, layers: u64) -> u64 {
        let numbers = tokens.saturating_mul(2 * layers).saturating_mul(self.model.hidden);
        numbers.saturating_mul(self.precision.bytes())
    }

    /// The program of a request that waits for no other.
    pub(crate) fn alone(&self, request: Request) -> Program {
        let mut program = self.serve(request, self.ranks() as u32).program;
        program.advance();
        program
    }

    /// The computations and messages of a request. Its answer has the processors from `decoding` on.
    fn serve(&self, request: Request, decoding: u32) -> Served {
        let Request { number, at, prompt, output } = request;
        let first = |groups: u32, before: u32| {
            ((number % u64::from(groups)) as u32).saturating_add(before).saturating_mul(self.tensor)
        };
        let (prefill, decode) = (first(self.prefill, 0), first(self.decode, self.prefill));
        let ranks = |first: u32| first..first + self.tensor;
        let processors = decoding + self.tensor;
        let mut program = Program { ranks: self.ranks() as u32, processors, ..Program::default() };
        let mut kinds = Vec::new();
        let mut group = Group { first_rank: prefill, first_processor: prefill, now: Vec::new() };
        let mut begins = Vec::new();
        let chunks = self.prefill_parts();
        for chunk in 0..chunks {
            let layers = part(self.model.layers, chunks, chunk);
            let takes = self.prefill_time(prompt, layers, chunk + 1 == chunks);
            let works = self.compute(&mut program, &mut group, takes, self.tensor_bytes(prompt, layers));
            if chunk == 0 {
                begins = works;
            }
            kinds.resize(program.flows.len(), Kind::Prefill);
        }
        let done = group.now;
        let kept = prompt.saturating_mul(self.model.kept_numbers()).saturating_mul(self.precision.bytes());
        let mut group = Group { first_rank: decode, first_processor: decoding, now: Vec::new() };
        for (number, (src, dst)) in (0_u64..).zip(ranks(prefill).zip(ranks(decode))) {
            let flow = program.flow(src, dst, part(kept, self.tensor.into(), number).max(1));
            program.wait(flow, done[number as usize]);
            group.now.push(Moment { node: flow, at: Point::Received, delay: Duration::ZERO });
        }
        kinds.resize(program.flows.len(), Kind::KeysAndValues);
        let chunks = self.decode_parts(output);
        let mut before = prompt;
        for chunk in 0..chunks {
            let tokens = part(output, chunks, chunk);
            let bytes = self.tensor_bytes(tokens, self.model.layers);
            self.compute(&mut program, &mut group, self.decode_time(before, tokens), bytes);
            before += tokens;
        }
        kinds.resize(program.flows.len(), Kind::Decode);
        program.flows.iter_mut().for_each(|flow| flow.start = at);
        program.steps.iter_mut().for_each(|step| step.start = at);
        Served { program, kinds, prefill: begins.into_iter().zip(done).collect() }
    }

    /// Adds a computation of tensor ranks, and the sum of its results. Returns the step of each rank.
    fn compute(&self, program: &mut Program, group: &mut Group, takes: Duration, bytes: u64) -> Vec<Node> {
        let work = |at: u32| {
            let step = program.work(group.first_rank + at, group.first_processor + at, takes);
            if let Some(moment) = group.now.get(at as usize) {
                program.wait(step, *moment);
            }
            step
        };
        let works: Vec<Node> = (0..self.tensor).map(work).collect();
        group.now = works.iter().map(|work| Moment::after(*work, takes)).collect();
        if self.tensor > 1 {
            let round = Collective::new(Algorithm::RingAllReduce, bytes.max(self.tensor.into()), 1);
            let members: Vec<(u32, Moment)> = (group.first_rank..).zip(group.now.iter().copied()).collect();
            let ends = program.meet(&round.round(self.tensor), &members);
            group.now = ends.into_iter().map(Moment::of).collect();
        }
        works
    }

    /// The program of all requests: each group processes one prompt after the other. Also the kind of each flow, and the sizes of
    /// each request.
    pub(crate) fn program(&self, requests: &[Request]) -> (Program, Vec<Kind>, Vec<Counts>) {
        let mut all = Program { ranks: self.ranks() as u32, ..Program::default() };
        let (mut kinds, mut counts) = (Vec::new(), Vec::with_capacity(requests.len()));
        let mut before: Vec<Option<Vec<Moment>>> = vec![None; self.prefill as usize];
        for request in requests {
            let decoding = all.processors.max(all.ranks);
            let Served { program, kinds: own, prefill } = self.serve(*request, decoding);
            counts.push(Counts { flows: program.flows.len() as u64, steps: program.steps.len() });
            kinds.extend(own);
            let (flows, steps) = (all.flows.len() as u32, all.steps.len() as u32);
            all.append(program);
            let last = &mut before[(request.number % u64::from(self.prefill)) as usize];
            for ((begin, _), moment) in prefill.iter().zip(last.iter().flatten()) {
                all.wait(begin.after(flows, steps), *moment);
            }
            let moved = |moment: Moment| Moment { node: moment.node.after(flows, steps), ..moment };
            *last = Some(prefill.into_iter().map(|(_, done)| moved(done)).collect());
        }
        all.advance();
        (all, kinds, counts)
    }
}

/// The number of parts of at most `most`, or one.
fn parts(count: u64, most: u64) -> u64 {
    if most == 0 { 1 } else { count.div_ceil(most) }
}

#[cfg(test)]
mod tests;
