package core

import (
	"net/http"
	"slices"
	"testing"
)

func TestGatewayProductRules(t *testing.T) {
	t.Parallel()
	key := gw + "/subscriptions/new"
	runAll(t, map[string]writeCase{
		"A540 approval of an open one":    {reason: "subscriptions are approved", id: gw + "/products/new", body: properties(`'displayName':'New','subscriptionRequired':false,'approvalRequired':true`), want: ValidationError},
		"A540 approval":                   {reason: "neighbour", id: gw + "/products/new", body: properties(`'displayName':'New','approvalRequired':true,'subscriptionsLimit':1`)},
		"A541 name of another":            {reason: "its own", id: gw + "/products/new", body: properties(`'displayName':'gold'`), want: ValidationError, text: "products/gold"},
		"A542 API missing":                {reason: "it exists", id: gw + "/products/empty/apiLinks/new", body: properties(`'apiId':'$gw/apis/nope'`), want: ValidationError},
		"A542 API by name":                {reason: "neighbour", id: gw + "/products/empty/apis/chat", body: `{}`},
		"A542 API by name missing":        {reason: "it exists", id: gw + "/products/empty/apis/nope", body: `{}`, want: ValidationError},
		"A542 API by link":                {reason: "neighbour", id: gw + "/products/empty/apiLinks/new", body: properties(`'apiId':'$gw/apis/chat'`)},
		"A542 API of another service":     {reason: "its service's", id: gw + "/products/empty/apiLinks/new", body: properties(`'apiId':'` + gwV2 + `/apis/chat'`), want: ValidationError},
		"A542 a revision":                 {reason: "the API", id: gw + "/products/empty/apiLinks/new", body: properties(`'apiId':'$gw/apis/chat;rev=1'`), want: ValidationError, text: "revision"},
		"A542 twice":                      {reason: "once, one way or the other", id: gw + "/products/gold/apis/chat", body: `{}`, want: ValidationError, text: "apiLinks/chat"},
		"A543 product with subscriptions": {reason: "they go first", method: Delete, id: gw + "/products/gold", want: ValidationError, text: "subscriptions/acme"},
		"A543 product without":            {reason: "neighbour", method: Delete, id: gw + "/products/open"},
		"A543 service with subscriptions": {reason: "neighbour: all goes", method: Delete, id: gw},
		"A545 product missing":            {reason: "it exists", id: key, body: properties(`'displayName':'x','scope':'/products/nope'`), want: ValidationError, text: "does not exist"},
		"A545 product by path":            {reason: "neighbour", id: key, body: properties(`'displayName':'x','scope':'/products/gold'`)},
		"A545 product by id":              {reason: "neighbour", id: key, body: properties(`'displayName':'x','scope':'$gw/products/gold'`)},
		"A545 all APIs":                   {reason: "neighbour", id: key, body: properties(`'displayName':'x','scope':'/apis'`)},
		"A545 an API":                     {reason: "neighbour", id: key, body: properties(`'displayName':'x','scope':'/apis/chat'`)},
		"A545 something else":             {reason: "product or API", id: key, body: properties(`'displayName':'x','scope':'/groups/x'`), want: ValidationError},
		"A545 open product":               {reason: "it wants none", id: key, body: properties(`'displayName':'x','scope':'/products/open'`), want: ValidationError, text: "wants no subscription"},
		"A547 key of another":             {reason: "it opens one", id: key, body: properties(`'displayName':'x','scope':'/apis','secondaryKey':'known-key'`), want: ValidationError, text: "subscriptions/acme"},
		"A547 key of its own":             {reason: "neighbour", id: key, body: properties(`'displayName':'x','scope':'/apis','secondaryKey':'other-key'`)},
		"A566 group of the system":        {reason: "not ours to make", id: gw + "/groups/new", body: properties(`'displayName':'New','type':'system'`), want: ValidationError},
		"A566 change of one":              {reason: "not ours to change", id: gw + "/groups/guests", body: properties(`'displayName':'Visitors','type':'system'`), want: ValidationError},
		"A566 deletion of one":            {reason: "not ours to delete", method: Delete, id: gw + "/groups/guests", want: MethodNotAllowed},
		"A566 name of another":            {reason: "its own", id: gw + "/groups/new", body: properties(`'displayName':'guests'`), want: ValidationError},
		"A566 from nowhere":               {reason: "it names its place", id: gw + "/groups/new", body: properties(`'displayName':'New','type':'external'`), want: ValidationError, text: "aad://"},
		"A566 from Entra":                 {reason: "neighbour", id: gw + "/groups/new", body: properties(`'displayName':'New','type':'external','externalId':'aad://contoso.com/groups/1'`)},
	})
}

// Keys and secret values are answered by actions alone (A546, A557, A568), stay
// when a write leaves them out, and are drawn if nobody gives them.
func TestGatewaySecrets(t *testing.T) {
	t.Parallel()
	s := servedBy(t)
	s = must(t, s, gw+"/namedValues/secret", properties(`'displayName':'secret','secret':true,'value':'x'`))
	s = must(t, s, gw+"/subscriptions/acme", properties(`'displayName':'Acme Ltd','scope':'/products/gold','state':'active'`))
	keys := Act(s, gw+"/subscriptions/acme/listSecrets")
	if keys.Status != http.StatusOK || keys.Body["primaryKey"] != "known-key" || len(value{keys.Body["secondaryKey"]}.text()) != 32 {
		t.Errorf("keys: %d %v %v", keys.Status, keys.Body, keys.Error)
	}
	if a := Act(s, gw+"/namedValues/secret/listValue"); a.Body["value"] != "x" {
		t.Errorf("value: %v %v", a.Body, a.Error)
	}
	if a := Act(s, gw+"/subscriptions/nope/listSecrets"); a.Error == nil || a.Error.Code != ResourceNotFound {
		t.Errorf("keys of nothing: %v", a.Error)
	}
}

// Azure makes a subscription with each product that wants any, which then stands
// in the way of its deletion (A544).
func TestAProductIsBornWithASubscription(t *testing.T) {
	t.Parallel()
	of := func(s State, product string) []*Resource {
		return slices.DeleteFunc(s.under(gw, keyType), func(key *Resource) bool { return key.props("scope").text() != product })
	}
	s := must(t, servedBy(t), gw+"/products/new", properties(`'displayName':'New'`))
	born := of(s, gw+"/products/new")
	if len(born) != 1 || born[0].props("state").text() != "active" {
		t.Fatalf("subscriptions: %v", born)
	}
	if _, a := Apply(s, Op{Method: Delete, ID: gw + "/products/new", Instant: true}); a.Error == nil || a.Error.Code != ValidationError {
		t.Errorf("deleted beside its subscription: %v", a.Error)
	}
	s = must(t, s, gw+"/products/new", properties(`'displayName':'Newer'`))
	if n := len(of(s, gw+"/products/new")); n != 1 {
		t.Errorf("%d subscriptions after a change", n)
	}
	s, a := Apply(s, Op{Method: Delete, ID: born[0].ID, Instant: true})
	if a.Error != nil {
		t.Fatal(a.Error)
	}
	if _, a := Apply(s, Op{Method: Delete, ID: gw + "/products/new", Instant: true}); a.Error != nil {
		t.Errorf("product: %v", a.Error)
	}
	s = must(t, s, gw+"/products/free", properties(`'displayName':'Free','subscriptionRequired':false`))
	if n := len(of(s, gw+"/products/free")); n != 0 {
		t.Errorf("%d subscriptions of a product that wants none", n)
	}
}

// An API that goes leaves its products (A542).
func TestAPILeavesItsProducts(t *testing.T) {
	t.Parallel()
	s, a := Apply(servedBy(t), Op{Method: Delete, ID: gw + "/apis/chat", Instant: true})
	if a.Error != nil {
		t.Fatal(a.Error)
	}
	if _, ok := s.Find(gw + "/products/gold/apiLinks/chat"); ok {
		t.Error("the link to the API outlived it")
	}
}
