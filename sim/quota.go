package sim

// WithModelQuota limits the deployments of a subscription, in units of capacity
// by "region/usage name", such as "swedencentral/OpenAI.GlobalBatch.gpt-4o": what
// goes beyond is refused with InsufficientQuota (A474). Without it nothing is
// limited; Azure's own figures differ with each subscription.
func WithModelQuota(units map[string]float64) Option {
	return func(c *Cloud) { c.state.ModelQuota = units }
}
