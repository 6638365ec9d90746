package interp

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"time"
)

// date is a JToken that was read from a text of a date and a time, of one of the
// two forms below. It is written in a form of its own.
// https://www.newtonsoft.com/json/help/html/DatesInJSON.htm
type date struct {
	at   time.Time
	zone string // as it is written: gateways are in UTC
}

var (
	// Digits after the seventh of a second are dropped where these are two and no zone
	// follows, which Newtonsoft takes for minutes of a zone.
	isoDate       = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:(\.\d{7})\d\d|(\.\d{1,7})?(?:([Zz])|([+-]\d\d):?(\d\d)?)?)$`)
	microsoftDate = regexp.MustCompile(`^/Date\((-?\d+)([+-]\d\d(?:\d\d)?)?\)/$`)
)

// dates makes dates of such texts in a value, all the way down.
func dates(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if v[name], err = dates(member); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, element := range v {
			if v[i], err = dates(element); err != nil {
				return nil, err
			}
		}
	case string:
		if m := isoDate.FindStringSubmatch(v); m != nil {
			return readISO(v, m), nil
		}
		if m := microsoftDate.FindStringSubmatch(v); m != nil {
			return readMicrosoft(v, m)
		}
	}
	return v, nil
}

// readISO reads a text that isoDate matches; one of no day that exists stays a text.
func readISO(text string, m []string) any {
	at, noTime := time.Parse("2006-01-02T15:04:05", m[1]+m[2]+m[3])
	offset, noOffset := time.ParseDuration(cmp.Or(m[5], "0") + "h0" + m[6] + "m")
	switch {
	case noTime != nil || noOffset != nil:
		return text
	case m[4] != "":
		return date{at, "Z"}
	case m[5] != "":
		return date{at.Add(-offset), "+00:00"}
	default:
		return date{at, ""}
	}
}

// readMicrosoft reads a text that microsoftDate matches. What is behind the
// milliseconds says that there was a zone, and nothing else.
func readMicrosoft(text string, m []string) (any, error) {
	milliseconds, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return text, nil //nolint:nilerr // it is a text then
	}
	at := time.UnixMilli(milliseconds).UTC()
	if at.Year() < 1 || at.Year() > 9999 {
		return throw("ArgumentOutOfRangeException")
	}
	if m[2] != "" {
		return date{at, "+00:00"}, nil
	}
	return date{at, "Z"}, nil
}

// MarshalJSON writes the date, zeros at the end of a second's fraction left out.
func (d date) MarshalJSON() ([]byte, error) {
	return json.Marshal(d.at.Format("2006-01-02T15:04:05.9999999") + d.zone)
}
