package gpu

// Where the figures of models come from (2026-08). config is each model's own
// config.json on Hugging Face; kaito lists sizes of checkpoints; logs are what
// vLLM printed after it had loaded the model.
const (
	config   = "https://huggingface.co/<name>/blob/main/config.json"
	kaito    = "https://github.com/kaito-project/kaito/blob/main/presets/workspace/models/model_catalog.yaml"
	ray      = "https://github.com/Azure-Samples/aks-anyscale/tree/main/examples/inferencing"
	gptOSS   = "https://github.com/vllm-project/vllm/issues/23278"
	qwen3FP8 = "https://github.com/vllm-project/vllm/issues/21348"
)

// full is a model's attention when all layers keep keys and values of the whole
// context.
func full(layers, kvHeads, headDim int) []Layer {
	return []Layer{{Count: layers, KVHeads: kvHeads, HeadDim: headDim}}
}

// sliding is a model's attention when count layers keep the whole context and
// the others a window of it.
func sliding(count, others, window, kvHeads, headDim int) []Layer {
	return []Layer{
		{Count: count, KVHeads: kvHeads, HeadDim: headDim},
		{Count: others, KVHeads: kvHeads, HeadDim: headDim, Window: window},
	}
}

// models are the known models, in no order that matters.
var models = []Model{
	{Name: "meta-llama/Llama-3.1-8B-Instruct", Params: 8.03, Format: BFloat16, Weights: 14.99, Hidden: 4096, FFN: 14336, Heads: 32, Vocab: 128256, MaxContext: 131072, Layers: full(32, 8, 128), Source: ray},
	{Name: "meta-llama/Llama-3.1-70B-Instruct", Params: 70.55, Format: BFloat16, Weights: 131.42, Hidden: 8192, FFN: 28672, Heads: 64, Vocab: 128256, MaxContext: 131072, Layers: full(80, 8, 128), Source: kaito},
	{Name: "meta-llama/Llama-3.3-70B-Instruct", Params: 70.55, Format: BFloat16, Weights: 131.42, Hidden: 8192, FFN: 28672, Heads: 64, Vocab: 128256, MaxContext: 131072, Layers: full(80, 8, 128), Source: kaito},

	{Name: "Qwen/Qwen2.5-7B-Instruct", Params: 7.62, Format: BFloat16, Weights: 14.19, Hidden: 3584, FFN: 18944, Heads: 28, Vocab: 152064, MaxContext: 32768, Layers: full(28, 4, 128), Source: kaito},
	{Name: "Qwen/Qwen2.5-32B-Instruct", Params: 32.76, Format: BFloat16, Weights: 61.03, Hidden: 5120, FFN: 27648, Heads: 40, Vocab: 152064, MaxContext: 32768, Layers: full(64, 8, 128), Source: kaito},
	{Name: "Qwen/Qwen2.5-72B-Instruct", Params: 72.71, Format: BFloat16, Hidden: 8192, FFN: 29568, Heads: 64, Vocab: 152064, MaxContext: 32768, Layers: full(80, 8, 128), Source: config},
	{Name: "Qwen/Qwen2.5-VL-7B-Instruct", Params: 8.29, Format: BFloat16, Weights: 15.63, Hidden: 3584, FFN: 18944, Heads: 28, Vocab: 152064, MaxContext: 128000, Layers: full(28, 4, 128), Images: true, VisionPeak: 2.60, Source: ray},
	{Name: "Qwen/QwQ-32B", Params: 32.76, Format: BFloat16, Weights: 61.03, Hidden: 5120, FFN: 27648, Heads: 40, Vocab: 152064, MaxContext: 40960, Layers: full(64, 8, 128), Source: ray},
	{Name: "Qwen/Qwen3-4B", Params: 4.02, Format: BFloat16, Hidden: 2560, FFN: 9728, Heads: 32, Vocab: 151936, Tied: true, MaxContext: 40960, Layers: full(36, 8, 128), Source: config},
	{Name: "Qwen/Qwen3-8B", Params: 8.19, Format: BFloat16, Hidden: 4096, FFN: 12288, Heads: 32, Vocab: 151936, MaxContext: 40960, Layers: full(36, 8, 128), Source: config},
	{Name: "Qwen/Qwen3-8B-AWQ", Params: 8.19, Format: AWQ, Weights: 5.68, Hidden: 4096, FFN: 12288, Heads: 32, Vocab: 151936, MaxContext: 40960, Layers: full(36, 8, 128), Source: kaito},
	{Name: "Qwen/Qwen3-32B", Params: 32.76, Format: BFloat16, Hidden: 5120, FFN: 25600, Heads: 64, Vocab: 151936, MaxContext: 40960, Layers: full(64, 8, 128), Source: config},
	{Name: "Qwen/Qwen3-30B-A3B", Params: 30.53, Active: 3.35, Format: BFloat16, Hidden: 2048, FFN: 8 * 768, Heads: 32, Vocab: 151936, MaxContext: 40960, Layers: full(48, 4, 128), Source: config},
	{Name: "Qwen/Qwen3-235B-A22B-FP8", Params: 235.09, Active: 22.1, Format: FP8, Hidden: 4096, FFN: 8 * 1536, Heads: 64, Vocab: 151936, MaxContext: 40960, Layers: full(94, 4, 128), Source: qwen3FP8},

	{Name: "mistralai/Mistral-7B-Instruct-v0.3", Params: 7.25, Format: BFloat16, Weights: 13.50, Hidden: 4096, FFN: 14336, Heads: 32, Vocab: 32768, MaxContext: 32768, Layers: full(32, 8, 128), Source: kaito},
	{Name: "mistralai/Mixtral-8x7B-Instruct-v0.1", Params: 46.70, Active: 12.88, Format: BFloat16, Hidden: 4096, FFN: 2 * 14336, Heads: 32, Vocab: 32000, MaxContext: 32768, Layers: full(32, 8, 128), Source: config},

	{Name: "microsoft/Phi-3-mini-128k-instruct", Params: 3.82, Format: BFloat16, Weights: 7.12, Hidden: 3072, FFN: 8192, Heads: 32, Vocab: 32064, MaxContext: 131072, Layers: full(32, 32, 96), Source: kaito},
	{Name: "microsoft/Phi-3-medium-128k-instruct", Params: 13.96, Format: BFloat16, Weights: 26.00, Hidden: 5120, FFN: 17920, Heads: 40, Vocab: 32064, MaxContext: 131072, Layers: full(40, 10, 128), Source: kaito},
	{Name: "microsoft/phi-4", Params: 14.66, Format: BFloat16, Weights: 27.31, Hidden: 5120, FFN: 17920, Heads: 40, Vocab: 100352, MaxContext: 16384, Layers: full(40, 10, 128), Source: kaito},
	{Name: "microsoft/Phi-4-mini-instruct", Params: 3.84, Format: BFloat16, Weights: 7.15, Hidden: 3072, FFN: 8192, Heads: 24, Vocab: 200064, Tied: true, MaxContext: 131072, Layers: full(32, 8, 128), Source: kaito},

	// Every second layer of Gemma 2 keeps a window, of Gemma 3 five of six.
	{Name: "google/gemma-2-9b-it", Params: 9.24, Format: BFloat16, Hidden: 3584, FFN: 14336, Heads: 16, Vocab: 256000, Tied: true, MaxContext: 8192, Layers: sliding(21, 21, 4096, 8, 256), Source: config},
	{Name: "google/gemma-2-27b-it", Params: 27.23, Format: BFloat16, Hidden: 4608, FFN: 36864, Heads: 32, Vocab: 256000, Tied: true, MaxContext: 8192, Layers: sliding(23, 23, 4096, 16, 128), Source: config},
	{Name: "google/gemma-3-27b-it", Params: 27.43, Format: BFloat16, Weights: 51.10, Hidden: 5376, FFN: 21504, Heads: 32, Vocab: 262208, Tied: true, MaxContext: 131072, Layers: sliding(10, 52, 1024, 16, 128), Images: true, Source: kaito},

	// The checkpoints hold more than is loaded, hence the sizes of logs.
	{Name: "openai/gpt-oss-20b", Params: 20.91, Active: 3.61, Format: MXFP4, Weights: 13.72, Hidden: 2880, FFN: 4 * 2880, Heads: 64, Vocab: 201088, MaxContext: 131072, Layers: sliding(12, 12, 128, 8, 64), Source: ray},
	{Name: "openai/gpt-oss-120b", Params: 116.83, Active: 5.13, Format: MXFP4, Weights: 65.97, Hidden: 2880, FFN: 4 * 2880, Heads: 64, Vocab: 201088, MaxContext: 131072, Layers: sliding(18, 18, 128, 8, 64), Source: gptOSS},

	{Name: "deepseek-ai/DeepSeek-R1", Params: 671.03, Active: 37.55, Format: FP8, Weights: 641.30, Hidden: 7168, FFN: 9 * 2048, Heads: 128, Vocab: 129280, MaxContext: 163840, Layers: []Layer{{Count: 61, Latent: 512 + 64}}, Source: kaito},
	{Name: "deepseek-ai/DeepSeek-V3", Params: 671.03, Active: 37.55, Format: FP8, Weights: 641.30, Hidden: 7168, FFN: 9 * 2048, Heads: 128, Vocab: 129280, MaxContext: 163840, Layers: []Layer{{Count: 61, Latent: 512 + 64}}, Source: kaito},
}
