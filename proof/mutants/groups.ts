/** Code that Stryker changes, and the tests that are to notice. */
export type Group = {
  readonly mutate: string;
  readonly tests: readonly string[];
  readonly leastScore: number;
};

export const groups = {
  domain: { mutate: "domain/**/*.ts", tests: ["test/domain/**/*.test.ts"], leastScore: 85 },
  functions: {
    mutate: "functions/**/*.ts",
    tests: ["test/functions/**/*.test.ts", "test/proof/model/**/*.test.ts"],
    leastScore: 0,
  },
  adapters: {
    mutate: "adapters/**/*.ts",
    // Most of them are tested with the functions that use them.
    tests: ["test/adapters/**/*.test.ts", "test/functions/**/*.test.ts"],
    leastScore: 0,
  },
} satisfies Readonly<Record<string, Group>>;

export type GroupName = keyof typeof groups;

export function isGroupName(name: string | undefined): name is GroupName {
  return name !== undefined && name in groups;
}
