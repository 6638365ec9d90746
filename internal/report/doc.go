// Package report turns policy.json into what people and other tools read: SARIF,
// JUnit, Markdown, one HTML page and OSCAL assessment results; it also tells the
// difference of two runs and which controls have a rule. Its functions are pure:
// the same document gives the same bytes. It judges nothing, decides on no
// waiver and writes no file.
//
// Every report names its subject and shows every state. A failure with a waiver
// that does not count stays a failure and says why, as "expired waiver".
package report
