// Package apimpolicy renders every policy document of the synchronous gateway
// from plain values, and checks policy documents, its own and anybody else's.
// It declares no resources and runs no policy: package interp below it does the
// latter, for tests.
//
// The documents, and how they hang together:
//
//   - The API's policy finds out which tenant calls, refuses what is not a
//     synchronous call, and tries the deployments that may serve the alias one
//     after another. Its size does not depend on how many tenants there are.
//   - One policy a plan, on the plan's product, applies the plan's limits to
//     callers with a key. No product's policy runs for callers with a token, so
//     the fragment "limits" has the same limits for them.
//   - The fragments "tenants" and "routes" are tables: one long literal each,
//     that the API's policy looks words up in. A tenant takes about 60
//     characters and 40 more for each of its applications, so a thousand tenants
//     take a fifth of what a fragment may hold, and adding one changes no other
//     document.
//   - The fragments "workers", "models-token" and "serving-token" hold what only Azure knows: ids
//     of identities. They are apart so that all other documents are known, and
//     can be checked, before anything exists.
package apimpolicy
