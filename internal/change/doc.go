// Package change tells what a change to the project does to a stack: resources,
// what its replacements lose, capacity, and how long the update takes. It reads
// what the engine planned over the stack as it is; it plans nothing itself.
// Policy and reach have comparisons of their own, in the report and reach packages.
package change
