// Package waiver owns policies/waivers.yaml: who excused which failure of a
// policy, why and until when. It reads the file, tells of each waiver whether it
// counts on a given day, and compiles those that count to the exceptions of the
// Pulumi engine. It has no clock, judges no resource and changes no file.
//
// A waiver that does not count closes the gate by itself: it is left out of the
// exceptions, and its failure stays one.
package waiver
