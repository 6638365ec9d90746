package gpu

// Format is how the weights of the linear layers are stored. vLLM normally
// reads it from the checkpoint; its argument quantization names the same.
type Format string

// The formats.
const (
	BFloat16 Format = "bfloat16"
	Float16  Format = "float16"
	FP8      Format = "fp8"   // W8A8 with 8-bit floats
	Int8     Format = "int8"  // W8A8 with integers, "compressed-tensors"
	AWQ      Format = "awq"   // 4 bits, groups of 128
	GPTQ     Format = "gptq"  // the same size
	MXFP4    Format = "mxfp4" // 4 bits, blocks of 32; gpt-oss keeps its attention in 16 bits, see Model.Weights
)

// Formats are the formats that the planner knows.
var Formats = []Format{BFloat16, Float16, FP8, Int8, AWQ, GPTQ, MXFP4}

// formats are what a format costs and which GPUs compute with it. Compute
// capabilities are times ten: 75 is Turing (T4), 80 and 86 Ampere, 89 Ada, 90
// Hopper. Below native and from least on, weights are unpacked to 16 bits for
// every multiplication (Marlin kernels), which saves memory but no time.
// https://docs.vllm.ai/en/latest/features/quantization/ (2026-08)
var formats = map[Format]struct {
	bytes         float64 // per parameter of a linear layer, with scales
	least, native int     // compute capability x 10
}{
	BFloat16: {2, 80, 80},
	Float16:  {2, 70, 70},
	FP8:      {1, 80, 89},
	Int8:     {1, 75, 75},
	AWQ:      {4.16 / 8, 75, 75}, // a 16-bit scale and a 4-bit zero point per 128 weights
	GPTQ:     {4.16 / 8, 70, 70},
	MXFP4:    {4.25 / 8, 80, 90}, // an 8-bit scale per 32 weights
}

// KVDtype is vLLM's argument kv_cache_dtype.
type KVDtype string

// The types of the KV cache.
const (
	KVAuto             KVDtype = "auto" // 16 bits, as the model computes
	KVBFloat16         KVDtype = "bfloat16"
	KVFloat16          KVDtype = "float16"
	KVFP8              KVDtype = "fp8" // the same as e4m3
	KVFP8E4M3          KVDtype = "fp8_e4m3"
	KVFP8E5M2          KVDtype = "fp8_e5m2"
	KVFP8DeepSeek      KVDtype = "fp8_ds_mla" // MLA with a latent of 576 only
	KVFP8PerTokenHead  KVDtype = "fp8_per_token_head"
	KVInt8PerTokenHead KVDtype = "int8_per_token_head"
)

// KVDtypes are the types of the KV cache that the planner knows.
var KVDtypes = []KVDtype{KVAuto, KVBFloat16, KVFloat16, KVFP8, KVFP8E4M3, KVFP8E5M2, KVFP8DeepSeek, KVFP8PerTokenHead, KVInt8PerTokenHead}

// element is the bytes of one number in the cache.
func (d KVDtype) element() int {
	switch d {
	case KVAuto, KVBFloat16, KVFloat16:
		return 2
	default:
		return 1
	}
}

// scales is the bytes that one token's keys and values of one head need
// besides: two 32-bit scales.
func (d KVDtype) scales() int {
	if d == KVFP8PerTokenHead || d == KVInt8PerTokenHead {
		return 2 * 4
	}
	return 0
}

// dsMLA is the bytes per token and layer of fp8_ds_mla: 512 numbers of 8 bits,
// four 32-bit scales and 64 numbers of 16 bits; dsLatent is the only latent
// that has this layout.
// https://github.com/vllm-project/vllm, vllm/v1/kv_cache_interface.py
const (
	dsMLA    = 656
	dsLatent = 576
)
