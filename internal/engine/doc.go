// Package engine runs the real Pulumi engine without a cloud and without a network.
//
// It owns three things: finding or building the Pulumi CLI (Find), a work directory that
// keeps the user's files untouched (Run), and turning what the engine says into plain,
// byte-stable data (Result, Failure). It knows nothing of Azure, of the policies or of the
// program it runs: those arrive as a pulumi.RunFunc, as provider servers and as executables.
//
// Everything it writes lies below Run.Home (usually .onedoor):
//
//	bin/            executables under other names (LinkRecorder)
//	locks/          one lock per stack, held while an operation runs
//	pulumi/         PULUMI_HOME of the CLI
//	record/<stack>/ what the recorder pack writes, while an operation runs
//	state/          the file backend
//	work/<stack>/   generated copies of Pulumi.yaml and of the stack file
package engine
