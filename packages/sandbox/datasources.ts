import { z } from "zod";

export const categories = ["payroll", "driving-and-delivery", "freelance"] as const;
export type Category = (typeof categories)[number];

export const storedDatasource = z
  .object({ id: z.string(), name: z.string(), category: z.enum(categories) })
  .readonly();
export type Datasource = z.output<typeof storedDatasource>;

/** Invented platforms, since the service's own list is not public. */
export const standardDatasources: readonly Datasource[] = [
  { id: "5d1f0a4e-6f0b-4c3e-9a53-0b6a1f6d0001", name: "Paylane", category: "payroll" },
  { id: "5d1f0a4e-6f0b-4c3e-9a53-0b6a1f6d0002", name: "Wagewell", category: "payroll" },
  { id: "5d1f0a4e-6f0b-4c3e-9a53-0b6a1f6d0003", name: "Stubhouse Payroll", category: "payroll" },
  { id: "5d1f0a4e-6f0b-4c3e-9a53-0b6a1f6d0004", name: "Kerbside Rides", category: "driving-and-delivery" },
  { id: "5d1f0a4e-6f0b-4c3e-9a53-0b6a1f6d0005", name: "Doorstep Courier", category: "driving-and-delivery" },
  { id: "5d1f0a4e-6f0b-4c3e-9a53-0b6a1f6d0006", name: "Platewheel", category: "driving-and-delivery" },
  { id: "5d1f0a4e-6f0b-4c3e-9a53-0b6a1f6d0007", name: "Gigsmith", category: "freelance" },
  { id: "5d1f0a4e-6f0b-4c3e-9a53-0b6a1f6d0008", name: "Inkwell Freelance", category: "freelance" },
];
