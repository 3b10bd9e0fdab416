import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { Reader } from "./reader.ts";

const app = new App();
new Reader(app, "income-reader", { env: { account: "210987654321" } });
if (process.env.CDK_VALIDATION !== "false") Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
