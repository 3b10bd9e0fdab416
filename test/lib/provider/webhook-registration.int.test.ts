import { planExport } from "@income-events/local-stack/assembly/plan-export.ts";
import { stackScope } from "@income-events/local-stack/assembly/stack-scope.ts";
import { parseTemplate } from "@income-events/local-stack/assembly/template.ts";
import { describe, expect, it } from "vitest";
import { registrationExportName } from "../../../lib/settings/settings.ts";
import { synthesized } from "../synthesized.ts";

const stage = (provider: object, more: object = {}) => ({ production: false, provider, ...more });
const at = (address: string) => stage({ environment: "production", baseUrls: { production: address } });

/** Exports of a stack deployed with these parameters. */
function exportsOf(settings: object, parameters: Record<string, string> = {}, name = "test"): string[] {
  const template = parseTemplate(JSON.parse(synthesized(settings, name).text));
  const place = { stackName: name, region: "eu-central-1", account: "000000000000" };
  const scope = stackScope(template, place, parameters, new Map());
  return Object.values(template.Outputs).flatMap(({ Export }) =>
    Export === undefined ? [] : [planExport(Export.Name, scope)],
  );
}

describe("the claim on a provider environment", () => {
  it("is one export, the same for every stage that registers there: CloudFormation refuses the second", () => {
    const claims = ["https://api.income-provider.com", "https://api.income-provider.com"].map(
      (address, index) => exportsOf(at(address), {}, `stage-${index}`),
    );
    expect(claims[0]).toEqual(["income-events:registers:api:-income-provider:-com"]);
    expect(claims[1]).toEqual(claims[0]);
  });

  it("is the same whether settings or the deployment's parameter name the address", () => {
    const ProviderBaseUrl = "https://api.income-provider.com/v_1/base";
    expect(exportsOf(stage({}), { ProviderBaseUrl })).toEqual(exportsOf(at(ProviderBaseUrl)));
  });

  it("is another for each other address", () => {
    const addresses = [
      "https://api.provider.com",
      "https://api-provider.com",
      "https://api.provider.com:8443",
      "https://api.provider.com/v1",
      "https://api.provider.com/v.1",
      "https://api.provider.com/v_1",
      "https://api.provider.com/v--1",
      "https://api.provider.com/v/1",
      "https://api.provider.com/v/u1",
      "http://127.0.0.1:4010",
      "https://[2606:4700::6810:85e5]",
    ];
    const names = addresses.flatMap((ProviderBaseUrl) => exportsOf(stage({}), { ProviderBaseUrl }));
    expect(new Set(names).size).toBe(addresses.length);
    // Calculated on the operator's machine, to check before a deployment whether it is taken.
    expect(addresses.map(registrationExportName)).toEqual(names);
  });
});

describe("a stage that shares its provider environment", () => {
  const sharing = synthesized(stage({}, { register: { enabled: false } }));

  it("claims nothing, and registers nothing, on a schedule or otherwise", () => {
    expect(exportsOf(stage({}, { register: { enabled: false } }))).toEqual([]);
    expect(sharing.resources.filter(({ id }) => id.startsWith("Register"))).toEqual([]);
    expect(Object.keys(sharing.outputs)).not.toContain("RegisterFunctionName");
  });

  it("has all else", () => {
    const registering = synthesized(stage({}));
    const others = ({ resources }: typeof sharing) =>
      resources.map(({ id }) => id).filter((id) => !id.startsWith("Register"));
    expect(others(sharing)).toEqual(others(registering));
  });
});

describe("the alarm that registering fails", () => {
  const [alarm, ...others] = synthesized(stage({}))
    .ofType("AWS::CloudWatch::Alarm")
    .filter(({ id }) => id.startsWith("Register"));

  it("goes off when a scheduled run and both of Lambda's retries have failed", () => {
    expect(others).toEqual([]);
    expect(alarm?.Properties).toMatchObject({
      Namespace: "AWS/Lambda",
      MetricName: "Errors",
      Threshold: 3,
      Period: 15 * 60,
      EvaluationPeriods: 1,
    });
    expect(JSON.stringify(alarm?.Properties.Dimensions)).toContain("RegisterWebhooksFunction");
  });
});

describe("how long a rotation takes", () => {
  const rotationOf = (more: object) =>
    JSON.parse(String(synthesized(stage({}, more)).outputs.WebhookSecretRotation?.Value));

  it("follows from the receivers' cache, the provider's retries and the schedule", () => {
    expect(rotationOf({})).toEqual({ propagationSeconds: 120, overlapSeconds: 120 * 3600 });
    expect(
      rotationOf({ webhooks: { secretCacheSeconds: 5, retryHours: 10 }, register: { everyHours: 1 } }),
    ).toEqual({ propagationSeconds: 10, overlapSeconds: 12 * 3600 });
  });

  it("lets the registration read first if the provider lists webhooks", () => {
    const readsFirst = (more: object) => synthesized(stage({}, more)).bundles.get("register/webhooks");
    expect(readsFirst({})).toMatchObject({ readsFirst: false });
    expect(readsFirst({ register: { readsFirst: true } })).toMatchObject({ readsFirst: true });
  });

  it("reaches receivers and registration", () => {
    const { bundles } = synthesized(stage({}, { webhooks: { secretCacheSeconds: 5 } }));
    expect(bundles.get("receive/users")).toMatchObject({ secretCacheSeconds: 5 });
    expect(bundles.get("register/webhooks")).toMatchObject({
      rotation: { propagationSeconds: 10 },
    });
  });
});
