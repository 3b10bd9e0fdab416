import { declarationsOf } from "./declarations.ts";

/** Where the page is that shows what an app can use. */
export const apiPageFile = "docs/reference/construct-api.md";

const introduction = `# The API of the construct

All that \`@income-events/cdk\` exports, as TypeScript declares it. The file is written by \`npm run docs\`, and \`npm run check\`
fails where the code says something else: a change here is a change for every app. [In an app of your own](../guide/construct.md)
shows how it is used, [settings](settings.md) explains each property.
`;

/** The public surface, which is reviewed as a file: what is internal is not in it. */
export function apiPage(repository: string): string {
  const sections = [...declarationsOf(repository)]
    .toSorted(
      ([one], [other]) =>
        Number(other === "index.d.ts") - Number(one === "index.d.ts") || compare(one, other),
    )
    .map(([name, text]) => `## ${name.replace(/\.d\.ts$/, "")}\n\n\`\`\`ts\n${text.trimEnd()}\n\`\`\`\n`);
  return [introduction, ...sections].join("\n");
}

function compare(one: string, other: string): number {
  return one < other ? -1 : 1;
}
