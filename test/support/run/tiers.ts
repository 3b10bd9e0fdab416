import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const repository = join(import.meta.dirname, "../../..");

/** Pure code: starts no process, opens no port, synthesizes no stack. `unit-guard.ts` fails what does. */
const pure = [
  "test/domain/**/*.test.ts",
  "test/adapters/{dynamodb/{document-versions,items,keys},secrets/token-claims,streams/change-stream}.test.ts",
  "test/cli/{core,dead-letters,doctor,events,mapping,recovery,smoke,status}/**/*.test.ts",
  "test/cli/documents/{income-by-month,json-changes}.test.ts",
  "test/docs/{capacity,logs,promises,references}.test.ts",
  "test/functions/fetch/{coalescing,read-pages-laws,verdict}.test.ts",
  "test/functions/{relay/derive,runtime/inline-documents,runtime/log,runtime/sanitize-errors}.test.ts",
  "test/lib/settings/default-mapping.test.ts",
  "test/packages/local-stack/*.test.ts",
  "test/packages/local-stack/{alarms,assembly,iam,scenario,schedules}/**/*.test.ts",
  "test/packages/local-stack/api/{access-log,http-event,routes,throttle}.test.ts",
  "test/packages/local-stack/gateway/deduplication.test.ts",
  "test/packages/local-stack/gateway/tables/{request-context,throttle-events}.test.ts",
  "test/packages/local-stack/lambda/{asynchronous,function-log,lineage,log-level}.test.ts",
  "test/packages/local-stack/sources/{batch-response,event-filter,stream-batch}.test.ts",
  "test/packages/sandbox/clock.test.ts",
  "test/packages/subscriber/{document-shapes,json,lambda,read-document,reader}.test.ts",
  "test/proof/{capacity-model,conformance,restore-drill,timing}.test.ts",
  "test/proof/bench/{faults,work-off,workload}.test.ts",
  "test/proof/chaos/{audit-events,crash-points,fault-schedule,assess-run}.test.ts",
  "test/proof/{model,outage}/**/*.test.ts",
  "test/security/prototype-pollution.test.ts",
  "test/tools/{lockfile,slow-tests,vocabulary}.test.ts",
];

/** In the folders above, and yet with an engine, a server, a process or a module in the place of another. */
const impure = [
  "test/domain/core/constant-time.test.ts",
  "test/domain/event/payload-memory.test.ts",
  "test/packages/cli/core/failures.test.ts",
  "test/packages/cli/dead-letters/redrive.test.ts",
  "test/packages/cli/doctor/recipients.test.ts",
  "test/cli/smoke/{queues,stored,webhook-sender}.test.ts",
  "test/packages/local-stack/scenario/snapshot.test.ts",
];

/** Looks at synthesized stages and starts nothing that outlasts it: files share what they import, CDK above all. */
const ofStages = [
  "test/lib/**/*.test.ts",
  "test/packages/cli/doctor/recipients.test.ts",
  "test/cli/preflight/*.test.ts",
  "test/docs/{data-protection,deploying,runbook}.test.ts",
];

/**
 * Real minutes, hundreds of programs, whole programs as a user starts them, and the tests of what proves: too long for every
 * change. What they go through is tested by parts in the tiers before.
 */
const long = [
  "test/e2e/{alarms,assembly,aws-endpoint,chaos,keep,late-retries,once,outage,reconciliation,relay-outage}.test.ts",
  "test/e2e/{saturation,stay-up,storm,synthesis}.test.ts",
  "test/e2e/commands/{bad-night,dead-letters,erase,repair,replay,restore-drill,rotation,sandbox,smoke,token-revoked}.test.ts",
  "test/e2e/console/{console,faults,use}.test.ts",
  "test/examples/examples.test.ts",
  "test/proof/fuzz/*.test.ts",
  "test/proof/{capacity,catalogue,console,console-memory,erasure-law*,first-event,mutants,outage,package-managers,read,records,soak,startup}.test.ts",
  "test/packages/sandbox/{connect-browser,load,main}.test.ts",
  "test/proof/bench/{comparison,interruption,options}.test.ts",
  "test/tools/{check,failed-test,package}.test.ts",
];

/**
 * What divides the cases of a file between `npm test` and `npm run test:proof`: by engine (code that uses tables must
 * behave the same on each), or by how many cases are enough for every change.
 */
const dividing = /\b(describeOnTables|shareOfTier)\(/;

/** What replaces a module for its file: files that share modules would see that one, or the one that it replaces. */
const replacing = /\bvi\.mock\(/;

/** Files relative to the repository. @throws where a pattern names no file any more */
function filesOf(patterns: readonly string[]): readonly string[] {
  return patterns.flatMap((pattern) => {
    const files = globSync(pattern, { cwd: repository });
    if (files.length === 0) throw new Error(`test/support/run/tiers.ts: no test file is named ${pattern}`);
    return files;
  });
}

export type Tier = "unit" | "stages" | "integration" | "isolated" | "proof";

/**
 * The test files of each tier. A file that is named nowhere above is an integration test.
 * @throws where a file of the proof tier replaces a module, which its neighbours would see
 */
export function testsByTier(): Readonly<Record<Tier, string[]>> {
  const without = (files: readonly string[], others: readonly string[]) =>
    files.filter((file) => !others.includes(file)).sort();
  const unit = without(filesOf(pure), filesOf(impure));
  const stages = without(filesOf(ofStages), unit);
  const proof = filesOf(long);
  const onEngines = without(filesOf(["test/**/*.test.ts"]), [...unit, ...stages, ...proof]);
  const has = (pattern: RegExp) => (file: string) =>
    pattern.test(readFileSync(join(repository, file), "utf8"));
  const isolated = onEngines.filter(has(replacing));
  const integration = without(onEngines, isolated);
  const both = [...proof, ...onEngines.filter(has(dividing))];
  const [wrong] = both.filter(has(replacing));
  if (wrong !== undefined) throw new Error(`${wrong}: a file of the proof tier can't use vi.mock`);
  return { unit, stages, integration, isolated, proof: both };
}
