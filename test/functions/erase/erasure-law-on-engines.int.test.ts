import { describeOnTables } from "../../support/engines.ts";
import { shareOfTier } from "../../support/share-of-tier.ts";
import { holdsOnEngines } from "../support/erasure-on-engines.ts";

await describeOnTables("the law of erasure", (tables) => holdsOnEngines(tables, shareOfTier([30], [80])));
