// Package monitor holds the rules of Azure Monitor that this project goes by:
// which metrics a type has and how they may be looked at, which logs it writes, what
// columns the tables have, and how often alerts may look. Each list holds what is
// used here, not all that there is.
package monitor
