package openai

// batchModels are the models that take batch jobs, as Azure listed them in
// August 2026. Azure adds to them, so one that is not here may do.
// https://learn.microsoft.com/azure/ai-foundry/foundry-models/concepts/models-sold-directly-by-azure
var batchModels = map[string]bool{
	"gpt-4.1": true, "gpt-4.1-mini": true, "gpt-4.1-nano": true, "gpt-4o": true, "gpt-4o-mini": true,
	"gpt-5": true, "gpt-5.1": true, "gpt-5.4": true, "gpt-5.4-mini": true, "o3": true, "o3-mini": true, "o4-mini": true,
}

// TakesBatches tells whether the model is known to take batch jobs.
func TakesBatches(model string) bool { return batchModels[model] }
