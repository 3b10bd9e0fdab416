/** A binary heap: the smallest item first, in logarithmic time. */
export type Heap<T> = {
  push(item: T): void;
  peek(): T | undefined;
  pop(): T | undefined;
};

/** @param before whether one item comes before another */
export function createHeap<T>(before: (one: T, other: T) => boolean): Heap<T> {
  const items: T[] = [];

  function swapIfBefore(child: number, parent: number): boolean {
    const [low, high] = [items[child], items[parent]];
    if (low === undefined || high === undefined || !before(low, high)) return false;
    items[child] = high;
    items[parent] = low;
    return true;
  }

  function rise(start: number): void {
    let place = start;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!swapIfBefore(place, parent)) return;
      place = parent;
    }
  }

  function sink(): void {
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      const [one, other] = [items[left], items[left + 1]];
      if (one === undefined) return;
      const child = other !== undefined && before(other, one) ? left + 1 : left;
      if (!swapIfBefore(child, place)) return;
      place = child;
    }
  }

  return {
    push: (item) => {
      items.push(item);
      rise(items.length - 1);
    },
    peek: () => items[0],
    pop: () => {
      const first = items[0];
      const last = items.pop();
      if (items.length > 0 && last !== undefined) {
        items[0] = last;
        sink();
      }
      return first;
    },
  };
}
