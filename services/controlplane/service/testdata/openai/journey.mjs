// The whole way of a batch with OpenAI's client for Node. It prints what it saw as
// JSON, and tells the test through the file in argv[4] when time may pass.
import { createRequire } from "node:module";
import { writeFileSync } from "node:fs";

const [, , project, url, signal] = process.argv;
const require = createRequire(project + "/");
const { default: OpenAI, toFile } = require("openai");
const client = new OpenAI({ baseURL: url + "/v1", apiKey: "desk", maxRetries: 0 });

const line = (id, prompt) =>
  JSON.stringify({ custom_id: id, method: "POST", url: "/v1/chat/completions", body: { model: "chat", messages: [{ role: "user", content: prompt }] } }) + "\n";
const content = line("a", "hello") + line("b", "[sim:refused]");
const file = await client.files.create({ file: await toFile(Buffer.from(content), "in.jsonl"), purpose: "batch" });
const made = [];
for (let i = 0; i < 3; i++) {
  const batch = await client.batches.create({ input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" });
  made.push(batch.id);
}
await client.batches.cancel(made[2]);
writeFileSync(signal, "");

let batch;
do {
  await new Promise((resolve) => setTimeout(resolve, 100));
  batch = await client.batches.retrieve(made[0]);
} while (batch.status !== "completed");
const rows = (await (await client.files.content(batch.output_file_id)).text()).trim().split("\n").map((row) => JSON.parse(row));
const listed = [];
for await (const b of client.batches.list({ limit: 2 })) listed.push(b.id);
let refusal;
try {
  await client.files.retrieve("file-none");
} catch (error) {
  refusal = { status: error.status, code: error.code };
}
console.log(JSON.stringify({
  uploaded: (await (await client.files.content(file.id)).text()) === content,
  counts: batch.request_counts,
  statuses: Object.fromEntries(rows.map((r) => [r.custom_id, r.response.status_code])),
  listed: listed.length, distinct: new Set(listed).size,
  cancelled: (await client.batches.retrieve(made[2])).status,
  refusal,
}));
