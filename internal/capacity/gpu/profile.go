package gpu

import (
	"fmt"
	"strings"

	"onedoor/internal/az/aks"
)

// profileOf is the MIG profile that word names for a size: AKS's own name
// ("MIG3g", in any case) or NVIDIA's for the size's card ("3g.40gb"). NVIDIA's
// depends on the card, and AKS has fewer profiles than NVIDIA: one layout per
// card and profile, none of the slices with double memory. want is what is
// allowed, "" when word is.
// https://learn.microsoft.com/azure/aks/gpu-multi-instance
func profileOf(size aks.Size, word aks.Profile) (profile aks.Profile, want string) {
	if !size.MIG() {
		return "", fmt.Sprintf("none: AKS cannot partition the %s of %s", size.GPU.Card, size.Name)
	}
	var legal []string
	for _, profile := range aks.Profiles {
		slice, err := aks.SliceOf(size, profile)
		if err != nil {
			continue // no such card
		}
		if strings.EqualFold(string(word), string(profile)) || strings.EqualFold(string(word), slice.Name) {
			return profile, ""
		}
		legal = append(legal, fmt.Sprintf("%s (%s)", profile, slice.Name))
	}
	return "", fmt.Sprintf("one of %s, which are all that AKS makes of the %s of %s", strings.Join(legal, ", "), size.GPU.Card, size.Name)
}
