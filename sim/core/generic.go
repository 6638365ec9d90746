package core

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"onedoor/internal/armtypes"
)

const groupType = "microsoft.resources/resourcegroups"

// Limits of ARM tags, the same for nearly all types (A006):
// https://learn.microsoft.com/azure/azure-resource-manager/management/tag-resources#limitations
const (
	maxTags     = 50
	maxTagKey   = 512
	maxTagValue = 256
)

// generic checks what holds for every type: types, tags, location.
func generic(r, old *Resource, typ *armtypes.Resource) *Error {
	if err := problems(r, typ.CheckBody(withName(r))); err != nil {
		return err
	}
	if err := checkTags(r); err != nil {
		return err
	}
	return checkLocation(r, old)
}

// withName is the body as type data sees it: the name is part of it.
func withName(r *Resource) map[string]any {
	body := make(map[string]any, len(r.Body)+1)
	maps.Copy(body, r.Body)
	body["name"] = Name(r.ID)
	return body
}

func checkTags(r *Resource) *Error {
	tags, _ := r.Body["tags"].(map[string]any)
	if len(tags) > maxTags {
		return refuse(TooManyTags, "tags", "tags of "+r.ID, strconv.Itoa(len(tags)), "at most 50, ARM's limit", "drop some, or put them into one JSON value")
	}
	for _, key := range sortedKeys(tags) {
		if n := len([]rune(key)); n == 0 || n > maxTagKey {
			return refuse(InvalidTagNameLength, "tags", "tag name of "+r.ID, fmt.Sprintf("%d characters", n), "1..512, ARM's limit", "shorten it")
		}
		if strings.ContainsAny(key, `<>%&\?/`) {
			return refuse(InvalidTagNameLength, "tags", "tag name of "+r.ID, strconv.Quote(key), `a name without <>%&\?/`, "use letters, digits and hyphens")
		}
		if n := len([]rune(value{tags[key]}.text())); n > maxTagValue {
			return refuse(InvalidTagValueLength, "tags."+key, "tag "+key+" of "+r.ID, fmt.Sprintf("%d characters", n), "at most 256, ARM's limit", "shorten it")
		}
	}
	return nil
}

// checkLocation: a location never changes (A009), and global types live in "global".
func checkLocation(r, old *Resource) *Error {
	loc := root(r.Body).get("location")
	want := behaviourOf(r.Type).location
	if loc.unknown() || want == noLocation && loc.absent() {
		return nil
	}
	if loc.text() == "" {
		if want != regional && want != global {
			return nil
		}
		return refuse(LocationRequired, "location", "location of "+r.ID, "nothing", "a region, because ARM stores it somewhere", "set location")
	}
	if want == global && Region(loc.text()) != "global" {
		return refuse(InvalidResourceLocation, "location", "location of "+r.ID, strconv.Quote(loc.text()), `"global", the only place of `+r.Type, `set location to "global"`)
	}
	if old != nil {
		if was := root(old.Body).get("location"); was.known() && Region(was.text()) != Region(loc.text()) {
			return refuse(InvalidResourceLocation, "location", "location of "+r.ID, strconv.Quote(loc.text()),
				strconv.Quote(was.text())+", where it exists; a resource never moves between regions", "replace the resource")
		}
	}
	return nil
}

// Region returns a location in Azure's canonical form: "Sweden Central" is
// "swedencentral".
func Region(location string) string {
	return strings.ToLower(strings.ReplaceAll(location, " ", ""))
}
