// Runs the module that tests/bare builds, and checks that it stands alone: usage: node check.mjs MODULE
import { readFile } from "node:fs/promises";

const bytes = await readFile(process.argv[2]);
const module = await WebAssembly.compile(bytes);
let passed = 0;
let failed = 0;

/** Counts one rule, which holds when `problem` is empty. */
function rule(name, problem) {
  problem ? failed++ : passed++;
  console.log(problem ? `  FAIL ${name}: ${problem}` : `  ok   ${name}`);
}

/** What the module answers to `text`. */
function judge({ memory, take, give_back, judge }, text) {
  const input = new TextEncoder().encode(text);
  const at = take(input.length) >>> 0;
  new Uint8Array(memory.buffer, at, input.length).set(input);
  const answer = BigInt.asUintN(64, judge(at, input.length));
  const [start, length] = [Number(answer >> 32n), Number(answer & 0xffffffffn)];
  const output = new TextDecoder().decode(new Uint8Array(memory.buffer, start, length));
  give_back(start, length);
  give_back(at, input.length);
  return output;
}

const imports = WebAssembly.Module.imports(module).map((i) => `${i.module}.${i.name}`);
rule("the module imports nothing", imports.join(", "));

const wanted = ["give_back", "judge", "memory", "take"];
const exported = WebAssembly.Module.exports(module).map((e) => e.name);
rule("it exports what a caller needs", wanted.filter((name) => !exported.includes(name)).join(", "));

const answers = [];
try {
  const { exports } = await WebAssembly.instantiate(module, {});
  const plan = {
    proposal_id: "p1",
    agent_id: "ag-1",
    action_type: "patch_file",
    target: "core.parser",
    rationale: "fix the off-by-one in the tokenizer",
    rollback_plan: "git revert the one commit on the branch",
    evidence: { test: "test_tokenizer" },
    expected_outcome: "test_tokenizer passes",
    tests: "pytest tests/test_tokenizer.py",
    metrics: "0 failing tests",
  };
  const texts = [JSON.stringify(plan), JSON.stringify({ ...plan, rationale: "x".repeat(200_000) }), "{}"];
  for (const text of [...texts, texts[0]]) answers.push(judge(exports, text));
  const [verdict, tooLong, incomplete] = answers.map((answer) => JSON.parse(answer));
  const judged = verdict.decision === "execute" && verdict.score === 0.875;
  rule("it judges as everywhere else", !judged && answers[0]);
  rule("it answers beyond its first pages of memory", tooLong.code !== "too_long" && answers[1]);
  rule("what is no proposal is an error, not a trap", incomplete.code !== "json" && answers[2]);
  rule("the same question gets the same answer", answers[0] !== answers[3] && `${answers[0]} and ${answers[3]}`);
} catch (error) {
  rule("it answers", String(error));
}

console.log(`bare: ${bytes.length} bytes`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
