export type EnvironmentName = "sandbox" | "production";
