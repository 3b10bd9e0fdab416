import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { stageSchema } from "../../lib/settings/stage-schema.ts";

type Schema = {
  readonly type?: string;
  readonly enum?: readonly (string | number)[];
  readonly const?: string | number;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
};

type Interface = { readonly name: string; readonly path: string; readonly schema: Schema };

const page = join(import.meta.dirname, "../../docs/reference/settings.md");
const width = 110;

/** Groups whose interfaces have their own files. */
export const groupsInFiles = [
  "provider",
  "mapping",
  "functions",
  "webhooks",
  "reconcile",
  "retention",
] as const;

/** The construct's typed properties: one interface for each group of settings. */
export function settingsProps(file: (typeof groupsInFiles)[number] | "settings"): string {
  const schema = jsonSchema();
  const interfaces = interfacesOf("", schema).filter((each) => fileOf(each) === file);
  const imports = file === "settings" ? importsOf() : [];
  const lines = interfaces.flatMap((each) => ["", ...linesOf(each)]);
  const ofCdk = ["Duration", "Size"].filter((name) => lines.some((line) => line.endsWith(` ${name};`)));
  return [
    "// Written by `npm run docs` from the schema of the settings and docs/reference/settings.md.",
    ...(ofCdk.length > 0 ? [`import type { ${ofCdk.join(", ")} } from "aws-cdk-lib";`] : []),
    ...(lines.some((line) => line.includes("IPrincipal"))
      ? ['import type { IPrincipal } from "aws-cdk-lib/aws-iam";']
      : []),
    ...imports,
    ...lines,
    "",
  ].join("\n");
}

const schemaType: z.ZodType<Schema> = z.custom<Schema>(
  (value) => typeof value === "object" && value !== null,
);

function jsonSchema(): Schema {
  return schemaType.parse(z.toJSONSchema(stageSchema, { io: "input", unrepresentable: "any" }));
}

function fileOf({ path }: Interface): string {
  return groupsInFiles.find((file) => path === file || path.startsWith(`${file}.`)) ?? "settings";
}

function importsOf(): readonly string[] {
  return [...groupsInFiles].sort().map((file) => `import type { ${nameOf(file)} } from "./${file}.ts";`);
}

/** Interfaces of a group and its subgroups. */
function interfacesOf(path: string, schema: Schema): readonly Interface[] {
  const own = { name: nameOf(path), path, schema };
  const inner = Object.entries(schema.properties ?? {}).flatMap(([key, part]) => {
    const group = part.type === "array" ? part.items : part;
    return group?.properties === undefined ? [] : interfacesOf(join(path, key).replaceAll("/", "."), group);
  });
  // All kinds of webhooks have the same mapping type.
  return [own, ...inner].filter(
    ({ path: each }, index, all) => all.findIndex((other) => nameOf(other.path) === nameOf(each)) === index,
  );
}

function nameOf(path: string): string {
  if (path === "") return "SettingsProps";
  if (path === "subscribers") return "SubscriberProps";
  if (/^mapping\.[a-z-]+$/.test(path)) return "KindMappingProps";
  const words = path.split(/[.-]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join("")}Props`;
}

function linesOf({ name, path, schema }: Interface): readonly string[] {
  const members = Object.entries(schema.properties ?? {}).flatMap(([key, part]) => {
    const own = path === "" ? key : `${path}.${key}`;
    const optional = schema.required?.includes(key) !== true || givenByApp.has(own);
    const property = /^[A-Za-z]\w*$/.test(key) ? key : JSON.stringify(key);
    const begin = `  readonly ${property}${optional ? "?" : ""}: `;
    return [...docOf(own, part, optional), ...member(begin, [...typeOf(own, part), ...classesOf(key)])];
  });
  return [`/** ${titleOf(path)} */`, `export interface ${name} {`, ...members, "}"];
}

/** Required in a file; an app may pass a construct instead of the ARN. */
const givenByApp: ReadonlySet<string> = new Set(["webhooks.customDomain.certificateArn"]);

/** CDK classes that an app may use instead of a number: see lib/construct/plain-settings.ts. */
function classesOf(key: string): readonly string[] {
  if (/(Seconds|Minutes|Hours|Days)$/.test(key)) return ["Duration"];
  return /(Mb|Bytes)$/.test(key) ? ["Size"] : [];
}

function titleOf(path: string): string {
  if (path === "") return "Every setting of a stage: the keys of a settings file.";
  if (path.startsWith("mapping.")) return "Where the fields of an event are in a webhook of one kind.";
  if (path === "subscribers") return "A subscriber: a queue with a dead-letter queue of its own.";
  return `The settings \`${path}.*\`.`;
}

function docOf(path: string, part: Schema, optional: boolean): readonly string[] {
  if (isGroup(part)) return [`  /** ${titleOf(path)} */`];
  const known = descriptions().get(path.replace(/^mapping\.[a-z-]+\./, "mapping.<kind>."));
  const does = path === "subscribers" ? titleOf(path) : known?.does;
  const text = [does, limitsOf(part)].filter((each) => each !== undefined).join(". ");
  const written = part.default === undefined ? `- ${unsetOf(path, known)}` : JSON.stringify(part.default);
  const lines = [
    ...(text === "" ? [] : [sentence(text)]),
    ...(optional || part.default !== undefined ? [`@default ${written}`] : []),
  ];
  const [only = "", ...more] = lines;
  return more.length === 0
    ? [`  /** ${only} */`]
    : ["  /**", ...lines.map((line) => `   * ${line}`), "   */"];
}

function unsetOf(path: string, known: Description | undefined): string {
  if (path.startsWith("mapping.")) return "as the provider documents it";
  const text = known?.byDefault ?? "";
  return text === "" || text === "unset" ? "not set" : text;
}

function isGroup(part: Schema): boolean {
  return part.properties !== undefined;
}

function sentence(text: string): string {
  const written = text.replaceAll("*/", "*\\/");
  return `${written.charAt(0).toUpperCase()}${written.slice(1)}.`.replace(/\.\.$/, ".");
}

function limitsOf({ type, minimum, maximum }: Schema): string | undefined {
  if (type !== "integer" && type !== "number") return undefined;
  return minimum === undefined || maximum === undefined ? undefined : `From ${minimum} to ${maximum}`;
}

/** Formats a member on one line, or its choices on separate lines if they do not fit. */
function member(begin: string, types: readonly string[]): readonly string[] {
  const line = `${begin}${types.join(" | ")};`;
  if (line.length <= width) return [line];
  const choices = types.map((type, index) => `    | ${type}${index === types.length - 1 ? ";" : ""}`);
  return [begin.trimEnd(), ...choices];
}

function typeOf(path: string, part: Schema): readonly string[] {
  if (isGroup(part)) return [nameOf(path)];
  if (part.const !== undefined) return [JSON.stringify(part.const)];
  if (part.enum !== undefined) return part.enum.map((value) => JSON.stringify(value));
  if (part.anyOf !== undefined) {
    return [...new Set(part.anyOf.flatMap((each) => inlineType(path, each)))];
  }
  return inlineType(path, part);
}

function inlineType(path: string, part: Schema): readonly string[] {
  if (part.type === "string") return ["string"];
  if (part.type === "boolean") return ["boolean"];
  if (part.type === "integer" || part.type === "number") return ["number"];
  if (part.type === "array" && part.items !== undefined) {
    const classes = path === "subscribers.principals" ? ["IPrincipal"] : [];
    const items = [...typeOf(path, part.items), ...classes].join(" | ");
    return [`readonly ${items.includes(" ") ? `(${items})` : items}[]`];
  }
  if (part.properties !== undefined) {
    const inner = Object.entries(part.properties).map(
      ([key, each]) => `readonly ${key}: ${typeOf(path, each).join(" | ")}`,
    );
    return [`{ ${inner.join("; ")} }`];
  }
  if (typeof part.additionalProperties === "object") {
    return [`Readonly<Record<string, ${typeOf(path, part.additionalProperties).join(" | ")}>>`];
  }
  return ["unknown"];
}

type Description = { readonly byDefault: string; readonly does: string };

let read: ReadonlyMap<string, Description> | undefined;

/** Descriptions from the settings page, by full name. */
function descriptions(): ReadonlyMap<string, Description> {
  read ??= new Map(
    readFileSync(page, "utf8")
      .split("\n")
      .filter((line) => line.startsWith("| `"))
      .flatMap((line) => {
        const cells = line.replaceAll("\\|", "\u0000").split("|").slice(1, -1);
        const texts = cells.map((cell) =>
          cell
            .replaceAll("\u0000", "|")
            .trim()
            .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1"),
        );
        const [byDefault = "", does = ""] = texts.length === 2 ? ["", texts[1]] : texts.slice(-2);
        return namesIn(cells[0] ?? "").map((name) => [name, { byDefault, does }] as const);
      }),
  );
  return read;
}

/** `` `a.b.c`, `.d` `` names a.b.c and a.b.d; a subscriber's settings have no group prefix. */
function namesIn(cell: string): readonly string[] {
  const [first = "", ...others] = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  const group = first.slice(0, first.lastIndexOf("."));
  const names = [first, ...others.map((name) => (name.startsWith(".") ? `${group}${name}` : name))];
  return names.flatMap((name) => (name.includes(".") ? [name] : [name, `subscribers.${name}`]));
}
