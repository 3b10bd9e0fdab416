/** @throws where an engine gave nothing of this name */
export function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`the engine gave no ${name}`);
  return value;
}
