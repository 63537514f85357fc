//! [`Model`]: the dimensions of a transformer, with its parameters and floating-point operations.

use weft_units::words;

words! {
    /// A published model.
    pub enum Named {
        /// Touvron et al., Llama 2, 2023, table 1 and the files of its weights.
        Llama7b = "llama-7b",
        /// The same.
        Llama70b = "llama-70b",
        /// Brown et al., Language Models are Few-Shot Learners, NeurIPS 2020, table 2.1.
        Gpt175b = "gpt-175b",
        /// Jiang et al., Mixtral of Experts, 2024, table 1.
        Mixtral = "mixtral-8x7b",
        /// DeepSeek-V3 Technical Report, 2024, section 4.2, with experts in all layers; there the first three have none.
        DeepSeekV3Like = "deepseek-v3-like",
    }
}

words! {
    /// The width of a number.
    pub enum Precision {
        /// One byte.
        Fp8 = "fp8",
        /// Two bytes.
        Bf16 = "bf16",
        /// Two bytes.
        Fp16 = "fp16",
        /// Four bytes.
        Fp32 = "fp32",
    }
}

impl Precision {
    /// The bytes of a number.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Fp8 => 1,
            Self::Bf16 | Self::Fp16 => 2,
            Self::Fp32 => 4,
        }
    }
}

/// The attention of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attention {
    /// Groups of query heads share a head of keys and values (Ainslie et al., GQA, EMNLP 2023).
    Grouped {
        /// The number of heads of keys, and of values.
        kv_heads: u64,
        /// The width of a head.
        width: u64,
    },
    /// Multi-head latent attention: keys and values are kept as one narrow vector (DeepSeek-V2, 2024, section 2.1).
    Latent {
        /// The width of the compressed queries.
        query: u64,
        /// The width of the compressed keys and values.
        kv: u64,
        /// The width of the part of a key with its position.
        position: u64,
        /// The width of a head's other part of a key, and of its value.
        width: u64,
    },
}

/// The dimensions of a transformer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Model {
    /// The number of layers.
    pub layers: u64,
    /// The width of a token's vector.
    pub hidden: u64,
    /// The number of query heads.
    pub heads: u64,
    /// The attention.
    pub attention: Attention,
    /// The inner width of the feed-forward network, or of one expert.
    pub ffn: u64,
    /// The matrices of a feed-forward network: 2, or 3 with a gate (Shazeer, GLU Variants, 2020).
    pub matrices: u64,
    /// The number of tokens of the vocabulary.
    pub vocabulary: u64,
    /// The number of experts of a layer; 0: a feed-forward network.
    pub experts: u64,
    /// The number of experts of each token.
    pub experts_per_token: u64,
    /// The number of experts that all tokens share.
    pub shared_experts: u64,
}

impl Named {
    /// Its dimensions.
    pub const fn model(self) -> Model {
        let llama = Model {
            layers: 32,
            hidden: 4096,
            heads: 32,
            attention: Attention::Grouped { kv_heads: 32, width: 128 },
            ffn: 11_008,
            matrices: 3,
            vocabulary: 32_000,
            experts: 0,
            experts_per_token: 0,
            shared_experts: 0,
        };
        let few = Attention::Grouped { kv_heads: 8, width: 128 };
        match self {
            Self::Llama7b => llama,
            Self::Llama70b => {
                Model { layers: 80, hidden: 8192, heads: 64, attention: few, ffn: 28_672, ..llama }
            }
            Self::Gpt175b => Model {
                layers: 96,
                hidden: 12_288,
                heads: 96,
                attention: Attention::Grouped { kv_heads: 96, width: 128 },
                ffn: 4 * 12_288,
                matrices: 2,
                vocabulary: 50_257,
                ..llama
            },
            Self::Mixtral => Model { attention: few, ffn: 14_336, experts: 8, experts_per_token: 2, ..llama },
            Self::DeepSeekV3Like => Model {
                layers: 61,
                hidden: 7168,
                heads: 128,
                attention: Attention::Latent { query: 1536, kv: 512, position: 64, width: 128 },
                ffn: 2048,
                vocabulary: 129_280,
                experts: 256,
                experts_per_token: 8,
                shared_experts: 1,
                ..llama
            },
        }
    }
}

impl Model {
    /// The parameters of a layer's attention.
    pub const fn attention_parameters(&self) -> u64 {
        let Self { hidden, heads, .. } = *self;
        match self.attention {
            Attention::Grouped { kv_heads, width } => 2 * hidden * width * (heads + kv_heads),
            Attention::Latent { query, kv, position, width } => {
                let queries = hidden * query + query * heads * (width + position);
                queries + hidden * (kv + position) + kv * heads * 2 * width + heads * width * hidden
            }
        }
    }

    /// The parameters of one expert, or of the feed-forward network.
    pub const fn ffn_parameters(&self) -> u64 {
        self.matrices * self.hidden * self.ffn
    }

    /// The parameters of a layer outside of the experts that tokens choose.
    pub const fn dense_parameters(&self) -> u64 {
        let shared = if self.experts == 0 { 1 } else { self.shared_experts };
        self.attention_parameters() + shared * self.ffn_parameters()
    }

    /// The parameters of the experts of a layer that tokens choose.
    pub const fn expert_parameters(&self) -> u64 {
        self.experts * self.ffn_parameters()
    }

    /// The parameters of the table of tokens; there is one for input and one for output.
    pub const fn table_parameters(&self) -> u64 {
        self.vocabulary * self.hidden
    }

    /// All parameters.
    pub const fn parameters(&self) -> u64 {
        self.layers * (self.dense_parameters() + self.expert_parameters()) + 2 * self.table_parameters()
    }

    /// The operations of a forward pass of `tokens` tokens through a layer, each with attention to `context` tokens: two for each
    /// parameter and token, and those of two products of matrices for the attention. With 4 h as inner width and two
    /// matrices this is `24 B s h² + 4 B s² h` (Narayanan et al., Efficient Large-Scale Language Model Training on GPU
    /// Clusters Using Megatron-LM, SC 2021, appendix); as there, causal attention saves nothing.
    pub fn layer_operations(&self, tokens: f64, context: f64) -> f64 {
        let chosen = if self.experts == 0 { 0 } else { self.experts_per_token * self.ffn_parameters() };
        let widths = match self.attention {
            Attention::Grouped { width, .. } => 2 * width,
            Attention::Latent { position, width, .. } => 2 * width + position,
        };
        let parameters = (self.dense_parameters() + chosen) as f64;
        2.0 * tokens * parameters + 2.0 * tokens * context * (self.heads * widths) as f64
    }

    /// The numbers that a token's keys and values keep in all layers: `2 layers × heads of keys × width`, or one vector per layer
    /// with latent attention.
    pub const fn kept_numbers(&self) -> u64 {
        self.layers
            * match self.attention {
                Attention::Grouped { kv_heads, width } => 2 * kv_heads * width,
                Attention::Latent { kv, position, .. } => kv + position,
            }
    }

    /// The parameters that a token uses: of experts, those that it chooses.
    pub const fn used_parameters(&self) -> u64 {
        let chosen = if self.experts == 0 { 0 } else { self.experts_per_token * self.ffn_parameters() };
        self.layers * (self.dense_parameters() + chosen) + self.table_parameters()
    }

    /// The operations of the output table for `tokens` tokens: `2 B s h V`.
    pub fn table_operations(&self, tokens: f64) -> f64 {
        2.0 * tokens * self.table_parameters() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_those_that_the_papers_state() {
        for (named, billions) in [
            (Named::Llama7b, 6.74),
            (Named::Llama70b, 69.0),
            (Named::Gpt175b, 175.0),
            (Named::Mixtral, 46.7),
            // Three layers more with experts than the 671 of DeepSeek-V3, instead of a network of 18 432.
            (Named::DeepSeekV3Like, 671.0 + 3.0 * (257.0 * 3.0 * 7168.0 * (2048.0 - 18_432.0 / 257.0)) / 1e9),
        ] {
            let found = named.model().parameters() as f64 / 1e9;
            assert!((found / billions - 1.0).abs() < 0.002, "{named}: {found}, not {billions}");
        }
    }

    #[test]
    fn keys_and_values_have_the_bytes_that_papers_state() {
        // 80 layers of 8 heads of 128 keys and as many values, of 16 bits.
        assert_eq!(2 * Named::Llama70b.model().kept_numbers(), 320 * 1024);
        assert_eq!(2 * Named::Gpt175b.model().kept_numbers(), 2 * 96 * 12_288 * 2);
        // DeepSeek-V2 (2024), section 2.1.4: 576 numbers of each layer.
        assert_eq!(Named::DeepSeekV3Like.model().kept_numbers(), 61 * 576);
    }

    #[test]
    fn operations_are_those_of_narayanan_et_al() {
        // The formula of the paper counts the forward pass four times: once again in the backward pass, which takes two.
        let model = Named::Gpt175b.model();
        let (l, h, v, s, b) = (96.0, 12_288.0, 50_257.0, 2048.0, 4.0);
        let formula = 96.0 * b * s * l * h * h * (1.0 + s / (6.0 * h) + v / (16.0 * l * h));
        let layers = 4.0 * l * model.layer_operations(b * s, s);
        // There, the output table has no second forward pass.
        let found = layers + 3.0 * model.table_operations(b * s);
        assert!((found / formula - 1.0).abs() < 1e-12, "{found}, not {formula}");
    }
}
