// Reads {tables, functions, queries} as JSON from standard input, checks the
// bodies of the functions and the queries with Microsoft's Kusto language
// service, and writes what it finds wrong as JSON: a list of {name, line, message}.
//
// tables are {name: "(Column: type, ...)"}, functions [{name, body}], queries
// [{name, text}].
"use strict";
require("@kusto/language-service-next/bridge.min");
require("@kusto/language-service-next/Kusto.Language.Bridge.min");

const { GlobalState, KustoCode, Symbols } = Kusto.Language;

const input = JSON.parse(require("fs").readFileSync(0, "utf8"));
const members = [];
for (const [name, columns] of Object.entries(input.tables)) {
  members.push(new Symbols.TableSymbol.$ctor7(name, columns, null));
}
for (const f of input.functions) {
  members.push(new Symbols.FunctionSymbol.$ctor16(f.name, "()", f.body, null));
}
const globals = GlobalState.Default.WithDatabase(new Symbols.DatabaseSymbol.ctor("workspace", members));

const found = [];
for (const { name, text } of [...input.functions.map((f) => ({ name: f.name, text: f.body })), ...input.queries]) {
  const code = KustoCode.ParseAndAnalyze(text, globals);
  const list = code.GetDiagnostics();
  for (let i = 0; i < list.Count; i++) {
    const d = list.getItem(i);
    found.push({ name, line: text.slice(0, d.Start).split("\n").length, severity: d.Severity, message: d.Message });
  }
}
process.stdout.write(JSON.stringify(found));
