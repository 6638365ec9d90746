// Runs a batch job with OpenAI's client for Node. Only the base URL is another.
// Prints what it saw as JSON. Time is virtual: wherever it must pass, the script prints
// what for, and goes on when it is answered.
const { once } = require("node:events");
const { OpenAI, toFile } = require("openai");

const [door, tenant, other] = process.argv.slice(2);
const client = new OpenAI({ baseURL: door + "/v1", apiKey: tenant, maxRetries: 0 });
const stranger = new OpenAI({ baseURL: door + "/v1", apiKey: other, maxRetries: 0 });

const line = (id, content) =>
  JSON.stringify({
    custom_id: id,
    method: "POST",
    url: "/v1/chat/completions",
    body: { model: "tickets", messages: [{ role: "user", content }] },
  }) + "\n";

async function submit(content) {
  const file = await client.files.create({ file: await toFile(Buffer.from(content), "in.jsonl"), purpose: "batch" });
  return client.batches.create({ input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" });
}

async function ended(id) {
  for (;;) {
    const batch = await client.batches.retrieve(id);
    if (["completed", "failed", "expired", "cancelled"].includes(batch.status)) return batch;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function time(what) {
  console.log(what);
  await once(process.stdin, "data");
}

const refusal = async (promise) => {
  try {
    await promise;
    return "accepted";
  } catch (e) {
    return `${e.status} ${e.code}`;
  }
};

async function main() {
  const seen = { models: [], listed: [], results: {} };
  for await (const model of client.models.list()) seen.models.push(model.id);

  const job = await submit(line("a", "cancel my order") + line("b", "I will hurt the courier who lost it"));
  await time("a second job");
  const stopped = await submit(line("c", "x"));
  seen.cancelling = (await client.batches.cancel(stopped.id)).status;
  await time("jobs end");
  seen.stopped = (await ended(stopped.id)).status;

  const batch = await ended(job.id);
  seen.status = batch.status;
  seen.counts = batch.request_counts;
  const text = await (await client.files.content(batch.output_file_id)).text();
  for (const row of text.trim().split("\n").map((l) => JSON.parse(l))) seen.results[row.custom_id] = row.response.status_code;

  for await (const b of client.batches.list({ limit: 1 })) seen.listed.push(b.id);
  seen.newestFirst = JSON.stringify(seen.listed) === JSON.stringify([stopped.id, job.id]);
  delete seen.listed;

  seen.othersJob = await refusal(stranger.batches.retrieve(job.id));
  seen.noJSON = await refusal(client.files.create({ file: await toFile(Buffer.from("{\n"), "in.jsonl"), purpose: "batch" }));
  seen.deleted = (await client.files.delete(batch.input_file_id)).deleted;
  console.log(JSON.stringify(seen));
  process.exit(0);
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
