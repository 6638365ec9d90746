package gpu

// What vLLM takes besides weights and KV cache. It measures these amounts when
// it starts; here they are predicted. The constants fit what vLLM 0.10.2 logged
// for seven models on GPUs with 79.25 GiB, 256 requests and 2048 tokens per
// step, within 0.15 GiB each:
// https://github.com/Azure-Samples/aks-anyscale/tree/main/examples/inferencing
// They were checked against logs of H100s with 1024 requests and 8192 tokens,
// where activations are within 0.1 GiB:
// https://github.com/llm-d/llm-d-benchmark/blob/main/config_explorer/empirical-vllm-memory-results.md
const (
	// The sampler sorts the logits of all requests of a step: 32-bit copies and
	// 64-bit indices per request and word of the vocabulary.
	samplerBytes = 38
	// Hidden states that live through the sampler, 16 bits each, per token of a
	// step and unit of hidden_size.
	keptStates = 2
	// The widest moment of a layer: gate, up and their product per unit of the
	// intermediate size, and input, residual, normed and output states.
	ffnStates, layerStates = 3, 4

	// Outside PyTorch: kernels' workspaces alone (0.02 to 0.13 GiB were logged), or
	// with NCCL's buffers when ranks talk to one another (0.54 to 1.11). In bytes.
	nonTorchAlone = 0.13 * gib
	nonTorchRanks = 1.11 * gib

	// CUDA graphs, bytes per layer on the GPU: of dense models, and of mixtures
	// of experts, whose layers launch more kernels.
	graphDense = 16 << 20
	graphMoE   = 30 << 20

	// The CUDA context, which vLLM never counts: it lives in the share that
	// utilization leaves. At 0.48 GiB, start-up has failed:
	// https://github.com/vllm-project/vllm/issues/57475
	cudaContext = 0.5 * gib

	// What a plan should have left over to be called a fit. Both together are more
	// than any prediction was above a log (1.4 GiB, with 55 GiB of weights); 2 % is
	// the factor by which KAITO expects weights to load larger than their files.
	// https://github.com/kaito-project/kaito, pkg/workspace/estimator
	marginBytes  = 1.0 * gib
	marginWeight = 0.02
)

// graphsCounted is the first minor version that subtracts CUDA graphs before it
// sizes the KV cache. Earlier ones put them into the share that utilization
// leaves.
// https://github.com/vllm-project/vllm/issues/45178
const graphsCounted = 21

// activationBytes is the peak of activations in a step, per GPU.
func activationBytes(m Model, e Engine) float64 {
	seqs, tokens := float64(min(e.MaxNumSeqs, e.MaxNumBatchedTokens)), float64(e.MaxNumBatchedTokens)
	hidden, ranks := float64(m.Hidden), float64(e.TensorParallel)
	sampler := seqs*float64(m.Vocab)*samplerBytes + tokens*hidden*keptStates*2
	layer := tokens * 2 * (ffnStates*float64(m.FFN)/ranks + layerStates*hidden)
	return max(sampler, layer, m.VisionPeak*gib)
}

// nonTorchBytes is what libraries take outside PyTorch, per GPU.
func nonTorchBytes(e Engine) float64 {
	if e.TensorParallel*e.PipelineParallel > 1 {
		return nonTorchRanks
	}
	return nonTorchAlone
}

// graphBytes is what CUDA graphs of a number of layers take, per GPU.
func graphBytes(m Model, e Engine, layers int) float64 {
	switch {
	case e.EnforceEager:
		return 0
	case m.moe():
		return float64(layers) * graphMoE
	default:
		return float64(layers) * graphDense
	}
}
