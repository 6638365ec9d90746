// Package armtypes knows the Azure resource types of this program: their
// properties as Azure Resource Manager (ARM) defines them, the names that the
// Pulumi provider azure-native gives to these properties, and their ids.
//
// It is a pure library. It checks and converts plain JSON values
// (map[string]any, []any, string, float64, bool, nil) and knows nothing of
// state, of other resources or of the network. A value that a preview does not
// know yet is [Unknown]: it passes every check and flows through every
// conversion.
//
// The data folder holds
//
//   - arm-types.json: Microsoft's published type definitions, reduced to names, types, flags and limits;
//   - names.json: where Pulumi's names follow no rule;
//   - limits.json: limits that Azure enforces and the type definitions leave out.
package armtypes

// Unknown stands for a value that is not known yet.
type Unknown struct{}
